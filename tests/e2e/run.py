#!/usr/bin/env python3
"""End-to-end cases: the `sous` program on real files with real compilers. One case per ctest entry.

    run.py --sous build/sous            all cases
    run.py --sous build/sous NAME…      some
    run.py --list
"""
import argparse
import contextlib
import http.server
import itertools
import json
import os
import pathlib
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import answer_cases
import budget_cases
import decision_cases
import gpu_cases
import page_cases
import recipe_cases
import server_cases
import tls_cases
import targets
import work_cases
from case import cases_of, Case, FLAGS, KERNEL, PARALLEL
from server_cases import free_port, served


def same_object_when_nothing_to_gain(case):
    for options in (["-O2"], ["-O3", "-g"], ["-O0"], ["-O3", "-fPIC", "-Wall", "-Wextra"]):
        case.run(case.cc, *options, "-c", "parser.c", "-o", "a.o")
        case.s(case.cc, *options, "-c", "parser.c", "-o", "b.o")
        assert case.bytes("a.o") == case.bytes("b.o"), options


def passes_through(case):
    for words in (["--version"], ["-E", "mm.c"], ["-O3", "-S", "mm.c", "-o", "-"], ["-M", "mm.c"], ["-dumpversion"],
                  ["-O3", "-fsyntax-only", "mm.c"], ["-print-file-name=libc.a"]):
        plain, ours = case.run(case.cc, *words), case.s(case.cc, *words)
        assert plain.stdout == ours.stdout and plain.stderr == ours.stderr, words
    case.write("x.cpp", "int main() { int s = 0; for (int i = 0; i < 3; ++i) s += i; return s - 3; }\n")
    case.s(case.cc, "-O3", "-c", "x.cpp", "-o", "x.o")
    case.run(case.cc, "-O3", "-c", "x.cpp", "-o", "y.o")
    assert case.bytes("x.o") == case.bytes("y.o")
    plain = case.run(case.cc, "-O3", "-x", "c", "-", "-c", "-o", "in.o", input=KERNEL)
    ours = case.s(case.cc, "-O3", "-x", "c", "-", "-c", "-o", "in2.o", input=KERNEL)
    assert plain.stderr == ours.stderr and case.bytes("in.o") == case.bytes("in2.o")
    case.run(case.cc, "-O3", "-x", "c", "/dev/stdin", "-c", "-o", "in.o", input=KERNEL)  # a pipe: can be read once
    case.s(case.cc, "-O3", "-x", "c", "/dev/stdin", "-c", "-o", "in2.o", input=KERNEL)
    assert case.bytes("in.o") == case.bytes("in2.o")


def diagnostics_are_the_compilers_own(case):
    case.write("bad.c", "int f(int n) {\n  for (int i = 0; i < n; ++i) undeclared(;\n}\n")
    case.write("warn.c", KERNEL.replace("double s = 0;", "double s = 0; int unused;"))
    case.write("preprocess.c", '#include "missing.h"\nint x;\n')
    case.write("undefined.c", "#if NOT_DEFINED\n#endif\n#define USED 1\n#define UNUSED 1\n" + KERNEL)
    for words, status in ((["-O3", "-c", "bad.c"], 1), (["-O3", "-Wall", "-c", "warn.c"], 0),
                          (["-O3", "-Wall", "-Werror", "-c", "warn.c"], 1), (["-O3", "-c", "preprocess.c"], 1),
                          (["-O3", "-Wall", "-Wframe-larger-than=1", "-c", "warn.c"], 0),  # said where code is made
                          (["-O3", "-Werror=undef", "-c", "undefined.c"], 1), (["-O3", "-Wunused-macros", "-c", "undefined.c"], 0),
                          (["-O3", "-c", "bad.c", "mm.c"], 1), (["-O3", "-c", "mm.c", "-o", "."], 1),
                          (["-O3", "-c", "none.c"], 1), (["-O3", "-c", "mm.c", "-lm", "-L/x"], 0),
                          (["-O3", "-c", "mm.c", "-o", "none/mm.o"], 1)):
        plain = case.run(case.cc, *words, status=None)
        ours = case.s("--recipe=normal-form", case.cc, *words, status=None)
        assert (plain.returncode != 0) == (status != 0) and plain.returncode == ours.returncode, words
        assert plain.stderr == ours.stderr, f"{words}\n{plain.stderr}\n---\n{ours.stderr}"
    # What clang says of its own expanded text, and keeps to itself where a macro wrote it: nothing is compiled for it.
    case.write("macro.c", KERNEL.replace("int n) {", "int n) {\n#define SAME(a, b) ((a) == (b))\n  if (SAME(n, 0)) return;", 1))
    (case.folder / "bin").mkdir()
    case.write("bin/clang-19", f'#!/bin/sh\necho "$*" >> "{case.folder}/ran"\nexec {shutil.which("clang-19")} "$@"\n')
    (case.folder / "bin/clang-19").chmod(0o755)
    done = case.s("--recipe=normal-form", f"{case.folder}/bin/clang-19", "-O3", "-c", "macro.c")
    ran = (case.folder / "ran").read_text()
    assert done.stderr == "" and "-fsyntax-only macro.c" in ran and "-c macro.c" not in ran, (done.stderr, ran)
    # Of several inputs those that can be compiled are.
    (case.folder / "mm.o").unlink()
    case.s("--recipe=normal-form", case.cc, "-O3", "-c", "bad.c", "mm.c", status=1)
    assert (case.folder / "mm.o").exists()
    # Where one is not there, clang compiles none of the others, and gcc does.
    for cc in (case.cc, "gcc-12"):
        said = []
        for words in ([cc], [case.sous, "--recipe=normal-form", cc]):
            (case.folder / "mm.o").unlink(missing_ok=True)
            done = case.run(*words, "-O3", "-c", "mm.c", "none.c", status=1)
            said.append((done.stderr, (case.folder / "mm.o").exists()))
        assert said[0] == said[1], said
    # What an output stands for that is a link to nothing.
    for cc in (case.cc, "gcc-12"):
        said = []
        for words in ([cc], [case.sous, "--recipe=normal-form", cc]):
            (case.folder / "link.o").unlink(missing_ok=True)
            (case.folder / "link.o").symlink_to("nowhere/mm.o")
            done = case.run(*words, "-O3", "-c", "mm.c", "-o", "link.o", status=None)
            said.append((done.returncode, (case.folder / "link.o").is_symlink()))
        assert said[0] == said[1], said
    # Where files may not get larger than a few kilobytes, the compiler says so, and nothing stays behind.
    (case.folder / "temporary").mkdir()
    limit = ["env", f"TMPDIR={case.folder}/temporary", "prlimit", "--fsize=1024", "--core=0"]
    plain = case.run(*limit, case.cc, "-O3", "-c", "mm.c", "-o", "large.o", status=None)
    ours = case.run(*limit, case.sous, "--recipe=normal-form", case.cc, "-O3", "-c", "mm.c", "-o", "large.o", status=None)
    as_shells_say = [128 - code if code < 0 else code for code in (plain.returncode, ours.returncode)]
    assert as_shells_say[0] == as_shells_say[1] != 0, (plain, ours)
    assert not [f for f in (case.folder / "temporary").iterdir() if f.name.startswith("sous")]
    # Of a function that is all nest, too: what is written for it is as clean as it was.
    case.write("clean.c", "void scale(int n, double *a);\nvoid scale(int n, double *a) {\n  int i;\n  double t[2];\n"
               "  for (i = 0; i < n; i++) {\n    t[i % 2] = a[i];\n    a[i] = 2 * t[i % 2];\n  }\n}\n")
    done = case.s("--explain", "--recipe=normal-form", case.cc, "-O3", "-Wall", "-Wextra", "-Werror", "-c", "clean.c")
    assert "1 of 1 nests served" in done.stderr, done.stderr


