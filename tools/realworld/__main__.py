#!/usr/bin/env python3
"""Real programs through the launcher: each project is built as it is and with Sous before the compiler, and its own
tests must say the same.

    python3 tools/realworld --sous build/sous              all projects
    python3 tools/realworld --sous build/sous zlib lua     some
    python3 tools/realworld --sous build/sous --cut        a few small ones, the hard mode only

Sources, builds and results lie in --cache (default: ${XDG_CACHE_HOME:-~/.cache}/sous-realworld).
"""
import argparse
import dataclasses
import hashlib
import json
import os
import pathlib
import sys
import time

import build as builds
import inputs
import projects
import report
import sources

FLAGS = ("-O2", "-O3 -march=native")
WITH_DEBUG = ("zlib", "libgsm")
TO_UNPACK = ("dpkg-dev",)
CUT = ("zlib", "bzip2", "lua", "libgsm")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "sous-realworld"
    parser.add_argument("project", nargs="*", help="names of projects (default: all)")
    parser.add_argument("--sous", required=True, type=pathlib.Path)
    parser.add_argument("--cc", default="clang-19")
    parser.add_argument("--cut", action="store_true", help="a few small projects, at -O2, every nest rewritten")
    parser.add_argument("--if-reachable", action="store_true",
                        help="what the archive of source packages does not give is said, and is no failure")
    parser.add_argument("--mode", action="append", choices=[m for m in builds.MODES if m != "plain"])
    parser.add_argument("--flags", action="append", help=f"default: {', '.join(FLAGS)}")
    parser.add_argument("--cache", type=pathlib.Path, default=default)
    parser.add_argument("--resume", action="store_true",
                        help="go on with the newest run of this same sous: what has a row is not built again")
    parser.add_argument("--again", action="store_true", help="build without Sous again, too")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--table", action="store_true", help="build nothing: the newest row of each kind, as Markdown")
    parser.add_argument("--list", action="store_true", help="only name the projects")
    return parser.parse_args()


def configurations(project, options):
    flags = options.flags or (FLAGS[:1] if options.cut else FLAGS)
    debug = ["-O2 -g"] if project.name in WITH_DEBUG and not options.flags and not options.cut else []
    return [*flags, *debug]


def plain_build(builder, project, flags, cache, again):
    """The build without Sous is kept: it does not change from one version of Sous to the next."""
    key = f"{dataclasses.replace(project, minutes=0)} {flags} {builder.compiler}"
    path = cache / "plain" / (project.name + flags.replace(" ", "_") + ".json")
    if path.exists() and not again:
        kept = json.loads(path.read_text())
        if kept.pop("key") == key:
            return builds.Build(**kept)
    build = builder.run(project, flags, "plain")
    path.parent.mkdir(parents=True, exist_ok=True)
    if build.ok:
        path.write_text(json.dumps({"key": key, **dataclasses.asdict(build)}))
    return build


def modes(options):
    return options.mode or (["rewritten"] if options.cut else ["served", "rewritten"])


def run_project(builder, project, options, done, write):
    sources.install((*TO_UNPACK, *project.dependencies))
    for flags in configurations(project, options):
        missing = [mode for mode in modes(options) if (project.name, flags, mode) not in done]
        if not missing:
            continue
        plain = plain_build(builder, project, flags, options.cache, options.again)
        if not plain.ok:
            raise sources.SourceError(f"{flags}: without Sous: {plain.why}")
        for mode in missing:
            start = time.monotonic()
            row = report.row(plain, builder.run(project, flags, mode))
            write(row)
            print(f"{report.terminal([row]).splitlines()[1]}   ({time.monotonic() - start:.0f} s)", flush=True)
            for problem in row["problems"]:
                print(f"    {problem}", flush=True)


def results_folder(options):
    """(the folder of this run's results, the rows that are in it already; those with a problem are tried again)."""
    digest = hashlib.sha256(options.sous.read_bytes()).hexdigest()
    if options.resume:
        for folder in sorted((options.cache / "results").glob("*"), reverse=True):
            rows, of = folder / "rows.jsonl", folder / "sous"
            if rows.exists() and of.exists() and of.read_text() == digest:
                kept = [json.loads(line) for line in rows.read_text().splitlines()]
                return folder, [row for row in kept if not row["problems"]]
    folder = options.cache / "results" / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    folder.mkdir(parents=True)
    (folder / "sous").write_text(digest)
    return folder, []


def print_table(cache, chosen):
    """The newest row for each project, flags and mode, of whatever run."""
    newest = {}
    for path in sorted((cache / "results").glob("*/rows.jsonl")):
        for line in path.read_text().splitlines():
            row = json.loads(line)
            newest[row["project"], row["flags"], row["mode"]] = row
    order = [p.name for p in chosen]
    rows = sorted((r for r in newest.values() if r["project"] in order),
                  key=lambda r: (order.index(r["project"]), r["flags"], r["mode"]))
    print(report.markdown(rows), "", report.reasons_markdown(rows), sep="\n")
    for row in rows:
        for problem in row["problems"]:
            print(f"- {row['project']} {row['flags']} {row['mode']}: {problem}")


def main():
    options = arguments()
    chosen, complaint = projects.find(options.project or (CUT if options.cut else ()))
    if complaint:
        sys.exit(complaint)
    if options.list:
        print("\n".join(p.name for p in chosen))
        return 0
    if options.table:
        print_table(options.cache, chosen)
        return 0
    os.nice(max(0, 10 - os.nice(0)))
    results, rows = results_folder(options)
    builder = builds.Builder(sources.Sources(options.cache), options.sous.resolve(), options.cc,
                             inputs.write(options.cache / "inputs"), options.cache / "build", results, options.jobs)

    def write(row):
        rows.append(row)
        with open(results / "rows.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")

    not_built, unreached = [], []
    for project in chosen:
        try:
            run_project(builder, project, options, {(r["project"], r["flags"], r["mode"]) for r in rows}, write)
        except sources.Unreachable as error:
            unreached.append(f"{project.name}: {error}")
            print(f"    not reached: {unreached[-1]}", flush=True)
        except sources.SourceError as error:
            not_built.append(f"{project.name}: {error}")
            print(f"    {not_built[-1]}", flush=True)
    (results / "table.md").write_text(report.markdown(rows) + "\n\n" + report.reasons_markdown(rows) + "\n")
    print(f"\n{report.terminal(rows)}\n\nNot lifted, by reason: " +
          ", ".join(f"{c} {n}" for c, n in report.reasons(rows).most_common(15)))
    wrong = [f"{r['project']} {r['flags']} {r['mode']}: {p}" for r in rows for p in r["problems"]]
    for line in wrong + not_built:
        print(f"problem: {line}")
    for line in unreached:
        print(f"not reached, so not tried: {line}")
    print(f"results: {results}")
    return 1 if wrong or not_built or (unreached and not options.if_reachable) else 0


if __name__ == "__main__":
    sys.exit(main())
