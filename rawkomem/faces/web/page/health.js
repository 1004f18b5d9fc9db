// The Health view: memories that a person should look at, by check, each with buttons to act.

import { act, get, post } from "./api.js";
import { decide, differing, dot, h, href, many, nothing } from "./dom.js";
import { selection } from "./chosen.js";
import { askForCode } from "./review.js";
import { did } from "./undo.js";

const CHECKS = {
  stale: ["Stale", "The code that these memories cite changed or is gone.", "All cited code is unchanged."],
  contradicted: ["Contradicted", "These memories contradict another memory.", "No memory contradicts another one."],
  weak: ["Weak sources", "These memories were derived from sources that no longer hold.", "All sources hold."],
  unconditional: ["Without conditions", "No condition says when to use these memories, so only their words and meaning can match a prompt.", "Every memory that needs a condition has one."],
  unused: ["Never used", "These memories are at least two weeks old, and no prompt on this machine got them.", "Every older memory was used."],
  unverified: ["Unverified", "No person vouches for these memories, so agents trust them less.", "A person vouches for every memory."],
};
let again = null;

export async function show(view, { changed, overview }) {
  const { checks, memories } = await get("health");
  if (!view.isConnected) return;
  const redraw = async () => {
    const fresh = await changed();
    if (view.isConnected) await show(view, { changed, overview: fresh });
  };
  again = redraw;
  const found = checks.filter((check) => check.total);
  view.replaceChildren(h("div", { class: "waiting health-view" },
    h("h1", {}, "Health"),
    overview.writes_as !== "person" && askForCode(redraw),
    memories > 0 && h("p", { class: "lead" }, `${many(memories, "memory", "memories")} in use were checked.`),
    memories > 0 && h("ul", { class: "tiles" }, checks.map(tile)),
    found.length ? found.map((check) => section(check, redraw)) : nothing(memories ? "No problems found" : "No memories yet", memories ? "All memories passed all checks." : "")));
}

export function leave() {
  again = null;
}

export const reload = () => again?.();

function tile({ name, total }) {
  const [title, , passed] = CHECKS[name];
  if (!total) return h("li", { class: "none" }, h("div", { "data-check": name }, h("b", {}, "0"), title, h("small", {}, passed)));
  return h("li", { class: "some" }, h("a", { href: `#/health`, "data-check": name,
    onclick: (event) => { event.preventDefault(); document.getElementById(`check-${name}`)?.scrollIntoView({ block: "start" }); } },
    h("b", {}, total.toLocaleString("en")), title));
}

function section({ name, total, items }, redraw) {
  const [title, words] = CHECKS[name];
  const chosen = selection({ actions: [["archive", "Archive", "archived"]], one: "memory", more: "memories",
    itemOf: (id) => ({ id }), done: redraw });
  return h("section", { class: "card check", id: `check-${name}` },
    h("h2", {}, title, h("small", {}, many(total, "memory", "memories"))),
    h("p", { class: "facts" }, words, total > items.length && ` The first ${items.length} are listed; the others follow as you decide.`),
    chosen.bar,
    h("ul", { class: "findings" }, items.map((item) => finding(name, item, chosen, redraw))));
}

function finding(name, item, chosen, redraw) {
  return h("li", {}, chosen.box(item),
    h("div", {}, h("a", { href: href(item.id) }, dot(item), item.title), h("p", { class: "facts" }, item.found),
      item.parts && differing(item.parts)),
    h("div", { class: "verdicts", role: "group", "aria-label": `Act on ${item.title}` }, deeds(name, item, redraw)));
}

function deeds(name, item, redraw) {
  const button = (words, name, run, after) => h("button", { type: "button", "data-deed": name,
    onclick: (event) => decide(event.currentTarget, async () => {
      const answer = await run();
      await redraw();
      did(after, answer);
    }) }, words);
  return [
    name === "stale" && item.can_confirm && button("Still true", "cite", () => post("cite", { id: item.id }), "Confirmed: the memory cites the present code now."),
    name === "unverified" && item.can_vouch && button("Vouch", "vouch", () => act("vouch", [{ id: item.id }]), "You vouch for it now."),
    name === "contradicted" && h("a", { class: "button", href: `#/review/${encodeURIComponent(item.key)}` }, "Review"),
    h("a", { class: "button", href: `${href(item.id)}/edit` }, name === "unconditional" ? "Add a condition" : "Edit"),
    button("Archive", "archive", () => act("archive", [{ id: item.id }]), "Archived: agents no longer get it."),
  ];
}

export function key(event) {
  if (event.key !== "Escape") return false;
  location.hash = "#/";
  return true;
}
