// Rows that are no multiples of each other: whether the parts of a row fit into it is asked on entry.
// heads: served SSOOO
// groups: served SSO
// also: parallelize heads groups
#include "semantics.h"
NOINLINE void heads(int n, int row, int count, int size, int *restrict to, const int *restrict from) {
  for (int i = 0; i < n; i++)
    for (int h = 0; h < count; h++)
      for (int k = 0; k < size; k++) to[i * row + h * size + k] = from[k] * 3 + i * 100 + h * 10;
}
NOINLINE void groups(int n, int all, int count, int each, int w, int *restrict to, const int *restrict from) {
  for (int i = 0; i < n; i++)
    for (int g = 0; g < count; g++)
      for (int o = 0; o < each; o++)
        for (int x = 0; x < w; x++) {
          int s = from[g * each + o];
          for (int k = 0; k < 3; k++) s += k * (x + g + o + i);
          to[((i * all + g * each + o) * w) + x] = s;
        }
}
int main(void) {
  static int to[4000], from[64];
  for (int i = 0; i < 64; i++) from[i] = i * 37 % 101;
  heads(5, 12, 3, 4, to, from);  // they fill it
  print_ints("full", to, 70);
  heads(5, 14, 3, 4, to, from);  // room is left
  print_ints("room", to, 80);
  heads(5, 11, 3, 4, to, from);  // the last of one row is the first of the next
  print_ints("over", to, 70);
  heads(0, 1, 3, 4, to, from);   // nothing is there
  heads(3, 2, 4, 3, to, from);
  print_ints("far over", to, 40);
  groups(3, 8, 2, 4, 5, to, from);
  groups(3, 9, 2, 4, 5, to, from);
  groups(3, 7, 2, 4, 5, to, from);
  print_ints("groups", to, 200);
}
