/* Correcting an alignment. A draft is a list of pairs of node names over the two binarised trees, and one of scattered
   words, as `annotations/` has them; what is drawn is made from it anew after each change, and every change can be taken back. */

const MARKS = ["", "unsure", "equal", "similar", "more general", "more specific", "opposite", "different value"];
const edit = { on: false, annotator: "", drafts: new Map(), saved: new Map(), picked: null, gathers: false, gathered: { source: [], target: [] }, waits: false };

const nameKey = ([begin, end, label, isBar]) => `${begin} ${end} ${label} ${Boolean(isBar)}`;
const nameOf = (node) => [node.begin, node.end, node.label, node.kind === BAR];

/* ---- the binarised tree ---- */
/* Parents by containment: sorted by beginning, longest first, nodes meet their parents on a stack (as in scene.py). */
function binaryNodes(choice, side) {
  const rank = { p: 0, b: 1, w: 2 };
  const plain = choice[side].filter((node) => node.kind !== BAR).map(({ label, begin, end, kind }) => ({ label, begin, end, kind }));
  for (const [begin, end, label] of choice.trees[side].bars) plain.push({ label, begin, end, kind: BAR });
  plain.sort((one, two) => one.begin - two.begin || two.end - one.end || rank[one.kind] - rank[two.kind]);
  const stack = [], last = plain.length - 1;
  plain.forEach((node, index) => {
    while (stack.length && plain[stack[stack.length - 1]].end < node.end) stack.pop();
    node.parent = stack.length ? last - stack[stack.length - 1] : -1;
    stack.push(index);
  });
  return plain.reverse();
}

/* ---- from a draft to what is drawn ---- */
function choiceOfDraft(draft) {
  const order = { source: new Map(), target: new Map() };
  for (const side of SIDES) draft.nodes[side].forEach((node, index) => order[side].set(nameKey(nameOf(node)), index));
  const at = (pair, side) => order[side].get(nameKey(pair[side]));
  const pairs = [...draft.pairs].sort((one, two) => size(one.source) - size(two.source) || at(one, "source") - at(two, "source"));
  const choice = { phrases: phrasesOf(pairs, (pair, side) => at(pair, side), draft.nodes), nulls: {}, scattered: draft.scattered.map((one) => ({ ...one, evidence: "", relation: one.mark })), extended: [], logScore: null, reachedRoot: true, completed: false, trees: draft.trees, pairs };
  for (const side of SIDES) {
    const phraseAt = new Map(pairs.map((pair, index) => [at(pair, side), index]));
    choice[side] = withNulls(draft.nodes[side].map((node, index) => ({ ...node, phrase: phraseAt.has(index) ? phraseAt.get(index) : -1, inner: -1, joined: joinedAt(draft, side, node), whole: -1 })))
      .map((node) => ({ ...node, shows: shownBy(node, choice) }));
    choice.nulls[side] = choice[side].filter((node) => node.isNull).map((node) => [node.begin, node.end]);
  }
  return choice;
}
const size = ([begin, end]) => end - begin;
/* The scattered words that a node consists of, as in scene.py. */
function joinedAt(draft, side, { begin, end }) {
  return draft.scattered.findIndex((one) => one[side].filter((word) => begin <= word && word < end).length === end - begin);
}

function phrasesOf(pairs, at, nodes) {
  const above = (side, index, other) => {  // whether the node `other` stands over the node `index`
    let parent = nodes[side][index].parent;
    while (parent >= 0 && parent < other) parent = nodes[side][parent].parent;
    return parent === other;
  };
  const holds = (outer, inner) => above("source", at(inner, "source"), at(outer, "source")) && above("target", at(inner, "target"), at(outer, "target"));
  return pairs.map((pair) => {
    const inside = pairs.flatMap((other, index) => (other !== pair && holds(pair, other) ? [index] : []));
    const supports = inside.filter((index) => !inside.some((other) => other !== index && holds(pairs[other], pairs[index])));
    const places = supports.map((index) => pairs[index]).sort((one, two) => one.source[0] - two.source[0]).map((other) => other.target[0]);
    return {
      source: pair.source.slice(0, 2), target: pair.target.slice(0, 2), sourceLabel: pair.source[2], targetLabel: pair.target[2],
      compositional: supports.length <= 2, score: null, supports, bar: pair.source[3] || pair.target[3],
      inverted: places.some((place, index) => index && place < places[index - 1]), posterior: null, relation: pair.mark, evidence: [],
    };
  });
}

