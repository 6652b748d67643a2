// Exhaustive matching over a std::variant: match(v, [](const State&) {…}, [](const Loop&) {…}). Write no generic
// (auto) case: a new alternative then does not compile until every match knows it.
#pragma once

#include <utility>
#include <variant>

namespace sous {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};

template <class Variant, class... Fs>
decltype(auto) match(Variant&& variant, Fs&&... cases) {
  return std::visit(Overloaded<std::decay_t<Fs>...>{std::forward<Fs>(cases)...}, std::forward<Variant>(variant));
}

}  // namespace sous
