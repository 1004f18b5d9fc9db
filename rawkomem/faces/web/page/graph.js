// The graph on a canvas: linked memories are close together, clusters are shaded and named. Drag, zoom, or use the arrow keys.

import { get } from "./api.js";
import { calm, chips, h, href, many, nothing, short } from "./dom.js";
import { placeLabels } from "./labels.js";
import { cluster, placed, step } from "./layout.js";

const SIZES = { low: 4.5, medium: 5.5, high: 7.5, critical: 9.5 };
const STEPS = 260; // of the layout
const SLICE_MS = 24; // time of one slice of computing; then the browser can handle events
const CROWD = 250; // with more memories, clusters are named and circles are smaller
const FAR = 0.15; // above CROWD, the pull of a link between two clusters is multiplied by this
const MIN_CLUSTER = 4; // memories; smaller clusters are not shaded
const MIN_NAMED = 8; // memories; above CROWD, smaller clusters have no name
const NARROW = 760; // pixels; in a narrower window the legend has several rows
const FONT = '500 11.5px "Inter", system-ui, "Segoe UI", Roboto, "Liberation Sans", sans-serif';
const BOLD = FONT.replace("500 11.5px", "650 13px");

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
  world?.dark.removeEventListener("change", world.repaint);
  world = null;
}

function build(view, items, links, total) {
  const crowded = items.length > CROWD;
  const nodes = items.map((item, number) => ({ item, number, r: SIZES[item.importance] ?? 5.5, links: 0, around: new Set() }));
  const byId = new Map(nodes.map((node) => [node.item.id, node]));
  const edges = links.map((link) => edge(link, byId.get(link.source), byId.get(link.target)));
  for (const one of edges) one.pull /= Math.min(one.from.links, one.to.links);
  for (const node of nodes) node.r = (node.r + Math.min(5, Math.sqrt(node.around.size))) * (crowded ? 0.62 : 1);
  const clusters = cluster(nodes, edges);
  if (crowded) for (const one of edges) if (one.from.cluster !== one.to.cluster) one.pull *= FAR;
  placed(clusters);
  const canvas = h("canvas", { class: "canvas", tabindex: "0", role: "application", "aria-label": "Graph of memories: arrow keys select a memory, Enter opens it", "data-ready": "false" });
  const card = h("div", { class: "card node-card", hidden: true, "aria-live": "polite" });
  const made = { nodes, edges, clusters, crowded, canvas, card, view, at: { x: 0, y: 0, zoom: 1 }, moved: false, chosen: null, over: null, labels: [] };
  made.names = clusters.map((group) => (group.length >= (crowded ? MIN_NAMED : MIN_CLUSTER) ? nameOf(group, nodes) : ""));
  made.repaint = () => { made.colors = null; paint(made); };
  made.dark = matchMedia("(prefers-color-scheme: dark)");
  made.dark.addEventListener("change", made.repaint);
  canvas.drawn = () => drawn(made); // positions of everything, for tests and scripts
  view.replaceChildren(canvas, card, legend(made, total), zoomButtons(made));
  made.watch = new ResizeObserver(() => { if (!made.moved) fit(made); paint(made); });
  made.watch.observe(view);
  listen(made);
  return made;
}

function edge(link, from, to) {
  const similar = link.type === "similar";
  for (const [one, other] of [[from, to], [to, from]]) {
    one.links += similar ? 0.5 : 1;
    one.around.add(other);
  }
  const kind = similar ? "similar" : link.type === "supersedes" ? "supersedes" : "declared";
  return { from, to, type: link.type, kind, weight: similar ? 0.4 * link.weight : 1, pull: similar ? 0.25 * link.weight : 0.9, length: similar ? 62 : 30 };
}

/** Return the tag that is most typical of a cluster, or else the title of its most connected memory. */
function nameOf(group, nodes) {
  const count = (some) => some.flatMap((node) => [...new Set(node.item.tags)]).reduce((sums, tag) => sums.set(tag, (sums.get(tag) ?? 0) + 1), new Map());
  const all = count(nodes);
  const score = ([tag, here]) => (here / group.length) * Math.log(1 + nodes.length / all.get(tag));
  const [best] = [...count(group)].filter(([, here]) => here >= Math.max(2, group.length / 4)).sort((one, other) => score(other) - score(one) || (one[0] < other[0] ? -1 : 1));
  if (best) return `#${best[0]}`;
  return short(group.reduce((one, other) => (other.around.size > one.around.size ? other : one)).item.title, 34);
}

