// Requests to the server. The token comes with the address and is stored for this tab only; requests send it in one header.

const KEY = "rawkomem-token";
const CODE = "rawkomem-code"; // the code that a person's terminal shows

export class Failure extends Error {
  constructor(status, message, hint = "") {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

export async function takeToken() {
  const given = /^#(token|once)=([\w-]+)$/.exec(location.hash);
  if (!given) return;
  history.replaceState(null, "", "/#/");
  let token = given[2];
  if (given[1] === "once") {
    try {
      token = (await post("enter", { code: token })).token;
    } catch {
      return; // the first request fails, and the page then shows what to do
    }
  }
  sessionStorage.setItem(KEY, token);
}

/** Send a code with every request from now on; without one, requests count as an agent's. */
export function useCode(code) {
  if (code) sessionStorage.setItem(CODE, code);
  else sessionStorage.removeItem(CODE);
}

async function ask(path, options = {}) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}`, ...options.headers };
  const code = sessionStorage.getItem(CODE);
  if (code) headers["X-Rawkomem-Code"] = code;
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

/** Run an action on items. If it did and proposed nothing, throw the reason. */
export async function act(action, items, reason = "") {
  const answer = await post("act", { action, items, reason });
  if (!answer.done && !answer.proposed) throw new Failure(409, answer.failed[0].error, answer.failed[0].hint);
  return answer;
}
