#!/usr/bin/env python3
"""Random C programs, compiled as they are and through sous: every output must be the same, bit for bit.

    ./x fuzz nests                                       some forty programs
    random_c.py --sous build/sous                        four, from a seed that the time gives
    random_c.py --sous build/sous --seed 12 --runs 1     the program of seed 12
    random_c.py --sous build/sous --replay FILE.c…       programs that failed once: the command is in their first line

A program is a batch of functions (c_programs.py, c_harness.py), each called with sizes around vector lengths, with
overlapping pointers, and with arrays whose end is the end of accessible memory. Functions with undefined behaviour are
found by a build with sanitizers and left out. The rest is what clang -O0 computes. Each program is built in normal form
for every target, with recipes that were sampled for each nest, or that a strategy writes for it, so that they apply
(random_lock.cc: a lock file), and with the same recipe for all nests, as people write them. A failure is shrunk
(c_shrink.py) and written to --keep.
"""
import argparse
import collections
import itertools
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import c_harness
import c_programs
import c_shrink

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import results
import targets

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = ["-O0", "-ffp-contract=off"]
FLAGS = ["-O2", "-march=native", "-ffp-contract=off", "-DSOUS_PARALLEL_FROM=0"]  # threads for a few iterations, too
TRACED = """#include <stdio.h>
static int traced(int served) { fputc("OS"[served], stderr); return served; }
"""
# Many nests take one of these; of the others, one in twenty.
COMMON = ("vectorize(loop=i0)", "vectorize(loop=i0)", "parallelize(loop=i0)", "reverse(loop=i0); vectorize(loop=i0)",
          "parallelize(loop=i0, threads=3, chunk=1)", "tile(loops=[i0], sizes=[4]); parallelize(loop=i0_t)")
STEPS = ("vectorize(loop={a})", "vectorize(loop={b})", "vectorize(loop={c})", "parallelize(loop={a})",
         "parallelize(loop={a}, threads=3, chunk=1, kind=dynamic)", "parallelize(loop={b})",
         "tile(loops=[{a}], sizes=[4])", "tile(loops=[{a},{b}], sizes=[4,3])", "interchange(outer={a}, inner={b})",
         "reverse(loop={a})", "skew(by={a}, loop={b})", "skew(by={a}, loop={b}, factor=2)", "distribute(loop={a})",
         "fuse(first={a}, second={b})", "fuse(first={a}, second={b}, shift=1)", "unroll(loop={a}, factor=3)",
         "parallelize(loop={a}); vectorize(loop={b})", "interchange(outer={a}, inner={b}); vectorize(loop={a})",
         "tile(loops=[{a},{b}], sizes=[3,8]); parallelize(loop={a}_t); vectorize(loop={b})",
         "distribute(loop={a}); vectorize(loop={a})", "distribute(loop={a}); parallelize(loop={a}_d)",
         "skew(by={a}, loop={b}); interchange(outer={a}, inner={b}); vectorize(loop={a})",
         "tile(loops=[{a}], sizes=[8]); vectorize(loop={a})", "vectorize(loop={a}, lanes=4)",
         "register_tile(loops=[{a},{b}], sizes=[2,8], lanes=4)", "unroll(loop={a}, factor=2); vectorize(loop={b})",
         "fuse(first={a}, second={b}); parallelize(loop={a})", "reverse(loop={a}); vectorize(loop={a})")


def random_recipe(rng):
    a = rng.choice((0, 0, 0, 1, 1, 2, 3))
    text = rng.choice(STEPS).format(a=f"i{a}", b=f"i{a + 1}", c=f"i{a + 2}")
    if rng.random() < 0.6:
        text = rng.choice(COMMON)
    # The lowest target that does what the recipe asks for compiles fastest.
    lowest = "highway" if "lanes" in text or "vectorize" in text else "openmp" if "parallel" in text else "cpp"
    return text + " -> " + (lowest if rng.random() < 0.9 else "highway")


class Try:
    """One way to build a program: options of sous, the compiler, and what --recipe reads or who samples the lock."""

    def __init__(self, options, cc, recipe="", lock=None):
        self.options, self.cc, self.recipe, self.lock = options, cc, recipe, lock

    def __str__(self):
        seed = [] if self.lock is None else [f"--random-lock={self.lock}"]
        return " ".join([self.cc, *self.options, *seed, *([f"recipe: {self.recipe}"] if self.recipe else [])])

    @staticmethod
    def parse(text):
        """What __str__ wrote."""
        head, _, recipe = text.partition(" recipe: ")
        cc, *options = head.split()
        lock = [o for o in options if o.startswith("--random-lock=")]
        return Try([o for o in options if o not in lock], cc, recipe.strip(), lock[0].split("=")[1] if lock else None)


