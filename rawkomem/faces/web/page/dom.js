// Small helpers: elements from words, dates for people, states that every view has.

const SVG = "http://www.w3.org/2000/svg";
const DAY = 86_400_000;
const policy = window.trustedTypes?.createPolicy("memory", { createHTML: (html) => html });

/** An element; text is always text, never markup. `on…` are listeners, the rest attributes. */
export function h(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

export function s(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
}

/** The HTML that the server made of a memory's Markdown: the one place where markup is taken as markup. */
export function prose(html) {
  const element = h("div", { class: "prose" });
  element.innerHTML = policy ? policy.createHTML(html) : html;
  return element;
}

export const href = (id) => `#/memory/${encodeURIComponent(id)}`;
export const many = (count, one, more = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : more}`;
/** A title for a small place, cut between two words. */
export function short(title, most) {
  if (title.length <= most) return title;
  const cut = title.slice(0, most - 1), blank = cut.lastIndexOf(" ");
  return `${(blank > most / 2 ? cut.slice(0, blank) : cut).replace(/[\s,;:.–-]+$/, "")}…`;
}

export const isTyping = () => /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement?.tagName ?? "");
export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

export function day(at) {
  return at ? new Date(at).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" }) : "undated";
}

export function ago(at) {
  if (!at) return "undated";
  const days = Math.floor((Date.now() - at) / DAY);
  if (days < 0 || days > 300) return day(at);
  if (days < 1) return "today";
  if (days < 14) return days === 1 ? "yesterday" : `${days} days ago`;
  return days < 60 ? `${Math.round(days / 7)} weeks ago` : `${Math.round(days / 30)} months ago`;
}

/** A call that waits until nothing more is asked for a while; `cancel` drops what waits. */
export function later(milliseconds, call) {
  let timer = 0;
  const soon = (...given) => {
    clearTimeout(timer);
    timer = setTimeout(() => call(...given), milliseconds);
  };
  soon.cancel = () => clearTimeout(timer);
  return soon;
}

export const dot = (item) => h("span", { class: `dot kind-${item.kind}`, "aria-hidden": "true" });

export function chips(item) {
  return [
    h("span", { class: "chip" }, dot(item), item.kind),
    item.type && item.type !== item.kind && h("span", { class: "chip" }, item.type.replaceAll("_", " ")),
    h("span", { class: `chip importance-${item.importance}` }, item.importance),
    item.status !== "active" && h("span", { class: `chip status-${item.status}` }, item.status),
  ];
}

export function nothing(title, text = "", ...more) {
  return h("div", { class: "state" }, h("h2", {}, title), text && h("p", {}, text), ...more);
}

export function failed(failure) {
  const locked = failure.status === 401;
  return h("div", { class: "state failure", role: "alert" },
    h("h2", {}, locked ? "This tab has no key" : failure.message ?? String(failure)),
    h("p", {}, locked ? "Open the address that 'rawkomem browse' printed in your terminal." : failure.hint ?? ""));
}

export function toast(text, bad = false) {
  const place = document.getElementById("toast");
  place.textContent = text;
  place.className = bad ? "shown bad" : "shown";
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => { place.className = ""; }, 5000);
}

/** Carry out a decision while the buttons of its group rest: a second click is no second decision. */
export async function decide(button, act) {
  const buttons = [...button.closest("[role=group]").querySelectorAll("button")];
  for (const other of buttons) other.disabled = true;
  try {
    await act();
  } catch (failure) {
    toast([failure.message, failure.hint].filter(Boolean).join(" "), true);
  }
  for (const other of buttons) other.disabled = false;
  if (document.activeElement === document.body) button.focus(); // resting took the focus away
}
