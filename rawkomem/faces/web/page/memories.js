// The Memories view: filters, a list that follows the search field, and the open memory next to it.

import { get } from "./api.js";
import { ago, decide, dot, failed, h, href, isTyping, later, many, nothing } from "./dom.js";
import { selection } from "./chosen.js";
import { memoryForm } from "./form.js";
import { act, focusWhy, memoryView } from "./memory.js";

const PAGE = 200; // memories that the list grows by
const state = { q: "", kind: "", type: "", importance: "", status: "", tag: "" };
let parts = null; // elements of this view while it is shown
let page = null;
let open = "";
let form = ""; // "new" or "edit" while a form is shown
let asked = 0; // number of the last request for a list
let opened = 0; // number of the last request for a memory
let answered = 0; // number of the last request that was answered
let most = 0; // memories to list; 0: as many as the server lists at first
let then = ""; // what to do with the first memory of the next list: "open" or "focus"

export async function show(view, given) {
  page = given;
  if (given.fresh) build(view, given.overview);
  const again = given.form !== form;
  form = given.form;
  await Promise.all([given.fresh && fill(), openMemory(given.id, again)]);
}

/** Show a new overview. Parts of the view that have the focus are not redrawn. */
export function refreshed(overview) {
  if (!parts) return;
  page.overview = overview;
  if (!parts.filters.contains(document.activeElement)) {
    const redrawn = filters(overview);
    parts.filters.replaceWith(redrawn);
    parts.filters = redrawn;
  }
  if (!open && !form && !parts.pane.contains(document.activeElement)) parts.pane.replaceChildren(home(overview));
}

export const revisit = () => fill();

export function leave() {
  chooseSoon.cancel(); // a pending choice would switch back to this view
  parts = null;
  open = form = "";
  opened++;
  then = "";
}

function build(view, overview) {
  const list = h("ul", { class: "list", "aria-label": "Memories" }, h("li", { class: "state loading", role: "status" }, "Loading…"));
  const count = h("p", { class: "count", role: "status" });
  const chosen = filters(overview);
  const several = selection({ actions: [["archive", "Archive", "archived"], ["restore", "Restore", "restored"], ["delete", "Delete", "deleted"]],
    one: "memory", more: "memories", itemOf: (id) => ({ id }), done: reload });
  const side = h("section", { class: "side", "aria-label": "Find a memory" },
    h("div", {}, h("p", { class: "unseen", role: "heading", "aria-level": "1" }, "Memories"), chosen), several.bar, count, list);
  const pane = h("section", { class: "pane", "aria-label": "Memory" });
  most = 0;
  parts = { list, count, side, pane, filters: chosen, several };
  view.replaceChildren(side, pane);
}

const FIELDS = { kind: "Kind", type: "Type", importance: "Importance", status: "In use", tag: "Tag" };

