// The graph: what hangs together. Drag to move, wheel to zoom, arrow keys to walk.

import { get } from "./api.js";
import { calm, chips, h, href, many, nothing, s, short } from "./dom.js";
import { placed, step } from "./layout.js";

const SIZES = { low: 4.5, medium: 5.5, high: 7.5, critical: 9.5 };
const STEPS = 320; // until things have settled
const SHOWN = 60; // of them, the last ones are shown as they happen
const MANY = 120; // memories from which circles are smaller
const LETTER = 6.3; // width of a letter of a label
const NARROW = 760; // pixels below which the legend lies in several rows, and little of the width is left for labels

let world = null;

export async function show(view, { fresh }) {
  if (!fresh) return;
  const { nodes, edges, total } = await get("graph");
  if (!view.isConnected) return;
  if (!nodes.length) {
    view.replaceChildren(nothing("Nothing to draw yet", "Memories and their links appear here."));
    return;
  }
  world = build(view, nodes, edges, total);
  settle(world);
}

export function leave() {
  world?.watch.disconnect();
  world = null;
}

function build(view, items, links, total) {
  const nodes = items.map((item) => ({ item, r: SIZES[item.importance] ?? 5.5, degree: 1, around: new Set() }));
  const byId = new Map(nodes.map((node) => [node.item.id, node]));
  const edges = links.map((link) => edge(link, byId.get(link.source), byId.get(link.target)));
  const share = nodes.length > MANY ? 0.78 : 1;
  for (const node of nodes) node.r = (node.r + Math.min(5, Math.sqrt(node.degree) - 1)) * share;
  const drawn = draw(nodes, edges);
  const card = h("div", { class: "card node-card", hidden: true, "aria-live": "polite" });
  const made = { nodes, edges, ...drawn, card, at: { x: 0, y: 0, zoom: 1 }, moved: false, view };
  view.replaceChildren(drawn.svg, card, legend(nodes, edges, total), zoomButtons(made));
  made.watch = new ResizeObserver(() => { if (!made.moved) fit(made); paint(made); });
  made.watch.observe(view);
  listen(made);
  placed(nodes);
  return made;
}

function edge(link, from, to) {
  const similar = link.type === "similar";
  from.degree += similar ? 0.5 : 1;
  to.degree += similar ? 0.5 : 1;
  from.around.add(to);
  to.around.add(from);
  return { from, to, type: link.type, similar, pull: similar ? 0.05 + 0.1 * link.weight : 0.34, length: similar ? 78 : 46 };
}

function draw(nodes, edges) {
  const arrow = s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" },
    s("path", { d: "M0 1 8 4 0 7z" }));
  for (const edge of edges) {
    const kind = edge.similar ? "similar" : edge.type === "supersedes" ? "supersedes" : "declared";
    edge.line = s("line", { class: `edge ${kind}`, "marker-end": edge.similar ? null : "url(#arrow)" }, s("title", {}, edge.type.replaceAll("_", " ")));
  }
  for (const node of nodes) {
    node.label = s("text", { class: "label", "aria-hidden": "true" }, short(node.item.title, 34));
    node.mark = s("g", { class: `node kind-${node.item.kind}`, tabindex: "-1", role: "link", "aria-label": node.item.title, "data-id": node.item.id },
      s("circle", { r: node.r + 6, class: "halo" }), s("circle", { r: node.r }), s("title", {}, node.item.title));
  }
  const lines = s("g", {}, edges.map((edge) => edge.line));
  const marks = s("g", {}, nodes.map((node) => node.mark));
  const labels = s("g", { class: "labels" }, nodes.map((node) => node.label));
  const svg = s("svg", { class: "canvas", role: "group", "aria-label": "Graph of memories" }, s("defs", {}, arrow), lines, marks, labels);
  nodes[0].mark.setAttribute("tabindex", "0");
  return { svg };
}

