/* A small picture of a drawing that is larger than its place. Its frame is what is in sight; a press or a drag goes there. */

const MAP_WIDTH = 150, MAP_HEIGHT = 190, SLACK = 1.15;

function addMinimap(panel) {
  const { svg, layout, nodes } = panel.drawn, [width, height] = layout.size, main = byId("main");
  panel.frame = () => {};
  panel.map.replaceChildren();
  if (panel.drawing.scrollWidth <= panel.drawing.clientWidth * SLACK && svg.getAttribute("height") <= main.clientHeight * SLACK) return;
  const scale = Math.min(Math.min(MAP_WIDTH, panel.drawing.clientWidth / 5) / width, MAP_HEIGHT / height);
  const map = element("svg", { class: "minimap", width: Math.round(width * scale), height: Math.round(height * scale), viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" });
  for (const { node, side, group } of nodes) {
    const [x, y] = layout[side].place(node.a, node.d), box = element("rect", { class: node.phrase >= 0 ? "mini hued" : "mini", x: x - node.width / 2, y: y - node.height / 2, width: node.width, height: node.height });
    if (node.phrase >= 0) box.style.setProperty("--hue", group.style.getPropertyValue("--hue"));
    map.append(box);
  }
  const frame = element("rect", { class: "frame" });
  map.append(frame);
  panel.map.append(map);
  panel.frame = () => { for (const [name, value] of Object.entries(inSight(panel))) frame.setAttribute(name, value.toFixed(1)); };
  const go = (event) => { if (event.buttons) { const place = map.getBoundingClientRect(); bringToSight(panel, (event.clientX - place.left) / scale, (event.clientY - place.top) / scale); } };
  map.addEventListener("pointerdown", (event) => { map.setPointerCapture(event.pointerId); go(event); });
  map.addEventListener("pointermove", go);
  panel.frame();
}
function inSight({ drawn, drawing, scale }) {
  const all = drawn.svg.getBoundingClientRect(), box = drawing.getBoundingClientRect(), main = byId("main").getBoundingClientRect();
  const [left, top] = [Math.max(all.left, box.left), Math.max(all.top, main.top)], [right, bottom] = [Math.min(all.right, box.right), Math.min(all.bottom, main.bottom)];
  return { x: (left - all.left) / scale, y: (top - all.top) / scale, width: Math.max(0, right - left) / scale, height: Math.max(0, bottom - top) / scale };
}
/* The point of the drawing comes to the middle of what is in sight. */
function bringToSight({ drawn, drawing, scale }, x, y) {
  const main = byId("main"), place = main.getBoundingClientRect();
  drawing.scrollLeft = x * scale - drawing.clientWidth / 2;
  main.scrollTop += drawn.svg.getBoundingClientRect().top + y * scale - (place.top + place.height / 2);
}
