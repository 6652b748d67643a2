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
  text += std::ranges::find(target_names, "highway") != target_names.end() ? "#include \"targets/runtime/highway.h\"\n"
                                                                           : "#include \"targets/runtime/sous.h\"\n";
  for (const std::string& function : functions) text += "\n" + function;
  return text;
}

}  // namespace sous::targets
