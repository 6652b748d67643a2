#include "frontends/c/advice.h"

#include <algorithm>
#include <array>

namespace sous::frontends::c {
namespace {

struct Advice {
  std::string_view prefix;  // of a code
  std::string_view text;
};

// The first that fits counts.
constexpr auto table = std::to_array<Advice>({
    {"c.alias.scalar", "copy the scalar into a local variable before the loop"},
    {"c.alias", "declare the pointers restrict"},
    {"c.break", "a loop without other exits than its condition"},
    {"c.budget", "split the function"},
    {"c.call.unknown-effects", "move the call out of the loop, or its body into this file"},
    {"c.call", "move the call out of the loop"},
    {"c.goto", "a loop without jumps"},
    {"c.internal", "please report it"},
    {"c.member", "copy the member into a local variable before the loop"},
    {"c.pointer.to-pointer", "take the row's pointer out of the loop, or use one array"},
    {"c.return", "a loop without a return in it"},
});

}  // namespace

std::string_view advice(std::string_view code) {
  const auto* found = std::ranges::find_if(table, [&](const Advice& a) { return code.starts_with(a.prefix); });
  return found == table.end() ? "" : found->text;
}

}  // namespace sous::frontends::c
