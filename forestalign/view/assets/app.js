/* The page around the drawing: list, filter, selection, keys. All text goes in as text, never as markup. */

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const state = { shown: [], at: 0, choice: 0, links: true, bars: true, forest: false, layout: "auto" };
const LAYOUTS = ["auto", "stacked", "beside"];
const ROW_HEIGHT = 58;
let panels = [];

const make = (name, properties = {}, ...children) => {
  const { hue, ...rest } = properties;
  const made = Object.assign(document.createElement(name), rest);
  if (hue !== undefined) made.style.setProperty("--hue", hue);
  made.append(...children);
  return made;
};

/* ---- from the data's lists to objects, for the pair that is shown ---- */
const nodeOf = ([label, begin, end, kind, parent, phrase, isNull, inNull]) => ({ label, begin, end, kind, parent, phrase, isNull, inNull });
const phraseOf = ([source, target, sourceLabel, targetLabel, compositional, score, supports, bar, inverted, posterior]) =>
  ({ source, target, sourceLabel, targetLabel, compositional, score, supports, bar, inverted, posterior });
const otherOf = ([begin, end, label, probability]) => ({ begin, end, label, probability });
const unfold = (view) => view && {
  ...view,
  choices: view.choices.map((choice) => ({ ...choice, source: choice.source.map(nodeOf), target: choice.target.map(nodeOf), phrases: choice.phrases.map(phraseOf) })),
  forest: { source: view.forest.source.map(otherOf), target: view.forest.target.map(otherOf) },
};

/* ---- differences between two systems ---- */
const phraseKey = (phrase) => `${phrase.source} ${phrase.target}`;
const choiceOf = (view) => view && view.choices[Math.min(state.choice, view.choices.length - 1)];
function onlyIn(view, other) {
  const only = { phrases: new Set(), words: new Set() };
  if (!view || !other) return only;
  const theirs = new Set(choiceOf(other).phrases.map(phraseKey));
  choiceOf(view).phrases.forEach((phrase, index) => { if (!theirs.has(phraseKey(phrase))) only.phrases.add(index); });
  const links = new Set(other.words.map(([i, j]) => `${i}-${j}`));
  for (const [i, j] of view.words) if (!links.has(`${i}-${j}`)) only.words.add(`${i}-${j}`);
  return only;
}
function differenceCount(pair) {
  if (pair.difference === undefined) {
    const [left, right] = pair.views;
    const keys = (view) => new Set(view ? view.choices[0].phrases.map(([source, target]) => `${source} ${target}`) : []);
    const [a, b] = [keys(left), keys(right)];
    pair.difference = [...a].filter((key) => !b.has(key)).length + [...b].filter((key) => !a.has(key)).length;
  }
  return pair.difference;
}
const anyView = (pair) => pair.views.find(Boolean);

/* ---- the list: only the rows in sight exist ---- */
function refilter() {
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const onlyDifferent = byId("different").checked;
  const current = state.shown[state.at];
  state.shown = data.pairs.filter((pair) => {
    const { source, target } = anyView(pair);
    const text = `${pair.id} ${source.text} ${target.text}`.toLowerCase();
    return words.every((word) => text.includes(word)) && (!onlyDifferent || differenceCount(pair) > 0);
  });
  byId("total").textContent = state.shown.length === data.pairs.length ? `${data.pairs.length} pairs` : `${state.shown.length} of ${data.pairs.length}`;
  byId("rows").style.height = `${state.shown.length * ROW_HEIGHT}px`;
  state.at = Math.max(0, state.shown.indexOf(current));
  show();
}
function drawRows() {
  const list = byId("list"), rows = byId("rows");
  const first = Math.max(0, Math.floor(list.scrollTop / ROW_HEIGHT) - 4);
  const last = Math.min(state.shown.length, first + Math.ceil(list.clientHeight / ROW_HEIGHT) + 9);
  rows.replaceChildren(...state.shown.slice(first, last).map((pair, offset) => rowOf(pair, first + offset)));
  list.setAttribute("aria-activedescendant", state.shown.length ? `row-${state.at}` : "");
}
function rowOf(pair, index) {
  const count = data.systems.length > 1 ? differenceCount(pair) : 0;
  const title = make("b", {}, make("span", { textContent: pair.id }));
  if (pair.views.includes(null)) title.append(make("span", { className: "badge", textContent: "one only", title: "only one system has this pair" }));
  else if (count) title.append(make("span", { className: "badge", textContent: `${count} differ`, title: "phrase pairs that only one system has" }));
  else if (!choiceIsComplete(pair)) title.append(make("span", { className: "badge", textContent: "partial", title: "the alignment does not reach the roots" }));
  const row = make("div", { className: "row", id: `row-${index}`, onclick: () => { state.at = index; state.choice = 0; show(); } }, title, make("p", { textContent: anyView(pair).source.text }));
  row.setAttribute("role", "option");
  row.setAttribute("aria-selected", String(index === state.at));
  row.setAttribute("aria-posinset", index + 1);
  row.setAttribute("aria-setsize", state.shown.length);
  row.style.top = `${index * ROW_HEIGHT}px`;
  return row;
}
const choiceIsComplete = (pair) => anyView(pair).choices[0].reachedRoot;
function keepInSight() {
  const list = byId("list"), top = state.at * ROW_HEIGHT;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + ROW_HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW_HEIGHT - list.clientHeight;
}

