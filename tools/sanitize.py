#!/usr/bin/env python3
"""./x sanitize: the whole test suite, and the code generated for the 30 PolyBench kernels, under sanitizers.

A preset is a list of clang's sanitizers that go together. Each has a build folder of its own (build-sanitize-…), in which
everything but the system's libraries is instrumented; the tests run there as in ./x test.

The launcher hands a compilation with -fsanitize to the compiler untouched, so generated code is put under sanitizers
from source: `sous opt` rewrites a kernel with a recipe that is known to apply, C and C++ are compiled with the
sanitizer, and the program must run clean and write the same bytes as the original without it. Contraction is off in
both; nothing here may reassociate.

The thread sanitizer knows nothing of OpenMP's locks and barriers in LLVM's runtime, which is not instrumented: Archer
(libarcher of libomp-19, an OMPT tool) tells it. GCC's runtime, which FAISS brings into the tests, has no such tool: what
is reported only about it is suppressed (tests/sanitize/thread.supp says what and why).

Exit status 0 only if every test and every kernel passed.
"""
import argparse
import os
import re
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE, STDOUT, TimeoutExpired

import results
from build_folders import CUT_TARGETS, SOURCE, beside, configure_and_build, counting, jobs, run, run_ctest

PRESETS = {
    "address": ("address",),
    "undefined": ("undefined",),
    "both": ("address", "undefined"),  # one build for two
    "thread": ("thread",),
}
DEFAULT = ("both", "thread")
COUNTED = "both"  # its build counts lines, too: ./x coverage

CUT_KERNELS = ("cholesky", "gemm", "gramschmidt", "jacobi-2d", "mvt")

POLYBENCH = SOURCE / "benchmarks/polybench"
# Tried on every kernel besides its hand-written recipes; where one does not apply the nest stays as it is.
RECIPES = {
    "normal form": "-> cpp",
    "parallel": "parallelize(loop=i0) -> openmp",
    "vectors": "vectorize(loop=i1) -> highway",
    "deeper vectors": "vectorize(loop=i2) -> highway",
}


@dataclass
class Outcome:
    passed: int = 0
    total: int = 0
    seconds: float = 0
    failures: list = field(default_factory=list)  # (name, where to look or how to repeat)


def environment(preset):
    """What the sanitizers' runtimes are told; the caller's own settings come last and win."""
    suppressions = SOURCE / "tests/sanitize"
    settings = {
        "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1",
        "LSAN_OPTIONS": f"suppressions={suppressions}/leak.supp:print_suppressions=0",
        "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
        "TSAN_OPTIONS": f"suppressions={suppressions}/thread.supp:ignore_noninstrumented_modules=1:halt_on_error=1",
        "OMP_NUM_THREADS": "4",
        "SOUS_CASES": "100",  # of each property on random nests, a tenth: each takes five to ten times as long here
        "OMP_WAIT_POLICY": "passive",
        "SOUS_CSMITH_SLOWER": "50",  # times plain clang: an instrumented sous is no measure
    }
    if preset == "thread":
        settings["OMP_TOOL_LIBRARIES"] = "/usr/lib/llvm-19/lib/libarcher.so"
    result = dict(os.environ)
    for name, value in settings.items():
        own = os.environ.get(name)
        result[name] = f"{value}:{own}" if own and name.endswith("SAN_OPTIONS") else own or value
    return result


def built(preset, ordinary, cut=False):
    """The preset's build folder, up to date."""
    build = beside(ordinary, "sanitize-" + preset)
    options = ["-DSOUS_SANITIZE=" + ",".join(PRESETS[preset]), f"-DSOUS_COVERAGE={'ON' if preset == COUNTED else 'OFF'}"]
    configure_and_build(build, CUT_TARGETS if cut else (), options)
    return build


def said_by(text, test, most=60):
    """What ctest printed of one failed test, the last lines of it: where only the end of a log is kept, it stands there."""
    lines = text.splitlines()
    ends = re.compile(r" *(Start +\d+: |\d+/\d+ Test +#)")
    for at, line in enumerate(lines):
        if re.match(rf" *\d+/\d+ Test +#\d+: {re.escape(test)} ", line):
            upto = next((k for k in range(at + 1, len(lines)) if ends.match(lines[k])), len(lines))
            return lines[at + 1:upto][-most:]
    return []


