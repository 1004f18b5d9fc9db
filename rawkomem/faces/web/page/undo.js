// Undo: remember the entries of the last action on this page, and undo it on a click or the key `u`.

import { post } from "./api.js";
import { toast } from "./dom.js";

let last = null; // ids of the entries that the last action wrote

const PROPOSED = "Proposed: it waits until a person accepts it.";

/** Show a message about an action, or that it is only proposed, with an Undo button if it can be undone. */
export function did(words, answer = {}) {
  const entries = answer.entries ?? [];
  last = entries.length ? entries : null;
  const warned = (answer.warnings ?? []).join(" ");
  toast([answer.proposed ? PROPOSED : words, answer.redacted && "A secret was redacted.", warned].filter(Boolean).join(" "), Boolean(warned),
    last && { words: "Undo", act: undoLast });
}

export async function undoLast() {
  if (!last) {
    toast("There is nothing to undo.");
    return;
  }
  const entries = last;
  last = null;
  try {
    await post("undo", { entries });
    document.dispatchEvent(new Event("undone"));
    toast("Undone.");
  } catch (failure) {
    toast([failure.message, failure.hint].filter(Boolean).join(": "), true);
  }
}