/* ---- the current pair ---- */
function show() {
  const pair = state.shown[state.at];
  byId("nothing").hidden = Boolean(pair) || data.pairs.length === 0;
  byId("name").textContent = pair ? pair.id : "";
  byId("previous").disabled = state.at <= 0;
  byId("next").disabled = state.at >= state.shown.length - 1;
  for (const name of ["links", "bars", "forest"]) byId(name).setAttribute("aria-pressed", String(state[name]));
  byId("layout").textContent = `Layout: ${state.layout}`;
  byId("views").replaceChildren();
  const views = pair ? pair.views.map(unfold) : [];
  panels = views.map((view, index) => panelOf(view, views[1 - index], index));
  arrange();
  keepInSight();
  drawRows();
  if (pair && !data.serves) history.replaceState(null, "", `#${encodeURIComponent(pair.id)}`);
}

/* Two systems stand side by side, or above each other where half the width is far too little for the trees. */
function arrange() {
  const views = byId("views");
  views.classList.remove("above");
  for (const panel of panels) panel.draw();
  if (panels.some((panel) => panel.drawn && panel.drawn.layout.size[0] > 1.6 * panel.drawing.clientWidth)) {
    views.classList.add("above");
    for (const panel of panels) panel.draw();
  }
}

function panelOf(view, other, index) {
  const root = make("section", { className: "view" });
  byId("views").append(root);
  if (data.systems.length > 1) root.append(make("h2", { textContent: data.systems[index] }));
  if (!view) {
    root.append(make("p", { className: "missing", textContent: "This system has no alignment for this pair." }));
    return { draw() {}, select() {} };
  }
  const choice = choiceOf(view), only = onlyIn(view, other);
  const drawing = make("div", { className: "drawing" }), about = make("div", { className: "about" });
  about.setAttribute("aria-live", "polite");
  const texts = textsOf(view, choice);
  root.append(factsOf(view, choice), texts.list, drawing, about, tableOf(view, choice, (at) => panel.select(at, true)));
  if (view.signature) root.append(make("p", { className: "signature", textContent: view.signature }));
  const panel = { view, choice, only, drawing, about, texts, kept: -1, draw: () => drawInto(panel), select: (at, keep) => select(panel, at, keep) };
  return panel;
}

function factsOf(view, choice) {
  const facts = make("div", { className: "kbest" });
  if (view.choices.length > 1) {
    facts.append("alignment ");
    view.choices.forEach((other, index) => {
      const button = make("button", { type: "button", textContent: `${index + 1}`, title: `log score ${other.logScore.toFixed(2)}`, onclick: () => { state.choice = index; show(); } });
      button.setAttribute("aria-pressed", String(other === choice));
      button.setAttribute("aria-label", `Alignment ${index + 1} of ${view.choices.length}`);
      facts.append(button);
    });
  }
  const apart = choice.phrases.filter((phrase) => !phrase.compositional).length;
  const parts = [`${choice.phrases.length} phrase pairs`, `log score ${choice.logScore.toFixed(2)}`];
  if (apart) parts.push(`${apart} non-compositional`);
  if (choice.completed) parts.push("root completed");
  if (!choice.reachedRoot) parts.push("partial: does not reach the roots");
  facts.append(make("span", { textContent: parts.join(" \u00b7 ") }));
  return facts;
}

function textsOf(view, choice) {
  const list = make("dl", { className: "texts" }), tokens = { source: [], target: [] };
  for (const name of ["source", "target"]) {
    const line = make("dd");
    view[name].tokens.forEach((token, index) => {
      const isNull = choice.nulls[name].some(([begin, end]) => begin <= index && index < end);
      const span = make("span", { className: isNull ? "token is-null" : "token", textContent: token });
      tokens[name].push(span);
      line.append(index && view[name].spaces[index] ? " " : "", span);
    });
    list.append(make("dt", { textContent: name }), line);
  }
  return { list, tokens };
}

