// One memory: its text, its trust, whether it would be injected for a task, and its history.

import { get, post } from "./api.js";
import { ago, chips, day, decide, differing, dot, failed, folding, h, href, later, many, dangers, prose } from "./dom.js";
import { actions, unlinkButton } from "./actions.js";
import { discard, isUnsaved } from "./form.js";
import { waitingCard } from "./review.js";
import { did } from "./undo.js";

let task = ""; // kept when another memory is opened

export function memoryView(memory, { back, reload, overview }) {
  return h("article", { class: "memory" },
    h("button", { type: "button", class: "back quiet", onclick: back }, "← All memories"),
    h("header", {},
      h("div", { class: "chips" }, chips(memory)),
      h("h1", { tabindex: "-1" }, memory.title),
      h("p", { class: "facts" }, facts(memory)),
      actions(memory, { reload, ...overview })),
    h("div", { class: "columns" },
      h("div", { class: "main" },
        isUnsaved(memory.id) && unsavedNotice(memory, reload),
        memory.standing && !memory.waits.length && h("p", { class: "notice" }, `Not in use: ${memory.standing}`),
        memory.waits.map((item) => waitingCard(item, { decided: reload, isAbove: true })),
        prose(memory.html),
        h("div", { class: "tags" }, memory.tags.map((tag) => h("span", {}, `#${tag}`))),
        memory.status !== "deleted" && votes(memory, reload),
        why(memory),
        historyOf(memory)),
      h("aside", { "aria-label": "About this memory" },
        trust(memory.trust), conditions(memory), conflicts(memory), citations(memory), links(memory, reload), place(memory))));
}

/** Click the first of these buttons of the open memory. */
export function act(...names) {
  document.querySelector(names.map((name) => `.actions [data-act=${name}]`).join(", "))?.click();
}

function unsavedNotice(memory, reload) {
  return h("p", { class: "notice" }, "You changed this memory and did not save it. ", h("a", { href: `${href(memory.id)}/edit` }, "Continue"),
    h("button", { type: "button", class: "quiet", "data-act": "discard", onclick: () => { discard(memory.id); reload(); } }, "Discard my changes"));
}

function facts(memory) {
  const found = [memory.by && `by ${memory.by}`, day(memory.created)].filter(Boolean).join(", ");
  const changed = memory.updated !== memory.created && `changed ${ago(memory.updated)}`;
  const window = [memory.valid_from && `from ${day(memory.valid_from)}`, memory.valid_until && `until ${day(memory.valid_until)}`];
  const valid = window.filter(Boolean).join(" ");
  return [found, changed, valid && `holds ${valid}`].filter(Boolean).join(" · ");
}

function votes(memory, reload) {
  const vote = (signal, sign, count) => h("button", { type: "button", "data-vote": signal, onclick: (event) => decide(event.currentTarget, () => cast(memory, signal, reload)) },
    h("span", { "aria-hidden": "true" }, sign), signal === "helpful" ? "Helpful" : "Harmful", h("b", {}, count));
  return h("div", { class: "votes", role: "group", "aria-label": "Did it help?" },
    vote("helpful", "↑", memory.helpful), vote("harmful", "↓", memory.harmful));
}

async function cast(memory, signal, reload) {
  const answer = await post("feedback", { id: memory.id, signal });
  await reload();
  if (location.hash === href(memory.id)) document.querySelector(`[data-vote=${signal}]`)?.focus();
  did(`Your vote was stored: ${signal}.`, answer);
}

function why(memory) {
  const answer = h("div", { class: "verdict", "aria-live": "polite" });
  const input = h("input", { type: "text", id: "task", placeholder: "Type a task, like: upgrade sqlite", autocomplete: "off", maxlength: "4000" });
  input.value = task;
  const look = async () => {
    task = input.value.trim();
    const asked = task;
    if (!asked) return answer.replaceChildren();
    try {
      const found = await get("why", { id: memory.id, task: asked });
      if (asked === task) answer.replaceChildren(...verdict(found));
    } catch (failure) {
      answer.replaceChildren(failed(failure));
    }
  };
  input.addEventListener("input", later(250, look));
  input.addEventListener("keydown", (event) => { if (event.key === "Enter") look(); });
  if (task) look();
  return h("section", { class: "card why" },
    h("h2", {}, h("label", { for: "task" }, "Would an agent get it for a task?")), input, answer);
}

