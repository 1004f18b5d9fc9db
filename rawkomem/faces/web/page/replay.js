// The Replay view: which memories each prompt of a past session would get now.

import { get } from "./api.js";
import { ago, decide, dot, h, href, many, nothing } from "./dom.js";

const VERDICTS = { prevented: "yes", "too late": "no", "not covered": "no" };

export async function show(view, { fresh }) {
  if (!fresh) return;
  const { items, total } = await get("sessions");
  if (!view.isConnected) return;
  const place = h("div", { class: "replayed", "aria-live": "polite" });
  view.replaceChildren(h("div", { class: "waiting replay-view" },
    h("h1", {}, "Replay a session"),
    h("p", { class: "lead" }, "A replay recalls memories for each prompt of a past session, from the memories of today. It is not counted as a use.",
      total > items.length && ` These are the latest ${items.length} of ${many(total, "session")}.`),
    items.length ? h("div", { class: "card", role: "group", "aria-label": "Sessions" }, h("ul", { class: "sessions" }, items.map((item) => session(item, place))))
      : nothing("No past sessions", "Sessions of Claude Code, Codex, Gemini CLI and SpecStory in this project appear here."),
    place));
}

function session(item, place) {
  const act = async () => {
    place.replaceChildren(h("p", { class: "state", role: "status" }, "Replaying…"));
    try {
      const { items } = await get("replay", { id: item.id });
      place.replaceChildren(...(items.length ? items.map(told) : [nothing("No prompts", "This session holds no prompt of a person.")]));
    } catch (failure) {
      place.replaceChildren();
      throw failure;
    }
  };
  return h("li", {}, h("button", { type: "button", "data-session": item.id, onclick: (event) => decide(event.currentTarget, act) }, "Replay"),
    h("span", {}, item.file), h("small", {}, ago(item.at)));
}

function told(item) {
  const covered = item.corrections.filter((one) => one.verdict === "prevented").length;
  return h("article", { class: "card" },
    h("h2", {}, `${many(item.prompts, "prompt")}, ${item.host}`),
    item.answers.length < item.prompts && h("p", { class: "facts" }, `The first ${item.answers.length} prompts were replayed.`),
    item.corrections.length > 0 && h("div", { class: "rivals" },
      h("h3", {}, `Corrections: a memory would have prevented ${covered} of ${item.corrections.length}`),
      item.corrections.map((one) => h("p", { class: VERDICTS[one.verdict] }, h("b", {}, `${one.verdict}: `), one.said, one.memories.map(memory)))),
    h("ol", { class: "prompts" }, item.answers.map((answer) => h("li", {}, h("p", {}, answer.prompt),
      answer.memories.length ? h("div", {}, answer.memories.map(memory), h("small", {}, many(answer.tokens, "token"))) : h("small", {}, "no memory")))));
}

const memory = (item) => h("a", { href: href(item.id) }, dot(item), item.title);

export function key(event) {
  if (event.key !== "Escape") return false;
  location.hash = "#/health";
  return true;
}
