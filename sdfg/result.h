// Errors as values.
//
// Whatever input can cause is a Result<T>; a broken invariant of our own aborts (SOUS_ASSERT, always on) and is never
// reachable from input. Our code throws nothing.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <expected>
#include <string>
#include <utility>

namespace sous {

// What went wrong. `code` is stable and documented (docs/errors.md): "area.kebab-case", e.g. "tile.not-permutable".
// `why` is one sentence for a person. `where` names the place ("file:line:column", a loop, a route), or is empty.
struct Error {
  std::string code;
  std::string why;
  std::string where = {};

  bool operator==(const Error&) const = default;
  // "where: why [code]"
  std::string to_string() const { return (where.empty() ? "" : where + ": ") + why + " [" + code + "]"; }
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> fail(std::string code, std::string why, std::string where = {}) {
  return std::unexpected(Error{std::move(code), std::move(why), std::move(where)});
}

// Says what was broken and ends the program: for invariants only.
[[noreturn]] inline void panic(const char* file, int line, const char* what) {
  std::fprintf(stderr, "sous: internal error: %s:%d: %s\n", file, line, what);
  std::abort();
}

}  // namespace sous

#define SOUS_ASSERT(condition) ((condition) ? void() : ::sous::panic(__FILE__, __LINE__, #condition))

#define SOUS_CONCAT_(a, b) a##b
#define SOUS_CONCAT(a, b) SOUS_CONCAT_(a, b)
// TRY(auto x, f()): x is the value of f(), or the enclosing function returns f()'s error.
#define TRY(declaration, ...) TRY_(SOUS_CONCAT(try_result_, __COUNTER__), declaration, __VA_ARGS__)
#define TRY_(temporary, declaration, ...)                               \
  auto temporary = (__VA_ARGS__);                                       \
  if (!temporary) return std::unexpected(std::move(temporary).error()); \
  declaration = std::move(*temporary)
// TRY_VOID(f()): the same for a Result<void>.
#define TRY_VOID(...)                                                                             \
  do {                                                                                            \
    if (auto try_result = (__VA_ARGS__); !try_result) return std::unexpected(try_result.error()); \
  } while (false)
