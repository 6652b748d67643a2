#include "benchmarks/bench.h"
#include "client/commands.h"

int main(int argc, char** argv) {
  return sous::client::run_program({argv + 1, argv + argc}, sous::benchmarks::bench_main);
}
