#!/usr/bin/env python3
"""Whole builds with served nests: shared libraries and their unloading, equal static names, archives, options that
instrument the program. Each is built as it is and through sous, and must do the same.

    builds.py --sous build/sous            all cases
    builds.py --sous build/sous NAME…      some
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

KERNEL = """\
#include <stdio.h>
#define N 400
static double a[N], b[N];
static void step(int n) {
  for (int i = 0; i < n; i++) a[i] = a[i] * 0.5 + b[i];
}
"""
PROGRAM = KERNEL + """\
int main(void) {
  for (int i = 0; i < N; i++) b[i] = i % 7;
  for (int k = 0; k < 9; k++) step(N);
  printf("%a %a\\n", a[N - 1], a[5]);
  return 0;
}
"""
LIBRARY = KERNEL + """\
double run(int start) {
  for (int i = 0; i < N; i++) b[i] = start + i % 7;
  for (int k = 0; k < 9; k++) step(N);
  return a[N - 1];
}
"""
PARALLEL = "parallelize(loop=i0) -> openmp"
VECTOR = "vectorize(loop=i0) -> highway"
NORMAL = "-> cpp"


class Case:
    def __init__(self, sous, folder, cc):
        self.sous, self.folder, self.cc = sous, pathlib.Path(folder), cc
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("SOUS_", "OMP_"))}
        self.environment.update(OMP_NUM_THREADS="3", LD_LIBRARY_PATH=".", SOUS_CACHE_DIR="off",
                                SOUS_LOG="none")
        self.write("program.c", PROGRAM)
        self.write("library.c", LIBRARY)
        for name, text in (("parallel", PARALLEL), ("vector", VECTOR), ("normal", NORMAL)):
            self.write(f"{name}.recipe", text)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def run(self, *words, status=0, environment=None, timeout=200):
        done = subprocess.run([str(w) for w in words], cwd=self.folder, capture_output=True, text=True,
                              timeout=timeout, env={**self.environment, **(environment or {})})
        assert status is None or done.returncode == status, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def plain(self, *words, **more):
        return self.run(self.cc, *words, **more)

    def s(self, *words, recipe="parallel", **more):
        """Through sous; what it says with --explain=all is in stderr."""
        return self.run(self.sous, "--db=none", "--explain=all", f"--recipe={recipe}.recipe", self.cc, *words, **more)

    def served(self, *words, nests=1, **more):
        done = self.s(*words, **more)
        count = done.stderr.count(": served: ")
        assert count >= nests, f"{words}: {count} nests served\n{done.stderr}"
        return done


def same_output(case, *flags):
    case.plain("-O2", *flags, "program.c", "-o", "plain")
    expected = case.run("./plain").stdout
    return expected


def options_of_gcc(case):
    """What gcc makes of its options, pragmas and attributes, which the front end's parser knows otherwise or not at all."""
    if shutil.which("gcc-12") is None:
        return
    case.cc = "gcc-12"
    step = "a[i] = a[i] * 0.7 + b[i] * 1.1;"
    rounds = PROGRAM.replace("a[i] = a[i] * 0.5 + b[i];", step)
    case.write("rounds.c", rounds)
    case.write("pragma.c", rounds.replace("static void", "#pragma STDC FP_CONTRACT OFF\nstatic void"))
    case.write("ivdep.c", rounds.replace("  for (int i = 0; i < n", "#pragma GCC ivdep\n#pragma GCC unroll 4\n  for (int i = 0; i < n"))
    for name, flags in (("rounds", ["-ffp-contract=on"]), ("rounds", ["-std=c11"]), ("rounds", ["-ffp-contract=fast"]),
                        ("pragma", []), ("ivdep", [])):
        for recipe in ("normal", "vector"):
            words = ["-O2", "-march=x86-64-v3", *flags, f"{name}.c", "-o"]
            case.plain(*words, "plain")
            case.served(*words, "rewritten", recipe=recipe)
            assert case.run("./rewritten").stdout == case.run("./plain").stdout, (name, flags, recipe)
    case.write("target.c", rounds.replace("static void", "__attribute__((noinline, target(\"fma\"))) static void"))
    case.write("order.c", rounds.replace("static double a[N], b[N];", "static struct { double x; } b[N]; static double a[N];")
               .replace("b[i]", "b[i].x"))
    for name, flags in (("target", []), ("order", ["-fsso-struct=big-endian"])):
        words = ["-O2", *flags, f"{name}.c", "-o"]
        case.plain(*words, "plain")
        case.s(*words, "rewritten", recipe="normal")
        assert case.run("./rewritten").stdout == case.run("./plain").stdout, name
    # No function of the runtime's headers is kept with them: a program without -lm links as before.
    for flag in ("-fkeep-inline-functions", "-fkeep-static-functions"):
        case.served("-O2", flag, "-c", "rounds.c", "-o", "rounds.o", recipe="normal")
        assert " U sqrt" not in case.run("nm", "rounds.o").stdout, flag


