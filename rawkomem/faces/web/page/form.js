// Forms: the fields of a memory or a draft, and what a person typed in them and did not save.

import { post } from "./api.js";
import { decide, h } from "./dom.js";
import { did } from "./undo.js";

const unsaved = new Map(); // key of a form → field → { was: the value that the person changed, now: what the person typed }

export const isUnsaved = (key) => unsaved.has(key);
export const discard = (key) => unsaved.delete(key);

addEventListener("beforeunload", (event) => { if (unsaved.size) event.preventDefault(); });

const LABELS = {
  title: "Title", text: "Text, in Markdown", when: "When to use it, one condition on each line: words, a|b, or a sentence",
  kind: "Kind", importance: "Importance", tags: "Tags, separated by commas",
};
const NAMES = { title: "title", text: "text", when: "conditions", kind: "kind", importance: "importance", tags: "tags" };
const JOINED = { when: "\n", tags: ", " };

function made(name, forms) {
  if (name === "text") return h("textarea", { rows: "6", maxlength: "12000" });
  if (name === "when") return h("textarea", { rows: "2" });
  if (forms?.[name]) return h("select", {}, forms[name].map((option) => h("option", { value: option }, option)));
  return h("input", { type: "text", maxlength: name === "title" ? "300" : null, autocomplete: "off" });
}

/**
 * Return the labeled fields of a form, a line that names unsaved fields, and `changed()` and `all()`, which return values to send.
 * A field that the person changed earlier and did not save shows that text; all others show `values`.
 */
export function fieldsOf(key, values, forms) {
  const typed = unsaved.get(key) ?? {};
  const fields = {}, before = {};
  const labels = Object.entries(values).map(([name, value]) => {
    const field = fields[name] = made(name, forms);
    field.value = name in JOINED ? value.join(JOINED[name]) : value;
    before[name] = field.value;
    const newer = typed[name] && typed[name].was !== before[name] && h("small", { class: "newer" },
      `Somebody else changed it meanwhile. If you save, this is replaced: ${before[name] || "(nothing)"}`);
    if (typed[name]) field.value = typed[name].now;
    return h("label", { class: `field-${name}` }, LABELS[name], field, newer);
  });
  const mark = h("p", { class: "unsaved", role: "status" });
  const changedNames = () => Object.keys(fields).filter((name) => fields[name].value !== before[name]);
  const draw = () => { mark.textContent = changedNames().length ? `Not saved yet: ${changedNames().map((name) => NAMES[name]).join(", ")}.` : ""; };
  const note = () => {
    if (changedNames().length) unsaved.set(key, Object.fromEntries(changedNames().map((name) => [name, { was: before[name], now: fields[name].value }])));
    else discard(key);
    draw();
  };
  for (const field of Object.values(fields)) field.addEventListener("input", note);
  draw();
  const sent = (names) => Object.fromEntries(names.map((name) => [name, name in JOINED
    ? fields[name].value.split(JOINED[name].trim() || "\n").map((part) => part.trim()).filter(Boolean) : fields[name].value]));
  return { labels, mark, changed: () => sent(changedNames()), all: () => sent(Object.keys(fields)) };
}

/** Return the form of a memory; null: of a new one. `saved(id)` and `cancel()` leave it; `again()` loads the memory and shows it anew. */
export function memoryForm(memory, { forms, saved, cancel, again }) {
  const key = memory?.id ?? "";
  const empty = { title: "", text: "", when: [], kind: forms.kind[0], importance: "medium", tags: [] };
  const { labels, mark, changed, all } = fieldsOf(key, memory?.form ?? empty, forms);
  const save = async () => {
    let answer;
    try {
      answer = memory ? await post("amend", { id: memory.id, seen: memory.seen, ...changed() }) : await post("add", all());
    } catch (failure) {
      if (failure.status === 409) await again(); // the form then shows what somebody else wrote
      throw failure;
    }
    discard(key);
    await saved(answer.id);
    did(told(memory, answer), answer);
  };
  const saveButton = h("button", { type: "button", class: "primary", "data-form": "save", onclick: (event) => decide(event.currentTarget, save) },
    memory ? "Save" : "Add memory");
  return h("div", { class: "memory-form", role: "group", "aria-label": memory ? "Edit the memory" : "New memory",
    onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) decide(saveButton, save); } },
    h("h1", { tabindex: "-1" }, memory ? "Edit the memory" : "New memory"),
    memory && h("p", { class: "lead" }, "The edit is stored as an amendment: the earlier text stays in the history."),
    h("div", { class: "edit" }, labels, mark,
      h("div", { class: "verdicts" }, saveButton,
        h("button", { type: "button", "data-form": "cancel", onclick: () => { discard(key); cancel(); } }, "Cancel"),
        h("span", { class: "hint" }, h("kbd", {}, "Ctrl"), " ", h("kbd", {}, "Enter"), " saves"))));
}

const OUTCOMES = {
  stored: "Added.", corroborated: "Not added: another memory says the same, and was confirmed.", superseded: "Added. It replaced another memory.",
  quarantined: "Added, but held back: it contradicts another memory. Decide in Review.", conflict: "Added. It contradicts another memory: decide in Review.",
};

function told(memory, answer) {
  if (!memory) return OUTCOMES[answer.what] ?? "Added.";
  return answer.proposed ? "Proposed: the change waits for a review." : "Saved as an amendment.";
}
