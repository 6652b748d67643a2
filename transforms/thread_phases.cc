#include "transforms/thread_phases.h"

#include <algorithm>
#include <set>

#include "sdfg/surroundings.h"
#include "sdfg/trips.h"
#include "transforms/normal/util.h"
#include "transforms/relocation.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

namespace {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Node;
using sdfg::Region;

bool is_grid(const Loop& l) { return std::holds_alternative<sdfg::GpuGrid>(l.schedule); }
bool is_thread(const Loop& l) { return std::holds_alternative<sdfg::GpuBlock>(l.schedule); }

bool holds(const Node& node, const std::string& loop) {
  bool found = false;
  sdfg::visit(Region{{node}}, [&](const Node& n) {
    const auto* l = std::get_if<Loop>(&n.value);
    found = found || (l != nullptr && l->symbol == loop);
  });
  return found;
}

std::size_t place_of(const Region& region, const std::string& loop) {
  const auto at = std::ranges::find_if(region.nodes, [&](const Node& n) { return holds(n, loop); });
  SOUS_ASSERT(at != region.nodes.end());
  return static_cast<std::size_t>(at - region.nodes.begin());
}

// Turns the loops on the way to the loop into conditions, and looks at those that are there.
class Unwrapping {
 public:
  Unwrapping(const Nest& nest, const sdfg::Sdfg& sdfg, const ThreadPhases& phases, const std::string& loop)
      : nest_(nest), sdfg_(sdfg), written_(sdfg::touched(phases.block->body).written), loop_(loop) {}

  Result<void> region(Region& region, std::vector<std::string>& privates) {
    const std::size_t at = place_of(region, loop_);
    if (auto* branch = std::get_if<sdfg::If>(&region.nodes[at].value)) {
      if (!branch->else_body.nodes.empty()) return refused("a condition around it has two branches");
      for (const std::string& read : sdfg::touched_itself(region.nodes[at]).read)
        if (normal::any_overlaps(sdfg_, written_, read)) return refused("a condition around it may change");
      return this->region(branch->then_body, privates);
    }
    const auto* found = std::get_if<Loop>(&region.nodes[at].value);
    if (found == nullptr) return refused("it is inside a loop without a counter");
    if (found->symbol == loop_) return {};
    const Loop around = *found;
    if (sdfg::most_trips(around) != 1 || around.step < 0 || !around.reductions.empty() ||
        !std::holds_alternative<sdfg::Sequential>(around.schedule))
      return refused("loop " + around.symbol + " of a thread is around it");
    const sdfg::Surroundings outside(nest_.scop, sdfg::around(nest_.tree, around.symbol));
    std::vector<Node> body = sdfg::substitute(around.body, {{around.symbol, around.begin}}).nodes;
    if (!outside.at_most(around.begin + 1, around.end))
      body = where(needed_at_most(around.begin + 1, around.end), std::move(body));
    privates.insert(privates.end(), around.privates.begin(), around.privates.end());
    const auto here = region.nodes.begin() + static_cast<std::ptrdiff_t>(at);
    region.nodes.insert(region.nodes.erase(here), body.begin(), body.end());
    return this->region(region, privates);
  }

 private:
  std::unexpected<Error> refused(const std::string& why) const { return fail("stage.place", why, loop_); }

  const Nest& nest_;
  const sdfg::Sdfg& sdfg_;
  const std::set<std::string> written_;
  const std::string loop_;
};

Result<void> check_bounds(const sdfg::Sdfg& sdfg, const ThreadPhases& phases, const Loop& loop) {
  const std::set<std::string> written = sdfg::touched(phases.block->body).written;
  bool uniform = loop.step == 1 && std::holds_alternative<sdfg::Sequential>(loop.schedule) && loop.reductions.empty();
  for (const Expr* bound : {&loop.begin, &loop.end}) {
    for (const Loop* thread : phases.threads) uniform = uniform && !bound->uses(thread->symbol);
    for (const std::string& read : bound->reads()) uniform = uniform && !normal::any_overlaps(sdfg, written, read);
  }
  if (!uniform)
    return fail("stage.bounds", loop.symbol + " is scheduled, or its bounds may differ between threads", loop.symbol);
  return {};
}

enum class Part { Before, Inside, Behind };

// What of the region stands there, with the conditions around it.
std::vector<Node> part_of(const Region& region, const std::string& loop, Part part) {
  const auto at = static_cast<std::ptrdiff_t>(place_of(region, loop));
  const auto first = region.nodes.begin(), here = first + at;
  std::vector<Node> inner;
  if (const auto* branch = std::get_if<sdfg::If>(&here->value)) {
    std::vector<Node> nodes = part_of(branch->then_body, loop, part);
    if (!nodes.empty())
      inner.emplace_back(sdfg::If{.condition = branch->condition, .then_body = {std::move(nodes)}, .else_body = {}});
  } else if (part == Part::Inside) {
    inner.push_back(*here);
  }
  if (part == Part::Before) inner.insert(inner.begin(), first, here);
  if (part == Part::Behind) inner.insert(inner.end(), here + 1, region.nodes.end());
  return inner;
}

std::set<std::string> touched_names(const std::vector<Node>& nodes) {
  sdfg::Touched touched = sdfg::touched(Region{nodes});
  touched.read.merge(touched.written);
  return touched.read;
}

// Each thread's place in what all of them have together.
sdfg::Container spread(const sdfg::Container& own, const ThreadPhases& phases, const std::vector<std::int64_t>& trips,
                       const std::string& name) {
  std::vector<Expr> shape;
  for (std::size_t k = 0; k < phases.threads.size(); ++k) shape.emplace_back(trips[k]);
  shape.insert(shape.end(), own.shape.begin(), own.shape.end());
  return sdfg::temporary(name, own.type, std::move(shape), own.storage);
}

}  // namespace

