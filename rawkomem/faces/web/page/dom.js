// Helpers of all views: elements, dates, messages, buttons.

const DAY = 86_400_000;
const policy = window.trustedTypes?.createPolicy("memory", { createHTML: (html) => html });

/** Return an element. Text children are never parsed as markup. Attributes `on…` are event listeners. */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
}

/** Return an element with the HTML that the server rendered from Markdown. Only here, text is parsed as markup. */
export function prose(html) {
  const element = h("div", { class: "prose" });
  element.innerHTML = policy ? policy.createHTML(html) : html;
  requestAnimationFrame(() => { // make wide elements focusable, so that the keyboard can scroll them
    for (const wide of element.querySelectorAll("pre, table")) if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;
  });
  return element;
}

export const href = (id) => `#/memory/${encodeURIComponent(id)}`;
export const many = (count, one, more = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : more}`;
/** Return a title of at most `most` characters, cut between two words if possible. */
export function short(title, most) {
  if (title.length <= most) return title;
  const cut = title.slice(0, most - 1), blank = cut.lastIndexOf(" ");
  return `${(blank > most / 2 ? cut.slice(0, blank) : cut).replace(/[\s,;:.–-]+$/, "")}…`;
}

export const isTyping = () => Boolean(document.activeElement?.matches("input:not([type=checkbox]), textarea, select"));
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

/** Return a debounced function: it runs `call` when it was not called again for a while; `cancel` drops a waiting call. */
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
    h("h2", {}, locked ? "This tab has no access" : failure.message ?? String(failure)),
    h("p", {}, locked ? "Open the address that 'rawkomem browse' printed in your terminal." : failure.hint ?? ""));
}

/** Show a short message. `action`: a button in it, as { words, act }. A longer message is shown longer. */
export function toast(text, bad = false, action = null) {
  const place = document.getElementById("toast");
  const hide = () => { place.className = ""; place.replaceChildren(); };
  place.replaceChildren(h("span", {}, text), action ? h("button", { type: "button", onclick: () => { hide(); action.act(); } }, action.words) : "");
  place.className = bad ? "shown bad" : "shown";
  clearTimeout(toast.timer);
  toast.timer = setTimeout(hide, (action ? 10_000 : 5_000) + 40 * text.length);
}

const MARKS = { // white space is not marked
  same: (text) => text, old: (text) => (text.trim() ? h("del", {}, text) : ""), new: (text) => (text.trim() ? h("ins", {}, text) : text),
};

/** Return one text in which removed and added parts are marked. */
export function differing(parts) {
  const isWhole = !parts.some(([what]) => what === "same");
  return h("p", { class: isWhole ? "difference whole" : "difference" }, parts.map(([what, text]) => MARKS[what](text)));
}

/** Return what looks dangerous in a text, each with a word that says why. It is never folded away. */
export function dangers(risks) {
  return risks?.length > 0 && h("ul", { class: "risks", "aria-label": "Looks dangerous" }, risks.map(({ why, text }) => h("li", {}, h("b", {}, why), " ", h("code", {}, text))));
}

const FOLDED = 320; // pixels of a long text that are shown at first

/** Return an element that folds a long text, with a button that shows all of it. */
export function folding(element) {
  const place = h("div", { class: "fold" }, element);
  const watch = new ResizeObserver(() => {
    if (!place.isConnected || !element.scrollHeight) return;
    watch.disconnect();
    if (element.scrollHeight <= FOLDED * 1.25) return;
    element.id ||= `fold-${++folds}`;
    const button = h("button", { type: "button", class: "quiet unfold", "aria-expanded": "false", "aria-controls": element.id, onclick: () => {
      const open = place.classList.toggle("folded") === false;
      button.setAttribute("aria-expanded", open);
      button.textContent = open ? "Show less" : "Show the full text";
    } }, "Show the full text");
    place.classList.add("folded");
    place.append(button);
  });
  watch.observe(element);
  return place;
}

let folds = 0;

/** Run an action. Meanwhile the buttons of its group are disabled, so that a second click has no effect. */
export async function decide(button, act) {
  const buttons = [...button.closest("[role=group]").querySelectorAll("button")];
  if (button.disabled) return;
  for (const other of buttons) other.disabled = true;
  try {
    await act();
  } catch (failure) {
    toast([failure.message, failure.hint].filter(Boolean).join(": "), true);
  }
  for (const other of buttons) other.disabled = false;
  if (document.activeElement === document.body) button.focus(); // a disabled button loses the focus
}
