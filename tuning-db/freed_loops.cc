// What vectors and chains gain that the compiler of a program could not have made.
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <ranges>
#include <set>
#include <utility>

#include "tuning-db/chains.h"
#include "tuning-db/nest_facts.h"
#include "tuning-db/operation_cost.h"
#include "tuning-db/schedule_features.h"

namespace sous::tuning_db {
namespace {

// Of vectors that no compiler finds: their share of the operations, and what is counted on. With vectors of 512 bits,
// in which masks take the ends of loops and stores under conditions: lanes and iterations. With those of 256 bits more
// of both, and no conditions. Shorter ones gain too little, or lose.
constexpr double most_of_all = 0.9, counted_on_vectors = 1.5;
struct LeastVectors {
  double lanes, trips;
  bool conditions;
};
constexpr LeastVectors with_masks{4, 24, true}, without_masks{8, 96, false};
// In place of a loop that is slow, for it waits for each element, fewer will do.
constexpr LeastVectors for_slow_with_masks{2, 48, true}, for_slow{2, 64, false};
// In place of a choice in each iteration, stores under conditions are no loss.
constexpr LeastVectors for_choices{4, 64, true};
// Of sums one after the other: how long they are (what a core has under way at once are some dozen additions), the
// share of the lanes that is counted on, and how many bytes one core gets from memory meanwhile, a low estimate.
constexpr double least_chain = 64, share_of_lanes = 0.5, bytes_of_vectors = 4;
constexpr double line_bytes = 64;

// Of chains that overlap: copies, how many of them are there on average, iterations around them, and their share.
constexpr double least_copies = 8, most_idle = 0.1, least_long = 96, most_of_chains = 0.8, counted_on_chains = 1.5;

double weight(const StatementFact& s) { return s.executions * cost_of(s.code).all; }

// Whether it calls the library's functions, which take longer than what a statement waits for, and run one by one in
// lanes too (but for some with -ffast-math, where no sum is waited for).
bool calls_library(const StatementFact& s) {
  bool found = false;
  if (s.code == nullptr) return found;
  s.code->visit([&](const sdfg::ScalarExpr& e) {
    using enum sdfg::OpKind;
    const sdfg::OpInfo& op = sdfg::info(e.op);
    found = found || op.kind == Exponential || op.kind == Trigonometric ||
            (op.form == sdfg::OpForm::Call && op.kind == Div) || (op.kind == Root && e.op != sdfg::ScalarOp::sqrt);
  });
  return found;
}

bool has_condition_in_lanes(const sdfg::Sdfg& nest) {
  bool found = false;
  sdfg::visit(nest.root, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    if (loop == nullptr || !std::holds_alternative<sdfg::Simd>(loop->schedule)) return;
    sdfg::visit(loop->body, [&](const sdfg::Node& n) { found = found || std::holds_alternative<sdfg::If>(n.value); });
  });
  return found;
}

// Iterations of a loop; of one over the points of a tile, those of all its tiles in a row.
double in_a_row(const NestFacts& known, const LoopFact& fact) {
  for (const int k : fact.around) {
    const LoopFact& tiles = known.loops[static_cast<std::size_t>(k)];
    if (tiles.loop->step > 1 && fact.loop->begin.uses(tiles.loop->symbol)) return tiles.trips * fact.trips;
  }
  return fact.trips;
}

// Whether the loop begins or ends elsewhere in each lane of one around it.
bool differs_between_lanes(const NestFacts& known, const LoopFact& fact, int outer) {
  const sdfg::Loop& around = *known.loops[static_cast<std::size_t>(outer)].loop;
  return std::holds_alternative<sdfg::Simd>(around.schedule) &&
         (fact.loop->begin.uses(around.symbol) || fact.loop->end.uses(around.symbol));
}

// The lanes in which most of the work is, if it is, and on neighbouring elements; else 0.
double filled_lanes(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes, const LeastVectors& least,
                    int bits) {
  if (!least.conditions && has_condition_in_lanes(nest)) return 0;
  const NestFacts known = facts(nest, sizes);
  double all = 0, in_vectors = 0, widest = 1;
  std::vector<int> lanes(known.statements.size(), -1);  // the loop of lanes around each statement, if it is a fast one
  for (std::size_t k = 0; k < known.statements.size(); ++k) {
    int count = 0;
    for (const int loop : known.statements[k].loops) {
      const LoopFact& fact = known.loops[static_cast<std::size_t>(loop)];
      if (!std::holds_alternative<sdfg::Simd>(fact.loop->schedule)) {
        // Lanes that run for different times are no vectors.
        const auto differs = [&](int outer) { return differs_between_lanes(known, fact, outer); };
        if (std::ranges::any_of(fact.around, differs)) lanes[k] = -1;
        continue;
      }
      // Lanes of lanes are slow.
      lanes[k] = ++count == 1 && in_a_row(known, fact) >= least.trips ? loop : -1;
    }
  }
  // Nor are those that look each for itself when to stop.
  for (std::size_t k = 0; k < known.statements.size(); ++k)
    if (known.statements[k].whiles > 0) lanes[k] = -1;
  for (const AccessFact& access : known.accesses) {
    int& loop = lanes[static_cast<std::size_t>(access.statement)];
    if (loop < 0) continue;
    const auto stride = known.stride(access, loop);
    if (!stride || std::abs(*stride) > 1)
      loop = -1;
    else
      widest = std::max<double>(widest, sdfg::info(access.container->type).bytes);
  }
  for (std::size_t k = 0; k < known.statements.size(); ++k) {
    all += weight(known.statements[k]);
    in_vectors += lanes[k] >= 0 ? weight(known.statements[k]) : 0;
  }
  const double count = bits / (8 * widest);
  return count >= least.lanes && all > 0 && in_vectors >= most_of_all * all ? count : 0;
}

bool reads(const NestFacts& known, int statement, const sdfg::Container* container) {
  return std::ranges::any_of(known.accesses, [&](const AccessFact& a) {
    return !a.write && a.statement == statement && a.container == container;
  });
}

// Whether each iteration of the loop begins with a value of its own, whatever the one before left.
bool sets_anew(const NestFacts& known, int loop, const sdfg::Container* container) {
  return std::ranges::any_of(known.accesses, [&](const AccessFact& access) {
    const StatementFact& s = known.statements[static_cast<std::size_t>(access.statement)];
    return access.write && access.container == container && s.under == nullptr && !s.loops.empty() &&
           s.loops.back() == loop && !reads(known, access.statement, container);
  });
}

// Whether many iterations of the innermost loops store the same element, one after the other.
bool stays_long(const NestFacts& known, const AccessFact& access) {
  double links = 1;
  for (const int loop : known.statements[static_cast<std::size_t>(access.statement)].loops | std::views::reverse) {
    if (known.stride(access, loop) != 0.0 || sets_anew(known, loop, access.container)) break;
    links *= known.loops[static_cast<std::size_t>(loop)].trips;
  }
  return links >= least_chain;
}

// Whether what is stored is a float that many iterations of the innermost loops add to, one after the other.
bool is_chain(const NestFacts& known, const AccessFact& access) {
  return access.write && sdfg::is_float(access.container->type) && stays_long(known, access);
}

// Whether what it computes last may change places with what other iterations do, if it is of integers.
bool is_reordered(const StatementFact& s) {
  using enum sdfg::ScalarOp;
  constexpr auto ops = std::to_array({add, mul, min, max, bit_and, bit_or, bit_xor, select});
  return s.code != nullptr && std::ranges::find(ops, s.code->op) != ops.end();
}

// Whether the statement is under a condition that looks at the container.
bool asks_about(const StatementFact& s, const sdfg::Container& container) {
  return s.under != nullptr && std::ranges::any_of(s.under->condition.inputs, [&](const sdfg::Memlet& m) {
           return m.container == container.name;
         });
}

// Those that wait, and the ones whose value only these take, through a temporary of the same iteration:
// `t = x - c; s += t * t;` waits as `s += (x - c) * (x - c);` does.
std::vector<bool> with_temporaries(const NestFacts& known, std::vector<bool> waiting) {
  const auto only_they_take = [&](const AccessFact& written) {
    const StatementFact& s = known.statements[static_cast<std::size_t>(written.statement)];
    bool taken = false, by_others = false;
    for (const AccessFact& read : known.accesses) {
      if (read.write || read.container != written.container) continue;
      const auto by = static_cast<std::size_t>(read.statement);
      taken = taken || waiting[by];
      by_others = by_others || !waiting[by] || known.statements[by].loops != s.loops;
    }
    for (std::size_t k = 0; k < waiting.size(); ++k)
      by_others = by_others || (!waiting[k] && asks_about(known.statements[k], *written.container));
    return taken && !by_others;
  };
  for (bool more = true; more;) {
    more = false;
    for (const AccessFact& access : known.accesses) {
      const auto index = static_cast<std::size_t>(access.statement);
      const StatementFact& s = known.statements[index];
      if (waiting[index] || !access.write || s.loops.empty() || calls_library(s)) continue;
      if (!access.container->transient || !access.container->shape.empty() || !only_they_take(access)) continue;
      waiting[index] = more = true;
    }
  }
  return waiting;
}

}  // namespace

