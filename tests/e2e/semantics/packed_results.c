// What a nest hands back lies in a struct that the program's own packing must not change.
// flags: | -fpack-struct=1
// narrow: served S
// several: served S
// wide: served S
#pragma pack(1)
int printf(const char *, ...);
__attribute__((noinline)) short narrow(int n, const short *x) {
  short s = 3;
  for (int i = 0; i < n; i++) s += x[i];
  return s;
}
__attribute__((noinline)) int several(int n, const short *x) {
  short s = 3;
  unsigned char c = 250;
  for (int i = 0; i < n; i++) s += x[i], c += x[i];
  return s * 256 + c;
}
__attribute__((noinline)) double wide(int n, const short *x) {
  short s = 3;
  double d = 0.5;
  for (int i = 0; i < n; i++) s += x[i], d = x[i] > d ? x[i] : d;
  return s + d;
}
int main(void) {
  short x[100];
  for (int i = 0; i < 100; i++) x[i] = i * 77;
  printf("%d %d %g\n", narrow(100, x), several(100, x), wide(100, x));
}
