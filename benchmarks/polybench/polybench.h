// What the PolyBench programs share: dataset and element type, allocation, cache flush, timer, dump of the outputs.
//
// Chosen when compiling:
//   -DMINI -DSMALL -DMEDIUM -DLARGE -DEXTRALARGE   the dataset (LARGE where none is named)
//   -DDATA_TYPE=double|float|int                   the element type; each program has its own default
// Chosen when running:
//   --dump FILE    every output array as raw elements in memory order, one array after the other
//   --text         the same as text on stdout: a line with name and count, then one value per line
//   POLYBENCH_FLUSH_KB=N (environment)   size of the cache flush before timing; 0 for none. By default it fits this
//                  machine's last-level cache, and is never below the 32,770 KB of PolyBench itself.
//   POLYBENCH_DETERMINED=1 (environment)   outputs that rounding alone decides are dumped as zeros: for comparing
//                  builds that round differently
// On stderr: one line "seconds: 0.123456789", the time of the kernel alone.
//
// The arrays are not touched between allocation and initialisation, so that a kernel's temporaries are first touched
// inside the timed region, as in PolyBench.
#pragma once

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L  // clock_gettime, also under -std=c11
#endif
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// SIZE(mini, small, medium, large, extralarge): the one that the dataset selects.
#if defined(MINI)
#define SIZE(mini, small, medium, large, extralarge) mini
#elif defined(SMALL)
#define SIZE(mini, small, medium, large, extralarge) small
#elif defined(MEDIUM)
#define SIZE(mini, small, medium, large, extralarge) medium
#elif defined(EXTRALARGE)
#define SIZE(mini, small, medium, large, extralarge) extralarge
#else
#define SIZE(mini, small, medium, large, extralarge) large
#endif

#ifndef DATA_TYPE
#define DATA_TYPE double
#endif

// Literals and math functions in the element type, so that a float program computes in float throughout.
#define PB_JOIN_(a, b) a##b
#define PB_JOIN(a, b) PB_JOIN_(a, b)
#define PB_TYPE_float 1
#define PB_TYPE_double 2
#define PB_TYPE_int 3
#if PB_JOIN(PB_TYPE_, DATA_TYPE) == 1
#define SCALAR(x) x##f
#define SQRT(x) sqrtf(x)
#define EXP(x) expf(x)
#define POW(x, y) powf(x, y)
#define PB_TEXT "%.9g\n"
#elif PB_JOIN(PB_TYPE_, DATA_TYPE) == 2 || PB_JOIN(PB_TYPE_, DATA_TYPE) == 3
#define SCALAR(x) x
#define SQRT(x) sqrt(x)
#define EXP(x) exp(x)
#define POW(x, y) pow(x, y)
#define PB_TEXT "%.17g\n"
#else
#error "DATA_TYPE must be float, double or int"
#endif

// Every array, so that pb_finish can free it. No program has more.
static void* pb_arrays[16];
static int pb_array_count = 0;

// Memory aligned to a cache line. Nothing about its origin reaches the optimizer: as in a program of several files, the
// compiler must not conclude that two arrays cannot overlap.
__attribute__((noinline, unused)) static void* pb_allocate(size_t bytes) {
  void* memory = aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (memory == NULL || pb_array_count == 16) {
    fprintf(stderr, "no memory for an array of %zu bytes\n", bytes);
    exit(3);
  }
  pb_arrays[pb_array_count++] = memory;
  __asm__ volatile("" : "+r"(memory) : : "memory");
  return memory;
}

#define ARRAY_1D(name, n1) DATA_TYPE* name = (DATA_TYPE*)pb_allocate(sizeof(DATA_TYPE) * (n1))
#define ARRAY_2D(name, n1, n2) DATA_TYPE(*name)[n2] = (DATA_TYPE(*)[n2])pb_allocate(sizeof(DATA_TYPE) * (n1) * (n2))
#define ARRAY_3D(name, n1, n2, n3) \
  DATA_TYPE(*name)[n2][n3] = (DATA_TYPE(*)[n2][n3])pb_allocate(sizeof(DATA_TYPE) * (n1) * (n2) * (n3))

