"""Pictures of a summary that `sous bench report --json` printed: heat map, roofline, scaling over threads and sizes.

SVG, small: text stays text, no metadata that changes from run to run, so that a picture changes only with its data.
"""
import math

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

import work as work_of  # noqa: E402

matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "sous", "font.size": 8, "axes.spines.top": False,
                            "axes.spines.right": False})
MARKERS = "osD^v<>P*X"


def save(figure, path):
    """Writes the figure without date and program, which would change every time."""
    figure.savefig(path, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)


def others(summary):
    """(column, name) of every compiler but the baseline."""
    return [(c, name) for c, name in enumerate(summary["compilers"]) if name != summary["baseline"]]


def cell_text(cell):
    """What a cell of the heat map says, and the logarithm that colours it (None: grey)."""
    if cell is None:
        return "", None
    if "ratio" in cell:
        ratio = cell["ratio"]["value"]
        return (f"{ratio:.1f}" if ratio >= 10 else f"{ratio:.2f}"), math.log2(ratio)
    if "ratio_below" in cell:
        return f"<{cell['ratio_below']:.2f}", math.log2(cell["ratio_below"])
    return ("wrong" if "runs" in cell else "failed"), None


def row_labels(rows):
    """Program names, with size and type where these differ between rows."""
    several = len({(r["size"], r["type"]) for r in rows}) > 1
    return [" ".join([r["program"], r["size"], r["type"]]) if several else r["program"] for r in rows]


def heat_map(summary, path):
    """Speed-ups over the baseline, programs x compilers; below, geometric means with their 95 % intervals."""
    rows, columns = summary["rows"], others(summary)
    figure, axes = pyplot.subplots(figsize=(1.6 + 0.75 * len(columns), 0.8 + 0.21 * (len(rows) + 2)))
    limit = 5  # 32 times faster or slower has the strongest colour
    norm = matplotlib.colors.Normalize(-limit, limit)
    colours = matplotlib.colormaps["RdYlGn"]

    def draw(x, y, text, level, bold=False):
        face = "#dddddd" if level is None else colours(norm(max(-limit, min(limit, level))))
        if text:
            axes.add_patch(pyplot.Rectangle((x, y), 1, 1, facecolor=face, edgecolor="white"))
            axes.text(x + 0.5, y + 0.5, text, ha="center", va="center", fontsize=7,
                      weight="bold" if bold else "normal")

    for y, row in enumerate(rows):
        for x, (c, _) in enumerate(columns):
            draw(x, y, *cell_text(row["cells"][c]))
    for x, (c, _) in enumerate(columns):
        mean = summary["means"][c]
        if mean:
            draw(x, len(rows) + 0.3, f"{mean['value']:.2f}\n{mean['low']:.2f}–{mean['high']:.2f}",
                 math.log2(mean["value"]), bold=True)
    axes.set_xlim(0, max(1, len(columns)))
    axes.set_ylim(len(rows) + 1.7, 0)
    axes.set_xticks([x + 0.5 for x in range(len(columns))], [name for _, name in columns], rotation=30, ha="left")
    axes.xaxis.tick_top()
    axes.set_yticks([y + 0.5 for y in range(len(rows))] + [len(rows) + 0.8], row_labels(rows) + ["geometric mean"])
    axes.tick_params(length=0)
    for side in axes.spines.values():
        side.set_visible(False)
    save(figure, path)


def points(summary, column, suite):
    """(program, operations per byte, operations per second) where both are known."""
    found = []
    for row in summary["rows"]:
        cell = row["cells"][column]
        needed = work_of.work(suite, row["program"], row["size"], row["type"])
        if cell and needed and cell.get("right") and cell.get("seconds"):
            operations, moved = needed
            found.append((row["program"], operations / moved, operations / cell["seconds"]))
    return found