function settle(made) {
  const shown = calm() ? 0 : SHOWN;
  let done = 0;
  const aspect = shape(made);
  const cool = () => (1 - done / STEPS) ** 1.4;
  for (; done < STEPS - shown; done++) step(made.nodes, made.edges, cool(), aspect);
  fit(made);
  paint(made);
  const next = () => {
    if (world !== made || done >= STEPS) return;
    step(made.nodes, made.edges, cool(), aspect);
    done++;
    if (!made.moved) fit(made);
    paint(made);
    requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}

function fit(made) {
  const { width, height } = made.view.getBoundingClientRect();
  const xs = made.nodes.map((node) => node.x), ys = made.nodes.map((node) => node.y);
  const left = Math.min(...xs), right = Math.max(...xs), top = Math.min(...ys), bottom = Math.max(...ys);
  const foot = width < NARROW ? 120 : 30, aside = width < NARROW ? 70 : 150;
  const fitting = Math.min(2.8, (width - aside) / (right - left + 1), (height - 120 - foot) / (bottom - top + 1));
  const zoom = Math.max(0.2, fitting);
  made.at = { zoom, x: (left + right) / 2, y: (top + bottom) / 2 + foot / 2 / zoom };
}

/** Wide where the window is wide, high where it is high. */
function shape(made) {
  const { width, height } = made.view.getBoundingClientRect();
  return Math.max(0.4, Math.min(1.5, width / height));
}

function paint(made) {
  const { width, height } = made.view.getBoundingClientRect();
  const { at } = made;
  const size = Math.max(0.75, Math.min(1.5, at.zoom));
  for (const node of made.nodes) {
    node.sx = (node.x - at.x) * at.zoom + width / 2;
    node.sy = (node.y - at.y) * at.zoom + height / 2;
    node.mark.setAttribute("transform", `translate(${node.sx.toFixed(1)} ${node.sy.toFixed(1)}) scale(${size.toFixed(3)})`);
  }
  for (const { from, to, line, similar } of made.edges) {
    const length = Math.hypot(to.sx - from.sx, to.sy - from.sy) || 1;
    const cut = similar ? 0 : (to.r * size + 2) / length;
    line.setAttribute("x1", from.sx.toFixed(1));
    line.setAttribute("y1", from.sy.toFixed(1));
    line.setAttribute("x2", (to.sx - (to.sx - from.sx) * cut).toFixed(1));
    line.setAttribute("y2", (to.sy - (to.sy - from.sy) * cut).toFixed(1));
  }
  label(made, size, width);
}

/** Labels of the weightiest memories first, below, above or beside them, and only where there is room. */
function label(made, size, width) {
  const taken = made.nodes.map((node) => box(node.sx, node.sy, node.r * size * 2, node.r * size * 2));
  const ordered = [...made.nodes].sort((one, other) => weight(made, other) - weight(made, one));
  for (const node of ordered) {
    const places = around(node, size);
    const wanted = node === made.chosen || made.chosen?.around.has(node);
    const own = places.find((place) => place[0] > 2 && place[2] < width - 2 && !taken.some((other) => overlap(place, other))) ?? (wanted && places[0]);
    node.label.classList.toggle("hidden", !own);
    if (!own) continue;
    taken.push(own);
    node.label.setAttribute("x", ((own[0] + own[2]) / 2).toFixed(1));
    node.label.setAttribute("y", (own[3] - 3).toFixed(1));
  }
}

function around(node, size) {
  const away = node.r * size, width = node.label.textContent.length * LETTER;
  const places = [[0, away + 9], [0, -away - 9], [away + width / 2 + 4, 0], [-away - width / 2 - 4, 0]];
  return places.map(([x, y]) => box(node.sx + x, node.sy + y, width, 13));
}

const weight = (made, node) => (node === made.chosen ? 1000 : made.chosen?.around.has(node) ? 500 : 0) + node.degree + node.r;
const box = (x, y, width, height) => [x - width / 2, y - height / 2, x + width / 2, y + height / 2];
const overlap = (one, other) => one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3];

/** Show one memory and what is around it; the rest steps back. */
function choose(made, node) {
  made.chosen = node;
  made.svg.classList.toggle("chosen", Boolean(node));
  for (const other of made.nodes) {
    const near = !node || other === node || node.around.has(other);
    other.mark.classList.toggle("near", near);
    other.label.classList.toggle("near", near);
    other.mark.classList.toggle("self", other === node);
    if (node) other.mark.setAttribute("tabindex", other === node ? "0" : "-1");
  }
  for (const { from, to, line } of made.edges) line.classList.toggle("near", !node || from === node || to === node);
  made.card.hidden = !node;
  if (node) made.card.replaceChildren(...told(node));
  paint(made);
}

function told({ item, around }) {
  return [h("div", { class: "chips" }, chips(item)), h("h2", {}, item.title), h("p", {}, item.excerpt),
    h("p", { class: "facts" }, around.size ? `connected with ${many(around.size, "memory", "memories")}` : "connected with nothing yet"),
    h("a", { href: href(item.id), class: "button" }, "Open")];
}

