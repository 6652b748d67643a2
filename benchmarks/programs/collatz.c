// How many steps each number takes to 1 (Collatz), and how high it climbs.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void flights(int n, int *restrict steps, uint64_t *restrict top) {
  for (int i = 0; i < n; i++) {
    uint64_t k = i + 1, high = k;
    int count = 0;
    while (k != 1) {
      if (k % 2)
        k = 3 * k + 1;
      else
        k /= 2;
      if (k > high) high = k;
      count++;
      if (count == 1000) break;
    }
    steps[i] = count;
    top[i] = high;
  }
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 2000000;
  int *steps = malloc(sizeof *steps * n);
  uint64_t *top = malloc(sizeof *top * n), sum = 0;
  flights(n, steps, top);
  for (int i = 0; i < n; i++) sum = sum * 31 + steps[i] + top[i];
  printf("%llu\n", (unsigned long long)sum);
  free(steps), free(top);
  return 0;
}
