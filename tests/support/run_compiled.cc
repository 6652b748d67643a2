#include "tests/support/run_compiled.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "sdfg/scalar_eval.h"
#include "tests/support/generated.h"

namespace sous::tests {
namespace {

using namespace sdfg;

// Bytes on each side of an argument that a function must leave alone.
constexpr std::size_t guard_bytes = 256;
constexpr std::byte guard_value{0xA5};

}  // namespace

CompiledBatch::CompiledBatch(const std::vector<CompiledCase>& cases, const CompilerCommand& command) {
  std::vector<targets::Function> emitted(cases.size());
  std::vector<std::size_t> which;
  functions_.resize(cases.size());
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const targets::Target* target = targets::find_target(cases[k].target);
    SOUS_ASSERT(target != nullptr);
    targets::EmitOptions options = cases[k].options;
    options.function = "f" + std::to_string(k);
    functions_[k].sdfg = cases[k].sdfg;
    auto function = target->emit(cases[k].sdfg, options);
    if (!function) {
      functions_[k].error = function.error();
      continue;
    }
    emitted[k] = std::move(*function);
    which.push_back(k);
  }
  if (!which.empty()) compile(which, emitted, command);
}

void CompiledBatch::compile(const std::vector<std::size_t>& which, const std::vector<targets::Function>& emitted,
                            const CompilerCommand& command) {
  std::vector<targets::Function> functions;
  std::vector<Generated> generated;
  for (const std::size_t k : which) {
    functions.push_back(emitted[k]);
    generated.push_back({&functions_[k].sdfg, "f" + std::to_string(k)});
  }
  auto code =
      GeneratedCode::compile(source_file(functions, "nests under test"), generated,
                             {.include_root = SOUS_SOURCE_DIR, .compiler = command.compiler, .flags = command.flags});
  if (code) {
    const auto library = std::make_shared<const GeneratedCode>(std::move(*code));
    for (std::size_t n = 0; n < which.size(); ++n) {
      functions_[which[n]].library = library;
      functions_[which[n]].index = n;
    }
    return;
  }
  if (which.size() == 1) {
    functions_[which[0]].error = Error{"compiled.compiler", code.error().why.substr(0, 2000), ""};
    return;
  }
  const auto middle = which.begin() + static_cast<long>(which.size() / 2);
  compile({which.begin(), middle}, emitted, command);
  compile({middle, which.end()}, emitted, command);
}

Result<Memory> CompiledBatch::run(std::size_t k, const Memory& memory) const {
  const Function& function = functions_[k];
  if (function.error) return std::unexpected(*function.error);
  Memory result = memory;
  std::map<std::string, std::vector<std::byte>> guarded;
  std::vector<void*> arguments;
  for (const std::string& name : function.sdfg.arguments) {
    if (const auto symbol = result.symbols.find(name); symbol != result.symbols.end()) {
      arguments.push_back(&symbol->second);
      continue;
    }
    const std::vector<std::byte>& bytes = memory.buffers.at(name).bytes;
    std::vector<std::byte>& space = guarded[name];
    space.assign(bytes.size() + 2 * guard_bytes, guard_value);
    std::memcpy(space.data() + guard_bytes, bytes.data(), bytes.size());
    arguments.push_back(space.data() + guard_bytes);
  }
  if (function.library->call(function.index, arguments) == 0)
    return fail("compiled.declined", "the function returned 0");
  for (const auto& [name, space] : guarded) {
    std::vector<std::byte>& bytes = result.buffers.at(name).bytes;
    std::memcpy(bytes.data(), space.data() + guard_bytes, bytes.size());
    for (std::size_t g = 0; g < guard_bytes; ++g) {
      if (space[g] != guard_value || space[space.size() - 1 - g] != guard_value) {
        return fail("compiled.overrun", "bytes beside '" + name + "' were written");
      }
    }
  }
  forget_dead(function.sdfg, result);
  return result;
}

std::optional<std::string> difference(const Memory& expected, const Memory& actual, double tolerance) {
  for (const auto& [name, left] : expected.buffers) {
    const auto other = actual.buffers.find(name);
    if (other == actual.buffers.end() || other->second.bytes.size() != left.bytes.size())
      return name + ": no such buffer";
    const auto size = static_cast<std::size_t>(info(left.type).bytes);
    for (std::size_t at = 0; at < left.bytes.size(); at += size) {
      if (std::memcmp(&left.bytes[at], &other->second.bytes[at], size) == 0) continue;
      std::uint64_t a = 0;
      std::uint64_t b = 0;
      std::memcpy(&a, &left.bytes[at], size);
      std::memcpy(&b, &other->second.bytes[at], size);
      std::ostringstream text;
      text.precision(17);
      text << name << "[" << at / size << "]: ";
      if (is_float(left.type)) {
        const double x = real_from_bits(a, left.type);
        const double y = real_from_bits(b, left.type);
        if (std::isnan(x) && std::isnan(y)) continue;
        if (std::fabs(x - y) <= tolerance * std::max({std::fabs(x), std::fabs(y), 1.0})) continue;
        text << x << " expected, " << y << " found";
      } else {
        text << static_cast<std::int64_t>(canonical_bits(left.type, a)) << " expected, "
             << static_cast<std::int64_t>(canonical_bits(left.type, b)) << " found";
      }
      return text.str();
    }
  }
  return std::nullopt;
}

}  // namespace sous::tests