def position_independent(case):
    expected = same_output(case)
    for flags in (["-fPIC"], ["-fPIE", "-pie"], ["-fno-pie", "-no-pie"], ["-fPIC", "-fvisibility=hidden"],
                  ["-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"], ["-fno-plt", "-Wl,-z,now"],
                  ["-fstack-protector-strong", "-D_FORTIFY_SOURCE=2"], ["-g", "-fno-omit-frame-pointer"],
                  ["-mcmodel=medium"], ["-fcf-protection=full", "-Wl,--as-needed"]):
        for recipe in ("parallel", "vector"):
            case.served("-O2", "-march=native", *flags, "program.c", "-o", "rewritten", recipe=recipe)
            assert case.run("./rewritten").stdout == expected, flags


def passed_through(case):
    """Instrumented and otherwise special code is the compiler's alone, and --explain says so."""
    case.write("trap.c", PROGRAM.replace("step(N);", "step(N + (b[1] > 0));"))
    for flags in (["-flto"], ["-flto=thin"], ["-fsanitize=address"], ["-fsanitize=undefined"], ["-fsanitize=thread"],
                  ["-pg"], ["--coverage"], ["-fprofile-instr-generate"], ["-m32"], ["-mx32"], ["-fopenacc"], ["-ftrapv"],
                  ["-frounding-math"], ["-ffp-model=strict"], ["-ffp-exception-behavior=strict"],
                  ["-ffreestanding"], ["-save-temps=obj"], ["--target=x86_64-linux-gnu"]):
        words = ["-O2", *flags, "-c", "program.c", "-o"]
        plain = case.plain(*words, "plain.o", status=None)
        ours = case.s(*words, "ours.o", status=None)
        assert ours.returncode == plain.returncode, (flags, ours.stderr)
        assert "sous: passed through: " in ours.stderr and flags[0].split("=")[0] in ours.stderr, (flags, ours.stderr)
        if plain.returncode == 0 and "-flto" not in flags[0] and "coverage" not in flags[0]:
            assert (case.folder / "plain.o").read_bytes() == (case.folder / "ours.o").read_bytes(), flags


def sanitizers_see_everything(case):
    """What a sanitizer reports does not disappear."""
    overrun = PROGRAM.replace("step(N);", "step(N + 1);").replace("static double a[N], b[N];", "double a[N], b[N];")
    race = overrun.replace("N + 1", "N")
    case.write("overrun.c", overrun)
    case.write("overflow.c", "#include <stdio.h>\nint main(int n, char **v) { int s = 2147483000 + n; (void)v;\n"
               "  for (int i = 0; i < 900; i++) s += i;\n  printf(\"%d\\n\", s); return 0; }\n")
    case.write("race.c", race)
    for flags, name, report in ((["-fsanitize=address"], "overrun", "global-buffer-overflow"),
                                (["-fsanitize=undefined", "-fno-sanitize-recover"], "overflow", "signed integer overflow")):
        case.s("-O2", "-g", *flags, f"{name}.c", "-o", "ours")
        done = case.run("./ours", status=None)
        assert done.returncode != 0 and report in done.stderr, (flags, done)
    case.s("-O2", "-g", "-fsanitize=thread", "race.c", "-o", "ours")
    assert case.run("./ours", environment={"TSAN_OPTIONS": "halt_on_error=1"}).stdout


def instrumented_links(case):
    """Objects with generated code, linked by a command whose other options are not for Sous."""
    expected = same_output(case)
    case.served("-O2", "-c", "program.c", "-o", "program.o")
    for flags in (["-flto"], ["-fsanitize=address"], ["-fsanitize=undefined"], ["-pg"], ["--coverage"], ["-v"],
                  ["-save-temps"], ["-Wl,--as-needed"], ["-rdynamic"], ["-fuse-ld=bfd"]):
        case.s("-O2", *flags, "program.o", "-o", "linked")
        assert case.run("./linked").stdout == expected, flags


