// Node splitting (Kuck, Kuhn, Padua, Leasure, Wolfe 1981): what a loop reads of an array before it writes it is copied
// ahead of the loop. Writers no longer wait for readers of the old values.
//
// Condition. A read takes an old value if no iteration of the loop may write the element before: with the read as a
// statement of its own, no flow dependence leads from the loop into it. The copy reads what some iteration reads: those
// loops that the subscripts do not need are given their first (or last) iterations, where all conditions on the way
// must hold whenever the read takes place, and the others must reach as far as anywhere. Its places are those of the
// iterations of these others, so nothing need be known of the elements.
#include <algorithm>
#include <set>

#include "sdfg/planted_fault.h"
#include "sdfg/surroundings.h"
#include "transforms/normal/util.h"
#include "transforms/operands.h"
#include "transforms/relocation.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Memlet;
using sdfg::Node;

namespace {

// What is copied for a read, and where it lies then.
struct Preserved {
  std::vector<sdfg::ScheduleLoop> loops;     // of the copy, as they are nested, in the names of the reader's
  std::vector<sdfg::ScalarExpr> conditions;  // without which there is nothing to copy
  std::vector<Expr> shape, place;            // by iterations
};

// Gives each of these reads a statement of its own, ahead of that which it is a part of.
void split_reads(sdfg::Region& region, const std::map<std::string, std::vector<Node>>& ahead) {
  for (std::size_t k = 0; k < region.nodes.size(); ++k) {
    match(
        region.nodes[k].value,
        [&](sdfg::State& state) {
          const auto found = ahead.find(state.name);
          if (found == ahead.end()) return;
          region.nodes.insert(region.nodes.begin() + static_cast<std::ptrdiff_t>(k), found->second.begin(),
                              found->second.end());
          k += found->second.size();
        },
        [&](Loop& loop) { split_reads(loop.body, ahead); },
        [&](sdfg::If& branch) {
          split_reads(branch.then_body, ahead);
          split_reads(branch.else_body, ahead);
        },
        [&](sdfg::While& loop) { split_reads(loop.body, ahead); });
  }
}

}  // namespace

struct Preserve {
  static constexpr std::string_view name = "preserve";
  static constexpr std::string_view summary =
      "Copies, ahead of a loop, what it reads of arrays before it writes them, so that its iterations no longer wait "
      "for those which need the old values.";
  static constexpr std::string_view before = "for i: for k in [i + 1, n): B(i) += A(k, i) * B(k)";
  static constexpr std::string_view after =
      "for k in [1, n): b(k - 1) = B(k)\n"
      "for i: for k in [i + 1, n): B(i) += A(k, i) * b(k - 1)";
  static constexpr std::string_view names =
      "All loops keep their names; the copy of B is B_old, the loops that fill it B_old0, B_old1, ….";

