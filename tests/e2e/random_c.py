#!/usr/bin/env python3
"""Random C programs, compiled as they are and through sous: every output must be the same, bit for bit.

    random_c.py --sous build/sous                        SOUS_CASES programs (4), from SOUS_SEED (the time)
    SOUS_SEED=12 random_c.py --sous build/sous           the same programs again

A program is a batch of functions (c_programs.py, c_harness.py), each called with sizes around vector lengths, with
overlapping pointers, and with arrays whose end is the end of accessible memory. Functions with undefined behaviour are
found by a build with sanitizers and left out. A failure is shrunk and written to --keep.
"""
import argparse
import collections
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

REFERENCE = ["-O2", "-ffp-contract=off"]
FLAGS = ["-O2", "-march=native", "-ffp-contract=off"]
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
    # The lowest target that does what the recipe asks for compiles fastest.
    lowest = "highway" if "lanes" in text or "vectorize" in text else "openmp" if "parallel" in text else "cpp"
    return text + " -> " + (lowest if rng.random() < 0.9 else "highway")


class Bench:
    def __init__(self, arguments, folder):
        self.sous, self.cc, self.folder = arguments.sous, arguments.cc, pathlib.Path(folder)
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("SOUS_")}
        self.environment.update(OMP_NUM_THREADS="3", OMP_WAIT_POLICY="passive", SOUS_GUARD="0", ASAN_OPTIONS="detect_leaks=0",
                                UBSAN_OPTIONS="print_stacktrace=0")
        self.served = collections.Counter()

    def run(self, words, timeout=60):
        try:
            return subprocess.run([str(w) for w in words], cwd=self.folder, env=self.environment, capture_output=True,
                                  text=True, timeout=timeout, errors="replace")
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
                done = self.run(["./s"])
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

    def differs(self, functions, expected, options, cc, flags):
        """(what differs, function) of a build with sous, or None."""
        done = self.build([cc, *flags], functions, "t", [self.sous, "--db=none", "--explain", *options])
        for found in re.findall(r"\b(served|left as it is)\b", done.stderr):
            self.served[found] += 1
        if done.returncode:
            return "build: " + done.stderr[-3000:], None
        ran = self.run(["./t"])
        if ran.stdout == expected and ran.returncode == 0:
            return None
        for a, b in zip(expected.split("\n"), ran.stdout.split("\n") + [""]):
            if a != b:
                return f"expected {a}, got {b or 'status %d' % ran.returncode}", a.split()[0]
        return f"status {ran.returncode}", None


def smaller(statements):
    """Every program that is one deletion, or one unwrapped block, away."""
    for k, s in enumerate(statements):
        yield statements[:k] + statements[k + 1:]
        if s[0] == "block":
            yield statements[:k] + s[2] + statements[k + 1:]
            for inner in smaller(s[2]):
                yield statements[:k] + [("block", s[1], inner, s[3])] + statements[k + 1:]
        elif " = " in s[1] or "+=" in s[1]:
            match = re.match(r"(.*?[^<>=!]\s*[-+*^|&]?=) (.*);$", s[1])
            if match and match[2] not in ("1", "0"):
                yield statements[:k] + [("line", match[1] + " 1;")] + statements[k + 1:]


def shrink(bench, function, options, cc, flags, seconds=150):
    """The function with statements taken out, as long as it still fails and stays defined."""
    end = time.time() + seconds
    again = True
    while again and time.time() < end:
        again = False
        for body in smaller(function.body):
            if time.time() > end:
                break
            saved, function.body = function.body, body
            if bench.build(["clang-19", *REFERENCE], [function], "r").returncode == 0:
                expected = bench.run(["./r"]).stdout
                found = bench.differs([function], expected, options, cc, flags)
                kept, sanitized = bench.defined([function]) if found else ([], "")
                if kept and sanitized == expected:
                    again = True
                    break
            function.body = saved
    return function


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sous", required=True)
    parser.add_argument("--cc", default="clang-19")
    parser.add_argument("--keep", default="random-c-failures")
    parser.add_argument("--functions", type=int, default=14, help="per program")
    parser.add_argument("--recipes", type=int, default=5, help="random recipes per program")
    parser.add_argument("--no-shrink", action="store_true")
    arguments = parser.parse_args()
    arguments.sous = str(pathlib.Path(arguments.sous).resolve())
    seed = int(os.environ.get("SOUS_SEED") or time.time())
    cases = int(os.environ.get("SOUS_CASES") or 4)
    keep = pathlib.Path(arguments.keep)
    failures, dropped, made, agreed = [], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(arguments, folder)
        for case in range(seed, seed + cases):
            functions = [c_programs.random_function(case * 1000 + k, f"f{k}") for k in range(arguments.functions)]
            made += len(functions)
            kept, sanitized = bench.defined(functions)
            dropped += len(functions) - len(kept)
            if not kept:
                continue
            done = bench.build(["clang-19", *REFERENCE], kept, "r")
            if done.returncode:
                raise RuntimeError(done.stderr)
            done = bench.run(["./r"])
            expected = done.stdout
            if done.returncode:
                raise RuntimeError(f"the reference of {case} ends with status {done.returncode}")
            # What sanitizers do not see (an uninitialized variable) may still differ between two builds.
            unclear = {a.split()[0] for a, b in zip(expected.split("\n"), sanitized.split("\n")) if a != b}
            dropped += len(unclear)
            kept = [f for f in kept if f.name not in unclear]
            expected = "\n".join(l for l in expected.split("\n") if l.split()[:1] == [] or l.split()[0] not in unclear)
            if not kept:
                continue
            rng = random.Random(case)
            tries = [(["--recipe=normal-form", f"--target={t}"], arguments.cc) for t in ("cpp", "openmp", "highway")
                     if t == "cpp" or rng.random() < 0.15]
            for _ in range(arguments.recipes):
                tries.append(([random_recipe(rng)], arguments.cc))
            if rng.random() < 0.2:
                tries.append((["--recipe=normal-form", "--target=highway"], "gcc-12"))
            reported = set()
            for options, cc in tries:
                recipe = "" if options[0].startswith("--") else options[0]
                if recipe:
                    (pathlib.Path(folder) / "recipe").write_text(recipe)
                    options = ["--recipe=recipe"]
                found = bench.differs(kept, expected, options, cc, FLAGS)
                agreed += found is None
                if not found:
                    continue
                what, name = found
                if name in reported:
                    continue
                reported.add(name)
                print(f"FAILED: SOUS_SEED={case} SOUS_CASES=1, {cc} {' '.join(options)} {recipe}: {what}", flush=True)
                one = [f for f in kept if f.name == name]
                keep.mkdir(exist_ok=True, parents=True)
                path = keep / f"{case}-{name}.c"
                if one and not arguments.no_shrink:
                    shrink(bench, one[0], options, cc, FLAGS)
                path.write_text(f"// {cc} {' '.join(options)} {recipe}\n// {what[:200]}\n".replace("\n\n", "\n") +
                                c_harness.program(one or kept))
                failures.append(path)
                for f in one:
                    print(f.source(), flush=True)
                    kept = [g for g in kept if g.name != f.name]
                    expected = "\n".join(l for l in expected.split("\n") if l.split()[:1] != [f.name])
    print(f"seed {seed}, {cases} programs, {made} functions ({dropped} left out), {agreed} builds agreed, "
          f"nests {dict(bench.served)}, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