function tableOf(view, choice, open) {
  const body = make("tbody");
  choice.phrases.forEach((phrase, index) => {
    const go = make("button", { type: "button", className: "jump", textContent: textOf(view, "source", phrase.source), onclick: () => open(index) });
    body.append(make("tr", {}, make("td", {}, go), make("td", { textContent: textOf(view, "target", phrase.target) }),
      make("td", { textContent: `${phrase.sourceLabel} \u2194 ${phrase.targetLabel}${phrase.compositional ? "" : " (non-compositional)"}` }),
      make("td", { className: "number", textContent: phrase.score.toFixed(2) })));
  });
  const head = make("thead", {}, make("tr", {}, ...["source", "target", "labels", "log Pr"].map((text) => make("th", { textContent: text, scope: "col" }))));
  const table = make("div", {});
  const details = make("details", { className: "all" }, make("summary", { textContent: "All phrase pairs as a table" }), table);
  details.addEventListener("toggle", () => { if (!table.firstChild) table.append(make("table", {}, head, body)); });
  return details;
}
const textOf = (view, side, [begin, end]) => view[side].tokens.slice(begin, end).map((token, index) => (index && view[side].spaces[begin + index] ? " " : "") + token).join("");

/* ---- drawing and its nodes ---- */
function drawInto(panel) {
  const room = Math.max(280, panel.drawing.clientWidth - 22);
  const { bars, links, forest } = state;
  const sizeOf = (rows) => layoutPair(panel.view, panel.choice, { rows, bars, links, forest: false }).size[0];
  const fits = (rows) => sizeOf(rows) <= room * 1.3;
  const rows = state.layout === "auto" ? !fits(false) && (fits(true) || sizeOf(true) < sizeOf(false)) : state.layout === "beside";
  const drawn = drawPair(panel.view, panel.choice, { rows, bars, links, forest }, panel.only);
  const scale = Math.max(.72, Math.min(1, room / drawn.layout.size[0]));
  for (const side of ["width", "height"]) drawn.svg.setAttribute(side, Math.floor(drawn.svg.getAttribute(side) * scale));
  panel.drawn = drawn;
  panel.drawing.replaceChildren(drawn.svg);
  if (rows) panel.drawing.scrollLeft = (panel.drawing.scrollWidth - panel.drawing.clientWidth) / 2;  // the words are in the middle
  for (const name of ["source", "target"]) {
    const side = drawn.nodes.filter((entry) => entry.side === name);
    for (const entry of side) wire(panel, entry);
    const top = side[side.length - 1];
    if (top) top.group.setAttribute("tabindex", "0");
  }
  describe(panel, -1);
}

