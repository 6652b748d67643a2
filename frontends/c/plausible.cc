#include "frontends/c/plausible.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>

namespace sous::frontends::c {

bool is_plausible(const std::vector<sdfg::Expr>& assumptions, const sdfg::Region& region) {
  if (assumptions.empty()) return true;
  std::vector<sdfg::Expr> lengths;
  std::set<std::string> symbols, inside;
  sdfg::visit(region, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    if (loop == nullptr) return;
    inside.insert(loop->symbol);
    lengths.push_back(loop->step > 0 ? loop->end - loop->begin : loop->begin - loop->end);
  });
  std::erase_if(lengths, [&](const sdfg::Expr& e) {
    return std::ranges::any_of(inside, [&](const std::string& symbol) { return e.uses(symbol); });
  });
  for (const auto* all : {&assumptions, &std::as_const(lengths)})
    for (const sdfg::Expr& e : *all)
      for (const std::string& symbol : e.symbols()) symbols.insert(symbol);
  const auto holds = [&](const std::map<std::string, std::int64_t>& sizes) {
    const auto are_there = [&](const std::vector<sdfg::Expr>& all, std::int64_t least) {
      return std::ranges::all_of(all, [&](const sdfg::Expr& e) { return e.evaluate(sizes).value_or(least) >= least; });
    };
    return are_there(assumptions, 0) && are_there(lengths, 1);
  };
  const auto sized = [&](std::int64_t size, std::int64_t step) {
    std::map<std::string, std::int64_t> sizes;
    for (const std::string& symbol : symbols)
      sizes[symbol] = std::max<std::int64_t>(2, size + step * static_cast<std::int64_t>(sizes.size()));
    return sizes;
  };
  for (const std::int64_t size : {4, 12, 1008})
    for (const std::int64_t step : {0, 1, -1}) {
      if (holds(sized(size, step))) return true;
      for (const std::string& symbol : symbols) {
        auto few = sized(size, step), negative = few;
        few[symbol] = 2;
        negative[symbol] = -size;
        if (holds(few) || holds(negative)) return true;
      }
    }
  constexpr int kDraws = 300;  // of a triple of conditions, each of which one in four fulfils: found, 99 times of 100
  constexpr std::array<std::int64_t, 3> kSizes{3, 12, 1008};
  std::minstd_rand draw;
  for (int k = 0; k < kDraws; ++k) {
    std::map<std::string, std::int64_t> sizes;
    for (const std::string& symbol : symbols) sizes[symbol] = kSizes[draw() % kSizes.size()];
    if (holds(sizes)) return true;
  }
  return false;
}

}  // namespace sous::frontends::c
