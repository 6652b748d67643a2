#!/usr/bin/env python3
"""What Sous costs a build: the compile commands of real programs, replayed one by one.

    python3 tools/realworld/cost.py --sous build/sous opus gsl
    python3 tools/realworld/cost.py --sous build/sous --every 12 suitesparse openblas    every twelfth file

Each project is configured and built once as it is, with a compiler that notes how it is called. Then each file is
compiled plainly, with Sous for the first time and with Sous again, in turns, and the processor time of each (user and
system, of all that it starts) is added up. What is noted lies in --cache and is used again.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import build as builds
import inputs
import projects
import sources

RECORDER = """#!/bin/bash
printf '%s\\0' "$PWD" "$@" > "$(mktemp "{folder}/XXXXXXXXXX")"
exec "$@"
"""
WAYS = ("plain", "first", "second")


@dataclasses.dataclass
class Command:
    folder: str
    words: list  # the compiler first

    def source(self):
        return next((w for w in self.words[1:] if w.endswith(".c")), "")

    def output(self):
        return self.words[self.words.index("-o") + 1] if "-o" in self.words else ""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "sous-realworld"
    parser.add_argument("project", nargs="+")
    parser.add_argument("--sous", required=True, type=pathlib.Path)
    parser.add_argument("--cc", default="clang-19")
    parser.add_argument("--flags", default="-O2")
    parser.add_argument("--cache", type=pathlib.Path, default=default)
    parser.add_argument("--every", type=int, default=1, help="only each such file")
    parser.add_argument("--files", default="", help="only files whose path holds this")
    parser.add_argument("--ways", default=",".join(WAYS), help="of plain, first, second")
    parser.add_argument("--out", type=pathlib.Path, help="a line of JSON for each file")
    return parser.parse_args()


def record(project, options):
    """The project built as it is in a folder of its own, which stays: its compile commands."""
    folder = options.cache / "cost" / (project.name + options.flags.replace(" ", "_"))
    commands = folder / "commands.json"
    if not commands.exists():
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("work", "records"):
            (folder / name).mkdir(parents=True)
        recorder = folder / "recorder"
        recorder.write_text(RECORDER.format(folder=folder / "records"))
        recorder.chmod(0o755)
        fetched = sources.Sources(options.cache)
        sources.install(("dpkg-dev", *project.dependencies))
        fetched.unpack(project.package, folder / "source", project.patched)
        builder = builds.Builder(fetched, recorder, options.cc, inputs.write(options.cache / "inputs"), folder, folder)
        environment = builder.environment(options.flags, "served", folder / "work", folder / "log")
        for name in ("configure", "build"):
            for note in (folder / "records").iterdir():
                note.unlink()
            step = builds.run_step(name, getattr(project, name), folder / "source", environment, 60 * project.minutes,
                                   folder / name)
            if not step.ok:
                raise sources.SourceError(f"{project.name}: {step.why}")
        notes = [note.read_text().split("\0")[:-1] for note in (folder / "records").iterdir()]
        commands.write_text(json.dumps(sorted(notes)))
    found = [Command(note[0], note[1:]) for note in json.loads(commands.read_text())]
    return [c for c in found if "-c" in c.words and c.source() and "conftest" not in c.source()]


def processor_seconds(words, folder, environment):
    process = subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    usage = os.wait4(process.pid, 0)[2]
    return usage.ru_utime + usage.ru_stime


def environment_of(cache):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("SOUS_") or k == "SOUS_SEED_DIR"}
    kept.update(LC_ALL="C", SOUS_CACHE_DIR=str(cache / "results"), SOUS_DB=str(cache / "tuning.db"),
                SOUS_REPORT=str(cache / "report.jsonl"))
    return kept


def said(cache):
    """What Sous reported of the last file."""
    path = cache / "report.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    path.unlink(missing_ok=True)
    said = [json.loads(line) for line in lines]
    reports = [one.get("report") or {} for one in said]
    nests = [nest for report in reports for nest in report.get("nests", ())]
    served = [f"{nest['function']}:{nest['line']} {nest['why']}" for nest in nests if nest["served"]]
    return {"nests": len(nests), "served": served, "phases": [report.get("phases") for report in reports],
            "own": sum(one["seconds_own"] for one in said), "children": sum(one["seconds_children"] for one in said)}


def replay(project, commands, options):
    cache = options.cache / "cost" / f"cache-{os.getpid()}"
    shutil.rmtree(cache, ignore_errors=True)
    cache.mkdir(parents=True)
    environment = environment_of(cache)
    ways = options.ways.split(",")
    # What the database holds and what this machine is: once for a machine, not for a build.
    (cache / "first.c").write_text("void f(int n, double (*a)[n], double *x) {\n"
                                   "  for (int i = 0; i < n; ++i)\n"
                                   "    for (int j = 0; j < n; ++j) x[i] += a[i][j];\n}\n")
    if ways != ["plain"]:
        subprocess.run([options.sous, options.cc, "-O2", "-c", "first.c"], cwd=cache, env=environment, check=True)
        said(cache)
    rows = []
    for command in commands:
        row = {"project": project.name, "file": command.source(), "output": command.output(), "folder": command.folder}
        for way in ways:
            launcher = [] if way == "plain" else [str(options.sous)]
            row[way] = processor_seconds([*launcher, *command.words], command.folder, environment)
            report = said(cache)
            if way == "first":
                row |= report
        rows.append(row)
        if options.out:
            with open(options.out, "a") as out:
                out.write(json.dumps(row) + "\n")
    shutil.rmtree(cache)
    return rows


def line(name, rows, ways):
    total = {way: sum(row[way] for row in rows) for way in ways}
    text = f"{name:<14} {len(rows):5} files, {sum(len(row.get('served', ())) for row in rows):4} nests served"
    for way in ways:
        text += f"   {way} {total[way]:7.2f} s"
        if way != "plain" and total.get("plain"):
            text += f" ({100 * (total[way] / total['plain'] - 1):+.1f} %)"
    return text


def main():
    options = arguments()
    options.sous, options.cache = options.sous.resolve(), options.cache.resolve()
    chosen, complaint = projects.find(options.project)
    if complaint:
        sys.exit(complaint)
    for project in chosen:
        commands = [c for c in record(project, options)[::options.every] if options.files in c.source()]
        start = time.monotonic()
        rows = replay(project, commands, options)
        print(line(project.name, rows, options.ways.split(",")), f"  ({time.monotonic() - start:.0f} s)", flush=True)


if __name__ == "__main__":
    main()
