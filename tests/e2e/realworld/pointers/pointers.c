/* Every walk with every pair of small sizes, on arrays that are apart, that overlap, and that are the same. */
#include <stdio.h>
#include <string.h>

#include "walks.h"

enum { size = 400 };

static unsigned long run(long (*walk)(int, int, const int *, int *)) {
  static const int sizes[] = {-3, 0, 1, 2, 3, 5, 8, 13};
  static int memory[2 * size];
  unsigned long hash = 1469598103934665603ul;
  for (unsigned a = 0; a < sizeof sizes / sizeof *sizes; a++)
    for (unsigned b = 0; b < sizeof sizes / sizeof *sizes; b++)
      for (int at = 0; at < 4; at++) {
        static const int distance[] = {size, 0, 3, 20};
        for (int i = 0; i < 2 * size; i++) memory[i] = (i * 37 + 11) % 41 - 20;
        const long result = walk(sizes[a], sizes[b], memory + 4, memory + 4 + distance[at]);
        hash = (hash ^ (unsigned long)result) * 1099511628211ul;
        for (int i = 0; i < 2 * size; i++) hash = (hash ^ (unsigned)memory[i]) * 1099511628211ul;
      }
  return hash;
}

int main(void) {
#define RUN(name) printf("OUTPUT " #name " %016lx\n", run(name));
  WALKS(RUN)
  return 0;
}
