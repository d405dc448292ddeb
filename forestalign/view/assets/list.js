/* The list of pairs: sort, filter, difference between two systems. Only the rows in sight exist. */

const ROW_HEIGHT = 78;

/* ---- differences between two systems ---- */
const phraseKey = (phrase) => `${phrase.source} ${phrase.target}`;
const choiceOf = (view) => view && view.choices[Math.min(state.choice, view.choices.length - 1)];
const NOTHING_ONLY = { phrases: new Set(), words: new Set() };
function onlyIn(view, other) {
  if (!view || !other) return NOTHING_ONLY;
  const only = { phrases: new Set(), words: new Set() };
  const theirs = new Set(choiceOf(other).every.map(phraseKey));
  choiceOf(view).phrases.forEach((phrase, index) => { if (!theirs.has(phraseKey(phrase))) only.phrases.add(index); });
  const links = new Set(other.words.map(([i, j]) => `${i}-${j}`));
  for (const [i, j] of view.words) if (!links.has(`${i}-${j}`)) only.words.add(`${i}-${j}`);
  return only;
}
/* What only this system has, in words; each leads to its place. */
function differencesOf(panel) {
  const { view, choice, only } = panel, box = make("div", { className: "differences" }, make("strong", { textContent: "Only here: " }));
  const covered = new Set([...only.phrases].map((index) => choice.phrases[index]).filter((phrase) => size(phrase.source) === 1 && size(phrase.target) === 1).map((phrase) => `${phrase.source[0]}-${phrase.target[0]}`));
  const links = [...only.words].filter((link) => !covered.has(link)).map((link) => link.split("-").map(Number));
  for (const index of [...only.phrases].reverse()) {
    const text = SIDES.map((side) => textOf(view, side, choice.phrases[index][side])).join(" = ");
    box.append(make("button", { type: "button", className: "difference", hue: hueOf(choice.phrases[index], view), textContent: text, title: text, onclick: () => panel.select(index, true) }));
  }
  if (links.length) box.append(make("span", { className: "facts", textContent: `word links ${links.map(([i, j]) => `${view.source.tokens[i]}\u2013${view.target.tokens[j]}`).join(", ")}` }));
  if (!only.phrases.size && !links.length) box.append("nothing");
  return box;
}
function differenceCount(pair) {
  if (pair.difference === undefined) {
    const [left, right] = pair.views;
    const keys = (view, isWanted) => (view ? view.choices[0].phrases.map(phraseOf).filter(isWanted).map(phraseKey) : []);
    const missing = (view, other) => { const theirs = new Set(keys(other, everyPhrase)); return keys(view, (phrase) => phrase.shown).filter((key) => !theirs.has(key)).length; };
    pair.difference = missing(left, right) + missing(right, left);
  }
  return pair.difference;
}

/* ---- what a pair is sorted and filtered by, found once ---- */
function summaryOf(pair) {
  if (!pair.summary) {
    const { source, target, choices: [best] } = anyView(pair);
    const phrases = best.phrases.map(phraseOf).filter((phrase) => phrase.shown), length = source.tokens.length + target.tokens.length;
    const posteriors = phrases.map((phrase) => phrase.posterior).filter((value) => value !== null);
    pair.summary = {
      text: `${pair.id} ${source.text} ${target.text}`.toLowerCase(), length,
      posterior: posteriors.length ? Math.min(...posteriors) : Infinity,
      score: best.logScore === null ? -Infinity : best.logScore / length,
      relations: new Set([...phrases, ...best.scattered.map(scatteredFields)].map((each) => each.relation)),
      apart: phrases.some((phrase) => !phrase.compositional), whole: best.reachedRoot,
    };
  }
  return pair.summary;
}
const SORTS = {
  posterior: (pair) => summaryOf(pair).posterior,
  score: (pair) => summaryOf(pair).score,
  length: (pair) => -summaryOf(pair).length,
  difference: (pair) => -differenceCount(pair),
};
const KINDS = {
  "": () => true,
  "same meaning": (pair) => anyView(pair).verdict === "same meaning",
  "changed meaning": (pair) => anyView(pair).verdict === "changed",
  related: (pair) => anyView(pair).verdict === "related",
  unrelated: (pair) => anyView(pair).verdict === "unrelated",
  apart: (pair) => summaryOf(pair).apart,
  partial: (pair) => !summaryOf(pair).whole,
  different: (pair) => differenceCount(pair) > 0,
  saved: (pair) => isSaved(pair),
  unsaved: (pair) => !isSaved(pair),
  changed: (pair) => hasChanged(pair),
};
const isOfKind = (pair, kind) => (kind.startsWith("is ") ? summaryOf(pair).relations.has(kind.slice(3)) : KINDS[kind](pair));

