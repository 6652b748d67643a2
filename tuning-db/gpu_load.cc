#include "tuning-db/gpu_load.h"

#include <algorithm>
#include <set>

#include "sdfg/written.h"
#include "tuning-db/nest_facts.h"
#include "tuning-db/operation_cost.h"
#include "tuning-db/schedule_features.h"

namespace sous::tuning_db {
namespace {

// Threads of a multiprocessor from which on its pipes and its path to memory are busy: each may have several results
// under way.
constexpr double busy_threads = 256;
// What one statement takes in a thread that others do not fill the time of, in seconds.
constexpr double one_by_one = 2e-9;
// And one that waits for what the thread's iteration before has written to memory: 230 ns for each of adi EXTRALARGE on
// an H100, divisions among them.
constexpr double one_behind = 250e-9;
// The share of the bandwidth that sweeps get: 93 ms for jacobi-2d EXTRALARGE on an H200, of which all bytes once for
// each sweep take 45.
constexpr double share_of_bandwidth = 0.5;

struct Place {
  double launches = 1, threads = 1, copies = 1;
  int grid = -1;  // the outermost loop over blocks; -1: it runs in one thread, or beside kernels
};

Place place_of(const NestFacts& facts, const StatementFact& s) {
  Place out;
  for (const int k : s.loops) {
    const LoopFact& fact = facts.loops[static_cast<std::size_t>(k)];
    const double trips = std::max(1.0, fact.trips);
    if (out.grid < 0 && std::holds_alternative<sdfg::GpuGrid>(fact.loop->schedule)) out.grid = k;
    if (sdfg::is_on_gpu(fact.loop->schedule)) {
      out.threads *= trips;
    } else if (out.grid < 0) {
      out.launches *= trips;
    } else if (std::holds_alternative<sdfg::Unroll>(fact.loop->schedule)) {
      out.copies *= trips;
    }
  }
  return out;
}

// Whether a thread runs the statement again and again, each time on another element than the one that it has just
// computed from: a recurrence through memory.
bool waits_for_itself(const NestFacts& facts, const StatementFact& s, const Place& place) {
  const auto grid = std::ranges::find(s.loops, place.grid);
  const bool again = std::any_of(grid, s.loops.end(), [&](const int k) {
    const LoopFact& fact = facts.loops[static_cast<std::size_t>(k)];
    return std::holds_alternative<sdfg::Sequential>(fact.loop->schedule) && fact.trips > 1;
  });
  const auto& accesses = facts.accesses;
  return again && std::ranges::any_of(accesses, [&](const AccessFact& out) {
           const sdfg::Storage storage = out.container->storage;
           if (!out.write || &facts.statements[static_cast<std::size_t>(out.statement)] != &s ||
               (storage != sdfg::Storage::argument && storage != sdfg::Storage::heap))
             return false;
           return std::ranges::any_of(accesses, [&](const AccessFact& in) {
             return !in.write && in.statement == out.statement && in.container == out.container &&
                    in.memlet->subset != out.memlet->subset;
           });
         });
}

}  // namespace

GpuLoad gpu_load(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes, const Gpu& gpu) {
  const NestFacts known = facts(nest, sizes);
  const bool wide = std::ranges::any_of(
      known.accesses, [](const AccessFact& access) { return access.container->type == sdfg::ElementType::f64; });
  const double operations_per_second = std::max(1.0, (wide ? gpu.fma_f64 : gpu.fma_f32) / 2);
  const double all_threads = busy_threads * std::max(1, gpu.multiprocessors);
  GpuLoad out;
  std::set<int> grids;
  double computing = 0, in_turn = 0;
  for (const StatementFact& s : known.statements) {
    const Place place = place_of(known, s);
    const double busy = std::min(1.0, place.threads * place.copies / all_threads);
    computing += s.executions * cost_of(s.code).all / operations_per_second / busy;
    in_turn += s.executions / place.threads * (waits_for_itself(known, s, place) ? one_behind : one_by_one);
    if (place.grid >= 0 && !grids.insert(place.grid).second) continue;
    out.launches += place.grid >= 0 ? place.launches : 1;
  }
  Hardware caches;
  caches.l2_bytes = caches.l3_bytes = gpu.l2_bytes;
  const double bytes = core_load(nest, sizes, caches, 1).bytes;
  const double streaming = bytes / (share_of_bandwidth * std::max(1.0, gpu.bandwidth_bytes));
  out.seconds = std::max(computing, streaming) + in_turn;
  out.kernels = static_cast<double>(std::max<std::size_t>(1, grids.size()));
  return out;
}

BusLoad bus_load(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  const IntervalMap symbols = facts(nest, sizes).symbols;
  const sdfg::Touched touched = sdfg::touched(nest.root);
  BusLoad out;
  for (const sdfg::Container& c : nest.containers) {
    if (c.transient || c.shape.empty()) continue;
    double bytes = sdfg::info(c.type).bytes;
    for (const sdfg::Expr& extent : c.shape) {
      const auto range = evaluate(extent, symbols);
      bytes *= range ? std::max(0.0, range->hi) : 1;
    }
    if (touched.read.contains(c.name)) out.to += bytes;
    if (touched.written.contains(c.name) && !c.dead) out.from += bytes;
  }
  return out;
}

}  // namespace sous::tuning_db
