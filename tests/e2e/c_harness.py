"""The C around random functions: memory that ends where access ends, data, hashes, and main."""

PRELUDE = r"""
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define ELEMENTS(e) ((size_t)((long)(e) > 0 ? (long)(e) : 0))
static uint64_t state, digest;
static uint64_t next(void) { state ^= state << 13; state ^= state >> 7; state ^= state << 17; return state >> 11; }
static void mix(uint64_t x) { digest = (digest ^ x) * 0x9e3779b97f4a7c15u; digest ^= digest >> 29; }
enum { slots = 8, room = 1 << 23 };
static char *memory[slots];
static int special;  // NaN, infinities, -0.0 in the data
/* Right before a page that faults, or right behind one. */
static char *place(int k, size_t bytes, int which) {
#ifdef HEAP
  (void)which;
  free(memory[k]);
  return memory[k] = malloc(bytes);
#else
  if (!memory[k]) {
    char *p = mmap(0, room + 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory[k] = p + 4096;
    mprotect(memory[k], room, PROT_READ | PROT_WRITE);
  }
  if (bytes > room) abort();
  return which % 4 == 3 ? memory[k] : memory[k] + room - bytes;
#endif
}
/* Memory of pointers that C lets overlap: apart for some calls; for the others each lies relative to the one before:
   the same, shifted, its first elements (up to three, or none) the other's last or the other way round. */
static void lay(int which, int n, const int *slot, const size_t *bytes, const size_t *size, char **at) {
  long offset[slots], low = 0, high = (long)bytes[0], unit = (long)size[0];
  if (n == 1 || which % 3 == 0) {
    for (int k = 0; k < n; k++) at[k] = place(slot[k], bytes[k], which);
    return;
  }
  offset[0] = 0;
  for (int k = 1; k < n; k++) {
    const long one = (long)size[k], has = (long)bytes[k - 1], wants = (long)bytes[k], few = which / 2 % 4;
    const long last = has - few * (long)size[k - 1], first = few * one - wants;
    const long shift[] = {0, one, last, last, -one, first, first, 3 * one};
    if (one > unit) unit = one;
    offset[k] = offset[k - 1] + shift[(which / 3 * 2 + which % 3 + k) % 8];
    offset[k] -= (offset[k] % one + one) % one;
    if (offset[k] < low) low = offset[k];
    if (offset[k] + wants > high) high = offset[k] + wants;
  }
  low -= (low % unit + unit) % unit;
  high += (unit - (high - low) % unit) % unit;
  char *start = place(slot[0], (size_t)(high - low), which);
  for (int k = 0; k < n; k++) at[k] = start + (offset[k] - low);
}
/* In a global array for some calls. */
static char *within(int which, char *global, size_t has, size_t wants, size_t size, char *otherwise) {
  size_t shift = (size_t)(which % 4) * size;
  return which % 7 < 2 && shift + wants <= has ? global + shift : otherwise;
}
#define FLOATING(T) \
  static void fill_##T(T *p, size_t n) { \
    for (size_t i = 0; i < n; i++) { \
      uint64_t x = next(); \
      p[i] = (T)((double)(x % 4096) / 64 - 20); \
      if (special && x % 11 == 0) p[i] = (T[]){(T)NAN, (T)INFINITY, (T)-INFINITY, (T)-0.0, (T)-0.0, 0, 0}[x % 7]; \
    } \
  } \
  static void hash_##T(T *p, size_t n) { \
    for (size_t i = 0; i < n; i++) { \
      uint64_t x = 0; \
      if (p[i] != p[i]) x = 77; else memcpy(&x, &p[i], sizeof(T)); \
      mix(x); \
    } \
  }
#define INTEGER(T) \
  static void fill_##T(T *p, size_t n) { \
    for (size_t i = 0; i < n; i++) { \
      uint64_t x = next(); \
      p[i] = (T)(x % 5 ? x / 8 % 100 : x / 8 % 3 ? 0 : x << 40 ^ x); \
    } \
  } \
  static void hash_##T(T *p, size_t n) { for (size_t i = 0; i < n; i++) mix((uint64_t)p[i]); }
static int truncated(double x) { return x > -60 && x < 60 ? (int)x : 9; }
FLOATING(double) FLOATING(float)
/* What generated code takes for the program's OpenMP. Threads that start one after the other, and whose shares take no
   time, have the order that a program had before: what depends on it is right by luck. So in some calls (order 1) shares
   run one after the other from the last to the first, and in the others all start together. */
static int order;
static __thread int number, members = 1;
struct share { void (*run)(void *); void *shared; int number, members, *arrived; };
static void *run_share(void *what) {
  struct share own = *(struct share *)what;
  __atomic_add_fetch(own.arrived, 1, __ATOMIC_ACQ_REL);
  for (int k = 0; k < 10000 && __atomic_load_n(own.arrived, __ATOMIC_ACQUIRE) < own.members; k++) sched_yield();
  number = own.number, members = own.members;
  own.run(own.shared);
  number = 0, members = 1;
  return 0;
}
int omp_get_max_threads(void) {
  const char *said = getenv("OMP_NUM_THREADS");
  return said ? atoi(said) : 2;
}
int omp_get_num_threads(void) { return members; }
int omp_get_thread_num(void) { return number; }
int omp_in_parallel(void) { return members > 1; }
void GOMP_barrier(void) {}
void GOMP_parallel(void (*run)(void *), void *shared, unsigned threads, unsigned flags) {
  enum { most = 64 };
  const int team = threads == 0 ? omp_get_max_threads() : threads < most ? (int)threads : most;
  int arrived = order == 1 ? most : 0;
  struct share shares[most];
  pthread_t others[most];
  (void)flags;
  for (int k = 0; k < team; k++) shares[k] = (struct share){run, shared, k, team, &arrived};
  if (order == 1) {
    for (int k = team; k > 0; k--) run_share(&shares[k - 1]);
    return;
  }
  for (int k = 1; k < team; k++) {
    if (pthread_create(&others[k], 0, run_share, &shares[k])) abort();
  }
  run_share(&shares[0]);
  for (int k = 1; k < team; k++) pthread_join(others[k], 0);
}
INTEGER(_Bool) INTEGER(int8_t) INTEGER(uint8_t) INTEGER(int16_t) INTEGER(uint16_t)
INTEGER(int) INTEGER(unsigned) INTEGER(long) INTEGER(uint64_t)
"""