function legend(nodes, edges, total) {
  const kinds = [...new Set(nodes.map((node) => node.item.kind))].sort();
  const lines = [["declared", "linked"], ["supersedes", "took its place"], ["similar", "alike"]].filter(([name]) =>
    edges.some((edge) => edge.line.classList.contains(name)));
  return h("div", { class: "graph-legend" },
    h("p", {}, nodes.length < total ? `the ${nodes.length} most connected of ${many(total, "memory", "memories")}` : many(total, "memory", "memories")),
    h("ul", {}, kinds.map((kind) => h("li", {}, h("span", { class: `dot kind-${kind}` }), kind)),
      lines.map(([name, words]) => h("li", {}, h("span", { class: `stroke ${name}` }), words))));
}

function zoomButtons(made) {
  const button = (sign, name, act) => h("button", { type: "button", "aria-label": name, title: name, onclick: act }, sign);
  return h("div", { class: "zoom" }, button("+", "Zoom in", () => zoomBy(made, 1.3)), button("−", "Zoom out", () => zoomBy(made, 1 / 1.3)),
    button("⤢", "Show all", () => showAll(made)));
}

function zoomBy(made, by, x, y) {
  const { width, height } = made.view.getBoundingClientRect();
  const dx = (x ?? width / 2) - width / 2, dy = (y ?? height / 2) - height / 2;
  const zoom = Math.max(0.15, Math.min(5, made.at.zoom * by));
  const shift = 1 / made.at.zoom - 1 / zoom;
  made.at = { zoom, x: made.at.x + dx * shift, y: made.at.y + dy * shift };
  made.moved = true;
  paint(made);
}

function showAll(made) {
  made.moved = false;
  fit(made);
  paint(made);
}

function listen(made) {
  const nodeAt = (event) => made.nodes.find((node) => node.mark === event.target.closest?.(".node"));
  let drag = null;
  made.svg.addEventListener("pointerdown", (event) => { drag = { x: event.clientX, y: event.clientY, far: 0, node: nodeAt(event) }; });
  made.svg.addEventListener("pointermove", (event) => {
    if (!drag || !event.buttons) return;
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y;
    drag = { ...drag, x: event.clientX, y: event.clientY, far: drag.far + Math.abs(dx) + Math.abs(dy) };
    made.at = { ...made.at, x: made.at.x - dx / made.at.zoom, y: made.at.y - dy / made.at.zoom };
    made.moved = true;
    paint(made);
  });
  made.svg.addEventListener("pointerup", () => {
    if (drag && drag.far < 5) {
      choose(made, drag.node ?? null);
      drag.node?.mark.focus();
    }
    drag = null;
  });
  made.svg.addEventListener("dblclick", (event) => { const node = nodeAt(event); if (node) location.hash = href(node.item.id); });
  made.svg.addEventListener("wheel", (event) => {
    event.preventDefault();
    const place = made.view.getBoundingClientRect();
    zoomBy(made, Math.exp(-event.deltaY * 0.0015), event.clientX - place.left, event.clientY - place.top);
  }, { passive: false });
  made.svg.addEventListener("focusin", (event) => { const node = nodeAt(event); if (node && node !== made.chosen) choose(made, node); });
}

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** The nearest memory in a direction; what lies off it counts as farther. */
function toward(made, [wx, wy]) {
  const from = made.chosen ?? made.nodes[0];
  const far = (node) => {
    const dx = node.sx - from.sx, dy = node.sy - from.sy;
    const along = dx * wx + dy * wy;
    return along > 1 ? along + 2.2 * Math.abs(dx * wy - dy * wx) : Infinity;
  };
  const best = made.nodes.reduce((found, node) => (far(node) < far(found) ? node : found), from);
  return best;
}

export function key(event) {
  if (!world) return false;
  const way = WAYS[event.key];
  if (way) (world.chosen ? toward(world, way) : world.nodes[0]).mark.focus();
  else if (event.key === "Enter" && document.activeElement?.classList.contains("node")) location.hash = href(document.activeElement.dataset.id);
  else if (event.key === "Escape") world.chosen ? choose(world, null) : (location.hash = "#/");
  else if (event.key === "+" || event.key === "=") zoomBy(world, 1.3);
  else if (event.key === "-") zoomBy(world, 1 / 1.3);
  else if (event.key === "0") showAll(world);
  else return false;
  return true;
}
