// All memories: filters, a list that follows the search field, and the chosen one beside it.

import { get } from "./api.js";
import { ago, dot, failed, h, href, isTyping, later, many, nothing } from "./dom.js";
import { focusWhy, memoryView } from "./memory.js";

const state = { q: "", kind: "", type: "", importance: "", status: "", tag: "" };
let parts = null; // elements of this view while it is shown
let page = null;
let open = "";
let asked = 0;

export async function show(view, given) {
  page = given;
  if (given.fresh) {
    build(view, given.overview);
    await fill();
  }
  await openMemory(given.id);
}

export function leave() {
  parts = null;
  open = "";
}

function build(view, overview) {
  const list = h("ul", { class: "list", "aria-label": "Memories" });
  const count = h("p", { class: "count", role: "status" });
  const side = h("section", { class: "side", "aria-label": "Find a memory" }, filters(overview), count, list);
  const pane = h("section", { class: "pane", "aria-label": "Memory" });
  parts = { list, count, side, pane };
  view.replaceChildren(side, pane);
}

function filters(overview) {
  const words = (counts) => Object.keys(counts);
  const fields = [
    ["kind", "Kind", words(overview.kinds)],
    ["type", "Type", words(overview.types)],
    ["importance", "Importance", ["medium", "high", "critical"]],
    ["status", "In use", [...words(overview.statuses), "everything"]],
    ["tag", "Tag", words(overview.tags)],
  ];
  const selects = fields.filter(([, , options]) => options.length).map(([name, any, options]) => select(name, any, options));
  const clear = h("button", { type: "button", class: "quiet", onclick: () => clearFilters(selects) }, "Clear");
  return h("div", { class: "filters" }, selects, clear);
}

function select(name, any, options) {
  const label = (option) => option.replaceAll("_", " ") + (name === "importance" && option !== "critical" ? " and up" : "");
  const element = h("select", { "aria-label": name, "data-filter": name },
    h("option", { value: "" }, any), options.map((option) => h("option", { value: option }, label(option))));
  element.value = state[name];
  element.classList.toggle("set", Boolean(state[name]));
  element.addEventListener("change", () => {
    state[name] = element.value;
    element.classList.toggle("set", Boolean(element.value));
    fill();
  });
  return element;
}

function clearFilters(selects) {
  for (const element of selects) {
    element.value = state[element.dataset.filter] = "";
    element.classList.remove("set");
  }
  fill();
}

export function search(text) {
  state.q = text.trim();
  if (parts) fill();
}

async function fill() {
  const mine = ++asked;
  try {
    const { total, items } = await get("memories", state);
    if (mine !== asked || !parts) return;
    parts.list.replaceChildren(...items.map(row));
    parts.count.textContent = told(total, items.length);
    if (!items.length) parts.list.append(h("li", {}, nobody()));
    mark();
  } catch (failure) {
    if (mine === asked && parts) parts.list.replaceChildren(h("li", {}, failed(failure)));
  }
}

function told(total, listed) {
  if (state.q) return total ? `${many(total, "memory", "memories")}, the best first` : "";
  const more = listed < total ? `, the ${listed} last changed are listed` : "";
  return total ? many(total, "memory", "memories") + more : "";
}

function nobody() {
  if (!page.overview.memories) return nothing("No memories yet", "'rawkomem add' writes the first one.");
  return nothing("Nothing found", state.q ? "Other words may help: meaning counts, too." : "No memory passes these filters.");
}

function row(item) {
  const link = h("a", { href: href(item.id), tabindex: "-1", "data-id": item.id },
    h("span", { class: "row-title" }, marked(item.title)),
    item.excerpt && h("span", { class: "row-text" }, marked(item.excerpt)),
    h("span", { class: "row-facts" }, dot(item), item.kind, h("span", {}, ago(item.updated)),
      ["high", "critical"].includes(item.importance) && h("span", { class: `importance-${item.importance}` }, item.importance),
      item.status !== "active" && h("span", { class: `status-${item.status}` }, item.status)));
  return h("li", {}, link);
}

/** The text with the words of the question marked. */
function marked(text) {
  const words = state.q.match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  if (!words.length) return [text];
  const parts = text.split(new RegExp(`(${words.slice(0, 12).join("|")})`, "iu"));
  return parts.map((part, place) => (place % 2 ? h("mark", {}, part) : part));
}