function wire(panel, entry) {
  const { group, node, side } = entry, { phrase } = node;
  group.setAttribute("tabindex", "-1");
  group.setAttribute("role", "button");
  group.setAttribute("aria-label", labelOf(panel, entry));
  if (phrase >= 0) group.setAttribute("aria-pressed", "false");
  group.dataset.side = side;
  group.dataset.span = `${node.begin}-${node.end}`;
  group.dataset.phrase = phrase;
  group.addEventListener("mouseenter", () => { if (panel.kept < 0) highlight(panel, phrase); });
  group.addEventListener("mouseleave", () => { if (panel.kept < 0) highlight(panel, -1); });
  group.addEventListener("focus", () => { rove(panel, entry); if (panel.kept < 0) highlight(panel, phrase); });
  group.addEventListener("blur", () => { if (panel.kept < 0) highlight(panel, -1); });
  group.addEventListener("click", () => panel.select(panel.kept === phrase ? -1 : phrase, true));
  group.addEventListener("keydown", (event) => nodeKey(event, panel, entry));
}
function labelOf(panel, { node, side }) {
  const text = textOf(panel.view, side, [node.begin, node.end]);
  const kind = node.kind === "w" ? `word ${node.label}` : `${node.kind === "b" ? "bar phrase" : "phrase"} ${node.label}`;
  if (node.phrase < 0) return `${side} ${kind}: ${text}. ${node.inNull ? "Null" : "Not aligned itself"}`;
  const phrase = panel.choice.phrases[node.phrase], other = side === "source" ? "target" : "source";
  return `${side} ${kind}: ${text}. Aligned with ${textOf(panel.view, other, phrase[other])}${phrase.compositional ? "" : ", non-compositional"}`;
}
function rove(panel, entry) {
  for (const other of panel.drawn.nodes) if (other.side === entry.side) other.group.setAttribute("tabindex", other === entry ? "0" : "-1");
}
function nodeKey(event, panel, entry) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const go = goals(panel, entry)[event.key];
  if (go !== undefined) {
    event.preventDefault();
    event.stopPropagation();
    if (go) go.group.focus();
  } else if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    panel.select(panel.kept === entry.node.phrase ? -1 : entry.node.phrase, true);
  }
}
/* Where each key leads. The arrows follow the picture: the root of the source is up or left, that of the target down or right. */
function goals(panel, { node, side }) {
  const all = panel.drawn.nodes.filter((other) => other.side === side);
  const entryOf = (index) => all.find((other) => other.node.index === index) || null;
  const level = all.filter((other) => other.node.level === node.level).sort((one, two) => one.node.begin - two.node.begin);
  const at = level.findIndex((other) => other.node.index === node.index);
  const [outward, inward, back, forth] = panel.drawn.layout.rows
    ? (side === "source" ? ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"] : ["ArrowRight", "ArrowLeft", "ArrowUp", "ArrowDown"])
    : (side === "source" ? ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"] : ["ArrowDown", "ArrowUp", "ArrowLeft", "ArrowRight"]);
  const partner = node.phrase >= 0 ? panel.drawn.nodes.find((other) => other.side !== side && other.node.phrase === node.phrase) || null : null;
  return { [outward]: entryOf(node.parent), [inward]: node.children.length ? entryOf(node.children[0].index) : null, [back]: level[at - 1] || null, [forth]: level[at + 1] || null, x: partner };
}

/* ---- highlighting ---- */
function select(panel, at, keep) {
  panel.kept = keep ? at : -1;
  for (const { group, node } of panel.drawn.nodes) {
    group.classList.toggle("is-kept", at >= 0 && node.phrase === at);
    if (node.phrase >= 0) group.setAttribute("aria-pressed", String(node.phrase === at));
  }
  highlight(panel, at);
}
const within = (inner, outer) => outer[0] <= inner[0] && inner[1] <= outer[1];
/* Null phrases of a pair: inside it, and inside none of its supports. */
function nullsOf(choice, phrase, side) {
  const supports = phrase.supports.map((index) => choice.phrases[index][side]);
  return choice.nulls[side].filter((span) => within(span, phrase[side]) && !supports.some((other) => within(span, other)));
}
function highlight(panel, at) {
  const { choice, drawn, texts } = panel, phrase = choice.phrases[at];
  drawn.svg.classList.toggle("has-active", Boolean(phrase));
  const supports = new Set(phrase ? phrase.supports : []);
  const empty = { source: phrase ? nullsOf(choice, phrase, "source") : [], target: phrase ? nullsOf(choice, phrase, "target") : [] };
  for (const { group, node, side } of drawn.nodes) {
    const span = [node.begin, node.end], set = (name, on) => group.classList.toggle(name, Boolean(on));
    set("is-active", phrase && node.phrase === at);
    set("is-support", supports.has(node.phrase));
    set("is-inside", phrase && within(span, phrase[side]));
    set("is-empty", node.inNull && empty[side].some((other) => within(span, other)));
  }
  drawn.ribbons.forEach((path, index) => {
    path.classList.toggle("is-active", index === at);
    path.classList.toggle("is-support", supports.has(index));
  });
  for (const { path, i, j } of drawn.links) path.classList.toggle("is-inside", Boolean(phrase) && within([i, i + 1], phrase.source) && within([j, j + 1], phrase.target));
  for (const side of ["source", "target"]) texts.tokens[side].forEach((token, index) => {
    const on = phrase && phrase[side][0] <= index && index < phrase[side][1];
    token.classList.toggle("is-active", Boolean(on));
    if (on) token.style.setProperty("--hue", hueOf(phrase, panel.view));
  });
  describe(panel, at);
}
function describe(panel, at) {
  const { view, choice, about } = panel, phrase = choice.phrases[at];
  about.dataset.phrase = at;
  if (!phrase) {
    about.replaceChildren(make("p", { className: "hint", textContent: "Point at a phrase to see its partner, its supports and its null phrases; click to keep it. Press ? for keys." }));
    return;
  }
  const quote = (side, span) => make("q", { textContent: textOf(view, side, span), className: "hued", hue: hueOf(phrase, view) });
  const lines = [make("p", {}, make("strong", { textContent: phrase.sourceLabel }), " ", quote("source", phrase.source), " \u2194 ", make("strong", { textContent: phrase.targetLabel }), " ", quote("target", phrase.target))];
  const facts = [phrase.compositional ? "compositional" : "non-compositional", `log Pr ${phrase.score.toFixed(2)}`];
  if (phrase.inverted) facts.push("inverted");
  if (phrase.bar) facts.push("bar phrase");
  if (panel.only.phrases.has(at)) facts.push("only this system has it");
  lines.push(make("p", { className: "facts", textContent: facts.join(" \u00b7 ") }));
  if (phrase.supports.length) {
    const line = make("p", { className: "facts", textContent: "supported by " });
    phrase.supports.forEach((index, place) => line.append(place ? ", " : "", make("button", { type: "button", className: "jump", textContent: textOf(view, "source", choice.phrases[index].source), onclick: () => panel.select(index, true) })));
    lines.push(line);
  }
  const empty = ["source", "target"].flatMap((side) => nullsOf(choice, phrase, side).map((span) => `${textOf(view, side, span)} (${side})`));
  if (empty.length) lines.push(make("p", { className: "facts", textContent: `null: ${empty.join(", ")}` }));
  about.replaceChildren(...lines);
}

/* ---- keys and buttons ---- */
const move = (step) => {
  const at = Math.min(state.shown.length - 1, Math.max(0, state.at + step));
  if (at !== state.at) { state.at = at; state.choice = 0; show(); }
};
const flip = (name) => { state[name] = !state[name]; show(); };
const choose = (index) => {
  const pair = state.shown[state.at];
  const most = pair ? Math.max(...pair.views.filter(Boolean).map((view) => view.choices.length)) : 0;
  if (index >= 0 && index < most) { state.choice = index; show(); }
};
const turn = () => { state.layout = LAYOUTS[(LAYOUTS.indexOf(state.layout) + 1) % LAYOUTS.length]; show(); };
const actions = {
  n: () => move(1), j: () => move(1), p: () => move(-1), k: () => move(-1),
  w: () => flip("links"), b: () => flip("bars"), f: () => flip("forest"), o: turn,
  "/": () => byId("filter").focus(), "?": () => byId("help").showModal(),
  "[": () => choose(state.choice - 1), "]": () => choose(state.choice + 1),
  Escape: () => { for (const panel of panels) panel.select(-1, false); if (document.activeElement) document.activeElement.blur(); },
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || byId("help").open) return;
  if (event.target.closest("textarea, input:not([type=checkbox])")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const action = /^[1-9]$/.test(event.key) ? () => choose(Number(event.key) - 1) : actions[event.key];
  if (action) { event.preventDefault(); action(); }
});
byId("list").addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity }[event.key];
  if (step !== undefined) { event.preventDefault(); move(step); }
});
byId("list").addEventListener("scroll", drawRows);
byId("filter").addEventListener("input", refilter);
byId("different").addEventListener("change", refilter);
byId("previous").addEventListener("click", () => move(-1));
byId("next").addEventListener("click", () => move(1));
byId("layout").addEventListener("click", turn);
byId("help-button").addEventListener("click", () => byId("help").showModal());
for (const name of ["links", "bars", "forest"]) byId(name).addEventListener("click", () => flip(name));
let width = window.innerWidth;
window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; show(); } drawRows(); });