class Bench:
    def __init__(self, arguments, folder):
        self.sous, self.folder = arguments.sous, pathlib.Path(folder)
        self.random_lock = str(pathlib.Path(arguments.sous).parent / "random_lock")
        self.sampled = {}  # function: recipes that its nests got from the last lock file
        # A planted fault (tools/faults.py) is to be seen.
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("SOUS_") or k == "SOUS_FAULT"}
        # A recipe may ask for more threads than are here.
        self.environment.update(OMP_NUM_THREADS="3", OMP_THREAD_LIMIT="3", OMP_WAIT_POLICY="passive", SOUS_GUARD="0",
                                SOUS_CACHE_DIR="off", SOUS_LOG="none",
                                ASAN_OPTIONS="detect_leaks=0", UBSAN_OPTIONS="print_stacktrace=0")
        self.served = {}  # what was asked for: [functions of which a nest is served, all of them]
        self.entries = collections.Counter()  # of served nests: runs of the generated code (S), of the original (O)

    def run(self, words, limit=60):
        """With so many seconds of processor time (thirty times as long by the clock: others may be at work here)."""
        try:
            return subprocess.run(["prlimit", f"--cpu={limit}", *map(str, words)], cwd=self.folder,
                                  env=self.environment, capture_output=True, text=True, timeout=30 * limit,
                                  errors="replace")
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(words, 124, "", "timed out")

    def defined(self, functions):
        """Those of the functions that sanitizers have nothing to say about."""
        functions = list(functions)
        while functions:
            (self.folder / "s.c").write_text(c_harness.program(functions))
            done = self.run(["clang-19", "-w", "-O0", "-ffp-contract=off", "-DHEAP", "-fsanitize=undefined,address",
                             "-fno-sanitize=float-divide-by-zero", "-g1", "s.c", "-o", "s", "-lm"], 120)
            if done.returncode:
                bad = re.findall(r"In function|s\.c:(\d+):", done.stderr)
                lines = [int(b) for b in bad if b]
                if not lines:
                    raise RuntimeError(done.stderr[:4000])
            else:
                done = self.run(["./s"], 15)
                lines = [int(x) for x in re.findall(r"(?m)(?:^|#0 .*/)s\.c:(\d+)", done.stderr)]
                if done.returncode == 0 and not lines:
                    return functions, done.stdout
            text = c_harness.program(functions).split("\n")
            hit = set()
            for line in lines:
                for k in range(min(line, len(text)) - 1, -1, -1):
                    match = re.match(r"(?:static )?(?:__attribute__.*)?\w+ \*?(?:run_)?(f\d+)(?:_h\d+)?\(", text[k])
                    if match:
                        hit.add(match[1])
                        break
            if not hit:
                ran = done.stdout.split("\n")
                last = [l for l in ran if l.startswith("f")]
                hit = {functions[0].name} if not last else {functions[-1].name}
            functions = [f for f in functions if f.name not in hit]
        return [], ""

    def build(self, words, functions, name, prefix=()):
        (self.folder / f"{name}.c").write_text(c_harness.program(functions))
        done = self.run([*prefix, *words, "-w", f"{name}.c", "-o", name, "-lm"], 240)
        return done

    def prepare(self, functions, one):
        """Options for a build in one way, its lock file or recipe written."""
        (self.folder / "sous.lock").unlink(missing_ok=True)
        if one.recipe:
            (self.folder / "recipe").write_text(one.recipe)
            return [*one.options, "--recipe=recipe"]
        if one.lock is None:
            return one.options
        (self.folder / "t.c").write_text(c_harness.program(functions))
        done = self.run([self.random_lock, one.lock, "t.c", *FLAGS], 240)
        if done.returncode:
            raise RuntimeError(done.stderr)
        self.sampled = {}
        for function, recipe in re.findall(r"(?m)^(\w+):\d+: (.*)$", done.stdout):
            self.sampled.setdefault(function, []).append(recipe)
        return [*one.options, "--frozen"]

    def count(self, functions, one, explained):
        """Adds to `served`. Of a recipe for all nests only those count to which it applies."""
        served = set(re.findall(r"(?m)^\S+?:\d+: (f\d+), lines \d+ to \d+: served", explained))
        steps = "one recipe" if one.recipe else "sampled recipes" if one.lock else one.options[-1].split("=")[1]
        counts = self.served.setdefault(steps, [0, 0])
        counts[0] += len(served)
        counts[1] += len(functions)

    def trace(self, functions):
        """How often entries of generated code run it, and how often a check leaves the work to the original."""
        (self.folder / "t.c").write_text(c_harness.program(functions))
        flags = ["-O0", *FLAGS[1:], "-w"]
        done = self.run([self.sous, "--db=none", "opt", "t.c", "--recipe=normal-form", "--target=cpp", "-o", "traced",
                         "--", "clang-19", *FLAGS])
        if done.returncode:
            raise RuntimeError(done.stderr[:4000])
        text = (self.folder / "traced/t.c").read_text()
        text = re.sub(r"(?m)^( *)if \(!(.*\bsous_(f\d+)_\d+(?:_\d+)?(?:_takes)?\(.*)\) \{$", r"\1if (!traced(\2)) {", text)
        (self.folder / "traced.c").write_text(TRACED + text)
        for words in (["clang-19", "-x", "c++", "-std=c++20", "-fno-exceptions", "-fno-rtti", "-fwrapv", *flags,
                       f"-I{ROOT}", "-c", "traced/t.sous.cpp", "-o", "traced.o"],
                      ["clang-19", *flags, "traced.c", "traced.o", "-o", "t", "-lm"]):
            done = self.run(words, 240)
            if done.returncode:
                raise RuntimeError(done.stderr[:4000])
        self.entries.update(self.run(["./t"]).stderr)

    def differs(self, functions, expected, one):
        """(what differs, function) of a build with sous, or None."""
        options = self.prepare(functions, one)
        done = self.build([one.cc, *FLAGS], functions, "t", [self.sous, "--db=none", "--explain=all", *options])
        if not isinstance(functions, Kept):
            self.count(functions, one, done.stderr)
        if done.returncode:
            return "build: " + done.stderr[-3000:], None
        ran = self.run(["./t"])
        if ran.stdout == expected and ran.returncode == 0:
            return None
        for a, b in zip(expected.split("\n"), ran.stdout.split("\n") + [""]):
            if a != b:
                return f"expected {a or 'no more'}, got {b or 'status %d' % ran.returncode}", (a or b).split()[0]
        return f"status {ran.returncode}", None


