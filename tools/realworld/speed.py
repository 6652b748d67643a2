"""How fast real programs run: built plainly, with Sous and its seeds, and with Sous after `sous tune`.

Builds stay in --cache and are used again as long as compiler, flags and Sous are the same. Each run of a workload is
made with every build in turns, and what it prints must be the same.
"""
import dataclasses
import json
import os
import re
import shutil
import signal
import statistics
import subprocess

import build as builds
import inputs
import report
import results
import sources
import workloads

MODES = ("plain", "served", "tuned")
# Functions begin on cache lines: otherwise what Sous adds to one file moves the functions of others, and a loop that
# lies across two lines costs more than a tenth of a program (count_bits of lame, whose object is the same).
FLAGS = ("-O2 -falign-functions=64",)


@dataclasses.dataclass
class Built:
    mode: str
    source: object  # folders
    work: object
    environment: dict
    facts: dict  # report.sous_facts


class Speed:
    def __init__(self, options, source, digest):
        self.options, self.digest = options, digest
        self.small = inputs.write(options.cache / "inputs")
        self.inputs = workloads.write(options.cache / "speed" / "inputs", self.small)
        self.builder = builds.Builder(source, options.sous.resolve(), options.cc, self.small, options.cache / "speed",
                                      options.cache / "speed", options.jobs)

    def folder(self, project, flags):
        return self.options.cache / "speed" / re.sub(r"[^\w.+-]+", "_", f"{project.name} {flags}")

    def environment(self, project, flags, mode):
        """Databases of their own: tuning must not teach the build that it is held against."""
        top = self.folder(project, flags)
        database = top / ("tuned.db" if mode == "tuned" else "served.db")
        environment = self.builder.environment(flags, mode if mode == "plain" else "served", top / mode / "work",
                                               top / mode / "report.jsonl")
        environment |= {"INPUTS": str(self.inputs), "HERE": str(workloads.HERE), "SOUS_DB": str(database),
                        "SOUS_LOG": str(top / mode / "build.log"), "SOUS_CACHE_DIR": str(top / mode / "cache")}
        return environment

    def build(self, project, flags, mode, stamp):
        """The project as this mode builds it, tests aside. Raises SourceError."""
        top = self.folder(project, flags) / mode
        environment = self.environment(project, flags, mode)
        built = Built(mode, top / "source", top / "work", environment, {})
        done = top / "done.json"
        if done.exists() and (kept := json.loads(done.read_text()))["stamp"] == stamp:
            return dataclasses.replace(built, facts=kept["facts"])
        shutil.rmtree(top, ignore_errors=True)
        built.work.mkdir(parents=True)
        self.builder.sources.unpack(project.package, built.source, project.patched)
        for name, command in (("configure", project.configure), ("build", project.build),
                              ("prepare", workloads.WORKLOADS[project.name].prepare)):
            step = builds.run_step(name, command, built.source, environment, 60 * project.minutes, top / name)
            if not step.ok:
                raise sources.SourceError(f"{project.name} {flags} {mode}: {step.why} (log: {top / name})")
            if name == "build" and mode != "plain":
                log = builds.Build(project.name, "", flags, mode, log=builds.read_log(top / "report.jsonl"))
                built.facts = report.sous_facts(log)
        done.write_text(json.dumps({"stamp": stamp, "facts": built.facts}))
        return built

    def tune(self, project, flags, served, minutes):
        """`sous tune` of what the build lacks, the hottest first as perf sees it, into the tuned build's database."""
        top = self.folder(project, flags)
        database = top / "tuned.db"
        for leftover in top.glob("tuned.db*"):
            leftover.unlink()
        if (top / "served.db").exists():
            shutil.copy(top / "served.db", database)
        environment = served.environment | {"SOUS_DB": str(database)}
        words = [str(self.builder.sous), "tune", "--build", str(top / "served"), "--budget", self.options.budget]
        if profile := self.profile(project, served):
            words += ["--profile", profile]
        with open(top / "tune.log", "wb") as log:
            process = subprocess.Popen(words, cwd=served.source, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                       stderr=subprocess.STDOUT, start_new_session=True)
            try:
                process.wait(60 * minutes)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGINT)  # what is done is kept
                process.wait()

    def profile(self, project, served):
        """What the workload's runs take their time in, as the text of perf report; "" without perf."""
        if not shutil.which("perf"):
            return ""
        top = self.folder(project, flags := served.environment["CFLAGS"])
        commands = " ; ".join(f"( {command} )" for command in workloads.WORKLOADS[project.name].runs.values())
        recorded = subprocess.run(["perf", "record", "-q", "-o", str(top / "perf.data"), "bash", "-c", commands],
                                  cwd=served.source, env=served.environment, capture_output=True)
        text = subprocess.run(["perf", "report", "--stdio", "-i", str(top / "perf.data")], capture_output=True)
        if recorded.returncode or text.returncode:
            print(f"    {project.name} {flags}: perf says nothing, so tuned without a profile", flush=True)
            return ""
        (top / "perf.txt").write_bytes(text.stdout)
        return str(top / "perf.txt")

    def measure(self, project, all_built):
        """{run: {mode: [(wall seconds, processor seconds)]}} and what went wrong."""
        found, problems = {}, []
        for name, command in workloads.WORKLOADS[project.name].runs.items():
            runs = found[name] = {built.mode: [] for built in all_built}
            said = {}
            for turn in range(self.options.runs + 1):
                for built in all_built if turn % 2 else all_built[::-1]:
                    path = built.work / "run.log"
                    step = builds.run_step(name, command, built.source, built.environment, 600, path)
                    if not step.ok:
                        problems.append(f"{built.mode}, {step.why}")
                    elif said.setdefault(built.mode, step.output) != step.output:
                        problems.append(f"{name}: {built.mode} prints other bytes each time")
                    if turn:  # the first fills caches
                        runs[built.mode].append((step.wall, step.cpu))
            problems += [f"{name}: {mode} prints other bytes than plain" for mode, text in said.items()
                         if text != said.get("plain")]
        return found, sorted(set(problems))

    def rows(self, project, flags):
        """A line for each workload of the project."""
        plain = f"{flags} {self.options.cc} {project} {workloads.WORKLOADS[project.name].prepare} {workloads.digest()}"
        stamp = f"{self.digest} {plain}"
        all_built = [self.build(project, flags, "plain", plain), self.build(project, flags, "served", stamp)]
        if self.options.tune:
            tuned = self.folder(project, flags)
            if self.options.again or not (tuned / "tuned.db").exists():
                shutil.rmtree(tuned / "tuned", ignore_errors=True)
                self.tune(project, flags, all_built[1], self.options.tune)
            all_built.append(self.build(project, flags, "tuned", stamp))
        measured, problems = self.measure(project, all_built)
        nests = {built.mode: built.facts["nests_served"] for built in all_built[1:]}
        return [{"project": project.name, "workload": name, "flags": flags, "nests": nests, "problems": problems,
                 "seconds": {mode: median_seconds(turns) for mode, turns in runs.items()},
                 "times": {mode: times_as_fast(runs["plain"], runs[mode]) for mode in nests}}
                for name, runs in measured.items()]


