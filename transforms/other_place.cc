#include "transforms/other_place.h"

#include <algorithm>

#include "transforms/normal/util.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Memlet;
using sdfg::Node;
using sdfg::Region;

bool is_alone(const sdfg::Sdfg& sdfg, const Loop& loop, const std::string& container) {
  bool alone = true;
  sdfg::map_exprs(loop.body, [&](const Expr& e) {
    alone = alone && !e.reads().contains(container);
    return e;
  });
  sdfg::visit(loop.body, [&](const Node& n) {
    const auto* l = std::get_if<Loop>(&n.value);
    if (!l) return;
    alone = alone && std::ranges::find(l->privates, container) == l->privates.end() &&
            std::ranges::find(l->reductions, container, &sdfg::Reduction::container) == l->reductions.end();
  });
  const sdfg::Touched t = sdfg::touched(loop.body);
  const bool written = t.written.contains(container);
  for (const std::string& other : t.written)
    alone = alone && (other == container || !normal::may_overlap(sdfg, other, container));
  for (const std::string& other : t.read)
    alone = alone && (!written || other == container || !normal::may_overlap(sdfg, other, container));
  return alone;
}

namespace {

// Whether the container is touched more often than by the nodes inside the loop.
bool seen(const Region& region, const std::string& loop, const std::string& container) {
  return std::ranges::any_of(region.nodes, [&](const Node& n) {
    if (const auto* l = std::get_if<Loop>(&n.value)) {
      if (l->symbol == loop) return false;
      if (l->begin.reads().contains(container) || l->end.reads().contains(container)) return true;
      return seen(l->body, loop, container);
    }
    if (const auto* i = std::get_if<sdfg::If>(&n.value)) {
      // What the condition's subscripts read as well.
      const sdfg::If alone{.condition = i->condition, .then_body = {}, .else_body = {}};
      return sdfg::touched(Node(alone)).read.contains(container) || seen(i->then_body, loop, container) ||
             seen(i->else_body, loop, container);
    }
    const sdfg::Touched t = sdfg::touched(n);
    return t.read.contains(container) || t.written.contains(container);
  });
}

}  // namespace

bool is_seen_outside(const sdfg::Sdfg& sdfg, const sdfg::LoopPlace& loop, const std::string& container) {
  const sdfg::Container& c = *sdfg.find(container);
  if (!c.transient && !c.dead) return true;
  for (const Loop* l : loop.around)
    if (std::ranges::find(l->privates, container) != l->privates.end())
      return seen(l->body, loop.loop().symbol, container);
  return seen(sdfg.root, loop.loop().symbol, container);
}

void redirect(Region& region, const std::string& from, const std::string& to,
              const std::function<std::optional<sdfg::Subset>(const sdfg::Subset&)>& moved) {
  const auto move = [&](Memlet& m) {
    if (m.container != from) return false;
    auto subset = moved(m.subset);
    if (!subset) return false;
    m.container = to;
    m.subset = std::move(*subset);
    return true;
  };
  for (Node& n : region.nodes)
    match(
        n.value,
        [&](sdfg::State& s) {
          for (sdfg::Edge& e : s.edges)
            if (move(e.memlet))
              for (const int end : {e.source, e.target})
                if (auto* access = std::get_if<sdfg::AccessNode>(&s.nodes[static_cast<std::size_t>(end)]))
                  access->container = to;
        },
        [&](Loop& l) { redirect(l.body, from, to, moved); },
        [&](sdfg::If& i) {
          for (Memlet& m : i.condition.inputs) move(m);
          redirect(i.then_body, from, to, moved);
          redirect(i.else_body, from, to, moved);
        },
        [&](sdfg::While& w) {
          for (Memlet& m : w.condition.inputs) move(m);
          redirect(w.body, from, to, moved);
        },
        [](sdfg::Return&) {});
}

}  // namespace sous::transforms
