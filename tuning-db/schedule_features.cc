#include "tuning-db/schedule_features.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "sdfg/parallel_loop.h"
#include "sdfg/planted_fault.h"
#include "sdfg/unknown_extent.h"
#include "tuning-db/nest_facts.h"
#include "tuning-db/operation_cost.h"
#include "tuning-db/statement_work.h"

namespace sous::tuning_db {
namespace {

constexpr double line_bytes = 64;
// A vector loop without a number of lanes has those of the hardware; a parallel loop's shares are of its iterations.
constexpr double some_lanes = 8;
// For each nanosecond, at most: one by one, and where a compiler finds vectors.
constexpr double scalar_operations = 4, vector_operations = 32;
// Of a chain, each link of which waits for the one before: what a link takes (two to four cycles), where the chain is
// so long that others do not run beside it.
constexpr double link_nanoseconds = 1.2, long_chain = 64;
double logarithm(double value) { return std::log2(1 + std::clamp(value, 0.0, 1e300)); }

class Reader {
 public:
  Reader(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes, const Hardware& hardware,
         int threads, double assumed_trips = 1024)
      : hardware_(hardware), threads_(std::max(1, threads)), facts_(facts(nest, sizes, assumed_trips)) {
    for (const auto& container : nest.containers) widest_ = std::max<double>(widest_, sdfg::info(container.type).bytes);
  }

  CoreLoad load(Vectors vectors) {
    CoreLoad out;
    exactly_ = true;
    out.in_waves = vectors == Vectors::None;
    for (const StatementFact& s : facts_.statements) statement(s);
    out.shares = total_ / std::max(1.0, largest_);
    out.operations = logarithm(total_);
    out.regions = regions();
    out.bytes = traffic(static_cast<double>(hardware_.l2_bytes));
    out.touched = traffic(INFINITY);
    out.threads = threads_;
    out.contended = contended();
    std::vector<bool> scattered(facts_.statements.size());
    for (const AccessFact& access : facts_.accesses) {
      const StatementFact& s = facts_.statements[static_cast<std::size_t>(access.statement)];
      const bool anywhere = std::ranges::any_of(
          s.loops, [&](int k) { return !stride(access, k) || (!loop(k).known && stride(access, k) != 0.0); });
      if (!anywhere) continue;
      scattered[static_cast<std::size_t>(access.statement)] = true;
      if (bytes_of(*access.container) > static_cast<double>(hardware_.l2_bytes))
        out.bytes += iterations(s) * sdfg::info(access.container->type).bytes;
    }
    std::map<int, double> links;  // of the chains in each innermost loop: they overlap
    std::map<int, double> work_beside;
    for (std::size_t k = 0; k < facts_.statements.size(); ++k) {
      const StatementFact& s = facts_.statements[k];
      const Cost one = compiled_cost_of(s.code);
      const bool in_order = vectors != Vectors::OfSums;
      const bool scalar = s.whiles > 0 || scattered[k] || vectors == Vectors::None || (in_order && sums_along(s));
      const double one_by_one = scalar ? one.all : one.special;
      const double work = one_by_one / scalar_operations + (one.all - one_by_one) / vector_operations;
      const int innermost = s.loops.empty() ? -1 : s.loops.back();
      work_beside[innermost] += iterations(s) * work;
      if (in_order && long_chained(s)) links[innermost] = std::max(links[innermost], iterations(s) * link_nanoseconds);
    }
    for (const auto& [innermost, work] : work_beside) out.nanoseconds += std::max(work, links[innermost]);
    return out;
  }

  ScheduleFeatures read() {
    for (const StatementFact& s : facts_.statements) statement(s);
    const double all = std::max(1.0, total_);
    for (const auto weighted : {ScheduleFeature::in_vectors, ScheduleFeature::unrolled, ScheduleFeature::chained,
                                ScheduleFeature::innermost_trips, ScheduleFeature::threads, ScheduleFeature::imbalance,
                                ScheduleFeature::special})
      at(weighted) /= all;
    at(ScheduleFeature::operations) = logarithm(total_);
    at(ScheduleFeature::regions) = logarithm(1e6 * regions() / all);
    accesses(all);
    const std::int64_t last =
        hardware_.l3_bytes > 0 ? hardware_.l3_bytes / std::max(1, hardware_.cores) : hardware_.l2_bytes;
    at(ScheduleFeature::beyond_l1) = logarithm(1000 * traffic(static_cast<double>(hardware_.l1_bytes)) / all);
    at(ScheduleFeature::beyond_l2) = logarithm(1000 * traffic(static_cast<double>(hardware_.l2_bytes)) / all);
    at(ScheduleFeature::beyond_l3) =
        logarithm(1000 * traffic(static_cast<double>(std::max(last, hardware_.l2_bytes))) / all);
    at(ScheduleFeature::branches) = facts_.ifs + facts_.whiles;
    at(ScheduleFeature::element_bytes) = widest_;
    return out_;
  }

