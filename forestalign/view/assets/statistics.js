/* Figures over all pairs in the list: lengths, scores, kinds of steps, relations, evidence. */

const BINS = 10;
function histogram(values, digits, range = null) {
  const finite = values.filter(Number.isFinite);
  if (!finite.length) return [];
  const extreme = (choose) => finite.reduce((one, two) => choose(one, two));  // too many to be arguments
  const [low, high] = range || [extreme(Math.min), extreme(Math.max)];
  const step = high > low ? Math.max((high - low) / BINS, digits ? 0 : 1) : 1, width = digits ? step : Math.ceil(step);
  const count = Math.max(1, Math.min(BINS, Math.floor((high - low) / width + 1e-9) + (digits ? 0 : 1))), bins = new Array(count).fill(0);
  for (const value of finite) bins[Math.min(count - 1, Math.floor((value - low) / width))] += 1;
  const name = (value) => value.toFixed(digits);
  return bins.map((number, index) => {
    const [from, to] = [low + index * width, low + (index + 1) * width];
    return [digits ? `${name(from)} to ${name(to)}` : width === 1 ? name(from) : `${name(from)} to ${name(to - 1)}`, number];
  });
}
function tally(names) {
  const counts = new Map();
  for (const name of names) counts.set(name, (counts.get(name) || 0) + 1);
  return [...counts].sort((one, two) => two[1] - one[1] || (one[0] < two[0] ? -1 : 1));
}
function stepOf(phrase) {
  if (!phrase.supports.length) return phrase.source[1] - phrase.source[0] === 1 && phrase.target[1] - phrase.target[0] === 1 ? "two words" : "phrase as a whole";
  if (!phrase.compositional) return "non-compositional";
  if (phrase.supports.length === 1) return "one pair and null phrases";
  return phrase.inverted ? "two pairs, inverted" : "two pairs, in order";
}
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / (values.length || 1);

function chart(title, rows, note = "") {
  const most = Math.max(1, ...rows.map(([, count]) => count));
  const body = make("div", { className: "chart" });
  for (const [name, count] of rows) {
    const bar = make("span", { className: CONTRADICTIONS.has(name) ? "chart-bar bad" : "chart-bar" });
    bar.style.setProperty("--share", count / most);
    body.append(make("span", { className: "chart-name", textContent: name }), make("span", { className: "chart-track" }, bar), make("span", { className: "chart-count", textContent: count }));
  }
  return make("section", { className: "card" }, make("h3", { textContent: title }), rows.length ? body : make("p", { className: "hint", textContent: "no figures in this file" }), note ? make("p", { className: "hint", textContent: note }) : "");
}
const shownPhrases = (choice) => choice.phrases.map(phraseOf).filter((phrase) => phrase.shown);
function figuresOf(views) {
  const best = views.map((view) => view.choices[0]);
  const phrases = best.flatMap(shownPhrases), lengths = views.flatMap((view) => SIDES.map((side) => view[side].tokens.length));
  const perWord = views.map((view, index) => (best[index].logScore === null ? NaN : best[index].logScore / (view.source.tokens.length + view.target.tokens.length)));
  const posteriors = phrases.map((phrase) => phrase.posterior).filter((value) => value !== null);
  return [
    chart("Words per sentence", histogram(lengths, 0), `mean ${mean(lengths).toFixed(1)}`),
    chart("Phrase pairs per sentence pair", histogram(best.map((choice) => shownPhrases(choice).length), 0), `${counted(phrases.length, "phrase pair")} in all`),
    chart("Log score per word", histogram(perWord, 2)),
    chart("Confidence of phrase pairs", histogram(posteriors, 2, [0, 1])),
    chart("Kinds of steps", tally(phrases.map(stepOf))),
    chart("Relations", tally(phrases.map((phrase) => phrase.relation || "not said"))),
    chart("Evidence", tally(phrases.flatMap((phrase) => phrase.evidence))),
    chart("Alignments", tally(best.map((choice) => (choice.completed ? "root completed" : choice.reachedRoot ? "root aligned" : "partial")))),
  ];
}
function drawStatistics() {
  const root = byId("statistics");
  root.replaceChildren(...data.systems.flatMap((name, index) => {
    const views = state.shown.map((pair) => pair.views[index]).filter(Boolean);
    const title = data.systems.length > 1 ? `${name}: ${counted(views.length, "pair")}` : counted(views.length, "pair");
    return [make("h2", { textContent: `${title}${state.shown.length < data.pairs.length ? " (filtered)" : ""}` }), make("div", { className: "cards" }, ...figuresOf(views))];
  }));
}