/* Null is what has no aligned node and no scattered word inside, unless it belongs to a pair that is aligned as a whole. */
function withNulls(nodes) {
  const full = nodes.map((node) => node.phrase >= 0 || node.joined >= 0), below = nodes.map(() => false);
  nodes.forEach((node, index) => { if (full[index] && node.parent >= 0) { full[node.parent] = true; below[node.parent] = true; } });
  nodes.forEach((node, index) => { if (below[index] && node.parent >= 0) below[node.parent] = true; });
  for (let index = nodes.length - 1; index >= 0; index--) {  // parents before children
    const node = nodes[index];
    let over = node.parent;
    while (over >= 0 && nodes[over].phrase < 0) over = nodes[over].parent;
    node.inNull = !full[index] && (over < 0 || below[over]);
    node.isNull = node.inNull && (node.parent < 0 || !nodes[node.parent].inNull);
  }
  return nodes;
}

/* ---- drafts ---- */
const sameTokens = (one, two) => one.length === two.length && one.every((token, index) => token === two[index]);
const fitsPair = (saved, view) => sameTokens(saved.source, view.source.tokens) && sameTokens(saved.target, view.target.tokens);
const fitsTrees = (saved, choice) => SIDES.every((side) => saved.trees[side] === choice.trees[side].brackets);
const isSaved = (pair) => { const saved = edit.saved.get(pair.id); return Boolean(saved && saved.pairs && baseOf(pair, saved)); };
const hasChanged = (pair) => { const saved = edit.saved.get(pair.id); return Boolean(saved && saved.pairs && !isSaved(pair)); };
const draftName = (id) => `${data.key}:${edit.annotator}:draft:${id}`;
function isDirty(pair) {
  const draft = edit.drafts.get(pair.id);
  return draft ? draft.dirty : Boolean(keeper.get(draftName(pair.id)));
}

/* The view and the choice whose trees an earlier answer speaks of; null where there are none any more. */
function baseOf(pair, earlier) {
  if (!fitsPair(earlier, anyView(pair))) return null;
  for (const view of [earlier.view, ...pair.views]) {
    if (!view || !fitsPair(earlier, view)) continue;
    const index = earlier.trees ? view.choices.findIndex((choice) => fitsTrees(earlier, choice)) : 0;
    if (index >= 0) return { view, index };
  }
  return null;
}