 private:
  double& at(ScheduleFeature feature) { return out_[static_cast<std::size_t>(feature)]; }
  const LoopFact& loop(int k) const { return facts_.loops[static_cast<std::size_t>(k)]; }

  // As of NestFacts, for which these are dear, and asked for again and again.
  std::optional<double> stride(const AccessFact& access, int loop) const {
    const auto [known, is_new] = strides_.try_emplace({&access, loop});
    if (is_new) known->second = facts_.stride(access, loop);
    return known->second;
  }
  double touched(int free_height, int below) const {
    const auto [known, is_new] = touched_.try_emplace({free_height, below});
    if (is_new) known->second = facts_.touched(free_height, below);
    return known->second;
  }

  // Of all its elements, infinite where nobody knows.
  double bytes_of(const sdfg::Container& container) const {
    double product = sdfg::info(container.type).bytes;
    for (const sdfg::Expr& extent : container.shape) {
      const auto range = evaluate(extent, facts_.symbols);
      product *= range && range->hi < static_cast<double>(sdfg::unknown_extent) ? range->hi : INFINITY;
    }
    return product;
  }

  static double iterations(const StatementFact& s) { return s.executions * std::pow(some_iterations, s.whiles); }

  // Iterations that run beside each other in one thread: lanes and copies.
  double beside(const LoopFact& fact) const {
    if (const auto* simd = std::get_if<sdfg::Simd>(&fact.loop->schedule))
      return std::min(std::max(1.0, fact.trips), simd->lanes > 0 ? simd->lanes : some_lanes);
    if (const auto* unroll = std::get_if<sdfg::Unroll>(&fact.loop->schedule))
      return std::min(std::max(1.0, fact.trips), static_cast<double>(unroll->factor));
    return 1;
  }

  void statement(const StatementFact& s) {
    const Cost one = cost_of(s.code);
    const double weight = s.executions * one.all;
    total_ += weight;
    at(ScheduleFeature::special) += s.executions * one.special;
    double copies = 1, working = 1, imbalance = 0, share = 1;
    bool vector = false;
    const LoopFact* innermost = nullptr;  // of those that run one iteration after the other
    for (const int k : s.loops) {
      const LoopFact& fact = loop(k);
      copies *= beside(fact);
      vector = vector || std::holds_alternative<sdfg::Simd>(fact.loop->schedule);
      if (beside(fact) == 1) innermost = &fact;
      if (!std::holds_alternative<sdfg::Parallel>(fact.loop->schedule) || working > 1) continue;
      const double trips = shared_out(s, k).trips;
      working = std::min<double>(threads_, trips);
      imbalance = std::ceil(trips / threads_) * threads_ / trips - 1;
      // As many as the diagonal in the middle has, on average at least half of that: at the end of each, threads that
      // are left over wait, none to all but one of them as often.
      if (exactly_ && varies(fact)) imbalance = (threads_ - 1) / trips;
      if (is_triangle_in_shares(s, k)) imbalance += 1 - 1 / working;
      share = std::max((1 + imbalance) / threads_, 1 / trips);
    }
    largest_ += weight * share;
    at(ScheduleFeature::in_vectors) += vector ? weight : 0;
    at(ScheduleFeature::unrolled) += weight * std::log2(copies);
    at(ScheduleFeature::threads) += weight * working;
    at(ScheduleFeature::imbalance) += weight * std::min(imbalance, 16.0);
    if (innermost == nullptr) return;
    at(ScheduleFeature::innermost_trips) += weight * logarithm(innermost->trips);
    at(ScheduleFeature::chained) += chained(s, *innermost) ? weight : 0;
  }

  // What is handed out to threads with the statement's parallel loop.
  struct SharedOut {
    int innermost;  // of the loops that are handed out together
    double trips;   // of all of them, at least 1
  };
  SharedOut shared_out(const StatementFact& s, int outermost) const {
    const auto together = sdfg::shared_together(*loop(outermost).loop);
    SharedOut out{outermost, 1};
    auto k = std::ranges::find(s.loops, outermost);
    for (std::size_t n = 0; n < together.size(); ++n, ++k) {
      out.innermost = *k;
      out.trips *= std::max(1.0, loop(*k).trips);
    }
    return out;
  }

  // Whether the loop is longer and shorter as one around it goes on.
  bool varies(const LoopFact& fact) const {
    return std::ranges::any_of(fact.around, [&](int k) {
      return fact.loop->begin.uses(loop(k).loop->symbol) || fact.loop->end.uses(loop(k).loop->symbol);
    });
  }