double freed_vectors_gain(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes,
                          const Hardware& hardware) {
  const int bits = simd_bits(hardware.isa);
  if (bits < 256) return 0;
  return filled_lanes(nest, sizes, bits >= 512 ? with_masks : without_masks, bits) > 0 ? counted_on_vectors : 0;
}

bool lanes_are_neighbours(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  const NestFacts known = facts(nest, sizes);
  double in_lanes = 0, apart = 0;
  for (std::size_t k = 0; k < known.statements.size(); ++k) {
    const StatementFact& s = known.statements[k];
    const auto lanes = std::ranges::find_if(s.loops, [&](int loop) {
      return std::holds_alternative<sdfg::Simd>(known.loops[static_cast<std::size_t>(loop)].loop->schedule);
    });
    if (lanes == s.loops.end()) continue;
    in_lanes += weight(s);
    const bool one_by_one = std::ranges::any_of(known.accesses, [&](const AccessFact& access) {
      if (access.statement != static_cast<int>(k)) return false;
      // What stays the same in a loop inside of the lanes is brought there once.
      if (*lanes != s.loops.back() && known.stride(access, s.loops.back()) == 0.0) return false;
      const auto stride = known.stride(access, *lanes);
      return !stride || std::abs(*stride) > 1;
    });
    apart += one_by_one ? weight(s) : 0;
  }
  return apart <= (1 - most_of_all) * in_lanes;
}

