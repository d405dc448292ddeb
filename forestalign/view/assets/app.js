/* The page around the drawing: the current pair, selection, keys. */

/* ---- the current pair ---- */
function show() {
  letGo();
  redraw();
}
function redraw() {
  const pair = state.shown[state.at];
  byId("nothing").hidden = Boolean(pair) || data.pairs.length === 0 || state.statistics;
  byId("name").textContent = pair ? visible(pair.id) : "";
  byId("previous").disabled = state.at <= 0;
  byId("next").disabled = state.at >= state.shown.length - 1;
  for (const name of ["links", "bars", "forest"]) byId(name).setAttribute("aria-pressed", String(state[name]));
  byId("compact").setAttribute("aria-pressed", String(isCompact()));
  byId("app").classList.toggle("text-only", isCompact());
  byId("least-value").textContent = state.least ? `\u2265 ${fixed(state.least)}` : "all";
  byId("least").disabled = Boolean(pair) && !anyView(pair).choices[0].phrases.some((phrase) => phraseOf(phrase).posterior !== null);
  byId("statistics-button").setAttribute("aria-pressed", String(state.statistics));
  byId("edit-button").setAttribute("aria-pressed", String(edit.on));
  byId("editbar").hidden = !edit.on || state.statistics;
  byId("layout").textContent = `Layout: ${state.layout}`;
  byId("views").hidden = state.statistics;
  byId("statistics").hidden = !state.statistics;
  const focused = focusedNode();
  byId("views").replaceChildren();
  if (state.statistics) { panels = []; drawStatistics(); }
  else if (pair && edit.on) drawDraft(pair);
  else {
    const views = pair ? pair.views.map((view) => unfold(view)) : [];
    panels = views.map((view, index) => panelOf(view, choiceOf(view), onlyIn(view, views[1 - index]), index));
    arrange();
  }
  refocus(focused);
  keepInSight();
  drawRows();
  for (const sign of document.querySelectorAll(".signs [data-sign]")) sign.hidden = !byId("views").querySelector(sign.dataset.sign);
  if (pair) writeHash(pair.id);
}
function drawDraft(pair) {
  const draft = draftOf(pair), choice = choiceOfDraft(draft);
  panels = [panelOf(draft.view, choice, NOTHING_ONLY, -1, draft)];
  arrange();
  byId("undo").disabled = !draft.past.length;
  byId("redo").disabled = !draft.future.length;
  byId("save-pair").textContent = draft.dirty || !isSaved(pair) ? "Save pair" : "Saved";
  const at = pickedPhrase(choice);
  if (at >= 0) select(panels[0], at, true);
  describe(panels[0], at);
  byId("gather").setAttribute("aria-pressed", String(edit.gathers));
}
/* A drawing is made anew after each change; the focus stays on the same node. */
function focusedNode() {
  const focus = document.activeElement && document.activeElement.closest(".node");
  return focus && `.node[data-side="${focus.dataset.side}"][data-span="${focus.dataset.span}"][data-kind="${focus.dataset.kind}"]`;
}
function refocus(selector) {
  const found = selector && byId("views").querySelector(selector);
  if (found) found.focus({ preventScroll: true });
}

/* ---- links to a pair ---- */
const hashOf = (id) => { try { return encodeURIComponent(id); } catch { return ""; } };
let pending = 0;
/* A moment later, since browsers are slow to do it and keys should not wait. */
function writeHash(id) {
  clearTimeout(pending);
  pending = setTimeout(() => history.replaceState(null, "", `#${hashOf(id)}`), 120);
}
const wantedId = () => { const hash = location.hash.slice(1); try { return decodeURIComponent(hash); } catch { return hash; } };
function follow() {
  const id = wantedId(), index = () => state.shown.findIndex((pair) => pair.id === id);
  if (index() < 0 && data.pairs.some((pair) => pair.id === id)) { clearFilters(); refilter(); }
  if (index() >= 0 && index() !== state.at) { state.at = index(); state.choice = 0; show(); }
}