function refilter() {
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const kind = byId("kind").value, order = SORTS[byId("sort").value];
  const most = byId("posterior").value === "" ? Infinity : Number(byId("posterior").value);
  const onlyDifferent = byId("different").checked;
  const current = state.shown[state.at];
  state.shown = data.pairs.filter((pair) => words.every((word) => summaryOf(pair).text.includes(word))
    && isOfKind(pair, kind) && (most === Infinity || summaryOf(pair).posterior <= most) && (!onlyDifferent || differenceCount(pair) > 0));
  if (order) state.shown.sort((one, two) => order(one) - order(two) || 0);
  const all = data.pairs.length;
  byId("total").textContent = state.shown.length === all ? counted(all, "pair") : `${state.shown.length} of ${all}`;
  byId("rows").style.height = `${state.shown.length * ROW_HEIGHT}px`;
  state.at = Math.max(0, state.shown.indexOf(current));
  show();
}
function clearFilters() {
  for (const name of ["filter", "kind", "posterior"]) byId(name).value = "";
  byId("different").checked = false;
}

function drawRows() {
  const list = byId("list"), rows = byId("rows");
  const first = Math.max(0, Math.floor(list.scrollTop / ROW_HEIGHT) - 4);
  const last = Math.min(state.shown.length, first + Math.ceil(list.clientHeight / ROW_HEIGHT) + 9);
  rows.replaceChildren(...state.shown.slice(first, last).map((pair, offset) => rowOf(pair, first + offset)));
  list.setAttribute("aria-activedescendant", state.shown.length ? `row-${state.at}` : "");
}
function badgesOf(pair) {
  const count = data.systems.length > 1 ? differenceCount(pair) : 0, found = [];
  const add = (textContent, title, className = "badge") => found.push(make("span", { className, textContent, title }));
  if (edit.on && hasChanged(pair)) add("changed", "the sentences have changed since this pair was saved");
  if (edit.on && isDirty(pair)) add("not saved", "changes of yours that are not saved yet");
  else if (edit.on && isSaved(pair)) add("saved", "you have saved this pair", "badge good");
  const { verdict, headline } = anyView(pair);
  if (verdict !== "same meaning") add(verdict, headline);
  if (pair.views.includes(null)) add("one only", "only one system has this pair");
  else if (count) add(`${count} differ`, "phrase pairs that only one system has");
  else if (!summaryOf(pair).whole && !found.length) add("partial", "the alignment does not reach the roots");
  return found;
}
function rowOf(pair, index) {
  const { source, target } = anyView(pair);
  const title = make("b", {}, make("span", { textContent: pair.id }), make("span", { className: "badges" }, ...badgesOf(pair)));
  const row = make("div", { className: "row", id: `row-${index}`, onclick: () => { state.at = index; state.choice = 0; unroll("list", false); show(); } },
    title, make("p", { textContent: source.text }), make("p", { className: "second", textContent: target.text }));
  row.setAttribute("role", "option");
  row.setAttribute("aria-selected", String(index === state.at));
  row.setAttribute("aria-posinset", index + 1);
  row.setAttribute("aria-setsize", state.shown.length);
  row.style.top = `${index * ROW_HEIGHT}px`;
  return row;
}
function keepInSight() {
  const list = byId("list"), top = state.at * ROW_HEIGHT;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW_HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW_HEIGHT - list.clientHeight;
}
