#!/usr/bin/env python3
"""Writes docs/performance.md and its pictures from files of measurements.

The numbers are those of `sous bench report --json`: nothing is computed here but what is shown. Pictures need
python3-matplotlib.
"""
import argparse
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
try:
    import charts
except ImportError as error:
    sys.exit(f"{error}: ./x bench-setup installs it (Debian package python3-matplotlib)")

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SUITES = ROOT / "benchmarks"
LOSS = 0.97  # slower than this is a loss: within 3 % is the same


def report(sous, files, baseline):
    command = [sous, "bench", "report", "--json", *files]
    if baseline:
        command.append(f"--baseline={baseline}")
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr.strip())
    return json.loads(done.stdout)


def cells(summary):
    return [cell for row in summary["rows"] for cell in row["cells"] if cell]


def circumstances(summary):
    dates = sorted(cell["date"] for cell in cells(summary))
    loaded = sum(1 for row in summary["rows"]
                 if any(cell and cell["machine"].get("loaded") for cell in row["cells"]))
    lines = [f"- Date: {dates[0][:10]}" + (f" to {dates[-1][:10]}" if dates[-1][:10] != dates[0][:10] else "") +
             f", {len({cell['session'] for cell in cells(summary)})} session(s)"]
    if loaded:
        lines.append(f"- Other programs were running beside {loaded} of the {len(summary['rows'])} programs")
    return lines


def facts(summary):
    """Machine, dates, compilers: what the numbers depend on."""
    machine = cells(summary)[0]["machine"]
    lines = [f"- Machine: {machine['model']} ({machine['architecture']}, {machine['isa']}), {machine['cores']} cores, "
             f"caches {machine['l1_bytes'] >> 10} KiB, {machine['l2_bytes'] >> 10} KiB, {machine['l3_bytes'] >> 20} MiB"]
    for kind, element in (("f64", "double"), ("f32", "float")):
        everywhere, one, bandwidth = charts.peaks(summary, element)
        if everywhere:
            lines.append(f"- Peak of {kind} fma, median of what was measured beside the programs: "
                         f"{one / 1e9:.1f} GFLOP/s on one core, {everywhere / 1e9:.1f} on all")
    if bandwidth:
        lines.append(f"- Triad: {bandwidth / 1e9:.1f} GB/s on all cores")
    lines += circumstances(summary)
    for index, name in enumerate(summary["compilers"]):
        own = [row["cells"][index] for row in summary["rows"] if row["cells"][index]]
        command = " && ".join(" ".join(words) for words in own[0]["commands"])
        said = own[0].get("library") or own[0].get("identity") or ""
        lines.append(f"- `{name}`: {said}{'; ' if said else ''}{own[0]['threads'] or 'default'} thread(s); `{command}`")
    return lines


def seconds(value):
    return f"{value:.3f}" if value >= 0.1 else f"{value * 1000:.3g} ms"


def table(summary):
    """Baseline's seconds, the others' ratios; a star where there were fewer runs than asked for."""
    base = summary["compilers"].index(summary["baseline"])
    columns = charts.others(summary)
    out = ["| program | " + f"{summary['baseline']}, s | " + " | ".join(name for _, name in columns) + " |",
           "|---|---:|" + "---:|" * len(columns)]
    for label, row in zip(charts.row_labels(summary["rows"]), summary["rows"]):
        texts = []
        for c, _ in columns:
            cell = row["cells"][c]
            text = charts.cell_text(cell)[0] or "–"
            few = cell and len(cell.get("runs", [])) < cell.get("wanted_runs", 0)
            texts.append(text + ("*" if few else ""))
        own = row["cells"][base]
        out.append(f"| {label} | {seconds(own['seconds']) if own and 'seconds' in own else '–'} | " +
                   " | ".join(texts) + " |")
    means, intervals = [], []
    for c, _ in columns:
        mean = summary["means"][c]
        means.append(f"**{mean['value']:.2f}**" if mean else "–")
        intervals.append(f"{mean['low']:.2f}–{mean['high']:.2f}" if mean else "–")
    out.append("| **geometric mean** | | " + " | ".join(means) + " |")
    out.append("| 95 % interval | | " + " | ".join(intervals) + " |")
    return out


