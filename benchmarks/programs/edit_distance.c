// Levenshtein distance of two words, whole table.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int least(int a, int b, int c) {
  int m = a < b ? a : b;
  return m < c ? m : c;
}

int distance(const char *s, const char *t, int n, int m, int *d) {
  int w = m + 1;
  for (int i = 0; i <= n; i++) d[i * w] = i;
  for (int j = 0; j <= m; j++) d[j] = j;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= m; j++) {
      int cost = s[i - 1] == t[j - 1] ? 0 : 1;
      d[i * w + j] = least(d[(i - 1) * w + j] + 1, d[i * w + j - 1] + 1, d[(i - 1) * w + j - 1] + cost);
    }
  return d[n * w + m];
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 9000, m = n + n / 10;
  char *s = malloc(n), *t = malloc(m);
  for (int i = 0; i < n; i++) s[i] = 'a' + i * 7 % 13;
  for (int i = 0; i < m; i++) t[i] = 'a' + i * 5 % 11;
  int *d = malloc(sizeof(int) * (n + 1) * (m + 1));
  printf("%d\n", distance(s, t, n, m, d));
  free(d), free(s), free(t);
  return 0;
}
