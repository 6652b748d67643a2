// The map: a circle for each nest, its place that of the embedding's two principal components, its size the gain.
import { draw, gain, make, say } from "./dom.js";

const radius = (ratio) => Math.min(13, 3 + 1.4 * Math.max(0, Math.log2(ratio)));
const margin = 0.08;

export class NestMap {
  // `open(nest)`: it was chosen. `describe(nest)`: one line about it. `signal`: the map is not shown any more.
  constructor(nests, { open, describe, signal }) {
    this.nests = [...nests].sort((a, b) => b.gain - a.gain);  // small circles lie on large ones
    this.open = open;
    this.signal = signal;
    this.describe = describe;
    this.hidden = new Set();
    this.found = null;
    const xs = nests.map((n) => n.x), ys = nests.map((n) => n.y);
    const [left, right] = [Math.min(...xs, 0), Math.max(...xs, 0)], [top, bottom] = [Math.min(...ys, 0), Math.max(...ys, 0)];
    this.whole = { x: (left + right) / 2, y: (top + bottom) / 2, w: (right - left || 1) * (1 + 2 * margin), h: (bottom - top || 1) * (1 + 2 * margin) };
    this.build();
    this.reset();
  }

  build() {
    this.tip = make("div", { class: "tip", hidden: true });
    this.points = draw("g");
    this.ring = draw("circle", { class: "ring", r: 0 });
    this.svg = draw("svg", { class: "map", tabindex: "0", role: "application", "aria-roledescription": "map", "aria-describedby": "map-keys", "aria-label": "Map of nests" }, this.points, this.ring);
    this.circles = new Map();
    this.nests.forEach((nest, at) => {
      const circle = draw("circle", { class: `point family-${nest.family}`, r: radius(nest.gain), "data-at": at });
      this.circles.set(nest, circle);
      this.points.append(circle);
    });
    const button = (label, text, act) => make("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
    this.element = make("div", { class: "map-frame" }, this.svg, this.tip,
      make("div", { class: "zoom", role: "group", "aria-label": "Zoom" },
        button("Zoom in", "+", () => this.zoom(1 / 1.5)), button("Zoom out", "−", () => this.zoom(1.5)),
        button("Show all", "⤢", () => this.reset())));
    this.listen();
    new ResizeObserver(() => this.place()).observe(this.svg);
  }

  listen() {
    const at = (event) => this.nests[event.target.dataset?.at];
    this.svg.addEventListener("pointermove", (event) => (this.drag ? this.pan(event) : this.choose(at(event), false)));
    this.svg.addEventListener("pointerleave", () => this.choose(undefined, false));
    this.svg.addEventListener("pointerdown", (event) => {
      this.drag = { x: event.clientX, y: event.clientY, far: false, nest: at(event) };
    });
    addEventListener("pointerup", () => {
      const drag = this.drag;
      this.drag = undefined;
      if (drag && !drag.far && drag.nest) this.open(drag.nest);
    }, { signal: this.signal });
    // A finger that scrolls the page.
    addEventListener("pointercancel", () => { this.drag = undefined; }, { signal: this.signal });
    // The page scrolls by the wheel; with ctrl, as everywhere, it zooms.
    this.svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(event.deltaY > 0 ? 1.2 : 1 / 1.2);
    }, { passive: false });
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("blur", () => this.choose(undefined, false));
  }

  key(event) {
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const act = { "+": () => this.zoom(1 / 1.5), "=": () => this.zoom(1 / 1.5), "-": () => this.zoom(1.5), 0: () => this.reset(),
                  Enter: () => this.chosen && this.open(this.chosen), Escape: () => this.choose(undefined, false) };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (arrows[event.key]) this.step(...arrows[event.key]);
    else if (act[event.key]) act[event.key]();
    else return;
    event.preventDefault();
  }

  // To the nearest nest in a direction, within 45 degrees of it first.
  step(dx, dy) {
    const shown = this.nests.filter((nest) => this.visible(nest));
    if (!this.chosen || !this.visible(this.chosen)) return this.choose(shown[0], true);
    let best, least = Infinity;
    for (const nest of shown) {
      const x = nest.x - this.chosen.x, y = nest.y - this.chosen.y, along = x * dx + y * dy, off = Math.abs(x * dy) + Math.abs(y * dx);
      if (nest === this.chosen || along <= 0) continue;
      const cost = along + 3 * off;
      if (cost < least) [best, least] = [nest, cost];
    }
    if (best) this.choose(best, true);
  }

  visible(nest) {
    return !this.hidden.has(nest.family) && (!this.found || this.found.has(nest.hash));
  }

  // `byKey`: it is read out, and brought into the frame.
  choose(nest, byKey) {
    this.chosen = nest;
    this.tip.hidden = !nest;
    this.svg.classList.toggle("over", Boolean(nest));
    if (nest) {
      const { x, y } = this.at(nest), { width, height } = this.svg.getBoundingClientRect();
      if (byKey && (x < 20 || y < 20 || x > width - 20 || y > height - 20)) {
        Object.assign(this.frame, { x: nest.x, y: nest.y });
        this.place();
      }
      this.tip.replaceChildren(make("strong", {}, nest.name), make("span", {}, this.describe(nest)));
      const to = this.at(nest);
      this.tip.style.left = `${Math.min(Math.max(to.x, 90), width - 90)}px`;
      this.tip.style.top = `${to.y}px`;
      this.tip.classList.toggle("below", to.y < 90);
      if (byKey) say(`${nest.name}, ${this.describe(nest)}`);
    }
    this.mark();
  }

  mark() {
    this.ring.setAttribute("r", this.chosen ? radius(this.chosen.gain) + 3 : 0);
    if (!this.chosen) return;
    const { x, y } = this.at(this.chosen);
    this.ring.setAttribute("cx", x);
    this.ring.setAttribute("cy", y);
  }

  // `families`: not to be shown. `found`: hashes that alone are to be; null: all.
  filter(hidden, found) {
    this.hidden = hidden;
    this.found = found;
    for (const [nest, circle] of this.circles) {
      circle.classList.toggle("off", hidden.has(nest.family));
      circle.classList.toggle("faint", !this.visible(nest));
      if (this.visible(nest)) this.points.append(circle);  // above those that only say where the others are
    }
  }

  reset() {
    this.frame = { x: this.whole.x, y: this.whole.y, zoom: 1 };
    this.place();
  }

  zoom(by) {
    this.frame.zoom = Math.min(40, Math.max(1, this.frame.zoom / by));
    if (this.frame.zoom === 1) Object.assign(this.frame, { x: this.whole.x, y: this.whole.y });
    this.place();
    say(`Zoom ${this.frame.zoom.toFixed(1)}`);
  }

  pan(event) {
    const dx = event.clientX - this.drag.x, dy = event.clientY - this.drag.y;
    if (!this.drag.far && Math.hypot(dx, dy) < 5) return;
    Object.assign(this.drag, { x: event.clientX, y: event.clientY, far: true });
    this.frame.x -= dx / this.scale;
    this.frame.y -= dy / this.scale;
    this.place();
  }

  at(nest) {
    const { width, height } = this.area;
    return { x: width / 2 + (nest.x - this.frame.x) * this.scale, y: height / 2 + (nest.y - this.frame.y) * this.scale };
  }

  place() {
    const { width, height } = this.svg.getBoundingClientRect();
    this.area = { width: width || 1, height: height || 1 };
    this.scale = this.frame.zoom * Math.min((this.area.width - 30) / this.whole.w, (this.area.height - 30) / this.whole.h);
    for (const [nest, circle] of this.circles) {
      const { x, y } = this.at(nest);
      circle.setAttribute("cx", x.toFixed(1));
      circle.setAttribute("cy", y.toFixed(1));
    }
    this.mark();
  }
}

export const describe = (nest, families) =>
  `${families.get(nest.family)?.title ?? "not placed"}, ${gain(nest.gain)}, ${nest.type}, ${nest.depth} deep`;