function draftOf(pair) {
  if (!edit.drafts.has(pair.id)) edit.drafts.set(pair.id, kept(pair) || savedDraft(pair) || freshDraft(pair));
  return edit.drafts.get(pair.id);
}
function emptyDraft(pair, { view, index }, rows, dirty) {
  const unfolded = unfold(view, everyPhrase), choice = unfolded.choices[index];
  const nodes = { source: binaryNodes(choice, "source"), target: binaryNodes(choice, "target") };
  const names = { source: new Set(), target: new Set() };
  for (const side of SIDES) for (const node of nodes[side]) names[side].add(nameKey(nameOf(node)));
  const { pairs, scattered } = rows(choice), known = pairs.filter((each) => SIDES.every((side) => names[side].has(nameKey(each[side]))));
  return { id: pair.id, view: { ...unfolded, id: pair.id, folded: view }, trees: choice.trees, nodes, pairs: known, scattered, past: [], future: [], dirty };
}
const rowsOf = (earlier) => ({
  pairs: earlier.pairs.map(([source, target]) => ({ source, target, mark: markIn(earlier.marks, source, target) })),
  scattered: (earlier.scattered || []).map(([source, target, mark]) => ({ source, target, mark })),
});
const markIn = (marks, source, target) => { const found = (marks || []).find((mark) => nameKey(mark[0]) === nameKey(source) && nameKey(mark[1]) === nameKey(target)); return found ? found[2] : ""; };
function kept(pair) {
  const earlier = keeper.get(draftName(pair.id)), base = earlier && baseOf(pair, earlier);
  if (earlier && !base) tell("Your unsaved changes of this pair were made for other sentences or trees; they are not shown.", true);
  return base && emptyDraft(pair, base, () => rowsOf(earlier), true);
}
function savedDraft(pair) {
  const saved = edit.saved.get(pair.id), base = saved && baseOf(pair, saved);
  return base && emptyDraft(pair, base, saved.pairs ? () => rowsOf(saved) : (choice) => rowsOfChoice(choice), false);
}
function freshDraft(pair) {
  const view = anyView(pair), index = Math.min(state.choice, view.choices.length - 1);
  return emptyDraft(pair, { view, index }, rowsOfChoice, false);
}
function rowsOfChoice(choice) {
  const find = (side, index) => choice[side].find((node) => node.phrase === index);
  const pairs = choice.phrases.map((_, index) => [find("source", index), find("target", index)]).filter(([source, target]) => source && target)
    .map(([source, target]) => ({ source: nameOf(source), target: nameOf(target), mark: "" }));
  return { pairs, scattered: choice.scattered.map(({ source, target }) => ({ source, target, mark: "" })) };
}

/* ---- changes ---- */
const answerOf = ({ pairs, scattered }) => ({ pairs, scattered });
function change(changes) {
  const draft = draftOf(state.shown[state.at]);
  draft.past.push(answerOf(draft));
  draft.future = [];
  Object.assign(draft, changes);
  changed(draft);
}
function travel(from, to) {
  const draft = draftOf(state.shown[state.at]);
  if (!draft[from].length) return;
  draft[to].push(answerOf(draft));
  Object.assign(draft, draft[from].pop());
  changed(draft);
}
function changed(draft) {
  draft.dirty = true;
  const is = keeper.set(draftName(draft.id), fieldsOf(draft));
  tell(is ? "" : "This browser keeps nothing: save before you leave the page.", !is);
  redraw();
}
const pairOf = (side, name) => draftOf(state.shown[state.at]).pairs.find((pair) => nameKey(pair[side]) === nameKey(name));
function connect(source, target) {
  const { pairs } = draftOf(state.shown[state.at]);
  if (pairOf("source", source) && pairOf("source", source) === pairOf("target", target)) return;
  change({ pairs: [...pairs.filter((pair) => nameKey(pair.source) !== nameKey(source) && nameKey(pair.target) !== nameKey(target)), { source, target, mark: "" }] });
}
function removePair() {
  const found = pickedAnswer();
  if (found) change({ [found.list]: draftOf(state.shown[state.at])[found.list].filter((other) => other !== found.one) });
}
/* What is chosen: the pair of a node, else the scattered words that its word belongs to; and the list that it stands in. */
function pickedAnswer() {
  const { picked } = edit, pair = picked && pairOf(picked.side, picked.name);
  if (pair) return { list: "pairs", one: pair };
  const one = picked && size(picked.name) === 1 && draftOf(state.shown[state.at]).scattered.find((each) => each[picked.side].includes(picked.name[0]));
  return one ? { list: "scattered", one } : null;
}
function makeNull() {
  if (!edit.picked) return;
  const { side, name } = edit.picked, { pairs, scattered } = draftOf(state.shown[state.at]);
  const kept = scattered.filter((one) => !one[side].some((word) => within([word, word + 1], name)));
  const left = pairs.filter((pair) => !within(pair[side], name) || (size(pair[side]) === size(name) && isOver(side, pair[side], name)));
  if (left.length < pairs.length || kept.length < scattered.length) change({ pairs: left, scattered: kept });
}
/* Of two nodes over the same words, whether the first is the higher. */
function isOver(side, first, second) {
  const nodes = draftOf(state.shown[state.at]).nodes[side], at = (name) => nodes.findIndex((node) => nameKey(nameOf(node)) === nameKey(name));
  return at(first) > at(second);
}
function mark(text) {
  const found = pickedAnswer();
  if (found && found.one.mark !== text) change({ [found.list]: draftOf(state.shown[state.at])[found.list].map((other) => (other === found.one ? { ...other, mark: text } : other)) });
}
function cycleMark() {
  const found = pickedAnswer();
  if (found) mark(MARKS[(MARKS.indexOf(found.one.mark) + 1) % MARKS.length]);
}
function clearPairs() {
  const { nodes, pairs, scattered } = draftOf(state.shown[state.at]);
  const [source, target] = SIDES.map((side) => nameOf(nodes[side][nodes[side].length - 1]));
  if (pairs.length !== 1 || scattered.length || nameKey(pairs[0].source) !== nameKey(source)) change({ pairs: [{ source, target, mark: "" }], scattered: [] });
}
const startAgain = () => change(draftBase(state.shown[state.at]));
/* What the aligner said, as far as the draft's trees have its nodes. */
function draftBase(pair) {
  const { nodes } = draftOf(pair), has = (side, name) => nodes[side].some((node) => nameKey(nameOf(node)) === nameKey(name));
  const { pairs, scattered } = rowsOfChoice(choiceOf(unfold(anyView(pair), everyPhrase)));
  return { pairs: pairs.filter((row) => SIDES.every((side) => has(side, row[side]))), scattered };
}