Result<ThreadPhases> phases_around(const Nest& nest, sdfg::Sdfg& sdfg, const std::string& loop) {
  const auto place = sdfg::find_loop(sdfg.root, loop);
  SOUS_ASSERT(place);
  ThreadPhases phases;
  for (Loop* l : place->around) {
    if (is_grid(*l)) phases.block = l;
    if (is_thread(*l)) phases.threads.push_back(l);
  }
  const auto outside = [&](const std::string& why) { return fail("stage.place", why, loop); };
  if (phases.threads.empty()) return outside("no threads of a GPU are around it");
  const Loop* above = phases.block;
  for (const Loop* thread : phases.threads) {
    if (above->body.nodes.size() != 1 || std::get_if<Loop>(&above->body.nodes[0].value) != thread)
      return outside("the loops over threads are not all that a block does");
    if (!thread->reductions.empty() || (thread != phases.threads.back() && !thread->privates.empty()))
      return outside("threads share what is private to them");
    above = thread;
  }
  Loop& innermost = *phases.threads.back();
  std::vector<std::string> privates;
  TRY_VOID(Unwrapping(nest, sdfg, phases, loop).region(innermost.body, privates));
  innermost.privates.insert(innermost.privates.end(), privates.begin(), privates.end());
  TRY_VOID(check_bounds(sdfg, phases, sdfg::find_loop(sdfg.root, loop)->loop()));
  return phases;
}

Result<void> keep_in_threads(sdfg::Sdfg& sdfg, ThreadPhases& phases, const std::string& loop) {
  const Region& body = phases.of_thread();
  const auto before = touched_names(part_of(body, loop, Part::Before));
  const auto inside = touched_names(part_of(body, loop, Part::Inside));
  const auto behind = touched_names(part_of(body, loop, Part::Behind));
  std::vector<std::int64_t> trips;
  std::vector<Expr> own;
  for (const Loop* thread : phases.threads) {
    const auto most = sdfg::most_trips(*thread);
    if (!most) return fail("stage.private", "nobody knows how many threads there are", thread->symbol);
    trips.push_back(*most);
    own.push_back(Expr::floor_div(Expr::symbol(thread->symbol) - thread->begin, thread->step));
  }
  Loop& innermost = *phases.threads.back();
  std::vector<std::string> stays;
  for (const std::string& name : innermost.privates) {
    if (!inside.contains(name) && !(before.contains(name) && behind.contains(name))) {
      stays.push_back(name);
      continue;
    }
    const sdfg::Container old = *sdfg.find(name);
    const bool in_expressions = normal::exprs_read(innermost.body, [&](const std::string& r) { return r == name; });
    const bool in_loops = !is_alone(sdfg, innermost, name);
    if (in_expressions || in_loops || old.storage == sdfg::Storage::heap || old.offset != Expr(0))
      return fail("stage.private", "'" + name + "' is a thread's own, and has no place in it", name);
    const std::string place = normal::Names(sdfg).fresh(name + "_own");
    relocate(sdfg, phases.block, innermost.body, name, spread(old, phases, trips, place),
             [&](const sdfg::Subset& subset) {
               std::vector<Expr> at = own;
               at.insert(at.end(), subset.begin(), subset.end());
               return std::optional(at);
             });
    std::erase_if(sdfg.containers, [&](const sdfg::Container& c) { return c.name == name; });
  }
  innermost.privates = std::move(stays);
  return {};
}

PhaseBodies phase_bodies(const ThreadPhases& phases, const std::string& loop, normal::Names& names) {
  const auto over_threads = [&](std::vector<Node> body, bool renamed) {
    const std::set<std::string> touched = touched_names(body);
    std::map<std::string, Expr> symbols;
    std::vector<Loop> loops;
    for (const Loop* thread : phases.threads) {
      Loop l = *thread;
      l.body = {};
      l.begin = l.begin.substitute(symbols);
      l.end = l.end.substitute(symbols);
      std::erase_if(l.privates, [&](const std::string& name) { return !touched.contains(name); });
      if (renamed) {
        l.symbol = names.fresh(l.symbol);
        symbols[thread->symbol] = Expr::symbol(l.symbol);
      }
      loops.push_back(std::move(l));
    }
    return in_loops(loops, sdfg::substitute(Region{std::move(body)}, symbols).nodes);
  };
  const Region& body = phases.of_thread();
  const auto if_any = [&](Part part) {
    std::vector<Node> nodes = part_of(body, loop, part);
    return nodes.empty() ? nodes : over_threads(std::move(nodes), true);
  };
  return {.before = if_any(Part::Before),
          .behind = if_any(Part::Behind),
          .inside = over_threads(part_of(body, loop, Part::Inside), false)[0]};
}

}  // namespace sous::transforms
