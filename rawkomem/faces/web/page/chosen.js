// Bulk actions: the selected memories or items that wait, and a bar with actions on all of them.

import { act } from "./api.js";
import { decide, h, many, toast } from "./dom.js";
import { did } from "./undo.js";

const MOST = 500; // items of one request

/**
 * Return a selection with its bar. `actions`: [name, text of the button, text when it is done]; `one`, `more`: the noun;
 * `itemOf(id)`: returns the item that is sent to the server; `done()`: called after an action.
 */
export function selection({ actions, one, more, itemOf, done }) {
  const ids = new Set();
  const boxes = new Map();
  const count = h("span", { role: "status" });
  const reason = h("input", { type: "text", placeholder: "Reason for all (optional)", "aria-label": "Reason for all", maxlength: "500" });
  const bar = h("div", { class: "bulk", role: "group", "aria-label": "Selected", hidden: true }, count, reason,
    h("div", { class: "verdicts" },
      actions.map(([name, words, after]) => h("button", { type: "button", "data-bulk": name, onclick: (event) => decide(event.currentTarget, () => run(name, after)) }, words)),
      h("button", { type: "button", class: "quiet", "data-bulk": "none", onclick: clear }, "Clear")));

  function draw() {
    bar.hidden = ids.size === 0;
    count.textContent = ids.size ? `${many(ids.size, one, more)} selected` : "";
  }

  function toggle(id, on = !ids.has(id)) {
    if (on) ids.add(id);
    else ids.delete(id);
    const box = boxes.get(id);
    if (box) box.checked = on;
    draw();
  }

  function clear() {
    for (const id of [...ids]) toggle(id, false);
  }

  async function run(action, after) {
    const answer = await act(action, [...ids].map(itemOf), reason.value);
    clear();
    reason.value = "";
    await done();
    if (answer.failed.length) {
      const first = answer.failed[0];
      toast(`${answer.done} ${after}, ${answer.proposed} proposed, ${answer.failed.length} failed. ${first.error}: ${first.hint}`, true);
    } else did(`${many(answer.done, one, more)} ${after}.`, answer);
  }

  /** Return a new checkbox of an item; a list calls this each time it is drawn. */
  function box(item) {
    const element = h("input", { type: "checkbox", class: "choose", "aria-label": `Select ${item.title}`, "data-choose": item.id });
    element.checked = ids.has(item.id);
    element.addEventListener("change", () => toggle(item.id, element.checked));
    boxes.set(item.id, element);
    return element;
  }

  /** Deselect items that are no longer listed. */
  function keep(items) {
    const listed = new Set(items.map((item) => item.id));
    for (const id of [...ids]) if (!listed.has(id)) ids.delete(id);
    for (const id of [...boxes.keys()]) if (!listed.has(id)) boxes.delete(id);
    draw();
  }

  const all = (items) => items.slice(0, MOST).forEach((item) => toggle(item.id, true));
  return { bar, box, toggle, keep, all, clear, isEmpty: () => ids.size === 0 };
}
