"""Cases of run.py: recipes measured, searched for, and written by strategies."""
import json
import os
import pathlib
import re

from case import FLAGS

SIZED = """\
#include <stdio.h>
#include <stdlib.h>
void mm(int n, double A[n][n], double B[n][n], double C[n][n]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      for (int k = 0; k < n; k++) C[i][j] += A[i][k] * B[j][k];
}
int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 96;
  double (*A)[n] = calloc(n, sizeof *A), (*B)[n] = calloc(n, sizeof *B), (*C)[n] = calloc(n, sizeof *C);
  mm(n, A, B, C);
  printf("%g\\n", C[1][1]);
}
"""

TWO = SIZED.replace("  for (int i = 0; i < n; i++)\n    for (int j", """\
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++) A[k][i] = A[k][i] * 0.5 + 1;
  for (int i = 0; i < n; i++)
    for (int j""", 1)


def each_unit_is_measured_by_itself(case):
    case.write("two.c", TWO)
    case.write("one.json", '{"version": 1, "target": "cpp", "steps": []}')
    case.s("db", "add", "two.c", "--recipe", "one.json", "--nest", "mm", "--unit", "2", "--runs", "3", "--", case.cc, *FLAGS)
    case.s("db", "add", "two.c", "--recipe", "one.json", "--nest", "mm", "--unit", "0", "--runs", "3", "--", case.cc, *FLAGS)
    entries = {line.split()[1]: line.split()[0] for line in case.s("db", "list").stdout.splitlines()}
    assert sorted(entries) == ["two#0", "two#2"], entries
    assert ", the unit by itself" in case.s("db", "show", entries["two#2"]).stdout
    assert "the unit by itself" not in case.s("db", "show", entries["two#0"]).stdout


def measured_on_the_spot_is_kept(case):
    case.write("sized.c", SIZED)
    # Sums of their own side by side, which no compiler makes of either form of the nest.
    case.write("tile.txt", "register_tile(loops=[i0, i1], sizes=[4, 4], lanes=2) -> highway")
    case.s("db", "add", "sized.c", "--recipe", "tile.txt", "--nest", "mm", "--", case.cc, *FLAGS)
    build = [case.cc, *FLAGS, "-c", "sized.c", "-o", "sized.o"]
    # No evidence at this size; then measured, once, and kept.
    assert "served: " not in case.s("--explain", "--size", "n=500", *build).stderr
    first = case.s("--explain", "--measure", "--size", "n=500", "--runs", "3", *build).stderr
    assert "served: " in first, first
    kept = case.s("db", "list").stdout.splitlines()
    assert len(kept) == 2 and sum("sized#0" in line for line in kept) == 2, kept
    again = case.s("--explain", "--size", "n=500", *build).stderr
    assert "served: " in again and "(database, distance 0" in again, again
    case.s("--measure", "--size", "n=500", *build)
    assert len(case.s("db", "list").stdout.splitlines()) == 2


def constants_are_sizes(case):
    """What was measured of a nest whose size the run knows serves it at sizes that the program says, as far as it reaches."""
    case.write("sized.c", SIZED)
    case.write("tile.txt", "register_tile(loops=[i0, i1], sizes=[4, 4], lanes=2) -> highway")
    case.s("db", "add", "sized.c", "--recipe", "tile.txt", "--nest", "mm", "--", case.cc, *FLAGS)

    def built(rows, columns, depth):
        case.write("constant.c", f"""\
#include <stdio.h>
static double A[{rows}][{depth}], B[{columns}][{depth}], C[{rows}][{columns}];
static void mm(void) {{
  for (int i = 0; i < {rows}; i++)
    for (int j = 0; j < {columns}; j++)
      for (int k = 0; k < {depth}; k++) C[i][j] += A[i][k] * B[j][k];
}}
int main(void) {{
  for (int k = 0; k < {depth}; k++) A[0][k] = B[0][k] = k;
  mm();
  printf("%g\\n", C[0][0]);
}}
""")
        explained = case.s("--explain", case.cc, *FLAGS, "constant.c", "-o", "served").stderr
        case.run(case.cc, *FLAGS, "constant.c", "-o", "plain")
        assert case.run("./served").stdout == case.run("./plain").stdout, (rows, columns, depth)
        return [line for line in explained.splitlines() if " mm: " in line][0]

    for size in ((120, 120, 120), (90, 150, 70)):
        served = built(*size)
        assert "mm: served: " in served and re.search(r"\(database, distance 0[,)]", served), (size, served)
    # Too short for what was measured; windows and the like, which are no sizes; larger than was measured.
    for size in ((10, 10, 10), (7, 640, 3), (1, 2000, 2000), (900, 900, 900)):
        left = built(*size)
        assert "mm: served: " not in left, (size, left)