/* ---- words that belong together and are not a phrase ---- */
const isGathering = () => SIDES.some((side) => edit.gathered[side].length);
const canJoin = () => SIDES.every((side) => edit.gathered[side].length) && SIDES.some((side) => edit.gathered[side].length > 1);
function letGo() {
  Object.assign(edit, { picked: null, gathers: false, gathered: { source: [], target: [] } });
}
function turnGathering() {
  const gathers = !edit.gathers;
  letGo();
  edit.gathers = gathers;
  redraw();
}
function gatherWord(side, word) {
  const { gathered } = edit;
  edit.picked = null;
  gathered[side] = gathered[side].includes(word) ? gathered[side].filter((other) => other !== word) : [...gathered[side], word].sort((one, two) => one - two);
  redraw();
}
/* A word belongs to one such group at most; the new one takes the place of those that it shares words with. */
function joinWords() {
  const { source, target } = edit.gathered, { scattered } = draftOf(state.shown[state.at]);
  if (!canJoin()) return;
  const isFree = (one) => SIDES.every((side) => !one[side].some((word) => edit.gathered[side].includes(word)));
  letGo();
  edit.picked = { side: "source", name: wordName("source", source[0]) };
  change({ scattered: [...scattered.filter(isFree), { source, target, mark: "" }].sort((one, two) => one.source[0] - two.source[0]) });
}
const wordName = (side, word) => nameOf(draftOf(state.shown[state.at]).nodes[side].find((node) => node.kind === WORD && node.begin === word));
const isPicked = (side, node) => (edit.picked ? edit.picked.side === side && nameKey(edit.picked.name) === nameKey(nameOf(node)) : node.kind === WORD && edit.gathered[side].includes(node.begin));
function describeGathered(view) {
  const side = (name) => (edit.gathered[name].length ? make("q", { textContent: scatteredText(view, name, edit.gathered[name]) }) : `click words of the ${name}`);
  const tools = make("p", { className: "edit-tools" }, make("button", { type: "button", id: "join-words", textContent: "Join these words", disabled: !canJoin(), onclick: joinWords }),
    make("button", { type: "button", textContent: "Let go", title: "Esc", onclick: () => { letGo(); redraw(); } }));
  return [make("p", {}, side("source"), " \u2194 ", side("target")), tools];
}

