"""The C around random functions: memory that ends where access ends, data, hashes, and main."""

PRELUDE = r"""
#include <math.h>
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
/* In an earlier parameter's memory for some calls: the same, or shifted. A call that does not fit keeps its own. */
static char *overlap(int which, int k, char *base, size_t has, size_t wants, size_t size) {
  size_t shift = which % 3 == 1 ? (size_t)(which / 3 % 4) * size : 0;
  if (which % 3 && which % 5 && base && shift + wants <= has) return base + shift;
  return place(k, wants, which);
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
