#include "frontends/c/advice.h"

#include <algorithm>
#include <array>

namespace sous::frontends::c {
namespace {

struct Advice {
  std::string_view prefix;  // of a code, behind "c."
  std::string_view text;
};

// The first that fits counts.
constexpr auto table = std::to_array<Advice>({
    {"alias.scalar", "copy the scalar into a local variable before the loop"},
    {"alias", "declare the pointers restrict"},
    {"break", "a loop without other exits than its condition"},
    {"budget", "split the function"},
    {"call.unknown-effects", "move the call out of the loop, or its body into this file"},
    {"call", "move the call out of the loop"},
    {"goto", "a loop without jumps"},
    {"internal", "please report it"},
    {"member", "copy the member into a local variable before the loop"},
    {"pointer.to-pointer", "take the row's pointer out of the loop, or use one array"},
    {"return", "a loop without a return in it"},
});

}  // namespace

std::string_view advice(std::string_view code) {
  if (!code.starts_with("c.")) return "";
  const auto* found =
      std::ranges::find_if(table, [&](const Advice& a) { return code.substr(2).starts_with(a.prefix); });
  return found == table.end() ? "" : found->text;
}

}  // namespace sous::frontends::c
