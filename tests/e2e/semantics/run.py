#!/usr/bin/env python3
"""What C means, point by point: each program here is compiled as it is and through sous, with its nests rewritten for
every target and by recipes that split, reorder and vectorize, and must print the same and end with the same status.

    run.py --sous build/sous            all programs
    run.py --sous build/sous NAME…      some; --keep FOLDER keeps what was built

A program says at its top, in comments, what must become of its functions, so that none passes because nothing was
rewritten:

    // add: served SSO      its nest is served, and the entry, call by call, ran the generated code (S) or left it to
                            the original (O): asserted on a build with every entry traced
    // vol: c.volatile      it is left alone for this reason
    // also: vectorize add shift; parallelize add      these recipes apply to these functions
    // unchecked: add       the entry checks no overlap
    // flags: -fno-strict-aliasing                     further options; `-O2 -march=native` is always given
    // march: x86-64-v3                                further instruction sets, with vectorize alone
    // runs: OMP_NUM_THREADS=1 | OMP_NUM_THREADS=3     environments of the runs (default: three threads)
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BASE = ["-O2", "-w", "-std=gnu17", f"-I{HERE}"]
RECIPES = {
    "normal": "-> cpp",
    "vectorize": "vectorize(loop=i0) -> highway",
    "parallelize": "parallelize(loop=i0) -> openmp",
    "dynamic": "parallelize(loop=i0, threads=4, chunk=1, kind=dynamic) -> openmp",
    "tile": "tile(loops=[i0], sizes=[8]) -> cpp",
    "inner": "vectorize(loop=i1) -> highway",
    "inner_threads": "parallelize(loop=i1) -> openmp",
    "unroll": "unroll(loop=i0, factor=3) -> cpp",
    "lanes": "vectorize(loop=i0, lanes=2) -> highway",
    "expand": "expand(loop=i0) -> cpp",
    "privatize": "privatize(loop=i0); parallelize(loop=i0) -> openmp",
    "panels": "tile(loops=[i2], sizes=[8]); pack(loop=i0, panel=i2_t, fold=yes) -> cpp",
}
ALWAYS = ("normal", "vectorize", "parallelize")
TRACE = """\
#include <stdio.h>
static int sous_traced(const char *function, int served) {
  static FILE *to;
  if (!to) to = fopen("trace", "w");
  fprintf(to, "%s %c\\n", function, served ? 'S' : 'O');
  fflush(to);
  return served;
}
"""


class Program:
    """A C file and what its head says, under one of the sets of flags that it names ("flags: a b | c")."""

    KEYS = ("also", "unchecked", "flags", "march", "runs", "links")

    @staticmethod
    def of(path):
        first = Program(path)
        return [Program(path, k) for k in range(len(first.said["flags"].split("|")))]

    def __init__(self, path, variant=0):
        self.path = path
        self.said = {key: "" for key in self.KEYS}
        self.functions = {}
        for line in path.read_text().splitlines():
            if not line.startswith("//"):
                break
            found = re.match(r"// (\w+): (.*)", line)
            if found and found[1] in self.said:
                self.said[found[1]] = found[2]
            elif found:
                self.functions[found[1]] = found[2]
        self.flags = self.said["flags"].split("|")[variant].split()
        self.name = " ".join([path.stem, *self.flags]) if variant else path.stem
        self.links = self.said["links"].split() or ["-lm", "-lpthread"]
        self.also = {part.split()[0]: part.split()[1:] for part in self.said["also"].split(";") if part.strip()}
        runs = self.said["runs"] or "OMP_NUM_THREADS=3"
        self.runs = [dict(word.split("=", 1) for word in run.split()) for run in runs.split("|")]
        unknown = set(self.also) - set(RECIPES)
        assert self.functions and not unknown, f"{path}: {unknown or 'expects nothing'}"


class Bench:
    def __init__(self, sous, cc, folder):
        self.sous, self.cc, self.folder = sous, cc, pathlib.Path(folder)
        self.counts = collections.Counter()
        # A planted fault (tools/faults.py) is to be seen.
        self.environment = {k: v for k, v in os.environ.items()
                            if not k.startswith(("SOUS_", "OMP_")) or k == "SOUS_FAULT"}
        self.environment["OMP_WAIT_POLICY"] = "passive"
        self.environment["SOUS_LOG"] = "none"

    def run(self, *words, environment=None, timeout=150):
        return subprocess.run([str(w) for w in words], cwd=self.folder, capture_output=True, text=True,
                              errors="replace", timeout=timeout, env={**self.environment, **(environment or {})})

    def good(self, *words, **more):
        done = self.run(*words, **more)
        assert done.returncode == 0, f"{' '.join(map(str, words))}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def outputs(self, binary, program):
        out = []
        for environment in program.runs:
            done = self.run(f"./{binary}", environment=environment)
            out.append((done.stdout, done.returncode))
        return out

    def recipe(self, name):
        path = self.folder / f"{name}.recipe"
        path.write_text(RECIPES[name])
        return path


def decisions(explained):
    """{function: what became of its stretches} from --explain=all."""
    out = collections.defaultdict(list)
    for found in re.finditer(r"(?m)^\S+?:\d+: (\w+), lines \d+ to \d+: (served|left as it is)(.*)$", explained):
        out[found[1]].append("served" if found[2] == "served" else found[3])
    for found in re.finditer(r"(?m)^\S+?:\d+:\d+: (\w+): not lifted: .*\[(.*)\]$", explained):
        out[found[1]].append(found[2])
    return out


def differences(expected, got, limit=6):
    """The first lines that differ."""
    out = []
    for (a, s), (b, t) in zip(expected, got):
        if s != t:
            out.append(f"status {s} became {t}")
        x, y = a.splitlines(), b.splitlines()
        for k in range(max(len(x), len(y))):
            one, other = (lines[k] if k < len(lines) else "(end)" for lines in (x, y))
            if one != other:
                out.append(f"expected {one}\n     got {other}")
    return "\n".join(out[:limit])


def check_mode(bench, program, mode, march, expected):
    words = [bench.sous, "--db=none", "--explain=all", f"--recipe={bench.recipe(mode)}", bench.cc, *BASE, f"-march={march}",
             *program.flags, program.path, "-o", "rewritten", *program.links]
    done = bench.good(*words)
    found = decisions(done.stderr)
    where = f"{mode} -march={march}"
    for function, wish in program.functions.items():
        if wish.startswith("served"):
            wants = mode == "normal" or function in program.also.get(mode, [])
            said = [line for line in done.stderr.splitlines() if f" {function}" in line]
            assert not wants or "served" in found[function], f"{where}: {function} not served: {found[function]} {said}"
        else:
            assert wish in found[function], f"{where}: {function}: {found[function]}, not {wish}"
    bench.counts[mode] += sum(v.count("served") for v in found.values())
    got = bench.outputs("rewritten", program)
    assert got == expected, f"{where}:\n{differences(expected, got)}"


def check_trace(bench, program, expected):
    """The entries of the generated code, call by call, and what they check."""
    shutil.rmtree(bench.folder / "out", ignore_errors=True)
    flags = [*BASE, "-march=native", *program.flags]
    bench.good(bench.sous, "--db=none", "opt", program.path, f"--recipe={bench.recipe('normal')}", "-o", "out", "--",
               bench.cc, *flags)
    text = (bench.folder / f"out/{program.path.stem}.c").read_text()
    text = re.sub(r"(?m)^( *)if \(!(.*\bsous_(\w+?)_\d+(?:_\d+)?(?:_takes)?\(.*)\) \{$",
                         r'\1if (!sous_traced("\3", \2)) {', text)
    (bench.folder / "traced.c").write_text(TRACE + text)
    generated = (bench.folder / f"out/{program.path.stem}.sous.cpp").read_text()
    from_c = [f for f in flags if not f.startswith("-std")]
    contract = [f for f in flags if f.startswith("-ffp-contract")]
    bench.good(bench.cc, "-x", "c++", "-std=c++20", "-fno-exceptions", "-fno-rtti", "-fwrapv", *from_c, *contract,
               f"-I{HERE.parents[2]}", "-c", f"out/{program.path.stem}.sous.cpp", "-o", "generated.o")
    bench.good(bench.cc, *flags, "traced.c", "generated.o", "-o", "traced", *program.links)
    (bench.folder / "trace").unlink(missing_ok=True)
    got = bench.outputs("traced", program)
    assert got == expected, f"traced:\n{differences(expected, got)}"
    calls = collections.defaultdict(str)
    for line in (bench.folder / "trace").read_text().splitlines():
        function, how = line.split()
        calls[function] += how
    for function, wish in program.functions.items():
        if wish.startswith("served "):
            wanted = wish.split()[1]
            fine = calls[function] == wanted or (wanted == "*" and set(calls[function]) == {"S"})
            assert fine, f"{function}: entries went {calls[function]}, not {wanted}"
    bench.counts["entries"] += sum(len(c) for c in calls.values())
    for function in program.said["unchecked"].split():
        entry = re.search(rf'(?ms)^extern "C"[^\n]* sous_{function}_\d+(?:_takes)?\(.*?^\}}', generated)
        assert entry and "disjoint" not in entry[0], f"{function}: an overlap is checked"


def check(bench, program):
    bench.good(bench.cc, *BASE, "-march=native", *program.flags, program.path, "-o", "plain", *program.links)
    expected = bench.outputs("plain", program)
    assert expected[0][0], f"prints nothing: {expected}"
    for mode in dict.fromkeys((*ALWAYS, *program.also)):
        check_mode(bench, program, mode, "native", expected)
    for march in program.said["march"].split():
        bench.good(bench.cc, *BASE, f"-march={march}", *program.flags, program.path, "-o", "plain", *program.links)
        check_mode(bench, program, "vectorize", march, bench.outputs("plain", program))
    if any(" " in wish for wish in program.functions.values()):
        check_trace(bench, program, expected)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sous", type=pathlib.Path, required=True)
    parser.add_argument("--cc", default="clang-19")
    parser.add_argument("--keep")
    parser.add_argument("--part", default="1/1", help="2/4: the second quarter of the programs")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if shutil.which(options.cc) is None:
        print(f"skipped: there is no {options.cc}")
        return 77
    part, parts = map(int, options.part.split("/"))
    programs = [program for path in sorted(HERE.glob("*.c")) for program in Program.of(path)][part - 1::parts]
    failed, total = 0, collections.Counter()
    for program in programs:
        if options.names and program.path.stem not in options.names:
            continue
        with tempfile.TemporaryDirectory(prefix="semantics-") as folder:
            bench = Bench(options.sous.resolve(), options.cc, options.keep or folder)
            try:
                check(bench, program)
                print("ok    ", program.name, flush=True)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                failed += 1
                print("FAILED", program.name, error, flush=True)
            total += bench.counts
    print("served " + ", ".join(f"{k} {v}" for k, v in total.items()))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
