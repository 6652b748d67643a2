// k-means: every point to its nearest centre, every centre to the mean of its points.
#include <float.h>
#include <stdio.h>
#include <stdlib.h>

enum { DIM = 8 };
struct point {
  float at[DIM];
  int cluster;
};

int assign(struct point *p, int n, float (*centre)[DIM], int k) {
  int changed = 0;
  for (int i = 0; i < n; i++) {
    int best = 0;
    float nearest = FLT_MAX;
    for (int c = 0; c < k; c++) {
      float d = 0;
      for (int j = 0; j < DIM; j++) {
        float diff = p[i].at[j] - centre[c][j];
        d += diff * diff;
      }
      if (d < nearest) {
        nearest = d;
        best = c;
      }
    }
    changed += best != p[i].cluster;
    p[i].cluster = best;
  }
  return changed;
}

void update(const struct point *p, int n, float (*centre)[DIM], int *size, int k) {
  for (int c = 0; c < k; c++) {
    size[c] = 0;
    for (int j = 0; j < DIM; j++) centre[c][j] = 0;
  }
  for (int i = 0; i < n; i++) {
    size[p[i].cluster]++;
    for (int j = 0; j < DIM; j++) centre[p[i].cluster][j] += p[i].at[j];
  }
  for (int c = 0; c < k; c++)
    for (int j = 0; j < DIM; j++)
      if (size[c] > 0) centre[c][j] /= size[c];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 300000, k = 16;
  struct point *p = malloc(n * sizeof *p);
  float (*centre)[DIM] = malloc(k * sizeof *centre);
  int *size = malloc(k * sizeof *size);
  for (int i = 0; i < n; i++) {
    p[i].cluster = -1;
    for (int j = 0; j < DIM; j++) p[i].at[j] = (float)((i * 131 + j * 71 + i % 16 * 40) % 977);
  }
  for (int c = 0; c < k; c++)
    for (int j = 0; j < DIM; j++) centre[c][j] = p[c].at[j];
  int changed = 0;
  for (int round = 0; round < 10; round++) {
    changed = assign(p, n, centre, k);
    update(p, n, centre, size, k);
  }
  printf("%d %d %.9g\n", changed, size[0], centre[k - 1][DIM - 1]);
  free(p), free(centre), free(size);
  return 0;
}
