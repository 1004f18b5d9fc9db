// The timeline: a dot for each memory on the day it was found, and below it a list by month. If there are too many memories,
// only the newest are dots; older ones are counted in the curve behind the dots.

import { get } from "./api.js";
import { day, dot, h, href, many, nothing, s, short } from "./dom.js";

const DAY = 86_400_000;
const RANGES = [["All", 0], ["Year", 365], ["Quarter", 92], ["Month", 31]];
const SIZES = { low: 4, medium: 5, high: 6.5, critical: 8 };
const HEIGHT = 280, AXIS = 30, NOTES = 52, EDGE = 26; // pixels: total; axis below the dots; two rows of titles above; margin
const SCALES = [2.2, 1.8, 1.4, 1.1, 0.85, 0.65, 0.5, 0.38, 0.25]; // of the dots: the largest at which all have room is used
const GAP = 1.5; // pixels between two dots
const NEIGHBORS = 240; // dots: each dot is checked for overlaps with this many before it
const SHORT = 3 * DAY; // of all memories together: they are listed by hour, without dots
const JOURNAL = 400; // memories in the list by month

let world = null;

export async function show(view, { fresh }) {
  if (!fresh) return;
  const { items, older, total, undated } = await get("timeline");
  if (!view.isConnected) return;
  if (!items.length) {
    view.replaceChildren(nothing("No dates yet", "Memories that say when they were found appear here."));
    return;
  }
  const isShort = !older.length && items[0].created - items.at(-1).created < SHORT; // dots would lie on top of each other
  const swarm = h("div", { class: "swarm card", hidden: isShort });
  const journal = h("div", { class: "journal" });
  const tip = h("div", { class: "tip", hidden: true, "aria-hidden": "true" });
  world = { items, older, swarm, journal, tip, days: 0, dots: [], isShort };
  const ranges = h("div", { class: "ranges", role: "group", "aria-label": "How far back", hidden: isShort }, RANGES.map(([name, days]) =>
    h("button", { type: "button", "aria-pressed": String(days === 0), onclick: (event) => choose(event.target, days) }, name)));
  view.replaceChildren(h("div", { class: "time" },
    h("div", { class: "time-head" }, h("h1", {}, "Timeline"),
      h("p", { class: "lead" }, told(items.length, total, undated)), ranges),
    swarm, journal));
  world.watch = new ResizeObserver(() => world && draw());
  if (isShort) listed(items, 0);
  else world.watch.observe(swarm);
}

function told(dots, total, undated) {
  const latest = dots < total && `the latest ${dots.toLocaleString("en")} as dots, older ones as the curve behind them`;
  const without = undated && `${undated.toLocaleString("en")} without a date`;
  return [many(total, "memory", "memories"), latest, without].filter(Boolean).join("; ");
}

export function leave() {
  world?.watch.disconnect();
  world = null;
}

function choose(button, days) {
  for (const other of button.parentElement.children) other.setAttribute("aria-pressed", String(other === button));
  world.days = days;
  draw();
}

function span() {
  const newest = world.items[0].created;
  const end = Math.max(newest, Math.min(Date.now(), newest + 30 * DAY));
  const oldest = world.older[0]?.[0] ?? world.items.at(-1).created;
  const start = world.days ? end - world.days * DAY : oldest;
  const pad = Math.max(DAY / 2, (end - start) * 0.02);
  return [start - pad, end + pad];
}

function draw() {
  const width = world.swarm.clientWidth;
  const [start, end] = span();
  const x = (at) => EDGE + ((at - start) / (end - start)) * (width - 2 * EDGE);
  const isInside = (at) => at >= start && at <= end;
  const inside = world.items.filter((item) => isInside(item.created));
  const older = world.older.filter(([at]) => isInside(at));
  const middle = (HEIGHT - AXIS + NOTES) / 2;
  const placed = swarm(inside, x, middle - NOTES - 4);
  world.dots = placed.map((place, number) => circle(place, middle, number === placed.length - 1));
  const today = Date.now() <= end && s("line", { class: "today", x1: x(Date.now()), x2: x(Date.now()), y1: 8, y2: HEIGHT - AXIS });
  world.swarm.replaceChildren(
    s("svg", { width, height: HEIGHT, role: "group", "aria-label": "Memories by day" }, ticks(start, end, x), wave([...inside.map((item) => [item.created, 1]), ...older], x, width),
      today || "", notes(placed, middle, width), world.dots),
    world.tip);
  listed(inside, older.reduce((sum, [, count]) => sum + count, 0));
}

