// Questions to the server. The token comes with the address, stays in this tab, and leaves it in one header only.

const KEY = "rawkomem-token";

export class Failure extends Error {
  constructor(status, message, hint = "") {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

export function takeToken() {
  const given = /^#token=([\w-]+)$/.exec(location.hash);
  if (!given) return;
  sessionStorage.setItem(KEY, given[1]);
  history.replaceState(null, "", "/#/");
}

async function ask(path, options = {}) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}`, ...options.headers };
  let response;
  try {
    response = await fetch(path, { ...options, headers, credentials: "omit" });
  } catch {
    throw new Failure(0, "The server does not answer.", "Is 'rawkomem browse' still running?");
  }
  const answer = await response.json();
  if (!response.ok) throw new Failure(response.status, answer.error, answer.hint);
  return answer;
}

export function get(question, fields = {}) {
  const given = Object.entries(fields).filter(([, value]) => value);
  return ask(`/api/${question}${given.length ? "?" + new URLSearchParams(given) : ""}`);
}

export function post(decision, said) {
  const headers = { "Content-Type": "application/json", "X-Rawkomem": "1" };
  return ask(`/api/${decision}`, { method: "POST", headers, body: JSON.stringify(said) });
}