def foreign_links(case):
    """Linked by a command that sous does not see, with an OpenMP runtime or without: generated code needs none."""
    expected = same_output(case)
    case.served("-O2", "-c", "program.c", "-o", "program.o")
    case.plain("program.o", "-o", "linked")
    assert case.run("./linked").stdout == expected
    case.s("-static", "program.o", "-o", "linked")
    assert case.run("./linked").stdout == expected
    case.run("clang++-19", "program.o", "-o", "linked")
    assert case.run("./linked").stdout == expected
    # With memory for each thread; and with either OpenMP runtime.
    case.write("rows.c", """\
#include <stdio.h>
static double a[300 * 200];
__attribute__((noinline)) static void rows(int n, int m, double *restrict a) {
  for (int i = 0; i < n; i++) {
    double row[m];
    for (int j = 0; j < m; j++) row[j] = a[i * m + j] * 2 + i;
    for (int j = 0; j < m; j++) a[i * m + j] = row[m - 1 - j] + 1;
  }
}
int main(void) {
  rows(300, 200, a);
  printf("%a %a\\n", a[7], a[299 * 200 + 5]);
  return 0;
}
""")
    case.plain("-O2", "rows.c", "-o", "plain")
    rows = case.run("./plain").stdout
    case.served("-O2", "-c", "rows.c", "-o", "rows.o")
    links = [["clang-19"], ["clang-19", "-static"], ["clang-19", "-Wl,--no-as-needed", "-fopenmp"]]
    if shutil.which("gcc-12"):
        links += [["gcc-12"], ["gcc-12", "-Wl,--no-as-needed", "-fopenmp"]]
    for link in links:
        for name, output in (("program", expected), ("rows", rows)):
            case.run(*link, f"{name}.o", "-o", "linked")
            assert case.run("./linked").stdout == output, (link, name)


def archives(case):
    """Generated code in archives, named by path or by -l."""
    case.write("main.c", "#include <stdio.h>\ndouble run(int);\nint main(void) { printf(\"%a\\n\", run(3)); return 0; }\n")
    case.plain("-O2", "library.c", "main.c", "-o", "plain")
    expected = case.run("./plain").stdout
    case.served("-O2", "-c", "library.c", "-o", "library.o")
    case.run("ar", "rcs", "libkernel.a", "library.o")
    for words in (["libkernel.a"], ["-L.", "-lkernel"], ["-L", ".", "-l", "kernel"], ["-Wl,--whole-archive", "libkernel.a",
                  "-Wl,--no-whole-archive"]):
        case.s("-O2", "main.c", *words, "-o", "linked")
        assert case.run("./linked").stdout == expected, words
        case.plain("-O2", "-c", "main.c", "-o", "main.o")
        case.s("main.o", *words, "-o", "linked")
        assert case.run("./linked").stdout == expected, words


def unloading(case):
    """A shared library with parallel code is opened, run, closed, again and again."""
    case.write("loader.c", """\
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
int main(void) {
  for (int k = 0; k < 4; k++) {
    void *library = dlopen("./libkernel.so", k % 2 ? RTLD_NOW : RTLD_LAZY | RTLD_GLOBAL);
    if (!library) { puts(dlerror()); return 1; }
    double (*run)(int) = (double (*)(int))dlsym(library, "run");
    printf("%a\\n", run(k));
    dlclose(library);
    usleep(20000);
  }
  return 0;
}
""")
    case.plain("-O2", "loader.c", "-o", "loader", "-ldl")
    case.plain("-O2", "-fPIC", "-shared", "library.c", "-o", "libkernel.so")
    expected = case.run("./loader").stdout
    for cc in (case.cc, "gcc-12"):
        if shutil.which(cc) is None:
            continue
        case.cc = cc
        for recipe in ("parallel", "vector"):
            case.served("-O2", "-fPIC", "-shared", "library.c", "-o", "libkernel.so", recipe=recipe)
            assert case.run("./loader", timeout=100).stdout == expected, (cc, recipe)
            # Also of what was compiled for a program, where the linker takes that.
            for flags in (["-fPIC"], []):
                case.served("-O2", *flags, "-c", "library.c", "-o", "library.o", recipe=recipe)
                case.s("-shared", "library.o", "-o", "libkernel.so")
                assert case.run("./loader", timeout=100).stdout == expected, (cc, flags, recipe)


