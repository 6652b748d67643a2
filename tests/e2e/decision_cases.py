"""Cases of run.py: what is asked ahead of a call of generated code, and what the call does then."""
import re

from case import FLAGS, PARALLEL

# In normal form the sums are an array on the heap.
SUMS = """\
#include <stdio.h>
#include <stdlib.h>
#ifdef WITHOUT_MEMORY
static int refused;
void *__libc_malloc(size_t);
// Temporaries are whole lines of the cache, and what aligns them.
void *malloc(size_t bytes) { return bytes % 64 == 63 ? refused++, (void *)0 : __libc_malloc(bytes); }
#endif
int sums(int n, int m, double *y, const double *a) {
  double most = 0;
  for (int i = 0; i < n; i++) {
    double t = 0;
    for (int j = 0; j < m; j++) t += a[i * m + j];
    y[i] = t * t + y[i];
    most = y[i] > most ? y[i] : most;
  }
  return most > 10;
}
int main(void) {
  double a[60], y[10];
  int n = 0;
  for (int times = 0; times < 3; times++) {
    for (int i = 0; i < 60; i++) a[i] = i * 7 % 11 * 0.37;
    for (int i = 0; i < 10; i++) y[i] = i;
    n += sums(10, 6, y, a) + sums(5 * times, 6, a, a) + sums(0, -3, y, a);
  }
  double sum = 0;
  for (int i = 0; i < 60; i++) sum += a[i] * i + y[i / 6];
  printf("%.17g %d\\n", sum, n);
#ifdef WITHOUT_MEMORY
  fprintf(stderr, "refused %d times", refused);
#endif
}
"""


def what_is_asked_first_and_what_runs_give_the_same(case):
    case.write("sums.c", SUMS)
    case.run(case.cc, *FLAGS, "sums.c", "-o", "plain")
    expected = case.run("./plain").stdout
    for options in ([], ["-DWITHOUT_MEMORY"], ["-DWITHOUT_MEMORY", "-g"]):
        done = case.s("--explain", "--recipe=normal-form", "--nest=sums", case.cc, *FLAGS, *options, "sums.c", "-o", "served")
        assert "served" in done.stderr, done.stderr
        ran = case.run("./served")
        assert ran.stdout == expected, (options, ran.stdout, expected)
        # Taken, and only then found to be without memory; where they overlap, the two of nine, it is not taken.
        assert not options or ran.stderr == "refused 7 times", ran.stderr


MANY = """\
void scale(int n, double *y, const double *x) {
  for (int i = 0; i < n; i++) y[i] += 2 * x[i];
}
void many(int n, double *y, const double *x) {
  for (int k = 0; k < 1000; k++) scale(n, y, x);
}
"""
COUNTED = """\
#include <stdio.h>
void many(int, double *, const double *);
static int asked, entered, variants;
int main(void) {
  double x[] = {1}, y[] = {3};
  many(1, y, x);
  printf("%g %d %d %d\\n", y[0], asked, entered, variants);
}
"""


def what_is_asked_first_changes_nothing(case):
    case.write("many.c", MANY)
    case.s("opt", "many.c", "--recipe=normal-form", "--nest=scale", "-o", "out", "--", case.cc, *FLAGS)
    text = (case.folder / "out/many.c").read_text()

    def parameters(function):
        given = re.search(rf" {function}\(([^)]*)\)", text).group(1).split(", ")
        return ", ".join(f"{p} p{k}" for k, p in enumerate(given)), f"p{len(given) - 1}"

    taken, variant = parameters("sous_scale_2")
    # In the place of the generated code, what counts. To the compiler an answer holds as long as the arguments do.
    for answer, expected in ((0, "2003 1 0 0\n"), (7, "3 1 1000 7000\n")):
        case.write("count.c", COUNTED + f"int sous_scale_2_takes({parameters('sous_scale_2_takes')[0]}) "
                   f"{{ ++asked; return {answer}; }}\nvoid sous_scale_2({taken}) {{ ++entered; variants += {variant}; }}\n")
        case.run(case.cc, *FLAGS, "out/many.c", "count.c", "-o", "counted")
        assert case.run("./counted").stdout == expected, case.run("./counted").stdout


REGISTERS = """\
#include <cpuid.h>
#include <stdio.h>
void scale(int n, int m, double (*a)[m], const double *x) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) a[i][j] = 0.9 * a[i][j] + 0.1 * x[i] * x[j];
}
// Which parts of registers hold something, where a processor tells: of AVX and of AVX-512 the upper halves.
static unsigned in_use(void) {
  unsigned low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
  return low & 0x44;
}
int main(void) {
  static double a[400][400], x[400];
  unsigned ax, bx, cx, dx;
  if (!__get_cpuid_count(13, 1, &ax, &bx, &cx, &dx) || !(ax & 4)) return 77;
  __asm__ volatile("vzeroupper");
  if (in_use()) return 77;
  for (int i = 0; i < 400; i++) x[i] = i % 7;
  scale(400, 400, a, x);
  printf("%g %x\\n", a[3][4], in_use());
}
"""


def registers_are_left_as_sse_wants_them(case):
    case.write("registers.c", REGISTERS)
    case.write("par.json", PARALLEL)
    for cc in (case.cc, "gcc-12"):
        for level in (["-O2"], ["-O3", "-march=native"]):
            case.s("--recipe=par.json", "--nest=scale", cc, *level, "-DSOUS_PARALLEL_FROM=0", "registers.c", "-o", "served")
            for threads in ("1", "2"):
                ran = case.run("./served", status=None, environment={"OMP_NUM_THREADS": threads})
                assert ran.returncode == 77 or ran.stdout == "1.2 0\n", (cc, level, threads, ran.stdout)
