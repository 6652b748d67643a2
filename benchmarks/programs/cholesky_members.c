// Cholesky factorization of a matrix that is a structure: n, and a pointer to its elements.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct matrix {
  int n;
  double *data;
};

int factorize(struct matrix *m) {
  for (int j = 0; j < m->n; j++) {
    double d = m->data[j * m->n + j];
    for (int k = 0; k < j; k++) d -= m->data[j * m->n + k] * m->data[j * m->n + k];
    if (d <= 0) return -1;
    d = sqrt(d);
    m->data[j * m->n + j] = d;
    for (int i = j + 1; i < m->n; i++) {
      double s = m->data[i * m->n + j];
      for (int k = 0; k < j; k++) s -= m->data[i * m->n + k] * m->data[j * m->n + k];
      m->data[i * m->n + j] = s / d;
    }
  }
  return 0;
}

void fill(struct matrix *m) {
  for (int i = 0; i < m->n; i++) {
    for (int j = 0; j < m->n; j++) m->data[i * m->n + j] = 1.0 / (1 + abs(i - j));
    m->data[i * m->n + i] += m->n;
  }
}

int main(int argc, char **argv) {
  struct matrix m;
  m.n = argc > 1 ? atoi(argv[1]) : 1200;
  m.data = malloc(sizeof(double) * m.n * m.n);
  fill(&m);
  int status = factorize(&m);
  double trace = 0;
  for (int i = 0; i < m.n; i++) trace += m.data[i * m.n + i];
  printf("%d %.17g %.17g\n", status, trace, m.data[(m.n - 1) * m.n]);
  free(m.data);
  return 0;
}