def forks_of_gcc(case):
    """libgomp loses its threads in a fork; the child must not wait for them."""
    if shutil.which("gcc-12") is None:
        return
    here = pathlib.Path(__file__).resolve().parent
    words = ["-O2", "-w", f"-I{here}", here / "forks.c", "-lpthread", "-o"]
    case.plain(*words, "plain")
    expected = case.run("./plain").stdout
    case.cc = "gcc-12"
    case.served(*words, "rewritten")
    assert case.run("./rewritten", timeout=100).stdout == expected


def equal_static_names(case):
    """Files with the same name, static functions with the same name, nests on the same line."""
    for folder, factor in (("one", "0.5"), ("two", "0.25")):
        (case.folder / folder).mkdir()
        case.write(f"{folder}/kernel.c", LIBRARY.replace("0.5", factor).replace("double run", f"double run_{folder}"))
    case.write("main.c", "#include <stdio.h>\ndouble run_one(int), run_two(int);\n"
               "int main(void) { printf(\"%a %a\\n\", run_one(3), run_two(3)); return 0; }\n")
    words = ["-O2", "one/kernel.c", "two/kernel.c", "main.c", "-o"]
    case.plain(*words, "plain")
    expected = case.run("./plain").stdout
    for recipe in ("normal", "parallel", "vector"):
        case.served(*words, "rewritten", nests=4, recipe=recipe)
        assert case.run("./rewritten").stdout == expected, recipe
        for folder in ("one", "two"):
            case.served("-O2", "-c", f"{folder}/kernel.c", "-o", f"{folder}.o", recipe=recipe)
            symbols = case.run("nm", f"{folder}.o").stdout
            assert " T sous" not in symbols and " V sous" not in symbols, symbols
        case.s("one.o", "two.o", "main.c", "-o", "rewritten")
        assert case.run("./rewritten").stdout == expected, recipe
        case.run("ld", "-r", "one.o", "two.o", "-o", "both.o")
        case.s("both.o", "main.c", "-o", "rewritten")
        assert case.run("./rewritten").stdout == expected, recipe


ROWS = """\
double %s(int n, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++) {
    double t = 0;
    for (int j = 0; j < n; j++) t += y[i * n + j];
    x[i] += t;
  }
  return x[n - 1];
}
"""
ROWS_MAIN = """\
#include <stdio.h>
static double x[400], y[160000];
double one(int, double *, const double *), two(int, double *, const double *);
int main(void) {
  for (int i = 0; i < 160000; i++) y[i] = i % 17;
  for (int k = 0; k < 5; k++) one(400, x, y), two(400, x, y);
  printf("%a %a\\n", x[3], x[399]);
  return 0;
}
"""


def compilers(case):
    for cc in (case.cc, "gcc-12"):
        if shutil.which(cc):
            case.cc = cc
            yield cc


def names_of_its_own(case):
    """A program may have names that begin as those of generated code do."""
    case.write("own.c", "int sous_team_size(void) { return 4; }\nint sous_team_bonus = 3;\n" + ROWS % "one")
    case.write("main.c", "#include <stdio.h>\nint sous_team_size(void);\nextern int sous_team_bonus;\n"
               "int main(void) { printf(\"%d %d\\n\", sous_team_size(), sous_team_bonus); return 0; }\n")
    case.served("-O2", "-c", "own.c", "-o", "own.o")
    case.plain("-O2", "main.c", "own.o", "-o", "linked")
    assert case.run("./linked").stdout == "4 3\n"
    symbols = case.run("nm", "-g", "--defined-only", "own.o").stdout.split("\n")
    ours = [s for s in symbols if "sous_" in s and "sous_team_size" not in s and "sous_team_bonus" not in s]
    assert not ours, ours


