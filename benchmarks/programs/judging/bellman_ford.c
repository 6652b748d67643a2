// The cheapest ways from one node of a graph that is a list of edges, some of which pay; stops when nothing changes.
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int from, to;
  int cost;
} edge;

#define UNREACHED 1000000000

static int relax(int m, const edge *edges, int *distance, int *before) {
  int changed = 0;
  for (int e = 0; e < m; e++) {
    int u = edges[e].from, v = edges[e].to;
    if (distance[u] == UNREACHED) continue;
    if (distance[u] + edges[e].cost < distance[v]) {
      distance[v] = distance[u] + edges[e].cost;
      before[v] = u;
      changed = 1;
    }
  }
  return changed;
}

static int rounds(int n, int m, const edge *edges, int source, int *distance, int *before) {
  for (int i = 0; i < n; i++) {
    distance[i] = UNREACHED;
    before[i] = -1;
  }
  distance[source] = 0;
  for (int r = 1; r < n; r++)
    if (!relax(m, edges, distance, before)) return r;
  return n;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 260000, m = 8 * n;
  edge *edges = malloc(m * sizeof *edges);
  int *distance = malloc(n * sizeof *distance), *before = malloc(n * sizeof *before);
  int *height = malloc(n * sizeof *height);
  unsigned long long s = 88172645463325252ULL;
  // The costs are those of climbing, and climbing down pays: no cycle gains anything.
  for (int i = 0; i < n; i++) height[i] = (i * 37) % 50;
  for (int e = 0; e < m; e++) {
    s ^= s << 13;
    s ^= s >> 7;
    s ^= s << 17;
    edges[e].from = (int)(s % (unsigned)n);
    edges[e].to = (int)((s >> 32) % (unsigned)n);
    edges[e].cost = 1 + (int)((s >> 20) % 60) + height[edges[e].to] - height[edges[e].from];
  }
  long long total = 0;
  int reached = 0, count = 0, farthest = 0;
  for (int source = 0; source < 3; source++) {
    count += rounds(n, m, edges, source * (n / 3), distance, before);
    for (int i = 0; i < n; i++) {
      if (distance[i] == UNREACHED) continue;
      reached++;
      total += distance[i] - height[i] + (before[i] >= 0 ? 1 : 0);
      if (distance[i] > farthest) farthest = distance[i];
    }
  }
  printf("%d %d %lld %d\n", count, reached, total, farthest);
  free(edges), free(distance), free(before), free(height);
  return 0;
}
