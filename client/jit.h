// A graph compiled and loaded into this process: the door for front ends that have neither files nor a launcher.
//
// It takes the way of every nest: recipes come from the sources, are proven on this graph and guarded. Where a call
// does not meet a guard, or no recipe was found, the graph itself runs, in order.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "client/pipeline.h"
#include "sdfg/sdfg.h"

namespace sous::client {

struct JitOptions {
  // How the program that calls is compiled: the compiler (of C and C++), its options, what they say of the code.
  Meaning meaning = {.compiler = "clang-19", .cpp_code = {"-O3", "-march=native"}};
  std::map<std::string, std::int64_t> sizes = {};  // of symbols that have the same value in each call
  OpenSources open_sources = {};                   // of recipes; null: none
};

class LoadedFunction {
 public:
  // `arguments`: in the order of the graph's, the addresses of the symbols' values (std::int64_t), of the scalars and
  // of the arrays' first elements. From several threads at once, as far as the arrays allow it. Errors: jit.arguments
  // (another number of them), jit.declined (an assumption of the graph does not hold, arrays that must not overlap do,
  // or there is no memory; nothing is changed then).
  Result<void> operator()(std::span<void* const> arguments) const;
  // What became of the graph, and why.
  const NestReport& report() const { return report_; }

 private:
  friend Result<LoadedFunction> compile(const sdfg::Sdfg& sdfg, const JitOptions& options);
  using Entry = int (*)(void* const* arguments);
  std::vector<Entry> entries_;  // the first that takes the call runs
  std::size_t arguments_ = 0;
  NestReport report_;
};

// What is loaded stays so until the process ends: threads of its runtime may be in it. Errors: sdfg.* (the graph is
// malformed), target.* (it cannot be expressed), jit.compile (the compiler refused what was generated), jit.load,
// client.* (no compiler, no folder).
Result<LoadedFunction> compile(const sdfg::Sdfg& sdfg, const JitOptions& options = {});

}  // namespace sous::client