def median_seconds(turns):
    return {"wall": statistics.median(wall for wall, _ in turns), "cpu": statistics.median(cpu for _, cpu in turns)}


def times_as_fast(plain, other):
    """Of the turns: the median, the least, the greatest."""
    turns = sorted(before / now for (before, _), (now, _) in zip(plain, other))
    return {"median": statistics.median(turns), "least": turns[0], "greatest": turns[-1]}


HEAD = ("project", "workload", "flags", "clang s", "served", "times as fast", "cpu s", "tuned", "times, tuned",
        "cpu s, tuned", "same")


def cells(row):
    found = [row["project"], row["workload"], row["flags"], f"{row['seconds']['plain']['wall']:.2f}"]
    for mode in MODES[1:]:
        if mode in row["times"]:
            r = row["times"][mode]
            found += [str(row["nests"][mode]), f"{r['median']:.2f} ({r['least']:.2f} to {r['greatest']:.2f})",
                      f"{row['seconds']['plain']['cpu']:.2f} → {row['seconds'][mode]['cpu']:.2f}"]
        else:
            found += ["", "", ""]
    return (*found, "no" if row["problems"] else "yes")


def summary(rows):
    """Projects by their geometric means over their workloads."""
    lines = []
    for mode in MODES[1:]:
        of = {}
        for row in rows:
            if mode in row["times"]:
                of.setdefault(f"{row['project']} {row['flags']}", []).append(row["times"][mode]["median"])
        means = {name: statistics.geometric_mean(times) for name, times in of.items()}
        if means:
            faster, slower = sum(m >= 1.1 for m in means.values()), [f"{n} {m:.2f}" for n, m in means.items() if m < 0.99]
            lines.append(f"{mode}: {faster} of {len(means)} at least 10 % faster end to end; "
                         f"slower by more than 1 %: {', '.join(slower) or 'none'}")
    return "\n".join(lines)


def recorded(row):
    """For tests/results.jsonl."""
    return (" ".join((row["project"], row["workload"], row["flags"])), "; ".join(row["problems"]) or "same",
            not row["problems"], {"cells": dict(zip(HEAD, cells(row)))})


def main(chosen, source, flags, options, digest):
    """Prints the table; 1 if a build or a result was wrong."""
    speed, rows, wrong = Speed(options, source, digest), [], []
    for project in chosen:
        for of in flags:
            try:
                new = speed.rows(project, of)
            except sources.SourceError as error:
                wrong.append(str(error))
                print(f"    {error}", flush=True)
                continue
            rows += new
            wrong += [f"{project.name} {of}: {problem}" for problem in new[0]["problems"]]
            print(report.aligned([cells(row) for row in new]), flush=True)
    print(f"\n{report.aligned([HEAD, *map(cells, rows)])}\n\n{summary(rows)}")
    for problem in wrong:
        print(f"problem: {problem}")
    if options.record:
        results.append("./x realworld --speed", [recorded(row) for row in rows])
    return 1 if wrong else 0