/* Two systems stand side by side, or above each other where half the width is too little for either. */
const LEAST_HALF = 440;
function arrange() {
  const views = byId("views");
  views.classList.toggle("above", panels.length > 1 && views.clientWidth / 2 < LEAST_HALF);
  const isBeside = state.layout === "auto" ? panels.some(wantsRows) : state.layout === "beside";  // systems are compared in one layout
  for (const panel of panels) panel.draw(isBeside);
}
const roomOf = (panel) => Math.max(280, panel.drawing.clientWidth - 22);
/* Whether the trees stand beside each other, one word a line: stacked, they would be far too wide. */
function wantsRows(panel) {
  if (!panel.drawing || isCompact()) return false;
  const size = (rows) => layoutPair(panel.view, panel.choice, { rows, bars: Boolean(panel.draft), links: state.links, forest: false }).size[0];
  const stacked = size(false), most = roomOf(panel) * 1.3;
  return stacked > most && (size(true) <= most || size(true) < stacked);
}

function panelOf(view, choice, only, index, draft = null) {
  const root = make("section", { className: draft ? "view editing" : "view" });
  byId("views").append(root);
  if (data.systems.length > 1 && index >= 0) root.append(make("h2", { textContent: data.systems[index] }));
  if (!view) {
    root.append(make("p", { className: "missing", textContent: "This system has no alignment for this pair." }));
    return { draw() {}, select() {}, frame() {} };
  }
  const drawing = make("div", { className: "drawing" }), about = make("div", { className: "about" }), map = make("div", { className: "map" });
  about.setAttribute("aria-live", "polite");
  const texts = textsOf(view, choice);
  const panel = { view, choice, only, drawing, about, map, texts, draft, kept: -1, level: -1, frame() {}, draw: (rows) => drawInto(panel, rows), select: (at, keep) => (isCompact() ? selectRunning(panel, at) : select(panel, at, keep)) };
  for (const side of SIDES) texts.tokens[side].forEach((token, word) => {
    token.addEventListener("mouseenter", () => { if (panel.kept < 0 && panel.drawn) highlight(panel, smallestAt(choice, side, word)); });
    token.addEventListener("mouseleave", () => { if (panel.kept < 0 && panel.drawn) highlight(panel, -1); });
  });
  for (const side of SIDES) for (const link of only.words) texts.tokens[side][Number(link.split("-")[SIDES.indexOf(side)])].classList.add("is-different");
  const verdict = make("p", { className: "verdict", textContent: view.headline });
  verdict.dataset.verdict = view.verdict;
  root.append(verdict, factsOf(view, choice, panel), ...(only === NOTHING_ONLY ? [] : [differencesOf(panel)]), ...(isCompact() ? [] : [texts.list]),
    make("div", { className: "drawing-box" }, drawing, make("div", { className: "map-rail" }, map)), about, tableOf(view, choice, (at) => panel.select(at, true)));
  if (view.signature) root.append(make("p", { className: "signature", textContent: view.signature }));
  return panel;
}

