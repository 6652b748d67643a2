// The first page: the map, and beside it the same nests as a list that can be searched.
import { get } from "./api.js";
import { count, gain, make, nestLink, notice, say } from "./dom.js";
import { NestMap, describe } from "./map.js";

const atOnce = 50;  // rows

// What the axes are made of, as tuning-db/features.h calls it.
const words = (features) => features.map((name) => name.replaceAll("_", " ")).join(", ");

export function familyMark(family, families) {
  return make("span", { class: "family", title: families?.get(family)?.summary },
    make("span", { class: `dot family-${family}`, "aria-hidden": "true" }), families?.get(family)?.title ?? family ?? "–");
}

class List {
  constructor(all, families, signal) {
    this.all = [...all].sort((a, b) => b.gain - a.gain || a.name.localeCompare(b.name));
    this.families = families;
    this.signal = signal;
    this.hidden = new Set();
    this.shown = atOnce;
    this.body = make("tbody");
    this.summary = make("p", { class: "hint" });
    this.more = make("button", { type: "button", onclick: () => this.showMore() }, "More");
    this.search = make("input", { id: "search", type: "search", maxlength: "200", spellcheck: "false", autocomplete: "off",
                                  placeholder: "gemm, a hash or an id", oninput: () => this.typed() });
    const head = (text, kind) => make("th", { scope: "col", class: kind }, text);
    this.element = make("section", { class: "list", "aria-labelledby": "list-title" },
      make("h2", { id: "list-title", class: "unseen" }, "List of nests"),
      make("label", { for: "search" }, "Search by name, hash or id"), this.search, this.summary,
      make("table", {}, make("caption", { class: "unseen" }, "Nests, the largest gain first"),
        make("thead", {}, make("tr", {}, head("Nest"), head("Family", "wide"), head("Gain", "number"))), this.body),
      this.more);
    this.found = null;
    this.render();
  }

  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.ask().catch((error) => {
      if (error.name !== "AbortError") this.summary.textContent = error.message;
    }), 250);
  }

  async ask() {
    const text = this.search.value.trim();
    this.asked?.abort();
    this.asked = new AbortController();
    this.signal.addEventListener("abort", () => this.asked.abort());
    this.shown = atOnce;
    this.found = null;
    this.next = undefined;
    if (text) await this.find(text, atOnce, this.asked.signal);
    this.render();
    say(this.summary.textContent);
  }

  // Until there are as many, or no more: of a large database an answer covers a part.
  async find(text, enough, signal) {
    const found = this.found ?? [];
    do {
      const after = this.next ? `&after=${encodeURIComponent(this.next)}` : "";
      const answer = await get(`/v1/nests?q=${encodeURIComponent(text)}${after}`, signal);
      found.push(...answer.nests.sort((a, b) => b.gain - a.gain));
      this.next = answer.next;
    } while (this.next && found.length < enough);
    this.found = found;
  }

  async showMore() {
    const first = this.body.rows.length;
    this.shown += atOnce;
    if (this.next && this.shown > this.found.length) await this.find(this.search.value.trim(), this.shown, this.signal);
    this.render();
    this.body.rows[first]?.querySelector("a").focus();
  }

  filter(hidden) {
    this.hidden = hidden;
    this.render();
  }

  render() {
    const rows = (this.found ?? this.all).filter((nest) => !this.hidden.has(nest.family));
    const most = Math.max(1, ...this.all.map((nest) => Math.log2(Math.max(1, nest.gain))));
    this.body.replaceChildren(...rows.slice(0, this.shown).map((nest) => {
      const bar = make("span", { class: `bar family-${nest.family}`, "aria-hidden": "true" });
      bar.style.width = `${(100 * Math.log2(Math.max(1, nest.gain))) / most}%`;
      return make("tr", {},
        make("td", {}, nestLink(nest.hash, nest.name), make("span", { class: "narrow hint" }, this.families.get(nest.family)?.title ?? "")),
        make("td", { class: "wide" }, familyMark(nest.family, this.families)),
        make("td", { class: "number" }, gain(nest.gain), bar));
    }));
    const left = rows.length > this.shown || this.next;
    this.more.hidden = !left;
    const what = this.found ? `${rows.length}${this.next ? " and more" : ""} found` : count(rows.length, "nest", "nests");
    this.summary.textContent = rows.length === 0 && this.found ? "Nothing is called that, and no hash or id begins so." : what;
    this.changed?.(this.found && new Set(this.found.map((nest) => nest.hash)));
  }
}

function legend(map, list, all, families) {
  const hidden = new Set();
  const buttons = [...families.values()].map((family) => {
    const many = all.filter((nest) => nest.family === family.name).length;
    if (many === 0) return undefined;
    const button = make("button", { type: "button", "aria-pressed": "true", title: family.summary, onclick: () => {
      hidden.has(family.name) ? hidden.delete(family.name) : hidden.add(family.name);
      button.setAttribute("aria-pressed", String(!hidden.has(family.name)));
      list.filter(hidden);
      map.filter(hidden, map.found);
    } }, make("span", { class: `dot family-${family.name}`, "aria-hidden": "true" }), family.title, make("span", { class: "hint" }, ` ${many}`));
    return button;
  });
  return make("div", { class: "legend", role: "group", "aria-label": "Families that are shown" }, buttons);
}

export async function showMap(view, _, signal) {
  view.append(make("h1", {}, "What this server knows"));
  const answer = await get("/v1/map", signal);
  const families = new Map(answer.families.map((family) => [family.name, family]));
  if (answer.nests.length === 0) {
    view.append(notice("No nest is known yet. A client sends what it measured with: sous db send --server URL"));
    return;
  }
  const entries = answer.nests.reduce((sum, nest) => sum + nest.entries, 0);
  view.append(make("p", { class: "lead" },
    `${count(answer.nests.length, "loop nest", "loop nests")}, ${count(entries, "measured recipe", "measured recipes")}. ` +
    "Near each other stands what computes alike; a circle is as large as the best gain that was measured."));
  if (!answer.complete) view.append(make("p", { class: "hint" }, "The map shows a sample of the database; the search looks at all of it."));
  const map = new NestMap(answer.nests, {
    signal,
    open: (nest) => { location.hash = `#/nest/${encodeURIComponent(nest.hash)}`; },
    describe: (nest) => describe(nest, families),
  });
  const list = new List(answer.nests, families, signal);
  list.changed = (found) => map.filter(list.hidden, found);
  const share = (axis) => `${Math.round(100 * axis.share)} % (${words(axis.features)})`;
  view.append(make("div", { class: "map-and-list" },
    make("section", { "aria-labelledby": "map-title" }, make("h2", { id: "map-title", class: "unseen" }, "Map of nests"),
      legend(map, list, answer.nests, families), map.element,
      make("p", { class: "hint", id: "map-keys" }, "Arrow keys go from nest to nest, Enter opens one, + and − zoom, 0 shows all; the list holds the same nests."),
      make("p", { class: "hint" }, `Of what nests differ in, it shows across ${share(answer.axes[0])} and down ${share(answer.axes[1])}.`)),
    list.element));
}
