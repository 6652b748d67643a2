// C that is pasted: what its nests are, and what is near them.
import { get, post } from "./api.js";
import { count, gain, machine, make, nestLink, notice, say, size, table } from "./dom.js";
import { familyMark } from "./nests.js";

const example = `void product(int n, double A[n][n], double B[n][n], double C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++)
        C[i][j] += A[i][k] * B[k][j];
}
`;

function near(unit) {
  if (unit.near.length === 0) return make("p", { class: "hint" }, "Nothing of its type and depth is known here.");
  const rows = unit.near.toSorted((a, b) => a.distance - b.distance).map((one) => make("tr", {}, make("td", {}, nestLink(one.hash, one.name)),
    make("td", { class: "number" }, one.distance === 0 ? "the same" : `${one.distance.toFixed(2)}${one.distance > one.reach ? " (too far)" : ""}`),
    make("td", { class: "number strong" }, gain(one.gain)), make("td", { class: "number" }, String(one.threads)), make("td", {}, size(one.size_class)),
    make("td", {}, machine(one.machine))));
  return table("What is near", [["Nest"], ["Distance", "number"], ["Gain there", "number"], ["Threads", "number"], ["Data"], ["Machine"]], rows);
}

function unitSection(unit, families) {
  return make("section", { class: "unit" }, make("h3", {}, unit.label, " ", familyMark(unit.family, families)),
    make("p", { class: "hint" }, "Hash ", make("code", {}, unit.hash)), near(unit),
    make("details", {}, make("summary", {}, "Its normal form"), make("pre", { tabindex: "0" }, make("code", {}, unit.text))));
}

function results(answer, families) {
  const nests = answer.nests.map((nest) => make("article", { class: "card" },
    make("h2", {}, `${nest.function}, line ${nest.line}`), nest.why ? notice(nest.why) : undefined,
    nest.units.map((unit) => unitSection(unit, families))));
  const reasons = answer.reasons.map((one) => make("li", {}, `${one.function}, line ${one.line}: ${one.why} `, make("code", {}, one.code)));
  if (nests.length === 0) nests.push(notice("No loop nest was found that is understood."));
  return [...nests, reasons.length ? make("section", {}, make("h2", {}, "Loops that are left as they are"), make("ul", {}, reasons)) : undefined];
}

export async function showLift(view, _, signal) {
  const text = make("textarea", { id: "source", rows: "12", maxlength: "65536", spellcheck: "false", autocomplete: "off", autocapitalize: "off", "aria-describedby": "source-hint" });
  const button = make("button", { type: "submit", class: "primary" }, "Look at it");
  const out = make("div", { class: "results" });
  const look = async (event) => {
    event.preventDefault();
    if (button.getAttribute("aria-disabled") === "true") return;
    button.setAttribute("aria-disabled", "true");
    out.replaceChildren(make("p", { class: "hint" }, "Looking at it …"));
    try {
      const [answer, map] = await Promise.all([post("/v1/lift", { protocol: 1, source: text.value }, signal), get("/v1/map", signal)]);
      out.replaceChildren(...results(answer, new Map(map.families.map((one) => [one.name, one]))).filter(Boolean));
      say(`${count(answer.nests.length, "nest", "nests")} found`);
    } catch (error) {
      if (signal.aborted) return;
      out.replaceChildren(notice(error.message, "bad"));
      say(error.message);
    }
    button.removeAttribute("aria-disabled");
  };
  view.append(make("h1", {}, "Paste C"),
    make("p", { class: "lead" }, "Which loop nests it has, what they are in normal form, and what the database knows near them."),
    make("form", { onsubmit: look }, make("label", { for: "source" }, "A C file, or as much of one as compiles by itself"), text,
      make("p", { class: "hint", id: "source-hint" }, "At most 64 KiB. It is looked at in a process of its own that may read the system's headers and nothing else; nothing of it is kept."),
      make("div", { class: "buttons" }, button, make("button", { type: "button", onclick: () => { text.value = example; text.focus(); } }, "An example"))),
    out);
}