def ours(summary):
    return [name for name in summary["compilers"] if name.split("@")[0].split("+")[0] == "sous"]


def losses(summary):
    """Where Sous is slower than another column with no more threads, by more than 3 %."""
    out = []
    for name in ours(summary):
        own = summary["compilers"].index(name)
        for label, row in zip(charts.row_labels(summary["rows"]), summary["rows"]):
            mine = row["cells"][own]
            if not charts.timed(mine):
                if mine:
                    out.append(f"- {name}, {label}: {charts.cell_text(mine)[0]}")
                continue
            better = []
            for c, other in enumerate(summary["compilers"]):
                cell = row["cells"][c]
                if other in ours(summary) or not charts.timed(cell) or cell["threads"] > mine["threads"]:
                    continue
                if cell["seconds"] / mine["seconds"] < LOSS:
                    better.append((cell["seconds"], f"{other} ({mine['seconds'] / cell['seconds']:.2f} times faster)"))
            if better:
                out.append(f"- {name}, {label}: " + ", ".join(text for _, text in sorted(better)))
    return out


def picture(name, about, folder):
    return f"![{about}]({folder.name}/{name}.svg)"


def section(title, summary):
    """What was measured apart from the main table: other types, sizes, flags."""
    return [f"## {title}", "", *circumstances(summary), "", *table(summary), "", "Losses as above:", "",
            *(losses(summary) or ["None."]), ""]


def page(summary, sizes, others, out, suite):
    folder = out.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    shown = [summary["baseline"], *ours(summary)]
    charts.heat_map(summary, folder / "heat-map.svg")
    charts.roofline(summary, shown, suite, folder / "roofline.svg")
    text = ["# Performance", "",
            "Generated by `./x performance`, losses included. How times are taken: [benchmarks.md](benchmarks.md).", "",
            *facts(summary), "", "## Speed-ups", "",
            f"Times faster than `{summary['baseline']}` in the same interleaved session, medians; every result was "
            "checked against an unoptimized build. A star: fewer runs than asked for, for want of time. A figure "
            "behind < : stopped, as it took too long.", "",
            picture("heat-map", "Heat map of speed-ups", folder), "", *table(summary), "",
            "## Where Sous loses", "",
            "Columns with no more threads than Sous that were faster by more than 3 %:", "",
            *(losses(summary) or ["Nowhere."]), "",
            *(line for title, measured in others for line in section(title, measured)),
            "## Roofline", "", "Operations per byte are those that a program needs at least (each array moved once); a "
            "point can lie above the slanted roof only where data stayed in a cache.", "",
            picture("roofline", "Roofline", folder), ""]
    for name, title, groups, xlabel in (
            ("threads", "Threads", charts.over_threads(summary), "threads"),
            ("sizes", "Sizes", charts.over_sizes(sizes), "size")):
        if groups:
            charts.scaling(folder / f"{name}.svg", groups, xlabel)
            text += [f"## {title}", "", picture(name, f"Scaling over {name}", folder), ""]
        else:
            (folder / f"{name}.svg").unlink(missing_ok=True)
    out.write_text("\n".join(text))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", help="JSON lines that sous bench --out wrote")
    parser.add_argument("--sizes", nargs="*", default=[], help="measurements at other sizes: for that picture alone")
    parser.add_argument("--section", nargs=2, action="append", default=[], metavar=("TITLE", "FILE"),
                        help="measurements with a table of their own")
    parser.add_argument("--sous", required=True)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "performance.md")
    parser.add_argument("--baseline", default="")
    arguments = parser.parse_args()
    summary = report(arguments.sous, arguments.files, arguments.baseline)
    if not cells(summary):
        sys.exit("there are no measurements in " + ", ".join(arguments.files))
    sizes = report(arguments.sous, arguments.files + arguments.sizes, arguments.baseline)
    others = [(title, report(arguments.sous, [file], arguments.baseline)) for title, file in arguments.section]
    others = [(title, measured) for title, measured in others if cells(measured)]
    page(summary, sizes, others, arguments.out, SUITES / summary["suite"] / "suite.json")
    print(arguments.out)


if __name__ == "__main__":
    main()