double reordered_vectors_gain(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes,
                              const Hardware& hardware, Waits waits, const CoreLoad& before) {
  const int bits = simd_bits(hardware.isa);
  if (bits < 256 || waits == Waits::No) return 0;
  const LeastVectors least = waits == Waits::ForChoices ? for_choices : bits >= 512 ? for_slow_with_masks : for_slow;
  const double lanes = filled_lanes(nest, sizes, least, bits);
  if (lanes == 0 || waits != Waits::ForSums) return lanes == 0 ? 0 : counted_on_vectors;
  const double as_memory_allows = before.bytes > 0 ? bytes_of_vectors * before.nanoseconds / before.bytes : lanes;
  return std::max(counted_on_vectors, std::min(share_of_lanes * lanes, as_memory_allows));
}

namespace {

// The innermost loops that keep the best value so far, as no compiler makes vectors of it.
std::set<int> loops_of_choices(const NestFacts& known, bool reassociate) {
  struct Kept {
    std::set<const sdfg::Container*> all;  // under conditions, and the same in many iterations
    bool best = false, float_best = false;
  };
  std::map<int, Kept> loops;
  for (const AccessFact& access : known.accesses) {
    const StatementFact& s = known.statements[static_cast<std::size_t>(access.statement)];
    if (!access.write || s.under == nullptr || s.whiles > 0 || s.loops.empty() || !stays_long(known, access) ||
        sets_anew(known, s.loops.back(), access.container))
      continue;
    Kept& kept = loops[s.loops.back()];
    kept.all.insert(access.container);
    if (!asks_about(s, *access.container)) continue;
    kept.best = true;
    kept.float_best = kept.float_best || (!reassociate && sdfg::is_float(access.container->type));
  }
  std::set<int> result;
  for (const auto& [loop, kept] : loops)
    if (kept.float_best || (kept.best && kept.all.size() > 1)) result.insert(loop);
  return result;
}

}  // namespace

Waits waits(const sdfg::Sdfg& program, const std::map<std::string, std::int64_t>& sizes, bool reassociate,
            double part) {
  const NestFacts known = facts(program, sizes);
  std::vector<bool> sums(known.statements.size()), lines(known.statements.size());
  for (const AccessFact& access : known.accesses) {
    const auto index = static_cast<std::size_t>(access.statement);
    const StatementFact& s = known.statements[index];
    if (s.loops.empty() || calls_library(s)) continue;
    const auto stride = known.stride(access, s.loops.back());
    if (!reassociate && is_chain(known, access)) sums[index] = true;
    if (stride && std::abs(*stride) * sdfg::info(access.container->type).bytes >= line_bytes) lines[index] = true;
  }
  sums = with_temporaries(known, std::move(sums));
  const std::set<int> choices = loops_of_choices(known, reassociate);
  double all = 0, for_sums = 0, for_any = 0, in_choices = 0;
  for (std::size_t k = 0; k < known.statements.size(); ++k) {
    const StatementFact& s = known.statements[k];
    const double one = weight(s);
    all += one;
    in_choices += !s.loops.empty() && choices.contains(s.loops.back()) ? one : 0;
    for_sums += sums[k] ? one : 0;
    for_any += sums[k] || lines[k] ? one : 0;
  }
  // All that does not wait may be in the part.
  const double most = (1 - (1 - most_of_all) * part) * all;
  if (all > 0 && in_choices >= most) return Waits::ForChoices;
  if (all == 0 || for_any < most) return Waits::No;
  return for_sums >= most ? Waits::ForSums : Waits::ForLines;
}

