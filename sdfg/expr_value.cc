// Values of symbolic expressions.
#include <algorithm>

#include "sdfg/expr.h"
#include "sdfg/floor_division.h"

namespace sous::sdfg {

namespace {

using Symbols = std::map<std::string, std::int64_t>;

std::optional<std::int64_t> evaluate_atom(const Atom& a, const Symbols& symbols, const Expr::ReadValue& read) {
  std::vector<std::int64_t> args;
  for (const Expr& arg : a.args) {
    auto value = arg.evaluate(symbols, read);
    if (!value) return std::nullopt;
    args.push_back(*value);
  }
  switch (a.kind) {
    case AtomKind::Symbol: {
      auto it = symbols.find(a.name);
      if (it == symbols.end()) return std::nullopt;
      return it->second;
    }
    case AtomKind::FloorDiv:
      if (args[1] == 0 || (args[0] == INT64_MIN && args[1] == -1)) return std::nullopt;
      return floor_div_int(args[0], args[1]);
    case AtomKind::Mod:
      if (args[1] == 0 || (args[0] == INT64_MIN && args[1] == -1)) return std::nullopt;
      return floor_mod_int(args[0], args[1]);
    case AtomKind::Min:
      return std::min(args[0], args[1]);
    case AtomKind::Max:
      return std::max(args[0], args[1]);
    case AtomKind::Read:
      return read ? read(a.name, args) : std::nullopt;
  }
  __builtin_unreachable();
}

}  // namespace

std::optional<std::int64_t> Expr::evaluate(const Symbols& symbols, const ReadValue& read) const {
  if (!is_valid()) return std::nullopt;
  std::int64_t sum = constant_term();
  for (const Term& t : terms()) {
    std::int64_t product = t.coefficient;
    for (const Atom& a : t.atoms) {
      auto value = evaluate_atom(a, symbols, read);
      if (!value || __builtin_mul_overflow(product, *value, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

}  // namespace sous::sdfg
