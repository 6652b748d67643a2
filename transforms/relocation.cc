#include "transforms/relocation.h"

#include <algorithm>

#include "sdfg/planted_fault.h"
#include "sdfg/points.h"
#include "sdfg/polyhedral.h"
#include "transforms/normal/util.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

using sdfg::Loop;
using sdfg::Node;
using sdfg::Region;

Around around_loop(const Nest& nest, const std::string& symbol) {
  Around result;
  for (const sdfg::Expr& e : nest.scop.frame.assumptions)
    if (sdfg::is_quasi_affine(e)) result.where(sdfg::at_most(0, e));
  for (const sdfg::ScheduleNode& n : sdfg::around(nest.tree, symbol))
    match(
        n.value, [&](const sdfg::ScheduleLoop& l) { result.enter(l); },
        [&](const sdfg::ScheduleGuard& g) { result.where(g.condition); }, [](const sdfg::ScheduleLeaf&) {});
  return result;
}

Around inside_loop(const Nest& nest, const std::string& symbol) {
  Around result = around_loop(nest, symbol);
  result.enter(*sdfg::find_loop(nest.tree, symbol));
  return result;
}

bool is_alone(const sdfg::Sdfg& sdfg, const Loop& loop, const std::string& container) {
  if (planted(Fault::relocated_beside_others)) return true;
  bool alone = !normal::exprs_read(loop.body, [&](const std::string& read) { return read == container; });
  sdfg::visit(loop.body, [&](const Node& n) {
    const auto* l = std::get_if<Loop>(&n.value);
    if (!l) return;
    alone = alone && std::ranges::find(l->privates, container) == l->privates.end() &&
            std::ranges::find(l->reductions, container, &sdfg::Reduction::container) == l->reductions.end();
  });
  sdfg::Touched others = sdfg::touched(loop.body);
  const bool written = others.written.erase(container) > 0;
  others.read.erase(container);
  return alone && !normal::any_overlaps(sdfg, others.written, container) &&
         !(written && normal::any_overlaps(sdfg, others.read, container));
}

bool is_seen_outside(const sdfg::Sdfg& sdfg, const sdfg::LoopPlace& loop, const std::string& container) {
  const sdfg::Container& c = *sdfg.find(container);
  if (!c.transient && !c.dead) return true;
  const Region* region = &sdfg.root;
  const auto owner =
      std::ranges::find_if(loop.around, [&](const Loop* l) { return std::ranges::count(l->privates, container) > 0; });
  if (owner != loop.around.end()) region = &(*owner)->body;
  Region rest = *region;
  const auto place = sdfg::find_loop(rest, loop.loop().symbol);
  place->owner->nodes.erase(place->owner->nodes.begin() + static_cast<std::ptrdiff_t>(place->at));
  return normal::containers_of(rest).contains(container);
}

namespace {

// Accesses of `from` become accesses of `to`.
void redirect(sdfg::State& state, const std::string& from, const std::string& to, const Moved& moved) {
  std::vector<bool> moves;
  for (sdfg::Edge& e : state.edges) {
    const auto subset = e.memlet.container == from ? moved(e.memlet.subset) : std::nullopt;
    moves.push_back(subset.has_value());
    if (subset) e.memlet = {.container = to, .subset = *subset, .combine = e.memlet.combine};
  }
  const std::size_t count = state.nodes.size();
  for (std::size_t node = 0; node < count; ++node) {
    auto* access = std::get_if<sdfg::AccessNode>(&state.nodes[node]);
    if (!access || access->container != from) continue;
    std::vector<int*> ends;  // at this node, of the edges that move
    bool others = false;
    for (std::size_t e = 0; e < moves.size(); ++e)
      for (int* end : {&state.edges[e].source, &state.edges[e].target}) {
        if (*end != static_cast<int>(node)) continue;
        if (moves[e])
          ends.push_back(end);
        else
          others = true;
      }
    if (ends.empty()) continue;
    if (!others) {
      access->container = to;
      continue;
    }
    for (int* end : ends) *end = static_cast<int>(state.nodes.size());
    state.nodes.emplace_back(sdfg::AccessNode{.container = to});
  }
}

}  // namespace

void add_place(sdfg::Sdfg& sdfg, Loop* owner, sdfg::Container place) {
  if (owner) owner->privates.push_back(place.name);
  sdfg.containers.push_back(std::move(place));
}

void relocate(sdfg::Sdfg& sdfg, Loop* owner, Region& region, const std::string& from, sdfg::Container place,
              const Moved& moved) {
  sdfg::visit(region, [&](Node& n) {
    if (auto* state = std::get_if<sdfg::State>(&n.value)) return redirect(*state, from, place.name, moved);
    sdfg::change_memlets(n, [&](sdfg::Memlet& m) {
      if (m.container != from) return;
      if (auto subset = moved(m.subset)) m = {.container = place.name, .subset = std::move(*subset), .combine = {}};
    });
  });
  add_place(sdfg, owner, std::move(place));
}

std::vector<Node> in_loops(const std::vector<Loop>& loops, std::vector<Node> body) {
  for (std::size_t k = loops.size(); k-- > 0;) {
    Loop loop = loops[k];
    loop.body.nodes = std::move(body);
    body.clear();
    body.emplace_back(std::move(loop));
  }
  return body;
}

std::vector<Node> where(const std::vector<sdfg::ScalarExpr>& conditions, std::vector<Node> body) {
  if (conditions.empty()) return body;
  return {sdfg::If{
      .condition = {.code = all_of(conditions), .inputs = {}}, .then_body = {std::move(body)}, .else_body = {}}};
}

void Copies::put(Region& region, std::size_t at, std::size_t count) const {
  const auto begin = static_cast<std::ptrdiff_t>(at), end = static_cast<std::ptrdiff_t>(at + count);
  region.nodes.insert(region.nodes.begin() + end, out.begin(), out.end());
  region.nodes.insert(region.nodes.begin() + begin, in.begin(), in.end());
}

}  // namespace sous::transforms