/* ---- asking a server ---- */
async function ask(event) {
  event.preventDefault();
  const status = byId("ask-status"), button = byId("ask-button");
  status.className = "";
  status.textContent = "Aligning\u2026";
  button.disabled = true;
  try {
    const body = JSON.stringify({ source: byId("ask-source").value, target: byId("ask-target").value });
    const answer = await fetch("picture", { method: "POST", headers: { "Content-Type": "application/json" }, body });
    const reply = await answer.json();
    if (!answer.ok) throw new Error(reply.error);
    reply.id = `${data.pairs.length + 1}`;
    data.pairs.unshift({ id: reply.id, views: [reply] });
    state.shown = [];
    state.choice = 0;
    byId("filter").value = "";
    status.textContent = "";
    refilter();
  } catch (error) {
    status.className = "failed";
    status.textContent = error.message;
  } finally {
    button.disabled = false;
  }
}

function begin() {
  const two = data.systems.length > 1;
  byId("different-box").hidden = !two;
  byId("only-legend").hidden = !two;
  byId("ask").hidden = !data.serves;
  byId("ask").addEventListener("submit", ask);
  byId("app").classList.toggle("single", data.pairs.length === 1 && !data.serves);
  const wanted = decodeURIComponent(location.hash.slice(1));
  refilter();
  const at = state.shown.findIndex((pair) => pair.id === wanted);
  if (at > 0) { state.at = at; show(); }
  if (data.serves) byId("ask-source").focus();
}
begin();
