// Compiles generated functions into a shared object, loads it and calls them on the interpreter's memory. Every buffer
// lies against a page that cannot be touched, in front of it or behind it, so that one element too far is a crash.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "sdfg/interp.h"
#include "sdfg/sdfg.h"
#include "targets/target.h"

namespace sous::tests {

// What clang 19 says of -march=native on processors with AVX10.1, whatever the code. Both compilers pass over what they
// do not know of it.
inline constexpr const char* no_warnings_of_the_processor =
    " -Wno-unknown-warning-option -Wno-invalid-feature-combination ";

// The text of one file with these functions. Those for a GPU run on the CPU (targets/runtime/gpu_emulated.h).
std::string source_file(const std::vector<targets::Function>& functions, std::string_view comment);

struct CompileOptions {
  std::string include_root;  // the repository, for targets/runtime/
  std::string compiler = "clang++-19";
  // Warnings are errors; no contraction, so that the interpreter's results are the same bits.
  std::string flags = "-O2 -march=native -fopenmp -fwrapv -ffp-contract=off -Wall -Wextra -Werror";
};

struct Generated {
  const sdfg::Sdfg* sdfg = nullptr;
  std::string function;  // the name of its entry
};

enum class GuardPage { Behind, InFront };

class GeneratedCode {
 public:
  // `source` is a whole file with the entries of all `functions`. Errors: test.compile (the compiler's output).
  static Result<GeneratedCode> compile(const std::string& source, std::vector<Generated> functions,
                                       const CompileOptions& options = {});
  GeneratedCode(GeneratedCode&& other) noexcept;
  GeneratedCode& operator=(GeneratedCode&&) = delete;
  ~GeneratedCode();

  // Of the source, null if it has none such.
  void* symbol(const char* name) const;
  // What the entry returned, called with these addresses.
  int call(std::size_t function, const std::vector<void*>& arguments) const;
  // The same on the interpreter's memory. Argument containers that `memory` lacks are a failure of the caller.
  int run(std::size_t function, sdfg::Memory& memory, GuardPage guard = GuardPage::Behind) const;

 private:
  GeneratedCode() = default;
  std::filesystem::path folder_;
  void* library_ = nullptr;
  std::vector<Generated> functions_;
};

}  // namespace sous::tests
