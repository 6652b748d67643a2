#include "client/windows.h"

#include <algorithm>
#include <map>
#include <set>
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

// The symbol that one loop is faster than the other by: stride of in[y*stride + i]; "": there is none.
std::string stride_of(const Expr& e, const std::string& window, const std::string& over) {
  const auto slow = sdfg::coefficient_of(e, window), fast = sdfg::coefficient_of(e, over);
  if (!slow || !fast || *slow == Expr(0)) return "";
  for (const std::string& symbol : fast->symbols())
    if (*fast == *slow * Expr::symbol(symbol)) return symbol;
  return "";
}

std::int64_t of_three(const Expr& length, const std::string& symbol) {
  constexpr std::int64_t elements = 3;
  for (std::int64_t size = 1; size < elements; ++size)
    if (length.substitute({{symbol, Expr(size)}}).constant().value_or(0) >= elements) return size;
  return elements;
}

bool asks_for_both(const sdfg::ScalarExpr& condition, const std::string& a, const std::string& b) {
  if (condition.op == sdfg::ScalarOp::symbolic && condition.symbolic.uses(a) && condition.symbolic.uses(b)) return true;
  return std::ranges::any_of(condition.args, [&](const auto& arg) { return asks_for_both(arg, a, b); });
}

}  // namespace

std::map<std::string, std::int64_t> window_sizes(const sdfg::Sdfg& nest, std::size_t least_loops) {
  const tuning_db::NestFacts facts = tuning_db::facts(nest, {});
  const auto tells_where = [&](const std::string& symbol) {
    return std::ranges::any_of(facts.accesses, [&](const auto& to) {
      return to.write && std::ranges::any_of(to.memlet->subset, [&](const Expr& e) { return e.uses(symbol); });
    });
  };
  std::map<std::string, std::int64_t> sizes;
  for (const auto& access : facts.accesses) {
    if (access.write) continue;
    const auto& statement = facts.statements[static_cast<std::size_t>(access.statement)];
    std::vector<const sdfg::Loop*> where, inside;
    for (const int k : statement.loops) {
      const sdfg::Loop* loop = facts.loops[static_cast<std::size_t>(k)].loop;
      (tells_where(loop->symbol) ? where : inside).push_back(loop);
    }
    // What moves two loops or more is a stride, where one alone may be the length of rows.
    std::map<std::string, std::set<const sdfg::Loop*>> strided;
    for (const sdfg::Loop* window : inside)
      for (const sdfg::Loop* over : where)
        for (const Expr& e : access.memlet->subset)
          if (const std::string by = stride_of(e, window->symbol, over->symbol); !by.empty())
            strided[by].insert(window);
    const auto is_strided = [&](const sdfg::Loop* window) {
      return std::ranges::any_of(strided,
                                 [&](const auto& one) { return one.second.size() > 1 && one.second.contains(window); });
    };
    std::vector<Expr> lengths;
    for (const sdfg::Loop* window : inside) {
      const Expr length = window->end - window->begin;
      // A sum that gets shorter as it moves, of all that there is and not of a window.
      if (std::ranges::any_of(where, [&](const sdfg::Loop* over) { return length.uses(over->symbol); })) continue;
      const bool is_one =
          is_strided(window) || std::ranges::any_of(where, [&](const sdfg::Loop* over) {
            const auto& [a, b] = std::pair(window->symbol, over->symbol);
            return std::ranges::any_of(access.memlet->subset, [&](const Expr& e) { return slides(e, a, b); }) ||
                   (statement.under != nullptr && asks_for_both(statement.under->condition.code, a, b));
          });
      if (is_one) lengths.push_back(length);
    }
    if (lengths.size() < least_loops) continue;
    for (const Expr& length : lengths)
      for (const std::string& symbol : length.symbols()) sizes.emplace(symbol, of_three(length, symbol));
  }
  return sizes;
}

}  // namespace sous::client
