// The form of a memory: a new one, or an edit, which is stored as an amendment.

import { post } from "./api.js";
import { decide, h } from "./dom.js";
import { did } from "./undo.js";

const unsaved = new Map(); // id of a memory → unsaved values of its form, which are shown when the form is opened again

/** Return the form. `memory`: null for a new one. `saved(id)` and `cancel()` leave the form. */
export function memoryForm(memory, { forms, saved, cancel }) {
  const key = memory?.id ?? "";
  const fields = makeFields(memory, forms);
  const before = read(fields);
  write(fields, unsaved.get(key) ?? before);
  const leave = (act) => { unsaved.delete(key); return act(); };
  const save = async () => {
    const answer = memory ? await amend(memory, before, read(fields)) : await add(read(fields));
    await leave(() => saved(answer.id));
    did(told(memory, answer), answer);
  };
  const saveButton = h("button", { type: "button", class: "primary", "data-form": "save", onclick: (event) => decide(event.currentTarget, save) },
    memory ? "Save" : "Add memory");
  const form = h("div", { class: "memory-form", role: "group", "aria-label": memory ? "Edit the memory" : "New memory",
    oninput: () => unsaved.set(key, read(fields)),
    onkeydown: (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) decide(saveButton, save); } },
    h("h1", { tabindex: "-1" }, memory ? "Edit the memory" : "New memory"),
    memory && h("p", { class: "lead" }, "The edit is stored as an amendment: the earlier text stays in the history."),
    h("div", { class: "edit" },
      h("label", {}, "Title", fields.title),
      h("label", {}, "Text, in Markdown", fields.text),
      h("label", {}, "When to use it, one condition on each line: words, a|b, or a sentence", fields.when),
      h("div", { class: "fields" },
        fields.kind && h("label", {}, "Kind", fields.kind), h("label", {}, "Importance", fields.importance),
        h("label", { class: "wide" }, "Tags, separated by commas", fields.tags)),
      h("div", { class: "verdicts" }, saveButton,
        h("button", { type: "button", "data-form": "cancel", onclick: () => leave(cancel) }, "Cancel"),
        h("span", { class: "hint" }, h("kbd", {}, "Ctrl"), " ", h("kbd", {}, "Enter"), " saves"))));
  return form;
}

function makeFields(memory, forms) {
  const select = (options, chosen) => {
    const element = h("select", {}, options.map((option) => h("option", { value: option }, option)));
    element.value = chosen;
    return element;
  };
  const fields = {
    title: h("input", { type: "text", maxlength: "300", autocomplete: "off" }),
    text: h("textarea", { rows: "12", maxlength: "12000" }),
    when: h("textarea", { rows: "3" }),
    tags: h("input", { type: "text", autocomplete: "off" }),
    importance: select(forms.importance, memory?.importance ?? "medium"),
  };
  if (!memory) return { ...fields, kind: select(forms.kind, forms.kind[0]) };
  [fields.title.value, fields.text.value] = [memory.title, memory.text];
  [fields.when.value, fields.tags.value] = [memory.when.join("\n"), memory.tags.join(", ")];
  return fields;
}

const read = (fields) => Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value]));

function write(fields, values) {
  for (const [name, field] of Object.entries(fields)) field.value = values[name] ?? field.value;
}

const lists = (values) => ({
  ...values,
  ...("when" in values && { when: values.when.split("\n").filter((line) => line.trim()) }),
  ...("tags" in values && { tags: values.tags.split(",").map((tag) => tag.trim()).filter(Boolean) }),
});

const add = (values) => post("add", lists(values));

/** Send the changed fields, and the version of the memory that was shown. */
function amend(memory, before, after) {
  const changed = Object.fromEntries(Object.entries(after).filter(([name, value]) => value !== before[name]));
  return post("amend", { id: memory.id, version: memory.version, ...lists(changed) });
}

const OUTCOMES = {
  stored: "Added.", corroborated: "Not added: another memory says the same, and was confirmed.", superseded: "Added. It replaced another memory.",
  quarantined: "Added, but held back: it contradicts another memory. Decide in Review.", conflict: "Added. It contradicts another memory: decide in Review.",
};

function told(memory, answer) {
  if (!memory) return OUTCOMES[answer.what] ?? "Added.";
  return answer.proposed ? "Proposed: the change waits for a review." : "Saved as an amendment.";
}
