// What threads have copies of lies on their stacks: little, however many arrays a nest combines into.
// counts: served S
// also: parallelize counts
#include <pthread.h>
#include "semantics.h"
enum { n = 200000 };
static unsigned values[n];
static unsigned long low[4096], high[4096], middle[2048];
NOINLINE void counts(int m, const unsigned *x) {
  for (int i = 0; i < m; i++) {
    unsigned v = x[i] * 2654435761u;
    low[v & 4095] += 1;
    high[v >> 20] += i;
    middle[v >> 7 & 2047] ^= v;
  }
}
static void *run(void *unused) {
  counts(n, values);
  return unused;
}
int main(void) {
  for (int i = 0; i < n; i++) values[i] = i * 2654435761u;
  pthread_attr_t small;
  pthread_t thread;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 49152);
  if (pthread_create(&thread, &small, run, 0) != 0) return 1;
  pthread_join(thread, 0);
  unsigned long sum = 0;
  for (int i = 0; i < 4096; i++) sum = sum * 31 + low[i] + high[i] + middle[i & 2047];
  printf("%lu\n", sum);
}
