#!/usr/bin/env python3
"""./x fuzz: hostile and random input against everything that reads any, as one table.

Two kinds of rows, each with a name that `./x fuzz NAME…` takes:

- the libFuzzer targets of tests/fuzz/targets.list, built with the address and undefined sanitizers into a folder of
  their own (`make` in main says how);
- the programs in PROGRAMS: a generator with its own comparison. A further one is a row there.

Exit status 0 only if no row found anything.
"""
import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import results
from build_folders import SOURCE, beside, configure_and_build, fuzz_targets, jobs, run


@dataclass
class Row:
    """One line of the table."""

    name: str
    executions: int = 0
    corpus: int = 0
    seconds: float = 0
    failures: list = field(default_factory=list)  # (what, command that repeats it)
    said: list = field(default_factory=list)  # by a program, in its last lines

    def result(self):
        """In words."""
        return "; ".join([f"{self.executions:,} executions in {self.seconds:.0f} s, {len(self.failures)} failures", *self.said])


@dataclass(frozen=True)
class Program:
    """A fuzzer that is a program of its own.

    `command` is run with {sous}, {build}, {runs} and {seed} filled in. It prints "executions N" and, for each failure, a
    line "failure WHAT | COMMAND THAT REPEATS IT"; any other exit status than 0 without such a line is a failure, too.
    """

    command: tuple
    build: tuple  # targets of the ordinary build that it needs
    runs: int  # where neither --runs nor --seconds is given
    runs_per_second: float = 1  # what --seconds is turned into
    processes: int = 1  # that share the seeds


# Sorted by name.
PROGRAMS = {
    "csmith": Program(("python3", "tools/csmith.py", "--sous", "{sous}", "--seed", "{seed}", "--runs", "{runs}"),
                      ("sous",), 2000, 1.5),
    "nests": Program(("python3", "tests/e2e/random_c.py", "--sous", "{sous}", "--seed", "{seed}", "--runs", "{runs}"),
                     ("sous", "random_lock"), 40, 0.02, int(jobs())),
}


def count_files(folder):
    return sum(1 for entry in folder.iterdir() if entry.is_file()) if folder.is_dir() else 0


