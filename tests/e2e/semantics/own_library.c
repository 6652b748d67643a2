// In functions that compilers call for loops like these, they make no such call; elsewhere they would call for ever.
// memset: c.function.library
// memcpy: c.function.library
// fill: c.function.library
// clear: served S
typedef unsigned long size_t;
int printf(const char *, ...);
void *memset(void *d, int c, size_t n) {
  unsigned char *p = d;
  for (size_t i = 0; i < n; i++) p[i] = c;
  return d;
}
void *memcpy(void *restrict d, const void *restrict s, size_t n) {
  unsigned char *p = d;
  const unsigned char *q = s;
  for (size_t i = 0; i < n; i++) p[i] = q[i];
  return d;
}
__attribute__((noinline, no_builtin("memset"))) void fill(int n, char *x, int c) {
  for (int i = 0; i < n; i++) x[i] = c;
}
__attribute__((noinline)) void clear(int n, char *x) {
  for (int i = 0; i < n; i++) x[i] = 0;
}
int main(void) {
  static char a[100], b[100];
  volatile int n = 50;
  memset(a, 7, n);
  memcpy(b, a, n);
  fill(n, a, 3);
  clear(n - 1, b);
  printf("%d %d %d %d\n", a[49], a[50], b[48], b[49]);
}