  LoopRef loop;
  static constexpr auto params =
      std::tuple{param(&Preserve::loop, {.name = "loop", .doc = "the loop, in which the old values are read"})};
  static constexpr RefusalInfo refusals[] = {
      {"preserve.no-loop", "the loop does not exist"},
      {"preserve.step", "the loop does not have step 1, or is not sequential any more"},
      {"preserve.nothing",
       "nothing is read in the loop that is known to be as it was before the loop, and written later in it"},
      {"preserve.size", "how much is read is not known ahead of the loop"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    const sdfg::ScheduleLoop& old = loop_of(nest, loop);
    sdfg::Sdfg result = sdfg::lower(nest.scop, nest.tree);
    const auto place = sdfg::find_loop(result.root, loop.name);
    SOUS_ASSERT(place);
    Loop& here = place->loop();
    if (old.step != 1 || !is_sequential(old) || !around_loop(nest, loop.name).runs_in_threads(here.body))
      return fail("preserve.step", "the loop " + loop.name + " has a step or a schedule", loop.name);
    TRY(const std::vector<Operand> reads, old_reads(result, here));
    normal::Names names(result);
    std::map<std::string, std::vector<Replacement>> replacements;
    std::vector<std::pair<Memlet, Memlet>> made;  // what was read, and its place
    std::vector<Node> copies;
    for (const Operand& o : reads) {
      const auto same = std::ranges::find(made, o.element, [](const auto& pair) { return pair.first; });
      if (same != made.end()) {
        replacements[o.state].push_back({o.value, same->second});
        continue;
      }
      const auto kept = preserved(nest, o);
      if (!kept) continue;
      const std::string& of = o.element.container;
      sdfg::Container buffer =
          sdfg::temporary(names.fresh(of + "_old"), result.find(of)->type, kept->shape, sdfg::Storage::heap);
      const Memlet at = sdfg::element(buffer.name, kept->place);
      copies.push_back(copy(o, *kept, at, names));
      replacements[o.state].push_back({o.value, at});
      made.emplace_back(o.element, at);
      add_place(result, place->around.empty() ? nullptr : place->around.back(), std::move(buffer));
    }
    if (copies.empty())
      return fail("preserve.size", "how much of old values is read is not known ahead of " + loop.name, loop.name);
    sdfg::visit(here.body, [&](Node& n) {
      auto* state = std::get_if<sdfg::State>(&n.value);
      const auto found = state ? replacements.find(state->name) : replacements.end();
      if (found != replacements.end()) *state = replaced(*state, found->second);
    });
    Copies{.in = std::move(copies), .out = {}}.put(*place->owner, place->at, 1);
    return restructure(unchanged(nest), Equivalent(result));
  }

 private:
  // The reads of old values that stand in the way of later writes.
  Result<std::vector<Operand>> old_reads(const sdfg::Sdfg& sdfg, const Loop& here) const {
    std::vector<Operand> reads;
    for (Operand& o : operands(sdfg, here, false))
      if (o.is_container_written && !is_update(here, o)) reads.push_back(std::move(o));
    const auto nothing = [&] { return fail("preserve.nothing", "nothing old is read in " + loop.name, loop.name); };
    if (reads.empty()) return nothing();
    sdfg::Sdfg apart = sdfg;
    normal::Names names(apart);
    std::vector<std::string> states;
    std::map<std::string, std::vector<Node>> ahead;
    std::map<std::string, std::vector<Replacement>> replacements;
    for (const Operand& o : reads) {
      const sdfg::ElementType type = sdfg.find(o.element.container)->type;
      apart.containers.push_back(
          sdfg::temporary(names.fresh(o.element.container + "_read"), type, {}, sdfg::Storage::registers));
      const Memlet value = sdfg::element(apart.containers.back().name);
      states.push_back(names.fresh("read_" + o.element.container));
      ahead[o.state].emplace_back(
          sdfg::assignment(states.back(), value, sdfg::ScalarExpr::make_input(0, type), {o.element}));
      replacements[o.state].push_back({o.value, value});
    }
    sdfg::visit(apart.root, [&](Node& n) {
      auto* state = std::get_if<sdfg::State>(&n.value);
      const auto found = state ? replacements.find(state->name) : replacements.end();
      if (found != replacements.end()) *state = replaced(*state, found->second);
    });
    split_reads(apart.root, ahead);
    TRY(const std::vector<bool> old, are_old(sdfg::scop_of(apart), states));
    std::vector<Operand> result;
    for (std::size_t k = 0; k < reads.size(); ++k)
      if (old[k]) result.push_back(std::move(reads[k]));
    if (result.empty()) return nothing();
    return result;
  }

  // Whether the statement writes the very element.
  static bool is_update(const Loop& here, const Operand& o) {
    bool updates = false;
    sdfg::visit(here.body, [&](const Node& n) {
      const auto* state = std::get_if<sdfg::State>(&n.value);
      if (state == nullptr || state->name != o.state) return;
      const auto assignment = sdfg::as_assignment(*state);
      updates = !assignment ||
                (assignment->out.container == o.element.container && assignment->out.subset == o.element.subset);
    });
    return updates;
  }

  // Of each of these statements, which only read: whether nothing in the loop may have written that before in the same
  // iteration of the loops around, and something writes it later.
  Result<std::vector<bool>> are_old(const sdfg::Scop& scop, const std::vector<std::string>& states) const {
    const auto* here = sdfg::find_loop(scop.tree, loop.name);
    // What steps before this one made of it is one statement to the dependences: nothing is known of what it reads.
    if (here == nullptr) return std::vector<bool>(states.size(), false);
    TRY(const sdfg::Dependences dependences, sdfg::Dependences::compute(scop));
    std::set<int> inside;
    sdfg::for_each_leaf(here->children, [&](const sdfg::ScheduleLeaf& leaf) { inside.insert(leaf.statement); });
    const std::size_t outside = sdfg::path_to(scop.tree, loop.name).size() - 1;
    std::vector<bool> result;
    for (const std::string& state : states) {
      const auto found = std::ranges::find(scop.statements, state, &sdfg::Statement::name);
      const int statement = static_cast<int>(found - scop.statements.begin());
      bool old = inside.contains(statement), late = false;
      for (const sdfg::Dependence& d : dependences.all()) {
        if (d.equal_loops < outside) continue;
        if (d.kind == sdfg::DependenceKind::Flow && d.target == statement && inside.contains(d.source))
          old = planted(Fault::preserved_though_written);
        late = late || (d.kind == sdfg::DependenceKind::Anti && d.source == statement && inside.contains(d.target));
      }
      result.push_back(old && late);
    }
    return result;
  }

  std::optional<Preserved> preserved(const Nest& nest, const Operand& o) const {
    for (const bool last : {false, true})
      if (auto result = preserved_at(nest, o, last)) return result;
    return std::nullopt;
  }

  // With the loops that decide no subscript in their first or last iterations.
  std::optional<Preserved> preserved_at(const Nest& nest, const Operand& o, bool last) const {
    std::vector<sdfg::ScheduleLoop> around{loop_of(nest, loop)};
    around.insert(around.end(), o.around.loops.begin(), o.around.loops.end());
    sdfg::Surroundings there(nest.scop, sdfg::around(nest.tree, loop.name));
    for (const sdfg::ScheduleLoop& l : around) there.enter(l);
    for (const sdfg::ScalarExpr& guard : o.around.guards) there.where(guard);
    const std::vector<Expr>& subscripts = o.element.subset;
    std::set<std::string> used;
    for (const Expr& e : subscripts) used.merge(e.symbols());
    Preserved result;
    std::map<std::string, Expr> values;
    for (sdfg::ScheduleLoop& l : around) {
      if (l.step != 1 || !l.begin.reads().empty() || !l.end.reads().empty()) return std::nullopt;
      const Expr begin = l.begin.substitute(values), end = l.end.substitute(values);
      if (!used.contains(l.symbol)) {
        for (sdfg::ScalarExpr& one : needed_at_most(begin + 1, end)) result.conditions.push_back(std::move(one));
        values[l.symbol] = last ? end - 1 : begin;
        continue;
      }
      if (!there.at_most(begin, l.begin) || !there.at_most(l.end, end)) return std::nullopt;
      l.begin = simplest(begin);
      l.end = simplest(end);
      l.children.clear();
      result.loops.push_back(l);
    }
    for (const sdfg::ScalarExpr& guard : o.around.guards) result.conditions.push_back(guard.substitute(values));
    if (!std::ranges::all_of(result.conditions, [&](const sdfg::ScalarExpr& e) { return there.always(e); }))
      return std::nullopt;
    return placed(nest, subscripts, std::move(result));
  }

  // The places of what these loops copy, in the order of the subscripts that they decide.
  std::optional<Preserved> placed(const Nest& nest, const std::vector<Expr>& subscripts, Preserved result) const {
    std::vector<sdfg::ScheduleLoop> outside = around_loop(nest, loop.name).loops;
    std::vector<std::size_t> order;
    for (const Expr& subscript : subscripts)
      for (std::size_t k = 0; k < result.loops.size(); ++k)
        if (subscript.uses(result.loops[k].symbol) && std::ranges::find(order, k) == order.end()) order.push_back(k);
    std::vector<std::optional<Expr>> extents;
    for (const sdfg::ScheduleLoop& l : result.loops) {
      extents.push_back(bounded(l.end - l.begin, outside));
      if (!extents.back() || !extents.back()->reads().empty()) return std::nullopt;
      outside.push_back(l);
    }
    for (const std::size_t k : order) {
      result.shape.push_back(*extents[k]);
      result.place.push_back(Expr::symbol(result.loops[k].symbol) - result.loops[k].begin);
    }
    // What holds at the head of the loops anyway is no question.
    sdfg::Surroundings ahead(nest.scop, sdfg::around(nest.tree, loop.name));
    for (const sdfg::ScheduleLoop& l : result.loops) ahead.enter(l);
    std::erase_if(result.conditions, [&](const sdfg::ScalarExpr& e) { return ahead.always(e); });
    return result;
  }

  static Node copy(const Operand& o, const Preserved& kept, const Memlet& at, normal::Names& names) {
    std::map<std::string, Expr> symbols;
    std::vector<Loop> loops;
    for (std::size_t k = 0; k < kept.loops.size(); ++k) {
      const sdfg::ScheduleLoop& l = kept.loops[k];
      loops.push_back(sdfg::counted(names.fresh(at.container + std::to_string(k)), l.begin.substitute(symbols),
                                    l.end.substitute(symbols)));
      symbols[l.symbol] = Expr::symbol(loops.back().symbol);
    }
    const auto renamed = [&](Memlet m) {
      for (sdfg::Expr& d : m.subset) d = d.substitute(symbols);
      return m;
    };
    std::vector<sdfg::ScalarExpr> conditions;
    for (const sdfg::ScalarExpr& e : kept.conditions) conditions.push_back(e.substitute(symbols));
    const Node assignment =
        sdfg::assignment(names.fresh("preserve_" + o.element.container), renamed(at), o.code, {renamed(o.element)});
    return in_loops(loops, where(conditions, {assignment}))[0];
  }
};

constinit const StepInfo preserve_step = declare<Preserve>();

}  // namespace sous::transforms