def setup_measures_once(case):
    case.fill_database("--isa=sse")  # another class than that of the builds below
    command = ["setup", "--budget", "2", "--", case.cc, "-O3", "-march=native"]
    if " avx2 " not in pathlib.Path("/proc/cpuinfo").read_text():
        return
    first = case.s(*command).stdout
    assert "1 measured here" in first, first
    assert len(case.s("db", "list").stdout.splitlines()) == 2
    second = case.s(*command).stdout
    assert "0 recipes to measure" in second and "0 measured here" in second, second
    assert "1 measured here" in case.s(*command[:1], "--again", *command[1:]).stdout
    assert len(case.s("db", "list").stdout.splitlines()) == 2
    assert "0 recipes to measure" in case.s("setup", "--only", "nothing-of-this-name").stdout


TUNED = """\
#include <stdio.h>
#include <stdlib.h>
void rows(int n, int m, const float *restrict a, const float *restrict b, float *restrict c) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      float s = 0;
      for (int k = 0; k < m; k++) s += a[i * m + k] * b[j * m + k];
      c[i * n + j] = s > 0 ? s : 0;
    }
}
void pick(int n, const int *restrict at, double *restrict x) {
  for (int i = 0; i < n; i++) x[at[i]] = x[at[i]] * 0.5 + i;
}
int main(int argc, char **argv) {
  int n = atoi(argv[1]), m = atoi(argv[2]);
  float *a = malloc(sizeof(float) * n * m), *b = malloc(sizeof(float) * n * m), *c = malloc(sizeof(float) * n * n);
  for (int i = 0; i < n * m; i++) a[i] = (float)(i % 17) - 7.3f, b[i] = (float)(i % 13) * 0.37f - 2;
  rows(n, m, a, b, c);
  for (int i = 0; i < n * n; i++) printf("%a\\n", c[i]);
}
"""


def tune_finds_what_serves_the_next_build(case):
    case.write("tuned.c", TUNED)
    listed = case.s("strategies", "tuned.c", "--nest", "rows").stdout
    assert "contraction: 7 of 7 steps apply" in listed and "time_tiles: not: " in listed, listed
    tuned = case.s("tune", "tuned.c", "--budget", "4s", "--samples", "samples.jsonl", "--", case.cc, *FLAGS).stdout
    assert "pick (the nest): not tuned" in tuned or "pick (the nest): nothing is faster" in tuned, tuned
    kept = case.s("db", "list").stdout.splitlines()
    samples = [json.loads(line) for line in (case.folder / "samples.jsonl").read_text().splitlines()]
    assert len(samples) >= len(kept) and all("sample of" in s["provenance"] for s in samples), samples
    case.s("db", "import", "samples.jsonl", "--db", "samples.db")  # each is an entry
    assert f"{len(kept)} recipe{'' if len(kept) == 1 else 's'} kept in" in tuned, tuned
    assert all("tuned.rows#" in line for line in kept), kept
    explained = case.s("--explain", case.cc, *FLAGS, "tuned.c", "-o", "served").stderr
    assert ("rows: served" in explained) or not kept, explained
    case.run(case.cc, *FLAGS, "tuned.c", "-o", "plain")
    for n, m in ((1, 1), (7, 300), (160, 33), (301, 207)):
        sizes = (str(n), str(m))
        assert case.run("./served", *sizes).stdout == case.run("./plain", *sizes).stdout, sizes
    case.s("tune", "tuned.c", "--budget", "1x", status=2)


def tune_takes_what_a_build_left(case):
    case.fill_database()  # of an empty database no build asks anything
    sub = case.folder / "sub"
    sub.mkdir()
    (sub / "tuned.c").write_text(TUNED)
    (sub / "size.h").write_text("#define SIZE float\n")
    flags = [*FLAGS, "-DUNUSED=a b", "-include", "size.h"]
    case.run("sh", "-c", 'cd sub && exec "$@"', "sh", case.sous, case.cc, *flags, "-c", "tuned.c", "-o", "tuned.o")
    assert "rows" in case.s("stats", "sub").stdout
    tuned = case.s("tune", "--build", "sub", "--budget", "3s", "--db", "found.db").stdout
    assert "1 of 3: tuned.c:4: rows" in tuned and "tuned.c:4: rows (nest " in tuned, tuned
    assert tuned.splitlines()[-1].endswith(f"kept in {case.folder / 'found.db'}"), tuned
    case.s("tune", "--build", "sub", "tuned.c", status=2)
    assert "stats.none" in case.s("tune", "--build", "nowhere", status=1).stderr


PRODUCT = """\
static void mm(int n, int m, int k, const double *restrict a, const double *restrict b, double *restrict c) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) {
      double sum = 0;
      for (int l = 0; l < k; l++) sum += a[i * k + l] * b[l * m + j];
      c[i * m + j] = sum;
    }
}
void NAME(int n, int m, int k, const double *a, const double *b, double *c) { mm(n, m, k, a, b, c); }
"""

