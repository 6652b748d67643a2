// Elements that are not aligned to their size, and pointers that are not to a vector.
// unaligned: served SSSS
// shifted: served SSSSSSSS
// packed_member: c.struct
// also: vectorize unaligned shifted; parallelize unaligned shifted
// march: x86-64-v3 x86-64-v2 x86-64
#include "semantics.h"
typedef double loose __attribute__((aligned(1)));
typedef int loose_int __attribute__((aligned(1)));
NOINLINE void unaligned(int n, loose *restrict x, const loose_int *restrict y) {
  for (int i = 0; i < n; i++) x[i] = x[i] * 2 + y[i];
}
NOINLINE void shifted(int n, float *restrict x, const float *restrict y) {
  for (int i = 0; i < n; i++) x[i] = y[i] * 3 + x[i];
}
struct __attribute__((packed)) packet { char tag; double values[9]; };
NOINLINE double packed_member(struct packet *p, int n) {
  double s = 0;
  for (int i = 0; i < n; i++) s += p[i].values[i];
  return s;
}
int main(void) {
  static char room[4000], other[4000];
  for (int shift = 1; shift < 8; shift += 2) {
    loose *x = (loose *)(room + shift);
    loose_int *y = (loose_int *)(other + shift);
    for (int i = 0; i < 50; i++) x[i] = i, y[i] = i * shift;
    unaligned(50, x, y);
    print_bytes("unaligned", room, sizeof room);
  }
  static float f[100], g[100];
  for (int shift = 0; shift < 8; shift++) {
    for (int i = 0; i < 100; i++) f[i] = i, g[i] = i + shift;
    shifted(60, f + shift, g + 9 - shift);
    print_bytes("shifted", f, sizeof f);
  }
  static struct packet p[3];
  for (int i = 0; i < 3; i++) p[i].values[i] = i + 0.5;
  printf("%g\n", packed_member(p, 3));
}
