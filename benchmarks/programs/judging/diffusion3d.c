// Diffusion in a box of any conductivity, explicit in time; the box is one flat array.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct box {
  int nx, ny, nz;
  double *t;      // temperature
  double *next;   // of the following step
  double *alpha;  // how well each cell conducts
};

#define IDX(x, y, z) (((z) * ny + (y)) * nx + (x))

static void step(struct box *b, double dt) {
  int nx = b->nx, ny = b->ny, nz = b->nz;
  const double *t = b->t, *alpha = b->alpha;
  double *next = b->next;
  for (int z = 1; z < nz - 1; z++)
    for (int y = 1; y < ny - 1; y++)
      for (int x = 1; x < nx - 1; x++) {
        double centre = t[IDX(x, y, z)];
        double laplace = t[IDX(x - 1, y, z)] + t[IDX(x + 1, y, z)] + t[IDX(x, y - 1, z)] + t[IDX(x, y + 1, z)] +
                         t[IDX(x, y, z - 1)] + t[IDX(x, y, z + 1)] - 6.0 * centre;
        next[IDX(x, y, z)] = centre + dt * alpha[IDX(x, y, z)] * laplace;
      }
}

static void swap(struct box *b) {
  double *tmp = b->t;
  b->t = b->next;
  b->next = tmp;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 176, steps = 60;
  struct box b;
  b.nx = n;
  b.ny = n - n / 8;
  b.nz = n - n / 4;
  int nx = b.nx, ny = b.ny, nz = b.nz, cells = nx * ny * nz;
  b.t = malloc(cells * sizeof(double));
  b.next = malloc(cells * sizeof(double));
  b.alpha = malloc(cells * sizeof(double));
  if (!b.t || !b.next || !b.alpha) return 1;
  for (int z = 0; z < nz; z++)
    for (int y = 0; y < ny; y++)
      for (int x = 0; x < nx; x++) {
        double dx = x - nx / 2.0, dy = y - ny / 3.0, dz = z - nz / 2.0;
        b.t[IDX(x, y, z)] = 100.0 / (1.0 + dx * dx + dy * dy + dz * dz);
        b.alpha[IDX(x, y, z)] = x > nx / 2 ? 0.7 : 1.0;
      }
  for (int i = 0; i < cells; i++) b.next[i] = b.t[i];
  for (int s = 0; s < steps; s++) {
    step(&b, 0.1);
    swap(&b);
  }
  double heat = 0, hottest = b.t[0];
  for (int i = 0; i < cells; i++) {
    heat += b.t[i];
    if (b.t[i] > hottest) hottest = b.t[i];
  }
  printf("%.17g %.17g %.17g\n", heat, hottest, b.t[IDX(nx / 2, ny / 2, nz / 2)]);
  free(b.t);
  free(b.next);
  free(b.alpha);
  return 0;
}
