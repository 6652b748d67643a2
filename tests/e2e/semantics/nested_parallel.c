// Nests inside the program's own parallel regions, with and without nested parallelism, and more threads than cores.
// flags: -fopenmp
// links: -lm -fopenmp
// work: served *
// rows: served *
// also: parallelize work rows; dynamic work rows
// runs: OMP_NUM_THREADS=1 | OMP_NUM_THREADS=3 | OMP_NUM_THREADS=3,2 OMP_MAX_ACTIVE_LEVELS=2 | OMP_NUM_THREADS=40 | OMP_NUM_THREADS=8 OMP_THREAD_LIMIT=3 | OMP_NUM_THREADS=4 OMP_DYNAMIC=true
#include <omp.h>
#include "semantics.h"
NOINLINE void work(int n, double *x, const double *y) {
  for (int i = 0; i < n; i++) x[i] = x[i] * 0.5 + y[i];
}
NOINLINE void rows(int n, double *restrict a) {
  for (int i = 0; i < n; i++) {
    double t[700];
    for (int j = 0; j < 700; j++) t[j] = a[i] + j;
    for (int j = 0; j < 700; j++) a[i] += t[699 - j] / 1024;
  }
}
int main(void) {
  static double x[16][100], y[100];
  for (int i = 0; i < 100; i++) y[i] = i;
  rows(100, y);
#pragma omp parallel for schedule(dynamic)
  for (int k = 0; k < 16; k++) {
    for (int r = 0; r < 20; r++) {
      work(100, x[k], y);
      rows(100, x[k]);
    }
  }
  for (int k = 0; k < 16; k++) print_bytes("row", x[k], sizeof x[k]);
  int tasks = 0;
#pragma omp parallel
#pragma omp single
  for (int k = 0; k < 16; k++)
#pragma omp task shared(tasks)
  {
    work(100, x[k], y);
#pragma omp atomic
    tasks++;
  }
  printf("%d\n", tasks);
  for (int k = 0; k < 16; k++) print_bytes("row", x[k], sizeof x[k]);
}
