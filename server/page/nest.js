// One nest: what it computes, how it becomes faster, and where that was measured.
import { declarations, get, picture, token } from "./api.js";
import { count, gain, machine, make, seconds, size, table } from "./dom.js";
import { familyMark } from "./nests.js";

const value = (x) => (Array.isArray(x) ? `[${x.map(value).join(", ")}]` : typeof x === "object" && x !== null ? JSON.stringify(x) : String(x));

function step(one, known) {
  const { step: name, ...parameters } = one;
  const declared = known.get(name);
  const written = Object.entries(parameters).map(([key, v]) => `${key}=${value(v)}`).join(", ");
  return make("li", {},
    make("code", {}, declared ? make("a", { href: `#/steps/${encodeURIComponent(name)}` }, name) : name, written ? `(${written})` : ""),
    declared ? make("span", { class: "hint" }, declared.summary) : undefined);
}

function recipeSection(recipe, at, nest, known) {
  const of = nest.measurements.filter((one) => one.recipe === at);
  const best = Math.max(...of.map((one) => one.gain));
  const title = `Recipe ${at + 1}: ${gain(best)} at best, for ${recipe?.target ?? "?"}`;
  const steps = recipe?.steps ?? [];
  return make("details", { class: "recipe", open: at === 0 }, make("summary", {}, title),
    steps.length === 0 ? make("p", { class: "hint" }, "No step: the normal form as it is.") : make("ol", { class: "steps" }, steps.map((one) => step(one, known))));
}

// As the server tells it. A link shows no token: where one is wanted, there is none.
const entry = (one) => (token.get() ? make("code", {}, one.id.slice(0, 12))
  : make("a", { href: `/v1/recipes/${encodeURIComponent(one.id)}`, "aria-label": `${one.name} as JSON` }, make("code", {}, one.id.slice(0, 12))));

function measurements(nest) {
  const rows = nest.measurements.map((one) => make("tr", {},
    make("td", {}, machine(one.machine)),
    make("td", { class: "number" }, seconds(one.baseline_seconds)), make("td", { class: "number" }, seconds(one.tuned_seconds)),
    make("td", { class: "number strong" }, gain(one.gain)), make("td", { class: "number" }, String(one.threads)),
    make("td", {}, size(one.size_class)), make("td", {}, `${one.compiler} ${one.flags}`),
    make("td", {}, make("time", { datetime: one.time }, one.time.slice(0, 10))), make("td", { class: "number" }, String(one.recipe + 1)),
    make("td", {}, entry(one))));
  return table("Measurements", [["Machine"], ["Original", "number"], ["Recipe's", "number"], ["Gain", "number"], ["Threads", "number"], ["Data"],
    ["Compiler"], ["Measured"], ["Recipe", "number"], ["Entry"]], rows);
}

export async function showNest(view, hash, signal) {
  const [nest, steps, map] = await Promise.all([get(`/v1/nests/${encodeURIComponent(hash)}`, signal), declarations(), get("/v1/map", signal)]);
  const known = new Map(steps.map((one) => [one.name, one])), families = new Map(map.families.map((one) => [one.name, one]));
  const fact = (name, what) => make("div", {}, make("dt", {}, name), make("dd", {}, what));
  const figure = make("figure", { class: "picture" }, make("p", { class: "hint" }, "The picture is being drawn …"));
  view.append(
    make("p", { class: "crumb" }, make("a", { href: "#/" }, "Nests"), " / ", make("code", {}, nest.hash)),
    make("h1", {}, nest.name),
    make("dl", { class: "facts" }, fact("Best gain", gain(nest.gain)), fact("Family", familyMark(nest.family, families)),
      fact("Computes in", nest.type ?? "–"), fact("Loops deep", String(nest.depth ?? "–")),
      fact("Measured", count(nest.entries, "time", "times"))),
    make("section", {}, make("h2", {}, "Recipes"), nest.recipes.map((recipe, at) => recipeSection(recipe, at, nest, known))),
    make("section", {}, make("h2", {}, "Measurements"), measurements(nest),
      nest.measurements.length < nest.entries ? make("p", { class: "hint" }, `The ${nest.measurements.length} with the largest gain.`) : undefined),
    make("section", {}, make("h2", {}, "The nest in normal form"),
      make("pre", { tabindex: "0", role: "region", "aria-label": "The nest as text" }, make("code", {}, nest.text))),
    make("section", {}, make("h2", {}, "As a picture"), figure));
  draw(figure, nest, signal);
}

// Later than the rest: a large nest's takes longer than its text.
async function draw(figure, nest, signal) {
  try {
    const source = await picture(`/v1/pictures/${encodeURIComponent(nest.hash)}`, signal);
    const image = make("img", { src: source, alt: `${nest.name}: loops as nested boxes, and in each what flows from array to array. The text above says the same.` });
    signal.addEventListener("abort", () => URL.revokeObjectURL(source));
    figure.replaceChildren(make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "Picture of the nest" }, image));
  } catch (error) {
    if (!signal.aborted) figure.replaceChildren(make("p", { class: "hint" }, error.message));
  }
}
