// The frame of the page: it switches views, and handles the search field and the keys that work in every view.

import { get, takeToken } from "./api.js";
import { failed, h, isTyping, later } from "./dom.js";
import * as graph from "./graph.js";
import * as health from "./health.js";
import * as memories from "./memories.js";
import * as review from "./review.js";
import { undoLast } from "./undo.js";

const VIEWS = { memories, graph, review, health };
const view = document.getElementById("view");
const search = document.getElementById("search");
const keys = document.getElementById("keys");
const started = new WeakSet(); // elements that a view has begun to fill
let shown = "";
let place = null; // the element of the view; new at each change of view, so that late answers for an old view are not seen
let latest = 0;

function route() {
  const [, name = "", id = "", act = ""] = location.hash.split("/");
  if (name === "new") return { name: "memories", id: "", form: "new" };
  if (name === "memory") return { name: "memories", id: decoded(id), form: act === "edit" ? act : "" };
  return Object.hasOwn(VIEWS, name) ? { name, id: decoded(id), form: "" } : { name: "memories", id: "", form: "" };
}

function decoded(id) {
  try {
    return decodeURIComponent(id);
  } catch {
    return id; // an invalid % sequence in a typed address
  }
}

async function show() {
  const mine = ++latest;
  const { name, id, form } = route();
  if (shown !== name) enter(name);
  const here = place;
  try {
    const first = !known;
    if (first) await refresh();
    if (mine !== latest) return;
    const fresh = !started.has(here);
    started.add(here);
    await VIEWS[name].show(here, { id, form, fresh, overview: known, changed: refresh });
    if (fresh && !first) refreshQuietly();
  } catch (failure) {
    if (here !== place) return;
    leave();
    here.replaceChildren(failed(failure));
  }
}

function enter(name) {
  leave();
  shown = name;
  for (const link of document.querySelectorAll("nav [data-view]")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  place = h("div", { class: `place ${name}` }, h("p", { class: "state loading", role: "status" }, "Loading…"));
  view.replaceChildren(place);
  view.scrollTop = 0;
}

function leave() {
  VIEWS[shown]?.leave?.();
  shown = "";
}

let known = null;
let asked = 0;

/** Load the overview again and update the frame: commands and agents may write while the page is open. */
async function refresh() {
  const mine = ++asked;
  const found = await get("overview");
  if (mine === asked) {
    known = found;
    frame(found);
    VIEWS[shown]?.refreshed?.(found);
  }
  return known ?? found;
}

/** Refresh in the background; a failure is ignored, and the old values stay. */
function refreshQuietly() {
  refresh().catch(() => {});
}

function frame({ project, waiting }) {
  document.getElementById("project").textContent = project;
  document.title = `${project} · rawkomem`;
  const badge = document.getElementById("waiting");
  badge.hidden = waiting === 0;
  badge.textContent = waiting;
  badge.setAttribute("aria-label", `${waiting} waiting`);
}

document.addEventListener("undone", async () => {
  await refresh().catch(() => {});
  VIEWS[shown]?.reload?.();
});

document.addEventListener("visibilitychange", () => {
  if (document.visibilityState !== "visible" || !known) return;
  refreshQuietly();
  VIEWS[shown]?.revisit?.();
});

function look(then = "") {
  if (route().name !== "memories") location.hash = "#/";
  memories.search(search.value, then);
}

const lookSoon = later(130, look);
search.addEventListener("input", () => lookSoon());

search.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "Escape") {
    lookSoon.cancel();
    if (search.value) {
      search.value = "";
      memories.search("");
    } else memories.focusList();
  } else if (event.key === "ArrowDown" && memories.lists(search.value)) memories.focusList();
  else if (event.key === "ArrowDown" || event.key === "Enter") {
    lookSoon.cancel(); // the list still shows an earlier search
    look(event.key === "Enter" ? "open" : "focus");
  } else return;
  event.preventDefault();
  event.stopPropagation();
});

const EVERYWHERE = {
  "/": () => { search.focus(); search.select(); },
  "?": () => keys.showModal(),
  1: () => { location.hash = "#/"; },
  2: () => { location.hash = "#/graph"; },
  3: () => { location.hash = "#/review"; },
  4: () => { location.hash = "#/health"; },
  n: () => { location.hash = "#/new"; },
  u: () => undoLast(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  if (isTyping() && event.key !== "Escape") return;
  const act = EVERYWHERE[event.key];
  if (act) act();
  else if (!VIEWS[shown]?.key?.(event)) return;
  event.preventDefault();
});

document.getElementById("help").addEventListener("click", () => keys.showModal());
document.getElementById("keys-close").addEventListener("click", () => keys.close());
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  view.focus();
});
addEventListener("hashchange", async () => {
  await takeToken();
  if (route().name !== "memories") lookSoon.cancel(); // a pending search would switch back to the list
  show();
});
await takeToken();
show();