/** Compute the layout in slices, so that the page stays responsive. The number of steps is fixed, so the result is too. */
function settle(made) {
  const { width, height } = made.view.getBoundingClientRect();
  const aspect = Math.max(0.4, Math.min(1.6, width / height)); // a wide window gets a wide layout
  let done = 0;
  const slice = () => {
    if (world !== made) return;
    const end = performance.now() + SLICE_MS;
    do step(made.nodes, made.edges, made.clusters, (1 - done / STEPS) ** 1.3, aspect);
    while (++done < STEPS && performance.now() < end);
    const isDone = done >= STEPS;
    if (!made.moved) fit(made);
    if (isDone || !calm()) paint(made);
    if (isDone) made.canvas.dataset.ready = "true";
    else requestAnimationFrame(slice);
  };
  slice();
}

function fit(made) {
  const { width, height } = made.view.getBoundingClientRect();
  let left = Infinity, right = -Infinity, top = Infinity, bottom = -Infinity;
  for (const { x, y } of made.nodes) { left = Math.min(left, x); right = Math.max(right, x); top = Math.min(top, y); bottom = Math.max(bottom, y); }
  const foot = width < NARROW ? 120 : 30, aside = width < NARROW ? 70 : 160;
  const zoom = Math.max(0.05, Math.min(6, (width - aside) / (right - left + 1), (height - 110 - foot) / (bottom - top + 1)));
  made.at = { zoom, x: (left + right) / 2, y: (top + bottom) / 2 + foot / 2 / zoom };
}

function colorsOf(made) {
  const style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue(`--${name}`).trim();
  const names = ["paper", "ink", "soft", "faint", "warn", "accent", "hull", "memory", "lesson", "skill", "learning", "reflection", "trace", "experience", "episode"];
  return (made.colors ??= Object.fromEntries(names.map((name) => [name, color(name)])));
}

function paint(made) {
  const { width, height } = made.view.getBoundingClientRect(), density = devicePixelRatio || 1;
  const { canvas, at } = made;
  if (canvas.width !== Math.round(width * density)) canvas.width = Math.round(width * density);
  if (canvas.height !== Math.round(height * density)) canvas.height = Math.round(height * density);
  const pen = canvas.getContext("2d"), colors = colorsOf(made);
  pen.setTransform(density, 0, 0, density, 0, 0);
  pen.clearRect(0, 0, width, height);
  made.size = Math.max(made.crowded ? 0.42 : 0.75, Math.min(1.5, at.zoom)); // of the circles
  for (const node of made.nodes) {
    node.sx = (node.x - at.x) * at.zoom + width / 2;
    node.sy = (node.y - at.y) * at.zoom + height / 2;
  }
  for (const group of made.clusters) if (group.length >= MIN_CLUSTER) shade(pen, group, made.size, colors);
  for (const one of made.edges) line(pen, one, made, colors);
  for (const node of made.nodes) circle(pen, node, made, colors);
  made.labels = labels(pen, made, width, height);
  for (const label of made.labels) write(pen, label, colors);
}

/** Draw the background of a cluster: its convex hull, with round corners. */
function shade(pen, group, size, colors) {
  const hull = hullOf(group);
  pen.beginPath();
  hull.forEach((node, number) => (number ? pen.lineTo(node.sx, node.sy) : pen.moveTo(node.sx, node.sy)));
  pen.closePath();
  pen.fillStyle = pen.strokeStyle = colors.hull;
  pen.lineWidth = 36 * Math.min(1, size);
  pen.lineJoin = "round";
  pen.fill();
  pen.stroke();
}

function hullOf(group) {
  const points = [...group].sort((one, other) => one.sx - other.sx || one.sy - other.sy);
  const turn = (a, b, c) => (b.sx - a.sx) * (c.sy - a.sy) - (b.sy - a.sy) * (c.sx - a.sx);
  const half = (some) => {
    const found = [];
    for (const point of some) {
      while (found.length > 1 && turn(found.at(-2), found.at(-1), point) <= 0) found.pop();
      found.push(point);
    }
    return found.slice(0, -1);
  };
  return [...half(points), ...half(points.reverse())];
}

const isNear = (made, node) => !made.chosen || node === made.chosen || made.chosen.around.has(node);