def run_target(name, build, runs, seconds, seed):
    """libFuzzer on one target: its own findings (kept between runs) first, then the seeds."""
    seeds, found, crashes = build / "fuzz-corpus" / name, build / "fuzz-found" / name, build / "fuzz-crashes" / name
    for folder in (found, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    before = set(crashes.iterdir())
    limit = [f"-runs={runs}"] if runs else [f"-max_total_time={seconds}"]
    program = build / f"fuzz_{name}"
    # -timeout, -report_slow_units: the targets have a limit of their own, in processor time (tests/fuzz/fuzz.h); others
    # may be at work on this machine.
    command = [program, found, seeds, f"-artifact_prefix={crashes}/", f"-seed={seed}", "-timeout=100000", "-report_slow_units=100000",
               "-rss_limit_mb=4096", "-max_len=65536", "-print_final_stats=1", "-verbosity=1", *limit]
    environment = dict(os.environ)
    environment.setdefault("ASAN_OPTIONS", "detect_leaks=1:allocator_may_return_null=0:handle_abort=1")
    environment.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    start = time.monotonic()
    log = crashes / "log"
    with open(log, "w", encoding="utf-8") as out:
        done = run(command, stdout=out, stderr=subprocess.STDOUT, env=environment)
    text = log.read_text(errors="replace")
    row = Row(name, seconds=time.monotonic() - start, corpus=count_files(found) + count_files(seeds))
    executed = re.search(r"stat::number_of_executed_units:\s*(\d+)", text)
    row.executions = int(executed[1]) if executed else 0
    new = sorted(path for path in crashes.iterdir() if path not in before and path.name != "log")
    for path in new:
        row.failures.append((path.name.split("-")[0], f"{program} {path}"))
    if done.returncode != 0 and not new:
        row.failures.append((f"exit status {done.returncode}, see {log}", " ".join(map(str, command))))
    return row


def run_program(name, program, build, runs, seconds, seed):
    runs = runs or (max(1, int(seconds * program.runs_per_second)) if seconds else program.runs)
    row, start = Row(name), time.monotonic()

    def share(k):
        """The k-th process, with its part of the seeds."""
        first, end = runs * k // program.processes, runs * (k + 1) // program.processes
        if first == end:
            return
        words = {"sous": build / "sous", "build": build, "runs": end - first, "seed": seed + first}
        command = [word.format(**words) for word in program.command]
        done = run(command, stdout=subprocess.PIPE, cwd=SOURCE)
        print(done.stdout, end="", flush=True)
        row.executions += sum(map(int, re.findall(r"^executions (\d+)", done.stdout, re.MULTILINE)))
        row.said += [line for line in done.stdout.splitlines() if re.match(r"(csmith|functions|seed)\b", line)]
        failures = re.findall(r"^failure (.*?) \| (.*)$", done.stdout, re.MULTILINE)
        if done.returncode != 0 and not failures:
            failures = [(f"exit status {done.returncode}", " ".join(command))]
        row.failures.extend(failures)

    with ThreadPoolExecutor(program.processes) as pool:
        list(pool.map(share, range(program.processes)))
    row.seconds = time.monotonic() - start
    return row


def print_table(rows):
    print(f"{'target':<16}{'executions':>12}{'corpus':>9}{'seconds':>9}{'crashes':>9}")
    for row in rows:
        print(f"{row.name:<16}{row.executions:>12}{row.corpus or '':>9}{row.seconds:>9.0f}{len(row.failures):>9}")
    for row in rows:
        for what, command in row.failures:
            print(f"\n{row.name}: {what}\n  repeat: {command}")


def main():
    known = fuzz_targets() + sorted(PROGRAMS)
    parser = argparse.ArgumentParser(prog="./x fuzz", description="targets: " + ", ".join(known))
    parser.add_argument("targets", nargs="*", metavar="target", help="default: all")
    parser.add_argument("--runs", type=int, default=0, help="executions of each target")
    parser.add_argument("--seconds", type=int, default=0, help="time for each target (default: 60)")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SOUS_SEED", "1")))
    parser.add_argument("--build", type=Path, default=SOURCE / "build", help="the ordinary build folder")
    parser.add_argument("--record", action="store_true", help="add the results to tests/results.jsonl")
    arguments = parser.parse_args()
    unknown = [name for name in arguments.targets if name not in known]
    if unknown:
        parser.error(f"there is no target {unknown[0]}; there are: {', '.join(known)}")
    names = arguments.targets or known
    with_libfuzzer = [name for name in names if name not in PROGRAMS]
    build, fuzz_build = arguments.build.resolve(), beside(arguments.build, "fuzz")
    if with_libfuzzer:
        configure_and_build(fuzz_build, ["fuzz_corpus", *(f"fuzz_{name}" for name in with_libfuzzer)],
                            ["-DSOUS_FUZZ=ON", "-DSOUS_SANITIZE=address,undefined"])
        if run([fuzz_build / "fuzz_corpus", fuzz_build / "fuzz-corpus"], stdout=subprocess.DEVNULL).returncode != 0:
            sys.exit("fuzz: the seed corpus could not be made")
    needed = sorted({target for name in names if name in PROGRAMS for target in PROGRAMS[name].build})
    if needed:
        configure_and_build(build, needed)
    seconds = arguments.seconds or (0 if arguments.runs else 60)

    def fuzzed(name):
        print(f"== {name}", flush=True)
        return run_target(name, fuzz_build, arguments.runs, seconds, arguments.seed)

    with ThreadPoolExecutor(int(jobs())) as pool:  # libFuzzer runs on one processor
        rows = list(pool.map(fuzzed, with_libfuzzer))
    for name in names:
        if name in PROGRAMS:
            print(f"== {name}", flush=True)
            rows.append(run_program(name, PROGRAMS[name], build, arguments.runs, arguments.seconds, arguments.seed))
    print(f"\nseed {arguments.seed}")
    print_table(rows)
    if arguments.record:
        results.append("./x fuzz", [(row.name, row.result(), not row.failures) for row in rows])
    return 1 if any(row.failures for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
