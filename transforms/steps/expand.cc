// Array expansion (Feautrier 1988; for scalars Padua and Wolfe 1986): what each iteration of a loop computes anew in
// the same place gets a place for each iteration, so that the iterations, and parts of their bodies, no longer wait for
// each other's memory. Unlike a private copy it outlives its iteration: the loop can be distributed.
//
// Condition. Each iteration reads of the container only what it wrote before itself (sdfg::reads_own_values), and
// nothing else in the loop may be the same memory. What stands in the container afterwards is what the last iteration
// wrote, if it wrote every element that any did: so where others look at it, the loops that write it must do so for the
// same elements in each iteration. Updates need not be asked: what they read, and so write, was written before.
#include <algorithm>

#include "sdfg/points.h"
#include "transforms/normal/util.h"
#include "transforms/other_place.h"
#include "transforms/panels.h"
#include "transforms/step.h"

namespace sous::transforms {

namespace {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Memlet;
using sdfg::Node;
using sdfg::Region;

struct Expand {
  static constexpr std::string_view name = "expand";
  static constexpr std::string_view summary =
      "Gives each iteration of a loop a place of its own for what every iteration computes anew in the same one.";
  static constexpr std::string_view before =
      "for i:\n"
      "  for j: t(j) = f(i, j)\n"
      "  for j: A(i, j) = g(t(j))";
  static constexpr std::string_view after =
      "for i:\n"
      "  for j: T(i, j) = f(i, j)\n"
      "  for j: A(i, j) = g(T(i, j))\n"
      "for j: t(j) = T(n - 1, j)      (where others look at t)";
  static constexpr std::string_view names =
      "All loops keep their names; the expanded t is t_x, the loop that copies its last value out j_x.";
  static constexpr bool reassociates = false;

