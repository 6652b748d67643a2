#include "transforms/simplify.h"

#include <set>

namespace sous::transforms {

using sdfg::Expr;
using sdfg::ScheduleLoop;
using sdfg::ScheduleTree;
using sdfg::Surroundings;

namespace {

// The minimum (or maximum) of the pieces without those that another one makes redundant at every point.
Expr decided(const Expr& bound, bool minimum, const Surroundings& here) {
  std::vector<Expr> pieces = minimum ? min_pieces(bound) : max_pieces(bound);
  const auto redundant = [&](std::size_t k) {
    for (std::size_t other = 0; other < pieces.size(); ++other) {
      if (other == k) continue;
      if (minimum ? here.at_most(pieces[other], pieces[k]) : here.at_most(pieces[k], pieces[other])) return true;
    }
    return false;
  };
  for (std::size_t k = pieces.size(); k-- > 0 && pieces.size() > 1;)
    if (redundant(k)) pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(k));
  Expr result = pieces[0];
  for (std::size_t k = 1; k < pieces.size(); ++k)
    result = minimum ? Expr::min(result, pieces[k]) : Expr::max(result, pieces[k]);
  return result;
}

}  // namespace

ScheduleTree simplified(const ScheduleTree& tree, const Surroundings& context) {
  ScheduleTree result;
  for (const sdfg::ScheduleNode& n : tree)
    match(
        n.value,
        [&](ScheduleLoop loop) {
          if (loop.step == 1) {
            loop.begin = decided(loop.begin, false, context);
            loop.end = decided(loop.end, true, context);
          }
          Surroundings inside = context;
          inside.enter(loop);
          if (inside.never()) return;
          loop.children = simplified(loop.children, inside);
          if (!loop.children.empty()) result.emplace_back(std::move(loop));
        },
        [&](sdfg::ScheduleGuard guard) {
          Surroundings inside = context;
          inside.where(guard.condition);
          if (inside.never()) return;
          guard.children = simplified(guard.children, inside);
          if (guard.children.empty()) return;
          if (context.always(guard.condition))
            for (sdfg::ScheduleNode& child : guard.children) result.push_back(std::move(child));
          else
            result.emplace_back(std::move(guard));
        },
        [&](const sdfg::ScheduleLeaf& leaf) { result.emplace_back(leaf); });
  return result;
}

ScheduleTree without_single_iteration(const ScheduleLoop& loop, const Surroundings& context) {
  const bool plain = loop.step == 1 && std::holds_alternative<sdfg::Sequential>(loop.schedule) &&
                     loop.privates.empty() && loop.reductions.empty();
  const Expr begin = decided(loop.begin, false, context), end = decided(loop.end, true, context);
  if (!plain || end - begin != Expr(1)) return {loop};
  return sdfg::substitute(loop.children, {{loop.symbol, begin}});
}

ScheduleTree without_unused_privates(const sdfg::Lifted& lifted, const ScheduleTree& tree) {
  ScheduleTree result = tree;
  for (sdfg::ScheduleNode& node : result) {
    if (auto* guard = std::get_if<sdfg::ScheduleGuard>(&node.value))
      guard->children = without_unused_privates(lifted, guard->children);
    auto* loop = std::get_if<ScheduleLoop>(&node.value);
    if (!loop) continue;
    std::set<std::string> used;
    sdfg::for_each_leaf(loop->children, [&](const sdfg::ScheduleLeaf& leaf) {
      const sdfg::Statement& statement = lifted.statements[static_cast<std::size_t>(leaf.statement)];
      sdfg::Touched names = sdfg::touched(sdfg::Region{{statement.node}});
      used.merge(names.read);
      used.merge(names.written);
    });
    std::erase_if(loop->privates, [&](const std::string& name) { return !used.contains(name); });
    loop->children = without_unused_privates(lifted, loop->children);
  }
  return result;
}

ScheduleLoop second_copy(const sdfg::Lifted& lifted, const ScheduleTree& tree, const ScheduleTree& first,
                         const ScheduleLoop& loop, const std::string& suffix) {
  ScheduleTree taken = tree, copy{loop};
  std::map<std::string, Expr> renamed;
  for (const std::string& symbol : sdfg::loop_symbols(copy)) {
    if (!sdfg::find_loop(first, symbol)) continue;
    ScheduleLoop& one = *sdfg::find_loop(copy, symbol);
    one.symbol = sdfg::fresh_symbol(lifted, taken, symbol + suffix);
    renamed[symbol] = Expr::symbol(one.symbol);
    taken.emplace_back(one);
  }
  return std::get<ScheduleLoop>(sdfg::substitute(copy, renamed)[0].value);
}

}  // namespace sous::transforms
