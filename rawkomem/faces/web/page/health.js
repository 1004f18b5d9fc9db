// Health: memories that need somebody to look at them, by what is wrong, each with what can be done about it.

import { get, post } from "./api.js";
import { decide, differing, dot, h, href, many, nothing } from "./dom.js";
import { selection } from "./chosen.js";
import { did } from "./undo.js";

const CHECKS = {
  stale: ["Stale", "The code that these memories rest on changed or is gone.", "All cited code is as it was."],
  contradicted: ["Contradicted", "These memories say the opposite of another one.", "No memory contradicts another one."],
  weak: ["Weak sources", "These memories were made from something that no longer holds.", "All sources hold."],
  unconditional: ["Without conditions", "Only words and meaning find these memories. A condition says when to use one.", "Every memory that needs a condition has one."],
  unused: ["Never used", "No prompt on this machine got these memories within two weeks or more.", "Every older memory was used."],
  unverified: ["Unverified", "No person vouches for these memories, so agents trust them less.", "A person vouches for every memory."],
};
let again = null;

export async function show(view, { changed }) {
  const { checks, memories } = await get("health");
  if (!view.isConnected) return;
  const anew = async () => {
    await changed();
    if (view.isConnected) await show(view, { changed });
  };
  again = anew;
  const found = checks.filter((check) => check.total);
  view.replaceChildren(h("div", { class: "waiting health-view" },
    h("h1", {}, "Health"),
    h("p", { class: "lead" }, memories ? `${many(memories, "memory", "memories")} in use were checked. ` : "",
      h("a", { href: "#/replay" }, "Replay a past session"), " to see what agents would get now."),
    memories > 0 && h("ul", { class: "tiles" }, checks.map(tile)),
    found.length ? found.map((check) => section(check, anew)) : nothing(memories ? "All is well" : "No memories yet", memories ? "No check found anything." : "")));
}

export function leave() {
  again = null;
}

export const reload = () => again?.();

function tile({ name, total }) {
  const [title] = CHECKS[name];
  return h("li", { class: total ? "some" : "none" }, h("a", { href: `#/health`, "data-check": name,
    onclick: (event) => { event.preventDefault(); document.getElementById(`check-${name}`)?.scrollIntoView({ block: "start" }); } },
    h("b", {}, total.toLocaleString("en")), title));
}

function section({ name, total, items }, anew) {
  const [title, words] = CHECKS[name];
  const chosen = selection({ actions: [["archive", "Archive", "archived"]], one: "memory", more: "memories",
    itemOf: (id) => ({ id }), done: anew });
  return h("section", { class: "card check", id: `check-${name}` },
    h("h2", {}, title, h("small", {}, many(total, "memory", "memories"))),
    h("p", { class: "facts" }, words, total > items.length && ` The first ${items.length} are listed; the others follow as you decide.`),
    chosen.bar,
    h("ul", { class: "findings" }, items.map((item) => finding(name, item, chosen, anew))));
}

function finding(name, item, chosen, anew) {
  return h("li", {}, chosen.box(item),
    h("div", {}, h("a", { href: href(item.id) }, dot(item), item.title), h("p", { class: "facts" }, item.found),
      item.parts && differing(item.parts)),
    h("div", { class: "verdicts", role: "group", "aria-label": `Act on ${item.title}` }, deeds(name, item, anew)));
}

function deeds(name, item, anew) {
  const button = (words, question, said, after) => h("button", { type: "button", "data-deed": question,
    onclick: (event) => decide(event.currentTarget, async () => {
      const answer = await post(question, { id: item.id, ...said });
      await anew();
      did(after, answer);
    }) }, words);
  return [
    name === "stale" && item.can_confirm && button("Still true", "cite", {}, "Confirmed: it cites the code as it is now."),
    name === "unverified" && item.can_vouch && button("Vouch", "review", { action: "activate" }, "You vouch for it now."),
    name === "contradicted" && item.in_review && h("a", { class: "button", href: "#/review" }, "Review"),
    name === "contradicted" && !item.in_review && h("a", { class: "button", href: href(item.other.id) }, "The other"),
    h("a", { class: "button", href: `${href(item.id)}/edit` }, name === "unconditional" ? "Add a condition" : "Edit"),
    button("Archive", "archive", {}, "Archived: no agent gets it any more."),
  ];
}

export function key(event) {
  if (event.key !== "Escape") return false;
  location.hash = "#/";
  return true;
}
