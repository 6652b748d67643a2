// Target cpp: everything in order, readable. And the files of C++ that all targets that print C++ share.
#include "targets/cpp/cpp.h"

#include <algorithm>

#include "targets/cpp/caller.h"
#include "targets/cpp/printer.h"

namespace sous::targets {
namespace {

std::string_view includes(Vectors vectors) {
  switch (vectors) {
    case Vectors::None:
      return "#include \"targets/runtime/sous.h\"\n";
    case Vectors::Common:
      return "#include \"targets/runtime/highway.h\"\n";
    case Vectors::All:
      return "#define SOUS_HIGHWAY\n#include \"targets/runtime/highway.h\"\n";
    case Vectors::Mathematics:
      return "#define SOUS_HIGHWAY_MATH\n#include \"targets/runtime/highway.h\"\n";
  }
  __builtin_unreachable();
}

std::string cpp_file(std::span<const Function> functions, std::string_view comment) {
  std::string text = comment_lines(comment);
  text +=
      "// Generated; do not edit. Integer arithmetic wraps: compile with -fwrapv. Floating-point expressions are "
      "written in\n"
      "// the program's own order; whether a*b+c becomes one fma is left to the compiler's flags, as in the program.\n";
  Vectors vectors = Vectors::None;
  for (const Function& function : functions) vectors = std::max(vectors, function.vectors);
  text += includes(vectors);
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
