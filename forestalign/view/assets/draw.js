/* Layout and drawing of one pair. A side is drawn along its sentence (axis a) and away from its words (axis d);
   only `place` knows whether that means across and up, or down and sideways. */

const SVG = "http://www.w3.org/2000/svg";
const WORD = "w", BAR = "b";
const PILL = 21, WORD_PILL = 26, STEP = 38, ROW = 31, LANE = 19, TAG = 36, LEVEL = 10;

const measure = (() => {
  const context = document.createElement("canvas").getContext("2d");
  const family = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, "Noto Color Emoji", "Apple Color Emoji", "Segoe UI Emoji", sans-serif';
  const known = new Map();
  return (text, size, weight) => {
    const key = `${weight} ${size} ${text}`;
    if (!known.has(key)) {
      context.font = `${weight} ${size}px ${family}`;
      known.set(key, context.measureText(text).width);
    }
    return known.get(key);
  };
})();

function element(name, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children.map(seen));
  return made;
}

/* ---- one side: which nodes are shown, and how high they stand ---- */

function shownNodes(raw, tokens, showBars) {
  const keep = raw.map((node) => showBars || node.kind !== BAR || node.phrase >= 0);
  const parentOf = (index) => {
    let parent = raw[index].parent;
    while (parent >= 0 && !keep[parent]) parent = raw[parent].parent;
    return parent;
  };
  const nodes = raw.map((node, index) => ({ ...node, index, parent: parentOf(index), level: 0, children: [] }));
  for (const node of nodes) {           // children stand before their parents
    if (!keep[node.index] || node.parent < 0) continue;
    const parent = nodes[node.parent];
    parent.children.unshift(node);  // they come from right to left
    parent.level = Math.max(parent.level, node.level + 1);
  }
  return nodes.filter((node) => keep[node.index]).map((node) => {
    node.text = visible(node.kind === WORD ? tokens[node.begin] : node.kind === BAR ? `${node.label}\u2032` : node.label);
    if (node.isNull && node.kind !== WORD) node.text = `\u2205 ${node.text}`;
    const width = node.kind === WORD
      ? measure(node.text, 14, 500) + 16
      : measure(node.text, 12, 600) + 15;
    return Object.assign(node, { width, height: node.kind === WORD ? WORD_PILL : PILL });
  });
}

/* Begin of each word's slot along the sentence. Stacked: as wide as its word, and wide enough for every label over it. */
function slots(nodes, count, rows) {
  if (rows) return Array.from({ length: count + 1 }, (_, index) => index * ROW);
  const widths = new Array(count).fill(34);
  for (const node of nodes) {
    const length = node.end - node.begin;
    let have = 0;
    for (let i = node.begin; i < node.end; i++) have += widths[i];
    const need = node.width + 9 - have;
    if (need > 0) for (let i = node.begin; i < node.end; i++) widths[i] += need / length;
  }
  const begins = [0];
  for (const width of widths) begins.push(begins[begins.length - 1] + width);
  return begins;
}

/* Distance of each level from the words. Beside each other: every level is as wide as its widest label, and the words
   stand flush against the middle with a column for their tags behind them. */
function levels(nodes, rows) {
  const top = Math.max(0, ...nodes.map((node) => node.level));
  const widest = new Array(top + 1).fill(0);
  for (const node of nodes) widest[node.level] = Math.max(widest[node.level], node.width);
  const centres = [0];
  let edge = rows ? widest[0] + TAG : 0;
  for (let level = 1; level <= top; level++) {
    centres.push(rows ? edge + LEVEL + widest[level] / 2 : centres[level - 1] + (level === 1 ? STEP + 16 : STEP));
    edge += LEVEL + widest[level];
  }
  return { centres, words: rows ? widest[0] : 0, depth: (rows ? edge : centres[top] + PILL / 2) + 4 };
}

/* Phrases of other parses, packed into as few lanes as they need. */
function lanes(forest) {
  const ends = [];
  return forest.map((phrase) => {
    let lane = ends.findIndex((end) => end <= phrase.begin);
    if (lane < 0) lane = ends.push(0) - 1;
    ends[lane] = phrase.end;
    return { ...phrase, lane };
  });
}

function sideLayout(raw, tokens, forest, options) {
  const nodes = shownNodes(raw, tokens, options.bars);
  const begins = slots(nodes, tokens.length, options.rows);
  const { centres, words, depth } = levels(nodes, options.rows);
  const other = options.forest ? lanes(forest) : [];
  const laneCount = Math.max(0, ...other.map((phrase) => phrase.lane + 1));
  const laneStep = options.rows ? 54 : LANE;
  for (const node of nodes) {
    node.a = (begins[node.begin] + begins[node.end]) / 2;
    node.d = options.rows && node.kind === WORD ? node.width / 2 : centres[node.level];
  }
  return { nodes, begins, words, depth, other, laneStep, length: begins[tokens.length], total: depth + (laneCount ? 16 + laneCount * laneStep : 0) };
}