def served_nest_gives_the_same_output(case):
    expected = case.expected()
    for target in targets.NAMES:
        done = case.s("--explain=all", "--recipe=normal-form", f"--target={target}", case.cc, *FLAGS, "mm.c", "-o", target)
        assert "served: the recipe given applies" in done.stderr, done.stderr
        assert case.run(f"./{target}").stdout == expected, target
        assert case.run(f"./{target}", "17").stdout == case.run("./plain", "17").stdout, target


def object_then_link(case):
    expected = case.expected()
    case.write("par.json", PARALLEL)
    case.s("--recipe=par.json", "--nest=mm", case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o")
    symbols = case.run("nm", "mm.o").stdout
    assert " t sous_mm_6" in symbols and " T sous" not in symbols, symbols
    case.s(case.cc, "mm.o", "-o", "prog")
    assert case.run("./prog").stdout == expected


def each_object_has_its_own_runtime_functions(case):
    """Of an inline function a link keeps one copy, whichever file's: it may be for more than another file's processor."""
    case.write("par.json", PARALLEL)
    for cc in (case.cc, "gcc-12"):
        case.s("--recipe=par.json", "--nest=mm", cc, *FLAGS, "-c", "mm.c", "-o", "mm.o")
        rows = [row.split(maxsplit=2) for row in case.run("nm", "-C", "--defined-only", "mm.o").stdout.splitlines()]
        shared = [name for _, kind, name in rows if kind in "TWVu" and "sous" in name]
        assert any("TeamState::" in name for name in shared), rows
        assert all("State::" in name or "thread_state_" in name for name in shared), shared


def code_for_more_than_the_build(case):
    """It runs where the processor has it, with the build's bits, and leaves nothing of it to other objects."""
    case.write("par.json", PARALLEL)
    case.write("sum.c", """\
#include <stdio.h>
#include <dirent.h>
static double a[400][400], x[400], y[400];
static int tasks(void) {
  int found = -2;
  DIR *d = opendir("/proc/self/task");
  while (d && readdir(d)) ++found;
  return found;
}
__attribute__((noinline)) static void sum(int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) y[i] += a[i][j] * x[j];
}
int main(void) {
  for (int i = 0; i < 400; i++) {
    x[i] = 1.0 / (i + 3);
    for (int j = 0; j < 400; j++) a[i][j] = 1.0 / (i + 3 * j + 1);
  }
  sum(400);
  for (int i = 0; i < 400; i++) printf("%a\\n", y[i]);
  fprintf(stderr, "%d", tasks());
  return 0;
}
""")
    wide = any(word == "avx2" for word in pathlib.Path("/proc/cpuinfo").read_text().split())
    for cc, level in itertools.product((case.cc, "gcc-12"), ("-O2", "-O3")):
        case.run(cc, level, "sum.c", "-o", "plain")
        plain = case.run("./plain")
        case.s("--recipe=par.json", "--nest=sum", cc, level, "-DSOUS_PARALLEL_FROM=0", "-c", "sum.c", "-o", "sum.o")
        rows = [row.split(maxsplit=2) for row in case.run("nm", "-C", "--defined-only", "sum.o").stdout.splitlines()]
        shared = [name for _, kind, name in rows if kind in "TWVu"]
        assert all("State::" in name or "thread_state_" in name for name in shared if name != "main"), shared
        assert not wide or "vmul" in case.run("objdump", "-d", "sum.o").stdout
        case.run(cc, "sum.o", "-o", "prog")
        done = case.run("./prog")
        assert (done.stdout, done.stderr) == (plain.stdout, "2"), (cc, level, done.stderr)
        assert "vfmadd" not in case.run("objdump", "-d", "sum.o").stdout
        # What asks needs no library: shared ones are linked by ld as well, without the compiler's.
        case.s("--recipe=par.json", "--nest=sum", cc, level, "-fPIC", "-c", "sum.c", "-o", "pic.o")
        case.run("ld", "-shared", "pic.o", "-o", "libsum.so")
        assert "__cpu" not in case.run("nm", "pic.o").stdout
    # Its own default may be more than any option says: a configuration file, a distribution's.
    case.write("clang-v3", f'#!/bin/sh\nexec {case.cc} -march=x86-64-v3 "$@"\n')
    case.run("chmod", "+x", "clang-v3")
    case.run("./clang-v3", "-O2", "sum.c", "-o", "plain")
    case.s("--recipe=par.json", "--nest=sum", "./clang-v3", "-O2", "-DSOUS_PARALLEL_FROM=0", "sum.c", "-o", "prog")
    if wide:
        fused = case.run("./plain").stdout
        assert fused != plain.stdout
        assert case.run("./prog").stdout == fused


def the_team_is_compiled_once(case):
    """For as many files as have threads; their objects are the same as where nothing is kept."""
    case.write("par.json", PARALLEL)
    case.write("other.c", (case.folder / "mm.c").read_text())
    case.write("clang-counted", f'#!/bin/sh\necho "$*" >> {case.folder}/calls\nexec {case.cc} "$@"\n')
    case.run("chmod", "+x", "clang-counted")
    compile_ = ("--recipe=par.json", "--nest=mm", "./clang-counted", *FLAGS, "-g", "-c")
    for name in ("mm", "other"):
        case.s(*compile_, f"{name}.c", "-o", f"{name}.o")
    calls = (case.folder / "calls").read_text().splitlines()
    assert [sum(f"/{name}.cpp" in call for call in calls) for name in ("team", "generated")] == [1, 2], calls
    case.s(*compile_, "mm.c", "-o", "again.o", environment={"SOUS_CACHE_DIR": "off"})
    assert case.bytes("again.o") == case.bytes("mm.o")
    case.run(case.cc, "other.o", "-o", "prog")
    assert case.run("./prog").stdout == case.expected()


def macros_of_the_runtime_reach_generated_code(case):
    case.write("par.json", PARALLEL)
    objects = {}
    for macro in ((), ("-DSOUS_PARALLEL_FROM=10000",), ("-DSOUS_PARALLEL_FROM=77",), ("-D", "SOUS_PARALLEL_FROM=77"),
                  ("-DOTHER=77",)):
        case.s("--recipe=par.json", "--nest=mm", case.cc, *FLAGS, *macro, "-c", "mm.c", "-o", "mm.o")
        objects[" ".join(macro)] = case.bytes("mm.o")
    default = objects[""]
    assert objects["-DSOUS_PARALLEL_FROM=10000"] == default == objects["-DOTHER=77"]
    assert objects["-DSOUS_PARALLEL_FROM=77"] == objects["-D SOUS_PARALLEL_FROM=77"] != default


def what_the_assembler_reads_is_no_part_of_a_kept_result(case):
    case.write("inc.c", '__asm__(".section .rodata\\n.incbin \\"data.bin\\"\\n.previous");\n' + KERNEL)
    for text in ("hello", "world"):
        case.write("data.bin", text)
        done = case.s("--explain", "--recipe=normal-form", case.cc, *FLAGS, "-c", "inc.c", "-o", "inc.o")
        assert ": mm: served" in done.stderr and text.encode() in case.bytes("inc.o"), done.stderr


def options_in_the_text_are_gccs(case):
    for said in ('#pragma GCC optimize("wrapv")\n', '__attribute__((noinline, optimize("no-fast-math"))) int f(void);\n'):
        case.write("said.c", said + KERNEL)
        done = case.s("--explain", "--recipe=normal-form", "gcc-12", *FLAGS, "-c", "said.c")
        assert "it has options for gcc in its text" in done.stderr, done.stderr
    case.write("said.c", "void optimize(int level) { (void)level; }\n" + KERNEL)
    done = case.s("--explain", "--recipe=normal-form", "gcc-12", *FLAGS, "-c", "said.c")
    assert ": mm: served" in done.stderr, done.stderr


def several_inputs_and_response_file(case):
    expected = case.expected()
    case.write("helper.c", "int helper(void) { return 1; }\n")
    case.write("args", "-O3 -ffp-contract=off mm.c helper.c -o 'prog two'")
    case.s("--recipe=normal-form", case.cc, "@args")
    assert case.run("./prog two").stdout == expected
    case.s("--recipe=normal-form", case.cc, *FLAGS, "-c", "mm.c", "helper.c")
    case.run(case.cc, "mm.o", "helper.o", "-o", "prog3")
    assert case.run("./prog3").stdout == expected


def dependency_files(case):
    case.write("n.h", "#define N 300\n")
    case.write("mm.c", '#include "n.h"\n' + KERNEL.replace("#define N 300\n", ""))
    for words in (["-MD"], ["-MMD", "-MP"], ["-MMD", "-MF", "x.dep"], ["-MD", "-MT", "a b"], ["-MD", "-MQ", "$x"]):
        for name in ("plain.d", "x.dep"):
            (case.folder / name).unlink(missing_ok=True)
        file = "x.dep" if "-MF" in words else "plain.d"
        case.run(case.cc, *FLAGS, *words, "-c", "mm.c", "-o", "plain.o")
        plain = case.bytes(file)
        (case.folder / file).unlink()
        case.s("--recipe=normal-form", case.cc, *FLAGS, *words, "-c", "mm.c", "-o", "plain.o")
        assert plain == case.bytes(file), f"{words}\n{plain}\n{case.bytes(file)}"


def contraction_core(case):
    """A product on packed register tiles: the innermost loop has the tile's operations, and no register is spilled."""
    for cc, (march, rows, vectors, fma), (kind, bytes_each) in itertools.product(
            (case.cc, "gcc-12"),
            (("x86-64-v4", 8, 3, True), ("x86-64-v3", 4, 3, True), ("x86-64-v2", 4, 2, False)),
            (("double", 8), ("float", 4))):
        lanes = {"x86-64-v4": 64, "x86-64-v3": 32, "x86-64-v2": 16}[march] // bytes_each
        columns = vectors * lanes
        case.write("core.c", f"""\
void product(int n, int m, int k, {kind} C[restrict n][m], const {kind} A[restrict n][k], const {kind} B[restrict k][m]) {{
  for (int i = 0; i < n; i++)
    for (int p = 0; p < k; p++)
      for (int j = 0; j < m; j++) C[i][j] += A[i][p] * B[p][j];
}}
""")
        case.write("core.r", f"tile(loops=[i0, i1, i2], sizes=[{8 * rows}, 256, {8 * columns}]); "
                   "interchange(outer=i0_t, inner=i1_t); interchange(outer=i1, inner=i2); "
                   f"register_tile(loops=[i0, i2], sizes=[{rows}, {columns}], lanes={lanes}, partial=padded); "
                   "pack(loop=i1_t, panel=i2_r); pack(loop=i0_t, panel=i0_r) -> highway")
        isa = {"x86-64-v4": "avx512", "x86-64-v3": "avx2", "x86-64-v2": "sse"}[march]
        case.s("--recipe=core.r", f"--isa={isa}", cc, "-O3", f"-march={march}", "-c", "core.c", "-o", "core.o")
        table = case.s("bench", "asm", "core.o").stdout
        head = re.split(r"\s{2,}", table.splitlines()[1].strip())
        first = dict(zip(head, table.splitlines()[3].split()))
        what = f"{cc} {march} {kind}\n{table}"
        assert first["function"].startswith("sous_product"), what
        assert int(first["vector fma"]) == (rows * vectors if fma else 0), what
        assert int(first["other vector"]) == (0 if fma else 2 * rows * vectors), what
        assert int(first["spills"]) == 0, what


def products_are_rounded_as_in_the_program(case):
    """A chaotic map: one product that is rounded otherwise changes all digits. With -mfma the compiler rounds a product
    and a sum once, whatever else of the processor the options leave out."""
    case.write("map.c", """\
#include <stdio.h>
void iterate(int n, double *x) { for (int i = 0; i < n; i++) x[i] = 3.9 * x[i] - 3.9 * (x[i] * x[i]) + 1e-9; }
int main(void) {
  double x[37], sum = 0;
  for (int i = 0; i < 37; i++) x[i] = 0.3 + i * 0.01;
  for (int k = 0; k < 200; k++) iterate(37, x);
  for (int i = 0; i < 37; i++) sum += x[i];
  printf("%.17g\\n", sum);
}
""")
    case.write("lanes.r", "vectorize(loop=i0) -> highway")
    for cc, options in itertools.product((case.cc, "gcc-12"), (["-mavx2", "-mfma"], ["-mavx2", "-mfma", "-mno-bmi2"],
                                                               ["-march=x86-64-v3"], [])):
        case.run(cc, "-O2", *options, "map.c", "-o", "plain")
        done = case.s("--recipe=lanes.r", "--nest=iterate", "--isa=avx2", "--explain", cc, "-O2", *options, "map.c", "-o", "prog")
        assert "iterate: served" in done.stdout + done.stderr, done.stderr
        assert case.run("./prog").stdout == case.run("./plain").stdout, (cc, options)


def lanes_that_have_ended_raise_nothing_with_gcc(case):
    """Points that have left the circle would be infinite some rounds later."""
    case.write("trap.c", """\
#define _GNU_SOURCE
#include <fenv.h>
#include <stdio.h>
void leave(int n, int *out) {
  for (int i = 0; i < n; i++) {
    double c = i * 0.003, a = c, b = 0.1; int k = 0;
    while (a * a + b * b < 4 && k < 500) { double t = a * a - b * b + c; b = 2 * a * b + 0.1; a = t; k++; }
    out[i] = k;
  }
}
int main(void) {
  int out[300]; long sum = 0;
  feenableexcept(FE_INVALID | FE_OVERFLOW | FE_DIVBYZERO);
  leave(300, out);
  for (int i = 0; i < 300; i++) sum = sum * 31 + out[i];
  printf("%ld\\n", sum);
}
""")
    case.write("lanes.r", "vectorize(loop=i0) -> highway")
    case.run("gcc-12", "-O2", "-march=native", "trap.c", "-o", "plain", "-lm")
    done = case.s("--recipe=lanes.r", "--nest=leave", "--explain", "gcc-12", "-O2", "-march=native", "trap.c", "-o", "prog", "-lm")
    assert "leave: served" in done.stdout + done.stderr, done.stderr
    assert case.run("./prog").stdout == case.run("./plain").stdout


def debugger_sees_the_users_lines(case):
    case.s("--recipe=normal-form", case.cc, *FLAGS, "-g", "-c", "mm.c", "-o", "mm.o")
    lines = case.run("objdump", "--dwarf=decodedline", "mm.o").stdout
    assert "mm.c" in lines, lines
    assert any(line.split()[:2] == ["mm.c", "8"] for line in lines.splitlines() if line.strip()), lines


def profilers_see_the_users_lines_in_generated_code(case):
    case.write("par.json", PARALLEL)
    for cc, recipe in itertools.product((case.cc, "gcc-12"), ("normal-form", "par.json")):
        if not shutil.which(cc):
            continue
        case.s(f"--recipe={recipe}", "--nest=mm", cc, *FLAGS, "-g", "mm.c", "-o", "prog")
        code = case.run("llvm-objdump-19", "-d", "-l", "--no-show-raw-insn", "prog").stdout
        ours = "".join(re.findall(r"(?ms)^[0-9a-f]+ <\S*sous_mm_6\S*>:\n(.*?)(?=^[0-9a-f]+ <|\Z)", code))  # functions
        lines = set(re.findall(r"mm\.c:(\d+)", ours))
        assert {"6", "8"} <= lines <= {"6", "7", "8"} and "generated.cpp" not in ours, (cc, recipe, lines, ours)


def deterministic(case):
    case.write("par.json", PARALLEL)
    for recipe in ("normal-form", "par.json"):
        for k in range(2):
            case.s(f"--recipe={recipe}", case.cc, *FLAGS, "-g", "-c", "mm.c", "-o", f"{k}.o",
                   environment={"TMPDIR": tempfile.mkdtemp(dir=case.folder)})
        assert case.bytes("0.o") == case.bytes("1.o"), recipe
        assert str(case.folder / "tmp").encode() not in case.bytes("0.o") and b"sous-" not in case.bytes("0.o")


def database_server_and_lock_give_the_same_bytes(case):
    case.entry_without_doubt()
    case.s("db", "import", "all.jsonl")
    command = [case.cc, *FLAGS, "-c", "mm.c", "-o"]
    said = case.s("--explain", "--lock", *command, "database.o").stderr
    assert "1 of 3 nests served" in said, said
    lock = case.bytes("sous.lock")
    assert case.bytes("database.o") != (case.run(*command, "plain.o"), case.bytes("plain.o"))[1]
    case.s("--frozen", *command, "frozen.o", environment={"SOUS_DB": str(case.folder / "nowhere" / "x.db")})
    assert case.bytes("frozen.o") == case.bytes("database.o")
    (case.folder / "sous.lock").unlink()
    with served(case) as url:
        done = case.s("--explain", "--lock", "--db=none", f"--server={url}", *command, "server.o")
    assert "(server, distance 0" in done.stderr, done.stderr
    assert case.bytes("server.o") == case.bytes("database.o")
    assert case.bytes("sous.lock") == lock


def what_was_measured_here_goes_before_what_was_not(case):
    """A server is asked where the database has a nest from a machine of another class alone, and what it measured on
    this class is taken."""
    case.entry_without_doubt()
    case.s("db", "import", "all.jsonl")
    with contextlib.closing(sqlite3.connect(case.folder / "measured.db")) as db, db:
        db.execute("UPDATE hardware SET json = json_set(json, '$.l2_bytes', 8 * json_extract(json, '$.l2_bytes'))")
    case.s("--db=measured.db", "db", "export", "-o", "elsewhere.jsonl")
    case.s("--db=elsewhere.db", "db", "import", "elsewhere.jsonl")
    with served(case) as url:
        for db, source in (("elsewhere.db", "server"), ("test.db", "database")):
            done = case.s("--explain", f"--db={db}", f"--server={url}", case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o")
            assert f"({source}, distance 0" in done.stderr, (db, done.stderr)


class Garbage(http.server.BaseHTTPRequestHandler):
    delay = 0

    def do_POST(self):
        time.sleep(self.delay)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b'{"matches": [[{"recipe": 7}]], garbage')

    def log_message(self, *_):
        pass


def builds_go_on_without_the_server(case):
    expected = case.expected()

    def build(url):
        start = time.monotonic()
        done = case.s("--db=none", f"--server={url}", "--deadline=1", case.cc, *FLAGS, "mm.c", "-o", "prog")
        assert time.monotonic() - start < 8
        assert done.stderr.count("sous:") == 1, done.stderr
        assert case.run("./prog").stdout == expected

    build(f"http://127.0.0.1:{free_port()}")  # nobody there
    for delay in (0, 10):
        handler = type("Handler", (Garbage,), {"delay": delay})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        build(f"http://127.0.0.1:{server.server_address[1]}")
        server.shutdown()


def one_clear_line(case):
    case.write("broken.json", '{"version": 1, "steps": [')
    case.write("unknown.json", '{"version": 1, "target": "cpp", "steps": [{"step": "tyle"}]}')
    case.write("target.json", '{"version": 1, "target": "opemp", "steps": []}')
    case.write("loops.json", '{"version": 1, "target": "cpp", "steps": [{"step": "tile", "loops": "i0", "sizes": [2]}]}')
    case.write("no_main.c", "void f(int n, double *x) { for (int i = 0; i < n; i++) x[i] = domain(i); }\n")
    for words, code, hint in ((["opt", "mm.c", "--recipe=broken.json"], "recipe.json", ""),
                              (["opt", "mm.c", "--recipe=unknown.json"], "recipe.unknown-step", "tile"),
                              (["opt", "mm.c", "--recipe=target.json"], "recipe.unknown-target", "openmp"),
                              (["opt", "mm.c", "--nest=none"], "cli.value", "none"),
                              (["opt", "mm.c", "--target=higway"], "cli.value", "highway"),
                              (["clnag-19", "-c", "mm.c"], "cli.unknown-command", "clang-19"),
                              (["opt", "mm.c", "--recipe=broken.json"], "recipe.json", "line 1, column 26"),
                              (["opt", "mm.c", "--recipe=loops.json"], "recipe.parameter", "tile's loops takes loops, not i0"),
                              (["opt", "mm.c", "--emit=jsn"], "cli.value", "did you mean json"),
                              (["opt", "mm.c", "--unit=x"], "cli.value", "--unit"),
                              (["stats", "--log", "none.log"], "stats.no-log", "none.log"),
                              (["db", "add", "no_main.c", "--recipe", "nf.json"], "add.no-main", "no main"),
                              (["opt", "none.c"], "client.read", "none.c"), (["opy", "mm.c"], "cli.unknown-command", "opt"),
                              (["db", "lst"], "cli.unknown-command", "list"), (["--frozn", "cc"], "cli.unknown-option", "--frozen"),
                              (["help", "tyle"], "cli.unknown-command", "tile"),
                              (["--db=none", "opt", "mm.c", "-o", "/proc/none"], "client.write", "/proc/none")):
        done = case.s(*words, status=None)
        assert done.returncode in (1, 2), words
        assert done.stderr.count("\n") == 1 and f"[{code}]" in done.stderr and hint in done.stderr, f"{words}: {done.stderr}"
    for command in ("tune", "db", "stats", "opt"):  # asked either way, the same is said
        assert case.s(command, "--help").stdout == case.s(command, "-h").stdout == case.s("help", command).stdout != ""
    assert case.s("db", "add", "--help").stdout == case.s("help", "db").stdout
    assert case.s("bench", "verify", "--help").stdout == case.s("bench").stdout != ""
    assert case.s("no-such-compiler-19", "-c", "mm.c", status=None).returncode != 0
    assert "did you mean" not in case.s("opt", "mm.c", "--emit=pdf", status=2).stderr
    assert re.fullmatch(r"sous \d+\.\d+\.\d+\n", case.s("--version").stdout)
    columns = {re.search(r"\S(\s\s+)\S", line[2:]).end() for line in case.s("help").stdout.splitlines()
               if line.startswith("  --")}
    assert len(columns) == 1, columns


def corrupt_files_are_kept(case):
    case.write("sous.lock", '{"version": 1, "nests": [{"hash"')
    done = case.s("--frozen", case.cc, *FLAGS, "mm.c", "-o", "prog")
    assert "lock.corrupt" in done.stderr and case.bytes("sous.lock").startswith(b'{"version": 1, "nests": [{"hash"')
    (case.folder / "sous.lock").unlink()
    case.write("test.db", "this is no database, and somebody may want it back" * 100)
    before = case.bytes("test.db")
    done = case.s(case.cc, *FLAGS, "mm.c", "-o", "prog")
    kept = [p for p in case.folder.iterdir() if p.name.startswith("test.db.")]
    assert any(p.read_bytes() == before and p.name in done.stderr for p in kept), (done.stderr, kept)
    assert case.run("./prog").stdout == case.expected()


def explain_is_a_line_for_each_nest(case):
    done = case.s("--explain", case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o")
    lines = [line for line in done.stderr.splitlines() if line.startswith("mm.c:")]
    assert len(lines) == 5 and lines[0].startswith("mm.c:6: mm: left as it is: no recipe known"), done.stderr
    assert all("Next: " in line for line in lines[:3]) and "[c.declaration]" in lines[3], done.stderr
    assert lines[4] == "mm.c: 0 of 3 nests served; all there is to know: --explain=all", done.stderr
    assert "hash" in case.s("--explain=all", case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o").stderr
    case.entry_without_doubt()
    case.s("db", "import", "all.jsonl")
    done = case.s("--explain", case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o")
    assert re.search(r"(?m)^mm\.c:6: mm: served: the nest by mm#0 \(database, distance 0, measured 4\.00 times as fast\), from [0-9.e+]+ executions of its statements on$",
                     done.stderr), done.stderr


HISTOGRAM = """\
void hist(int n, const unsigned char *restrict px, int *restrict bins) {
  for (int i = 0; i < n; i++) bins[px[i]]++;
}
"""


def a_loop_on_one_thread_is_not_called_parallel(case):
    case.write("hist.c", HISTOGRAM)
    case.write("par.json", PARALLEL)
    for form in ("--explain", "--explain=all"):
        said = case.s(form, "--recipe=par.json", case.cc, "-O3", "-c", "hist.c", "-o", "hist.o").stderr
        assert "loop i0 runs on one thread: a reduction into an array of unknown or large size" in said, said
        assert "parallelize(loop=i0): applied" not in said, said
    assert "sous::parallel(false, 1," in case.s("opt", "hist.c", "--recipe=par.json", "--emit=cpp").stdout
    said = case.s("--explain=all", "--recipe=par.json", "--target=cpp", "--nest=mm", case.cc, *FLAGS, "-c", "mm.c", "-o",
                  "mm.o").stderr
    assert "the target has no threads" in said and ": applied" not in said, said


def remarks_as_of_a_compiler(case):
    case.s(case.cc, *FLAGS, "-c", "mm.c", "-o", "plain.o")
    for words, more in ((["-Rsous"], {}), ([], {"SOUS_REMARKS": "1"})):
        said = case.s(case.cc, *FLAGS, *words, "-c", "mm.c", "-o", "mm.o", environment=more).stderr
        assert re.search(r"(?m)^mm\.c:6:\d+: remark: left as it is: .* \[-Rsous\]$", said), said
        assert case.bytes("mm.o") == case.bytes("plain.o")
    assert case.s(case.cc, "-Rsous", "-E", "mm.c").stdout == case.run(case.cc, "-E", "mm.c").stdout  # passed through
    assert case.s("--disable", case.cc, "-O3", "-Rsous", "-c", "mm.c", "-o", "mm.o").stderr == ""
    assert case.s(case.cc, "mm.o", "-Rsous", "-o", "prog", environment={"SOUS_REMARKS": "0"}).stderr == ""


def stats_of_a_build(case):
    assert "[stats.no-log]" in case.s("stats", status=1).stderr
    (case.folder / "sub").mkdir()
    case.write("sub/helper.c", "int helper(void) { return 1; }\n")
    case.s("--recipe=normal-form", "--nest=mm", case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o")
    case.s(case.cc, *FLAGS, "-c", "sub/helper.c", "-o", "sub/helper.o")
    case.run("ar", "rc", "libhelper.a", "sub/helper.o")
    linked = case.s(case.cc, "mm.o", "libhelper.a", "-o", "prog", environment={"SOUS_SUMMARY": "1"}).stderr
    assert re.fullmatch(r"sous: prog: 2 C files, 1 nests lifted, 1 served, \d+ loops not lifted; Sous took .*\n", linked), linked
    stats = case.s("stats").stdout
    assert "files      2, 2 looked into" in stats and "nests      1 lifted, 1 served" in stats, stats
    case.s(case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o")  # built again: what was is forgotten
    stats = case.s("stats").stdout
    assert "nests      3 lifted, 0 served" in stats and "mm.c:6: mm: no recipe known" in stats, stats
    assert "files      1, 1 looked into" in case.s("stats", "sub").stdout
    direct = case.s(case.cc, *FLAGS, "mm.c", "-o", "prog", environment={"SOUS_SUMMARY": "1"}).stderr
    assert "sous: prog: 1 C files, 3 nests lifted" in direct, direct
    assert "[stats.none]" in case.s("stats", "/proc", status=1).stderr
    case.s(case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o", environment={"SOUS_LOG": "none", "HOME": "/proc/none"})


def warnings_are_said_once(case):
    compile_it = [case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o"]

    def warnings(*words, **more):
        return [line for line in case.s(*words, *compile_it, **more).stderr.splitlines() if "warning" in line]

    empty = warnings()
    assert len(empty) == 1 and "test.db is empty" in empty[0], empty
    assert warnings() == []
    frozen = warnings("--frozen")
    assert len(frozen) == 1 and "there is no ./sous.lock" in frozen[0], frozen
    assert warnings("--frozen") == []
    made = warnings(environment={"SOUS_DB": str(case.folder / "deep/new.db")})
    assert any("made the folder" in line for line in made), made
    case.write("none.json", '{"version": 1, "target": "cpp", "steps": [{"step": "tile", "loops": ["i7"], "sizes": [2]}]}')
    unfit = warnings("--recipe=none.json")
    assert len(unfit) == 1 and "fits no nest; the hottest, line 6 in mm" in unfit[0], unfit
    size = warnings("--size", "N=2000")
    assert len(size) == 1 and "no nest has N, did you mean n? (sizes here: n)" in size[0], size
    assert warnings("--size", "n=2000,m=3") == []


def seeds_come_when_their_folder_does(case):
    case.environment["SOUS_SEED_DIR"] = str(case.folder / "later")
    case.environment["SOUS_DB"] = str(case.folder / "fresh.db")
    compile_it = ["--explain", case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o"]
    first = case.s(*compile_it).stderr
    assert "later (SOUS_SEED_DIR): no seeds" in first and "0 of 3 nests served" in first, first
    case.entry_without_doubt("later/all.jsonl")
    second = case.s(*compile_it).stderr
    assert "1 of 3 nests served" in second and "warning" not in second, second
    (case.folder / "other").mkdir()
    (case.folder / "other/none.jsonl").write_text("\n")
    third = case.s(*compile_it, environment={"SOUS_SEED_DIR": str(case.folder / "other")}).stderr
    assert "replace 1 entries that other seeds brought" in third, third


def a_lock_that_is_behind_is_said(case):
    case.entry_without_doubt()
    case.s("db", "import", "all.jsonl")
    case.s("--lock", case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o")
    assert json.loads(case.bytes("sous.lock"))["nests"][0]["places"] == ["mm.c: mm"]
    assert "warning" not in case.s("--frozen", case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o").stderr
    os.utime(case.folder / "sous.lock", (1, 1))
    behind = case.s(case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o").stderr
    assert behind.count("warning") == 1 and "sous.lock decides" in behind, behind
    case.write("mm.c", KERNEL.replace("A[k][i] * B[k][j]", "A[k][i] * B[k][j] * 2"))
    stale = case.s("--frozen", case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o").stderr
    assert stale.count("warning") == 1 and "pins another form of mm.c: mm" in stale, stale


def a_static_link_keeps_its_threads(case):
    case.write("par.json", PARALLEL)
    case.s("--recipe=par.json", "--nest=mm", case.cc, *FLAGS, "-c", "mm.c", "-o", "mm.o")
    for words in (["-static"], []):
        assert case.s(case.cc, *words, "mm.o", "-o", "prog").stderr == ""
        assert case.run("./prog").stdout == case.expected()
        assert case.run(case.cc, *words, "mm.o", "-o", "prog").stderr == ""  # nor does a link need Sous
        assert case.run("./prog").stdout == case.expected()


def names_that_recipes_use(case):
    for words in (["--dump-after=normalize"], ["--emit=sdfg"]):
        out = case.s("opt", "mm.c", *words).stdout
        for text in ("# mm.c:6: mm\n", "# the nest, --unit 0\n", "loop i0 is i, line 6\n", "loop i2 is j, line 7\n",
                     "array a0 is C\n", "# nest 2 of 3, --unit 2\n"):
            assert text in out, f"{text}\n{out}"
    assert "loop i0 = 0 .. n0" in case.s("opt", "mm.c", "--dump-after=normalize").stdout


def full_disk(case):
    if not os.path.exists("/dev/full"):
        return
    with open("/dev/full", "w") as full:
        done = subprocess.run([case.sous, "help"], stdout=full, stderr=subprocess.PIPE, text=True, env=case.environment)
    assert done.returncode == 1 and "[client.write]" in done.stderr, done


def opt_writes_readable_files(case):
    case.s("opt", "mm.c", "--recipe=normal-form", "--nest=mm", "-o", "out", "--", case.cc, *FLAGS)
    text = (case.folder / "out/mm.c").read_text()
    assert '#line 6 "mm.c"' in text and "= sous_mm_6_takes(" in text, text
    case.run(case.cc, *FLAGS, "-c", "out/mm.c", "-o", "user.o")
    case.run(case.cc, "-x", "c++", "-std=c++20", "-fno-exceptions", "-fno-rtti", "-fwrapv", *FLAGS,
             "-I", pathlib.Path(__file__).resolve().parents[2], "-c", "out/mm.sous.cpp", "-o", "generated.o")
    case.run(case.cc, "user.o", "generated.o", "-o", "prog")
    assert case.run("./prog").stdout == case.expected()
    for form, start in (("sdfg", "sdfg"), ("json", "{"), ("dot", "digraph"), ("svg", "<svg"), ("report", "{")):
        out = case.s("opt", "mm.c", "--recipe=normal-form", f"--emit={form}").stdout
        assert start in out[:200], f"{form}: {out[:200]}"
        assert out.count("<svg") == (form == "svg"), form
    json.loads(case.s("opt", "mm.c", "--recipe=normal-form", "--emit=report").stdout)


READS = """\
double form(int n, int m, const double *x, const double *a, const double *y) {
  double s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) s += x[i] * a[i * m + j] * y[j];
  return s;
}
double many(int n, int m, const double *x, const double *a, const double *y) {
  double t = 0;
  for (int k = 0; k < 1000; k++) t += form(n, m, x, a, y);
  return t;
}
"""
COUNTED = """\
#include <stdio.h>
double many(int, int, const double *, const double *, const double *);
static int entries;
struct sous_form_3_values { double value; int ran; };
int main(void) {
  double x[] = {1}, a[] = {2}, y[] = {3}, t = many(1, 1, x, a, y);
  printf("%g %d\\n", t, entries);
}
"""


def a_function_that_reads_is_called_once(case):
    case.write("reads.c", READS)
    case.s("opt", "reads.c", "--recipe=normal-form", "--nest=form", "-o", "out", "--", case.cc, *FLAGS)
    text = (case.folder / "out/reads.c").read_text()
    parameters = re.search(r"extern struct sous_form_3_values sous_form_3\(([^)]*)\)", text).group(1).split(", ")
    # In the place of the generated code, what counts how often it is entered.
    case.write("count.c", COUNTED + "struct sous_form_3_values sous_form_3(" +
               ", ".join(f"{p} p{k}" for k, p in enumerate(parameters)) +
               ") { ++entries; return (struct sous_form_3_values){1.5, 1}; }\n")
    case.run(case.cc, *FLAGS, "out/reads.c", "count.c", "-o", "counted")
    assert case.run("./counted").stdout == "1500 1\n", case.run("./counted").stdout
    # And the generated code itself gives what the original does.
    case.write("main.c", COUNTED)
    for options in ([], ["--recipe=normal-form", "--nest=form"]):
        case.s(*options, case.cc, *FLAGS, "-c", "reads.c", "-o", "reads.o")
        case.run(case.cc, *FLAGS, "reads.o", "main.c", "-o", "prog")
        assert case.run("./prog").stdout == "6000 0\n"


def database_commands(case):
    case.fill_database()
    assert "mm#0" in case.s("db", "list").stdout
    identity = case.s("db", "list").stdout.split()[0]
    assert "loop" in case.s("db", "show", identity).stdout
    case.s("db", "export", "-o", "all.jsonl")
    assert "1 added" in case.s("--db=second.db", "db", "import", "all.jsonl").stdout
    assert "1 known already" in case.s("--db=second.db", "db", "import", "all.jsonl").stdout
    for verb in ("stats", "verify", "rebuild-index"):
        case.s("--db=second.db", "db", verb)
    assert case.s("--db=second.db", "db", "export").stdout == (case.folder / "all.jsonl").read_text()
    assert "mm#0" in case.s("query", "mm.c").stdout
    case.s("--db=second.db", "db", "remove", identity)
    case.write("varies.c", KERNEL.replace("mm(n);\n  double", "mm(n); mm(n / 2);\n  double"))
    refused = case.s("db", "add", "varies.c", "--recipe", "nf.json", "--nest", "mm", "--runs", "1", "--", case.cc, *FLAGS,
                     status=1).stderr
    assert "line 6 in mm is called with several sizes" in refused and "[add.not-run]" in refused, refused
    assert case.s("--db=second.db", "db", "list").stdout == ""


MODULES = (sys.modules[__name__], recipe_cases, server_cases, answer_cases, tls_cases, budget_cases, work_cases, page_cases, gpu_cases,
           decision_cases)
CASES = [case for module in MODULES for case in cases_of(module)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sous", type=pathlib.Path)
    parser.add_argument("--cc", default="clang-19")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.list:
        print("\n".join(c.__name__ for c in CASES))
        return 0
    if shutil.which(options.cc) is None:
        print(f"skipped: there is no {options.cc}")
        return 77
    failed = 0
    for function in CASES:
        if options.names and function.__name__ not in options.names:
            continue
        with tempfile.TemporaryDirectory(prefix="e2e-") as folder:
            try:
                function(Case(options.sous.resolve(), folder, options.cc))
                print("ok    ", function.__name__, flush=True)
            except (AssertionError, subprocess.TimeoutExpired, OSError, ValueError) as error:
                failed += 1
                print("FAILED", function.__name__, type(error).__name__, error, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
