// Classes of machines: how much speaks for each, and what is wanted there.
import { get } from "./api.js";
import { count, gain, machine, make, nestLink, notice } from "./dom.js";

function lacks(one) {
  if (!one.lacks) return undefined;
  if (one.lacks.nests === 0) return make("p", { class: "hint" }, "Nothing is wanted.");
  const rows = one.lacks.first.map((nest) => make("li", {}, make("code", {}, nest.hash.slice(0, 12)),
    ` wanted by ${count(nest.parties, "party", "parties")}, ${nest.work.toExponential(1)} executions, last on ${nest.time.slice(0, 10)}`));
  return make("div", {}, make("h3", {}, `Wanted: ${count(one.lacks.nests, "nest", "nests")}`), make("ol", { class: "wanted" }, rows));
}

function atWork(one) {
  if (!one.at_work || one.at_work.length === 0) return undefined;
  const rows = one.at_work.map((job) => make("li", {}, make("code", {}, job.hash.slice(0, 12)),
    ` ${{ tune: "is tuned", measure: "is measured again", calibrate: "is measured here, too," }[job.kind]} by ${job.worker}, since ${job.since.slice(11, 16)} UTC`));
  return make("div", {}, make("h3", {}, `At work: ${count(one.at_work.length, "worker", "workers")}`), make("ol", { class: "wanted" }, rows));
}

export async function showMachines(view, _, signal) {
  view.append(make("h1", {}, "Machines"),
    make("p", { class: "lead" }, "Measurements speak for a class of machine: its vectors, its cores and its caches, as a build uses them."));
  const { machines } = await get("/v1/machines", signal);
  if (machines.length === 0) view.append(notice("Nothing has been measured yet."));
  machines.sort((a, b) => b.entries - a.entries);
  const fact = (name, what) => make("div", {}, make("dt", {}, name), make("dd", {}, what));
  view.append(make("div", { class: "cards" }, machines.map((one) => make("article", { class: "card" },
    make("h2", {}, machine(one.class)), make("p", { class: "hint" }, make("code", {}, one.class)),
    make("dl", { class: "facts" }, fact("Entries", one.entries.toLocaleString("en")), fact("Nests", one.nests.toLocaleString("en")),
      fact("Faster", `${one.gains.toLocaleString("en")} of ${one.entries.toLocaleString("en")}`),
      one.best ? fact("Best", make("span", {}, nestLink(one.best.hash, one.best.name), ` ${gain(one.best.gain)}`)) : undefined,
      one.last ? fact("Last measured", one.last.slice(0, 10)) : undefined),
    atWork(one), lacks(one)))));
  if (machines.every((one) => !one.lacks))
    view.append(make("p", { class: "hint" }, "What the machines lack is shown to who has a token with the scope work."));
}
