// Generated code is re-entrant: run by several threads at once, from signal handlers, recursively, from constructors
// and while the program ends.
// work: served
// rows: served
// recursive: served
// also: parallelize work rows recursive; vectorize work; dynamic work rows
// runs: OMP_NUM_THREADS=1 | OMP_NUM_THREADS=3 | OMP_NUM_THREADS=17
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>
#include "semantics.h"
NOINLINE void work(int n, double *x, const double *y) {
  for (int i = 0; i < n; i++) x[i] = x[i] * 0.5 + y[i];
}
NOINLINE double rows(int n, double *restrict a) {
  for (int i = 0; i < n; i++) {
    double t[700];
    for (int j = 0; j < 700; j++) t[j] = a[i] + j;
    for (int j = 0; j < 700; j++) a[i] += t[699 - j] / 1024;
  }
  return a[n - 1];
}
NOINLINE void recursive(int depth, int n, double *restrict x) {
  for (int i = 0; i < n; i++) x[i] += depth * i;
  if (depth) recursive(depth - 1, n - 1, x + 1);
  for (int i = 0; i < n; i++) x[i] *= 0.75;
}
static void *thread(void *number) {
  enum { n = 200 };
  double x[n], y[n], a[20], s = 0;
  for (int i = 0; i < n; i++) x[i] = i, y[i] = (double)(long)number;
  for (int k = 0; k < 60; k++) {
    work(n, x, y);
    for (int i = 0; i < 20; i++) a[i] = i + k;
    s += rows(20, a);
  }
  double *result = malloc(2 * sizeof *result);
  result[0] = x[17], result[1] = s;
  return result;
}
static volatile sig_atomic_t alarms;
static double from_handler[64], steady[64];
static void handler(int unused) {
  (void)unused;
  work(64, from_handler, steady);
  alarms++;
}
__attribute__((constructor)) static void before_main(void) {
  double x[10] = {1}, y[10] = {2};
  work(10, x, y);
  print_doubles("constructor", x, 10);
}
static void at_end(void) {
  double x[30], y[30] = {2};
  for (int i = 0; i < 30; i++) x[i] = i;
  work(30, x, y);
  print_doubles("at end", x, 30);
}
__attribute__((destructor)) static void after_main(void) {
  at_end();
  fflush(stdout);
}
int main(void) {
  atexit(at_end);
  pthread_t threads[6];
  for (long i = 0; i < 6; i++) pthread_create(&threads[i], 0, thread, (void *)i);
  for (int i = 0; i < 6; i++) {
    double *result;
    pthread_join(threads[i], (void **)&result);
    print_doubles("thread", result, 2);
    free(result);
  }
  double x[50];
  for (int i = 0; i < 50; i++) x[i] = i;
  recursive(12, 50, x);
  print_doubles("recursive", x, 50);
  // A handler that runs the same code while it runs. Without temporaries: malloc is not for signal handlers.
  signal(SIGALRM, handler);
  struct itimerval every = {{0, 700}, {0, 700}};
  setitimer(ITIMER_REAL, &every, 0);
  double y[200], z[200];
  for (int i = 0; i < 200; i++) y[i] = i, z[i] = 1;
  for (long k = 0; alarms < 20; k++) {
    for (int i = 0; i < 200; i++) y[i] = i;
    for (int j = 0; j < 30; j++) work(200, y, z);
  }
  signal(SIGALRM, SIG_IGN);
  print_bytes("interrupted", y, sizeof y), print_doubles("handler", from_handler, 3);
}
