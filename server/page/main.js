// The page: what stands behind # says what is shown.
import { Refusal, token } from "./api.js";
import { make, notice, say } from "./dom.js";
import { showLift } from "./lift.js";
import { showMachines } from "./machines.js";
import { showMap } from "./nests.js";
import { showNest } from "./nest.js";
import { showSteps } from "./steps.js";

const pages = { "": showMap, lift: showLift, machines: showMachines, nest: showNest, steps: showSteps };
const names = { "": "map", nest: "map" };
const content = document.getElementById("content");
let current;  // ends what the last page was still asking

function refused(error) {
  const wantsToken = error.status === 401 || error.status === 403;
  const text = error instanceof Refusal ? error.message[0].toUpperCase() + error.message.slice(1) : "This cannot be shown: the page has a fault.";
  if (!(error instanceof Refusal)) console.error(error);
  if (wantsToken) document.getElementById("token").open = true;
  return notice(error.status === 401 ? `${text}. Show a token above.` : text, "bad");
}

async function show(moved) {
  current?.abort();
  current = new AbortController();
  const { signal } = current;
  const [, page = "", rest = ""] = location.hash.split("/");
  const shown = pages[page] ?? pages[""];
  for (const link of document.querySelectorAll("nav a"))
    if (link.dataset.page === (names[page] ?? page)) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  content.setAttribute("aria-busy", "true");
  const view = make("div", { class: "view" });
  try {
    await shown(view, decodeURIComponent(rest), signal);
  } catch (error) {
    if (signal.aborted) return;
    if (!view.querySelector("h1")) view.append(make("h1", {}, "Sous"));
    view.append(refused(error));
  }
  if (signal.aborted) return;
  content.replaceChildren(view);
  content.removeAttribute("aria-busy");
  const head = view.querySelector("h1");
  document.title = head.textContent === "Sous" ? "Sous" : `${head.textContent} · Sous`;
  if (!moved) return;
  scrollTo(0, 0);
  head.tabIndex = -1;
  head.focus({ preventScroll: true });
  say(document.title);
}

function tokens() {
  const details = document.getElementById("token"), text = document.getElementById("token-text");
  const tell = () => details.classList.toggle("set", token.get() !== "");
  const change = (value) => {
    token.set(value);
    text.value = "";
    details.open = false;
    details.querySelector("summary").focus();
    tell();
    say(value ? "The token is used" : "The token is forgotten");
    show(false);
  };
  document.getElementById("token-form").addEventListener("submit", (event) => {
    event.preventDefault();
    change(text.value.trim());
  });
  document.getElementById("token-forget").addEventListener("click", () => change(""));
  details.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    details.open = false;
    details.querySelector("summary").focus();
  });
  tell();
}

tokens();
// It leads past the navigation, and to no page.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  content.focus();
});
addEventListener("hashchange", () => show(true));
show(false);
