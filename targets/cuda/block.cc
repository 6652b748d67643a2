#include "targets/cuda/block.h"

#include <algorithm>

#include "sdfg/trips.h"

namespace sous::targets {
namespace {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Node;
using sdfg::Region;

// Of a loop that threads share out, and three of which can be multiplied.
constexpr std::int64_t most_iterations = 1 << 20;
// Shared memory that a block gets without being asked for.
constexpr std::int64_t most_shared_bytes = std::int64_t{48} * 1024;

std::unexpected<Error> unsupported(const std::string& why, const std::string& where) {
  return fail("target.unsupported", why, where);
}

// Calls f on the first loop of each band of the region, in order.
void for_each_band(const Region& region, const std::function<void(const Loop&)>& f) {
  for (const Node& n : region.nodes)
    match(
        n.value, [](const sdfg::State&) {},
        [&](const Loop& loop) {
          if (is_thread(loop)) return f(loop);
          for_each_band(loop.body, f);
        },
        [&](const sdfg::If& branch) {
          for_each_band(branch.then_body, f);
          for_each_band(branch.else_body, f);
        },
        [&](const sdfg::While& loop) { for_each_band(loop.body, f); });
}

std::int64_t product(const Threads& t) { return t[0] * t[1] * t[2]; }

// How many lines of `threads` share out a band of so many iterations. Each takes several, so that they are worth the
// block's place on its multiprocessor.
std::int64_t lines_for(std::int64_t iterations, const Threads& threads) {
  constexpr std::int64_t most = 128, each = 8, warp = 32;
  const std::int64_t line = threads[0];
  if (product(threads) != line) return 1;
  std::int64_t lines = std::min(iterations / (each * line), most / line);
  while (lines > 1 && lines * line > warp && lines * line % warp != 0) --lines;
  return std::max<std::int64_t>(lines, 1);
}
bool fits(const Threads& t) {
  return std::ranges::all_of(t, [](std::int64_t n) { return 1 <= n && n <= most_threads; }) && t[2] <= most_threads_z &&
         product(t) <= most_threads;
}

bool touches(const Loop& band, const std::set<std::string>& names) {
  const sdfg::Touched touched = sdfg::touched(Node(band));
  return std::ranges::any_of(
      names, [&](const std::string& name) { return touched.read.contains(name) || touched.written.contains(name); });
}

// What all threads run alike: what decides there must be the same for all of them.
class Uniform {
 public:
  Uniform(const sdfg::Sdfg& sdfg, const Meeting& meeting)
      : sdfg_(sdfg), written_(sdfg::touched(*meeting.body).written) {}

  Result<void> region(const Region& region) const {
    for (const Node& n : region.nodes) {
      if (!has_threads(n)) return unsupported("beside its threads, a block runs what none of them does", "");
      const auto* loop = std::get_if<Loop>(&n.value);
      if (loop != nullptr && is_thread(*loop)) {
        TRY_VOID(threads(*band_of(*loop).body));
        continue;
      }
      for (const std::string& read : sdfg::touched_itself(n).read)
        if (may_change(read)) return unsupported("'" + read + "' decides what the threads of a block run", read);
      if (loop != nullptr) {
        if (!loop->privates.empty() || !loop->reductions.empty())
          return unsupported("a loop around threads has something of its own", loop->symbol);
        TRY_VOID(this->region(loop->body));
      } else if (const auto* branch = std::get_if<sdfg::If>(&n.value)) {
        TRY_VOID(this->region(branch->then_body));
        TRY_VOID(this->region(branch->else_body));
      } else {
        return unsupported("a loop without a counter around threads of a block", "");
      }
    }
    return {};
  }

 private:
  static Result<void> threads(const Region& body) {
    for (const Node& n : body.nodes)
      if (has_threads(n)) return unsupported("threads inside threads that do something else, too", "");
    return {};
  }
  bool may_change(const std::string& read) const {
    const sdfg::Container* c = sdfg_.find(read);
    return c == nullptr || std::ranges::any_of(written_, [&](const std::string& w) {
             return w == read || (c->alias_class != 0 && sdfg_.find(w)->alias_class == c->alias_class);
           });
  }

