// Large temporaries are on the heap, also in threads with small stacks; where there is no memory for them the
// original nest runs, with nothing changed before.
// local_array: served SOS
// per_row: served SSS
// vla: served SOS
// small: served SS
// histograms: served SSS
// also: parallelize local_array vla histograms
#include <pthread.h>
#include "semantics.h"
static int refuse, asked;
extern void *__libc_malloc(size_t);
// Every request for memory passes here: those for temporaries are for whole lines of the cache, and what aligns them.
void *malloc(size_t size) {
  if (size % 64 != 63) return __libc_malloc(size);
  __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);
  return refuse ? 0 : __libc_malloc(size);
}
NOINLINE void local_array(int n, double *restrict x, const double *restrict y) {
  for (int i = 0; i < n; i++) {
    double t[3000];
    for (int j = 0; j < 3000; j++) t[j] = y[j % n] * j;
    for (int j = 0; j < 3000; j++) x[i] += t[2999 - j] * (j % 5 + i);
  }
}
NOINLINE void per_row(int n, int m, double *restrict a, const double *restrict y) {
  double row[4000];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < m; j++) row[j] = a[i * m + j] + y[j];
    for (int j = 0; j < m; j++) a[i * m + j] = row[m - 1 - j];
  }
}
NOINLINE void vla(int n, int m, double *restrict a) {
  for (int i = 0; i < n; i++) {
    double row[m];
    for (int j = 0; j < m; j++) row[j] = a[i * m + j] * 2;
    for (int j = 0; j < m; j++) a[i * m + j] = row[m - 1 - j] + 1;
  }
}
NOINLINE void small(int n, double *restrict a) {
  for (int i = 0; i < n; i++) {
    double t[4];
    for (int j = 0; j < 4; j++) t[j] = a[(i + j) % n];
    a[i] = t[0] + t[1] * t[2] - t[3];
  }
}
// Threads have copies of these: not all on a stack, nor is the original called where the heap has no room.
static unsigned long low[4096], high[4096], bits[4096];
NOINLINE void histograms(int n, const unsigned *restrict x) {
  for (int i = 0; i < n; i++) {
    unsigned v = x[i] * 2654435761u;
    low[v & 4095] += 1;
    high[v >> 20] += i;
    bits[v >> 7 & 4095] ^= v;
  }
}
static unsigned values[200000];
static double a[40 * 60], x[60], y[60];
static void *small_stack(void *unused) {
  vla(40, 60, a);
  local_array(10, x, y);
  per_row(40, 60, a, y);
  histograms(200000, values);
  return unused;
}
int main(void) {
  for (int i = 0; i < 60; i++) x[i] = i, y[i] = 1. / (i + 1);
  for (int i = 0; i < 40 * 60; i++) a[i] = i % 97;
  for (int i = 0; i < 200000; i++) values[i] = i;
  for (refuse = 0; refuse < 2; refuse++) {
    local_array(60, x, y);
    per_row(40, 60, a, y);
    vla(40, 60, a);
    small(60, x);
    histograms(200000, values);
    print_bytes("x", x, sizeof x), print_bytes("a", a, sizeof a);
  }
  refuse = 0;
  pthread_t thread;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, 96 * 1024);
  if (pthread_create(&thread, &attributes, small_stack, 0)) return 1;
  pthread_join(thread, 0);
  print_bytes("x", x, sizeof x), print_bytes("a", a, sizeof a);
  print_bytes("low", low, sizeof low), print_bytes("high", high, sizeof high), print_bytes("bits", bits, sizeof bits);
}
