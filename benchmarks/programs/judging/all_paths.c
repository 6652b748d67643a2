// The shortest ways between all pairs of towns, and which town comes next on each.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define FAR (INT_MAX / 4)

struct roads {
  int n;
  int *length;  // n * n
  int *next;    // n * n; -1: there is no way
};

static void relax(struct roads *r) {
  int n = r->n;
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++) {
      if (r->length[i * n + k] == FAR) continue;
      for (int j = 0; j < n; j++) {
        int through = r->length[i * n + k] + r->length[k * n + j];
        if (through < r->length[i * n + j]) {
          r->length[i * n + j] = through;
          r->next[i * n + j] = r->next[i * n + k];
        }
      }
    }
}

/* How many towns the way from a to b passes. */
static int hops(const struct roads *r, int a, int b) {
  int count = 0;
  if (r->next[a * r->n + b] < 0) return -1;
  while (a != b) {
    a = r->next[a * r->n + b];
    count++;
  }
  return count;
}

int main(int argc, char **argv) {
  struct roads r;
  r.n = argc > 1 ? atoi(argv[1]) : 1000;
  int n = r.n;
  r.length = malloc(sizeof(int) * n * n);
  r.next = malloc(sizeof(int) * n * n);
  for (int i = 0; i < n * n; i++) {
    r.length[i] = FAR;
    r.next[i] = -1;
  }
  unsigned s = 99;
  for (int i = 0; i < n; i++) {
    for (int e = 0; e < 6; e++) {
      s = s * 1664525u + 1013904223u;
      int j = (int)((s >> 8) % (unsigned)n), length = 1 + (int)((s >> 4) % 97u);
      r.length[i * n + j] = length;
      r.next[i * n + j] = j;
    }
    r.length[i * n + i] = 0;
    r.next[i * n + i] = i;
  }
  relax(&r);
  long long sum = 0, steps = 0;
  int longest = 0, unreachable = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      int d = r.length[i * n + j];
      if (d >= FAR) {
        unreachable++;
        continue;
      }
      sum += d;
      if (d > longest) longest = d;
      if ((i + j) % 16 == 0) steps += hops(&r, i, j);
    }
  printf("%lld %lld %d %d\n", sum, steps, longest, unreachable);
  free(r.length);
  free(r.next);
  return 0;
}
