// What class most of the nearest neighbours of a point have: squared distances to all examples, then the k smallest by
// insertion.
#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#define DIMENSIONS 24
#define K 5

struct example {
  float at[DIMENSIONS];
  int label;
};

static unsigned state = 2024;

static float noise(void) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return (float)(state % 10000) / 10000;
}

static void distances(const struct example *set, int n, const float *query, float *out) {
  for (int i = 0; i < n; i++) {
    float sum = 0;
    for (int d = 0; d < DIMENSIONS; d++) {
      float diff = set[i].at[d] - query[d];
      sum += diff * diff;
    }
    out[i] = sum;
  }
}

static int vote(const struct example *set, const float *distance, int n, int classes) {
  float best[K];
  int who[K], votes[16] = {0}, winner = 0;
  for (int k = 0; k < K; k++) best[k] = FLT_MAX, who[k] = -1;
  for (int i = 0; i < n; i++) {
    if (distance[i] >= best[K - 1]) continue;
    int k = K - 1;
    while (k > 0 && best[k - 1] > distance[i]) {
      best[k] = best[k - 1];
      who[k] = who[k - 1];
      k--;
    }
    best[k] = distance[i];
    who[k] = i;
  }
  for (int k = 0; k < K; k++)
    if (who[k] >= 0) votes[set[who[k]].label]++;
  for (int c = 1; c < classes; c++)
    if (votes[c] > votes[winner]) winner = c;
  return winner;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 28000, queries = n / 20, classes = 8;
  struct example *set = malloc(n * sizeof *set);
  float *distance = malloc(n * sizeof *distance);
  int right = 0;
  long mix = 0;
  for (int i = 0; i < n; i++) {
    set[i].label = i % classes;
    for (int d = 0; d < DIMENSIONS; d++) set[i].at[d] = noise() + 0.2f * ((set[i].label >> (d % 3)) & 1);
  }
  for (int q = 0; q < queries; q++) {
    float query[DIMENSIONS];
    int label = q % classes;
    for (int d = 0; d < DIMENSIONS; d++) query[d] = noise() + 0.2f * ((label >> (d % 3)) & 1);
    distances(set, n, query, distance);
    int found = vote(set, distance, n, classes);
    right += found == label;
    mix += found * (q % 7 + 1);
  }
  printf("%d of %d, %ld\n", right, queries, mix);
  free(set);
  free(distance);
  return 0;
}
