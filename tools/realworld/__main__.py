#!/usr/bin/env python3
"""Real programs through the launcher: each project is built as it is and with Sous before the compiler, and its own
tests must say the same.

    python3 tools/realworld --sous build/sous              all projects
    python3 tools/realworld --sous build/sous zlib lua     some
    python3 tools/realworld --sous build/sous --cut        a few small ones, the hard mode only
    python3 tools/realworld --sous build/sous --speed      how fast they run (--tune 10: after sous tune, too)

Sources, builds and results lie in --cache (default: ${XDG_CACHE_HOME:-~/.cache}/sous-realworld).
"""
import argparse
import concurrent.futures
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
import workloads

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import results as record
import speed  # noqa: E402 (finds results by the path above)

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
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        help="builds at a time, each with as many compilations (configuring and most tests use one processor)")
    parser.add_argument("--record", action="store_true", help="add the rows to tests/results.jsonl")
    parser.add_argument("--table", action="store_true", help="build nothing: the newest row of each kind, as Markdown")
    parser.add_argument("--speed", action="store_true",
                        help="time work of seconds: built plainly and with Sous, in turns")
    parser.add_argument("--tune", type=int, metavar="MINUTES",
                        help="with --speed: sous tune of each project for so long, hottest nest first, and a third build")
    parser.add_argument("--budget", default="30s", help="with --tune: for each nest (default: %(default)s)")
    parser.add_argument("--runs", type=int, default=5, help="with --speed: turns that count (default: %(default)s)")
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


def available(chosen, source):
    """(the projects that can be tried, why others cannot). One at a time: apt has locks."""
    found, unreached = [], []
    for project in chosen:
        try:
            sources.install((*TO_UNPACK, *project.dependencies))
            source.fetch(project.package)
            found.append(project)
        except sources.Unreachable as error:
            unreached.append(f"{project.name}: {error}")
            print(f"    not reached: {unreached[-1]}", flush=True)
    return found, unreached


def run_task(builder, project, flags, missing, options):
    """The rows of one project under one set of flags, each written as soon as it is there; why there are none, or ""."""
    try:
        plain = plain_build(builder, project, flags, options.cache, options.again)
        if not plain.ok:
            raise sources.SourceError(f"{flags}: without Sous: {plain.why}")
        for mode in missing:
            start = time.monotonic()
            row = report.row(plain, builder.run(project, flags, mode))
            with open(rows_file(builder.results), "ab", buffering=0) as file:  # a single write: other builds append, too
                file.write((json.dumps(row) + "\n").encode())
            print("\n".join([f"{report.terminal([row]).splitlines()[1]}   ({time.monotonic() - start:.0f} s)",
                             *(f"    {problem}" for problem in row["problems"])]), flush=True)
    except sources.SourceError as error:
        print(f"    {project.name}: {error}", flush=True)
        return f"{project.name}: {error}"
    return ""


def rows_file(results):
    return results / "rows.jsonl"


def newest_rows(folders):
    """The last row of each project, flags and mode in these results, oldest folder first; in the order of the projects."""
    newest = {}
    for path in map(rows_file, folders):
        for line in path.read_text().splitlines() if path.exists() else ():
            row = json.loads(line)
            newest[row["project"], row["flags"], row["mode"]] = row
    order = [p.name for p in projects.PROJECTS]
    return sorted((r for r in newest.values() if r["project"] in order),
                  key=lambda r: (order.index(r["project"]), r["flags"], r["mode"]))


def sous_digest(sous):
    programs = (sous, sous.with_name("sous-core"))
    return hashlib.sha256(b"".join(program.read_bytes() for program in programs)).hexdigest()


def results_folder(options):
    """The folder of this run's results: a new one, or with --resume that of the last run of this sous."""
    digest = sous_digest(options.sous)
    if options.resume:
        for folder in sorted((options.cache / "results").glob("*"), reverse=True):
            of = folder / "sous"
            if of.exists() and of.read_text() == digest:
                return folder
    folder = options.cache / "results" / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
    folder.mkdir(parents=True)
    (folder / "sous").write_text(digest)
    return folder


def print_table(cache, chosen):
    """The newest row for each project, flags and mode, of whatever run."""
    names = {p.name for p in chosen}
    rows = [row for row in newest_rows(sorted((cache / "results").glob("*"))) if row["project"] in names]
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
    source = sources.Sources(options.cache)
    if options.speed:
        found, unreached = available([p for p in chosen if p.name in workloads.WORKLOADS], source)
        return speed.main(found, source, options.flags or speed.FLAGS, options, sous_digest(options.sous)) or \
            (1 if unreached and not options.if_reachable else 0)
    os.nice(max(0, 10 - os.nice(0)))
    results = results_folder(options)
    builder = builds.Builder(source, options.sous.resolve(), options.cc, inputs.write(options.cache / "inputs"),
                             options.cache / "build", results, options.jobs)
    # What has a problem is tried again.
    done = {(r["project"], r["flags"], r["mode"]) for r in newest_rows([results]) if not r["problems"]}
    found, unreached = available(chosen, source)
    tasks = []
    for project in sorted(found, key=lambda p: -p.minutes):  # the longest first, so that none runs alone at the end
        for flags in configurations(project, options):
            missing = [mode for mode in modes(options) if (project.name, flags, mode) not in done]
            if missing:
                tasks.append((project, flags, missing))
    # Processes, since each counts the processor time of what it started.
    with concurrent.futures.ProcessPoolExecutor(options.jobs) as pool:
        ran = [pool.submit(run_task, builder, *task, options) for task in tasks]
        not_built = [why for why in (task.result() for task in ran) if why]
    rows = newest_rows([results])
    if options.record:
        record.append("./x realworld", [report.recorded(row) for row in rows])
    (results / "table.md").write_text(report.markdown(rows) + "\n\n" + report.reasons_markdown(rows) + "\n")
    print(f"\n{report.terminal(rows)}\n\nNot lifted, by reason: {report.most_frequent(report.reasons(rows)['all'], 15)}")
    wrong = [f"{r['project']} {r['flags']} {r['mode']}: {p}" for r in rows for p in r["problems"]]
    for line in wrong + not_built:
        print(f"problem: {line}")
    for line in unreached:
        print(f"not reached, so not tried: {line}")
    print(f"results: {results}")
    return 1 if wrong or not_built or (unreached and not options.if_reachable) else 0


if __name__ == "__main__":
    sys.exit(main())
