#include "benchmarks/bench.h"
#include "client/blas_threads.h"
#include "client/commands.h"
#include "client/number_pool.h"

int main(int argc, char** argv) {
  sous::client::forget_spared_blas_threads();
  sous::client::pool_numbers();
  return sous::client::run_program({argv + 1, argv + argc}, sous::benchmarks::bench_main);
}
