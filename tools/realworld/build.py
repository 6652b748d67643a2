"""One project built and tested in one configuration, with a hard time limit for each step."""
import dataclasses
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import time

# Without Sous; with what the database has evidence for; and with every nest rewritten in normal form, evidence or not:
# the hard test of correctness, since hardly a nest of a real program is left as it was.
MODES = {"plain": None, "served": "", "rewritten": "--recipe=normal-form"}


@dataclasses.dataclass
class Step:
    name: str
    ok: bool
    why: str  # of a failure
    output: str
    wall: float
    cpu: float  # processor seconds of the step and all that it waited for


@dataclasses.dataclass
class Build:
    """What a build and its tests came to."""
    project: str
    version: str
    flags: str
    mode: str
    ok: bool = False
    why: str = ""
    tests: dict = dataclasses.field(default_factory=dict)  # name -> result
    outputs: dict = dataclasses.field(default_factory=dict)  # name -> checksum
    build_cpu: float = 0.0
    build_wall: float = 0.0
    test_wall: float = 0.0
    object_bytes: int = 0
    log: list = dataclasses.field(default_factory=list)  # lines of $SOUS_REPORT


def kill_group(process):
    """All that the step started: a test that hangs has children."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_step(name, command, folder, environment, seconds, output_file):
    """Output goes through a file: a process that outlives the step must not hold a pipe that we read to its end."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    why = ""
    with open(output_file, "wb") as output:
        process = subprocess.Popen(["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                   stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            if process.wait(timeout=seconds):
                why = f"{name}: exit status {process.returncode}"
        except subprocess.TimeoutExpired:
            why = f"{name}: did not end within {seconds:.0f} s"
        kill_group(process)
        process.wait()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    text = pathlib.Path(output_file).read_bytes().decode(errors="replace")
    return Step(name, not why, why, text, time.monotonic() - start, cpu)


def object_bytes(*folders):
    """Code and data of all object files, by `size`: debug information does not count."""
    objects = []
    for folder in folders:
        for path in sorted(folder.rglob("*.o")):
            if path.is_file() and path.read_bytes()[:4] == b"\x7fELF":
                objects.append(str(path))
    total = 0
    for k in range(0, len(objects), 200):
        done = subprocess.run(["size", *objects[k:k + 200]], capture_output=True, text=True)
        for line in done.stdout.splitlines()[1:]:
            total += int(line.split()[0]) + int(line.split()[1])
    return total


def read_log(path):
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(errors="replace").splitlines()]


class Builder:
    def __init__(self, sources, sous, compiler, inputs, work, results, jobs=2):
        self.sources, self.sous, self.compiler, self.inputs = sources, sous, compiler, inputs
        self.work, self.results, self.jobs = work, results, jobs

    def environment(self, flags, mode, folder, log):
        """Nothing of the user's own settings of Sous; the seed database and a cache, made at the first use."""
        cache = self.results / "cache" / f"{folder.parent.name}-{mode}"
        kept = {k: v for k, v in os.environ.items() if not k.startswith("SOUS_")}
        launcher = [] if mode == "plain" else [str(self.sous)]
        kept.update(CC=" ".join([*launcher, self.compiler]), COMPILER=self.compiler, CFLAGS=flags, JOBS=str(self.jobs),
                    LAUNCHER=f"-DCMAKE_C_COMPILER_LAUNCHER={self.sous}" if launcher else "", INPUTS=str(self.inputs),
                    WORK=str(folder), OMP_NUM_THREADS="2", LC_ALL="C", SOUS_CACHE_DIR=str(cache),
                    SOUS_DB=str(self.results / "tuning.db"),
                    SOUS_REPORT=str(log), SOUS_OPTIONS=MODES[mode] or "")
        return kept

    def run(self, project, flags, mode):
        """The same paths for every mode: they get into objects, and a difference must be Sous's."""
        label = re.sub(r"[^\w.+-]+", "_", f"{project.name} {flags}")
        source, folder = self.work / label / "source", self.work / label / "work"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        logs = self.results / "logs" / f"{label}-{mode}"
        shutil.rmtree(logs, ignore_errors=True)
        logs.mkdir(parents=True)
        build = Build(project.name, self.sources.unpack(project.package, source, project.patched), flags, mode)
        environment = self.environment(flags, mode, folder, logs / "report.jsonl")
        for name in ("configure", "build", "test"):
            step = run_step(name, getattr(project, name), source, environment, 60 * project.minutes, logs / name)
            if name == "build":
                build.build_cpu, build.build_wall = step.cpu, step.wall
                build.object_bytes = object_bytes(source, folder)
                # What the configuration and the tests compile is held against the compiler too, but is not the project.
                build.log = read_log(logs / "report.jsonl")
            elif name == "configure" and (logs / "report.jsonl").exists():
                shutil.move(logs / "report.jsonl", logs / "configure.jsonl")
            elif name == "test":
                build.test_wall = step.wall
                build.tests = {m["name"]: m["result"] for m in project.tests.finditer(step.output)}
                build.outputs = dict(re.findall(r"(?m)^OUTPUT (\S+) (\S+)", step.output))
                if failed := re.findall(r"(?m)^FAILED (\S+)", step.output):
                    build.why = f"test: no output of {', '.join(failed)}"
                    return build
            # A failed test is one that fails without Sous too, or a difference: seen where both are compared.
            if not step.ok and (name != "test" or not (build.tests or build.outputs) or "did not end" in step.why):
                build.why = step.why
                return build
        build.ok = True
        shutil.rmtree(self.work / label, ignore_errors=True)
        return build
