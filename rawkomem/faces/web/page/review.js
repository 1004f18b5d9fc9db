// The Review view: what waits for a decision, one item at a time, and a list of everything that waits.

import { act, Failure, get, useCode } from "./api.js";
import { selection } from "./chosen.js";
import { ago, chips, decide, differing, folding, h, href, many, dangers, nothing, prose, short } from "./dom.js";
import { discard, fieldsOf, isUnsaved } from "./form.js";
import { did } from "./undo.js";

const KINDS = { draft: "draft", proposal: "proposed change", conflict: "contradiction", quarantined: "held back" };
const SPEAKERS = { agent: "Agent", person: "Person", evidence: "Evidence" };
const FIELDS = { body: "Text", when: "When to use", title: "Title", tags: "Tags", importance: "Importance" };
const WORDS = { keep: "Keep", ask: "Keep and ask", both: "Keep both", join: "Join", drop: "Drop" };
const DONE = { keep: "Kept", ask: "Kept with a guard that asks", both: "Kept both", join: "Joined", drop: "Dropped" };
const KEYS = { k: "keep", a: "ask", b: "both", j: "join", e: "edit", d: "drop", l: "later", m: "more" };

let walk = null; // the items, the shown one, and the elements of this view while it is shown
let asked = 0; // number of the last request
let withMore = false; // whether the person wants to see the drafts that are less sure

export async function show(view, { id, changed, overview }) {
  const mine = ++asked;
  const { items, item, more } = await get("waiting", { key: id, ...(withMore && { more: "1" }) });
  if (mine !== asked || !view.isConnected) return;
  const again = (key = "", now = overview) => show(view, { id: key, changed, overview: now });
  const decided = async (key = "") => {
    history.replaceState(null, "", key ? address(key) : "#/review");
    await again(key, await changed());
    (view.querySelector(".card h2") ?? view.querySelector("h1"))?.focus();
  };
  const named = (key) => { const { id, shown } = items.find((one) => one.id === key); return { id, shown }; };
  const several = selection({ actions: [["keep", "Keep", "kept"], ["drop", "Drop", "dropped"]], one: "item", more: "items", itemOf: named, done: decided });
  const place = items.findIndex((one) => one.id === item?.id);
  const next = items[place + 1]?.id ?? "";
  walk = { item, several, again: () => again(item?.id) };
  view.replaceChildren(h("div", { class: "waiting" },
    h("h1", { tabindex: "-1" }, "Review"),
    item && h("p", { class: "lead" }, `${place + 1} of ${many(items.length, "decision")}`),
    overview.writes_as !== "person" && askForCode(decided),
    item ? waitingCard(item, { decided: () => decided(next), later: items.length > 1 && (() => { location.hash = address(next || items[0].id); }) })
      : nothing("Nothing to review", "Drafts from your sessions, changes that agents propose, contradictions and imported memories appear here."),
    more > 0 && !withMore && h("p", { class: "more" }, h("button", { type: "button", class: "quiet", "data-review": "more", onclick: () => { withMore = true; again(item?.id); } },
      `Show ${many(more, "draft")} less sure`, h("kbd", { "aria-hidden": "true" }, "m"))),
    items.length > 1 && h("section", { class: "queue", "aria-label": "Everything that waits" },
      h("h2", {}, "Everything that waits", h("button", { type: "button", class: "quiet", "data-bulk": "all", onclick: () => several.all(items) }, "Select all")),
      several.bar,
      h("ul", {}, items.map((one) => h("li", {}, several.box(one),
        h("a", { href: address(one.id), "aria-current": one.id === item.id ? "true" : null }, one.title), h("small", {}, [KINDS[one.waits], ...new Set(one.risks.map(({ why }) => `!! ${why}`))].join(" · "))))))));
}

