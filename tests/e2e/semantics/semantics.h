// Shared by the programs of this folder: memory that ends, or begins, where access does, and what to print of it.
#pragma once
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define NOINLINE __attribute__((noinline))
enum { PAGE = 4096 };

// Whole pages with a page that faults before and one behind.
static inline char* fenced(size_t pages) {
  char* p = mmap(0, (pages + 2) * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || mprotect(p + PAGE, pages * PAGE, PROT_READ | PROT_WRITE)) abort();
  return p + PAGE;
}
// `bytes` whose last one is the last before a page that faults.
static inline void* before_fence(size_t bytes) {
  size_t pages = (bytes + PAGE - 1) / PAGE + !bytes;
  return fenced(pages) + pages * PAGE - bytes;
}
// `bytes` whose first one is the first behind a page that faults.
static inline void* behind_fence(size_t bytes) { return fenced((bytes + PAGE - 1) / PAGE + !bytes); }
static inline void read_only(void* p, size_t bytes) {
  uintptr_t first = (uintptr_t)p / PAGE * PAGE;
  if (mprotect((void*)first, (uintptr_t)p + bytes - first, PROT_READ)) abort();
}

static inline void print_bytes(const char* name, const void* data, size_t bytes) {
  const unsigned char* p = data;
  uint64_t h = 1469598103934665603u;
  for (size_t i = 0; i < bytes; i++) h = (h ^ p[i]) * 1099511628211u;
  printf("%s %016llx\n", name, (unsigned long long)h);
}
// NaNs are all alike; everything else to the last bit.
static inline void print_doubles(const char* name, const double* x, long n) {
  printf("%s", name);
  for (long i = 0; i < n; i++) x[i] != x[i] ? printf(" nan") : printf(" %a", x[i]);
  printf("\n");
}
static inline void print_floats(const char* name, const float* x, long n) {
  printf("%s", name);
  for (long i = 0; i < n; i++) x[i] != x[i] ? printf(" nan") : printf(" %a", x[i]);
  printf("\n");
}
static inline void print_ints(const char* name, const int* x, long n) {
  printf("%s", name);
  for (long i = 0; i < n; i++) printf(" %d", x[i]);
  printf("\n");
}
