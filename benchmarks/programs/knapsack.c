// 0/1 knapsack: the table over items and capacity, and the same in one row.
#include <stdio.h>
#include <stdlib.h>

long full(int items, int capacity, const int *weight, const int *value, long *best) {
  int row = capacity + 1;
  for (int c = 0; c <= capacity; c++) best[c] = 0;
  for (int i = 1; i <= items; i++)
    for (int c = 0; c <= capacity; c++) {
      best[i * row + c] = best[(i - 1) * row + c];
      if (c >= weight[i - 1]) {
        long with = best[(i - 1) * row + c - weight[i - 1]] + value[i - 1];
        if (with > best[i * row + c]) best[i * row + c] = with;
      }
    }
  return best[items * row + capacity];
}

long rolling(int items, int capacity, const int *weight, const int *value, long *best) {
  for (int c = 0; c <= capacity; c++) best[c] = 0;
  for (int i = 0; i < items; i++)
    for (int c = capacity; c >= weight[i]; c--)
      if (best[c - weight[i]] + value[i] > best[c]) best[c] = best[c - weight[i]] + value[i];
  return best[capacity];
}

int main(int argc, char **argv) {
  int items = argc > 1 ? atoi(argv[1]) : 400, capacity = items * 100;
  int *weight = malloc(items * sizeof *weight), *value = malloc(items * sizeof *value);
  for (int i = 0; i < items; i++) {
    weight[i] = 5 + i * 37 % 211;
    value[i] = 10 + i * 53 % 97;
  }
  long *table = malloc(sizeof(long) * (items + 1) * (capacity + 1)), *row = malloc(sizeof(long) * (capacity + 1));
  printf("%ld %ld\n", full(items, capacity, weight, value, table), rolling(items, capacity, weight, value, row));
  return 0;
}