/** Return a notice that asks for the code of the terminal; `then` draws the view again. */
export function askForCode(then) {
  const code = h("input", { type: "text", inputmode: "numeric", autocomplete: "off", maxlength: "6", "aria-label": "Code" });
  const use = h("button", { type: "button", "data-use": "code", onclick: (event) => decide(event.currentTarget, async () => {
    useCode(code.value.trim());
    if ((await get("overview")).writes_as !== "person") {
      useCode("");
      throw new Failure(403, "This is not the code that the terminal shows.", "After five wrong codes, start 'rawkomem browse' again.");
    }
    await then();
  }) }, "Use");
  return h("div", { class: "notice", role: "group", "aria-label": "Decide as a person" }, "Your decisions count as an agent's. To decide as a person, type the code that 'rawkomem browse' prints in your terminal. ", code, " ", use);
}

const address = (key) => `#/review/${encodeURIComponent(key)}`;

export function leave() {
  asked++;
  walk = null;
}

export const reload = () => walk?.again();

/** Reload when the person comes back to the tab, unless items are selected or a form is in use. */
export function revisit() {
  const busy = !walk || !walk.several.isEmpty() || document.querySelector(".waiting .edit") || document.activeElement?.closest(".review");
  if (!busy) walk.again().catch(() => {});
}

/** Return one item that waits, with the buttons that decide on it. `isAbove`: the page shows its memory around the card. */
export function waitingCard(item, { decided, later = null, isAbove = false }) {
  const place = h("article", { class: "card", "data-waits": item.waits, tabindex: "-1" });
  const shown = isAbove ? { ...item, html: "", when: [] } : item;
  const top = () => (isAbove ? [h("h2", {}, `Waits for your decision: ${KINDS[item.waits]}`)] : head(item));
  const read = () => place.replaceChildren(...top(), ...reading(shown), verdicts(item, { decided, later, edit, isAbove }));
  const edit = () => {
    place.replaceChildren(...top(), ...[exchange(item)].filter(Boolean), editing(item, decided, () => { read(); place.focus(); }));
    place.querySelector("input").focus();
  };
  read();
  return place;
}

function head(item) {
  const about = [...item.facts, item.at && ago(item.at)].filter(Boolean).join(" · ");
  return [
    h("div", { class: "chips" }, h("span", { class: "chip waits" }, KINDS[item.waits]), item.memory ? chips({ ...item, status: "active" }) : h("span", { class: "chip" }, item.kind)),
    h("h2", { tabindex: "-1" }, item.memory ? h("a", { href: href(item.memory) }, item.title) : item.title),
    h("p", { class: "facts" }, about),
  ];
}

function reading(item) {
  return [
    standing(item) && h("p", { class: "standing" }, standing(item)),
    exchange(item),
    item.html && folding(prose(item.html)),
    !item.proposal && dangers(item.risks),
    item.proposal && proposal(item.proposal),
    item.when.length > 0 && h("p", { class: "facts" }, `Used when: ${item.when.join("; ")}`),
    item.rivals.length > 0 && h("div", { class: "rivals" }, h("h3", {}, item.agrees ? "It says the same as" : item.waits === "draft" ? "It replaces" : "It contradicts"), item.rivals.map(rival)),
  ].filter(Boolean);
}

function standing(item) {
  if (item.proposal) return "Agents get the memory without this change until you decide.";
  if (item.status === "quarantined") return `Held back${item.reason && !item.rivals.length ? ` (${item.reason})` : ""}: no agent gets it until you decide.`;
  return item.rivals.length && item.memory ? "In use, but it contradicts another memory in use." : "";
}

function exchange(item) {
  return item.exchange?.length > 0 && h("dl", { class: "exchange" }, item.exchange.map(({ who, words }) =>
    h("div", { class: who }, h("dt", {}, SPEAKERS[who] ?? who), h("dd", {}, folding(h("div", { class: "words" }, words))))));
}

