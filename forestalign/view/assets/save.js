/* Keeping what was corrected: in the file of a server, or in the browser until it is downloaded. And drawings as files. */

const page = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(16)).join("");
const savedName = () => `${data.key}:${edit.annotator}:saved`;

function tell(text, isBad = false) {
  byId("edit-status").textContent = visible(text);
  byId("edit-status").classList.toggle("failed", isBad);
}
function tellConflict(text, button, act) {
  byId("conflict").hidden = false;
  byId("conflict-text").textContent = visible(text);
  byId("conflict-button").textContent = button;
  byId("conflict-button").onclick = () => { byId("conflict").hidden = true; act(); };
}

/* ---- a draft as a line of annotations/ ---- */
function fieldsOf(draft) {
  const { source, target } = draft.view;
  const pairs = choiceOfDraft(draft).pairs.reverse();  // largest first
  return {
    source: source.tokens, target: target.tokens, trees: { source: draft.trees.source.brackets, target: draft.trees.target.brackets },
    pairs: pairs.map((pair) => [pair.source, pair.target]),
    marks: pairs.filter((pair) => pair.mark).map((pair) => [pair.source, pair.target, pair.mark]),
    scattered: draft.scattered.map(({ source, target, mark }) => [source, target, mark]),
  };
}
function lineOf(draft) {
  const { pairs, marks, scattered } = fieldsOf(draft), own = { pairs };
  if (marks.length) own.marks = marks;
  if (scattered.length) own.scattered = scattered;
  const side = (name) => ({ text: draft.view[name].text, tokens: draft.view[name].tokens, tree: draft.trees[name].brackets });
  return { id: draft.id, phenomena: [], source: side("source"), target: side("target"), annotators: { [edit.annotator]: own } };
}

/* ---- the server's file ---- */
async function post(fields, path = "annotations") {
  const headers = { "Content-Type": "application/json", "X-Token": data.token };
  const answer = await fetch(path, { method: "POST", headers, body: JSON.stringify({ page, ...fields }) });
  const reply = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(reply.error), { reason: reply.reason });
  return reply;
}
async function openFile(takeOver = false) {
  if (!data.token) return openKept();
  edit.waits = false;
  try {
    const { pairs } = await post({ action: "open", annotator: edit.annotator, take_over: takeOver });
    edit.saved = new Map(pairs.map((each) => [each.id, each]));
    tell(savedCount());
  } catch (error) {
    edit.saved = new Map();
    edit.waits = error.reason === "taken";
    if (edit.waits) tellConflict(`${error.message}. Close that page, or take the file over; that page can then save no more.`, "Take over", () => openFile(true));
    else tell(error.message, true);
  }
  edit.drafts.clear();
  redraw();
}
async function saveToFile(draft, replace) {
  try {
    await post({ action: "save", pair: lineOf(draft), replace });
    accept(draft);
  } catch (error) {
    if (error.reason === "taken") tellConflict(`Not saved: ${error.message}. Your changes are kept here.`, "Take over and save", async () => { await claim(); await saveToFile(draft, replace); });
    else if (error.reason === "changed") tellConflict(`Not saved: ${error.message}.`, "Replace what was saved", () => saveToFile(draft, true));
    else tell(`Not saved: ${error.message}`, true);
  }
}
const claim = () => post({ action: "open", annotator: edit.annotator, take_over: true });
/* The server takes a page that it does not hear of for a closed one. */
const BEAT = 3000;
setInterval(async () => {
  if (!data.token || !edit.on) return;
  const { holds: isOurs } = await post({ action: "alive" }, "alive").catch(() => ({ holds: !edit.waits }));
  if (isOurs && edit.waits) { byId("conflict").hidden = true; openFile(); }
  if (!isOurs && byId("conflict").hidden) tellConflict("The file is open in another page, which may save to it; this one can save no more.", "Take over", () => openFile(true));
}, BEAT);
window.addEventListener("pagehide", () => {
  if (!data.token || !edit.on) return;
  const headers = { "Content-Type": "application/json", "X-Token": data.token };
  fetch("annotations", { method: "POST", keepalive: true, headers, body: JSON.stringify({ page, action: "close" }) }).catch(() => {});
});

/* ---- without a server: the browser keeps the lines until they are downloaded ---- */
function openKept() {
  edit.saved = new Map();
  for (const line of keeper.get(savedName()) || []) remember(line);
  edit.drafts.clear();
  tell(savedCount());
  redraw();
}
function remember(line) {
  const own = line.annotators[edit.annotator];
  edit.saved.set(line.id, { line, id: line.id, source: line.source.tokens, target: line.target.tokens, trees: { source: line.source.tree, target: line.target.tree }, pairs: own ? own.pairs : null, marks: own ? own.marks : [], scattered: own ? own.scattered : [] });
}
const keptLines = () => [...edit.saved.values()].map((saved) => saved.line);
function saveHere(draft, replace) {
  const earlier = edit.saved.get(draft.id), line = lineOf(draft);
  const isSame = earlier && earlier.line && SIDES.every((side) => earlier.line[side].tree === line[side].tree && sameTokens(earlier.line[side].tokens, line[side].tokens));
  if (earlier && !isSame && !replace) return tellConflict(`Not saved: the sentences or trees of ${draft.id} have changed since it was saved.`, "Replace what was saved", () => saveHere(draft, true));
  if (isSame) Object.assign(line, { phenomena: earlier.line.phenomena, annotators: { ...earlier.line.annotators, ...line.annotators } });
  remember(line);
  const isKept = keeper.set(savedName(), keptLines());
  accept(draft);
  if (!isKept) tell("Saved in this page only: download before you leave it.", true);
}

