// The Review view: quarantined memories, proposed changes, and claims that contradict each other.

import { get, post } from "./api.js";
import { selection } from "./chosen.js";
import { ago, chips, decide, differing, folding, h, href, many, nothing, prose } from "./dom.js";
import { did } from "./undo.js";

let cards = [];
let again = null; // reloads the view; null if it is not shown
let several = null; // the selection

export async function show(view, { changed, overview }) {
  const { items, total } = await get("waiting");
  if (!view.isConnected) return;
  again = () => show(view, { changed, overview });
  const redraw = again;
  const decided = async () => {
    await changed();
    await redraw();
    (cards[0]?.querySelector("h2 a") ?? view.closest("main"))?.focus();
  };
  several = selection({ actions: [["activate", "Activate", "activated"], ["reject", "Reject", "rejected"], ["archive", "Archive", "archived"]],
    one: "memory", more: "memories", itemOf: (id) => said(items.find((item) => item.id === id)), done: decided });
  cards = items.map((item) => card(item, decided));
  view.replaceChildren(h("div", { class: "waiting" },
    h("h1", {}, "Review"),
    total > items.length && h("p", { class: "lead" }, `The first ${items.length} of ${many(total, "memory", "memories")}; the others follow as you decide.`),
    overview.writes_as !== "person" && h("p", { class: "notice" }, "A program started this page, so your decisions count as an agent's. Run 'rawkomem browse' in a terminal to decide as a person."),
    items.length > 1 && h("p", {}, h("button", { type: "button", class: "quiet", "data-bulk": "all", onclick: () => several.all(items) }, "Select all")),
    several.bar,
    items.length ? cards : nothing("Nothing to review", "New memories that contradict others, or come from outside, appear here.")));
}

/** Return the fields of a decision about a memory: its id and, for a proposal, the changes that are shown. */
const said = ({ id, proposal }) => ({ id, ...(proposal && { changes: proposal.changes.map(({ name }) => name) }) });

export function leave() {
  cards = [];
  again = several = null;
}

export const reload = () => again?.();

/** Reload when the person comes back to the tab, unless memories are selected or a form is in use. */
export function revisit() {
  const busy = !several?.isEmpty() || cards.some((card) => card.querySelector(".review").contains(document.activeElement) || card.querySelector(".review input").value);
  if (again && !busy) again().catch(() => {});
}

const isHeld = (memory) => memory.status === "quarantined";

function card(item, decided) {
  return h("article", { class: "card" },
    h("div", { class: "chips" }, several.box(item), chips(item)),
    h("h2", {}, h("a", { href: href(item.id) }, item.title)),
    h("p", { class: "facts" }, [item.by && `by ${item.by}`, ago(item.created), `trust ${item.trust.value.toFixed(2)}`].filter(Boolean).join(" · ")),
    h("p", { class: "standing" }, standing(item)),
    folding(prose(item.html)),
    item.proposal && proposal(item.proposal),
    item.conflicts.length > 0 && h("div", { class: "rivals" }, h("h3", {}, "It contradicts"), item.conflicts.map(rival)),
    item.proposal ? proposalForm(item, decided) : reviewForm(item, decided));
}

/** Return the authors and reasons of proposed changes and, for each field, the removed and added parts. */
function proposal({ changes, fields }) {
  return h("div", { class: "proposal" }, h("h3", {}, "Proposed"),
    changes.map((change) => h("p", { class: "facts" }, [change.kind, change.by && `by ${change.by}`, change.reason].filter(Boolean).join(" · "))),
    fields.map(({ field, parts }) => h("div", { class: "change" }, h("strong", {}, FIELDS[field] ?? field),
      folding(differing(parts)))));
}

const FIELDS = { body: "Text", when: "When to use", title: "Title", tags: "Tags", importance: "Importance" };

/** Return the form that accepts or declines the shown changes. It does not decide changes that arrive later. */
function proposalForm(memory, decided) {
  const reason = h("input", { type: "text", placeholder: "Reason (stored in the history)", "aria-label": "Reason", maxlength: "500" });
  const settle = async (action) => {
    const answer = await post("decide", { ...said(memory), action, reason: reason.value });
    await decided();
    did(action === "accept" ? "Accepted: the memory changed." : "Declined: the memory stays as it is.", answer);
  };
  const button = (action, words, kind) => h("button", { type: "button", class: kind, "data-review": action,
    onclick: (event) => decide(event.currentTarget, () => settle(action)) }, words);
  return h("div", { class: "review", role: "group", "aria-label": "Your verdict" }, reason,
    h("div", { class: "verdicts" }, button("accept", "Accept", "primary"), button("decline", "Decline")));
}

function standing(item) {
  if (item.proposal) return "In use without this change: its author does not vouch for the memory.";
  if (!isHeld(item)) return "In use, but contradicted: agents may get both memories until you decide.";
  return `Held back${item.reason ? ` (${item.reason})` : ""}: no agent gets it until you activate it.`;
}

function rival(other) {
  return h("div", { class: "rival" }, h("a", { href: href(other.id) }, other.title), h("small", {}, `trust ${other.trust.value.toFixed(2)}`),
    folding(differing(other.parts)));
}

const SETTLEMENTS = [["supersede", "It replaces the other"], ["keep_both", "Keep both"]];

/** Return the form that activates or rejects a memory, with a reason; for a contradiction, also how to settle it. */
export function reviewForm(memory, decided) {
  const held = isHeld(memory);
  const reason = h("input", { type: "text", placeholder: "Reason (stored in the history)", "aria-label": "Reason", maxlength: "500" });
  const endings = held ? [["", "It replaces the other if it is more trusted"], ...SETTLEMENTS] : SETTLEMENTS;
  const settle = memory.conflicts.length > 0 && h("select", { "aria-label": "What happens to the other memory?" },
    endings.map(([value, words]) => h("option", { value }, words)));
  const review = async (action) => {
    const said = { id: memory.id, action, reason: reason.value, settle: (action === "activate" && settle && settle.value) || "" };
    const answer = await post("review", said);
    await decided();
    did(outcome(held, said), answer);
  };
  const button = (action, words, kind) => h("button", { type: "button", class: kind, "data-review": action,
    onclick: (event) => decide(event.currentTarget, () => review(action)) }, words);
  return h("div", { class: "review", role: "group", "aria-label": "Your verdict" }, reason, settle,
    h("div", { class: "verdicts" }, button("activate", held ? "Activate" : "Settle", "primary"), button("reject", held ? "Reject" : "Take out of use")));
}

function outcome(held, { action, settle }) {
  if (action === "reject") return held ? "Rejected: it stays in history." : "Taken out of use: it stays in history.";
  if (held) return "Activated: agents may get it now.";
  return settle === "supersede" ? "Settled: it replaced the other memory." : "Settled: both stay in use.";
}

export function key(event) {
  const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (event.key === "x") {
    const box = cards.find((card) => card.contains(document.activeElement))?.querySelector(".choose");
    if (box) several.toggle(box.dataset.choose);
    return Boolean(box);
  }
  if (event.key === "Escape") {
    const typing = document.activeElement?.closest(".review");
    if (typing) typing.closest(".card").querySelector("h2 a").focus();
    else location.hash = "#/";
    return true;
  }
  if (!by || !cards.length) return false;
  const here = cards.findIndex((card) => card.contains(document.activeElement));
  const next = cards[Math.max(0, Math.min(cards.length - 1, here + by))];
  next.querySelector("h2 a").focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}