/* ---- picking nodes ---- */
function pick(side, node) {
  const name = nameOf(node), { picked } = edit;
  if (picked && picked.side !== side && !joined(picked, side, name)) {
    const [source, target] = side === "target" ? [picked.name, name] : [name, picked.name];
    edit.picked = { side, name };
    connect(source, target);
    return;
  }
  edit.picked = picked && picked.side === side && nameKey(picked.name) === nameKey(name) ? null : { side, name };
  redraw();
}
function joined(picked, side, name) {
  const pair = pairOf(picked.side, picked.name);
  return Boolean(pair) && nameKey(pair[side]) === nameKey(name);
}
function pickedPhrase(choice) {
  const found = pickedAnswer();
  if (!found) return -1;
  return found.list === "pairs" ? choice.pairs.indexOf(found.one) : choice.phrases.length + draftOf(state.shown[state.at]).scattered.indexOf(found.one);
}

/* Pairs that nest in another way on the one side than on the other; allowed where the meaning asks for it. */
function crossing(draft, pair) {
  const over = (side, one, two) => within(two[side], one[side]) && nameKey(one[side]) !== nameKey(two[side]) && (size(one[side]) > size(two[side]) || isOver(side, one[side], two[side]));
  const nesting = (side, other) => (over(side, pair, other) ? 1 : over(side, other, pair) ? -1 : 0);
  return draft.pairs.filter((other) => other !== pair && nesting("source", other) !== nesting("target", other));
}

function describePicked(panel) {
  const { picked } = edit, draft = panel.draft, found = pickedAnswer();
  if (edit.gathers || isGathering()) return describeGathered(draft.view);
  if (!picked) return [make("p", { className: "hint", textContent: "Click a phrase and then its partner in the other tree to align them. Click an aligned phrase to remove, mark or empty it. Ctrl+Z takes back, Ctrl+S saves." })];
  const pair = found && found.list === "pairs" ? found.one : null, text = (side, name) => textOf(draft.view, side, name);
  const line = make("p", {}, make("strong", { textContent: `${picked.name[2]}${picked.name[3] ? "\u2032" : ""}` }), " ", make("q", { textContent: text(picked.side, picked.name) }));
  const other = picked.side === "source" ? "target" : "source";
  if (found && !pair) line.append(" \u2014 together: ", ...SIDES.flatMap((side, index) => [index ? " \u2194 " : "", make("q", { textContent: scatteredText(draft.view, side, found.one[side]) })]));
  else line.append(pair ? " \u2194 " : ` \u2014 now click its partner in the ${other} tree`);
  if (pair) line.append(make("strong", { textContent: pair[other][2] }), " ", make("q", { textContent: text(other, pair[other]) }));
  const tools = make("p", { className: "edit-tools" }, make("button", { type: "button", id: "make-null", textContent: "Make null", title: "nothing inside is aligned (u)", onclick: makeNull }));
  if (found) {
    const choose = make("select", { id: "mark", onchange: (event) => mark(event.target.value) }, ...MARKS.map((name) => make("option", { value: name, textContent: name || "no mark" })));
    choose.value = found.one.mark;
    tools.prepend(make("button", { type: "button", id: "remove-pair", textContent: pair ? "Remove pair" : "Take apart", title: "Delete", onclick: removePair }));
    tools.append(make("label", {}, "mark ", choose));
  }
  const others = pair ? crossing(draft, pair) : [];
  const notes = others.length ? [make("p", { className: "facts warn", textContent: `nests otherwise than ${others.slice(0, 3).map((one) => text("source", one.source)).join(", ")}${others.length > 3 ? " and others" : ""}` })] : [];
  return [line, tools, ...notes];
}