/** Place dots on their day, above and below each other if needed. If they have no room, use a smaller scale. */
function swarm(items, x, most) {
  const ordered = [...items].sort((one, other) => one.created - other.created);
  for (const scale of SCALES) {
    const placed = fitted(ordered, x, most, scale);
    if (placed) return placed;
  }
  return fitted(ordered, x, most, SCALES.at(-1), true);
}

/** Return the positions of all items at a scale; null if one has no room. With `overlap`, such an item is put in the middle. */
function fitted(ordered, x, most, scale, overlap = false) {
  const placed = [];
  for (const item of ordered) {
    const own = { item, x: x(item.created), r: SIZES[item.importance] * scale, y: 0 };
    const y = free(own, placed.slice(-NEIGHBORS), most - own.r);
    if (y === null && !overlap) return null;
    own.y = y ?? 0;
    placed.push(own);
  }
  return placed;
}

function free(own, before, most) {
  const near = before.filter((other) => Math.abs(other.x - own.x) < other.r + own.r + GAP);
  for (let offset = 0; offset <= most; offset += GAP) {
    for (const y of [offset, -offset]) {
      if (near.every((other) => Math.hypot(other.x - own.x, other.y - y) >= other.r + own.r + GAP)) return y;
    }
  }
  return null;
}

/** Return a smooth curve of the number of memories over time, from [time, count]. */
function wave(counts, x, width) {
  const reach = 34, base = HEIGHT - AXIS, steps = Math.ceil(width / 8);
  const heights = Array.from({ length: steps + 1 }, (_, at) =>
    counts.reduce((sum, [when, count]) => sum + count * Math.exp(-(((x(when) - at * 8) / reach) ** 2)), 0));
  const most = Math.max(...heights, 1);
  const line = heights.map((height, at) => `L${Math.min(width, at * 8)} ${(base - (height / most) * (base - NOTES)).toFixed(1)}`);
  return s("path", { class: "wave", d: `M0 ${base}${line.join("")}L${width} ${base}Z` });
}

/** Return titles of critical and highly important memories, if there is room above the dots. */
function notes(placed, middle, width) {
  const rows = [[], []];
  const weighty = placed.filter(({ item }) => ["critical", "high"].includes(item.importance));
  const ordered = weighty.sort((one, other) => SIZES[other.item.importance] - SIZES[one.item.importance] || other.item.created - one.item.created);
  return ordered.flatMap((place) => {
    const text = short(place.item.title, 36);
    const half = text.length * 3.2 + 8;
    const at = Math.max(half + 4, Math.min(width - half - 4, place.x));
    const row = rows.findIndex((taken) => taken.every(([left, right]) => at + half < left || at - half > right));
    const crosses = row === 0 && rows[1].some(([left, right]) => place.x > left && place.x < right);
    if (row < 0 || crosses) return [];
    rows[row].push([at - half, at + half]);
    if (row === 0) rows[1].push([place.x - 3, place.x + 3]); // its line crosses the lower row
    const y = 20 + (1 - row) * -4 + row * 18;
    return [s("line", { class: "lead-line", x1: place.x, x2: place.x, y1: y + 5, y2: middle + place.y - place.r }), s("text", { class: "note", x: at, y }, text)];
  });
}

function circle({ item, x, y, r }, middle, last) {
  const shown = item.status === "active" ? "" : " past";
  const mark = s("a", { href: href(item.id), class: `moment kind-${item.kind}${shown}`, tabindex: last ? "0" : "-1", "aria-label": `${item.title}, ${day(item.created)}`, "data-id": item.id },
    s("circle", { cx: x.toFixed(1), cy: (middle + y).toFixed(1), r: r.toFixed(2) }));
  const tell = () => showTip(item, x, middle + y - r);
  mark.addEventListener("pointerenter", tell);
  mark.addEventListener("focus", tell);
  for (const away of ["pointerleave", "blur"]) mark.addEventListener(away, () => { if (world) world.tip.hidden = true; });
  return mark;
}