namespace {

double share_of_chains(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes, bool temporaries) {
  const NestFacts known = facts(nest, sizes);
  std::vector<bool> chains(known.statements.size());
  for (const AccessFact& access : known.accesses)
    if (access.write && reads(known, access.statement, access.container) && stays_long(known, access))
      chains[static_cast<std::size_t>(access.statement)] = true;
  if (temporaries) chains = with_temporaries(known, std::move(chains));
  double all = 0, waiting = 0;
  for (std::size_t k = 0; k < chains.size(); ++k) {
    all += weight(known.statements[k]);
    waiting += chains[k] ? weight(known.statements[k]) : 0;
  }
  return all > 0 ? waiting / all : 0;
}

}  // namespace

double chained(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  return share_of_chains(nest, sizes, true);
}
double chained_without_temporaries(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  return share_of_chains(nest, sizes, false);
}

double integer_sums(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  const NestFacts known = facts(nest, sizes);
  std::vector<bool> sums(known.statements.size()), others(known.statements.size());
  for (const AccessFact& access : known.accesses) {
    const auto index = static_cast<std::size_t>(access.statement);
    const StatementFact& s = known.statements[index];
    if (s.loops.empty() || s.whiles > 0 || !is_reordered(s)) continue;
    const auto stride = known.stride(access, s.loops.back());
    if (!stride || std::abs(*stride) > 1) others[index] = true;
    if (access.write && !sdfg::is_float(access.container->type) && reads(known, access.statement, access.container) &&
        stays_long(known, access))
      sums[index] = true;
  }
  double all = 0, added = 0;
  for (std::size_t k = 0; k < sums.size(); ++k) {
    all += weight(known.statements[k]);
    added += sums[k] && !others[k] ? weight(known.statements[k]) : 0;
  }
  return all > 0 ? added / all : 0;
}

namespace {

// Whether the loop around the innermost one stores into the same element whatever happens: then the compiler may, too,
// and has it in a register.
bool is_set_before(const NestFacts& known, const AccessFact& update) {
  const std::vector<int>& loops = known.statements[static_cast<std::size_t>(update.statement)].loops;
  return loops.size() > 1 && std::ranges::any_of(known.accesses, [&](const AccessFact& access) {
           const StatementFact& s = known.statements[static_cast<std::size_t>(access.statement)];
           return access.write && access.container == update.container && s.under == nullptr && !s.loops.empty() &&
                  s.loops.back() == loops[loops.size() - 2] && access.memlet->subset == update.memlet->subset;
         });
}

}  // namespace

double updated_under_conditions(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  const NestFacts known = facts(nest, sizes);
  const auto work = [](const StatementFact& s) { return s.executions * (1 + cost_of(s.code).all); };
  double all = 0, updated = 0;
  for (const StatementFact& s : known.statements) all += work(s);
  for (const AccessFact& access : known.accesses) {
    const StatementFact& s = known.statements[static_cast<std::size_t>(access.statement)];
    if (!access.write || s.under == nullptr || s.loops.empty() || access.container->shape.empty()) continue;
    const sdfg::Loop& innermost = *known.loops[static_cast<std::size_t>(s.loops.back())].loop;
    const bool in_lanes = std::ranges::any_of(s.loops, [&](int k) {
      return std::holds_alternative<sdfg::Simd>(known.loops[static_cast<std::size_t>(k)].loop->schedule);
    });
    if (!in_lanes && std::holds_alternative<sdfg::Sequential>(innermost.schedule) &&
        known.stride(access, s.loops.back()) == 0.0 && !is_set_before(known, access))
      updated += work(s);
  }
  return all > 0 ? updated / all : 0;
}

double overlapped_chains_gain(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  const NestFacts known = facts(nest, sizes);
  double all = 0, overlapped = 0;
  for (const StatementFact& s : known.statements) {
    all += weight(s);
    if (s.loops.size() < 2) continue;
    const LoopFact& copies = known.loops[static_cast<std::size_t>(s.loops.back())];
    const LoopFact& around = known.loops[static_cast<std::size_t>(s.loops[s.loops.size() - 2])];
    const auto* unroll = std::get_if<sdfg::Unroll>(&copies.loop->schedule);
    const bool fast = unroll != nullptr && unroll->factor >= least_copies &&
                      copies.trips >= (1 - most_idle) * unroll->factor && around.trips >= least_long;
    overlapped += fast ? weight(s) : 0;
  }
  return all > 0 && overlapped >= most_of_chains * all ? counted_on_chains : 0;
}

}  // namespace sous::tuning_db
