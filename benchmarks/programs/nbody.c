// All pairs of bodies attract each other: an array of structures.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  double x, y, z;
  double vx, vy, vz;
  double mass;
} body;

void attract(int n, body *b, double dt) {
  for (int i = 0; i < n; i++) {
    double ax = 0, ay = 0, az = 0;
    for (int j = 0; j < n; j++) {
      double dx = b[j].x - b[i].x, dy = b[j].y - b[i].y, dz = b[j].z - b[i].z;
      double d2 = dx * dx + dy * dy + dz * dz + 1e-6;
      double f = b[j].mass / (d2 * sqrt(d2));
      ax += f * dx;
      ay += f * dy;
      az += f * dz;
    }
    b[i].vx += dt * ax;
    b[i].vy += dt * ay;
    b[i].vz += dt * az;
  }
}

void move(int n, body *b, double dt) {
  for (int i = 0; i < n; i++) {
    b[i].x += dt * b[i].vx;
    b[i].y += dt * b[i].vy;
    b[i].z += dt * b[i].vz;
  }
}

double energy(int n, const body *b) {
  double e = 0;
  for (int i = 0; i < n; i++)
    e += 0.5 * b[i].mass * (b[i].vx * b[i].vx + b[i].vy * b[i].vy + b[i].vz * b[i].vz);
  return e;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 3000;
  body *b = malloc(n * sizeof *b);
  for (int i = 0; i < n; i++) {
    body it = {i % 17 * 0.7, i % 23 * 0.3, i % 11 * 0.9, 0, 0, 0, 1.0 + i % 5};
    b[i] = it;
  }
  for (int step = 0; step < 5; step++) {
    attract(n, b, 0.01);
    move(n, b, 0.01);
  }
  printf("%.17g %.17g\n", energy(n, b), b[n / 2].x);
  free(b);
  return 0;
}
