// Making elements. What comes from the database is only ever a child, which becomes text: nothing here reads HTML.

export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  fill(element, properties, children);
  return element;
}

export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== undefined && child !== null));
}

// Read out by screen readers, shown to nobody.
export function say(text) {
  document.getElementById("said").textContent = text;
}

export function notice(text, kind = "") {
  return make("p", { class: `notice ${kind}` }, text);
}

export function count(number, one, many) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

export const gain = (ratio) => `${ratio >= 100 ? ratio.toFixed(0) : ratio >= 10 ? ratio.toFixed(1) : ratio.toFixed(2)} ×`;

export function seconds(value) {
  if (value >= 1) return `${value.toPrecision(3)} s`;
  if (value >= 1e-3) return `${(value * 1e3).toPrecision(3)} ms`;
  return `${(value * 1e6).toPrecision(3)} µs`;
}

export const nestLink = (hash, ...text) => make("a", { href: `#/nest/${encodeURIComponent(hash)}` }, ...text);

// "x86-64:avx512:2c:l2=1M:l3=32M" for people. What is no such class is shown as it is.
export function machine(text) {
  const parts = /^([^:]+):([^:]+):(\d+)c:l2=([^:]+):l3=([^:]+)(.*)$/.exec(text);
  if (!parts) return text;
  const vectors = { avx512: "AVX-512", avx2: "AVX2", sse: "SSE", neon: "NEON", scalar: "no vectors" };
  const [, architecture, isa, cores, l2, l3, rest] = parts;
  return `${architecture}, ${vectors[isa] ?? isa}, ${count(Number(cores), "core", "cores")}, L2 ${l2}, L3 ${l3}${rest}`;
}

// "4^11:8": what that is in bytes.
export function size(text) {
  const parts = /^4\^(\d+):(\d+)$/.exec(text);
  if (!parts) return text.startsWith("unknown") ? "not known" : text;
  let bytes = 4 ** Number(parts[1]);
  for (const unit of ["B", "KiB", "MiB", "GiB", "TiB"]) {
    if (bytes < 1024 || unit === "TiB") return `from ${bytes} ${unit}`;
    bytes /= 1024;
  }
}

// A table that scrolls by itself where it is too wide: by keyboard too, hence the tabindex.
export function table(caption, heads, rows) {
  return make("div", { class: "scroll", role: "region", "aria-label": caption, tabindex: "0" },
    make("table", {},
      make("caption", { class: "unseen" }, caption),
      make("thead", {}, make("tr", {}, heads.map(([text, kind]) => make("th", { scope: "col", class: kind }, text)))),
      make("tbody", {}, rows)));
}
