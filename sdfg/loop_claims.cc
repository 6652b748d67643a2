#include "sdfg/loop_claims.h"

#include <algorithm>
#include <set>
#include <vector>

#include "sdfg/loop_relations.h"
#include "sdfg/planted_fault.h"

namespace sous::sdfg {
namespace {

using Data = Dependences::Data;

struct LoopPair {
  const ScheduleLoop *before, *after;
};

// The loops that say something else in the second tree, which runs the same instances in the same order. False: it does
// not, or a loop does not say all that it said.
bool only_says_more(const ScheduleTree& before, const ScheduleTree& after, std::vector<LoopPair>& loops) {
  const auto says_more = [](const auto& less, const auto& more) {
    return std::ranges::all_of(less, [&](const auto& one) { return std::ranges::find(more, one) != more.end(); });
  };
  return std::ranges::equal(before, after, [&](const ScheduleNode& b, const ScheduleNode& a) {
    const auto *was = std::get_if<ScheduleLoop>(&b.value), *is = std::get_if<ScheduleLoop>(&a.value);
    if (was == nullptr || is == nullptr) return b == a;
    LoopHeader same = *was;
    same.schedule = is->schedule;
    same.privates = is->privates;
    same.reductions = is->reductions;
    if (same != static_cast<const LoopHeader&>(*is) || !says_more(was->privates, is->privates) ||
        !says_more(was->reductions, is->reductions))
      return false;
    if (was->schedule != is->schedule || was->privates != is->privates || was->reductions != is->reductions)
      loops.push_back({was, is});
    return only_says_more(was->children, is->children, loops);
  });
}

// Of such a loop, that it carries nothing which it does not excuse itself, as its schedule asks; nullopt: whether that
// breaks something takes a look at the lanes.
std::optional<Result<void>> still_respects(const Dependences& dependences, const Scop& scop, const ScheduleTree& legal,
                                           const LoopPair& loop) {
  const Data& data = dependences.data();
  for (const std::string& container : loop.after->privates) {
    if (std::ranges::find(loop.before->privates, container) != loop.before->privates.end()) continue;
    const auto own = covered(dependences, scop, legal, loop.after->symbol, container);
    if (!own) return std::unexpected(own.error());
    if (!*own)
      return fail("legality.private", "a value of " + container + " crosses the iterations of " + loop.after->symbol,
                  loop.after->symbol);
  }
  const Schedule& schedule = loop.after->schedule;
  if (is_in_order(schedule) || schedule == loop.before->schedule) return Result<void>();
  const auto carried = carried_by(dependences, scop, legal, loop.after->symbol);
  if (!carried) return std::unexpected(carried.error());
  for (const Carried& one : *carried) {
    const Dependence& d = data.dependences[static_cast<std::size_t>(one.dependence)];
    const Reduction* update = same_update(data, d);
    const auto has = [](const auto& all, const auto& wanted) { return std::ranges::find(all, wanted) != all.end(); };
    if (has(loop.after->privates, d.container) || (update && has(loop.after->reductions, *update)) ||
        planted(Fault::claims_unchecked))
      continue;
    if (std::holds_alternative<Simd>(schedule)) return std::nullopt;
    return fail("legality.carried", "loop " + loop.after->symbol + " carries the " + describe(d, scop),
                loop.after->symbol);
  }
  return Result<void>();
}

// The containers that are private to a loop of the tree; `twice` becomes one that is so to two loops.
std::set<std::string> privates_in(const ScheduleTree& tree, std::string& twice) {
  std::set<std::string> all;
  for (const ScheduleNode& node : tree) {
    const ScheduleTree* below = children(node);
    if (below == nullptr) continue;
    std::set<std::string> names = privates_in(*below, twice);
    if (const auto* loop = std::get_if<ScheduleLoop>(&node.value))
      names.insert(loop->privates.begin(), loop->privates.end());
    for (const std::string& name : names)
      if (!all.insert(name).second) twice = name;
  }
  return all;
}

}  // namespace

std::optional<std::string> private_twice(const ScheduleTree& tree) {
  std::string twice;
  privates_in(tree, twice);
  return twice.empty() ? std::nullopt : std::optional(twice);
}

namespace {

// The symbols that the loop's bounds and those inside of it use, and the places of its leaves; false: it has a guard.
bool uses_in(const ScheduleLoop& loop, std::set<std::string>& uses) {
  const auto add = [&](const Expr& e) {
    const std::set<std::string> symbols = e.symbols();
    uses.insert(symbols.begin(), symbols.end());
  };
  add(loop.begin);
  add(loop.end);
  return std::ranges::all_of(loop.children, [&](const ScheduleNode& node) {
    return match(
        node.value, [&](const ScheduleLoop& inner) { return uses_in(inner, uses); },
        [](const ScheduleGuard&) { return false; },
        [&](const ScheduleLeaf& leaf) {
          std::ranges::for_each(leaf.iterators, add);
          return true;
        });
  });
}

bool each_once(const ScheduleTree& tree, const std::set<int>& statements) {
  std::size_t leaves = 0;
  for_each_leaf(tree, [&](const ScheduleLeaf& leaf) { leaves += statements.contains(leaf.statement) ? 1U : 0U; });
  return leaves == statements.size();
}

}  // namespace

bool keeps_privates(const Data& data, const ScheduleLoop& loop, const ScheduleTree& tree, const ScheduleTree& legal) {
  const ScheduleLoop *here = find_loop(tree, loop.symbol), *there = find_loop(legal, loop.symbol);
  std::set<std::string> around;
  if (here == nullptr || there == nullptr || *here != loop || *there != loop || !uses_in(loop, around)) return false;
  // Of the loops around it, in either tree.
  const std::vector<std::string> in_tree = loop_symbols(tree), in_legal = loop_symbols(legal);
  std::vector<std::string> inside = loop_symbols(loop.children);
  inside.push_back(loop.symbol);
  const auto has = [](const auto& all, const auto& one) { return std::ranges::find(all, one) != all.end(); };
  std::erase_if(around,
                [&](const std::string& s) { return has(inside, s) || (!has(in_tree, s) && !has(in_legal, s)); });
  std::set<int> statements;
  bool told = true;  // an instance tells the iteration that it is in
  for_each_leaf(loop.children, [&](const ScheduleLeaf& leaf) {
    statements.insert(leaf.statement);
    for (const std::string& symbol : around)
      told = told && (has(leaf.iterators, Expr::symbol(symbol)) || planted(Fault::kept_in_other_iterations));
  });
  if (!told || !each_once(tree, statements) || !each_once(legal, statements)) return false;
  return std::ranges::none_of(loop.privates, [&](const std::string& container) {
    return data.elsewhere.contains(container) || std::ranges::any_of(data.accesses, [&](const Access& access) {
             return access.container == container && !statements.contains(access.statement);
           });
  });
}

std::optional<Result<void>> by_claims(const Dependences& dependences, const Scop& scop, const ScheduleTree& legal,
                                      const ScheduleTree& tree) {
  std::vector<LoopPair> loops;
  // Of several loops one may excuse what the other carries.
  if (!only_says_more(legal, tree, loops) || loops.size() != 1 ||
      !known_in(dependences.data(), loops[0].after->children))
    return std::nullopt;
  if (private_twice(tree)) return std::nullopt;
  return still_respects(dependences, scop, legal, loops[0]);
}

}  // namespace sous::sdfg