const links = () => [...(parts?.list.querySelectorAll("a") ?? [])];

/** One link of the list can be reached with Tab; the keys move on from there. */
function mark() {
  const all = links();
  const chosen = all.find((link) => link.dataset.id === open);
  for (const link of all) {
    link.tabIndex = link === (chosen ?? all[0]) ? 0 : -1;
    if (link === chosen) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  chosen?.scrollIntoView({ block: "nearest" });
}

export function focusList() {
  (links().find((link) => link.tabIndex === 0) ?? links()[0])?.focus();
}

export function openFirst() {
  const first = links()[0];
  if (first) choose(first, true);
}

let intoPane = false;

function choose(link, enter) {
  intoPane = enter;
  if (location.hash === link.getAttribute("href")) openMemory(open, true);
  else location.hash = link.getAttribute("href");
}

const chooseSoon = later(110, (link) => choose(link, false));

function move(by) {
  const all = links();
  if (!all.length) return;
  const here = all.findIndex((link) => link.tabIndex === 0);
  const started = all.includes(document.activeElement) || open;
  const next = all[Math.max(0, Math.min(all.length - 1, started ? here + by : here))];
  for (const link of all) link.tabIndex = link === next ? 0 : -1;
  next.focus();
  if (open) chooseSoon(next);
}

async function openMemory(id, again = false) {
  if (id === open && !again && parts.pane.childElementCount) return;
  open = id;
  const enter = intoPane || again;
  intoPane = false;
  parts.pane.parentElement.classList.toggle("opened", Boolean(id));
  mark();
  if (!id) {
    parts.pane.replaceChildren(home(page.overview));
    return;
  }
  try {
    const answer = await get("memory", { id });
    if (open !== id || !parts) return;
    parts.pane.replaceChildren(memoryView(answer, { back, reload }));
    parts.pane.scrollTop = 0;
    if (answer.id !== id) history.replaceState(null, "", href((open = answer.id)));
    mark();
    if (enter) parts.pane.querySelector("h1").focus({ preventScroll: true });
  } catch (failure) {
    if (open === id && parts) parts.pane.replaceChildren(failed(failure));
  }
}

async function reload() {
  page.overview = await page.changed();
  await Promise.all([fill(), openMemory(open, true)]);
}

function back() {
  const last = open;
  location.hash = "#/";
  links().find((link) => link.dataset.id === last)?.focus();
}

function home(overview) {
  const { waiting } = overview;
  const kinds = Object.entries(overview.kinds);
  return h("div", { class: "home" },
    h("p", { class: "big" }, overview.memories.toLocaleString("en")),
    h("h1", { tabindex: "-1" }, `${overview.memories === 1 ? "memory" : "memories"} of ${overview.project}`),
    kinds.length > 0 && h("div", { class: "share", "aria-hidden": "true" }, kinds.map(([kind, count]) => share(kind, count))),
    h("ul", { class: "legend" }, kinds.map(([kind, count]) => h("li", {}, dot({ kind }), kind, h("b", {}, count)))),
    waiting > 0 && h("p", {}, h("a", { href: "#/review", class: "button" }, `${waiting} ${waiting === 1 ? "waits" : "wait"} for a review`)),
    h("p", { class: "hint" }, h("kbd", {}, "/"), " search   ", h("kbd", {}, "j"), " ", h("kbd", {}, "k"), " move   ",
      h("kbd", {}, "Enter"), " open   ", h("kbd", {}, "?"), " all keys"));
}

function share(kind, count) {
  const part = h("span", { class: `kind-${kind}` });
  part.style.flexGrow = count;
  return part;
}

export function key(event) {
  const inPane = parts?.pane.contains(document.activeElement);
  if (event.key === "Escape") {
    if (isTyping()) document.activeElement.blur();
    else if (open) back();
    return true;
  }
  const by = { j: 1, k: -1, ...(inPane ? {} : { ArrowDown: 1, ArrowUp: -1 }) }[event.key];
  if (by) move(by);
  else if (event.key === "Enter" && links().includes(document.activeElement)) choose(document.activeElement, true);
  else if (event.key === "w" && open) focusWhy();
  else return false;
  return true;
}
