// The longest common subsequence of two strings: the table, then the way back through it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *random_string(int n, unsigned *state) {
  static const char letters[] = "ACGT";
  char *s = malloc(n + 1);
  for (int i = 0; i < n; i++) {
    *state = *state * 1664525u + 1013904223u;
    s[i] = letters[(*state >> 24) % 4];
  }
  s[n] = '\0';
  return s;
}

static int **new_table(int rows, int columns) {
  int **t = malloc(rows * sizeof *t);
  for (int i = 0; i < rows; i++) t[i] = calloc(columns, sizeof **t);
  return t;
}

static void lengths(const char *a, int n, const char *b, int m, int **t) {
  for (int i = n - 1; i >= 0; i--)
    for (int j = m - 1; j >= 0; j--) {
      if (a[i] == b[j])
        t[i][j] = t[i + 1][j + 1] + 1;
      else if (t[i + 1][j] >= t[i][j + 1])
        t[i][j] = t[i + 1][j];
      else
        t[i][j] = t[i][j + 1];
    }
}

/* Follows the table from its beginning; returns how many letters it wrote. */
static int walk(const char *a, int n, const char *b, int m, int **t, char *out) {
  int i = 0, j = 0, k = 0;
  while (i < n && j < m) {
    if (a[i] == b[j]) {
      out[k++] = a[i];
      i++;
      j++;
    } else if (t[i + 1][j] >= t[i][j + 1]) {
      i++;
    } else {
      j++;
    }
  }
  out[k] = '\0';
  return k;
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 9000, m = n - n / 10;
  unsigned state = 7;
  char *a = random_string(n, &state), *b = random_string(m, &state);
  int **t = new_table(n + 1, m + 1);
  lengths(a, n, b, m, t);
  char *common = malloc(m + 1);
  int k = walk(a, n, b, m, t, common);
  unsigned hash = 5381;
  for (int i = 0; i < k; i++) hash = hash * 33u + (unsigned char)common[i];
  printf("%d %d %u %.20s\n", t[0][0], k, hash, common);
  for (int i = 0; i <= n; i++) free(t[i]);
  free(t);
  free(a);
  free(b);
  free(common);
  return 0;
}