def run_tests(preset, build, regex="", cut=False):
    """ctest in the preset's folder."""
    start = time.monotonic()
    env = environment(preset)
    if preset == COUNTED:
        env = counting(build, env)
    log = build / "sanitize-tests.log"
    text, status = run_ctest(build, log, regex, cut, env)
    outcome = Outcome(seconds=time.monotonic() - start)
    summary = re.search(r"tests passed, (\d+) tests? failed out of (\d+)", text)
    if summary:
        outcome.total = int(summary[2])
        outcome.passed = outcome.total - int(summary[1])
    for name in re.findall(r"^\s*\d+ - (\S+) \((?!Skipped|Not Run \(Disabled)", text, re.MULTILINE):
        again = f"ctest --test-dir {build} -R '^{re.escape(name)}$' --output-on-failure"
        outcome.failures.append((name, "\n".join([again, *said_by(text, name)])))
    if status != 0 and not outcome.failures:
        outcome.failures.append(("ctest", f"see {log}"))
    return outcome


def kernels():
    return sorted(path.stem for path in POLYBENCH.glob("*.c"))


def hand_written():
    """{kernel: [(unit, recipe)]} of benchmarks/recipes/polybench.txt."""
    result = {}
    for line in (SOURCE / "benchmarks/recipes/polybench.txt").read_text().splitlines():
        match = re.match(r"([\w-]+) (\d+): (.*)", line)
        if match:
            result.setdefault(match[1], []).append((match[2], match[3]))
    return result


def execute(program, dump, env):
    """The bytes that a program dumps, or what went wrong."""
    dump.unlink(missing_ok=True)
    try:
        done = run([program, "--dump", dump], stdout=PIPE, stderr=STDOUT, env={**env, "POLYBENCH_FLUSH_KB": "0"},
                   timeout=300)
    except TimeoutExpired:
        return None, "hangs"
    if done.returncode != 0:
        return None, f"exit status {done.returncode}\n{done.stdout[-4000:]}"
    return dump.read_bytes(), ""


class Kernel:
    """One kernel in a folder of its own: built and run as it is, then in every variant."""

    flags = ("-march=native", "-ffp-contract=off", "-DMINI", f"-I{POLYBENCH}")
    debug = ("-O1", "-g")  # what is compiled; Sous takes part from -O2 on

    def __init__(self, sous, name, folder, preset):
        self.sous, self.name, self.folder = sous, name, folder
        self.env = environment(preset)
        self.sanitize = ["-fsanitize=" + ",".join(PRESETS[preset]), "-fno-sanitize-recover=all",
                         "-fno-omit-frame-pointer"]
        self.source = POLYBENCH / f"{name}.c"

    def original(self):
        program = self.folder / "original"
        run(["clang-19", *self.flags, *self.debug, self.source, "-lm", "-o", program], stdout=PIPE, stderr=STDOUT)
        return execute(program, self.folder / "original.dump", dict(os.environ))[0]

    def variant(self, label, recipe, unit=None):
        """(whether anything was served, what went wrong)."""
        out = self.folder / re.sub(r"\W+", "-", label)
        out.mkdir()
        (out / "recipe").write_text(recipe + "\n")
        words = [self.sous, "opt", self.source, "--db=none", "--recipe", out / "recipe", "-o", out]
        if unit is not None:
            words += ["--nest", "kernel_" + self.name.replace("-", "_"), "--unit", unit]
        done = run([*words, "--", "clang-19", "-O2", *self.flags], stdout=PIPE, stderr=STDOUT)
        generated = out / f"{self.name}.sous.cpp"
        if done.returncode != 0:
            return False, done.stdout[-4000:]
        if not generated.exists():
            return False, ""
        # The line that `sous opt` prints says how generated code wants to be compiled.
        options = re.search(r"&& clang-19 (.*) -O3 -march=native -c ", done.stdout)[1].split()
        commands = [
            ["clang-19", *self.flags, *self.debug, *self.sanitize, "-c", out / f"{self.name}.c", "-o", out / "c.o"],
            ["clang-19", *self.flags, *self.debug, *self.sanitize, *options, "-c", generated, "-o", out / "cpp.o"],
            # Under sanitizers Highway's headers check themselves, and report through its library.
            ["clang-19", *self.sanitize, "-fopenmp", out / "c.o", out / "cpp.o", "-lhwy", "-lm", "-o", out / "program"],
        ]
        for command in commands:
            done = run(command, stdout=PIPE, stderr=STDOUT)
            if done.returncode != 0:
                return True, done.stdout[-4000:]
        found, why = execute(out / "program", out / "dump", self.env)
        if found is not None and found != self.expected:
            why = "other results than the original's"
        return True, why

    def check(self):
        """(variants that were served, [(label, why)])."""
        self.expected = self.original()
        if self.expected is None:
            return 0, [("original", "does not build or run")]
        variants = [(label, recipe, None) for label, recipe in RECIPES.items()]
        variants += [(f"by hand {k}", recipe, unit) for k, (unit, recipe) in enumerate(hand_written().get(self.name, []))]
        served, failures = 0, []
        for label, recipe, unit in variants:
            ran, why = self.variant(label, recipe, unit)
            served += ran
            if why:
                failures.append((label, why))
        return served, failures