  const sdfg::Sdfg& sdfg_;
  const std::set<std::string> written_;
};

// Whether all that the band writes is memory that threads share.
bool fills_shared(const sdfg::Sdfg& sdfg, const Loop& band) {
  return std::ranges::all_of(sdfg::touched(Node(band)).written, [&](const std::string& name) {
    return sdfg.find(name)->storage == sdfg::Storage::device_shared;
  });
}

// Takes the subscripts that say which thread it is from what a band touches of `own`.
Result<void> drop_thread(Loop& first, const Meeting& meeting) {
  if (!touches(first, meeting.own)) return {};
  const Band band = band_of(first);
  const auto trips = band.trips();
  if (!trips || *trips != meeting.threads || !fits(*trips))
    return unsupported("what threads have of their own is touched by loops over other threads", first.symbol);
  std::vector<Expr> own;
  for (const Loop* l : band.loops) own.push_back(Expr::floor_div(Expr::symbol(l->symbol) - l->begin, l->step));
  bool all = true;
  Region inside{{Node(first)}};
  sdfg::map_exprs(inside, [&](const Expr& e) {
    for (const std::string& read : e.reads()) all = all && !meeting.own.contains(read);
    return e;
  });
  sdfg::visit(inside, [&](Node& n) {
    sdfg::change_memlets(n, [&](sdfg::Memlet& m) {
      if (!meeting.own.contains(m.container)) return;
      for (std::size_t k = 0; k < own.size(); ++k) all = all && k < m.subset.size() && m.subset[k] == own[k];
      if (all) m.subset.erase(m.subset.begin(), m.subset.begin() + static_cast<std::ptrdiff_t>(own.size()));
    });
  });
  if (!all) return unsupported("a thread touches what is another one's", first.symbol);
  first = std::get<Loop>(inside.nodes[0].value);
  return {};
}

// The same in each band of the region.
Result<void> drop_threads(Region& region, const Meeting& meeting) {
  for (Node& n : region.nodes) {
    if (auto* loop = std::get_if<Loop>(&n.value); loop != nullptr && is_thread(*loop)) {
      TRY_VOID(drop_thread(*loop, meeting));
    } else {
      for (Region* inside : sdfg::bodies(n)) TRY_VOID(drop_threads(*inside, meeting));
    }
  }
  return {};
}

// In the outermost loops over blocks of the region.
Result<void> own_places(const sdfg::Sdfg& whole, sdfg::Sdfg& result, Region& region) {
  for (Node& n : region.nodes) {
    if (auto* loop = std::get_if<Loop>(&n.value); loop != nullptr && is_grid(*loop)) {
      const auto meeting = meeting_of(whole, *loop);
      if (!meeting || meeting->own.empty()) continue;
      TRY_VOID(check_meeting(whole, *meeting));
      std::size_t dimensions = 0;
      for_each_band(*meeting->body, [&](const Loop& first) {
        if (touches(first, meeting->own)) dimensions = band_of(first).loops.size();
      });
      // Each in its order: a loop around the innermost one over blocks holds nothing else.
      Region* body = &loop->body;
      while (body->nodes.size() == 1 && std::holds_alternative<Loop>(body->nodes[0].value) &&
             is_grid(std::get<Loop>(body->nodes[0].value)))
        body = &std::get<Loop>(body->nodes[0].value).body;
      TRY_VOID(drop_threads(*body, *meeting));
      for (const std::string& name : meeting->own) {
        sdfg::Container& c = *result.find(name);
        if (c.strides != sdfg::row_major(c.shape) || c.offset != Expr(0) || c.shape.size() < dimensions)
          return unsupported("'" + name + "' has no place for each thread", name);
        c.shape.erase(c.shape.begin(), c.shape.begin() + static_cast<std::ptrdiff_t>(dimensions));
        c.strides = sdfg::row_major(c.shape);
      }
    } else {
      for (Region* inside : sdfg::bodies(n)) TRY_VOID(own_places(whole, result, *inside));
    }
  }
  return {};
}

}  // namespace

int dimension_of(const Loop& loop) {
  if (const auto* grid = std::get_if<sdfg::GpuGrid>(&loop.schedule)) return grid->dimension;
  return std::get<sdfg::GpuBlock>(loop.schedule).dimension;
}
bool is_grid(const Loop& loop) { return std::holds_alternative<sdfg::GpuGrid>(loop.schedule); }
bool is_thread(const Loop& loop) { return std::holds_alternative<sdfg::GpuBlock>(loop.schedule); }

std::optional<Threads> Band::trips() const {
  Threads threads{1, 1, 1};
  for (const Loop* l : loops) {
    const auto most = sdfg::most_trips(*l);
    if (!most) return std::nullopt;
    threads[static_cast<std::size_t>(dimension_of(*l))] = *most;
  }
  return threads;
}

Band band_of(const Loop& loop) {
  Band band{.loops = {&loop}, .body = &loop.body};
  while (band.body->nodes.size() == 1) {
    const auto* next = std::get_if<Loop>(&band.body->nodes[0].value);
    if (next == nullptr || !is_thread(*next)) break;
    band.loops.push_back(next);
    band.body = &next->body;
  }
  return band;
}

bool has_threads(const Node& node) {
  bool found = false;
  sdfg::visit(Region{{node}}, [&](const Node& n) {
    const auto* l = std::get_if<Loop>(&n.value);
    found = found || (l != nullptr && is_thread(*l));
  });
  return found;
}

std::optional<Meeting> meeting_of(const sdfg::Sdfg& sdfg, const Loop& loop) {
  Meeting meeting{.blocks = {&loop}, .body = &loop.body, .own = {}};
  while (meeting.body->nodes.size() == 1) {
    const auto* next = std::get_if<Loop>(&meeting.body->nodes[0].value);
    if (next == nullptr) break;
    if (is_thread(*next)) return std::nullopt;
    if (!is_grid(*next)) break;
    meeting.blocks.push_back(next);
    meeting.body = &next->body;
  }
  if (std::ranges::none_of(meeting.body->nodes, has_threads)) return std::nullopt;
  for (const Loop* l : meeting.blocks)
    for (const std::string& name : l->privates)
      if (sdfg.find(name)->storage != sdfg::Storage::device_shared) meeting.own.insert(name);
  bool decided = false, computes = false;
  std::int64_t most = 0;  // iterations of what any thread may copy
  for_each_band(*meeting.body, [&](const Loop& first) {
    const auto trips = band_of(first).trips();
    if (!trips) return;
    const bool is_own = touches(first, meeting.own), copies = !is_own && fills_shared(sdfg, first);
    if (copies && std::ranges::all_of(*trips, [](std::int64_t n) { return n <= most_iterations; }))
      most = std::max(most, product(*trips));
    if (decided || !fits(*trips) || (copies && computes)) return;
    decided = is_own;
    if (decided || (!copies && !computes) || product(*trips) > product(meeting.threads)) meeting.threads = *trips;
    computes = computes || !copies;
  });
  if (computes) meeting.lines = lines_for(most, meeting.threads);
  return meeting;
}

Result<void> check_meeting(const sdfg::Sdfg& sdfg, const Meeting& meeting) {
  std::int64_t bytes = 0;
  for (const Loop* l : meeting.blocks)
    for (const std::string& name : l->privates) {
      const sdfg::Container& c = *sdfg.find(name);
      if (c.storage != sdfg::Storage::device_shared) continue;
      Expr elements = 1;
      for (std::size_t d = 0; d < c.shape.size(); ++d) elements = elements + (c.shape[d] - 1) * c.strides[d];
      const auto count = elements.constant();
      if (!count || *count > most_shared_bytes) return unsupported("nobody knows how large '" + name + "' is", name);
      bytes += *count * sdfg::info(c.type).bytes;
    }
  if (bytes > most_shared_bytes)
    return unsupported("a block has " + std::to_string(bytes) + " bytes of shared memory, more than 48 KiB",
                       meeting.blocks[0]->symbol);
  return Uniform(sdfg, meeting).region(*meeting.body);
}

Result<sdfg::Sdfg> with_own_places(const sdfg::Sdfg& sdfg) {
  sdfg::Sdfg result = sdfg;
  TRY_VOID(own_places(sdfg, result, result.root));
  return result;
}

}  // namespace sous::targets
