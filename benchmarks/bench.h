// `sous bench`: the harness's commands.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/options.h"
#include "sdfg/result.h"

namespace sous::benchmarks {

// `arguments`: what stands behind "sous bench". Returns the exit status: 0, 1 where something was slower, wrong or
// could not be built, 2 for a command line that makes no sense.
int bench_main(const std::vector<std::string>& arguments);
// What `sous bench` without arguments prints.
std::string bench_help();

// The commands. An int is an exit status; an error is printed by bench_main.
Result<int> bench_suite(const std::string& suite, const Options& options);
Result<int> bench_demo(const Options& options);
Result<int> bench_verify(const Options& options);
Result<int> bench_compile_time(const Options& options);
Result<int> bench_asm(const Options& options);
Result<int> bench_report(const Options& options);
Result<int> bench_compare(const Options& options);
Result<int> bench_keep(const Options& options);
Result<int> bench_spellings(const Options& options);
Result<int> bench_shapes(const Options& options);
Result<int> bench_transfer(const Options& options);
Result<int> bench_gains(const Options& options);
Result<int> bench_train(const Options& options);
Result<int> bench_serve(const Options& options);

}  // namespace sous::benchmarks
