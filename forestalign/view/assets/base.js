/* What all parts of the page share. All text goes in as text, never as markup, and no character steers the page. */

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const state = { shown: [], at: 0, choice: 0, links: true, bars: false, forest: false, least: 0, compact: null, layout: "auto", zoom: 0, statistics: false };
const LAYOUTS = ["auto", "stacked", "beside"];
const SIDES = ["source", "target"];
const CONTRADICTIONS = new Set(["opposite", "different value", "other roles"]);
let panels = [];

/* Directional and control characters, which would make a text read otherwise than it is; `terminal.py` has the same list. */
const STEERING = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const visible = (text) => String(text).replace(STEERING, (sign) => `[U+${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
const seen = (child) => (child instanceof Node ? child : visible(child));

const make = (name, properties = {}, ...children) => {
  const { hue, ...rest } = properties;
  for (const key of ["textContent", "title", "ariaLabel"]) if (rest[key] !== undefined) rest[key] = visible(rest[key]);
  const made = Object.assign(document.createElement(name), rest);
  if (hue !== undefined) made.style.setProperty("--hue", hue);
  made.append(...children.map(seen));
  return made;
};
const fixed = (value, digits = 2) => (value === null || value === undefined ? "\u2212\u221e" : value.toFixed(digits));
const counted = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/* ---- from the data's lists to objects, for the pair that is shown ---- */
const nodeOf = ([label, begin, end, kind, parent, phrase, isNull, inNull, inner, joined, whole]) => ({ label, begin, end, kind, parent, phrase, isNull, inNull, inner, joined, whole });
const phraseOf = ([source, target, sourceLabel, targetLabel, compositional, score, supports, bar, inverted, posterior, relation, evidence, reason, shown]) =>
  ({ source, target, sourceLabel, targetLabel, compositional, score, supports, bar, inverted, posterior, relation, evidence, reason, shown });
const scatteredFields = ([source, target, evidence, relation]) => ({ source, target, evidence, relation });
const extendedFields = ([side, span, label, pair, added]) => ({ side, span, label, pair, added });
const otherOf = ([begin, end, label, probability]) => ({ begin, end, label, probability });
const everyPhrase = () => true;
/* Which pairs are drawn: those that Python shows, or all bar phrases besides, and none that is less certain than asked for. */
const isDrawn = (phrase) => (state.bars || phrase.shown) && (phrase.posterior === null || phrase.posterior >= state.least);
/* The pairs that are drawn; what supports one that is not supports the pair above it, which is as little compositional. */
function drawnPhrases(phrases, isWanted) {
  const place = new Map();
  phrases.forEach((phrase, index) => { if (isWanted(phrase)) place.set(index, place.size); });
  const parts = (phrase) => phrase.supports.flatMap((index) => (place.has(index) ? [place.get(index)] : parts(phrases[index])));
  const isMade = (phrase) => Boolean(phrase.compositional) && phrase.supports.every((index) => place.has(index) || isMade(phrases[index]));
  return { place, phrases: phrases.filter(isWanted).map((phrase) => ({ ...phrase, supports: parts(phrase), compositional: isMade(phrase) })) };
}
const unfoldChoice = (folded, isWanted) => {
  const { place, phrases } = drawnPhrases(folded.phrases.map(phraseOf), isWanted), at = (index) => place.get(index) ?? -1;
  const extended = folded.extended.map(extendedFields).map((one) => ({ ...one, pair: at(one.pair) })).filter((one) => one.pair >= 0);
  const choice = { ...folded, phrases, every: folded.phrases.map(phraseOf), extended, scattered: folded.scattered.map(scatteredFields) };
  for (const side of SIDES) {
    choice[side] = folded[side].map(nodeOf).map((node) => ({ ...node, phrase: at(node.phrase), inner: at(node.inner), whole: at(node.whole) }))
      .map((node) => ({ ...node, shows: shownBy(node, choice) }));
  }
  return choice;
};
const unfold = (view, isWanted = isDrawn) => view && {
  ...view,
  choices: view.choices.map((choice) => unfoldChoice(choice, isWanted)),
  forest: { source: view.forest.source.map(otherOf), target: view.forest.target.map(otherOf) },
};
const anyView = (pair) => pair.views.find(Boolean);
const textOf = (view, side, [begin, end]) => view[side].tokens.slice(begin, end).map((token, index) => (index && view[side].spaces[begin + index] ? " " : "") + token).join("");
const within = (inner, outer) => outer[0] <= inner[0] && inner[1] <= outer[1];

/* What the browser keeps for the next visit; a browser that keeps nothing is no reason to stop. */
const keeper = {
  get(name) { try { return JSON.parse(localStorage.getItem(`forestalign:${name}`)); } catch { return null; } },
  set(name, value) { try { localStorage.setItem(`forestalign:${name}`, JSON.stringify(value)); return true; } catch { return false; } },
  drop(name) { try { localStorage.removeItem(`forestalign:${name}`); } catch { /* nothing was kept */ } },
};
