// What the steps of recipes do, from their declarations.
import { declarations } from "./api.js";
import { make, notice, table } from "./dom.js";

function parameter(one) {
  const range = [one.choices?.join(", "), one.low !== undefined ? `from ${one.low}${one.high !== undefined ? ` to ${one.high}` : ""}` : "",
    one.default !== undefined ? `if not given: ${one.default}` : ""].filter(Boolean).join("; ");
  return make("tr", {}, make("td", {}, make("code", {}, one.name)), make("td", {}, one.type + (one.required ? "" : ", may be left out")), make("td", {}, range), make("td", {}, one.doc));
}

function whole(step) {
  return [make("p", { class: "lead" }, step.summary),
    make("div", { class: "before-after" }, [["Before", step.before], ["After", step.after]].map(([title, text]) =>
      make("figure", {}, make("figcaption", {}, title), make("pre", { tabindex: "0" }, make("code", {}, text))))),
    step.names ? make("p", {}, step.names) : undefined,
    step.parameters.length ? make("section", {}, make("h2", {}, "Parameters"),
      table("Parameters", [["Name"], ["Type"], ["Values"], ["Meaning"]], step.parameters.map(parameter))) : undefined,
    step.refusals.length ? make("section", {}, make("h2", {}, "When it is refused"),
      make("ul", { class: "refusals" }, step.refusals.map((one) => make("li", {}, make("code", {}, one.code), ` ${one.when}`)))) : undefined]
    .filter(Boolean);
}

export async function showSteps(view, name) {
  const steps = await declarations();
  if (!name) {
    view.append(make("h1", {}, "Steps"), make("p", { class: "lead" }, "Recipes are lists of these. Each is proven legal on the nest at hand before it is applied."),
      make("ul", { class: "step-list" }, steps.map((one) => make("li", {}, make("a", { href: `#/steps/${encodeURIComponent(one.name)}` }, one.name), make("span", {}, one.summary)))));
    return;
  }
  const step = steps.find((one) => one.name === name);
  view.append(make("p", { class: "crumb" }, make("a", { href: "#/steps" }, "Steps")), make("h1", {}, step ? step.name : "No such step"),
    ...(step ? whole(step) : [notice(`There is no step ${name}.`)]));
}
