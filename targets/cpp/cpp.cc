// Target cpp: everything in order, readable. And the files of C++ that all targets that print C++ share.
#include "targets/cpp/cpp.h"

#include <algorithm>
#include <array>

#include "targets/cpp/caller.h"
#include "targets/cpp/printer.h"

namespace sous::targets {
namespace {

// What of Highway the vector loops need beyond targets/runtime/vectors.h, as the macro that has its header read; empty:
// nothing. Reading Highway takes two seconds.
std::string_view highway_macro(std::span<const Function> functions) {
  const auto uses = [&](const auto& words) {
    return std::ranges::any_of(functions, [&](const Function& function) {
      return std::ranges::any_of(words, [&](std::string_view word) { return function.code.contains(word); });
    });
  };
  constexpr std::array<std::string_view, 13> math{"hn::Exp(",   "hn::Expm1(", "hn::Log(", "hn::Log2(", "hn::Log10(",
                                                  "hn::Log1p(", "hn::Sin(",   "hn::Cos(", "hn::Sinh(", "hn::Tanh(",
                                                  "hn::Asin(",  "hn::Acos(",  "hn::Atan("};
  constexpr std::array<std::string_view, 3> narrow{"int8_t", "int16_t", "sous::to_integer("};
  if (uses(math)) return "SOUS_HIGHWAY_MATH";
  return uses(narrow) ? "SOUS_HIGHWAY" : "";
}

std::string cpp_file(std::span<const Function> functions, std::string_view comment) {
  std::string text = comment_lines(comment);
  text +=
      "// Generated; do not edit. Integer arithmetic wraps: compile with -fwrapv. Floating-point expressions are "
      "written in\n"
      "// the program's own order; whether a*b+c becomes one fma is left to the compiler's flags, as in the program.\n";
  // Whatever code of vectors there is names their types: without it reading Highway is a second of each compile.
  const bool vectors =
      std::ranges::any_of(functions, [](const Function& function) { return function.code.contains("hn::"); });
  if (vectors) {
    if (const auto macro = highway_macro(functions); !macro.empty()) text += "#define " + std::string(macro) + "\n";
    text += "#include \"targets/runtime/highway.h\"\n";
  } else {
    text += "#include \"targets/runtime/sous.h\"\n";
  }
  for (const Function& function : functions) text += "\n" + function.code;
  return text;
}

// The runtime's headers throw nothing, ask for no type at run time, and need no C++ library.
constexpr auto cpp_options =
    std::to_array<std::string_view>({"-x", "c++", "-std=c++20", "-fno-exceptions", "-fno-rtti", "-fwrapv",
                                     "-fno-threadsafe-statics", "-fno-asynchronous-unwind-tables", "-w"});

}  // namespace

constinit const Language cpp_language{
    .name = "C++", .suffix = "cpp", .options = cpp_options, .file = cpp_file, .caller = cpp_caller};

constinit const Target cpp_target{.name = "cpp",
                                  .summary = "plain C++, everything in order",
                                  .language = &cpp_language,
                                  .follows = {sdfg::Sequential{}, sdfg::Unroll{}},
                                  .in_order = {sdfg::Parallel{}, sdfg::Simd{}},
                                  .storages = host_storages,
                                  .print = [](const sdfg::Sdfg& sdfg, const EmitOptions& options) {
                                    return print_function(sdfg, options, Dialect{.target = cpp_target});
                                  }};

}  // namespace sous::targets