def keys_of_others(case):
    """A library of two objects with threads gives its thread-specific key back once: somebody else may have it then."""
    for name in ("one", "two"):
        case.write(f"{name}.c", ROWS % name)
    case.write("main.c", ROWS_MAIN)
    case.write("key.c", """\
#include <pthread.h>
#include <stdio.h>
static pthread_key_t key;
static int made;
__attribute__((destructor)) static void late(void) {
  made = pthread_key_create(&key, 0) == 0;
  pthread_setspecific(key, &made);
}
__attribute__((destructor(101))) static void last(void) { printf("%d %d\\n", made, pthread_getspecific(key) == &made); }
""")
    case.plain("-O2", "-fPIC", "-c", "key.c", "-o", "key.o")
    for cc in compilers(case):
        for name in ("one", "two"):
            case.served("-O2", "-fPIC", "-c", f"{name}.c", "-o", f"{name}.o")
        case.plain("-shared", "one.o", "key.o", "two.o", "-o", "libkernel.so")
        case.plain("main.c", "-L.", "-lkernel", "-o", "linked")
        assert case.run("./linked").stdout.endswith("\n1 1\n"), cc


def many_libraries(case):
    """Libraries with threads that are loaded by a program that runs: as many as without Sous."""
    case.write("one.c", ROWS % "one")
    case.write("loader.c", """\
#include <dlfcn.h>
#include <stdio.h>
static double x[400], y[160000];
int main(void) {
  for (int k = 0; k < 150; k++) {
    char name[50];
    sprintf(name, "./lib%d.so", k);
    void *library = dlopen(name, RTLD_NOW);
    if (!library) { puts(dlerror()); return 1; }
    if (k % 40 == 0) ((double (*)(int, double *, const double *))dlsym(library, "one"))(400, x, y);
  }
  puts("all");
  return 0;
}
""")
    case.plain("loader.c", "-o", "loader", "-ldl")
    for cc in compilers(case):
        case.served("-O2", "-fPIC", "-shared", "one.c", "-o", "library.so")
        for k in range(150):
            shutil.copy(case.folder / "library.so", case.folder / f"lib{k}.so")
        assert case.run("./loader", status=None).stdout == "all\n", cc


def silent_static_links(case):
    """A static link says no more than without Sous."""
    for name in ("one", "two"):
        case.write(f"{name}.c", ROWS % name)
    case.write("main.c", ROWS_MAIN)
    case.plain("-O2", "one.c", "two.c", "main.c", "-o", "plain")
    expected = case.run("./plain").stdout
    for cc in compilers(case):
        for flags in ([], ["-fPIC"]):
            for name in ("one", "two"):
                case.served("-O2", *flags, "-c", f"{name}.c", "-o", f"{name}.o")
            case.plain("-static", "-Wl,--fatal-warnings", "main.c", "one.o", "two.o", "-o", "linked")
            assert case.run("./linked").stdout == expected, (cc, flags)


def cancelled(case):
    """A thread that is cancelled while its nest is on the threads of an OpenMP runtime ends, as do the others."""
    case.write("cancel.c", """\
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static double a[40000];
static volatile int begun;
__attribute__((noinline)) static void step(int n, double *restrict a) {
  for (int i = 0; i < n; i++) {
    double t = a[i];
    for (int k = 0; k < 40; k++) t = t * 0.5 + k;
    a[i] = t;
  }
}
static void *work(void *unused) {
  for (int k = 0;; k++) {
    step(40000, a);
    begun = k > 2;
    if (k % 8 == 7) pthread_testcancel();
  }
  return unused;
}
int main(void) {
  for (int k = 0; k < 6; k++) {
    pthread_t thread;
    void *how;
    begun = 0;
    pthread_create(&thread, 0, work, 0);
    while (!begun) usleep(100);
    usleep(1000 * k);
    pthread_cancel(thread);
    pthread_join(thread, &how);
    printf("%d\\n", how == PTHREAD_CANCELED);
  }
  return 0;
}
""")
    for cc in compilers(case):
        for flags in ([], ["-fPIC"]):
            case.served("-O2", *flags, "-c", "cancel.c", "-o", "cancel.o")
            for openmp in ([], ["-Wl,--no-as-needed", "-fopenmp"]):
                case.plain("cancel.o", *openmp, "-lpthread", "-o", "linked")
                assert case.run("./linked", timeout=60).stdout == "1\n" * 6, (cc, flags, openmp)


