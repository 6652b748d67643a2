// fork after a parallel region, before one, and from a thread; children run nests, too.
// work: served *
// also: parallelize work
// runs: OMP_NUM_THREADS=1 | OMP_NUM_THREADS=3
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
#include "semantics.h"
NOINLINE void work(int n, double *x, const double *y) {
  for (int i = 0; i < n; i++) x[i] = x[i] * 0.5 + y[i];
}
static double x[3000], y[3000];
static int child(int depth) {
  fflush(stdout);
  pid_t pid = fork();
  if (pid == 0) {
    for (int k = 0; k < 3; k++) work(3000, x, y);
    int below = depth ? child(depth - 1) : 0;
    work(3000, x, y);
    printf("child %d %a %d\n", depth, x[2999], below);
    fflush(stdout);
    _exit(depth + 5);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}
static void *from_thread(void *result) {
  work(3000, x, y);
  *(int *)result = child(0);
  return 0;
}
int main(void) {
  for (int i = 0; i < 3000; i++) y[i] = i;
  printf("%d\n", child(0));
  work(3000, x, y);
  printf("%d\n", child(2));
  work(3000, x, y);
  int result = 0;
  pthread_t thread;
  pthread_create(&thread, 0, from_thread, &result);
  pthread_join(thread, 0);
  printf("%d\n", result);
  work(3000, x, y);
  printf("%d %a\n", child(0), x[1]);
}
