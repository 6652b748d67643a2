// A ray for each pixel against a handful of spheres: the nearest one, lit from above, with a shadow.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  double x, y, z;
} vec;

typedef struct {
  vec centre;
  double radius, brightness;
} sphere;

static vec sub(vec a, vec b) {
  vec r = {a.x - b.x, a.y - b.y, a.z - b.z};
  return r;
}
static vec along(vec o, vec d, double t) {
  vec r = {o.x + t * d.x, o.y + t * d.y, o.z + t * d.z};
  return r;
}
static double dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static vec unit(vec a) {
  double f = 1 / sqrt(dot(a, a));
  vec r = {a.x * f, a.y * f, a.z * f};
  return r;
}

/* The distance to the sphere, or a negative number. */
static double hit(const sphere *s, vec origin, vec direction) {
  vec oc = sub(origin, s->centre);
  double b = dot(oc, direction), c = dot(oc, oc) - s->radius * s->radius, d = b * b - c;
  if (d < 0) return -1;
  return -b - sqrt(d);
}

static double shade(const sphere *spheres, int count, vec origin, vec direction) {
  int nearest = -1;
  double best = 1e30;
  for (int i = 0; i < count; i++) {
    double t = hit(&spheres[i], origin, direction);
    if (t > 1e-6 && t < best) {
      best = t;
      nearest = i;
    }
  }
  if (nearest < 0) return 0.1 + 0.1 * direction.y;
  vec p = along(origin, direction, best), n = unit(sub(p, spheres[nearest].centre)), light = {0.3, 0.9, -0.3};
  light = unit(light);
  double lit = dot(n, light);
  if (lit < 0) return 0.02;
  for (int i = 0; i < count; i++)
    if (i != nearest && hit(&spheres[i], p, light) > 1e-6) return 0.02;
  return 0.02 + lit * spheres[nearest].brightness;
}

static void render(const sphere *spheres, int count, int n, float *image) {
  vec eye = {0, 0, -6};
  for (int y = 0; y < n; y++)
    for (int x = 0; x < n; x++) {
      vec d = {2.0 * x / n - 1, 1 - 2.0 * y / n, 1.5};
      image[y * n + x] = (float)shade(spheres, count, eye, unit(d));
    }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 2100;
  enum { count = 24 };
  sphere spheres[count];
  for (int i = 0; i < count; i++) {
    vec c = {(i % 6 - 2.5) * 1.2, (i / 6 - 1.5) * 1.2, i * 7 % 5};
    spheres[i].centre = c;
    spheres[i].radius = 0.3 + 0.1 * (i % 4);
    spheres[i].brightness = 0.4 + 0.05 * (i % 9);
  }
  float *image = malloc(sizeof(float) * n * n);
  render(spheres, count, n, image);
  double sum = 0;
  for (int i = 0; i < n * n; i++) sum += image[i];
  printf("%.12g %.9g\n", sum, image[n * n / 2 + n / 2]);
  free(image);
  return 0;
}