function filters(overview) {
  const options = { ...overview.filters, status: [...overview.filters.status, "everything"] };
  for (const [name, chosen] of Object.entries(state)) {
    if (chosen && options[name] && !options[name].includes(chosen)) options[name] = [...options[name], chosen]; // no memory has this value any more, but the filter is set
  }
  const selects = Object.entries(FIELDS).filter(([name]) => options[name].length).map(([name, any]) => select(name, any, options[name]));
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
    most = 0;
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

/** List the results of a search, then open or focus the first if `act` says so. */
export function search(text, act = "") {
  state.q = text.trim();
  then = act;
  most = 0;
  if (parts) fill();
}

/** Tell whether the list shows the results of a search. */
export const lists = (text) => Boolean(parts) && state.q === text.trim() && asked === answered;

async function fill() {
  const mine = ++asked;
  try {
    const { total, items } = await get("memories", { ...state, most });
    if (mine !== asked || !parts) return;
    answered = mine;
    const held = parts.list.contains(document.activeElement) && document.activeElement.dataset.id;
    parts.several.keep(items);
    parts.list.replaceChildren(...items.map(row));
    parts.count.textContent = told(total);
    if (items.length < total && !state.q) parts.list.append(h("li", {}, moreButton(items.length, total)));
    if (!items.length) parts.list.append(h("li", {}, nobody()));
    mark();
    if (held) (links().find((link) => link.dataset.id === held) ?? links()[0])?.focus({ preventScroll: true });
    if (then) actOnFirst();
  } catch (failure) {
    if (mine !== asked) return;
    then = "";
    if (parts) parts.list.replaceChildren(h("li", {}, failed(failure)));
  }
}

function told(total) {
  return total ? many(total, "memory", "memories") + (state.q ? ", the best first" : ", last changed first") : "";
}

/** Return the button at the end of the list. The focus then goes to the first new memory. */
function moreButton(listed, total) {
  const more = async () => {
    most = listed + PAGE;
    await fill();
    links()[listed]?.focus();
  };
  return h("div", { role: "group" }, h("button", { type: "button", class: "quiet more", onclick: (event) => decide(event.currentTarget, more) },
    `Show ${Math.min(PAGE, total - listed)} more of ${total.toLocaleString("en")}`));
}

function nobody() {
  const { memories, others } = page.overview;
  if (!memories && !Object.keys(others).length) return nothing("No memories yet", "Press n to write the first one.", h("a", { class: "button", href: "#/new" }, "New memory"));
  return nothing("Nothing found", state.q ? "Try other words. Search also finds memories with a similar meaning." : "No memory passes these filters.");
}

function row(item) {
  const link = h("a", { href: href(item.id), tabindex: "-1", "data-id": item.id },
    h("span", { class: "row-title" }, marked(item.title)),
    item.excerpt && h("span", { class: "row-text" }, marked(item.excerpt)),
    h("span", { class: "row-facts" }, dot(item), item.kind, h("span", {}, ago(item.updated)),
      ["high", "critical"].includes(item.importance) && h("span", { class: `importance-${item.importance}` }, item.importance),
      item.status !== "active" && h("span", { class: `status-${item.status}` }, item.status)));
  return h("li", {}, parts.several.box(item), link);
}

/** Return the text with the words of the question marked. */
function marked(text) {
  const words = state.q.match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  if (!words.length) return [text];
  const parts = text.split(new RegExp(`(${words.slice(0, 12).join("|")})`, "iu"));
  return parts.map((part, place) => (place % 2 ? h("mark", {}, part) : part));
}

const links = () => [...(parts?.list.querySelectorAll("a") ?? [])];

/** Mark the open memory in the list. Only one link is reachable with Tab; the arrow keys move from there. */
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

function actOnFirst() {
  if (then === "focus") focusList();
  else if (links().length) choose(links()[0], true);
  then = "";
}

let intoPane = false;

function choose(link, enter) {
  intoPane = enter;
  if (location.hash === link.getAttribute("href")) openMemory(open, true, true);
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

/** Show a memory next to the list; with `again`, reload it even if it is shown. */
async function openMemory(id, again = false, enters = intoPane) {
  intoPane = false;
  const { pane } = parts;
  if (id === open && !again && pane.childElementCount) return;
  const mine = ++opened;
  open = id;
  pane.parentElement.classList.toggle("opened", Boolean(id || form));
  mark();
  if (form === "new") {
    fillIn(null);
    return;
  }
  if (!id) {
    pane.replaceChildren(home(page.overview));
    links().find((link) => link.dataset.id === returning)?.focus();
    returning = "";
    return;
  }
  try {
    const answer = await get("memory", { id });
    if (mine !== opened) return;
    if (form === "edit") {
      fillIn(answer);
      return;
    }
    const top = again ? pane.scrollTop : 0;
    pane.replaceChildren(memoryView(answer, { back, reload, overview: page.overview }));
    pane.scrollTop = top;
    if (answer.id !== id) history.replaceState(null, "", href((open = answer.id)));
    mark();
    if (enters) pane.querySelector("h1").focus({ preventScroll: true });
  } catch (failure) {
    if (mine === opened) pane.replaceChildren(failed(failure));
  }
}

function fillIn(memory) {
  const leave = (id) => { location.hash = id ? href(id) : "#/"; };
  const saved = async (id) => {
    leave(id);
    form = "";
    await reload(id);
  };
  parts.pane.replaceChildren(h("div", { class: "memory" },
    memoryForm(memory, { forms: page.overview.forms, saved, cancel: () => leave(memory?.id ?? ""), again: () => openMemory(open, true) })));
  parts.pane.querySelector("input").focus();
}

export async function reload(id = open) {
  await page.changed();
  if (parts) await Promise.all([fill(), openMemory(id, true)]);
}

let returning = ""; // the memory that was open before the person went back to the list

function back() {
  returning = open;
  location.hash = "#/";
}

function home(overview) {
  const { memories, others, waiting } = overview;
  const kinds = Object.entries(overview.kinds);
  const rest = Object.entries(others).map(([status, count]) => `${count.toLocaleString("en")} ${status}`);
  return h("div", { class: "home" },
    h("h1", { tabindex: "-1" }, `${many(memories, "memory", "memories")} of ${overview.project} in use`),
    kinds.length > 1 && h("ul", { class: "legend" }, kinds.map(([kind, count]) => h("li", {}, dot({ kind }), kind, h("b", {}, count)))),
    rest.length > 0 && h("p", { class: "rest" }, `Not in use: ${rest.join(", ")}.`),
    waiting > 0 && h("p", {}, h("a", { href: "#/review", class: "button" }, `${waiting} ${waiting === 1 ? "waits" : "wait"} for your decision`)),
    memories > 0 && week(overview.week, memories),
    h("p", { class: "hint" }, h("kbd", {}, "/"), " search   ", h("kbd", {}, "j"), " ", h("kbd", {}, "k"), " move   ",
      h("kbd", {}, "Enter"), " open   ", h("kbd", {}, "n"), " new   ", h("kbd", {}, "?"), " all keys"));
}

const HELD = { denied: "refused", asked: "asked you", reminded: "reminded the agent" };

/** Return what the memories did on this machine in the last seven days. */
function week({ prompts, tokens, most, effects, never }, memories) {
  const held = Object.entries(HELD).filter(([what]) => effects[what]).map(([what, words]) => `${words} ${many(effects[what], "time")}`);
  return h("section", { class: "week" }, h("h2", {}, "The last seven days on this machine"),
    h("p", {}, prompts ? `${many(prompts, "prompt")} got memories: ${many(tokens, "token")}.` : "No prompt got a memory. 'rawkomem doctor' shows whether an agent is connected."),
    most.length > 0 && h("ol", {}, most.map(({ id, title, count }) => h("li", {}, h("a", { href: href(id) }, title), h("b", {}, `${count}×`)))),
    held.length > 0 && h("p", {}, `Guards ${held.join(", ")}.`),
    never > 0 && h("p", {}, h("a", { href: "#/health" }, `${never.toLocaleString("en")} of ${memories.toLocaleString("en")}`), " were never used here."));
}

/** Select or deselect the memory that has the focus, or the open memory. */
function chooseFocused() {
  const id = document.activeElement?.dataset.id ?? document.activeElement?.dataset.choose ?? open;
  if (id && links().some((link) => link.dataset.id === id)) parts.several.toggle(id);
}

export function key(event) {
  const inPane = parts?.pane.contains(document.activeElement);
  if (event.key === "Escape") {
    if (isTyping()) document.activeElement.blur();
    else if (form) location.hash = open ? href(open) : "#/";
    else if (open) back();
    return true;
  }
  const by = { j: 1, k: -1, ...(inPane ? {} : { ArrowDown: 1, ArrowUp: -1 }) }[event.key];
  if (by) move(by);
  else if (event.key === "Enter" && links().includes(document.activeElement)) choose(document.activeElement, true);
  else if (event.key === "x") chooseFocused();
  else if (form || !open) return false;
  else if (event.key === "e") location.hash = `${href(open)}/edit`;
  else if (event.key === "w") focusWhy();
  else if (event.key === "a") act("archive", "restore");
  else if (event.key === "l") act("link");
  else return false;
  return true;
}