function accept(draft) {
  const { line } = edit.saved.get(draft.id) || {};
  edit.saved.set(draft.id, { ...fieldsOf(draft), line, id: draft.id, view: draft.view.folded });
  draft.dirty = false;
  keeper.drop(draftName(draft.id));
  tell(savedCount());
  redraw();
}
const savedCount = () => { const count = [...edit.saved.values()].filter((saved) => saved.pairs).length; return count ? `${counted(count, "pair")} saved` : "nothing saved yet"; };
function savePair(replace = false) {
  const pair = state.shown[state.at];
  if (!edit.on || !pair) return;
  byId("annotator").value = edit.annotator;
  if (!edit.annotator) { tell("Enter your name first: it is saved with your answers.", true); byId("annotator").focus(); return; }
  if (data.token) saveToFile(draftOf(pair), replace);
  else saveHere(draftOf(pair), replace);
}

/* ---- files from and to the user ---- */
function downloadAs(name, blob) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
const fileName = (text) => text.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 60) || "forestalign";
function downloadAnnotations() {
  const text = keptLines().map((line) => `${JSON.stringify(line)}\n`).join("");
  downloadAs(`${fileName(`annotations-${edit.annotator}`)}.jsonl`, new Blob([text], { type: "application/jsonl" }));
}
async function openAnnotations(event) {
  const [file] = event.target.files;
  if (!file) return;
  const lines = [];
  for (const [index, text] of (await file.text()).split("\n").entries()) {
    if (!text.trim()) continue;
    try {
      const line = JSON.parse(text);
      if (![line.id, line.source.tokens, line.target.tokens, line.source.tree, line.target.tree, line.annotators].every(Boolean)) throw new Error();
      lines.push(line);
    } catch {
      tell(`${file.name}: line ${index + 1} is no annotated pair; nothing was opened`, true);
      return;
    }
  }
  const names = new Set(lines.flatMap((line) => Object.keys(line.annotators)));
  if (!edit.annotator && names.size === 1) setAnnotator([...names][0]);
  edit.drafts.clear();
  for (const line of lines) remember(line);
  keeper.set(savedName(), keptLines());
  event.target.value = "";
  const lost = data.pairs.filter(hasChanged).length;
  tell(lost ? `${savedCount()}; ${counted(lost, "pair")} changed since: see the list` : savedCount(), lost > 0);
  redraw();
}
function setAnnotator(name) {
  edit.annotator = name.trim().slice(0, 40);
  keeper.set("annotator", edit.annotator);
  byId("annotator").value = edit.annotator;
}

/* ---- drawings ---- */
const PAINT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-family", "font-size", "font-weight", "font-style", "text-anchor", "dominant-baseline", "letter-spacing"];
const plainColour = (() => {  // other programs do not know all of a browser's colours
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true }), known = new Map();
  return (colour) => {
    if (!/^(oklch|oklab|color)\(/.test(colour)) return colour;
    if (!known.has(colour)) {
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
      known.set(colour, `rgb(${red}, ${green}, ${blue})`);
    }
    return known.get(colour);
  };
})();
/* The drawing with its looks written into it, so that it needs no style sheet. */
function standalone(panel) {
  const original = panel.drawn.svg, copy = original.cloneNode(true);
  const [width, height] = panel.drawn.layout.size.map(Math.ceil);
  const from = [original, ...original.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, index) => {
    const style = getComputedStyle(node), made = to[index];
    for (const name of [...made.getAttributeNames()].filter((key) => /^(class|style|tabindex|role|aria-|data-)/.test(key))) made.removeAttribute(name);
    for (const name of PAINT) if (style.getPropertyValue(name)) made.setAttribute(name, plainColour(style.getPropertyValue(name)));
  });
  const ground = element("rect", { width, height, fill: plainColour(getComputedStyle(panel.drawing).backgroundColor) });
  copy.prepend(ground);
  for (const [name, value] of Object.entries({ xmlns: SVG, width, height })) copy.setAttribute(name, value);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}
function downloadSvg(panel) {
  downloadAs(`${fileName(panel.view.id)}.svg`, new Blob([standalone(panel).text], { type: "image/svg+xml" }));
}
async function downloadPng(panel) {
  const { text, width, height } = standalone(panel), scale = Math.min(2, 8000 / Math.max(width, height));
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = make("canvas", { width: Math.ceil(width * scale), height: Math.ceil(height * scale) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => downloadAs(`${fileName(panel.view.id)}.png`, blob), "image/png");
}
