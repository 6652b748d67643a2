// Asking the server. A token is kept for as long as this tab is there, and goes to this server alone.

const key = "sous-token";

export const token = {
  get: () => sessionStorage.getItem(key) ?? "",
  set: (text) => (text ? sessionStorage.setItem(key, text) : sessionStorage.removeItem(key)),
};

export class Refusal extends Error {
  constructor(status, code, why) {
    super(why);
    this.status = status;
    this.code = code;
  }
}

async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (token.get()) headers.Authorization = `Bearer ${token.get()}`;
  let answer;
  try {
    answer = await fetch(path, { ...options, headers, cache: "no-store", credentials: "omit", redirect: "error" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refusal(0, "unreachable", "The server does not answer.");
  }
  if (answer.ok) return answer;
  const said = await answer.json().catch(() => ({}));
  throw new Refusal(answer.status, said.error?.code ?? "", said.error?.why ?? `The server answered ${answer.status}.`);
}

export const get = async (path, signal) => (await ask(path, { signal })).json();

export const post = async (path, body, signal) =>
  (await ask(path, { method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" }, signal })).json();

// An address that an <img> can show: the picture itself may want a token, which an <img> cannot send.
export async function picture(path, signal) {
  return URL.createObjectURL(await (await ask(path, { signal })).blob());
}

// Of the declarations of all steps, which do not change while the server runs.
let steps;
export function declarations() {
  steps ??= get("/v1/steps").then((all) => all.steps, (error) => {
    steps = undefined;
    throw error;
  });
  return steps;
}