  LoopRef loop;
  static constexpr auto params =
      std::tuple{param(&Expand::loop, {.name = "loop", .doc = "the loop whose iterations get places of their own"})};
  static constexpr RefusalInfo refusals[] = {
      {"expand.no-loop", "the loop does not exist"},
      {"expand.step", "the loop does not have step 1, or is not sequential any more"},
      {"expand.nothing",
       "there is nothing that each iteration writes before it reads it, in the same place, and whose last values are "
       "known"},
      {"expand.size", "the number of iterations is not known before the nest runs"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    const sdfg::ScheduleLoop* old = &loop_of(nest, loop);
    if (old->step != 1 || !is_sequential(*old))
      return fail("expand.step", "the loop " + loop.name + " has a step or a schedule", loop.name);
    TRY(const std::set<std::string> candidates, reused(nest));
    sdfg::Sdfg result = sdfg::lower(nest.lifted, nest.tree);
    const auto place = sdfg::find_loop(result.root, loop.name);
    SOUS_ASSERT(place);
    std::vector<Loop> outside;
    for (const Loop* l : place->around) {
      outside.push_back(*l);
      outside.back().body.nodes.clear();
    }
    const auto extent = bounded(place->loop().end - place->loop().begin, outside);
    if (!extent) return fail("expand.size", "the iterations of " + loop.name + " have no bound", loop.name);

    std::vector<Node> copies;
    bool expanded = false;
    for (const std::string& container : candidates) {
      TRY(const bool own, sdfg::reads_own_values(nest.dependences, nest.lifted, nest.tree, loop.name, container));
      if (!own || !is_sized(*result.find(container)) || !is_alone(result, place->loop(), container)) continue;
      const sdfg::Container old_one = *result.find(container);
      std::optional<std::vector<Node>> last;
      if (is_seen_outside(result, *place, container)) {
        last = last_values(result, place->loop(), container, copies);
        if (!last) continue;
      }
      sdfg::Container wide = old_one;
      wide.name = unused(result, container + "_x", copies);
      wide.shape.insert(wide.shape.begin(), *extent);
      wide.strides = sdfg::row_major(wide.shape);
      wide.offset = 0;
      wide.storage = sdfg::Storage::heap;
      wide.transient = true;
      wide.constant = false;
      wide.dead = false;
      wide.alias_class = 0;
      Loop& here = place->loop();
      redirect(here.body, container, wide.name, [&](const sdfg::Subset& narrow) {
        sdfg::Subset subset = narrow;
        subset.insert(subset.begin(), sdfg::point({Expr::symbol(here.symbol) - here.begin})[0]);
        return subset;
      });
      if (last)
        for (Node& node : *last) {
          Region region{{std::move(node)}};
          name_source(region, container, wide.name, here.end - here.begin - 1);
          copies.push_back(std::move(region.nodes[0]));
        }
      // Each iteration of the loop around has its own: it may run in parallel.
      if (!place->around.empty()) place->around.back()->privates.push_back(wide.name);
      result.containers.push_back(std::move(wide));
      expanded = true;
    }
    if (!expanded) return fail("expand.nothing", "there is nothing to expand whose last values are known", loop.name);
    if (!copies.empty()) {
      const Loop& here = place->loop();
      const sdfg::ScalarExpr runs = sdfg::at_most(here.begin, here.end - 1);
      place->owner->nodes.insert(
          place->owner->nodes.begin() + static_cast<std::ptrdiff_t>(place->at) + 1,
          Node(sdfg::If{.condition = {.code = runs, .inputs = {}}, .then_body = {std::move(copies)}, .else_body = {}}));
    }
    return restructure(unchanged(nest), result);
  }

 private:
  // Containers for which one iteration waits for another.
  Result<std::set<std::string>> reused(const Nest& nest) const {
    TRY(const auto carried, sdfg::carried_by(nest.dependences, nest.lifted, nest.tree, loop.name));
    std::set<std::string> result;
    for (const sdfg::Carried& c : carried)
      result.insert(nest.dependences.all()[static_cast<std::size_t>(c.dependence)].container);
    return result;
  }

  // Neither on a device nor of a size that only reading memory tells.
  static bool is_sized(const sdfg::Container& c) {
    if (c.storage == sdfg::Storage::device_global || c.storage == sdfg::Storage::device_shared) return false;
    constexpr std::int64_t most = std::int64_t{1} << 32;  // an extent beyond is that of a pointer
    return std::ranges::all_of(c.shape,
                               [](const Expr& e) { return e.reads().empty() && e.constant().value_or(0) <= most; });
  }

  // The loops around each statement that writes the container without reading the same element, with a copy in the
  // place of the statement; nullopt where they are not the same in each iteration, or depend on data.
  std::optional<std::vector<Node>> last_values(const sdfg::Sdfg& sdfg, const Loop& here, const std::string& container,
                                               const std::vector<Node>& others) const {
    std::vector<Node> result;
    const auto fixed = [&](const Expr& e) { return !e.uses(here.symbol) && e.reads().empty(); };
    const auto copied = [&](auto&& self, const Region& region, std::vector<Node>& out) -> bool {
      for (const Node& n : region.nodes) {
        if (!sdfg::touched(n).written.contains(container)) continue;
        bool known = false;
        match(
            n.value,
            [&](const sdfg::State& s) {
              const auto a = sdfg::as_assignment(s);
              if (!a) return;
              known = true;
              if (std::ranges::find(a->inputs, a->out) != a->inputs.end()) return;
              known = std::ranges::all_of(a->out.subset, [&](const sdfg::Dim& d) { return fixed(d.begin); });
              const sdfg::ElementType type = sdfg.find(container)->type;
              out.emplace_back(sdfg::assignment(s.name, a->out, sdfg::ScalarExpr::make_input(0, type), {a->out}));
            },
            [&](const Loop& l) {
              known = fixed(l.begin) && fixed(l.end);
              Loop copy = l;
              copy.schedule = {};
              copy.privates.clear();
              copy.reductions.clear();
              copy.body.nodes.clear();
              known = known && self(self, l.body, copy.body.nodes);
              if (!copy.body.nodes.empty()) out.emplace_back(std::move(copy));
            },
            [&](const sdfg::If& i) {
              bool free = i.condition.inputs.empty();
              i.condition.code.visit([&](const sdfg::ScalarExpr& e) {
                free = free && (e.op != sdfg::ScalarOp::symbolic || fixed(e.symbolic));
              });
              sdfg::If copy{.condition = i.condition, .then_body = {}, .else_body = {}};
              known = free && self(self, i.then_body, copy.then_body.nodes) &&
                      self(self, i.else_body, copy.else_body.nodes);
              if (!copy.then_body.nodes.empty() || !copy.else_body.nodes.empty()) out.emplace_back(std::move(copy));
            },
            [](const sdfg::While&) {}, [](const sdfg::Return&) {});
        if (!known) return false;
      }
      return true;
    };
    if (!copied(copied, here.body, result) || result.empty()) return std::nullopt;
    return renamed(sdfg, Region{std::move(result)}, others).nodes;
  }

  // Fresh names for the loops and states of a copy.
  static Region renamed(const sdfg::Sdfg& sdfg, Region copy, const std::vector<Node>& others) {
    sdfg::Sdfg holder;
    holder.root = std::move(copy);
    sdfg::Renaming names;
    std::set<std::string> used = names_of(sdfg, others);
    const auto fresh = [&](const std::string& old) {
      std::string wish = old + "_x";
      for (int n = 2; used.contains(wish); ++n) wish = old + "_x" + std::to_string(n);
      used.insert(wish);
      return wish;
    };
    sdfg::visit(holder.root, [&](const Node& n) {
      if (const auto* l = std::get_if<Loop>(&n.value)) names.symbols[l->symbol] = fresh(l->symbol);
      if (const auto* s = std::get_if<sdfg::State>(&n.value)) names.states[s->name] = fresh(s->name);
    });
    return sdfg::rename(holder, names).root;
  }

  // In the copies, what is read is the last iteration's element of the expanded container.
  static void name_source(Region& region, const std::string& container, const std::string& wide, const Expr& last) {
    for (Node& n : region.nodes)
      match(
          n.value,
          [&](sdfg::State& s) {
            const auto a = sdfg::as_assignment(s);
            if (!a || a->out.container != container) return;
            Memlet from = a->out;
            from.container = wide;
            from.subset.insert(from.subset.begin(), sdfg::point({last})[0]);
            s = sdfg::assignment(s.name, a->out, a->code, {from});
          },
          [&](Loop& l) { name_source(l.body, container, wide, last); },
          [&](sdfg::If& i) {
            name_source(i.then_body, container, wide, last);
            name_source(i.else_body, container, wide, last);
          },
          [](sdfg::While&) {}, [](sdfg::Return&) {});
  }

  static std::set<std::string> names_of(const sdfg::Sdfg& sdfg, const std::vector<Node>& others) {
    std::set<std::string> used(sdfg.symbols.begin(), sdfg.symbols.end());
    for (const sdfg::Container& c : sdfg.containers) used.insert(c.name);
    const auto note = [&](const Node& n) {
      if (const auto* l = std::get_if<Loop>(&n.value)) used.insert(l->symbol);
      if (const auto* s = std::get_if<sdfg::State>(&n.value)) used.insert(s->name);
    };
    sdfg::visit(sdfg.root, note);
    sdfg::visit(Region{others}, note);
    return used;
  }
  static std::string unused(const sdfg::Sdfg& sdfg, const std::string& wish, const std::vector<Node>& others) {
    const std::set<std::string> used = names_of(sdfg, others);
    std::string result = wish;
    for (int n = 2; used.contains(result); ++n) result = wish + std::to_string(n);
    return result;
  }
};

}  // namespace

constinit const StepInfo expand_step = declare<Expand>();

}  // namespace sous::transforms
