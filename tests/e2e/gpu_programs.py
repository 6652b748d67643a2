"""Programs whose nests go to a GPU that is none (targets/runtime/gpu_emulated.h), for run.py: what they compute, and
what crosses the bus, by the generated code's own counters."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
TRACE = re.compile(r"sous: (\S+): on the GPU: .*?(\d+) bytes in \S+ ms to it, (\d+) launches in \S+ ms, (\d+) bytes in \S+ ms "
                   r"from it, (\d+) bytes were there")

# Five nests with host code between them; `say` may do anything that C allows it.
FIVE = """\
#include <stdio.h>
#include <stdlib.h>
#define N 40
void say(const char *what, double value);
void fail_next(int on);
static void compute(double x[N], double y[N], double z[N], double A[N][N]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) A[i][j] = (double)(i * j %% 7) + 0.5;
  say("first", 1);
  for (int i = 0; i < N; i++) {
    y[i] = 0;
    for (int j = 0; j < N; j++) y[i] += A[i][j] * x[j];
  }
  say("second", y[3]);%(second)s
  for (int i = 0; i < N; i++) {
    z[i] = 0;
    for (int j = 0; j < N; j++) z[i] += A[j][i] * y[j];
  }
  say("third", z[4]);%(third)s
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) A[i][j] += y[i] * z[j];
  say("fourth", A[1][2]);%(fourth)s
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) x[i] += A[i][j] * z[j];
  say("fifth", x[5]);
}
int main(void) {
  double x[N], y[N], z[N], A[N][N];
  for (int i = 0; i < N; i++) {
    double value = 0;
    scanf("%%lf", &value);
    x[i] = value;
  }
  compute(x, y, z, A);
  double s = 0;
  for (int i = 0; i < N; i++) s += x[i] * i + y[i] + z[i];
  printf("%%.17g\\n", s);
  return 0;
}
"""
# A time loop on the host: what it says of each step, it reads.
STEPS = """\
#include <stdio.h>
#define N 40
void say(const char *what, double value);
void fail_next(int on);
static void compute(double A[N][N], double B[N][N]) {
  for (int t = 0; t < 5; t++) {
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][1 + j] + A[1 + i][j] + A[i - 1][j]);
    for (int i = 1; i < N - 1; i++)
      for (int j = 1; j < N - 1; j++) A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][1 + j] + B[1 + i][j] + B[i - 1][j]);
    say("step", A[3][4]);%(inside)s
  }
}
int main(void) {
  double A[N][N], B[N][N];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      double x = 0;
      scanf("%%lf", &x);
      A[i][j] = x + i;
      B[i][j] = x - j;
    }
  compute(A, B);
  double s = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) s += A[i][j] * i + B[i][j] * j;
  printf("%%.17g\\n", s);
  return 0;
}
"""
HOST = """\
#include <stdio.h>
void say(const char *what, double value) { printf("%s %.17g\\n", what, value); }
void fail_next(int on) { (void)on; }
void gpu_is_used(void) {}
"""
# Two pointers into one matrix, each about half of every row.
HALVES = """\
#include <stdio.h>
#define N 40
void say(const char *what, double value);
static double M[N][N];
void compute(double *restrict left, double *restrict right) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N / 2; j++) left[i * N + j] = left[i * N + j] * 1.5 + j;
  say("first", left[3]);
  for (int i = 0; i < N; i++) scanf("%lf", &right[i * N + 5]);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N / 2; j++) left[i * N + j] += 0.5 * j;
  say("second", left[4]);
}
int main(void) {
  compute(M[0], M[0] + N / 2);
  double s = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) s += M[i][j] * (i + 2 * j);
  printf("%.17g\\n", s);
  return 0;
}
"""
# A product, of a size that each call brings.
PRODUCT = """\
#include <stdio.h>
#include <stdlib.h>
void say(const char *what, double value);
void gpu_is_used(void);
void product(int n, double *restrict C, const double *restrict A, const double *restrict B) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) C[i * n + j] += A[i * n + k] * B[k * n + j];
}
static void run(int n) {
  double *C = malloc(sizeof(double) * n * n), *A = malloc(sizeof(double) * n * n), *B = malloc(sizeof(double) * n * n);
  volatile int seed = 1;
  for (int i = 0; i < n * n; i++) {
    seed = seed * 77 % 1009;
    C[i] = seed, A[i] = seed * 0.5, B[i] = 0.25 * i;
  }
  product(n, C, A, B);
  double s = 0;
  for (int i = 0; i < n * n; i++) s += C[i] / (i + seed);
  say("sum", s);
  free(C), free(A), free(B);
}
int main(void) {
  run(480);
  gpu_is_used();
  for (int n = 24; n <= 480; n *= 20) run(n);
  run(480);
  return 0;
}
"""
# Three nests of one array, of which the one in the middle is large or small as the caller says.
CHAIN = """\
#include <stdio.h>
#include <stdlib.h>
void say(const char *what, double value);
void gpu_is_used(void);
void chain(int n, int m, double *restrict C, const double *restrict A, const double *restrict B) {
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) C[i * n + j] += A[i * n + k] * B[k * n + j];
  say("one", C[7]);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m; k++)
      for (int j = 0; j < n; j++) C[i * n + j] += A[i * n + k] * B[k * n + j];
  say("two", C[8]);
  for (int i = 0; i < n; i++)
    for (int k = 0; k < n; k++)
      for (int j = 0; j < n; j++) C[i * n + j] += A[i * n + k] * B[k * n + j];
  say("three", C[9]);
}
int main(void) {
  enum { n = 400 };
  double *C = malloc(sizeof(double) * n * n), *A = malloc(sizeof(double) * n * n), *B = malloc(sizeof(double) * n * n);
  volatile int seed = 1;
  for (int i = 0; i < n * n; i++) {
    seed = seed * 77 % 1009;
    C[i] = seed, A[i] = seed * 0.5, B[i] = 0.25 * i;
  }
  gpu_is_used();
  chain(n, 1, C, A, B);
  chain(n, n, C, A, B);
  double s = 0;
  for (int i = 0; i < n * n; i++) s += C[i] / (i + seed);
  printf("%.17g\\n", s);
  return 0;
}
"""
# In place of `fail_next`: from here on CUDA's functions fail, or work again. `gpu_is_used`: it has been started.
FAILS = """
extern "C" void gpu_is_used(void) { sous::gpu::set_missed(__builtin_inf()); }
extern "C" void fail_next(int on) { sous::gpu::emulated.calls = 0; sous::gpu::emulated.fail_at = on; }
"""


def emulated(case, name, source, defines=(), included=(), offload="all"):
    """(for each run of a nest on the GPU: name, bytes to it, launches, bytes from it, bytes that were there; all that the
    generated code said). Without the GPU the program must put out the same."""
    case.write(f"{name}.c", source)
    case.write("host.c", HOST)
    flags = ["-O2", "-ffp-contract=off", *defines, *included]
    numbers = " ".join(str(k % 11 - 3.25) for k in range(1600))
    case.run(case.cc, *flags, f"{name}.c", "host.c", "-lm", "-o", "plain")
    plain = case.run("./plain", input=numbers).stdout
    case.s("opt", "--target", "cuda", "--offload", offload, f"{name}.c", "-o", "out", "--", *flags)
    generated = (case.folder / f"out/{name}.sous.cu").read_text()
    host = HOST.replace("void fail_next(int on) { (void)on; }", "").replace("void gpu_is_used(void) {}", "")
    case.write("generated.cc", generated + FAILS)
    case.write("host.c", host)
    case.run("clang++-19", "-std=c++17", "-O1", "-ffp-contract=off", "-fwrapv", "-fno-exceptions", "-fno-rtti", "-w", f"-I{ROOT}", "-c",
             "generated.cc", "-o", "generated.o")
    beside = case.folder / f"out/{name}.sous.cpp"
    others = []
    if beside.exists():
        case.run("clang++-19", "-std=c++17", "-O2", "-march=native", "-ffp-contract=off", "-fwrapv", "-fno-exceptions", "-fno-rtti", "-w", "-fopenmp",
                 f"-I{ROOT}", "-c", str(beside), "-o", "beside.o")
        others = ["beside.o", "-fopenmp"]
    case.run(case.cc, *flags, "-w", f"out/{name}.c", "host.c", "generated.o", *others, "-lm", "-lpthread", "-o", "gpu")
    ran = case.run("./gpu", input=numbers, environment={"SOUS_GPU_TRACE": "1"})
    assert ran.stdout == plain, (name, ran.stdout, plain, ran.stderr)
    return [(m[0], *(int(x) for x in m[1:])) for m in TRACE.findall(ran.stderr)], ran.stderr


def totals(runs):
    return sum(r[1] for r in runs), sum(r[3] for r in runs)