/* What only those want to know who look at how an alignment was found. */
function howFound(choice) {
  const apart = choice.phrases.filter((phrase) => !phrase.compositional).length;
  return [`log score ${fixed(choice.logScore)}`, ...(apart ? [`${apart} non-compositional`] : []), ...(choice.completed ? ["root completed"] : [])].join(", ");
}
function factsOf(view, choice, panel) {
  const facts = make("div", { className: "kbest" });
  if (view.choices.length > 1 && !panel.draft) {
    facts.append("alignment ");
    view.choices.forEach((other, index) => {
      const button = make("button", { type: "button", textContent: `${index + 1}`, title: `log score ${fixed(other.logScore)}`, onclick: () => { state.choice = index; show(); } });
      button.setAttribute("aria-pressed", String(other === choice));
      button.setAttribute("aria-label", `Alignment ${index + 1} of ${view.choices.length}`);
      facts.append(button);
    });
  }
  const parts = [counted(choice.phrases.length, "phrase pair")];
  if (!choice.reachedRoot) parts.push("partial: the sentences are not aligned as wholes");
  facts.append(make("span", { textContent: parts.join(" \u00b7 "), title: panel.draft ? "" : howFound(choice) }));
  for (const relation of CONTRADICTIONS) {
    const count = [...choice.phrases, ...choice.scattered].filter((each) => each.relation === relation).length;
    if (count) facts.append(make("span", { className: "badge", textContent: count > 1 ? `${count} \u00d7 ${relation}` : relation }));
  }
  if (!isCompact()) facts.append(make("button", { type: "button", className: "small", textContent: "SVG", title: "download this drawing as SVG", onclick: () => downloadSvg(panel) }),
    make("button", { type: "button", className: "small", textContent: "PNG", title: "download this drawing as PNG", onclick: () => downloadPng(panel) }));
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
  const rowFor = (phrase, index) => {
    const go = make("button", { type: "button", className: "jump", textContent: textOf(view, "source", phrase.source), onclick: () => open(index) });
    const labels = `${phrase.sourceLabel} \u2194 ${phrase.targetLabel}${phrase.compositional ? "" : " (non-compositional)"}`;
    const cells = [go, textOf(view, "target", phrase.target), labels, relationOf(phrase), phrase.evidence.join(", "), phrase.posterior === null ? "" : fixed(phrase.posterior), phrase.score === null ? "" : fixed(phrase.score)];
    return make("tr", {}, ...cells.map((cell, at) => make("td", { className: at > 4 ? "number" : "" }, cell)));
  };
  const rowBeside = ({ at, source, target, labels, relation, evidence }) => {
    const go = make("button", { type: "button", className: "jump", textContent: source, onclick: () => open(at) });
    return make("tr", {}, ...[go, target, labels, relation, evidence, "", ""].map((cell) => make("td", {}, cell)));
  };
  const titles = ["source", "target", "labels", "relation", "evidence", "confidence", "log Pr"];
  const table = make("div", { className: "scroll" });
  const details = make("details", { className: "all" }, make("summary", { textContent: "All phrase pairs as a table" }), table);
  details.addEventListener("toggle", () => {
    if (!table.firstChild) table.append(make("table", {}, make("thead", {}, make("tr", {}, ...titles.map((textContent) => make("th", { textContent, scope: "col" })))), make("tbody", {}, ...choice.phrases.map(rowFor), ...besideRows(view, choice).map(rowBeside))));
  });
  return details;
}
const relationOf = (phrase) => (CONTRADICTIONS.has(phrase.relation) ? make("span", { className: "badge", textContent: phrase.relation }) : phrase.relation);

/* ---- drawing and its nodes ---- */
/* What fits is as large as it can be; what would be too small to read opens larger and is scrolled. */
const readable = (fitting) => (fitting >= .64 ? Math.min(1, fitting) : .72);
function drawInto(panel, rows) {
  if (isCompact()) { drawRunning(panel); return; }
  const room = roomOf(panel), { links, forest } = state, bars = Boolean(panel.draft);
  const drawn = drawPair(panel.view, panel.choice, { rows, bars, links, forest }, panel.only);
  const scale = state.zoom === FIT ? Math.min(1.5, room / drawn.layout.size[0]) : state.zoom || readable(room / drawn.layout.size[0]);
  panel.scale = scale;
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
  addMinimap(panel);
  describe(panel, -1);
}

