// The Drafts view: statements found in sessions that are not stored yet, each with its exchange.

import { get, post } from "./api.js";
import { selection } from "./chosen.js";
import { ago, decide, differing, folding, h, href, many, nothing, prose, short } from "./dom.js";
import { did } from "./undo.js";

const SPEAKERS = { agent: "Agent", person: "Person", evidence: "Evidence" };
let cards = [];
let again = null; // reloads the view; null if it is not shown
let several = null; // the selection

export async function show(view, { changed, overview }) {
  const { items, total } = await get("drafts");
  if (!view.isConnected) return;
  again = () => show(view, { changed, overview });
  const redraw = again;
  const decided = async () => {
    await changed();
    await redraw();
    (cards[0]?.querySelector("h2") ?? view.closest("main"))?.focus();
  };
  several = selection({ actions: [["keep", "Keep", "kept"], ["drop", "Drop", "dropped"]], one: "draft", more: "drafts",
    itemOf: (id) => { const { title, text, when } = items.find((item) => item.id === id); return { id, title, text, when }; }, done: decided });
  cards = items.map((item) => card(item, items, decided));
  view.replaceChildren(h("div", { class: "waiting" },
    h("h1", {}, "Drafts"),
    h("p", { class: "lead" }, "Statements found in your sessions with agents. Drafts stay on this machine and expire after 30 days. A draft that you keep becomes a memory.",
      total > items.length && ` These are the latest ${items.length} of ${many(total, "draft")}; the others follow as you decide.`),
    overview.writes_as !== "person" && h("p", { class: "notice" }, "A program started this page, so drafts that you keep count as an agent's word. Run 'rawkomem browse' in a terminal to decide as a person."),
    items.length > 1 && h("p", {}, h("button", { type: "button", class: "quiet", "data-bulk": "all", onclick: () => several.all(items) }, "Select all")),
    several.bar,
    items.length ? cards : nothing("No drafts are waiting", "When you correct an agent or agree with it, your statement appears here. 'rawkomem learn FILE' finds drafts in a past session.")));
}

export function leave() {
  cards = [];
  again = several = null;
}

export const reload = () => again?.();

/** Reload when the person comes back to the tab, unless drafts are selected or a form is in use. */
export function revisit() {
  const busy = !several?.isEmpty() || cards.some((card) => card.querySelector(".edit") || card.querySelector(".review")?.contains(document.activeElement));
  if (again && !busy) again().catch(() => {});
}

function card(item, items, decided) {
  const place = h("article", { class: "card" });
  const look = () => place.replaceChildren(...reading(item, items, decided, () => {
    place.replaceChildren(...editing(item, decided, () => {
      look();
      place.querySelector("h2").focus();
    }));
    place.querySelector("input").focus();
  }));
  look();
  return place;
}

function head(item) {
  return [
    h("div", { class: "chips" }, several.box(item), h("span", { class: "chip" }, item.kind), item.model && h("span", { class: "chip" }, `found by ${item.model}`)),
    h("h2", { tabindex: "-1" }, item.title),
  ];
}

function exchange(item) {
  return item.exchange.length > 0 && h("dl", { class: "exchange" }, item.exchange.map(({ who, words }) =>
    h("div", { class: who }, h("dt", {}, SPEAKERS[who] ?? who), h("dd", {}, folding(h("div", { class: "words" }, words))))));
}

function reading(item, items, decided, edit) {
  const facts = [`score ${item.score.toFixed(1)}`, item.why, item.host, item.at && ago(item.at)].filter(Boolean).join(" · ");
  const isSaid = item.exchange.some(({ words }) => words.trim() === item.text.trim());
  return [
    ...head(item),
    exchange(item),
    !isSaid && folding(prose(item.html)),
    item.when.length > 0 && h("p", { class: "facts" }, `Used when: ${item.when.join("; ")}`),
    item.corrects.length > 0 && h("div", { class: "rivals" }, h("h3", {}, "It replaces"),
      item.corrects.map(({ id, title, parts }) => h("div", { class: "rival" }, h("a", { href: href(id) }, title),
        folding(differing(parts))))),
    h("p", { class: "facts" }, facts),
    verdicts(item, items, decided, edit),
  ].filter(Boolean);
}

/** Return the buttons of a draft. Keep sends the text that is shown, so that exactly this text is stored. */
function verdicts(item, items, decided, edit) {
  const { id, title, text, when } = item;
  const button = (name, words, act, kind) => h("button", { type: "button", class: kind, "data-draft": name,
    onclick: (event) => decide(event.currentTarget, act) }, words);
  const settle = (action, said, told) => async () => {
    const answer = await post(`drafts/${action}`, { id, ...said() });
    await decided();
    did(told, answer);
  };
  const others = items.filter((other) => other.id !== id);
  const other = h("select", { "aria-label": "Another draft" },
    h("option", { value: "" }, "Another draft…"), others.map((one) => h("option", { value: one.id }, short(one.title, 48))));
  const chosen = () => {
    if (!other.value) throw new Error("Choose the draft to merge with.");
    return { other: other.value };
  };
  return h("div", { class: "review", role: "group", "aria-label": "Your verdict" },
    h("div", { class: "verdicts" },
      button("keep", "Keep", settle("keep", () => ({ title, text, when }), "Kept: it is a memory now."), "primary"),
      h("button", { type: "button", "data-draft": "edit", onclick: edit }, "Edit"),
      button("drop", "Drop", settle("drop", () => ({}), "Dropped."))),
    others.length > 0 && [other, button("merge", "Merge", settle("merge", chosen, "Merged into one draft."))]);
}

function editing(item, decided, cancel) {
  const title = h("input", { type: "text", maxlength: "300" });
  const text = h("textarea", { rows: "5", maxlength: "12000" });
  const when = h("textarea", { rows: "2" });
  [title.value, text.value, when.value] = [item.title, item.text, item.when.join("\n")];
  const save = async () => {
    await post("drafts/edit", { id: item.id, title: title.value, text: text.value, when: when.value.split("\n") });
    await decided();
    did("Saved: the draft still waits for your decision.");
  };
  return [
    ...head(item),
    exchange(item),
    h("div", { class: "edit", role: "group", "aria-label": "Edit the draft" },
      h("label", {}, "Title", title), h("label", {}, "Text", text), h("label", {}, "When to use it, one condition on each line", when),
      h("div", { class: "verdicts" },
        h("button", { type: "button", class: "primary", "data-draft": "save", onclick: (event) => decide(event.currentTarget, save) }, "Save"),
        h("button", { type: "button", "data-draft": "cancel", onclick: cancel }, "Cancel"))),
  ].filter(Boolean);
}

export function key(event) {
  const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (event.key === "x") {
    const box = cards.find((card) => card.contains(document.activeElement))?.querySelector(".choose");
    if (box) several.toggle(box.dataset.choose);
    return Boolean(box);
  }
  if (event.key === "Escape") {
    const place = cards.find((card) => card.contains(document.activeElement));
    const cancel = place?.querySelector("[data-draft=cancel]");
    if (cancel) cancel.click();
    else location.hash = "#/";
    return true;
  }
  if (!by || !cards.length) return false;
  const here = cards.findIndex((card) => card.contains(document.activeElement));
  const next = cards[Math.max(0, Math.min(cards.length - 1, here + by))];
  next.querySelector("h2").focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}
