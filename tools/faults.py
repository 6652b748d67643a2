#!/usr/bin/env python3
"""Whether the tests would notice: known faults (sdfg/planted_faults.list), one at a time, and what catches each.

    ./x faults                     every fault: the test that caught it before, or else the first of any kind that does
    ./x faults --afresh            the first of any kind, whatever caught it before (hours)
    ./x faults --both              the same, and besides the first that saw a program compute something wrong
    ./x faults anti_dropped select_swapped

The build with -DSOUS_PLANTED_FAULTS=ON lies beside the ordinary one (build-faults); most of it comes from the cache.

A fault is caught when a test that passes without it fails with it, twice: all of that is run. What caught it before stands in
tests/results.jsonl, and that test alone takes seconds. Otherwise tests run in an order that finds most faults early; the
random ones have fixed seeds, so the table is the same each time. Exit status 1: a fault that nothing caught, or a test
that fails without any fault (a machine on which some compiler is missing shows nothing).
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

import results
from build_folders import beside, cached, jobs

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = ("test_sdfg", "test_frontends", "test_golden", "test_client", "test_tuning_db", "test_transforms",
         "test_targets")
# Those that run random nests come after those that do not.
SLOW = {"test_transforms": "NormalForm.*AtRandom:RegisterTile.*", "test_targets": "Random.*"}
PROGRAMS = (("property.Recipes", {"SOUS_CASES": "100"}), ("property.Compiled", {"SOUS_CASES": "100"}),
            ("random_c 501", {"SOUS_SEED": "501", "SOUS_CASES": "2"}), ("property.RegisterTiles", {"SOUS_CASES": "200"}),
            ("property.NormalForm", {"SOUS_CASES": "100"}), ("random_c 7000", {"SOUS_SEED": "7000", "SOUS_CASES": "12"}))


# What a detector says of a test in a program of tests: its program and its name.
TEST = re.compile(r"(\w+): ([\w/.]+?\.[\w/.]+)(?: \(ends the program\))?$")


class FailsAnyway(Exception):
    """A test fails without any fault: nothing that it says is about the fault."""


def faults():
    """(name, what goes wrong) of every fault, in the order of the list."""
    text = (ROOT / "sdfg/planted_faults.list").read_text()
    return re.findall(r'^X\((\w+), "(.*)"\)$', text, re.M)


class Detector:
    """A test program, and whether what it says is about results of programs."""

    def __init__(self, name, words, environment, runs_programs):
        self.name, self.words, self.environment, self.runs_programs = name, words, environment, runs_programs

    def catches(self, fault, timeout):
        """What noticed the fault ('' without a fault: nothing may), or None."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SOUS_")}
        environment.update(self.environment, SOUS_SHRINK="0", OMP_WAIT_POLICY="passive")
        if fault:
            environment["SOUS_FAULT"] = fault
        with tempfile.TemporaryDirectory() as folder:
            try:
                done = subprocess.run(self.words, cwd=folder, env=environment, capture_output=True, text=True,
                                      errors="replace", timeout=timeout)
            except subprocess.TimeoutExpired:
                return f"{self.name}: does not end" if fault else f"{self.name}: more than {timeout} s"
        if done.returncode == 0:
            return None
        failed = re.findall(r"^\[  FAILED  \] (\S+?)(?: \(|,|$)", done.stdout, re.M)
        started = re.findall(r"^\[ RUN      \] (\S+)", done.stdout, re.M)
        if failed or started:
            return f"{self.name}: {failed[0] if failed else started[-1] + ' (ends the program)'}"
        return f"{self.name}: {next(iter(re.findall(r'^failure .* (--seed [0-9]+)', done.stdout, re.M)), 'fails')}"

    def alone(self, found):
        """Of what `catches` has said to notice a fault: the one test, or all of this where it is not tests."""
        test = TEST.match(found)
        words = [word for word in self.words if not word.startswith("--gtest_filter=")]
        return Detector(self.name, [*words, f"--gtest_filter={test[2]}"], self.environment, False) if test else self

    def catches_again(self, fault, timeout):
        """`catches`, and the test that did fails by itself as well: one that a busy machine made fail notices nothing."""
        for _ in range(3):
            found = self.catches(fault, timeout)
            if found is None or self.alone(found).catches(fault, timeout):
                return found
        raise FailsAnyway(f"{found}, now and then")

    def fails_anyway(self, found):
        """Whether the test that is said to have noticed a fault (a result of `catches`) fails without one, too."""
        return self.alone(found).catches("", 1800) is not None