PRODUCTS = """\
#include <stdio.h>
void first(int, int, int, const double *, const double *, double *);
void second(int, int, int, const double *, const double *, double *);
static double a[600 * 600], b[600 * 600], c[600 * 600];
int main(void) {
  static const int shapes[][3] = {{3, 4, 5}, {600, 600, 12}, {12, 600, 600}, {600, 500, 400}, {0, 600, 600}};
  for (int i = 0; i < 600 * 600; i++) a[i] = i % 7 - 2.5, b[i] = i % 11 - 4.25;
  for (int s = 0; s < 5; s++) {
    double sum = 0;
    (s % 2 ? first : second)(shapes[s][0], shapes[s][1], shapes[s][2], a, b, c);
    for (int i = 0; i < 600 * 600; i++) sum += c[i] * (i % 5);
    printf("%.17g\\n", sum);
  }
  return 0;
}
"""


def what_runs_for_other_shapes(case):
    """A second variant where a recipe's shapes end; two objects of one text meet in one program."""
    case.environment["SOUS_SEED_DIR"] = str(pathlib.Path(__file__).resolve().parents[2] / "tuning-db" / "seed")
    case.write("product.c", PRODUCT)
    case.write("products.c", PRODUCTS)
    for name in ("first", "second"):
        done = case.s("--explain", case.cc, "-O3", "-march=native", f"-DNAME={name}", "-c", "product.c", "-o", f"{name}.o")
        if len(os.sched_getaffinity(0)) > 1:
            assert "other shapes: " in done.stderr, done.stderr
        case.run(case.cc, "-O3", "-march=native", f"-DNAME={name}", "-c", "product.c", "-o", f"{name}_plain.o")
    case.s(case.cc, "-O3", "products.c", "first.o", "second.o", "-o", "both")
    case.run(case.cc, "-O3", "products.c", "first_plain.o", "second_plain.o", "-o", "plain")
    assert case.run("./both").stdout == case.run("./plain").stdout
    # What is pinned, and what is to be measured, is one recipe.
    done = case.s("--explain", "--lock", case.cc, "-O3", "-march=native", "-DNAME=first", "-c", "product.c", "-o", "l.o")
    assert "served" in done.stderr and "other shapes" not in done.stderr, done.stderr
    done = case.s("--explain", "--frozen", case.cc, "-O3", "-march=native", "-DNAME=first", "-c", "product.c", "-o", "l.o")
    assert "served" in done.stderr and "other shapes" not in done.stderr, done.stderr


CARRIED = """\
#include <stdio.h>
#include <stdlib.h>
static void paths(int n, int d[n][n]) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        int through = d[i][k] + d[k][j];
        if (through < d[i][j]) d[i][j] = through;
      }
}
static void widest(int n, float **d) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        float narrow = d[i][k] < d[k][j] ? d[i][k] : d[k][j];
        d[i][j] = d[i][j] > narrow ? d[i][j] : narrow;
      }
}
static void relax(int n, int steps, double *a) {
  for (int t = 0; t < steps; t++)
    for (int i = 1; i < n - 1; i++)
      for (int j = 1; j < n - 1; j++)
        a[i * n + j] = 0.25 * (a[(i - 1) * n + j] + a[(i + 1) * n + j] + a[i * n + j - 1] + a[i * n + j + 1]);
}
int main(int argc, char **argv) {
  const int n = atoi(argv[1]);
  int (*d)[n] = malloc(sizeof(int[n][n]));
  float **w = malloc(n * sizeof *w);
  double *a = malloc(n * n * sizeof *a);
  for (int i = 0; i < n; i++) {
    w[i] = malloc(n * sizeof *w[i]);
    for (int j = 0; j < n; j++) {
      d[i][j] = (i * 7919 + j * 104729) % 1000;
      w[i][j] = (i * 31 + j * 17) % 101;
      a[i * n + j] = (i * j) % 13;
    }
  }
  paths(n, d);
  widest(n, w);
  relax(n, 20, a);
  unsigned long hash = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) hash = (hash * 31 + (unsigned)d[i][j]) * 31 + (unsigned long)w[i][j];
  double sum = 0;
  for (int i = 0; i < n * n; i++) sum += a[i] * (i % 7);
  printf("%lx %a\\n", hash, sum);
  return 0;
}
"""


def what_carries_dependences_keeps_its_bits(case):
    """Closures and sweeps in place by strategies: with threads, without, and the original, by size."""
    case.environment["SOUS_SEED_DIR"] = str(pathlib.Path(__file__).resolve().parents[2] / "tuning-db" / "seed")
    case.write("carried.c", CARRIED)
    done = case.s("--explain", case.cc, "-O3", "-march=native", "carried.c", "-o", "served")
    assert done.stderr.count("pivots") >= 2 and "staggered_rows" in done.stderr, done.stderr
    case.run(case.cc, "-O3", "-march=native", "carried.c", "-o", "plain")
    for n in (1, 2, 50, 131, 300, 800):
        expected = case.run("./plain", str(n)).stdout
        for threads in ("1", "2", "3"):
            assert case.run("./served", str(n), environment={"OMP_NUM_THREADS": threads}).stdout == expected, (n, threads)
