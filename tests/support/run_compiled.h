// Runs what the targets emit: many functions in one C++ file, one compiler run, one shared library.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sdfg/interp.h"
#include "sdfg/sdfg.h"
#include "targets/target.h"
#include "tests/support/generated.h"

namespace sous::tests {

// No contraction, as the interpreter computes. What is written for a GPU says itself what may become one operation
// (SOUS_ROUNDS_PRODUCTS: two, all the same).
inline targets::EmitOptions exact_options(std::string_view target) {
  targets::EmitOptions options;
  options.contract = targets::find_target(target)->has_gpu();
  return options;
}

struct CompiledCase {
  sdfg::Sdfg sdfg;
  std::string target;
  targets::EmitOptions options = exact_options(target);  // `function` is set by the batch
};

struct CompilerCommand {
  std::string compiler = "clang++-19";
  // No contraction and wrapping integers, as the interpreter computes; threads even for a few iterations; warnings in
  // generated code are failures.
  std::string flags =
      "-std=c++20 -O1 -march=native -ffp-contract=off -fwrapv -fopenmp -DSOUS_PARALLEL_FROM=0 "
      "-DSOUS_ROUNDS_PRODUCTS -Wall -Wextra -Werror";
};

class CompiledBatch {
 public:
  // Never fails as a whole: what cannot be emitted or compiled is an error of its case. A file that does not compile is
  // split until the functions at fault are alone.
  explicit CompiledBatch(const std::vector<CompiledCase>& cases, const CompilerCommand& command = {});

  // Calls the function of case k with a copy of `memory`.
  // Errors: those of the target's emit, compiled.compiler (what it said), compiled.declined (the
  // function returned 0), compiled.overrun (it wrote outside of an argument).
  Result<sdfg::Memory> run(std::size_t k, const sdfg::Memory& memory) const;

 private:
  struct Function {
    std::optional<Error> error;
    std::shared_ptr<const GeneratedCode> library;
    std::size_t index = 0;  // in the library
    sdfg::Sdfg sdfg;
  };
  void compile(const std::vector<std::size_t>& which, const std::vector<targets::Function>& emitted,
               const CompilerCommand& command);

  std::vector<Function> functions_;
};

// Where two memories differ ("A[3]: 1.5 here, 2.5 there"); nullopt if bit for bit equal, NaNs being equal to each
// other. Floats may differ by `tolerance`, relative to the larger of the two and 1.
std::optional<std::string> difference(const sdfg::Memory& expected, const sdfg::Memory& actual, double tolerance = 0);

}  // namespace sous::tests