def names_that_c_leaves_to_programs(case):
    """C99 has no aligned_alloc, and no standard of C has what POSIX adds."""
    case.write("alloc.c", """\
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void *aligned_alloc(size_t bytes, size_t align) {
  char *all = malloc(bytes + align + sizeof(void *)), *p = all + sizeof(void *);
  p += (align - (size_t)p % align) % align;
  memcpy(p - sizeof(void *), &all, sizeof all);
  return p;
}
void aligned_free(void *p) {
  void *all;
  memcpy(&all, (char *)p - sizeof(void *), sizeof all);
  free(all);
}
static double a[300 * 200];
__attribute__((noinline)) static void rows(int n, int m, double *restrict a) {
  for (int i = 0; i < n; i++) {
    double row[m];
    for (int j = 0; j < m; j++) row[j] = a[i * m + j] * 2 + i;
    for (int j = 0; j < m; j++) a[i * m + j] = row[m - 1 - j] + 1;
  }
}
int main(void) {
  double *b = aligned_alloc(800, 32);
  for (int k = 0; k < 9; k++) rows(300, 200, a);
  printf("%a %a %d\\n", a[7], a[299 * 200 + 5], (int)((size_t)b % 32));
  aligned_free(b);
  return 0;
}
""")
    case.write("call.c", """\
#include <stdio.h>
#include <stdlib.h>
static int calls;
long syscall(long number) {
  calls++;
  if (number > 3) abort();
  return number * 2;
}
static double x[300000];
__attribute__((noinline)) static void step(int n, double *restrict x) {
  for (int i = 0; i < n; i++) {
    double t = x[i];
    for (int k = 0; k < 20; k++) t = t * 0.5 + k;
    x[i] = t;
  }
}
int main(void) {
  for (int k = 0; k < 9; k++) {
    step(300000, x);
    for (volatile int wait = 0; wait < 9000000; wait++) continue;  // threads sleep
  }
  printf("%a %ld %d\\n", x[7], syscall(3), calls);
  return 0;
}
""")
    for name in ("alloc", "call"):
        case.plain("-O2", "-std=c99", f"{name}.c", "-o", "plain")
        expected = case.run("./plain").stdout
        for cc in compilers(case):
            for recipe in ("normal", "parallel"):
                case.served("-O2", "-std=c99", f"{name}.c", "-o", "rewritten", recipe=recipe)
                assert case.run("./rewritten", timeout=60).stdout == expected, (name, cc, recipe)


def exceptions(case):
    """Programs that ask for traps, or look at the flags: vectors compute nothing for a lane that has no iteration, nor,
    by gcc, for one whose condition does not hold."""
    case.write("exceptions.c", """\
#define _GNU_SOURCE
#include <fenv.h>
#include <math.h>
#include <stdio.h>
#define KERNEL __attribute__((noinline)) void
KERNEL quotients(int n, const double *restrict x, const double *restrict z, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = z[i] / x[i];
}
KERNEL roots(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = 2.5 / sqrt(x[i] - 0.5);
}
KERNEL some(int n, const double *restrict x, const double *restrict z, double *restrict y) {
  for (int i = 0; i < n; i++)
    if (x[i] > 0.5) y[i] = z[i] / (x[i] - 0.5);
}
static double x[100], z[100], y[100], b[100];
int main(void) {
  for (int i = 0; i < 100; i++) x[i] = i % 5 + 1, z[i] = 1;
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  quotients(99, x, z, y), roots(97, x, b);
  fedisableexcept(FE_ALL_EXCEPT);
#ifdef CONDITIONS
  for (int i = 0; i < 100; i += 7) x[i] = 0.5, z[i] = 0;
  feclearexcept(FE_ALL_EXCEPT);
  some(99, x, z, y);
#endif
  printf("%a %a %d\\n", y[98], b[97], fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW));
}
""")
    for cc, flags in (("clang-19", []), ("gcc", ["-DCONDITIONS"])):
        if shutil.which(cc) is None:
            continue
        case.cc = cc
        for march in (["-march=native"], ["-march=x86-64-v3"], []):
            words = ["-O2", "-w", "-fno-math-errno", *march, *flags, "exceptions.c", "-lm", "-o"]
            case.plain(*words, "plain")
            expected = case.run("./plain").stdout
            case.served(*words, "rewritten", nests=2 + len(flags), recipe="vector")
            assert case.run("./rewritten").stdout == expected, (cc, march)