function wire(panel, entry) {
  const { group, node, side } = entry, { phrase, shows } = node;
  group.setAttribute("tabindex", "-1");
  group.setAttribute("role", "button");
  group.setAttribute("aria-label", visible(labelOf(panel, entry)));
  if (panel.draft && isPicked(side, node)) group.classList.add("is-picked");
  if (shows >= 0) group.setAttribute("aria-pressed", "false");
  group.dataset.side = side;
  group.dataset.kind = node.kind;
  group.dataset.span = `${node.begin}-${node.end}`;
  group.dataset.phrase = phrase;
  group.addEventListener("mouseenter", () => { if (panel.kept < 0) highlight(panel, shows); });
  group.addEventListener("mouseleave", () => { if (panel.kept < 0) highlight(panel, -1); });
  group.addEventListener("focus", () => { rove(panel, entry); if (panel.kept < 0) highlight(panel, shows); });
  group.addEventListener("blur", () => { if (panel.kept < 0) highlight(panel, -1); });
  group.addEventListener("click", (event) => choosePhrase(panel, entry, event.shiftKey));
  group.addEventListener("keydown", (event) => nodeKey(event, panel, entry));
}
function choosePhrase(panel, { node, side }, isGathered) {
  if (panel.draft && (isGathered || edit.gathers) && node.kind === WORD) gatherWord(side, node.begin);
  else if (panel.draft) pick(side, node);
  else panel.select(panel.kept === node.shows ? -1 : node.shows, true);
}
function labelOf(panel, { node, side }) {
  const text = textOf(panel.view, side, [node.begin, node.end]);
  const kind = node.kind === "w" ? `word ${node.label}` : `${node.kind === "b" ? "bar phrase" : "phrase"} ${node.label}`;
  if (node.phrase < 0) return `${side} ${kind}: ${text}. ${besideLabel(panel, { node, side }) || (node.inNull ? "Null" : "Not aligned itself")}`;
  const phrase = panel.choice.phrases[node.phrase], other = side === "source" ? "target" : "source";
  return `${side} ${kind}: ${text}. Aligned with ${textOf(panel.view, other, phrase[other])}${phrase.compositional ? "" : ", non-compositional"}${CONTRADICTIONS.has(phrase.relation) ? `, ${phrase.relation}` : ""}`;
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
    choosePhrase(panel, entry, event.shiftKey);
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
  const partner = node.shows >= 0 ? panel.drawn.nodes.find((other) => other.side !== side && (other.node.phrase === node.shows || other.node.shows === node.shows)) || null : null;
  return { [outward]: entryOf(node.parent), [inward]: node.children.length ? entryOf(node.children[0].index) : null, [back]: level[at - 1] || null, [forth]: level[at + 1] || null, x: partner };
}