export function focusWhy() {
  document.getElementById("task")?.focus();
}

function verdict(found) {
  const most = Math.max(...found.factors.map((factor) => Math.abs(factor.value * factor.weight)), 0.001);
  return [
    h("p", { class: found.injected ? "yes" : "no" },
      h("strong", {}, found.injected ? "Yes, it is injected" : "No, it is not injected"),
      found.injected ? `with a score of ${found.score.toFixed(2)}` : found.why_not),
    h("ul", { class: "factors" }, found.factors.map((factor) => h("li", {},
      h("span", { class: "name" }, factor.name.replaceAll("_", " ")), bar(factor.value * factor.weight / most),
      h("span", { class: "amount" }, (factor.value * factor.weight).toFixed(2)), h("span", { class: "reason" }, factor.why)))),
  ];
}

function bar(share) {
  const inner = h("span", {});
  inner.style.width = `${Math.round(Math.min(1, Math.abs(share)) * 100)}%`;
  return h("span", { class: share < 0 ? "bar less" : "bar", "aria-hidden": "true" }, inner);
}

function trust({ value, verified, parts }) {
  return h("section", { class: "trust" },
    h("h2", {}, "Trust"),
    h("p", { class: "value" }, h("b", {}, value.toFixed(2)), h("span", { class: verified ? "verified" : "unverified" },
      verified ? "a person vouches for it" : "no person vouches for it yet")),
    bar(value),
    h("ul", {}, parts.map((part) => h("li", {},
      h("span", { class: "amount" }, `${part.amount < 0 ? "−" : "+"}${Math.abs(part.amount).toFixed(2)}`),
      h("span", {}, h("b", {}, part.name), ` ${part.why}`)))));
}

function titled(title, items) {
  return items.length > 0 && h("section", {}, h("h2", {}, title), h("ul", {}, items));
}

function conditions(memory) {
  return titled("When to use", memory.when.map((condition) => h("li", {}, h("code", {}, condition))));
}

function conflicts(memory) {
  return titled("Contradicts", memory.conflicts.map((other) => h("li", {}, h("a", { href: href(other.id) }, dot(other), other.title))));
}

function citations(memory) {
  return titled("Rests on", memory.citations.map((cited) => h("li", { class: "cited" },
    h("span", { class: `chip cited-${cited.state}` }, cited.state), h("code", {}, cited.text), cited.note && h("small", {}, cited.note))));
}

function links(memory, reload) {
  const ways = new Map(); // one line per memory and type; two directions share a line
  for (const other of memory.links) {
    const key = `${other.id} ${other.link}`;
    const known = ways.get(key);
    ways.set(key, { other, way: known ? "↔" : other.outward ? "→" : "←" });
  }
  return titled("Connected", [...ways.values()].map(({ other, way }) => h("li", {},
    h("a", { href: href(other.id) }, dot(other), other.title), h("small", {}, `${way} ${other.link.replaceAll("_", " ")}`),
    other.can_unlink && unlinkButton(memory, other, reload))));
}

function place(memory) {
  const claim = memory.claim && h("li", {}, h("small", {}, "claims "), h("code", {}, memory.claim));
  return h("section", { class: "place" }, h("h2", {}, "Source"), h("ul", {}, claim,
    h("li", {}, h("code", {}, `.rawko/${memory.path}:${memory.line}`)), h("li", {}, h("code", {}, memory.id)),
    memory.source && h("li", {}, h("small", {}, memory.source))));
}

function historyOf(memory) {
  return h("section", { class: "history" },
    h("h2", {}, "History", h("small", {}, many(memory.history.length, "entry", "entries"))),
    h("ol", {}, memory.history.map((step) => h("li", {},
      h("p", {}, h("b", {}, step.kind), step.signal && ` ${step.signal}`, h("span", {}, [step.by && `by ${step.by}`, day(step.at)].filter(Boolean).join(", "))),
      step.reason && h("p", { class: "reason" }, `“${step.reason}”`),
      step.changes.map((change) => h("div", { class: "change" }, h("i", {}, change.field.replaceAll("_", " ")), " ",
        folding(differing(change.parts)), dangers(change.risks)))))));
}