def roundings(case):
    """rint rounds as fesetround says, with every instruction set."""
    case.write("roundings.c", """\
#include <fenv.h>
#include <math.h>
#include <stdio.h>
__attribute__((noinline)) void f(int n, double *restrict x) {
  for (int i = 0; i < n; i++) x[i] = rint(x[i] * 1.7);
}
__attribute__((noinline)) void g(int n, float *restrict y) {
  for (int i = 0; i < n; i++) y[i] = rintf(y[i] * 0.7f);
}
int main(void) {
  static double x[45];
  static float y[45];
  static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
  for (int k = 0; k < 4; k++) {
    for (int i = 0; i < 45; i++) x[i] = y[i] = i / 3.f - 7;
    fesetround(modes[k]);
    f(45, x), g(45, y);
    fesetround(FE_TONEAREST);
    for (int i = 0; i < 45; i++) printf("%g %g ", x[i], y[i]);
  }
}
""")
    for march in ([], ["-msse4.1"], ["-march=x86-64-v2"], ["-mavx2"], ["-march=x86-64-v3"], ["-march=native"]):
        words = ["-O2", "-fno-math-errno", *march, "roundings.c", "-lm", "-o"]
        case.plain(*words, "plain")
        case.served(*words, "rewritten", nests=2, recipe="vector")
        assert case.run("./rewritten").stdout == case.run("./plain").stdout, march


def exceptions_of_threads(case):
    """Flags that a region's threads raise are those of who entered it, and of no region behind it."""
    case.write("raised.c", """\
#include <fenv.h>
#include <stdio.h>
__attribute__((noinline)) void quotients(int n, const double *restrict x, double *restrict y) {
  for (int i = 0; i < n; i++) y[i] = 1 / x[i];
}
static double x[100000], y[100000];
static void run(const char *what) {
  feclearexcept(FE_ALL_EXCEPT);
  quotients(100000, x, y);
  printf("%s %d\\n", what, fetestexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW));
}
int main(void) {
  for (int i = 0; i < 100000; i++) x[i] = 1 + i % 7;
  run("none");
  x[99990] = 0;
  run("by zero, of the last thread");
  x[99990] = 1e-310;
  run("overflow");
  x[99990] = 1;
  run("none again");
  x[10] = 0;
  run("by zero, of the first");
}
""")
    for flags in ([], ["-fopenmp"]):
        words = ["-O2", "-march=native", "-w", *flags, "raised.c", "-lm", "-o"]
        case.plain(*words, "plain")
        case.served(*words, "rewritten")
        for threads in ("1", "3"):
            said = case.run("./rewritten", environment={"OMP_NUM_THREADS": threads}).stdout
            assert said == case.run("./plain").stdout, (flags, threads)


def warnings_that_are_errors(case):
    """What is written into a file is no reason to leave it alone where warnings are errors; the compiler's own warnings
    about its own input still are."""
    kernel = """\
#include <stdio.h>
static int scale(int n, double *restrict x, const double *restrict y) {
  int i;
  for (i = 0; i < n; i++) x[i] = y[i] * 2;
  return i;
}
"""
    case.write("strict.c", kernel + """\
int main(void) {
  double x[50], y[50];
  for (int i = 0; i < 50; i++) y[i] = i;
  const int i = scale(50, x, y);
  printf("%d %g\\n", i, x[49]);
}
""")
    case.write("careless.c", kernel + "int main(void) { double x[2], y[2] = {1, 2}; char c = scale(2, x, y); return c - 2; }\n")
    for cc in ("clang-19", "gcc"):
        if shutil.which(cc) is None:
            continue
        case.cc = cc
        words = ["-O2", "-Wall", "-Wextra", "-Wcast-qual", "-pedantic-errors"]
        for errors in (["-Wconversion", "-Werror"], ["-Werror=conversion", "-Werror=cast-qual"]):
            said = case.served(*words, *errors, "strict.c", "-o", "rewritten").stderr
            assert "warning" not in said, said
            assert case.run("./rewritten").stdout == "50 98\n"
            expected = case.plain(*words, *errors, "-c", "careless.c", "-o", "careless.o", status=1).stderr
            said = case.s(*words, *errors, "-c", "careless.c", "-o", "careless.o", status=1).stderr
            assert expected in said, said
            assert not os.path.exists(os.path.join(case.folder, "careless.o"))