def detectors(build):
    """All of them, those that find much in little time first."""
    gtest = ["--gtest_fail_fast", "--gtest_color=no"]
    tests = [Detector(name[5:], [str(build / name), *gtest] + (["--gtest_filter=-" + SLOW[name]] if name in SLOW else []),
                      {}, False) for name in TESTS]
    slow = [Detector(name[5:], [str(build / name), *gtest, "--gtest_filter=" + SLOW[name]], {}, True) for name in SLOW]
    programs = []
    for name, environment in PROGRAMS:
        if name.startswith("property."):
            words = [str(build / "test_property"), f"--gtest_filter=Property.{name[9:]}", *gtest]
        else:
            words = [sys.executable, str(ROOT / "tests/e2e/random_c.py"), "--sous", str(build / "sous"), "--recipes", "3",
                     "--no-shrink", "--first", "--keep", "kept"]
        programs.append(Detector(name, words, environment, True))
    return tests + programs[:2] + slow + programs[2:]


def known(build):
    """{fault: the one test that was the first to notice it, as a detector}, by tests/results.jsonl."""
    found = {}
    for fault, row in results.newest().get("./x faults", {}).items():
        match = TEST.match(row["result"])
        if match and f"test_{match[1]}" in TESTS:
            words = [str(build / f"test_{match[1]}"), "--gtest_color=no", f"--gtest_filter={match[2]}"]
            found[fault] = Detector(match[1], words, {}, False)
    return found


def configured(build, ordinary):
    """The build folder with all that the detectors need. The compiler and its options are those of the ordinary build, whose objects
    the cache has: without -Werror none of them would be found."""
    if not (build / "build.ninja").exists():
        options = [f"-D{name}={cached(ordinary, name, value)}" for name, value in
                   (("CMAKE_BUILD_TYPE", "Release"), ("CMAKE_C_COMPILER", "clang-19"), ("CMAKE_CXX_COMPILER", "clang++-19"), ("SOUS_WERROR", "OFF"))]
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *options, "-DSOUS_PLANTED_FAULTS=ON"], check=True,
                       stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build, "--target", "sous", "random_lock", "test_property", *TESTS], check=True)


def caught_by(fault, all_detectors, both, before=None):
    """[first of any kind, first that ran programs]; the second only if asked for. `before`: what caught it before."""
    if before:
        found = before.catches(fault, 1800)
        if found and not before.fails_anyway(found):
            return [found]
    first = programs = None
    for detector in all_detectors:
        if first and (programs or not both):
            break
        if first and not detector.runs_programs:
            continue
        found = detector.catches_again(fault, 1800)
        if found and detector.fails_anyway(found):
            raise FailsAnyway(found)
        if found and detector.runs_programs:
            programs = programs or found
        first = first or found
    return [first, programs] if both else [first]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("faults", nargs="*", metavar="fault", help="default: all")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="the ordinary build folder")
    parser.add_argument("--both", action="store_true")
    parser.add_argument("--afresh", action="store_true", help="do not begin with the test that caught a fault before")
    parser.add_argument("--record", action="store_true", help="add the results to tests/results.jsonl")
    arguments = parser.parse_args()
    build = beside(arguments.build, "faults")
    unknown = set(arguments.faults) - {name for name, _ in faults()}
    if unknown:
        parser.error(f"no such fault: {', '.join(sorted(unknown))}")
    configured(build, arguments.build)
    every = detectors(build)
    before = {} if arguments.afresh or arguments.both else known(build)
    wanted = [(name, what) for name, what in faults() if not arguments.faults or name in arguments.faults]
    print("| fault | what goes wrong | caught by |" + (" wrong results seen by |" if arguments.both else ""))
    print("|---|---|---|" + ("---|" if arguments.both else ""))
    missed, rows, start = [], [], time.time()
    with ThreadPoolExecutor(int(jobs())) as pool:
        caught = {pool.submit(caught_by, name, every, arguments.both, before.get(name)): (name, what) for name, what in wanted}
        for done in as_completed(caught):
            name, what = caught[done]
            try:
                found = done.result()
            except FailsAnyway as error:
                pool.shutdown(cancel_futures=True)
                sys.exit(f"without any fault this fails: {error}")
            if not found[0]:
                missed.append(name)
            rows.append((name, found[0] or "nothing", bool(found[0])))
            print(f"| `{name}` | {what} | " + " | ".join(f or "nothing" for f in found) + " |", flush=True)
    print(f"\n{len(missed)} faults were caught by nothing{': ' if missed else ''}{', '.join(missed)} "
          f"({time.time() - start:.0f} s)")
    if arguments.record:
        results.append("./x faults", rows)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
