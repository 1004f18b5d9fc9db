// The frame: which view is shown, the search field, and keys that work everywhere.

import { get, takeToken } from "./api.js";
import { failed, isTyping, later } from "./dom.js";
import * as graph from "./graph.js";
import * as memories from "./memories.js";
import * as review from "./review.js";
import * as timeline from "./timeline.js";

const VIEWS = { memories, graph, timeline, review };
const view = document.getElementById("view");
const search = document.getElementById("search");
const keys = document.getElementById("keys");
let shown = "";

function route() {
  const [, name = "", id = ""] = location.hash.split("/");
  return name in VIEWS ? { name } : { name: "memories", id: decodeURIComponent(name === "memory" ? id : "") };
}

async function show() {
  const { name, id } = route();
  for (const link of document.querySelectorAll("nav [data-view]")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const fresh = shown !== name;
  if (fresh) {
    VIEWS[shown]?.leave?.();
    shown = name;
    view.replaceChildren();
    view.className = name;
  }
  try {
    await VIEWS[name].show(view, { id, fresh, overview: await overview(), changed });
  } catch (failure) {
    view.replaceChildren(failed(failure));
    shown = "";
  }
}

let known = null;

async function overview() {
  known ??= await get("overview");
  document.getElementById("project").textContent = known.project;
  document.title = `${known.project} · rawkomem`;
  const { waiting } = known;
  const badge = document.getElementById("waiting");
  badge.hidden = waiting === 0;
  badge.textContent = waiting;
  badge.setAttribute("aria-label", `${waiting} waiting`);
  return known;
}

/** Something was written: counts may differ. */
async function changed() {
  known = null;
  return overview();
}

search.addEventListener("input", later(130, () => {
  if (route().name !== "memories") location.hash = "#/";
  memories.search(search.value);
}));

search.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    if (search.value) {
      search.value = "";
      memories.search("");
    } else memories.focusList();
  } else if (event.key === "ArrowDown") memories.focusList();
  else if (event.key === "Enter") memories.openFirst();
  else return;
  event.preventDefault();
  event.stopPropagation();
});

const EVERYWHERE = {
  "/": () => { search.focus(); search.select(); },
  "?": () => keys.showModal(),
  1: () => { location.hash = "#/"; },
  2: () => { location.hash = "#/graph"; },
  3: () => { location.hash = "#/timeline"; },
  4: () => { location.hash = "#/review"; },
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
addEventListener("hashchange", () => { takeToken(); show(); });
takeToken();
show();
