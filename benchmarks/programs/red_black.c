// Gauss-Seidel in two colours on a grid of any spacing.
#include <stdio.h>
#include <stdlib.h>

void colour(int n, int parity, double (*u)[n], const double (*f)[n]) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1 + (i + parity) % 2; j < n - 1; j += 2)
      u[i][j] = 0.25 * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - f[i][j]);
}

void coarse(int n, int step, double *restrict u, const double *restrict f) {
  for (int i = step; i < n - step; i += step)
    for (int j = step; j < n - step; j += step)
      u[i * n + j] = 0.25 * (u[(i - step) * n + j] + u[(i + step) * n + j] + u[i * n + j - step] +
                             u[i * n + j + step] - f[i * n + j]);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 1200;
  double (*u)[n] = calloc((size_t)n * n, sizeof(double)), (*f)[n] = calloc((size_t)n * n, sizeof(double)), sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) f[i][j] = (i * j) % 5 * 0.01, u[i][j] = (i + j) % 3;
  for (int step = 8; step > 1; step /= 2) coarse(n, step, u[0], f[0]);
  for (int k = 0; k < 20; k++) {
    colour(n, 0, u, f);
    colour(n, 1, u, f);
  }
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum += u[i][j] * (j % 5 + 1);
  printf("%.17g\n", sum);
  free(u), free(f);
  return 0;
}
