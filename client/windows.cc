#include "client/windows.h"

#include <algorithm>
#include <vector>

#include "tuning-db/nest_facts.h"

namespace sous::client {
namespace {

using sdfg::Expr;

// Whether one of the two moves what the expression says as the other does.
bool slides(const Expr& e, const std::string& a, const std::string& b) {
  const auto of_a = sdfg::coefficient_of(e, a), of_b = sdfg::coefficient_of(e, b);
  return of_a && of_b && *of_a != Expr(0) && (*of_a == *of_b || *of_a == -*of_b);
}

bool asks_for_both(const sdfg::ScalarExpr& condition, const std::string& a, const std::string& b) {
  if (condition.op == sdfg::ScalarOp::symbolic && condition.symbolic.uses(a) && condition.symbolic.uses(b)) return true;
  return std::ranges::any_of(condition.args, [&](const auto& arg) { return asks_for_both(arg, a, b); });
}

}  // namespace

std::set<std::string> window_sizes(const sdfg::Sdfg& nest) {
  const tuning_db::NestFacts facts = tuning_db::facts(nest, {});
  const auto tells_where = [&](const std::string& symbol) {
    return std::ranges::any_of(facts.accesses, [&](const auto& to) {
      return to.write && std::ranges::any_of(to.memlet->subset, [&](const Expr& e) { return e.uses(symbol); });
    });
  };
  std::set<std::string> sizes;
  for (const auto& access : facts.accesses) {
    if (access.write) continue;
    const auto& statement = facts.statements[static_cast<std::size_t>(access.statement)];
    std::vector<const sdfg::Loop*> where, inside;
    for (const int k : statement.loops) {
      const sdfg::Loop* loop = facts.loops[static_cast<std::size_t>(k)].loop;
      (tells_where(loop->symbol) ? where : inside).push_back(loop);
    }
    for (const sdfg::Loop* window : inside) {
      const Expr length = window->end - window->begin;
      // A sum that gets shorter as it moves, of all that there is and not of a window.
      if (std::ranges::any_of(where, [&](const sdfg::Loop* over) { return length.uses(over->symbol); })) continue;
      const bool is_one = std::ranges::any_of(where, [&](const sdfg::Loop* over) {
        const auto& [a, b] = std::pair(window->symbol, over->symbol);
        return std::ranges::any_of(access.memlet->subset, [&](const Expr& e) { return slides(e, a, b); }) ||
               (statement.under != nullptr && asks_for_both(statement.under->condition.code, a, b));
      });
      if (!is_one) continue;
      for (const std::string& symbol : length.symbols()) sizes.insert(symbol);
    }
  }
  return sizes;
}

}  // namespace sous::client