def peaks(summary, element_type):
    """(operations per second of all cores, of one core, bytes per second): medians over what was measured beside the
    programs, as a shared machine has faster and slower minutes."""
    machines = [cell["machine"] for row in summary["rows"] for cell in row["cells"] if cell]
    kind = "f32" if element_type == "float" else "f64"

    def middle(key):
        values = sorted(m[key] for m in machines if m.get(key))
        return values[len(values) // 2] if values else None
    return middle(f"fma_{kind}_all"), middle(f"fma_{kind}_core"), middle("triad_bytes")


def roofline(summary, compilers, suite, path):
    """Each program at the operations per byte that it needs at least, under the measured roofs."""
    figure, axes = pyplot.subplots(figsize=(6.4, 4.2))
    types = [row["type"] for row in summary["rows"]]
    everywhere, one, bandwidth = peaks(summary, max(set(types), key=types.count))
    lows, highs = [1 / 16], [4096]
    for index, name in enumerate(compilers):
        column = summary["compilers"].index(name)
        found = points(summary, column, suite)
        axes.scatter([p[1] for p in found], [p[2] / 1e9 for p in found], s=14, marker=MARKERS[index % len(MARKERS)],
                     label=name, zorder=3, alpha=0.8)
        lows += [p[1] for p in found]
        highs += [p[1] for p in found]
        if index == len(compilers) - 1:
            for program, intensity, speed in found:
                axes.annotate(program, (intensity, speed / 1e9), fontsize=5, xytext=(2, 2), textcoords="offset points")
    reach = [min(lows) / 1.5, max(highs) * 1.5]
    if bandwidth and everywhere:
        for peak, style, label in ((everywhere, "-", "all cores"), (one, ":", "one core")):
            knee = peak / bandwidth
            axes.plot([reach[0], knee, reach[1]], [reach[0] * bandwidth / 1e9, peak / 1e9, peak / 1e9], style,
                      color="black", linewidth=0.8, label=f"{peak / 1e9:.0f} GFLOP/s, {label}")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xlabel("operations per byte that must be moved" +
                    (f" ({bandwidth / 1e9:.0f} GB/s triad)" if bandwidth else ""))
    axes.set_ylabel("10⁹ operations per second")
    axes.legend(fontsize=6, frameon=False)
    save(figure, path)


def scaling(path, groups, xlabel):
    """One small picture per program: seconds over x for each line of `groups`.

    groups: {program: {line: [(x, seconds), …]}}
    """
    names = sorted(groups)
    across = min(6, max(1, len(names)))
    down = math.ceil(len(names) / across) if names else 1
    figure, grid = pyplot.subplots(down, across, figsize=(1.5 * across, 1.25 * down), squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place >= len(names):
            axes.set_visible(False)
            continue
        for index, (line, values) in enumerate(sorted(groups[names[place]].items())):
            xs, ys = zip(*values)
            axes.plot(xs, ys, marker=MARKERS[index % len(MARKERS)], markersize=2.5, linewidth=0.8, label=line)
        axes.set_title(names[place], fontsize=6, pad=2)
        axes.set_yscale("log")
        axes.tick_params(labelsize=4)
        axes.minorticks_off()  # thousands of ticks would be most of the file
        if isinstance(values[0][0], (int, float)):
            axes.set_xticks(sorted({x for line in groups[names[place]].values() for x, _ in line}))
    if names:
        handles, labels = grid.flat[0].get_legend_handles_labels()
        figure.legend(handles, labels, fontsize=6, loc="lower center", ncol=max(1, len(labels)), frameon=False,
                      bbox_to_anchor=(0.5, -0.04))
    figure.supxlabel(xlabel, fontsize=7)
    figure.supylabel("seconds", fontsize=7, x=-0.01)
    figure.tight_layout(pad=0.4)
    save(figure, path)


def timed(cell):
    return cell is not None and cell.get("right") and cell.get("seconds")


def over_threads(summary):
    """{program size: {compiler: [(threads, seconds)]}} of compilers that ran with several numbers of threads."""
    groups = {}
    for row in summary["rows"]:
        for c, name in enumerate(summary["compilers"]):
            cell = row["cells"][c]
            if timed(cell):
                lines = groups.setdefault(f"{row['program']} {row['size']}", {})
                lines.setdefault(name.split("@")[0], []).append((cell["threads"], cell["seconds"]))
    kept = {}
    for program, lines in groups.items():
        lines = {name: sorted(values) for name, values in lines.items() if len({x for x, _ in values}) > 1}
        if lines:
            kept[program] = lines
    return kept


def over_sizes(summary):
    """{program: {compiler: [(size, seconds)]}} of programs that ran at several sizes, in the order of the sizes."""
    groups = {}
    order = {size: place for place, size in enumerate(work_of.SIZES)}
    for row in summary["rows"]:
        for c, name in enumerate(summary["compilers"]):
            if timed(row["cells"][c]):
                lines = groups.setdefault(row["program"], {})
                lines.setdefault(name, []).append((row["size"], row["cells"][c]["seconds"]))
    kept = {}
    for program, lines in groups.items():
        lines = {name: sorted(values, key=lambda v: order.get(v[0], 99)) for name, values in lines.items()
                 if len({x for x, _ in values}) > 1}
        if lines:
            kept[program] = lines
    return kept
