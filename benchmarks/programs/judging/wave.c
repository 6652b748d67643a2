// Waves on a membrane that is clamped at its rim and damped a little: three time levels as static arrays.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 1600

static double now[MOST][MOST], before[MOST][MOST], after[MOST][MOST];

static void drop(int n, double x0, double y0, double height) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      double dx = (double)i / n - x0, dy = (double)j / n - y0;
      double lift = height * exp(-300 * (dx * dx + dy * dy));
      now[i][j] += lift;
      before[i][j] += lift;
    }
}

static void advance(int n, double c2, double damping) {
  int i, j;
  for (i = 1; i < n - 1; i++)
    for (j = 1; j < n - 1; j++) {
      double laplace = now[i + 1][j] + now[i - 1][j] + now[i][j + 1] + now[i][j - 1] - 4 * now[i][j];
      after[i][j] = (2 - damping) * now[i][j] - (1 - damping) * before[i][j] + c2 * laplace;
    }
  for (i = 1; i < n - 1; i++)
    for (j = 1; j < n - 1; j++) {
      before[i][j] = now[i][j];
      now[i][j] = after[i][j];
    }
}

static double energy(int n) {
  double e = 0;
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++) {
      double v = now[i][j] - before[i][j];
      e += v * v + now[i][j] * now[i][j] * 0.01;
    }
  return e;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 900;
  if (n > MOST) n = MOST;
  drop(n, 0.3, 0.4, 1.0);
  printf("%.17g\n", energy(n));
  for (int step = 1; step <= 120; step++) {
    advance(n, 0.2, 0.001);
    if (step == 50) drop(n, 0.7, 0.6, -0.5);
    if (step % 40 == 0) printf("%.17g\n", energy(n));
  }
  printf("%.17g %.17g\n", now[n / 2][n / 2], now[n / 3][n / 5]);
  return 0;
}