function layoutPair(view, choice, options) {
  const source = sideLayout(choice.source, view.source.tokens, view.forest.source, options);
  const target = sideLayout(choice.target, view.target.tokens, view.forest.target, options);
  const length = Math.max(source.length, target.length);
  const middle = options.rows ? 96 : 74;
  const edge = options.rows ? 0 : WORD_PILL / 2;
  const zero = source.total + 6 + edge;
  const other = zero + middle + 2 * edge;
  const place = (isSource) => {
    const shift = (length - (isSource ? source : target).length) / 2 + 6;
    return (a, d) => {
      const across = isSource ? zero - d : other + d;
      return options.rows ? [across, a + shift] : [a + shift, across];
    };
  };
  source.place = place(true);
  target.place = place(false);
  const breadth = other + target.total + 6;
  return { source, target, rows: options.rows, edge, size: options.rows ? [breadth, length + 12] : [length + 12, breadth] };
}

/* ---- drawing ---- */

const hueOf = (phrase, view) => {
  const middle = (phrase.source[0] + phrase.source[1]) / (2 * view.source.tokens.length);
  return Math.round(18 + 290 * middle + 14 * ((phrase.source[1] - phrase.source[0]) % 3));
};

function edgePath(parent, child, side, layout) {
  const out = (node, sign) => node.d + sign * (layout.rows ? node.width : node.height) / 2;
  const bend = out(parent, -1) - (layout.rows ? 5 : 8);
  const lower = child.kind !== WORD ? out(child, 1) : layout.rows ? side.words + TAG - 4 : child.d + 27;
  const way = Math.sign(child.a - parent.a), round = Math.min(5, Math.abs(child.a - parent.a));
  const point = (a, d) => side.place(a, d).map((value) => value.toFixed(1)).join(" ");
  return `M${point(parent.a, out(parent, -1))} L${point(parent.a, bend)} L${point(child.a - way * round, bend)}`
    + ` Q${point(child.a, bend)} ${point(child.a, bend - round)} L${point(child.a, lower)}`;
}

