// For each key the first row of a table that holds it, and how long its run of equal entries is.
#include <stdio.h>
#include <stdlib.h>

void lookup(int keys, int rows, const int *restrict key, const int *restrict table, int *restrict at,
            int *restrict run) {
  for (int i = 0; i < keys; i++) {
    int found = -1, length = 0;
    for (int j = 0; j < rows; j++)
      if (table[j] == key[i]) {
        found = j;
        break;
      }
    if (found >= 0) {
      int j = found;
      while (j < rows && table[j] == key[i]) j++;
      length = j - found;
    }
    at[i] = found;
    run[i] = length;
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 20000;
  int *key = malloc(sizeof *key * n), *table = malloc(sizeof *key * n), *at = malloc(sizeof *key * n),
      *run = malloc(sizeof *key * n);
  for (int i = 0; i < n; i++) key[i] = i * 7919 % n, table[i] = i / 3 * 31 % n;
  lookup(n, n, key, table, at, run);
  unsigned long sum = 0;
  for (int i = 0; i < n; i++) sum = sum * 31 + at[i] * 5 + run[i];
  printf("%lu\n", sum);
  free(key), free(table), free(at), free(run);
  return 0;
}
