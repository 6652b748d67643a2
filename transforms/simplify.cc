#include "transforms/simplify.h"

#include <algorithm>
#include <set>

#include "transforms/normal/util.h"

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

ScheduleTree without_unused_privates(const sdfg::Scop& scop, const ScheduleTree& tree) {
  ScheduleTree result = tree;
  for (const std::string& symbol : sdfg::loop_symbols(tree)) {
    ScheduleLoop& loop = *sdfg::find_loop(result, symbol);
    std::set<std::string> used;
    sdfg::for_each_leaf(loop.children, [&](const sdfg::ScheduleLeaf& leaf) {
      used.merge(normal::containers_of(scop.statements[static_cast<std::size_t>(leaf.statement)].node));
    });
    std::erase_if(loop.privates, [&](const std::string& name) { return !used.contains(name); });
  }
  return result;
}

std::size_t depth(const ScheduleTree& tree) {
  std::size_t deepest = 0;
  for (const std::string& symbol : sdfg::loop_symbols(tree))
    deepest = std::max(deepest, sdfg::path_to(tree, symbol).size());
  return deepest;
}

ScheduleTree nested(std::vector<ScheduleLoop> loops, ScheduleTree body) {
  for (std::size_t k = loops.size(); k-- > 0;) {
    loops[k].children = std::move(body);
    body.clear();
    body.emplace_back(std::move(loops[k]));
  }
  return body;
}

ScheduleTree renamed_loops(ScheduleTree tree, const std::function<std::string(const std::string&)>& name) {
  std::map<std::string, Expr> renamed;
  for (const std::string& symbol : sdfg::loop_symbols(tree)) {
    ScheduleLoop& loop = *sdfg::find_loop(tree, symbol);
    loop.symbol = name(symbol);
    if (loop.symbol != symbol) renamed[symbol] = Expr::symbol(loop.symbol);
  }
  return sdfg::substitute(tree, renamed);
}

ScheduleLoop second_copy(const sdfg::Scop& scop, const ScheduleTree& tree, const ScheduleTree& first,
                         const ScheduleLoop& loop, const std::string& suffix) {
  ScheduleTree taken = tree;
  const ScheduleTree copy = renamed_loops({loop}, [&](const std::string& symbol) {
    if (!sdfg::find_loop(first, symbol)) return symbol;
    ScheduleLoop one;
    one.symbol = sdfg::fresh_symbol(scop, taken, symbol + suffix);
    taken.emplace_back(one);
    return one.symbol;
  });
  return std::get<ScheduleLoop>(copy[0].value);
}

}  // namespace sous::transforms
