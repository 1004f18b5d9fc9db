// Saved searches of this user, stored on this machine.

import { post } from "./api.js";
import { h, toast } from "./dom.js";

/** Return a chip for each saved search, and a button that saves the present search if it is not saved yet. */
export function savedSearches(searches, state, { apply, changed }) {
  const asked = askedOf(state);
  const isSaved = searches.some((one) => same(one, asked));
  return [
    ...searches.map((one) => chip(one, same(one, asked), apply, changed)),
    ...(Object.keys(asked).length && !isSaved ? [saver(state, changed)] : []),
  ];
}

function askedOf(state) {
  return Object.fromEntries(Object.entries(state).filter(([, value]) => value));
}

function same({ name, ...one }, other) {
  return Object.keys(one).length === Object.keys(other).length && Object.entries(one).every(([key, value]) => other[key] === value);
}

function chip({ name, ...asked }, shown, apply, changed) {
  const remove = () => send("remove", { name }, changed, `Removed the search “${name}”.`);
  return h("span", { class: "saved-search" },
    h("button", { type: "button", class: "quiet", "aria-pressed": String(shown), "data-search": name, onclick: () => apply(shown ? {} : asked) }, name),
    h("button", { type: "button", class: "quiet", "aria-label": `Remove the saved search ${name}`, title: "Remove", onclick: remove }, "×"));
}

/** Return a button that turns into a field for the name. It reads the filters when it saves: they may have changed meanwhile. */
function saver(state, changed) {
  const place = h("span", { class: "saver" });
  const name = h("input", { type: "text", "aria-label": "Name of the search", maxlength: "60" });
  const button = h("button", { type: "button", class: "quiet", "data-save": "", onclick: () => {
    place.replaceChildren(name);
    const asked = askedOf(state);
    name.value = (asked.q ?? Object.values(asked).join(", ")).slice(0, 60);
    name.focus();
    name.select();
  } }, "Save search");
  name.addEventListener("keydown", (event) => {
    if (event.isComposing || (event.key !== "Enter" && event.key !== "Escape")) return;
    event.stopPropagation();
    event.preventDefault();
    name.blur();
    if (event.key === "Enter") send("save", { ...askedOf(state), name: name.value }, changed, `Saved the search “${name.value}”.`);
    place.replaceChildren(button);
  });
  place.append(button);
  return place;
}

async function send(what, said, changed, words) {
  try {
    await post(`searches/${what}`, said);
    await changed();
    toast(words);
  } catch (failure) {
    toast([failure.message, failure.hint].filter(Boolean).join(": "), true);
  }
}
