#!/usr/bin/env python3
"""./x coverage: which lines of transforms/, frontends/c/ and targets/ the tests run, per folder.

Clang's source-based coverage, in the build of `./x sanitize both` (build-sanitize-both), whose run of every test counts
too: --last only reads that. The profiles of all programs are merged by llvm-profdata and read by llvm-cov. A line counts
as run if any test runs it; lines without code count for nothing. Exit status 0 only if every folder is at 90 % or above;
docs/trust.md holds the last result.
"""
import argparse
import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from subprocess import PIPE

import results
import sanitize
from build_folders import SOURCE, beside, profiles, run

FOLDERS = ("transforms", "frontends/c", "targets")
LEAST = 90.0
# The compiler through which almost everything is reached, besides the tests' own programs.
PROGRAMS = ("sous", "test_*")


@dataclass
class Count:
    covered: int = 0
    total: int = 0

    def percent(self):
        return 100.0 * self.covered / self.total if self.total else 0.0


def export(build):
    """llvm-cov's summary per file, as JSON."""
    merged = build / "all.profdata"
    raw = sorted(profiles(build).glob("*.profraw"))
    if not raw:
        sys.exit("coverage: no test left a profile")
    if run(["llvm-profdata-19", "merge", "-sparse", *raw, "-o", merged]).returncode != 0:
        sys.exit("coverage: the profiles cannot be merged")
    programs = sorted(path for pattern in PROGRAMS for path in build.glob(pattern) if os.access(path, os.X_OK))
    objects = [word for path in programs[1:] for word in ("-object", path)]
    done = run(["llvm-cov-19", "export", "-summary-only", f"-instr-profile={merged}", programs[0], *objects], stdout=PIPE)
    if done.returncode != 0:
        sys.exit("coverage: llvm-cov failed")
    return json.loads(done.stdout)["data"][0]["files"]


def folder_of(path):
    relative = os.path.relpath(path, SOURCE)
    return next((folder for folder in FOLDERS if relative.startswith(folder + "/")), None)


def count(files):
    """({folder: Count}, [(percent, missed lines, file)] of the single files)."""
    folders = {folder: Count() for folder in FOLDERS}
    single = []
    for file in files:
        folder = folder_of(file["filename"])
        # What generated code includes runs in programs of its own, which are not instrumented.
        if folder is None or "/targets/runtime/" in file["filename"]:
            continue
        lines = file["summary"]["lines"]
        folders[folder].covered += lines["covered"]
        folders[folder].total += lines["count"]
        missed = lines["count"] - lines["covered"]
        single.append((lines["percent"], missed, os.path.relpath(file["filename"], SOURCE)))
    return folders, sorted(single, key=lambda one: -one[1])


def main():
    parser = argparse.ArgumentParser(prog="./x coverage", description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=Path, default=SOURCE / "build", help="the ordinary build folder")
    parser.add_argument("--tests", default="", metavar="REGEX", help="only the tests whose names match")
    parser.add_argument("--last", action="store_true", help="run nothing: what the last run of ./x sanitize both left")
    parser.add_argument("--least", type=float, default=LEAST, metavar="PERCENT", help="of each folder (default: %(default)s)")
    parser.add_argument("--show", metavar="FILE", help="afterwards, the lines of this file that no test runs")
    parser.add_argument("--files", type=int, default=10, help="how many files with the most missed lines are listed")
    parser.add_argument("--record", action="store_true", help="add the results to tests/results.jsonl")
    arguments = parser.parse_args()
    passed = True
    if arguments.last:
        build = beside(arguments.build, "sanitize-" + sanitize.COUNTED)
    else:
        build = sanitize.built(sanitize.COUNTED, arguments.build)
        outcome = sanitize.run_tests(sanitize.COUNTED, build, arguments.tests)
        passed = not outcome.failures
        for name, where in outcome.failures:
            print(f"{name} fails: {where}", file=sys.stderr)
    folders, single = count(export(build))
    print(f"\n{'folder':<20}{'lines':>8}{'covered':>9}{'percent':>9}")
    for folder, lines in folders.items():
        print(f"{folder:<20}{lines.total:>8}{lines.covered:>9}{lines.percent():>8.1f}%")
    print(f"\nmost missed lines:\n{'file':<44}{'missed':>8}{'percent':>9}")
    for percent, missed, name in single[:arguments.files]:
        print(f"{name:<44}{missed:>8}{percent:>8.1f}%")
    if arguments.record:
        results.append("./x coverage", [
            (folder, f"{lines.percent():.1f} % ({lines.covered:,} of {lines.total:,} lines)", lines.percent() >= arguments.least)
            for folder, lines in folders.items()])
    if arguments.show:
        show(build, arguments.show)
    return 0 if passed and all(lines.percent() >= arguments.least for lines in folders.values()) else 1


def show(build, name):
    programs = sorted(path for pattern in PROGRAMS for path in build.glob(pattern) if os.access(path, os.X_OK))
    objects = [word for path in programs[1:] for word in ("-object", path)]
    done = run(["llvm-cov-19", "show", f"-instr-profile={build}/all.profdata", programs[0], *objects, SOURCE / name],
               stdout=PIPE)
    for line in done.stdout.splitlines():
        if re.match(r"\s*\d+\|\s*0\|", line):
            print(line)


if __name__ == "__main__":
    sys.exit(main())
