#!/usr/bin/env python3
"""A farm on one machine: ./x farm [--minutes 60] [--programs edges,nbody] [--store postgres|sqlite]

A server over a PostgreSQL that this starts itself, and workers that take jobs from it: one with the whole machine, one with
half of its cores, one told to be AVX2 only, and one that is killed at random in the middle of its jobs. Programs that nobody
tuned (benchmarks/programs, those for development) are built through Sous with SOUS_SHARE=wanted, the workers work, and the
same builds are made again: nobody did anything in between. Then all run in turns, and each is compared with the first build.

Workers take turns, since on one machine each would disturb what the others measure. It ends when they find no job, or after
--minutes. Exit status 1: outputs differ, or the workers brought nothing that is served.
"""
import argparse
import contextlib
import json
import math
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import types

from store_servers import Postgres

ROOT = pathlib.Path(__file__).parent.parent
SUITE = ROOT / "benchmarks/programs"
FLAGS = ["-O3", "-march=native"]
LEASE = 10  # seconds


class Farm:
    def __init__(self, sous, folder, store):
        self.sous, self.folder = str(pathlib.Path(sous).resolve()), folder
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith("SOUS_") or name == "SOUS_SEED_DIR"}
        self.environment["XDG_CACHE_HOME"] = str(folder / "cache")
        os.chmod(folder, 0o711)
        self.postgres = Postgres(folder, types.SimpleNamespace(environment={})) if store == "postgres" else None
        self.database = self.postgres.url if self.postgres else str(folder / "team.db")
        cores = len(os.sched_getaffinity(0))
        self.workers = {"whole": [], "half": [f"--threads={max(1, cores // 2)}"], "avx2": ["--isa=avx2"], "killed": []}
        self.tokens = {name: self.run("token", "add", name, "--scopes", scopes, f"--db={self.database}").stdout.strip()
                       for name, scopes in [("desk", "upload"), *((worker, "work,upload") for worker in self.workers)]}
        self.log = open(folder / "server.log", "w")
        self.server = subprocess.Popen([self.sous, "serve", f"--db={self.database}", "--listen=127.0.0.1:0", f"--lease={LEASE}"],
                                       env=self.environment, stdout=subprocess.PIPE, stderr=self.log, text=True)
        said = self.server.stdout.readline()
        if "listening on " not in said:
            raise SystemExit("the server does not start: " + (folder / "server.log").read_text())
        self.url = said.split(",")[0].split("listening on ")[1]

    def run(self, *words, **more):
        return subprocess.run([self.sous, *words], env={**self.environment, **more}, capture_output=True, text=True, check=True)

    def build(self, program, suite, to):
        """Through Sous, which asks the server and tells it what is lacking; how many nests the server's recipes serve."""
        to.mkdir(exist_ok=True)
        report = to / f"{program['name']}.json"
        self.run(f"--report={report}", "clang-19", *FLAGS, *suite["flags"], *(SUITE / source for source in program["sources"]), "-o",
                 to / program["name"], *suite["link"], SOUS_SERVER=self.url, SOUS_SHARE="wanted", SOUS_TOKEN=self.tokens["desk"])
        units = (unit for nest in json.loads(report.read_text())["nests"] for unit in nest["units"])
        return sum(one["used"] and one["source"] == "server" for unit in units for one in unit["candidates"])

    def work(self, name, budget):
        """One job; what was said of it, or nothing where there is none."""
        process = subprocess.Popen([self.sous, "work", f"--server={self.url}", "--once", f"--budget={budget}s", *self.workers[name]],
                                   env={**self.environment, "SOUS_TOKEN": self.tokens[name]}, stdout=subprocess.PIPE, text=True,
                                   start_new_session=True)
        try:
            # A job takes at most its budget, and then what it takes to prove the best.
            said = process.communicate(timeout=random.uniform(0, 2 * budget) if name == "killed" else None)[0].strip()
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return "killed in the middle of its job"
        return "" if said == "no job" else said

    def end(self):
        self.server.terminate()
        self.server.communicate()
        self.log.close()
        if self.postgres:
            self.postgres.kill()


def arguments_of(program):
    return program.get("arguments", {}).get("LARGE", [])


def timed(binary, arguments):
    begun = time.monotonic()
    done = subprocess.run([binary, *arguments], capture_output=True, text=True)
    return time.monotonic() - begun, (done.returncode, done.stdout)


def shift(farm, minutes, budget):
    end, idle = time.monotonic() + 60 * minutes, 0
    while time.monotonic() < end:
        before = idle
        for name in farm.workers:
            said = farm.work(name, budget)
            if said:
                idle = 0
                print(f"  {name}: {said}", flush=True)
        idle = idle + 1 if before == idle else 0
        if idle:
            # The job of one that was killed is handed out again when its lease ends.
            if idle > 1:
                return
            time.sleep(LEASE + 1)


def compare(programs, folder, runs):
    """Of each program the median time of both builds, and whether they say the same."""
    ratios, wrong = [], []
    for program in programs:
        times, said = ([], []), (set(), set())
        for _ in range(runs):
            for which, build in enumerate(("before", "after")):
                seconds, output = timed(folder / build / program["name"], arguments_of(program))
                times[which].append(seconds)
                said[which].add(output)
        first, then = map(statistics.median, times)
        ratios.append(first / then)
        if not program.get("tolerance") and said[0] != said[1]:
            wrong.append(program["name"])
        print(f"  {program['name']:20} {first:8.3f} s  {then:8.3f} s  {first / then:6.2f}", flush=True)
    return ratios, wrong


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--sous", default=str(ROOT / "build/sous"))
    options.add_argument("--minutes", type=float, default=60, help="that the workers have at most")
    options.add_argument("--budget", type=int, default=60, help="seconds for a job")
    options.add_argument("--programs", help="of benchmarks/programs, with commas (default: those for development)")
    options.add_argument("--store", choices=("postgres", "sqlite"), default="postgres")
    options.add_argument("--runs", type=int, default=5, help="of each build of each program")
    options.add_argument("--seed", type=int, default=1, help="of when the worker is killed")
    given = options.parse_args()
    random.seed(given.seed)
    suite = json.loads((SUITE / "suite.json").read_text())
    names = given.programs.split(",") if given.programs else suite["groups"]["development"]
    programs = [program for program in suite["programs"] if program["name"] in names]
    if missing := set(names) - {program["name"] for program in programs}:
        raise SystemExit(f"benchmarks/programs has no {', '.join(sorted(missing))}")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="sous-farm-"))
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        farm = Farm(given.sous, folder, given.store)
        stack.callback(farm.end)
        for program in programs:
            farm.build(program, suite, folder / "before")
        print(f"{len(programs)} programs are built; the workers of {farm.url} work (seed {given.seed})", flush=True)
        shift(farm, given.minutes, given.budget)
        served = sum(farm.build(program, suite, folder / "after") > 0 for program in programs)
        print(f"built again: {served} programs with recipes of the server\n  {'program':20} {'before':>10}  {'after':>10}   ratio")
        ratios, wrong = compare(programs, folder, given.runs)
        faster = sum(ratio > 1.03 for ratio in ratios)
        mean = math.exp(statistics.mean(map(math.log, ratios)))
        print(f"{faster} of {len(programs)} are faster, geometric mean {mean:.2f}")
        if wrong:
            print("outputs differ: " + ", ".join(wrong))
        return 1 if wrong or served == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