function showTip(item, x, y) {
  const { tip, swarm } = world;
  tip.replaceChildren(h("b", {}, item.title), h("span", {}, dot(item), `${item.kind} · ${day(item.created)}${item.by ? ` · ${item.by}` : ""}`));
  tip.hidden = false;
  tip.style.left = `${Math.max(8, Math.min(swarm.clientWidth - tip.offsetWidth - 8, x - tip.offsetWidth / 2))}px`;
  tip.style.top = `${y - tip.offsetHeight - 8}px`;
}

/** Return lines at the starts of weeks, months or years, so few that their labels can be read. */
function ticks(start, end, x) {
  const months = (end - start) / (30.4 * DAY);
  const every = months > 72 ? 12 * Math.ceil(months / 240) : months > 30 ? 6 : months > 14 ? 3 : months > 7 ? 2 : 1;
  const weekly = months < 2.2;
  const found = [];
  const at = new Date(start);
  at.setHours(0, 0, 0, 0);
  if (weekly) at.setDate(at.getDate() + ((8 - at.getDay()) % 7));
  else at.setMonth(at.getMonth() + 1, 1);
  while (at.getTime() < end) {
    if (weekly || (at.getFullYear() * 12 + at.getMonth()) % every === 0) found.push(tick(x(at.getTime()), at, weekly));
    if (weekly) at.setDate(at.getDate() + 7);
    else at.setMonth(at.getMonth() + 1);
  }
  return found;
}

function tick(x, at, weekly) {
  const january = at.getMonth() === 0;
  const name = at.toLocaleDateString("en-GB", weekly ? { day: "numeric", month: "short" } : january ? { year: "numeric" } : { month: "short" });
  return s("g", { class: january && !weekly ? "tick year" : "tick" },
    s("line", { x1: x, x2: x, y1: 8, y2: HEIGHT - AXIS + 4 }), s("text", { x, y: HEIGHT - 9 }, name));
}

/** List memories by month; if all are of a few days, by day and hour. */
function listed(items, older) {
  const months = new Map();
  const heading = world.isShort ? { weekday: "long", day: "numeric", month: "long" } : { month: "long", year: "numeric" };
  for (const item of items.slice(0, JOURNAL)) {
    const name = new Date(item.created).toLocaleDateString("en-GB", heading);
    months.set(name, [...(months.get(name) ?? []), item]);
  }
  const unlisted = Math.max(0, items.length - JOURNAL) + older;
  const more = unlisted > 0 && h("p", { class: "lead" }, `${many(unlisted, "older memory", "older memories")} not listed. Use the search to find them.`);
  world.journal.replaceChildren(...[...months].map(([name, found]) => month(name, found)), more || "",
    items.length ? "" : nothing("No memories in this period", "Choose a longer period."));
}

function month(name, items) {
  let last = 0;
  return h("section", {}, h("h2", {}, name, h("small", {}, items.length)), h("ol", {}, items.map((item) => {
    const at = new Date(item.created);
    const date = world.isShort ? at.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" }) : at.getDate();
    const same = date === last;
    last = date;
    return h("li", {}, h("time", { datetime: new Date(item.created).toISOString() }, same ? "" : date),
      h("a", { href: href(item.id) }, dot(item), h("span", {}, item.title)),
      h("small", {}, [item.status !== "active" && item.status, item.by].filter(Boolean).join(" · ")));
  })));
}

export function key(event) {
  if (!world) return false;
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  const rows = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (by && world.dots.length) walk(world.dots, by, world.dots.length - 1);
  else if (rows) walk([...world.journal.querySelectorAll("a")], rows, 0);
  else if (event.key === "Escape") location.hash = "#/";
  else return false;
  return true;
}

function walk(all, by, first) {
  const here = all.indexOf(document.activeElement);
  const next = all[here < 0 ? first : Math.max(0, Math.min(all.length - 1, here + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}
