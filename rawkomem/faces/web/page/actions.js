// Buttons of one memory: edit, link, archive, restore, delete.

import { act, get, post } from "./api.js";
import { decide, dot, h, href, later, toast } from "./dom.js";
import { did } from "./undo.js";

const RESTORABLE = ["archived", "disputed", "superseded", "deleted"];

/** Return the buttons of a memory, and a place below them for the form of an action. */
export function actions(memory, { reload, forms }) {
  const place = h("div", { class: "asking" });
  const button = (name, words, act) => h("button", { type: "button", "data-act": name, onclick: act }, words);
  const ask = (panel) => () => {
    place.replaceChildren(panel(() => place.replaceChildren()));
    place.querySelector("input").focus();
  };
  const restore = RESTORABLE.includes(memory.status);
  const live = memory.status !== "deleted";
  return h("div", { class: "actions" },
    h("div", { class: "verdicts", role: "group", "aria-label": "Change this memory" },
      live && h("a", { class: "button", href: `${href(memory.id)}/edit`, "data-act": "edit" }, "Edit"),
      live && button("link", "Link…", ask((close) => linking(memory, forms, reload, close))),
      live && !restore && button("archive", "Archive…", ask((close) => reasoned(memory, "archive", "Archive", reload, close))),
      restore && button("restore", "Restore…", ask((close) => reasoned(memory, "restore", "Restore", reload, close))),
      live && button("delete", "Delete…", ask((close) => reasoned(memory, "delete", "Delete", reload, close)))),
    place);
}

const DONE = {
  archive: "Archived: agents no longer get it.", restore: "Restored: agents may get it again.",
  delete: "Deleted: agents no longer get it. Its text stays in the file.",
};

/** Return a form that asks for a reason, then runs the action. */
function reasoned(memory, action, words, reload, close) {
  const reason = h("input", { type: "text", placeholder: "Reason (stored in the history)", "aria-label": "Reason", maxlength: "500" });
  const run = async () => {
    const answer = await act(action, [{ id: memory.id }], reason.value);
    await reload();
    did(DONE[action], answer);
  };
  const confirm = h("button", { type: "button", class: "primary", "data-confirm": action, onclick: (event) => decide(event.currentTarget, run) }, words);
  reason.addEventListener("keydown", (event) => { if (event.key === "Enter") decide(confirm, run); });
  return h("div", { class: "review", role: "group", "aria-label": `${words} this memory` }, reason,
    h("div", { class: "verdicts" }, confirm, h("button", { type: "button", onclick: close }, "Cancel")));
}

/** Return a form that asks for the other memory and the type of the link. */
function linking(memory, forms, reload, close) {
  const found = h("ul", { class: "found", "aria-label": "Memories to link to" });
  const type = h("input", { type: "text", list: "link-types", "aria-label": "Type of the link", maxlength: "32" });
  type.value = forms.link[0];
  const words = h("input", { type: "text", placeholder: "Words or title of the other memory", "aria-label": "The other memory", autocomplete: "off" });
  const link = (other) => async () => {
    const answer = await post("link", { id: memory.id, other: other.id, type: type.value.trim() });
    await reload();
    did(`Linked to “${other.title}”.`, answer);
  };
  const choice = (other) => h("li", {}, h("button", { type: "button", class: "quiet", "data-other": other.id,
    onclick: (event) => decide(event.currentTarget, link(other)) }, dot(other), other.title));
  const look = later(150, async () => {
    const asked = words.value.trim();
    try {
      const { items } = asked ? await get("memories", { q: asked }) : { items: [] };
      if (asked === words.value.trim()) found.replaceChildren(...items.filter((other) => other.id !== memory.id).slice(0, 6).map(choice));
    } catch (failure) {
      toast(failure.message, true);
    }
  });
  words.addEventListener("input", () => look());
  words.addEventListener("keydown", (event) => { if (event.key === "Enter") found.querySelector("button")?.click(); });
  return h("div", { class: "linking review", role: "group", "aria-label": "Link this memory" },
    words, type, h("datalist", { id: "link-types" }, forms.link.map((name) => h("option", { value: name }))),
    h("button", { type: "button", onclick: close }, "Cancel"), found);
}

/** Return a button that removes a link between two memories. */
export function unlinkButton(memory, other, reload) {
  const remove = async () => {
    const ends = other.outward ? { id: memory.id, other: other.id } : { id: other.id, other: memory.id };
    const answer = await post("unlink", { ...ends, type: other.link });
    await reload();
    did("The link was removed.", answer);
  };
  return h("span", { role: "group", "aria-label": "Link" }, h("button", { type: "button", class: "quiet unlink", "aria-label": `Remove the link to ${other.title}`,
    title: "Remove the link", onclick: (event) => decide(event.currentTarget, remove) }, "×"));
}