  // Whether iterations of a loop that is cut into one share for each thread do more and more, or less and less: of a
  // triangle, the largest share is nearly twice the average.
  bool is_triangle_in_shares(const StatementFact& s, int shared) const {
    const sdfg::Loop& outer = *loop(shared).loop;
    const auto& parallel = std::get<sdfg::Parallel>(outer.schedule);
    if (parallel.kind != sdfg::ParallelKind::Static || parallel.chunk > 0) return false;
    return std::ranges::any_of(sdfg::shared_together(outer), [&](const sdfg::Loop* one) {
      const auto number = std::ranges::find(facts_.loops, one, &LoopFact::loop) - facts_.loops.begin();
      const bool uses = std::ranges::any_of(
          s.loops, [&](int k) { return loop(k).loop->begin.uses(one->symbol) || loop(k).loop->end.uses(one->symbol); });
      return uses && (!exactly_ || facts_.lengths_change(s, static_cast<int>(number)));
    });
  }

  // Whether each iteration of the loop waits for the one before. (Sums of integers are reordered by any compiler.)
  bool chained(const StatementFact& s, const LoopFact& innermost) const {
    const auto index = static_cast<int>(&s - facts_.statements.data());
    const auto number = static_cast<int>(&innermost - facts_.loops.data());
    return std::ranges::any_of(facts_.accesses, [&](const AccessFact& access) {
      return access.write && access.statement == index && sdfg::is_float(access.container->type) &&
             stride(access, number) == 0.0;
    });
  }
  bool long_chained(const StatementFact& s) const {
    if (s.loops.empty() || std::ranges::any_of(s.loops, [&](int k) { return beside(loop(k)) > 1; })) return false;
    const LoopFact& innermost = loop(s.loops.back());
    return innermost.trips >= long_chain && chained(s, innermost);
  }

  // Whether the statement adds to a float in the innermost loop, so often as the program finds out: a compiler that has
  // to keep the order unrolls what is known to be short, and makes vectors around that, but not of this.
  bool sums_along(const StatementFact& s) const {
    if (s.loops.empty() || std::ranges::any_of(s.loops, [&](int k) { return beside(loop(k)) > 1; })) return false;
    const LoopFact& innermost = loop(s.loops.back());
    return !(innermost.loop->end - innermost.loop->begin).constant() && chained(s, innermost);
  }

  void accesses(double all) {
    double count = 0;
    for (const AccessFact& access : facts_.accesses) {
      const StatementFact& s = facts_.statements[static_cast<std::size_t>(access.statement)];
      if (s.loops.empty()) continue;
      count += s.executions;
      const auto stride = this->stride(access, s.loops.back());
      const double bytes = stride ? std::abs(*stride) * sdfg::info(access.container->type).bytes : 0;
      if (!stride) {
        at(ScheduleFeature::gathered) += s.executions;
      } else if (bytes == 0) {
        at(ScheduleFeature::invariant) += s.executions;
      } else if (std::abs(*stride) == 1) {
        at(ScheduleFeature::unit) += s.executions;
      } else if (bytes >= line_bytes) {
        at(ScheduleFeature::far) += s.executions;
      }
      at(ScheduleFeature::scattered) += lanes_apart(s, access) ? s.executions : 0;
    }
    for (const auto share : {ScheduleFeature::gathered, ScheduleFeature::invariant, ScheduleFeature::unit,
                             ScheduleFeature::far, ScheduleFeature::scattered})
      at(share) /= std::max(1.0, count);
    at(ScheduleFeature::accesses) = count / all;
  }

  // Whether a vector is put together from, or taken apart to, places that lie apart.
  bool lanes_apart(const StatementFact& s, const AccessFact& access) const {
    return std::ranges::any_of(s.loops, [&](int k) {
      if (!std::holds_alternative<sdfg::Simd>(loop(k).loop->schedule)) return false;
      const auto stride = this->stride(access, k);
      return !stride || std::abs(*stride) > 1;
    });
  }

  // Writes of threads that go over the same lines of memory side by side: what lies next to each other is of different
  // iterations of the parallel loop, and loops inside of that go on from line to line.
  double contended() const {
    double writes = 0;
    for (const AccessFact& access : facts_.accesses) {
      const StatementFact& s = facts_.statements[static_cast<std::size_t>(access.statement)];
      const auto shared = std::ranges::find_if(
          s.loops, [&](int k) { return std::holds_alternative<sdfg::Parallel>(loop(k).loop->schedule); });
      if (!access.write || access.container->transient || shared == s.loops.end()) continue;
      const SharedOut out = shared_out(s, *shared);
      const double bytes =
          sdfg::info(access.container->type).bytes * std::abs(facts_.stride(access, out.innermost).value_or(0));
      const auto& parallel = std::get<sdfg::Parallel>(loop(*shared).loop->schedule);
      const double apart = parallel.chunk > 0 ? static_cast<double>(parallel.chunk) : std::ceil(out.trips / threads_);
      const bool goes_on = std::any_of(std::ranges::find(s.loops, out.innermost) + 1, s.loops.end(),
                                       [&](int k) { return facts_.stride(access, k).value_or(0) != 0; });
      if (bytes > 0 && bytes * apart < line_bytes && goes_on) writes += iterations(s);
    }
    return writes;
  }

