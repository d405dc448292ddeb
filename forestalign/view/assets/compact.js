/* The compact view: both sentences as running text. The parts of one pair are coloured, and a click goes into a part. */

const NARROW = window.matchMedia("(max-width: 699px)"), FOLDED = window.matchMedia("(max-width: 899px)");  // the second as in style.css
const isCompact = () => !edit.on && (state.compact === null ? NARROW.matches : state.compact);

const aboveOf = (choice, at) => choice.phrases.findIndex((phrase) => phrase.supports.includes(at));
/* What one begins with: pairs that are part of no other. A single one says no more than that the sentences are a pair. */
function topsOf(choice) {
  const below = new Set(choice.phrases.flatMap((phrase) => phrase.supports)), left = new Set();
  let tops = choice.phrases.flatMap((_, index) => (below.has(index) ? [] : [index]));
  while (tops.length === 1 && choice.phrases[tops[0]].supports.length) { left.add(tops[0]); tops = choice.phrases[tops[0]].supports; }
  return { tops, left };
}
/* The numbers of what is coloured: parts of the pair that one is in, and scattered words that no part of it holds. */
function partsAt(choice, level) {
  const phrases = level < 0 ? topsOf(choice).tops : choice.phrases[level].supports;
  const isHere = (one) => (level < 0 || holds(choice.phrases[level], one)) && !phrases.some((index) => holds(choice.phrases[index], one));
  const scattered = choice.scattered.flatMap((one, index) => (isHere(one) ? [choice.phrases.length + index] : []));
  const isInside = (at) => scattered.some((index) => SIDES.every((side) => size(choice.phrases[at][side]) === 1 && scatteredAt(choice, index)[side].includes(choice.phrases[at][side][0])));
  const begin = (at) => (scatteredAt(choice, at) || choice.phrases[at]).source[0];
  return [...phrases.filter((at) => !isInside(at)), ...scattered].sort((one, two) => begin(one) - begin(two));
}
const isSpoken = (text) => /[\p{L}\p{N}]/u.test(text);
function wayTo(choice, level) {
  const { left } = topsOf(choice), way = [];
  for (let at = level; at >= 0; at = aboveOf(choice, at)) if (!left.has(at)) way.unshift(at);
  return way;
}
/* Of each word the part that it is coloured by, or -1. */
function ownersOf({ view, choice }, parts, side) {
  const owners = new Array(view[side].tokens.length).fill(-1);
  for (const at of parts) for (const word of scatteredAt(choice, at)?.[side] || []) owners[word] = at;
  for (const at of parts.filter((index) => index < choice.phrases.length)) owners.fill(at, ...choice.phrases[at][side]);
  return owners;
}
const partText = ({ view, choice }, at, side) => { const one = scatteredAt(choice, at); return one ? scatteredText(view, side, one[side]) : textOf(view, side, choice.phrases[at][side]); };
const partHue = ({ view, choice }, at) => { const one = scatteredAt(choice, at); return one ? scatteredHue(one, view) : hueOf(choice.phrases[at], view); };
const hasParts = ({ choice }, at) => Boolean(choice.phrases[at] && choice.phrases[at].supports.length);