MAIN = r"""
  static const signed char sizes[][2] = {{0, 0}, {1, 1}, {2, 3}, {3, 2}, {4, 5}, {5, 4}, {6, 7}, {7, 8}, {8, 8}, {9, 2},
    {10, 11}, {11, 7}, {12, 13}, {13, 16}, {14, 3}, {15, 15}, {16, 17}, {17, 16}, {-1, 4}, {-3, -2}, {3, -1}, {0, 5},
    {31, 5}, {33, 17}, {40, 33}, {65, 9}, {17, 65}, {16, 16}, {8, 4}, {1, 9}};
  for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
    for (size_t c = 0; c < sizeof sizes / sizeof *sizes; c++) {
      state = 88172645463325252u + 1000 * c;
      digest = 1;
      special = c % 3 == 2;
      order = (int[]){1, 1, 0, 0, 1}[c % 5];
      functions[f].run((int)c, sizes[c][0], sizes[c][1]);
      printf("%s %d %d,%d %016llx\n", functions[f].name, (int)c, sizes[c][0], sizes[c][1], (unsigned long long)digest);
      fflush(stdout);
    }
  }
  return 0;
}
"""


def program(functions):
    if hasattr(functions, "text"):  # a whole program already
        return functions.text
    parts = [PRELUDE]
    for f in functions:
        parts += [f.source(), f.call()]
    table = ", ".join(f'{{"{f.name}", run_{f.name}}}' for f in functions)
    parts.append("int main(void) {\n  static const struct { const char *name; void (*run)(int, long, long); } functions[] = "
                 "{" + table + "};" + MAIN)
    return "\n".join(parts)
