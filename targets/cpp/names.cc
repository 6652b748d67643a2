#include "targets/cpp/names.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace sous::targets {
namespace {

// Keywords, names that generated code itself uses, and lower-case macros of the C library or of GNU modes. Sorted.
constexpr std::array reserved = std::to_array<std::string_view>({"NULL",        "abort",        "aligned_alloc",
                                                                 "alignas",     "alignof",      "and",
                                                                 "and_eq",      "asm",          "assert",
                                                                 "auto",        "bitand",       "bitor",
                                                                 "blockDim",    "blockIdx",     "bool",
                                                                 "break",       "case",         "catch",
                                                                 "char",        "char16_t",     "char32_t",
                                                                 "char8_t",     "class",        "co_await",
                                                                 "co_return",   "co_yield",     "compl",
                                                                 "concept",     "const",        "const_cast",
                                                                 "consteval",   "constexpr",    "constinit",
                                                                 "continue",    "decltype",     "default",
                                                                 "delete",      "dim3",         "do",
                                                                 "double",      "dynamic_cast", "else",
                                                                 "enum",        "errno",        "explicit",
                                                                 "export",      "extern",       "false",
                                                                 "float",       "for",          "free",
                                                                 "friend",      "goto",         "gridDim",
                                                                 "hn",          "hwy",          "i386",
                                                                 "if",          "inline",       "int",
                                                                 "int16_t",     "int32_t",      "int64_t",
                                                                 "int8_t",      "linux",        "long",
                                                                 "mutable",     "namespace",    "new",
                                                                 "noexcept",    "not",          "not_eq",
                                                                 "nullptr",     "operator",     "or",
                                                                 "or_eq",       "private",      "protected",
                                                                 "public",      "register",     "reinterpret_cast",
                                                                 "requires",    "return",       "short",
                                                                 "signed",      "size_t",       "sizeof",
                                                                 "sous",        "static",       "static_assert",
                                                                 "static_cast", "std",          "stderr",
                                                                 "stdin",       "stdout",       "struct",
                                                                 "switch",      "template",     "this",
                                                                 "threadIdx",   "thread_local", "throw",
                                                                 "true",        "try",          "typedef",
                                                                 "typeid",      "typename",     "uint16_t",
                                                                 "uint32_t",    "uint64_t",     "uint8_t",
                                                                 "union",       "unix",         "unsigned",
                                                                 "using",       "virtual",      "void",
                                                                 "volatile",    "warpSize",     "wchar_t",
                                                                 "while",       "xor",          "xor_eq"});

bool is_reserved(std::string_view name) {
  if (std::ranges::find(reserved, name) != reserved.end()) return true;
  // Names that macros of system headers have: all capitals and longer than an array's name usually is, with a digit or
  // an underscore in them (INT64_MAX, M_PI, HWY_ATTR), and a few without.
  const bool capitals =
      std::ranges::all_of(name, [](unsigned char c) { return std::isupper(c) || std::isdigit(c) || c == '_'; });
  return capitals && (name.contains('_') || name == "NAN" || name == "INFINITY" || name == "EOF" || name == "BUFSIZ");
}

}  // namespace

const std::string& Names::of(const std::string& name) {
  const auto found = given_.find(name);
  if (found != given_.end()) return found->second;
  return given_.emplace(name, fresh(name)).first->second;
}

std::string Names::fresh(std::string_view hint) {
  std::string base;
  for (const unsigned char c : hint) {
    const char kept = std::isalnum(c) && c < 128 ? static_cast<char>(c) : '_';
    if (kept == '_' && base.ends_with('_')) continue;  // two underscores in a row are the implementation's
    base += kept;
  }
  while (base.starts_with('_')) base.erase(0, 1);
  if (base.empty() || std::isdigit(static_cast<unsigned char>(base[0]))) base = "v" + base;
  if (is_reserved(base)) base += base.ends_with('_') ? "v" : "_v";
  std::string name = base;
  for (int k = 1; !used_.insert(name).second; ++k) name = base + (base.ends_with('_') ? "" : "_") + std::to_string(k);
  return name;
}

}  // namespace sous::targets