def run_kernels(preset, sous, names, keep):
    start = time.monotonic()
    outcome = Outcome(total=len(names))
    served = 0

    def one(name):
        folder = Path(tempfile.mkdtemp(prefix=f"{preset}-{name}-", dir=keep))
        result = Kernel(sous, name, folder, preset).check()
        if not result[1]:
            shutil.rmtree(folder)
        return name, folder, *result

    with ThreadPoolExecutor(int(jobs())) as pool:
        for name, folder, ran, failures in pool.map(one, names):
            served += ran
            if ran == 0:
                failures.append(("nothing", "no nest was served"))
            outcome.passed += not failures
            for label, why in failures:
                outcome.failures.append((f"{name}, {label}: {why}", f"kept in {folder}"))
    outcome.seconds = time.monotonic() - start
    return outcome, served


def main():
    parser = argparse.ArgumentParser(prog="./x sanitize", description=__doc__.split("\n")[0])
    parser.add_argument("presets", nargs="*", metavar="preset",
                        help=f"{', '.join(PRESETS)} (default: {' '.join(DEFAULT)})")
    parser.add_argument("--only", choices=("tests", "kernels"), help="one of the two parts")
    parser.add_argument("--kernel", action="append", metavar="NAME", help="only this one (may be repeated)")
    parser.add_argument("--build", type=Path, default=SOURCE / "build", help="the ordinary build folder")
    parser.add_argument("--tests", default="", metavar="REGEX", help="only the tests whose names match")
    parser.add_argument("--cut", action="store_true", help="CI's part: unit tests in the first preset, five kernels in all")
    parser.add_argument("--record", action="store_true", help="add the results to tests/results.jsonl")
    arguments = parser.parse_args()
    for preset in arguments.presets:
        if preset not in PRESETS:
            parser.error(f"there is no preset {preset}; there are: {', '.join(PRESETS)}")
    rows = []
    for number, preset in enumerate(arguments.presets or DEFAULT):
        sanitizers = ",".join(PRESETS[preset])
        if arguments.only != "kernels" and not (arguments.cut and number > 0):
            build = built(preset, arguments.build, arguments.cut)
            rows.append((sanitizers, "tests", run_tests(preset, build, arguments.tests, arguments.cut)))
        if arguments.only != "tests":
            configure_and_build(arguments.build.resolve(), ["sous"])
            keep = beside(arguments.build, "sanitize-kernels")
            keep.mkdir(exist_ok=True)
            names = arguments.kernel or (CUT_KERNELS if arguments.cut else kernels())
            outcome, served = run_kernels(preset, arguments.build.resolve() / "sous", names, keep)
            rows.append((sanitizers, f"kernels, {served} variants", outcome))
    print(f"\n{'sanitizer':<20}{'what':<26}{'passed':>8}{'of':>7}{'seconds':>9}")
    for sanitizers, what, outcome in rows:
        print(f"{sanitizers:<20}{what:<26}{outcome.passed:>8}{outcome.total:>7}{outcome.seconds:>9.0f}")
    for sanitizers, what, outcome in rows:
        for name, where in outcome.failures:
            print(f"\n{sanitizers}, {what}: {name}\n  {where}")
    if arguments.record:
        results.append("./x sanitize", [
            (f"{sanitizers}: {what.split(',')[0]}",
             f"{outcome.passed} of {outcome.total}{what.removeprefix(what.split(',')[0])} ({outcome.seconds:.0f} s)",
             not outcome.failures) for sanitizers, what, outcome in rows])
    return 1 if any(outcome.failures or outcome.passed == 0 for _, _, outcome in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
