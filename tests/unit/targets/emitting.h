// From the text of a graph to its generated code, run beside the interpreter.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "sdfg/interp.h"
#include "sdfg/text.h"
#include "targets/target.h"
#include "tests/support/generated.h"
#include "tests/support/random_nest.h"

namespace sous::targets {

inline sdfg::Sdfg parsed(std::string_view text) {
  const auto result = sdfg::parse(text);
  if (!result) ADD_FAILURE() << result.error().to_string();
  return result.value_or(sdfg::Sdfg{});
}

inline Function emitted_function(const std::string& target, const sdfg::Sdfg& graph, const EmitOptions& options = {}) {
  const auto result = find_target(target)->emit(graph, options);
  if (!result) ADD_FAILURE() << result.error().to_string();
  return result.value_or(Function{find_target(target), "", {}});
}

inline std::string emitted(const std::string& target, const sdfg::Sdfg& graph, const EmitOptions& options = {}) {
  return emitted_function(target, graph, options).code;
}

inline std::vector<std::string> target_names() {
  std::vector<std::string> names;
  for (const Target* target : targets()) names.emplace_back(target->name);
  return names;
}

// Runs the interpreter and every target, compiled by both compilers, on random memory, once per value of each symbol in
// `sizes` (all symbols get the same), and expects equal bytes. With `tolerance`, floats of reductions may differ by it.
inline void expect_like_interpreter(const std::string& text, const std::vector<std::int64_t>& sizes,
                                    EmitOptions options = {.contract = false},
                                    std::vector<std::string> only = target_names()) {
  const sdfg::Sdfg graph = parsed(text);
  // A GPU does not do all that C++ does.
  std::erase_if(only, [&](const std::string& name) {
    const Target* target = find_target(name);
    return target->has_gpu() && !target->emit(graph, options);
  });
  std::vector<Function> functions;
  std::vector<tests::Generated> generated;
  for (const std::string& target : only) {
    options.function = "run_" + target;
    functions.push_back(emitted_function(target, graph, options));
    generated.push_back({&graph, options.function});
  }
  const std::string source = tests::source_file(functions, "test");
  for (const std::string compiler : {"clang++-19", "g++-12"}) {
    tests::CompileOptions how{.include_root = SOUS_SOURCE_DIR, .compiler = compiler};
    // Another instruction set than this machine's: SOUS_MARCH=x86-64-v3
    if (const char* march = std::getenv("SOUS_MARCH")) how.flags += std::string(" -march=") + march;
    const auto code = tests::GeneratedCode::compile(source, generated, how);
    ASSERT_TRUE(code) << code.error().why;
    for (const std::int64_t size : sizes) {
      sdfg::Memory before = tests::random_memory(graph, 1);
      for (auto& [name, value] : before.symbols) value = size;
      for (auto& [name, buffer] : before.buffers) {
        const auto elements = sdfg::store_size(graph, name, before.symbols);
        ASSERT_TRUE(elements);
        const sdfg::Buffer values = buffer;
        buffer.bytes.resize(static_cast<std::size_t>(*elements * sdfg::info(buffer.type).bytes));
        for (std::size_t k = 0; k < buffer.bytes.size() && !values.bytes.empty(); ++k) {
          buffer.bytes[k] = values.bytes[k % values.bytes.size()];
        }
      }
      sdfg::Memory expected = before;
      const auto interpreted = sdfg::interpret(graph, expected);
      ASSERT_TRUE(interpreted) << interpreted.error().to_string();
      for (std::size_t k = 0; k < only.size(); ++k) {
        for (const auto guard : {tests::GuardPage::Behind, tests::GuardPage::InFront}) {
          sdfg::Memory actual = before;
          EXPECT_EQ(code->run(k, actual, guard), 1);
          for (const auto& [name, buffer] : expected.buffers) {
            EXPECT_TRUE(actual.buffers.at(name) == buffer)
                << name << " differs, size " << size << ", " << only[k] << ", " << compiler << "\n"
                << functions[k].code;
          }
        }
      }
    }
  }
}

}  // namespace sous::targets