def differing(bench, functions, expected, cc):
    """Those that this compiler by itself computes differently: gcc 12 takes 0.0 - (double)i for -(double)i."""
    done = bench.build([cc, *FLAGS], functions, "own")
    if done.returncode:
        raise RuntimeError(done.stderr)
    return differing_lines(expected, bench.run(["./own"]).stdout)


def differing_lines(expected, output):
    """The functions in whose lines two outputs differ."""
    lines = itertools.zip_longest(expected.split("\n"), output.split("\n"), fillvalue="")
    return {(a or b).split()[0] for a, b in lines if a != b}


def without(output, names):
    return "\n".join(l for l in output.split("\n") if not l or l.split()[0] not in names)


def ways(case, arguments):
    """In which ways the program of this seed is built."""
    rng = random.Random(case)
    for target in targets.NAMES:
        if target == "cpp" or rng.random() < 0.3:
            yield Try(["--recipe=normal-form", f"--target={target}"], arguments.cc)
    for k in range(arguments.recipes):
        yield Try([], arguments.cc, lock=str(case * 100 + k))
        if rng.random() < 0.5:
            yield Try([], arguments.cc, random_recipe(rng))
    if rng.random() < 0.2:
        yield Try(["--recipe=normal-form", "--target=highway"], "gcc-12")


def single_recipe(bench, functions, one):
    """The same failure by one recipe, which stays the same while the function shrinks; or the lock file again."""
    bench.build(["clang-19", *REFERENCE], functions, "r")
    expected = bench.run(["./r"]).stdout
    bench.prepare(functions, one)
    for recipe in bench.sampled.get(functions[0].name, []):
        other = Try([], one.cc, recipe)
        if bench.differs(functions, expected, other):
            return other
    return one


def keep_failure(folder, name, functions, one, what):
    """Writes a program that repeats the failure; its first line says how it is built."""
    folder.mkdir(exist_ok=True, parents=True)
    path = folder / f"{name}.c"
    first = " ".join(what.split("\n")[0].split())
    path.write_text(f"// way: {one}\n// why: {first[:160]}\n// repeat: tests/e2e/random_c.py --sous build/sous --replay "
                    f"tests/golden/found-c/{path.name}\n" + c_harness.program(functions))
    print(f"kept as {path}", flush=True)
    return path


class Kept:
    """A program from a file, in the place of functions."""

    def __init__(self, text):
        self.text = text


def replay(bench, paths):
    """Programs that failed once, each in the way in which it did: 1 if one still does."""
    failed = 0
    for path in paths:
        text = path.read_text()
        one = Try.parse(re.search(r"^// way: (.*)$", text, re.M)[1])
        done = bench.build(["clang-19", *REFERENCE], Kept(text), "r")
        if done.returncode:
            raise RuntimeError(done.stderr)
        found = bench.differs(Kept(text), bench.run(["./r"]).stdout, one)
        print(f"{path.name}: {'FAILED: ' + found[0] if found else 'agrees'} ({one})", flush=True)
        failed += found is not None
    print(f"{len(paths)} programs, {failed} failures")
    return 1 if failed else 0