static size_t pb_flush_bytes(void) {
  const char* chosen = getenv("POLYBENCH_FLUSH_KB");
  if (chosen != NULL) return (size_t)strtoul(chosen, NULL, 10) * 1024;
  long cache = 0;
#ifdef _SC_LEVEL3_CACHE_SIZE
  cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  if (cache <= 0) cache = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
  const size_t least = (size_t)32770 * 1024;
  const size_t fitting = cache > 0 ? (size_t)cache + (size_t)cache / 4 : 0;  // a quarter more: replacement is not LRU
  return fitting > least ? fitting : least;
}

// Writes and reads a buffer as large as the last-level cache. It writes because untouched pages all map to one page of
// zeros, and reading them would flush nothing.
__attribute__((noinline, unused)) static void pb_flush_cache(void) {
  const size_t bytes = pb_flush_bytes();
  if (bytes == 0) return;
  volatile unsigned char* buffer = (volatile unsigned char*)malloc(bytes);
  if (buffer == NULL) return;
  for (size_t i = 0; i < bytes; i += 64) buffer[i] = (unsigned char)i;
  unsigned sum = 0;
  for (size_t i = 0; i < bytes; i += 64) sum += buffer[i];
  __asm__ volatile("" : : "r"(sum) : "memory");
  free((void*)buffer);
}

__attribute__((noinline, unused)) static double pb_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// A program that includes another one and replaces its kernel (blas/) says here what is called instead, and what is
// done afterwards, outside the time.
#ifndef PB_CALL
#define PB_CALL(call) call
#endif
#ifndef PB_AFTER
#define PB_AFTER ((void)0)
#endif

// TIMED(call): flushes the cache, runs the call, prints its time.
#define TIMED(call)                                        \
  do {                                                     \
    pb_flush_cache();                                      \
    const double pb_start = pb_now();                      \
    PB_CALL(call);                                         \
    const double pb_end = pb_now();                        \
    fprintf(stderr, "seconds: %.9f\n", pb_end - pb_start); \
    PB_AFTER;                                              \
  } while (0)

// Where the outputs go. Opened before anything is computed, so that a wrong argument or path costs no run.
typedef struct {
  FILE* raw;   // NULL: not asked for
  FILE* text;  // NULL: not asked for
} pb_outputs;

__attribute__((noinline, unused)) static pb_outputs pb_arguments(int argc, char** argv) {
  pb_outputs out = {NULL, NULL};
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--text") == 0) {
      out.text = stdout;
    } else if (strcmp(argv[i], "--dump") == 0 && i + 1 < argc) {
      out.raw = fopen(argv[++i], "wb");
      if (out.raw == NULL) {
        perror(argv[i]);
        exit(2);
      }
    } else {
      fprintf(stderr, "usage: %s [--dump FILE] [--text]\n", argv[0]);
      exit(2);
    }
  }
  return out;
}

__attribute__((noinline, unused)) static int pb_only_determined(void) {
  const char* asked = getenv("POLYBENCH_DETERMINED");
  return asked != NULL && strcmp(asked, "1") == 0;
}

__attribute__((noinline, unused)) static void pb_dump(const pb_outputs* out, const char* name, const DATA_TYPE* values,
                                                      size_t count) {
  if (out->raw != NULL && fwrite(values, sizeof(DATA_TYPE), count, out->raw) != count) {
    perror("dump");
    exit(3);
  }
  if (out->text != NULL) {
    fprintf(out->text, "%s %zu\n", name, count);
    for (size_t i = 0; i < count; i++) fprintf(out->text, PB_TEXT, (double)values[i]);
  }
}

// DUMP(outputs, array, count): the array's first `count` elements.
#define DUMP(outputs, array, count) pb_dump(&(outputs), #array, (const DATA_TYPE*)(array), (size_t)(count))

__attribute__((noinline, unused)) static int pb_finish(const pb_outputs* out) {
  while (pb_array_count > 0) free(pb_arrays[--pb_array_count]);
  if (out->raw != NULL && fclose(out->raw) != 0) {
    perror("dump");
    return 3;
  }
  return 0;
}