/** Return the authors and reasons of proposed changes and, for each field, the removed and added parts. */
function proposal({ changes, fields }) {
  return h("div", { class: "proposal" }, h("h3", {}, "Proposed"),
    changes.map((change) => h("p", { class: "facts" }, [change.kind, change.by && `by ${change.by}`, change.reason].filter(Boolean).join(" · "))),
    fields.map(({ field, parts, risks }) => h("div", { class: "change" }, h("strong", {}, FIELDS[field] ?? field.replaceAll("_", " ")), folding(differing(parts)), dangers(risks))));
}

function rival(other) {
  return h("div", { class: "rival" }, h("a", { href: href(other.id) }, other.title), h("small", {}, `trust ${other.trust.toFixed(2)}`), folding(differing(other.parts)));
}

/** Return the buttons of an item. A decision names the words that are shown, so that it applies to nothing else. */
function verdicts(item, { decided, later, edit, isAbove }) {
  const reason = item.memory && h("input", { type: "text", placeholder: "Reason (stored in the history)", "aria-label": "Reason", maxlength: "500" });
  const settle = (decision) => async () => {
    const answer = await act(decision, [{ id: item.id, shown: item.shown }], reason ? reason.value : "");
    await decided();
    did(`${DONE[decision]}: ${short(item.title, 60)}`, answer);
  };
  const key = (name) => !isAbove && h("kbd", { "aria-hidden": "true" }, Object.keys(KEYS).find((one) => KEYS[one] === name));
  const button = (decision) => h("button", { type: "button", class: decision === "keep" ? "primary" : null, "data-review": decision,
    onclick: (event) => decide(event.currentTarget, settle(decision)) }, WORDS[decision], key(decision));
  const plain = (name, words, onclick) => h("button", { type: "button", "data-review": name, onclick }, words, key(name));
  const does = Object.entries(item.decisions).map(([decision, what]) => `${WORDS[decision]}: ${what}`).join(" · ");
  return h("div", { class: "review", role: "group", "aria-label": "Your decision" }, reason,
    h("div", { class: "verdicts" }, button("keep"), ...["ask", "join", "both"].map((one) => one in item.decisions && button(one)),
      plain("edit", isUnsaved(item.id) ? "Edit (not saved)" : "Edit", edit), button("drop"), later && plain("later", "Later", later)),
    h("p", { class: "facts" }, does));
}

/** Return the form that changes title, text and conditions of an item and keeps it. */
function editing(item, decided, back) {
  const { labels, mark, changed } = fieldsOf(item.id, item.form);
  const keep = async () => {
    const answer = await act("keep", [{ id: item.id, shown: item.shown, ...changed() }]);
    discard(item.id);
    await decided();
    did(`Kept with your words: ${short(item.title, 60)}`, answer);
  };
  const button = h("button", { type: "button", class: "primary", "data-review": "save", onclick: (event) => decide(event.currentTarget, keep) }, "Keep");
  return h("div", { class: "edit", role: "group", "aria-label": "Edit and keep",
    onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) decide(button, keep); } },
    labels, mark, h("div", { class: "verdicts" }, button, h("button", { type: "button", "data-review": "back", onclick: back }, "Back"),
      h("span", { class: "hint" }, h("kbd", {}, "Ctrl"), " ", h("kbd", {}, "Enter"), " keeps it")));
}

export function key(event) {
  if (event.key === "Escape") {
    const back = document.querySelector("[data-review=back]");
    if (back) back.click();
    else if (document.activeElement?.closest(".review")?.querySelector("input") === document.activeElement) document.querySelector(".card h2")?.focus();
    else location.hash = "#/";
    return true;
  }
  if (event.key === "x" && walk?.item) {
    walk.several.toggle(document.activeElement?.dataset.choose ?? walk.item.id);
    return true;
  }
  const button = KEYS[event.key] && document.querySelector(`.waiting > :is(.card, .more) [data-review=${KEYS[event.key]}]`);
  button?.click();
  return Boolean(button);
}
