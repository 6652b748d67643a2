// Volatile and atomic objects, calls that may write anything, jumps into and out of nests, setjmp, inline assembly,
// thread-local variables: left alone, each with its reason.
// volatile_value: c.volatile
// volatile_counter: c.loop.form
// volatile_bound: c.volatile
// volatile_member: c.volatile
// volatile_cast: c.volatile
// atomic_sum: c.volatile
// atomic_array: c.volatile
// atomic_builtin: c.expression
// sync_builtin: c.call.unknown-effects
// thread_local_sum: c.thread-local
// unknown_call: c.pointer
// writes_global: served S
// through_pointer: c.call.pointer
// jumps_in: c.goto
// duff: c.switch
// jumps_out: c.call.unknown-effects
// assembly: c.asm
// recovered: served SS
// known_writer: served S
// neighbours: served SSS
#include <setjmp.h>
#include <stdatomic.h>
#include "semantics.h"
static volatile int v = 3;
NOINLINE int volatile_value(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) s += v;
  return s;
}
NOINLINE int volatile_counter(int n, int *x) {
  volatile int i;
  for (i = 0; i < n; i++) x[i] = i;
  return i;
}
NOINLINE void volatile_bound(volatile int *n, int *restrict x) {
  for (int i = 0; i < *n; i++) x[i] += i;
}
struct device { volatile int status; int data[4]; };
NOINLINE int volatile_member(int n, struct device *d) {
  int s = 0;
  for (int i = 0; i < n; i++) s += d->status + d->data[i];
  return s;
}
NOINLINE void volatile_cast(int n, int *x) {
  for (int i = 0; i < n; i++) ((volatile int *)x)[i] = i;
}
static _Atomic int total;
static atomic_int slots[10];
NOINLINE void atomic_sum(int n, const int *x) {
  for (int i = 0; i < n; i++) total += x[i];
}
NOINLINE void atomic_array(int n) {
  for (int i = 0; i < n; i++) slots[i] = i;
}
NOINLINE void atomic_builtin(int n, int *x) {
  for (int i = 0; i < n; i++) x[i] = __atomic_load_n(&x[i], __ATOMIC_SEQ_CST) + 1;
}
NOINLINE void sync_builtin(int n, int *x) {
  for (int i = 0; i < n; i++) x[i] = __sync_fetch_and_add(&x[0], 1);
}
static _Thread_local double mine;
NOINLINE double thread_local_sum(int n, const double *x) {
  for (int i = 0; i < n; i++) mine += x[i];
  return mine;
}
extern void changes_everything(double *);
double scale = 2, *where;
NOINLINE void unknown_call(int n, double *x) {
  for (int i = 0; i < n; i++) {
    x[i] *= scale;
    changes_everything(&x[i]);
  }
}
NOINLINE void writes_global(int n, double *x) {
  for (int i = 0; i < n; i++) {
    changes_everything(0);
    x[i] = scale;
  }
}
static void doubles(void) { scale *= 2; }
NOINLINE void known_writer(int n, double *restrict x) {
  for (int i = 0; i < n; i++) {
    doubles();
    x[i] = scale;
  }
}
NOINLINE void through_pointer(int n, double *x, void (*f)(double *)) {
  for (int i = 0; i < n; i++) f(x + i);
}
NOINLINE void jumps_in(int n, int *x) {
  int i = 3;
  goto middle;
  for (i = 0; i < n; i++) {
    x[i] = 1;
  middle:
    x[i] += 2;
  }
}
NOINLINE void duff(int n, int *to, const int *from) {
  int rounds = (n + 3) / 4;
  for (int k = 0; k < 1; k++) switch (n % 4) {
    case 0: do { *to++ = *from++;
    case 3: *to++ = *from++;
    case 2: *to++ = *from++;
    case 1: *to++ = *from++;
    } while (--rounds > 0);
  }
}
static jmp_buf back;
static void jump(int i) {
  if (i == 5) longjmp(back, 1);
}
NOINLINE void jumps_out(int n, int *x) {
  for (int i = 0; i < n; i++) {
    x[i] = 40 + i;
    jump(i);
  }
}
NOINLINE int recovered(int n, int *restrict x) {
  volatile int before = 1;
  int s = 0;
  for (int i = 0; i < n; i++) x[i] = i;
  if (setjmp(back)) return before + x[5] + x[6];
  before = 100;
  for (int i = 0; i < n; i++) s += x[i];
  jumps_out(n, x);
  return s;
}
NOINLINE void assembly(int n, int *x) {
  for (int i = 0; i < n; i++) {
    x[i] = 1;
    __asm__ volatile("" ::: "memory");
  }
}
NOINLINE int neighbours(int n, int *restrict x) {
  for (int i = 0; i < n; i++) x[i] = i;
  v++;
  for (int i = 0; i < n; i++) x[i] += v > 0;
  changes_everything(0);
  int s = 0;
  for (int i = 0; i < n; i++) s += x[i];
  total = s;
  for (int i = 0; i < n; i++) x[i] ^= s;
  return total;
}
void changes_everything(double *p) {
  scale += 0.5;
  if (p) p[1] -= scale;
}
int main(void) {
  int x[60] = {0};
  double d[61] = {1};
  struct device device = {7, {1, 2, 3, 4}};
  volatile int bound = 9;
  printf("%d %d\n", volatile_value(10), volatile_counter(10, x));
  volatile_bound(&bound, x);
  printf("%d\n", volatile_member(4, &device));
  volatile_cast(12, x);
  atomic_sum(10, x), atomic_array(10), atomic_builtin(20, x), sync_builtin(20, x);
  printf("%d %d %g\n", total, slots[3], thread_local_sum(10, d));
  unknown_call(50, d), writes_global(3, d + 55), known_writer(9, d + 2), through_pointer(10, d + 20, changes_everything);
  print_doubles("d", d, 61);
  jumps_in(20, x), duff(17, x + 20, x), assembly(4, x);
  int r = recovered(20, x);
  printf("%d %d\n", r, neighbours(30, x));
  print_ints("x", x, 60);
}
