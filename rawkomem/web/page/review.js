// What waits for a decision: memories in quarantine, and claims that contradict each other.

import { get, post } from "./api.js";
import { ago, chips, h, href, nothing, prose, toast } from "./dom.js";

let cards = [];

export async function show(view, { changed, overview }) {
  const { items } = await get("waiting");
  const again = async () => {
    await changed();
    await show(view, { changed, overview });
    (cards[0]?.querySelector("h2 a") ?? view).focus();
  };
  cards = items.map((item) => card(item, again));
  view.replaceChildren(h("div", { class: "waiting" },
    h("h1", {}, "Review"),
    h("p", { class: "lead" }, items.length ? "Nothing here reaches an agent until you say so." : ""),
    overview.writes_as !== "person" && h("p", { class: "notice" }, "A program started this page: what you decide here counts as an agent's. Start 'rawkomem browse' in a terminal to decide as a person."),
    items.length ? cards : nothing("Nothing waits for you", "New memories that contradict others, or come from outside, appear here.")));
}

function card(item, again) {
  return h("article", { class: "card" },
    h("div", { class: "chips" }, chips(item)),
    h("h2", {}, h("a", { href: href(item.id) }, item.title)),
    h("p", { class: "facts" }, [item.by && `by ${item.by}`, ago(item.created), item.reason && `held back: ${item.reason}`,
      `trust ${item.trust.value.toFixed(2)}`].filter(Boolean).join(" · ")),
    prose(item.html),
    item.conflicts.length > 0 && h("div", { class: "rivals" }, h("h3", {}, "It contradicts"), item.conflicts.map(rival)),
    reviewForm(item, again));
}

function rival(other) {
  return h("p", {}, h("a", { href: href(other.id) }, other.title), h("span", {}, other.excerpt),
    h("small", {}, `trust ${other.trust.value.toFixed(2)}`));
}

/** Activate or reject, with a reason; where it contradicts something, also what becomes of that. */
export function reviewForm(memory, done) {
  const reason = h("input", { type: "text", placeholder: "Reason (kept in its history)", "aria-label": "Reason", maxlength: "500" });
  const settle = memory.conflicts.length > 0 && h("select", { "aria-label": "What becomes of the other?" },
    h("option", { value: "" }, "Trust decides about the other"), h("option", { value: "supersede" }, "It takes the other's place"),
    h("option", { value: "keep_both" }, "Keep both"));
  const decide = async (action) => {
    try {
      await post("review", { id: memory.id, action, reason: reason.value, settle: (action === "activate" && settle && settle.value) || "" });
      await done();
      toast(action === "activate" ? "Activated: agents may get it now." : "Rejected: it stays in history.");
    } catch (failure) {
      toast([failure.message, failure.hint].filter(Boolean).join(" "), true);
    }
  };
  return h("div", { class: "review", role: "group", "aria-label": "Your verdict" }, reason, settle,
    h("div", { class: "verdicts" },
      h("button", { type: "button", class: "primary", "data-review": "activate", onclick: () => decide("activate") }, "Activate"),
      h("button", { type: "button", "data-review": "reject", onclick: () => decide("reject") }, "Reject")));
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
