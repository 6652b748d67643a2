// With -fno-strict-aliasing, pointers to different types may overlap too.
// flags: -fno-strict-aliasing
// bits: served OS
// members: served O
#include "semantics.h"
NOINLINE void bits(int n, unsigned *u, float *f) {
  for (int i = 0; i < n; i++) {
    f[i] = f[i] * 3 + 1;
    u[i] ^= 0x80000000u;
  }
}
struct row { int n; float *data; };
NOINLINE void members(struct row *r, float *x) {
  for (int i = 0; i < r->n; i++) x[i] = 0;
}
int main(void) {
  float f[40];
  for (int i = 0; i < 40; i++) f[i] = i;
  bits(20, (unsigned *)f + 1, f);
  bits(20, (unsigned *)f + 20, f);
  print_floats("bits", f, 40);
  int memory[12] = {10};
  struct row *r = (struct row *)memory;
  members(r, (float *)memory);
  print_ints("members", memory, 12);
}