/* ---- highlighting ---- */
function select(panel, at, keep) {
  panel.kept = keep ? at : -1;
  for (const { group, node } of panel.drawn.nodes) {
    group.classList.toggle("is-kept", at >= 0 && (node.phrase === at || (node.joined >= 0 && node.shows === at)));
    if (node.shows >= 0) group.setAttribute("aria-pressed", String(node.shows === at));
  }
  highlight(panel, at);
}
/* What a word of the text belongs to: scattered words, or else the smallest pair around it. */
function smallestAt(choice, side, word) {
  const scattered = choice.scattered.findIndex((one) => one[side].includes(word));
  return scattered >= 0 ? choice.phrases.length + scattered : choice.phrases.findIndex((phrase) => within([word, word + 1], phrase[side]));
}
/* Null phrases of a pair: inside it, and inside none of its supports. */
function nullsOf(choice, phrase, side) {
  const supports = phrase.supports.map((index) => choice.phrases[index][side]);
  return choice.nulls[side].filter((span) => within(span, phrase[side]) && !supports.some((other) => within(span, other)));
}
function highlight(panel, at) {
  const { choice, drawn, texts } = panel, phrase = choice.phrases[at], joined = scatteredAt(choice, at);
  drawn.svg.classList.toggle("has-active", Boolean(phrase || joined));
  const hue = joined ? scatteredHue(joined, panel.view) : phrase && hueOf(phrase, panel.view);
  const supports = new Set(phrase ? phrase.supports : []), around = extendedOf(choice, at);
  const empty = { source: phrase ? nullsOf(choice, phrase, "source") : [], target: phrase ? nullsOf(choice, phrase, "target") : [] };
  for (const { group, node, side } of drawn.nodes) {
    const span = [node.begin, node.end], set = (name, on) => group.classList.toggle(name, Boolean(on));
    set("is-active", phrase ? node.phrase === at : joined && choice.scattered[node.joined] === joined);
    set("is-loose", phrase && node.inner === at);
    set("is-support", supports.has(node.phrase));
    set("is-inside", phrase && (within(span, phrase[side]) || around.some((one) => one.side === side && within(span, one.span))));
    set("is-empty", node.inNull && empty[side].some((other) => within(span, other)));
  }
  drawn.ribbons.forEach((path, index) => {
    path.classList.toggle("is-active", index === at);
    path.classList.toggle("is-support", supports.has(index));
  });
  for (const { path, i, j } of drawn.links) path.classList.toggle("is-inside", Boolean(phrase) && within([i, i + 1], phrase.source) && within([j, j + 1], phrase.target));
  for (const { path, index } of drawn.scattered) path.classList.toggle("is-inside", Boolean(joined ? choice.scattered[index] === joined : phrase && holds(phrase, choice.scattered[index])));
  for (const side of ["source", "target"]) texts.tokens[side].forEach((token, index) => {
    const on = joined ? joined[side].includes(index) : phrase && phrase[side][0] <= index && index < phrase[side][1];
    token.classList.toggle("is-active", Boolean(on));
    if (on) token.style.setProperty("--hue", hue);
  });
  describe(panel, at);
}
function describe(panel, at) {
  const { view, choice, about } = panel, phrase = choice.phrases[at];
  about.dataset.phrase = at;
  if (panel.draft && panel.kept === at) { about.replaceChildren(...describePicked(panel)); return; }
  const joined = scatteredAt(choice, at);
  if (joined) { about.replaceChildren(...describeScattered(view, joined)); return; }
  if (!phrase) {
    const compact = "Click a coloured phrase to see its parts; Esc goes one step back.";
    about.replaceChildren(make("p", { className: "hint", textContent: isCompact() ? compact : "Point at a word or a phrase to see its partner; click to keep it. Press ? for keys." }));
    return;
  }
  const quote = (side, span) => make("q", { textContent: textOf(view, side, span), className: "hued", hue: hueOf(phrase, view) });
  const lines = [make("p", {}, make("strong", { textContent: phrase.sourceLabel }), " ", quote("source", phrase.source), " \u2194 ", make("strong", { textContent: phrase.targetLabel }), " ", quote("target", phrase.target))];
  const facts = [phrase.compositional ? "compositional" : "non-compositional"];
  if (phrase.relation && !CONTRADICTIONS.has(phrase.relation)) facts.push(phrase.relation);
  if (phrase.reason) facts.push(phrase.reason);
  if (phrase.score !== null) facts.push(`log Pr ${fixed(phrase.score)}`);
  if (phrase.posterior !== null) facts.push(`confidence ${fixed(phrase.posterior)}`);
  if (phrase.evidence.length) facts.push(`evidence: ${phrase.evidence.join(", ")}`);
  if (phrase.inverted) facts.push("inverted");
  if (phrase.bar) facts.push("bar phrase");
  if (panel.only.phrases.has(at)) facts.push("only this system has it");
  if (CONTRADICTIONS.has(phrase.relation)) lines[0].append(" ", relationOf(phrase));
  lines.push(make("p", { className: "facts", textContent: facts.join(" \u00b7 ") }));
  if (phrase.supports.length) {
    const line = make("p", { className: "facts", textContent: "supported by " });
    phrase.supports.forEach((index, place) => line.append(place ? ", " : "", make("button", { type: "button", className: "jump", textContent: textOf(view, "source", choice.phrases[index].source), onclick: () => panel.select(index, true) })));
    lines.push(line);
  }
  const empty = ["source", "target"].flatMap((side) => nullsOf(choice, phrase, side).map((span) => `${textOf(view, side, span)} (${side})`));
  if (empty.length) lines.push(make("p", { className: "facts", textContent: `null: ${empty.join(", ")}` }));
  about.replaceChildren(...lines, ...besideLines(view, choice, at));
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
/* ---- size ---- */
const FIT = -1;
function zoom(factor) {
  const now = panels.length && panels[0].scale ? panels[0].scale : 1;
  state.zoom = factor ? Math.min(4, Math.max(.2, now * factor)) : state.zoom === FIT ? 0 : FIT;
  byId("fit").setAttribute("aria-pressed", String(state.zoom === FIT));
  redraw();
}
const turn = () => { state.layout = LAYOUTS[(LAYOUTS.indexOf(state.layout) + 1) % LAYOUTS.length]; show(); };
const turnCompact = () => { state.compact = !isCompact(); show(); };
/* What a narrow page has folded away: the list of pairs, the controls. */
function unroll(name, isOpen = !byId("app").classList.contains(`${name}-open`)) {
  for (const each of ["list", "menu"]) {
    byId("app").classList.toggle(`${each}-open`, each === name && isOpen);
    byId(`${each}-button`).setAttribute("aria-expanded", String(each === name && isOpen));
  }
  drawRows();
}
function findPair() {
  if (FOLDED.matches) unroll("list", true);
  byId("filter").focus();
}
function openHelp() {
  byId("help").showModal();
  byId("help").scrollTop = 0;
}
const turnStatistics = () => { state.statistics = !state.statistics; show(); };
function turnEditing() {
  edit.on = !edit.on;
  state.statistics = false;
  byId("conflict").hidden = true;
  for (const option of byId("kind").options) if (option.dataset.edit) option.hidden = !edit.on;
  if (!edit.on) { if (data.token) post({ action: "close" }).catch(() => {}); show(); return; }
  setAnnotator(edit.annotator || keeper.get("annotator") || "");
  letGo();
  openFile();
}
const EDITING = { Delete: removePair, Backspace: removePair, u: makeNull, m: cycleMark, g: turnGathering };
function editKey(event) {
  if (!edit.on || state.statistics) return null;
  if (!(event.ctrlKey || event.metaKey)) return EDITING[event.key] || null;
  const key = event.key.toLowerCase();
  if (key === "s") return () => savePair();
  if (key === "z") return () => (event.shiftKey ? travel("future", "past") : travel("past", "future"));
  return key === "y" ? () => travel("future", "past") : null;
}
const actions = {
  n: () => move(1), j: () => move(1), p: () => move(-1), k: () => move(-1),
  w: () => flip("links"), b: () => flip("bars"), f: () => flip("forest"), o: turn,
  "/": findPair, "?": openHelp, c: turnCompact,
  e: turnEditing, t: turnStatistics, "+": () => zoom(1.2), "=": () => zoom(1.2), "-": () => zoom(1 / 1.2), 0: () => zoom(0),
  "[": () => choose(state.choice - 1), "]": () => choose(state.choice + 1),
  Escape: () => { if (edit.on && (edit.picked || isGathering())) { letGo(); redraw(); } else for (const panel of panels) panel.select(-1, false); if (document.activeElement) document.activeElement.blur(); },
};
document.addEventListener("keydown", (event) => {
  if (event.altKey || byId("help").open) return;
  const isTyping = event.target.closest("textarea, select, input:not([type=checkbox], [type=range])");
  const change = isTyping && event.key !== "s" ? null : editKey(event);
  if (change && (!isTyping || event.ctrlKey || event.metaKey)) { event.preventDefault(); change(); return; }
  if (event.ctrlKey || event.metaKey) return;
  if (isTyping) {
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
for (const name of ["filter", "posterior"]) byId(name).addEventListener("input", refilter);
for (const name of ["sort", "kind"]) byId(name).addEventListener("change", refilter);
byId("different").addEventListener("change", refilter);
byId("previous").addEventListener("click", () => move(-1));
byId("next").addEventListener("click", () => move(1));
byId("layout").addEventListener("click", turn);
byId("statistics-button").addEventListener("click", turnStatistics);
byId("edit-button").addEventListener("click", turnEditing);
byId("zoom-in").addEventListener("click", () => zoom(1.2));
byId("zoom-out").addEventListener("click", () => zoom(1 / 1.2));
byId("fit").addEventListener("click", () => zoom(0));
byId("undo").addEventListener("click", () => travel("past", "future"));
byId("redo").addEventListener("click", () => travel("future", "past"));
byId("gather").addEventListener("click", turnGathering);
byId("clear").addEventListener("click", clearPairs);
byId("restart").addEventListener("click", startAgain);
byId("save-pair").addEventListener("click", () => savePair());
byId("download").addEventListener("click", downloadAnnotations);
byId("open-file").addEventListener("change", openAnnotations);
byId("annotator").addEventListener("change", (event) => { setAnnotator(event.target.value); letGo(); openFile(); });
window.addEventListener("hashchange", follow);
byId("help-button").addEventListener("click", openHelp);
byId("compact").addEventListener("click", turnCompact);
byId("least").addEventListener("input", (event) => { state.least = Number(event.target.value); show(); });
for (const name of ["list", "menu"]) byId(`${name}-button`).addEventListener("click", () => unroll(name));
byId("main").addEventListener("scroll", () => { for (const panel of panels) panel.frame(); });
for (const name of ["links", "bars", "forest"]) byId(name).addEventListener("click", () => flip(name));
let width = window.innerWidth;
window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; show(); } drawRows(); for (const panel of panels) panel.frame(); });

/* ---- asking a server ---- */
const EXAMPLE = { source: "The committee turned the offer down after three days.", target: "After 72 hours, the offer was rejected by the committee." };
async function ask(event) {
  if (event) event.preventDefault();
  const status = byId("ask-status"), button = byId("ask-button");
  const texts = { source: byId("ask-source").value, target: byId("ask-target").value };
  status.className = "";
  status.textContent = "Aligning\u2026";
  button.disabled = true;
  keeper.set("texts", texts);
  try {
    const answer = await fetch("picture", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(texts) });
    const reply = await answer.json();
    if (!answer.ok) throw new Error(reply.error);
    take(reply, texts);
    status.textContent = "";
  } catch (error) {
    status.className = "failed";
    status.textContent = visible(error.message);
  } finally {
    button.disabled = false;
  }
}
/* The same sentences get the same id, so that what was saved of them is found again. */
function take(reply, { source, target }) {
  let sum = 0x811c9dc5;
  for (const sign of `${source}\n${target}`) sum = Math.imul(sum ^ sign.codePointAt(0), 0x01000193) >>> 0;
  reply.id = `typed-${sum.toString(16).padStart(8, "0")}`;
  data.pairs = [{ id: reply.id, views: [reply] }, ...data.pairs.filter((pair) => pair.id !== reply.id)];
  edit.drafts.delete(reply.id);
  state.shown = [];
  state.choice = 0;
  clearFilters();
  refilter();
}
/* Typing replaces the example, and nothing that somebody wrote. */
const selectExample = ({ target }) => { if (Object.values(EXAMPLE).includes(target.value)) target.select(); };
function beginAsking() {
  const texts = keeper.get("texts") || EXAMPLE;
  for (const side of SIDES) byId(`ask-${side}`).value = typeof texts[side] === "string" ? texts[side] : EXAMPLE[side];
  byId("ask").addEventListener("submit", ask);
  byId("ask").addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask(event); });
  for (const side of SIDES) byId(`ask-${side}`).addEventListener("focus", selectExample);
  if (!data.token) byId("ask-source").focus({ preventScroll: true });
  if (!data.pairs.length) ask();
}

function begin() {
  const two = data.systems.length > 1;
  byId("different-box").hidden = !two;
  for (const sign of document.querySelectorAll(".only-legend")) sign.hidden = !two;
  for (const option of document.querySelectorAll("option[data-two]")) option.hidden = !two;
  byId("ask").hidden = !data.serves;
  for (const name of ["download", "open-box"]) byId(name).hidden = Boolean(data.token);
  byId("app").classList.toggle("single", data.pairs.length === 1 && !data.serves);
  byId("app").classList.toggle("two", two);
  const wanted = wantedId();
  refilter();
  if (wanted) follow();
  if (data.serves) beginAsking();
  if (data.token) turnEditing();
}
begin();