function line(pen, { from, to, kind }, made, colors) {
  const near = made.chosen && (from === made.chosen || to === made.chosen);
  const faded = made.chosen && !near;
  const length = Math.hypot(to.sx - from.sx, to.sy - from.sy) || 1;
  const cut = kind === "similar" ? 0 : (to.r * made.size + 2) / length;
  const x = to.sx - (to.sx - from.sx) * cut, y = to.sy - (to.sy - from.sy) * cut;
  pen.globalAlpha = faded ? 0.1 : near ? 0.95 : { similar: made.crowded ? 0.14 : 0.28, declared: 0.6, supersedes: 0.9 }[kind];
  pen.strokeStyle = pen.fillStyle = near ? colors.accent : kind === "supersedes" ? colors.warn : colors.faint;
  pen.lineWidth = (kind === "similar" ? 1 : 1.4) * (made.crowded ? 0.8 : 1);
  pen.setLineDash(kind === "supersedes" ? [4, 3] : []);
  pen.beginPath();
  pen.moveTo(from.sx, from.sy);
  pen.lineTo(x, y);
  pen.stroke();
  pen.setLineDash([]);
  if (kind !== "similar" && (!made.crowded || near)) arrow(pen, x, y, (to.sx - from.sx) / length, (to.sy - from.sy) / length);
  pen.globalAlpha = 1;
}

function arrow(pen, x, y, dx, dy) {
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x - 7 * dx - 3 * dy, y - 7 * dy + 3 * dx);
  pen.lineTo(x - 7 * dx + 3 * dy, y - 7 * dy - 3 * dx);
  pen.fill();
}

function circle(pen, node, made, colors) {
  const r = node.r * made.size, color = colors[node.item.kind] ?? colors.faint;
  const round = (radius) => { pen.beginPath(); pen.arc(node.sx, node.sy, radius, 0, 2 * Math.PI); };
  pen.globalAlpha = isNear(made, node) ? 1 : 0.3;
  if (node === made.chosen || node === made.over) {
    pen.strokeStyle = node === made.chosen ? colors.accent : colors.soft;
    pen.lineWidth = 2.5;
    round(r + 4);
    pen.stroke();
  }
  pen.fillStyle = color;
  pen.strokeStyle = colors.paper;
  pen.lineWidth = made.crowded ? 0.8 : 1.5;
  round(r);
  pen.fill();
  pen.stroke();
  pen.globalAlpha = 1;
}

/** Return labels that do not overlap: above CROWD the names of clusters, then titles of memories. */
function labels(pen, made, width, height) {
  const { size, chosen, over } = made;
  const named = made.crowded && made.at.zoom < 1.6 && !chosen;
  pen.font = BOLD;
  const groups = !named ? [] : made.clusters.flatMap((group, number) => (made.names[number] ? [groupLabel(pen, group, made.names[number])] : []));
  pen.font = FONT;
  const weight = (node) => (node === chosen ? 1e6 : 0) + (node === over ? 2e6 : 0) + (chosen?.around.has(node) ? 1e4 : 0) + node.around.size * 10 + node.r;
  const inside = ({ sx, sy }) => sx > -20 && sy > -20 && sx < width + 20 && sy < height + 20;
  const seen = made.nodes.filter(inside);
  const titled = seen.filter((node) => !chosen || isNear(made, node)).sort((one, other) => weight(other) - weight(one) || one.number - other.number).slice(0, 400);
  const own = titled.map((node) => {
    const text = (node.short ??= short(node.item.title, 34));
    node.wide ??= pen.measureText(text).width;
    return { text, width: node.wide, x: node.sx, y: node.sy, r: node.r * size, id: node.item.id, must: node === chosen || node === over, strong: Boolean(chosen) };
  });
  const circles = seen.map(({ sx, sy, r }) => [sx - r * size, sy - r * size, sx + r * size, sy + r * size]);
  const names = placeLabels(groups, [], { width, height });
  return [...names, ...placeLabels(own, [...circles, ...names.map((label) => label.box)], { width, height })];
}

function groupLabel(pen, group, text) {
  const sum = group.reduce((at, node) => [at[0] + node.sx, at[1] + node.sy], [0, 0]);
  return { text, width: pen.measureText(text).width, x: sum[0] / group.length, y: sum[1] / group.length, r: 0, middle: true, cluster: true };
}

function write(pen, { text, box, cluster: isCluster, strong }, colors) {
  pen.font = isCluster ? BOLD : FONT;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.lineWidth = isCluster ? 5 : 3.5;
  pen.strokeStyle = colors.paper;
  pen.fillStyle = isCluster || strong ? colors.ink : colors.soft;
  const x = (box[0] + box[2]) / 2, y = (box[1] + box[3]) / 2;
  pen.strokeText(text, x, y);
  pen.fillText(text, x, y);
}

function choose(made, node) {
  made.chosen = node;
  made.card.hidden = !node;
  if (node) made.card.replaceChildren(...told(node));
  paint(made);
}

function told({ item, around }) {
  return [h("div", { class: "chips" }, chips(item)), h("h2", {}, item.title), h("p", {}, item.excerpt),
    h("p", { class: "facts" }, around.size ? `connected with ${many(around.size, "memory", "memories")}` : "connected with no other memory"),
    h("a", { href: href(item.id), class: "button" }, "Open")];
}

