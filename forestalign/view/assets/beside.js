/* What stands beside the pairs: scattered words, which belong together and are not a phrase, and extended phrases, which
   add small words to an aligned one. A selection is a number: first come the phrase pairs, then the scattered words. */

const scatteredAt = (choice, at) => choice.scattered[at - choice.phrases.length];
const scatteredHue = (one, view) => hueOf({ source: [one.source[0], one.source[0] + 1] }, view);  // between its words stand others
const scatteredText = (view, side, words) => words.map((word, index) => (!index ? "" : word === words[index - 1] + 1 ? " " : " \u2026 ") + view[side].tokens[word]).join("");

/* What pointing at a node shows: its pair, its scattered words, the pair inside, or the pair that it is a part of
   (`kicked` in `kicked the bucket`). */
function shownBy(node, { phrases }) {
  if (node.phrase >= 0) return node.phrase;
  return node.joined >= 0 ? phrases.length + node.joined : Math.max(node.inner, node.whole);
}

const holds = (phrase, one) => SIDES.every((side) => one[side].every((word) => within([word, word + 1], phrase[side])));
/* Scattered words of a pair: all are inside it and inside none before it, or it is one of them. */
function scatteredOf(choice, at) {
  const isPart = (phrase, one) => SIDES.every((side) => phrase[side][1] - phrase[side][0] === 1 && one[side].includes(phrase[side][0]));
  return choice.scattered.filter((one) => choice.phrases.findIndex((phrase) => holds(phrase, one)) === at || isPart(choice.phrases[at], one));
}
const extendedOf = (choice, at) => choice.extended.filter((one) => one.pair === at);

/* ---- drawing ---- */
/* Each word is connected with the first of the other side, with those it is linked to, and with the next of its own. */
function drawScattered(view, choice, layout, drawn) {
  const group = element("g");
  const centre = (side, word) => (layout[side].begins[word] + layout[side].begins[word + 1]) / 2;
  choice.scattered.forEach((one, index) => {
    const links = new Map([...one.source.map((i) => [i, one.target[0]]), ...one.target.map((j) => [one.source[0], j]), ...view.words.filter(([i, j]) => one.source.includes(i) && one.target.includes(j))]
      .map(([i, j]) => [`${i}-${j}`, [i, j]]));
    const paths = [...links.values()].map(([i, j]) => element("path", { class: "link hued scattered-link", d: linkPath(i, j, layout) }));
    for (const side of SIDES) one[side].slice(1).forEach((word, place) => {
      const d = arcPath(centre(side, one[side][place]), centre(side, word), layout[side], layout);
      paths.push(element("path", { class: "link hued scattered-link", d }));
    });
    for (const path of paths) path.style.setProperty("--hue", scatteredHue(one, view));
    drawn.scattered.push(...paths.map((path) => ({ path, index })));
    group.append(...paths);
  });
  return group;
}
/* Along the words on the side of the links, in the free space between the two sentences. */
function arcPath(from, to, side, layout) {
  const deep = -layout.edge - 16, point = (a, d) => side.place(a, d).map((value) => value.toFixed(1)).join(" ");
  return `M${point(from, -layout.edge)} C${point(from, deep)} ${point(to, deep)} ${point(to, -layout.edge)}`;
}

/* ---- words about them ---- */
function scatteredLine(view, one, lead) {
  const quote = (side) => make("q", { className: "hued", hue: scatteredHue(one, view), textContent: scatteredText(view, side, one[side]) });
  const line = make("p", { className: lead ? "facts" : "" }, lead, quote("source"), " \u2194 ", quote("target"));
  if (CONTRADICTIONS.has(one.relation)) line.append(" ", relationOf(one));
  if (lead) line.append(` (${[one.relation, `evidence: ${one.evidence}`].filter(Boolean).join(", ")})`);
  return line;
}
function describeScattered(view, one) {
  const facts = ["words that belong together and are not a phrase"];
  if (one.relation && !CONTRADICTIONS.has(one.relation)) facts.push(one.relation);
  facts.push(`evidence: ${one.evidence}`);
  return [scatteredLine(view, one, ""), make("p", { className: "facts", textContent: facts.join(" \u00b7 ") })];
}
function extendedLine(view, choice, one) {
  const phrase = choice.phrases[one.pair], other = one.side === "source" ? "target" : "source";
  const quote = (side, span) => make("q", { className: "hued", hue: hueOf(phrase, view), textContent: textOf(view, side, span) });
  return make("p", { className: "facts" }, "loosely also ", make("strong", { textContent: one.label }), " ", quote(one.side, one.span),
    ` (${one.side}) ~ `, quote(other, phrase[other]), ", adds ", make("q", { textContent: scatteredText(view, one.side, one.added) }));
}
function besideLines(view, choice, at) {
  return [...extendedOf(choice, at).map((one) => extendedLine(view, choice, one)), ...scatteredOf(choice, at).map((one) => scatteredLine(view, one, "belong together: "))];
}
function besideLabel(panel, { node, side }) {
  const { view, choice } = panel, other = side === "source" ? "target" : "source";
  const one = choice.scattered[node.joined];
  if (one) return `Belongs to ${scatteredText(view, side, one[side])}, with ${scatteredText(view, other, one[other])}${CONTRADICTIONS.has(one.relation) ? `, ${one.relation}` : ""}`;
  if (node.inner >= 0) return `Loosely aligned with ${textOf(view, other, choice.phrases[node.inner][other])}`;
  const whole = choice.phrases[node.whole];
  return whole ? `Part of ${textOf(view, side, whole[side])}, which is aligned with ${textOf(view, other, whole[other])}` : "";
}

/* Rows of the table: no labels for words that are not a phrase, and no scores for either. */
function besideRows(view, choice) {
  const rows = choice.scattered.map((one, index) => ({
    at: choice.phrases.length + index, labels: "no phrase", relation: relationOf(one), evidence: one.evidence,
    source: scatteredText(view, "source", one.source), target: scatteredText(view, "target", one.target),
  }));
  for (const one of choice.extended) {
    const phrase = choice.phrases[one.pair], span = { ...phrase, [one.side]: one.span };
    const labels = one.side === "source" ? [one.label, phrase.targetLabel] : [phrase.sourceLabel, one.label];
    rows.push({
      at: one.pair, labels: `${labels.join(" ~ ")} (loosely)`, relation: "", evidence: `adds ${scatteredText(view, one.side, one.added)}`,
      source: textOf(view, "source", span.source), target: textOf(view, "target", span.target),
    });
  }
  return rows;
}
