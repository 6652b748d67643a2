// Flow past a plate by the lattice Boltzmann method: nine velocities in two dimensions, single relaxation time, walls
// that bounce back, periodic to the left and right.
#include <stdio.h>
#include <stdlib.h>

#define Q 9
static const int ex[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const int ey[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const int opposite[Q] = {0, 3, 4, 1, 2, 7, 8, 5, 6};
static const double weight[Q] = {4. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 9, 1. / 36, 1. / 36, 1. / 36, 1. / 36};

static int width, height;
static double *f[Q], *g[Q];
static unsigned char *solid;

static double equilibrium(int q, double rho, double ux, double uy) {
  double eu = ex[q] * ux + ey[q] * uy;
  return weight[q] * rho * (1 + 3 * eu + 4.5 * eu * eu - 1.5 * (ux * ux + uy * uy));
}

static void collide(double omega, double force) {
  for (int y = 0; y < height; y++)
    for (int x = 0; x < width; x++) {
      int c = y * width + x;
      if (solid[c]) continue;
      double rho = 0, ux = 0, uy = 0;
      for (int q = 0; q < Q; q++) {
        rho += f[q][c];
        ux += ex[q] * f[q][c];
        uy += ey[q] * f[q][c];
      }
      ux = ux / rho + force;
      uy = uy / rho;
      for (int q = 0; q < Q; q++) f[q][c] += omega * (equilibrium(q, rho, ux, uy) - f[q][c]);
    }
}

static void stream(void) {
  for (int y = 1; y < height - 1; y++)
    for (int x = 0; x < width; x++)
      for (int q = 0; q < Q; q++) {
        int from_x = (x - ex[q] + width) % width, from_y = y - ey[q];
        if (solid[from_y * width + from_x])
          g[q][y * width + x] = f[opposite[q]][y * width + x];
        else
          g[q][y * width + x] = f[q][from_y * width + from_x];
      }
  for (int q = 0; q < Q; q++) {
    double *t = f[q];
    f[q] = g[q];
    g[q] = t;
  }
}

int main(int argc, char **argv) {
  width = argc > 1 ? atoi(argv[1]) : 720;
  height = width / 2;
  int cells = width * height, steps = 60;
  solid = calloc(cells, 1);
  for (int q = 0; q < Q; q++) {
    f[q] = malloc(sizeof(double) * cells);
    g[q] = malloc(sizeof(double) * cells);
    for (int c = 0; c < cells; c++) f[q][c] = g[q][c] = equilibrium(q, 1.0, 0.05, 0.0);
  }
  for (int x = 0; x < width; x++) solid[x] = solid[(height - 1) * width + x] = 1;
  for (int y = height / 4; y < height / 2; y++) solid[y * width + width / 4] = 1;
  for (int s = 0; s < steps; s++) {
    collide(1.2, 1e-5);
    stream();
  }
  double mass = 0, flow = 0, mixed = 0;
  for (int c = 0; c < cells; c++) {
    if (solid[c]) continue;
    for (int q = 0; q < Q; q++) {
      mass += f[q][c];
      flow += ex[q] * f[q][c];
    }
    mixed += f[2][c] * f[5][c] * (c % 3 + 1);
  }
  printf("%.17g %.17g %.17g\n", mass, flow, mixed);
  for (int q = 0; q < Q; q++) free(f[q]), free(g[q]);
  free(solid);
  return 0;
}
