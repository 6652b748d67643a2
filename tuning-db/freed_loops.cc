// What programs wait for, and what chains gain that the compiler of a program could not have made.
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
#include "tuning-db/statement_work.h"

namespace sous::tuning_db {
namespace {

// Of sums one after the other, how long they are: what a core has under way at once are some dozen additions.
constexpr double least_chain = 64;
constexpr double line_bytes = 64;

// Of chains that overlap: copies, how many of them are there on average, iterations around them, and their share.
constexpr double least_copies = 8, most_idle = 0.1, least_long = 96, most_of_chains = 0.8, counted_on_chains = 1.5;

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

namespace {

// Whether there are loops that end when the data say so in which floats are computed: of integers (the bits of a
// number, Collatz) some are known to compilers in a closed form, and the others take hardly longer than masks do.
bool has_whiles_of_floats(const NestFacts& known) {
  constexpr double least_work = 8;  // a round's
  double work = 0;
  for (const StatementFact& s : known.statements)
    if (s.whiles > 0 && s.code != nullptr && sdfg::is_float(s.code->type)) work += cost_of(s.code).all;
  return work >= least_work;
}

// Whether the statement stands in a loop beside inner ones that wait, of which no compiler makes vectors as it is.
bool is_beside(const NestFacts& known, const StatementFact& s, const std::vector<bool>& waiting) {
  if (s.loops.empty() || s.whiles > 0) return false;
  for (std::size_t k = 0; k < waiting.size(); ++k) {
    const StatementFact& other = known.statements[k];
    const bool inside = other.whiles > 0 || other.loops.back() != s.loops.back();
    if (waiting[k] && inside && std::ranges::count(other.loops, s.loops.back()) > 0) return true;
  }
  return false;
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
  const bool whiles = has_whiles_of_floats(known);
  std::vector<bool> waiting(known.statements.size());
  double all = 0, for_sums = 0, for_any = 0, in_choices = 0, in_some = 0, beside = 0;
  for (std::size_t k = 0; k < known.statements.size(); ++k) {
    const StatementFact& s = known.statements[k];
    const double one = weight(s);
    const bool chosen = !s.loops.empty() && choices.contains(s.loops.back());
    waiting[k] = !s.loops.empty() && (sums[k] || chosen || (whiles && s.whiles > 0));
    all += one;
    in_choices += chosen ? one : 0;
    for_sums += sums[k] ? one : 0;
    for_any += sums[k] || lines[k] ? one : 0;
    in_some += waiting[k] ? one : 0;
  }
  // All that does not wait may be in the part.
  const auto most = [&](double share) { return (1 - (1 - share) * part) * all; };
  if (all == 0) return Waits::No;
  if (in_choices >= most(most_of_all)) return Waits::ForChoices;
  if (for_any >= most(most_of_all)) return for_sums >= most(most_of_all) ? Waits::ForSums : Waits::ForLines;
  constexpr double half = 0.5;
  if (in_some < most(half)) return Waits::No;
  for (std::size_t k = 0; k < known.statements.size(); ++k)
    beside += !waiting[k] && is_beside(known, known.statements[k], waiting) ? weight(known.statements[k]) : 0;
  return in_some + beside >= most(most_of_all) ? Waits::ForEnds : Waits::No;
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
