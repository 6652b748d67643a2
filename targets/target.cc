#include "targets/target.h"

#include <algorithm>
#include <array>

#include "targets/cpp/cpp.h"
#include "targets/cpp/text.h"
#include "targets/highway/highway.h"
#include "targets/openmp/openmp.h"

namespace sous::targets {
namespace {

constexpr std::array all = {
    Target{"cpp", "plain C++, everything in order", emit_cpp, false},
    Target{"highway", "parallel loops on OpenMP, SIMD loops as Highway vectors", emit_highway, true},
    Target{"openmp", "parallel loops on OpenMP, SIMD loops as omp simd", emit_openmp, true},
};

// What of Highway the vector loops need beyond targets/runtime/vectors.h, as the macro that has its header read; empty:
// nothing. Reading Highway takes two seconds.
std::string_view highway_macro(const std::vector<std::string>& functions) {
  const auto uses = [&](const auto& words) {
    return std::ranges::any_of(functions, [&](const std::string& function) {
      return std::ranges::any_of(words, [&](std::string_view word) { return function.contains(word); });
    });
  };
  constexpr std::array<std::string_view, 13> math{"hn::Exp(",   "hn::Expm1(", "hn::Log(", "hn::Log2(", "hn::Log10(",
                                                  "hn::Log1p(", "hn::Sin(",   "hn::Cos(", "hn::Sinh(", "hn::Tanh(",
                                                  "hn::Asin(",  "hn::Acos(",  "hn::Atan("};
  constexpr std::array<std::string_view, 3> narrow{"int8_t", "int16_t", "sous::to_integer("};
  if (uses(math)) return "SOUS_HIGHWAY_MATH";
  return uses(narrow) ? "SOUS_HIGHWAY" : "";
}

}  // namespace

std::span<const Target> targets() { return all; }

const Target* find_target(std::string_view name) {
  const auto found = std::ranges::find(all, name, &Target::name);
  return found == all.end() ? nullptr : found;
}

std::string source_file(const std::vector<std::string_view>& target_names, const std::vector<std::string>& functions,
                        std::string_view comment) {
  std::string text = comment_lines(comment);
  text +=
      "// Generated; do not edit. Integer arithmetic wraps: compile with -fwrapv. Floating-point expressions are "
      "written in\n"
      "// the program's own order; whether a*b+c becomes one fma is left to the compiler's flags, as in the program.\n";
  // Whatever code of vectors there is names their types: without it reading Highway is a second of each compile.
  const bool vectors = std::ranges::find(target_names, "highway") != target_names.end() &&
                       std::ranges::any_of(functions, [](const std::string& f) { return f.contains("hn::"); });
  if (vectors) {
    if (const auto macro = highway_macro(functions); !macro.empty()) text += "#define " + std::string(macro) + "\n";
    text += "#include \"targets/runtime/highway.h\"\n";
  } else {
    text += "#include \"targets/runtime/sous.h\"\n";
  }
  for (const std::string& function : functions) text += "\n" + function;
  return text;
}

}  // namespace sous::targets
