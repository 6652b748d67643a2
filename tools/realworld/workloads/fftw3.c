/* Transforms of several shapes, planned by estimate (measured plans would differ from run to run). */
#include <fftw3.h>
#include <stdio.h>

static double *data;

static void say(const char *what, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; ++i) sum += data[i] * (double)(i % 7);
  printf("%s %.17g\n", what, sum);
}

static void fill(size_t n) {
  unsigned state = 1;
  for (size_t i = 0; i < n; ++i) data[i] = (double)((state = state * 1103515245U + 12345U) >> 8) / (1 << 24) - 0.5;
}

static void run(const char *what, fftw_plan plan, size_t n, int times) {
  fill(n);
  for (int k = 0; k < times; ++k) {
    fftw_execute(plan);
    for (size_t i = 0; i < n; ++i) data[i] *= 1.0 / 64;
  }
  say(what, n);
  fftw_destroy_plan(plan);
}

int main(void) {
  enum { most = 1 << 22 };
  data = fftw_malloc(sizeof(double) * 2 * most);
  fftw_complex *z = (fftw_complex *)data;
  const int lines[] = {1024};
  run("1024, many", fftw_plan_many_dft(1, lines, 512, z, 0, 1, 1024, z, 0, 1, 1024, FFTW_FORWARD, FFTW_ESTIMATE),
      2 * 1024 * 512, 100);
  run("65536", fftw_plan_dft_1d(1 << 16, z, z, FFTW_FORWARD, FFTW_ESTIMATE), 2 << 16, 500);
  run("15015", fftw_plan_dft_1d(15015, z, z, FFTW_BACKWARD, FFTW_ESTIMATE), 2 * 15015, 1000);
  run("512 x 512", fftw_plan_dft_2d(512, 512, z, z, FFTW_FORWARD, FFTW_ESTIMATE), 2 * 512 * 512, 80);
  run("64 x 64 x 64", fftw_plan_dft_3d(64, 64, 64, z, z, FFTW_FORWARD, FFTW_ESTIMATE), 2 * 64 * 64 * 64, 80);
  run("cosines, 1000 x 800", fftw_plan_r2r_2d(1000, 800, data, data, FFTW_REDFT10, FFTW_REDFT10, FFTW_ESTIMATE),
      1000 * 800, 25);
  run("8191, a prime", fftw_plan_dft_1d(8191, z, z, FFTW_FORWARD, FFTW_ESTIMATE), 2 * 8191, 500);
  return 0;
}