def complex_products_of_gcc(case):
    """gcc fuses products of complex numbers in vectors even where it is told not to contract: functions that hold some
    are its own."""
    if shutil.which("gcc") is None:
        return
    case.cc = "gcc"
    case.write("products.c", """\
#include <complex.h>
#include <stdio.h>
__attribute__((noinline)) void times(int n, double complex a[n][n], double complex b[n][n], double complex c[n][n]) {
  double complex t[n][n];
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      t[i][j] = 0;
      for (int k = 0; k < n; k++) t[i][j] += a[i][k] * b[k][j];
    }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) c[i][j] = conj(t[j][i]);
}
__attribute__((noinline)) void sums(int n, double complex *a, double complex *b) {
  for (int i = 0; i < n; i++) a[i] += b[i];
}
int main(void) {
  static double complex a[4][4], b[4][4], c[4][4];
  for (int i = 0; i < 16; i++) a[i / 4][i % 4] = i % 5 + i * I, b[i / 4][i % 4] = 1. / (i + 3) + I / (i * i + 7.);
  times(4, a, b, c);
  sums(16, *c, *a);
  for (int i = 0; i < 16; i++) printf("%a %a\\n", creal(c[i / 4][i % 4]), cimag(c[i / 4][i % 4]));
}
""")
    for flags in (["-ffp-contract=off"], ["-std=c11"], []):
        words = ["-O2", "-march=native", *flags, "products.c", "-o"]
        case.plain(*words, "plain")
        said = case.served(*words, "rewritten", recipe="normal").stderr
        assert ": sums, lines 14 to 14: served" in said and ": times, " not in said, said
        assert case.run("./rewritten").stdout == case.run("./plain").stdout, flags


def linkers_by_name(case):
    """The linker's name in a command that compiles, too: not a word of it, and no input is left for it."""
    case.write("main.c", "#include <stdio.h>\ndouble run(int);\nint main(void) { printf(\"%a\\n\", run(3)); return 0; }\n")
    for cc in compilers(case):
        words = ["-O2", "-Werror", "-fuse-ld=bfd", "main.c", "library.c", "-o"]
        assert not case.plain(*words, "plain").stderr, cc
        said = case.served(*words, "linked").stderr
        assert "warning" not in said and "error" not in said, said
        assert case.run("./linked").stdout == case.run("./plain").stdout, cc
        # A command that does not link: whatever the compiler says of it.
        words = ["-O2", "-fuse-ld=bfd", "-c", "library.c"]
        said = case.plain(*words).stderr
        assert case.run(case.sous, "--db=none", "--recipe=normal.recipe", case.cc, *words).stderr == said, cc


def resolvers(case):
    """What an ifunc attribute names runs before anything can be called, with threads or without."""
    case.write("ifunc.c", """\
#include <stdio.h>
static double x[100];
static double up(int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i]; return s; }
static double down(int n) { double s = 0; for (int i = n - 1; i >= 0; i--) s += x[i] * 2; return s; }
static double (*choose(void))(int) {
  int t[10];
  for (int i = 0; i < 10; i++) t[i] = i * i;
  return t[3] > 5 ? down : up;
}
double total(int n) __attribute__((ifunc("choose")));
int main(void) {
  for (int i = 0; i < 100; i++) x[i] = i;
  printf("%g\\n", total(100));
}
""")
    for cc in compilers(case):
        for flags in ([], ["-static"], ["-Wl,-z,now"]):
            case.served("-O2", *flags, "ifunc.c", "-o", "linked")
            assert case.run("./linked").stdout == "9900\n", (cc, flags)


CASES = [position_independent, passed_through, sanitizers_see_everything, instrumented_links, foreign_links, archives,
         unloading, forks_of_gcc, equal_static_names, names_of_its_own, keys_of_others, many_libraries,
         silent_static_links, cancelled, names_that_c_leaves_to_programs, complex_products_of_gcc, roundings,
         exceptions_of_threads, warnings_that_are_errors, exceptions, options_of_gcc,
         linkers_by_name, resolvers]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sous", type=pathlib.Path, required=True)
    parser.add_argument("--cc", default="clang-19")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if shutil.which(options.cc) is None:
        print(f"skipped: there is no {options.cc}")
        return 77
    failed = 0
    for function in CASES:
        if options.names and function.__name__ not in options.names:
            continue
        with tempfile.TemporaryDirectory(prefix="builds-") as folder:
            try:
                function(Case(options.sous.resolve(), folder, options.cc))
                print("ok    ", function.__name__, flush=True)
            except (AssertionError, subprocess.TimeoutExpired) as error:
                failed += 1
                print("FAILED", function.__name__, error, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
