// way: clang-19 --recipe=normal-form --target=cpp
// why: expected f8 1 1,1 b2eea99b0baf12af, got f8 1 1,1 739fdd1c362b7ded
// repeat: tests/e2e/random_c.py --sous build/sous --replay tests/golden/found-c/77002.c

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

static volatile int f8_again7;
static uint8_t f8_h0(double x, int y) { (void)x; (void)y; return truncated(((float)(y) * (x + 0.5f))); }
static uint8_t f8_h1(int x, int y) { (void)x; (void)y; return ((x == 2) + 10); }
__attribute__((noinline)) void f8(uint64_t n, uint64_t m, double *restrict A, double *restrict B, uint8_t C[], double *restrict out) {
  uint8_t *O0 = malloc(80 * sizeof(uint8_t));
  fill_uint8_t(O0, 80);
  static long O1[80];
  int i5 = 5;
  for (int again7 = 0; again7 < 2; again7++) {
    f8_again7 = 1;
    for (int i3 = 0; 2 * i3 < n; i3++) {
      {
        uint64_t i4 = 2;
        while (i4 < n) {
          O1[i4] = (long)((uint64_t)O1[i4] + ((f8_h0((O0[(i4 < 80 ? i4 : 79)] % 7), truncated((B[(i4 < 8 ? i4 : 7)] + 1)))) & 63));
          i4 += 2;
        }
      }
      for (i5 = i3 + 1; i5 < 4; i5 += 3) {
        O0[i3] ^= ((f8_h1((-1 < i3), O1[i5 + 1])) & 63);
        if (i3 >= 0.5) {
          O0[i3 % 80] %= 7;
          unsigned t6 = ((((*(O1 + i5 + 2)) & 15) != 0 ? O0[i5] % ((*(O1 + i5 + 2)) & 15) : 3) == (O0[i5 + 2] << 2));
          O1[i3] = t6;
        }
      }
    }
  }
  out[0] = i5;
  out[22] = O0[0];
}
static void run_f8(int which, long n, long m) {
  (void)m; (void)n;
  if (n < 1 || m < 1) return;
  size_t s0 = ELEMENTS(m) * ELEMENTS(8) * sizeof(double);
  size_t s1 = ELEMENTS(8) * sizeof(double);
  size_t s2 = ELEMENTS(m) * sizeof(uint8_t);
  size_t s3 = ELEMENTS(24) * sizeof(double);
  char *at0[1];
  lay(which, 1, (int[]){0}, (size_t[]){s0}, (size_t[]){sizeof(double)}, at0);
  char *at1[1];
  lay(which, 1, (int[]){1}, (size_t[]){s1}, (size_t[]){sizeof(double)}, at1);
  char *at2[1];
  lay(which, 1, (int[]){2}, (size_t[]){s2}, (size_t[]){sizeof(uint8_t)}, at2);
  char *at3[1];
  lay(which, 1, (int[]){3}, (size_t[]){s3}, (size_t[]){sizeof(double)}, at3);
  double *p0 = (double *)at0[0];
  fill_double(p0, s0 / sizeof(double));
  double *p1 = (double *)at1[0];
  fill_double(p1, s1 / sizeof(double));
  uint8_t *p2 = (uint8_t *)at2[0];
  fill_uint8_t(p2, s2 / sizeof(uint8_t));
  double *p3 = (double *)at3[0];
  fill_double(p3, s3 / sizeof(double));
  f8(n, m, (void *)p0, (void *)p1, (void *)p2, (void *)p3);
  hash_double(p0, s0 / sizeof(double));
  hash_double(p1, s1 / sizeof(double));
  hash_uint8_t(p2, s2 / sizeof(uint8_t));
  hash_double(p3, s3 / sizeof(double));
}
int main(void) {
  static const struct { const char *name; void (*run)(int, long, long); } functions[] = {{"f8", run_f8}};
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