class Tally:
    def __init__(self):
        self.made = self.dropped = self.unjudged = self.agreed = 0
        self.failures = []


def one_program(bench, case, arguments, tally):
    functions = [c_programs.random_function(case * 1000 + k, f"f{k}") for k in range(arguments.functions)]
    tally.made += len(functions)
    kept, sanitized = bench.defined(functions)
    tally.dropped += len(functions) - len(kept)
    if not kept:
        return
    done = bench.build(["clang-19", *REFERENCE], kept, "r")
    if done.returncode:
        raise RuntimeError(done.stderr)
    done = bench.run(["./r"])
    expected = done.stdout
    if done.returncode:
        raise RuntimeError(f"the reference of {case} ends with status {done.returncode}")
    # What sanitizers do not see (an uninitialized variable) may still differ between two builds.
    unclear = differing_lines(expected, sanitized)
    tally.dropped += len(unclear)
    kept = [f for f in kept if f.name not in unclear]
    expected = without(expected, unclear)
    if not kept:
        return
    bench.trace(kept)
    for one in ways(case, arguments):
        own = differing(bench, kept, expected, one.cc) if one.cc != arguments.cc else set()
        judged = [f for f in kept if f.name not in own]
        tally.unjudged += len(own)
        if not judged:
            continue
        found = bench.differs(judged, without(expected, own), one)
        tally.agreed += found is None
        if not found:
            continue
        what, name = found
        line = " ".join(what.split())[:300].replace("|", "/")
        print(f"failure {line} | tests/e2e/random_c.py --sous {arguments.sous} --seed {case} --runs 1 ({one})",
              flush=True)
        guilty = [f for f in judged if f.name == name]
        if arguments.no_shrink or not guilty:
            tally.failures.append(keep_failure(pathlib.Path(arguments.keep), f"{case}", guilty or judged, one, what))
        else:
            if one.lock is not None:
                one = single_recipe(bench, guilty, one)
            small = c_shrink.shrink(bench, guilty[0], one, REFERENCE)
            tally.failures.append(keep_failure(pathlib.Path(arguments.keep), f"{case}-{name}", [small], one, what))
            print(small.source(), flush=True)
        if arguments.first:
            return
        # The others are still to be looked at.
        kept = [f for f in kept if f.name != name]
        expected = without(expected, {name})
        if not kept or not guilty:
            break


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sous", required=True)
    parser.add_argument("--cc", default="clang-19")
    parser.add_argument("--keep", default="tests/golden/found-c")
    parser.add_argument("--seed", type=int, default=int(os.environ.get("SOUS_SEED") or 0), help="of the first program")
    parser.add_argument("--runs", type=int, default=int(os.environ.get("SOUS_CASES") or 4), help="how many programs")
    parser.add_argument("--functions", type=int, default=14, help="per program")
    parser.add_argument("--recipes", type=int, default=5, help="lock files of random recipes per program")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--first", action="store_true", help="the first failure is enough")
    parser.add_argument("--replay", nargs="*", type=pathlib.Path)
    parser.add_argument("--record", action="store_true", help="add the results to tests/results.jsonl")
    arguments = parser.parse_args()
    arguments.sous = str(pathlib.Path(arguments.sous).resolve())
    seed, cases = arguments.seed or int(time.time()), arguments.runs
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, folder)
        if arguments.replay is not None:
            return replay(bench, arguments.replay)
        for case in range(seed, seed + cases):
            try:
                one_program(bench, case, arguments, tally)
            except RuntimeError as error:
                # Where no build can be judged (a lock cannot be sampled, a reference not compiled): a failure as well,
                # and no reason to leave out the programs behind it.
                line = " ".join(str(error).split())[:300].replace("|", "/")
                print(f"failure {line} | tests/e2e/random_c.py --sous {arguments.sous} --seed {case} --runs 1",
                      flush=True)
                tally.failures.append(str(error))
            if tally.failures and arguments.first:
                return 1
    said = (f"seed {seed}, {cases} programs, {tally.made} functions ({tally.dropped} left out, {tally.unjudged} for "
            f"another compiler), {tally.agreed} builds agreed, {len(tally.failures)} failures")
    print(f"executions {cases}\n{said}")
    if arguments.record:
        results.append("./x fuzz", [("nests", said, not tally.failures)])
    entries = bench.entries["S"] + bench.entries["O"]
    if entries:
        print("functions of which a nest is served: " + ", ".join(
            f"{name} {100 * a / b:.0f} %" for name, (a, b) in sorted(bench.served.items())) +
              f"; entries that ran the generated code: {100 * bench.entries['S'] / entries:.0f} % of {entries}")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