function drawNode(node, side, layout, choice, view, isOnly) {
  const phrase = node.phrase >= 0 ? choice.phrases[node.phrase] : null;
  const [x, y] = side.place(node.a, node.d);
  const classes = ["node", phrase ? "aligned" : "plain"];
  if (node.kind === WORD) classes.push("word");
  if (node.kind === BAR) classes.push("bar");
  if (node.isNull) classes.push("null");
  if (node.inNull) classes.push("in-null");
  if (phrase && !phrase.compositional) classes.push("apart");
  if (node.joined >= 0) classes.push("scattered");
  if (node.inner >= 0) classes.push("loose");
  if (node.whole >= 0) classes.push("part");
  if (isOnly) classes.push("only");
  const { width, height } = node;
  const group = element("g", { class: classes.join(" "), transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
  group.append(
    element("rect", { class: "pill", x: -width / 2, y: -height / 2, width, height, rx: 7 }),
    element("rect", { class: "ring", x: -width / 2 - 3, y: -height / 2 - 3, width: width + 6, height: height + 6, rx: 9 }),
  );
  group.append(element("text", {}, node.text));
  if (node.kind === WORD) {
    const [tagX, tagY] = side.place(node.a, layout.rows ? side.words + TAG / 2 : node.d + height / 2 + 7);
    group.append(element("text", { class: "tag", x: (tagX - x).toFixed(1), y: (tagY - y).toFixed(1) }, node.label));
  }
  if (isOnly) group.append(element("circle", { class: "mark", cx: width / 2 - 1, cy: -height / 2 + 1, r: 4.5 }));
  const shown = phrase || choice.scattered[node.joined];
  if (shown && CONTRADICTIONS.has(shown.relation)) {
    group.classList.add("against");
    group.append(element("circle", { class: "sign", cx: -width / 2 + 1, cy: -height / 2 + 1, r: 7 }), element("text", { class: "sign-text", x: -width / 2 + 1, y: -height / 2 + 1.5 }, "\u2260"));
  }
  const coloured = phrase || choice.phrases[Math.max(node.inner, node.whole)];
  if (coloured) group.style.setProperty("--hue", hueOf(coloured, view));
  if (node.joined >= 0) group.style.setProperty("--joined", scatteredHue(choice.scattered[node.joined], view));
  return group;
}

function linkPath(i, j, layout) {
  const centre = (side, index) => (side.begins[index] + side.begins[index + 1]) / 2;
  const start = layout.source.place(centre(layout.source, i), -layout.edge);
  const end = layout.target.place(centre(layout.target, j), -layout.edge);
  return curve(start, end, layout.rows, "M");
}

function curve([x1, y1], [x2, y2], rows, lead) {
  const [mx, my] = [(x1 + x2) / 2, (y1 + y2) / 2];
  const bend = rows ? `C${mx} ${y1} ${mx} ${y2} ${x2} ${y2}` : `C${x1} ${my} ${x2} ${my} ${x2} ${y2}`;
  return `${lead}${x1} ${y1} ${bend}`;
}

/* A band from the words of a phrase to the words of its partner. */
function ribbonPath(phrase, layout) {
  const corner = (side, index, d) => side.place(side.begins[index], d);
  const [s, t] = [layout.source, layout.target];
  const inner = -layout.edge;
  const [sb, se, tb, te] = [corner(s, phrase.source[0], inner), corner(s, phrase.source[1], inner), corner(t, phrase.target[0], inner), corner(t, phrase.target[1], inner)];
  const outer = (side) => (layout.rows ? side.words : layout.edge);
  const [sb2, se2, tb2, te2] = [corner(s, phrase.source[0], outer(s)), corner(s, phrase.source[1], outer(s)), corner(t, phrase.target[0], outer(t)), corner(t, phrase.target[1], outer(t))];
  return `M${sb2} L${sb} ${curve(sb, tb, layout.rows, "L")} L${tb2} L${te2} L${te} ${curve(te, se, layout.rows, "L")} L${se2} Z`;
}

function drawLanes(side, layout) {
  const group = element("g", { class: "lane" });
  side.other.forEach((phrase) => {
    const d = side.depth + 20 + phrase.lane * side.laneStep;
    const [begin, end] = [side.begins[phrase.begin] + 4, side.begins[phrase.end] - 4];
    const [x1, y1] = side.place(begin, d), [x2, y2] = side.place(end, d), [x, y] = side.place((begin + end) / 2, d);
    const text = `${phrase.label} ${phrase.probability.toFixed(2).replace(/^0/, "")}`;
    const width = measure(text, 10.5, 400) + 8;
    group.append(element("line", { x1, y1, x2, y2 }));
    for (const at of [begin, end]) {
      const [a, b] = [side.place(at, d), side.place(at, d - 4)];
      group.append(element("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1] }));
    }
    group.append(element("rect", { x: x - width / 2, y: y - 7, width, height: 14 }), element("text", { x, y }, text));
  });
  return group;
}

function drawPair(view, choice, options, only) {
  const layout = layoutPair(view, choice, options);
  const [width, height] = layout.size.map(Math.ceil);
  const svg = element("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": "Two trees with their aligned phrases" });
  const drawn = { svg, layout, nodes: [], links: [], ribbons: [], scattered: [] };
  const ribbons = element("g");
  choice.phrases.forEach((phrase, index) => {
    const path = element("path", { class: "ribbon", d: ribbonPath(phrase, layout) });
    path.style.setProperty("--hue", hueOf(phrase, view));
    drawn.ribbons[index] = path;
    ribbons.append(path);
  });
  svg.append(ribbons);
  if (options.links) svg.append(drawLinks(view, choice, layout, only, drawn));
  svg.append(drawScattered(view, choice, layout, drawn));
  for (const name of ["source", "target"]) {
    const side = layout[name], edges = element("g"), nodes = element("g", { role: "group", "aria-label": `${name} tree` });
    for (const node of side.nodes) for (const child of node.children) edges.append(element("path", { class: "edge", d: edgePath(node, child, side, layout) }));
    for (const node of side.nodes) {
      const isOnly = node.phrase >= 0 && only.phrases.has(node.phrase);
      const group = drawNode(node, side, layout, choice, view, isOnly);
      drawn.nodes.push({ group, node, side: name });
      nodes.append(group);
    }
    svg.append(edges, drawLanes(side, layout), nodes);
  }
  return drawn;
}

function drawLinks(view, choice, layout, only, drawn) {
  const group = element("g");
  const leafPhrase = new Map(choice.phrases.filter((phrase) => phrase.source[1] - phrase.source[0] === 1 && phrase.target[1] - phrase.target[0] === 1)
    .map((phrase) => [`${phrase.source[0]}-${phrase.target[0]}`, phrase]));
  for (const [i, j, score] of view.words) {
    const isDashed = choice.scattered.some((one) => one.source.includes(i) && one.target.includes(j));
    if (isDashed && !only.words.has(`${i}-${j}`)) continue;  // it is drawn with the scattered words
    const phrase = leafPhrase.get(`${i}-${j}`);
    const path = element("path", { class: "link", d: linkPath(i, j, layout) });
    path.append(element("title", {}, `${view.source.tokens[i]} \u2013 ${view.target.tokens[j]} (${score.toFixed(2)})`));
    if (phrase) { path.classList.add("hued"); path.style.setProperty("--hue", hueOf(phrase, view)); }
    if (only.words.has(`${i}-${j}`)) path.classList.add("only");
    drawn.links.push({ path, i, j });
    group.append(path);
  }
  return group;
}
