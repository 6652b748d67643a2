// Poisson's equation by Gauss and Seidel's sweeps, forward and backward in turns, until the residual is small or
// patience is at an end.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double sweep_forward(int n, double u[n][n], double f[n][n], double h2) {
  double change = 0;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      double v = 0.25 * (u[i - 1][j] + u[i][j - 1] + u[i + 1][j] + u[i][j + 1] + h2 * f[i][j]);
      change += fabs(v - u[i][j]);
      u[i][j] = v;
    }
  return change;
}

static void sweep_backward(int n, double u[n][n], double f[n][n], double h2) {
  for (int i = n - 2; i >= 1; i--)
    for (int j = n - 2; j >= 1; j--)
      u[i][j] = 0.25 * (u[i - 1][j] + u[i][j - 1] + u[i + 1][j] + u[i][j + 1] + h2 * f[i][j]);
}

static double residual(int n, double u[n][n], double f[n][n], double h2) {
  double worst = 0;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      double r = h2 * f[i][j] - 4 * u[i][j] + u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1];
      if (fabs(r) > worst) worst = fabs(r);
    }
  return worst;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 780, sweeps = 0;
  double(*u)[n] = calloc((size_t)n * n, sizeof(double)), (*f)[n] = malloc(sizeof(double) * n * n);
  double h2 = 1.0 / ((double)(n - 1) * (n - 1)), change = 0;
  if (!u || !f) return 1;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) f[i][j] = (i - n / 2) * (j - n / 3) > 0 ? 5.0 : -2.0;
    u[i][0] = sin(3.0 * i / n);
    u[0][i] = 0.5 * i / n;
  }
  do {
    change = sweep_forward(n, u, f, h2);
    sweep_backward(n, u, f, h2);
    sweeps++;
  } while (change > 1e-6 * n && sweeps < 60);
  double sum = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) sum += u[i][j] * (1 + (i + j) % 3);
  printf("%d %.17g %.17g %.12g\n", sweeps, change, sum, residual(n, u, f, h2));
  free(u);
  free(f);
  return 0;
}