  // How often threads are sent out.
  double regions() const {
    double entered = 0;
    for (const LoopFact& fact : facts_.loops) {
      const auto is_shared = [&](const LoopFact& one) {
        return std::holds_alternative<sdfg::Parallel>(one.loop->schedule);
      };
      const bool inside = std::ranges::any_of(fact.around, [&](int k) { return is_shared(loop(k)); });
      if (!is_shared(fact) || inside) continue;
      double times = 1;
      for (const int k : fact.around) times *= std::max(1.0, loop(k).trips);
      entered += times;
    }
    return entered;
  }

  // Bytes that a cache of this size does not keep from one use to the next. What the loops inside the lowest level
  // whose footprint exceeds it touch stays from one iteration of that level to the next; in each iteration of the loops
  // around, all that the level touches is brought anew.
  double traffic(double bytes) const {
    double result = 0;
    for (const LoopFact& outermost : facts_.loops) {
      if (!outermost.around.empty()) continue;
      result += traffic_below(static_cast<int>(&outermost - facts_.loops.data()), bytes);
    }
    return result;
  }
  double traffic_below(int outermost, double bytes) const {
    const int whole = loop(outermost).height + 1;
    int height = whole;
    const auto footprint = [&](int free_height) { return touched(free_height, outermost); };
    while (height > 0 && footprint(height) > bytes) --height;
    if (height == whole) return footprint(whole);
    // The longest way down from the outermost loop.
    double around = 1, times = 1;
    for (const LoopFact& fact : facts_.loops) {
      const int root = fact.around.empty() ? static_cast<int>(&fact - facts_.loops.data()) : fact.around.front();
      if (fact.height != height || root != outermost) continue;
      double product = 1;
      for (const int k : fact.around) product *= std::max(1.0, loop(k).trips);
      around = std::max(around, product);
      times = std::max(times, product * std::max(1.0, fact.trips));
    }
    return std::min(times * footprint(height), around * footprint(height + 1));
  }

  const Hardware& hardware_;
  int threads_;
  bool exactly_ = false;  // shares are what they are; the model was trained on simpler estimates
  NestFacts facts_;
  mutable std::map<std::pair<const AccessFact*, int>, std::optional<double>> strides_;
  mutable std::map<std::pair<int, int>, double> touched_;
  double widest_ = 1, total_ = 0, largest_ = 0;
  ScheduleFeatures out_{};
};

}  // namespace

std::string_view schedule_feature_name(ScheduleFeature feature) {
  constexpr std::array<std::string_view, schedule_feature_count> names{
#define X(name) #name,
      SOUS_SCHEDULE_FEATURES(X)
#undef X
  };
  return names[static_cast<std::size_t>(feature)];
}

ScheduleFeatures schedule_features(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes,
                                   const Hardware& hardware, int threads) {
  return Reader(nest, sizes, hardware, threads).read();
}

CoreLoad core_load(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes, const Hardware& hardware,
                   int threads, Vectors vectors) {
  return Reader(nest, sizes, hardware, threads, some_iterations).load(vectors);
}

namespace {

double of_conditions(const sdfg::Region& region, const std::map<const sdfg::Loop*, double>& trips, double executions) {
  double all = 0;
  for (const sdfg::Node& node : region.nodes)
    match(
        node.value, [](const sdfg::State&) {},
        [&](const sdfg::Loop& loop) { all += of_conditions(loop.body, trips, executions * trips.at(&loop)); },
        [&](const sdfg::If& branch) {
          all += executions * cost_of(&branch.condition.code).all;
          all +=
              of_conditions(branch.then_body, trips, executions) + of_conditions(branch.else_body, trips, executions);
        },
        [&](const sdfg::While& loop) { all += of_conditions(loop.body, trips, executions); });
  return all;
}

double all_operations(const NestFacts& facts) {
  double all = 0;
  for (const StatementFact& s : facts.statements) all += s.executions * cost_of(s.code).all;
  return all;
}

}  // namespace

double operations(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  return all_operations(facts_without_accesses(nest, sizes));
}

double operations_of_load(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  return all_operations(facts_without_accesses(nest, sizes, some_iterations));
}

double operations_of_conditions(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  std::map<const sdfg::Loop*, double> trips;
  for (const LoopFact& fact : facts_without_accesses(nest, sizes, some_iterations).loops) trips[fact.loop] = fact.trips;
  return of_conditions(nest.root, trips, 1);
}

}  // namespace sous::tuning_db
