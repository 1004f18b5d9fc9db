// What waits for a decision: memories in quarantine, proposed changes, and claims that contradict each other.

import { get, post } from "./api.js";
import { ago, chips, decide, h, href, many, nothing, prose, toast } from "./dom.js";

let cards = [];
let again = null; // asks anew, while this view is shown

export async function show(view, { changed, overview }) {
  const { items, total } = await get("waiting");
  if (!view.isConnected) return;
  const anew = () => show(view, { changed, overview });
  again = anew;
  const decided = async () => {
    await changed();
    await anew();
    (cards[0]?.querySelector("h2 a") ?? view.closest("main"))?.focus();
  };
  cards = items.map((item) => card(item, decided));
  view.replaceChildren(h("div", { class: "waiting" },
    h("h1", {}, "Review"),
    total > items.length && h("p", { class: "lead" }, `The first ${items.length} of ${many(total, "memory", "memories")}; the others follow as you decide.`),
    overview.writes_as !== "person" && h("p", { class: "notice" }, "A program started this page: what you decide here counts as an agent's. Start 'rawkomem browse' in a terminal to decide as a person."),
    items.length ? cards : nothing("Nothing waits for you", "New memories that contradict others, or come from outside, appear here.")));
}

export function leave() {
  cards = [];
  again = null;
}

/** Others may have decided meanwhile; a form that somebody fills in stays as it is. */
export function revisit() {
  const busy = cards.some((card) => card.querySelector(".review").contains(document.activeElement) || card.querySelector("input").value);
  if (again && !busy) again().catch(() => {});
}

const isHeld = (memory) => memory.status === "quarantined";

function card(item, decided) {
  return h("article", { class: "card" },
    h("div", { class: "chips" }, chips(item)),
    h("h2", {}, h("a", { href: href(item.id) }, item.title)),
    h("p", { class: "facts" }, [item.by && `by ${item.by}`, ago(item.created), `trust ${item.trust.value.toFixed(2)}`].filter(Boolean).join(" · ")),
    h("p", { class: "standing" }, standing(item)),
    prose(item.html),
    item.proposal && proposal(item.proposal),
    item.conflicts.length > 0 && h("div", { class: "rivals" }, h("h3", {}, "It contradicts"), item.conflicts.map(rival)),
    item.proposal ? proposalForm(item, decided) : reviewForm(item, decided));
}

/** Who proposes what, and each field before and after. */
function proposal({ changes, fields }) {
  return h("div", { class: "proposal" }, h("h3", {}, "Proposed"),
    changes.map((change) => h("p", { class: "facts" }, [change.kind, change.by && `by ${change.by}`, change.reason].filter(Boolean).join(" · "))),
    fields.map(({ field, now, proposed }) => h("div", { class: "change" }, h("strong", {}, field),
      h("del", {}, now || "nothing"), h("ins", {}, proposed || "nothing"))));
}

/** Accept or decline what is shown; a change that arrives meanwhile waits for the next look. */
function proposalForm(memory, decided) {
  const reason = h("input", { type: "text", placeholder: "Reason (kept in its history)", "aria-label": "Reason", maxlength: "500" });
  const settle = async (action) => {
    await post("decide", { id: memory.id, action, reason: reason.value, changes: memory.proposal.changes.map(({ name }) => name) });
    await decided();
    toast(action === "accept" ? "Accepted: the memory changed." : "Declined: the memory stays as it is.");
  };
  const button = (action, words, kind) => h("button", { type: "button", class: kind, "data-review": action,
    onclick: (event) => decide(event.currentTarget, () => settle(action)) }, words);
  return h("div", { class: "review", role: "group", "aria-label": "Your verdict" }, reason,
    h("div", { class: "verdicts" }, button("accept", "Accept", "primary"), button("decline", "Decline")));
}

function standing(item) {
  if (item.proposal) return "In use as it is: somebody who does not vouch for it proposes a change.";
  if (!isHeld(item)) return "In use, though contradicted: agents may get both until you settle it.";
  return `Held back${item.reason ? ` (${item.reason})` : ""}: no agent gets it until you say so.`;
}

function rival(other) {
  return h("p", {}, h("a", { href: href(other.id) }, other.title), h("span", {}, other.excerpt),
    h("small", {}, `trust ${other.trust.value.toFixed(2)}`));
}

const SETTLEMENTS = [["supersede", "It takes the other's place"], ["keep_both", "Keep both"]];

/** A verdict, with a reason: on what is held back, whether it gets in; on a contradiction, also how that ends. */
export function reviewForm(memory, decided) {
  const held = isHeld(memory);
  const reason = h("input", { type: "text", placeholder: "Reason (kept in its history)", "aria-label": "Reason", maxlength: "500" });
  const endings = held ? [["", "Trust decides about the other"], ...SETTLEMENTS] : SETTLEMENTS;
  const settle = memory.conflicts.length > 0 && h("select", { "aria-label": "What becomes of the other?" },
    endings.map(([value, words]) => h("option", { value }, words)));
  const review = async (action) => {
    const said = { id: memory.id, action, reason: reason.value, settle: (action === "activate" && settle && settle.value) || "" };
    await post("review", said);
    await decided();
    toast(outcome(held, said));
  };
  const button = (action, words, kind) => h("button", { type: "button", class: kind, "data-review": action,
    onclick: (event) => decide(event.currentTarget, () => review(action)) }, words);
  return h("div", { class: "review", role: "group", "aria-label": "Your verdict" }, reason, settle,
    h("div", { class: "verdicts" }, button("activate", held ? "Activate" : "Settle", "primary"), button("reject", held ? "Reject" : "Take out of use")));
}

function outcome(held, { action, settle }) {
  if (action === "reject") return held ? "Rejected: it stays in history." : "Taken out of use: it stays in history.";
  if (held) return "Activated: agents may get it now.";
  return settle === "supersede" ? "Settled: it took the other's place." : "Settled: both stay in use.";
}

export function key(event) {
  const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
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