function legend({ nodes, edges }, total) {
  const kinds = [...new Set(nodes.map((node) => node.item.kind))].sort();
  const lines = [["declared", "linked"], ["supersedes", "replaces"], ["similar", "similar"]].filter(([name]) => edges.some((edge) => edge.kind === name));
  return h("div", { class: "graph-legend" },
    h("p", {}, nodes.length < total ? `the ${nodes.length.toLocaleString("en")} most connected of ${many(total, "memory", "memories")}` : many(total, "memory", "memories")),
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
  const zoom = Math.max(0.05, Math.min(6, made.at.zoom * by));
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

/** Return the memory at the pointer, or null. */
function nodeAt(made, event) {
  const place = made.view.getBoundingClientRect(), x = event.clientX - place.left, y = event.clientY - place.top;
  let best = null, nearest = Infinity;
  for (const node of made.nodes) {
    const far = Math.hypot(node.sx - x, node.sy - y);
    if (far < node.r * made.size + 6 && far < nearest) { best = node; nearest = far; }
  }
  return best;
}

function listen(made) {
  const { canvas } = made;
  let drag = null;
  canvas.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY, far: 0, node: nodeAt(made, event) };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => (drag && event.buttons ? dragged(event) : hovered(event)));
  canvas.addEventListener("pointerup", () => {
    if (drag && drag.far < 5) choose(made, drag.node);
    drag = null;
  });
  canvas.addEventListener("dblclick", (event) => { const node = nodeAt(made, event); if (node) location.hash = href(node.item.id); });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    const place = made.view.getBoundingClientRect();
    zoomBy(made, Math.exp(-event.deltaY * 0.0015), event.clientX - place.left, event.clientY - place.top);
  }, { passive: false });

  /** Move the memory at the pointer, or the whole graph if there is none. */
  function dragged(event) {
    const dx = event.clientX - drag.x, dy = event.clientY - drag.y, { zoom } = made.at;
    drag = { ...drag, x: event.clientX, y: event.clientY, far: drag.far + Math.abs(dx) + Math.abs(dy) };
    if (drag.node) Object.assign(drag.node, { x: drag.node.x + dx / zoom, y: drag.node.y + dy / zoom, fixed: true });
    else made.at = { ...made.at, x: made.at.x - dx / zoom, y: made.at.y - dy / zoom };
    made.moved = true;
    paint(made);
  }

  function hovered(event) {
    const node = nodeAt(made, event);
    if (node === made.over) return;
    made.over = node;
    canvas.style.cursor = node ? "pointer" : "";
    paint(made);
  }
}

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Return the nearest memory in a direction; a distance across the direction counts more than one along it. */
function toward(made, [wx, wy]) {
  const from = made.chosen;
  const far = (node) => {
    const dx = node.sx - from.sx, dy = node.sy - from.sy;
    const along = dx * wx + dy * wy;
    return along > 1 ? along + 2.2 * Math.abs(dx * wy - dy * wx) : Infinity;
  };
  return made.nodes.reduce((found, node) => (far(node) < far(found) ? node : found), from);
}

/** Select the next memory in a direction, and scroll to it if it is out of sight. */
function walk(made, way) {
  choose(made, made.chosen ? toward(made, way) : made.nodes[0]);
  const { width, height } = made.view.getBoundingClientRect(), { sx, sy, x, y } = made.chosen;
  if (sx < 20 || sy < 20 || sx > width - 20 || sy > height - 20) {
    made.at = { ...made.at, x, y };
    made.moved = true;
    paint(made);
  }
  made.canvas.focus();
}

export function key(event) {
  if (!world) return false;
  const way = WAYS[event.key];
  if (way) walk(world, way);
  else if (event.key === "Enter" && document.activeElement === world.canvas && world.chosen) location.hash = href(world.chosen.item.id);
  else if (event.key === "Escape") world.chosen ? choose(world, null) : (location.hash = "#/");
  else if (event.key === "+" || event.key === "=") zoomBy(world, 1.3);
  else if (event.key === "-") zoomBy(world, 1 / 1.3);
  else if (event.key === "0") showAll(world);
  else return false;
  return true;
}

function drawn(made) {
  return {
    nodes: made.nodes.map(({ item, sx, sy, r, cluster: number }) => ({ id: item.id, title: item.title, x: sx, y: sy, r: r * made.size, cluster: number })),
    edges: made.edges.map(({ from, to, kind }) => ({ from: from.number, to: to.number, kind })),
    labels: made.labels.map(({ text, box, must, cluster: isCluster }) => ({ text, box, must: Boolean(must), cluster: Boolean(isCluster) })),
  };
}