/* ---- drawing ---- */
function chipOf(panel, at, side) {
  const other = side === "source" ? "target" : "source", one = scatteredAt(panel.choice, at) || panel.choice.phrases[at];
  const chip = make("span", { className: "chip", hue: partHue(panel, at), tabIndex: 0, onclick: () => enter(panel, at) });  // a button would not wrap
  chip.dataset.at = at;
  chip.setAttribute("role", "button");
  chip.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); enter(panel, at); } });
  chip.setAttribute("aria-label", visible(`${partText(panel, at, side)}: aligned with ${partText(panel, at, other)}${hasParts(panel, at) ? ", has parts" : ""}`));
  chip.classList.toggle("deep", hasParts(panel, at));
  chip.classList.toggle("scattered-chip", at >= panel.choice.phrases.length);
  chip.classList.toggle("only", panel.only.phrases.has(at));
  chip.classList.toggle("against", CONTRADICTIONS.has(one.relation));
  chip.addEventListener("mouseenter", () => pointAt(panel, at));
  chip.addEventListener("mouseleave", () => pointAt(panel, panel.kept));
  return chip;
}
function runningText(panel, parts, side) {
  const { view, choice, level } = panel, owners = ownersOf(panel, parts, side), line = make("p", { className: "running" });
  const isOut = (word) => level >= 0 && !within([word, word + 1], choice.phrases[level][side]);
  const isNull = (word) => choice.nulls[side].some((span) => within([word, word + 1], span));
  let chip = null;
  view[side].tokens.forEach((token, word) => {
    const space = word && view[side].spaces[word] ? " " : "", at = owners[word];
    if (at >= 0 && word && owners[word - 1] === at) { chip.append(space, visible(token)); return; }
    line.append(space);
    if (at >= 0) { chip = chipOf(panel, at, side); chip.append(visible(token)); line.append(chip); }
    else line.append(make("span", { className: isOut(word) ? "out" : isNull(word) ? "is-null" : "", textContent: token }));
  });
  return make("div", { className: "sentence" }, make("h3", { textContent: side }), line);
}
function crumbsOf(panel) {
  const way = wayTo(panel.choice, panel.level), crumbs = make("p", { className: "crumbs" });
  const crumb = (text, at) => make("button", { type: "button", className: "jump", textContent: text, disabled: at === panel.level, onclick: () => goInto(panel, at) });
  crumbs.append(crumb("whole sentence", -1));
  for (const at of way) crumbs.append(" \u203a ", crumb(partText(panel, at, "source"), at));
  return crumbs;
}
function partRow(panel, at) {
  const one = scatteredAt(panel.choice, at) || panel.choice.phrases[at];
  const quote = (side) => make("q", { className: "hued", hue: partHue(panel, at), textContent: partText(panel, at, side) });
  const go = make("button", { type: "button", className: "part-row", onclick: () => enter(panel, at) }, quote("source"), " = ", quote("target"));
  go.dataset.at = at;
  if (one.relation && one.relation !== "equal") go.append(" ", make("small", { className: CONTRADICTIONS.has(one.relation) ? "badge" : "", textContent: one.relation }));
  if (typeof one.posterior === "number") go.append(" ", make("small", { textContent: fixed(one.posterior).replace(/^0/, ""), title: "confidence" }));
  return go;
}
/* Null phrases of the pair that one is in, outside its parts. */
function aloneAt(panel, parts, side) {
  const { choice, level, view } = panel, own = parts.filter((at) => at < choice.phrases.length).map((at) => choice.phrases[at][side]);
  const spans = choice.nulls[side].filter((span) => (level < 0 || within(span, choice.phrases[level][side])) && !own.some((part) => within(span, part)));
  return spans.map((span) => textOf(view, side, span)).filter(isSpoken);
}
function drawRunning(panel) {
  const hadFocus = panel.drawing.contains(document.activeElement);
  const parts = partsAt(panel.choice, panel.level).filter((at) => SIDES.some((side) => isSpoken(partText(panel, at, side))));
  const alone = SIDES.map((side) => [side, aloneAt(panel, parts, side)]).filter(([, texts]) => texts.length);
  panel.drawing.classList.add("compact");
  panel.drawing.replaceChildren(crumbsOf(panel), ...SIDES.map((side) => runningText(panel, parts, side)), make("div", { className: "parts" }, ...parts.map((at) => partRow(panel, at))),
    ...alone.map(([side, texts]) => make("p", { className: "alone", textContent: `only in the ${side}: ${texts.join(" \u00b7 ")}` })));
  if (hadFocus) panel.drawing.querySelector(".chip, .jump")?.focus({ preventScroll: true });
  pointAt(panel, panel.kept);
}
function pointAt(panel, at) {
  for (const chip of panel.drawing.querySelectorAll("[data-at]")) chip.classList.toggle("is-active", Number(chip.dataset.at) === at);
  describe(panel, at);
}

/* ---- moving ---- */
function goInto(panel, level) {
  Object.assign(panel, { level, kept: level });
  drawRunning(panel);
}
function enter(panel, at) {
  if (hasParts(panel, at)) goInto(panel, at);
  else { panel.kept = panel.kept === at ? panel.level : at; pointAt(panel, panel.kept); }
}
/* As in the drawing: -1 lets go, which is one step back here. */
function selectRunning(panel, at) {
  if (at < 0) {
    const way = wayTo(panel.choice, panel.level);
    goInto(panel, panel.kept !== panel.level ? panel.level : way.length > 1 ? way[way.length - 2] : -1);
    return;
  }
  const one = scatteredAt(panel.choice, at), { phrases } = panel.choice;
  const over = one ? phrases.findIndex((phrase) => holds(phrase, one)) : aboveOf(panel.choice, at), { left } = topsOf(panel.choice);
  goInto(panel, hasParts(panel, at) ? at : left.has(over) ? -1 : over);
  panel.kept = at;
  pointAt(panel, at);
}
