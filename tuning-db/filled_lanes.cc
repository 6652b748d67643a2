// What vectors gain that the compiler of a program could not have made.
#include <algorithm>
#include <cmath>
#include <map>
#include <ranges>
#include <set>

#include "sdfg/carried_columns.h"
#include "sdfg/data_ends.h"
#include "sdfg/trips.h"
#include "tuning-db/nest_facts.h"
#include "tuning-db/operation_cost.h"
#include "tuning-db/schedule_features.h"
#include "tuning-db/statement_work.h"

namespace sous::tuning_db {
namespace {

// Of vectors that no compiler finds, what is counted on. With vectors of 512 bits, in which masks take the ends of
// loops and stores under conditions: lanes and iterations. With those of 256 bits more of both, and no conditions.
// Shorter ones gain too little, or lose.
constexpr double counted_on_vectors = 1.5;
struct LeastVectors {
  double lanes, trips;
  bool conditions, whiles = false;
};
constexpr LeastVectors with_masks{4, 24, true}, without_masks{8, 96, false};
// In place of a loop that is slow, for it waits for each element, fewer will do.
constexpr LeastVectors for_slow_with_masks{2, 48, true}, for_slow{2, 64, false};
// In place of a choice in each iteration, stores under conditions are no loss.
constexpr LeastVectors for_choices{4, 64, true};
// Of sums one after the other: the share of the lanes that is counted on, and how many bytes one core gets from memory
// meanwhile, a low estimate.
constexpr double share_of_lanes = 0.5, bytes_of_vectors = 4;
// Of loops that end in each lane when the data there say so, and of mixtures. Lanes wait for each other: a quarter of
// them is counted on.
constexpr LeastVectors for_ends_with_masks{8, 48, true, true}, for_ends{4, 64, true, true};
constexpr double share_of_waiting_lanes = 0.25;

// Of rows that advance together: lanes, columns of one such loop, what a column of few lanes may bring for each from
// memory (with more, chains side by side are as fast), the share of the work in them, and what is counted on with so
// many lanes and no conditions.
constexpr double least_staggered = 8, least_columns = 64, most_in_squares = 0.8, most_brought = 1, many_lanes = 16,
                 counted_on_many = 3;
// Of rows that hand on one row, what does not fill lanes takes longer than in the program, for rows are far apart
// there.
constexpr double most_in_passed = 0.9;

bool is_found_by_data(const sdfg::Memlet& memlet) {
  return std::ranges::any_of(memlet.subset, [](const sdfg::Expr& e) { return !e.reads().empty(); });
}

template <class Kind>
bool has_in_lanes(const sdfg::Sdfg& nest) {
  bool found = false;
  sdfg::visit(nest.root, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    if (loop == nullptr || !std::holds_alternative<sdfg::Simd>(loop->schedule)) return;
    sdfg::visit(loop->body, [&](const sdfg::Node& n) { found = found || std::holds_alternative<Kind>(n.value); });
  });
  return found;
}

// Whether conditions of while loops, or inside of these, look at elements whose place is data: each lane at one of its
// own, in each round.
bool looks_up_in_rounds(const sdfg::Sdfg& nest) {
  bool found = false;
  const auto look = [&](const sdfg::Condition& condition) {
    found = found || std::ranges::any_of(condition.inputs, is_found_by_data);
  };
  sdfg::visit(nest.root, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::While>(&node.value);
    if (loop == nullptr) return;
    look(loop->condition);
    sdfg::visit(loop->body, [&](const sdfg::Node& n) {
      if (const auto* branch = std::get_if<sdfg::If>(&n.value)) look(branch->condition);
    });
  });
  return found;
}

// Whether it writes elements of one or two bytes.
bool stores_narrow(const sdfg::Sdfg& nest) {
  return std::ranges::any_of(sdfg::touched(nest.root).written,
                             [&](const std::string& name) { return sdfg::info(nest.find(name)->type).bytes < 4; });
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

// Whether what it reads stays the same in a loop inside of the lanes.
bool is_brought_once(const NestFacts& known, const AccessFact& access, int lanes) {
  const int innermost = known.statements[static_cast<std::size_t>(access.statement)].loops.back();
  return !access.write && innermost != lanes && known.stride(access, innermost) == 0.0;
}

// The share of a nest's time that goes into fetching single elements for lanes, by places that are data: that takes
// about two operations for each.
double share_of_lookups(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  constexpr double operations = 2;
  const NestFacts known = facts(nest, sizes);
  double all = 0, lookups = 0;
  for (const StatementFact& s : known.statements) all += weight(s);
  for (const AccessFact& access : known.accesses) {
    if (!is_found_by_data(*access.memlet)) continue;
    const StatementFact& s = known.statements[static_cast<std::size_t>(access.statement)];
    lookups += operations * weight(s) / cost_of(s.code).all;
  }
  return all > 0 ? lookups / (all + lookups) : 0;
}

// The lanes in which most of the work is, if it is, and on neighbouring elements; else 0.
double filled_lanes(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes, const LeastVectors& least,
                    int bits) {
  if ((!least.conditions && has_in_lanes<sdfg::If>(nest)) || (least.whiles && looks_up_in_rounds(nest))) return 0;
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
  // Those that look each for itself when to stop are few at times.
  for (std::size_t k = 0; k < known.statements.size(); ++k)
    if (least.whiles ? runs_one_by_one(known.statements[k]) : known.statements[k].whiles > 0) lanes[k] = -1;
  for (const AccessFact& access : known.accesses) {
    int& loop = lanes[static_cast<std::size_t>(access.statement)];
    if (loop < 0) continue;
    const auto stride = known.stride(access, loop);
    if (!stride || (std::abs(*stride) > 1 && !is_brought_once(known, access, loop)))
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

}  // namespace

double freed_vectors_gain(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes,
                          const Hardware& hardware, bool wide_masks_only) {
  const int bits = simd_bits(hardware.isa);
  if (bits < 256) return 0;
  const sdfg::Sdfg all = sdfg::without_ends(nest);
  if (wide_masks_only && has_in_lanes<sdfg::If>(all) && stores_narrow(all)) return 0;
  return filled_lanes(all, sizes, bits >= 512 ? with_masks : without_masks, bits) > 0 ? counted_on_vectors : 0;
}

namespace {

// Bytes of the widest element among what the loop over rows computes with.
int widest_in(const sdfg::Sdfg& nest, const sdfg::Loop& rows) {
  int widest = 1;
  const auto see = [&](sdfg::ElementType type) { widest = std::max(widest, sdfg::info(type).bytes); };
  const auto code = [&](const sdfg::ScalarExpr& e) {
    e.visit([&](const sdfg::ScalarExpr& node) {
      if (node.op != sdfg::ScalarOp::constant && node.op != sdfg::ScalarOp::symbolic) see(node.type);
    });
  };
  sdfg::visit(rows.body, [&](const sdfg::Node& node) {
    if (const auto* branch = std::get_if<sdfg::If>(&node.value)) code(branch->condition.code);
    const auto* state = std::get_if<sdfg::State>(&node.value);
    if (state == nullptr) return;
    for (const sdfg::TaskletView& tasklet : sdfg::tasklets(*state)) {
      code(tasklet.tasklet->code);
      for (const sdfg::Memlet* m : tasklet.outputs) see(nest.find(m->container)->type);
    }
  });
  return widest;
}

bool has_branches(const sdfg::Loop& loop) {
  bool found = false;
  sdfg::visit(loop.body,
              [&](const sdfg::Node& node) { found = found || std::holds_alternative<sdfg::If>(node.value); });
  return found;
}

// Elements that each column brings for each row from a row of its own in memory.
std::size_t brought(const sdfg::Loop& columns, const sdfg::Loop& rows,
                    const std::map<std::string, sdfg::CarriedElement>& carried) {
  std::vector<sdfg::Memlet> all;
  const auto look = [&](const sdfg::Memlet& m) {
    const auto of = carried.find(m.container);
    const bool kept = of != carried.end() && sdfg::behind(of->second.place, m, rows.symbol, columns.symbol);
    const bool moves = std::ranges::any_of(m.subset, [&](const sdfg::Expr& e) { return e.uses(rows.symbol); });
    if (!kept && moves && m.subset.size() > 1 && std::ranges::find(all, m) == all.end()) all.push_back(m);
  };
  sdfg::visit(rows.body, [&](const sdfg::Node& node) {
    if (const auto* state = std::get_if<sdfg::State>(&node.value))
      for (const sdfg::TaskletView& tasklet : sdfg::tasklets(*state))
        for (const sdfg::Memlet* m : tasklet.inputs) look(*m);
  });
  return all.size();
}

}  // namespace

double staggered_lanes_gain(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes,
                            const Hardware& hardware, bool plain_only) {
  const int bits = simd_bits(hardware.isa);
  if (bits < 256) return 0;
  const NestFacts known = facts(nest, sizes);
  std::map<const sdfg::Loop*, double> lanes;  // of loops over columns with such rows
  bool passed = false;                        // they hand on one row
  for (const LoopFact& fact : known.loops) {
    const sdfg::Loop* rows = sdfg::lanes_in(*fact.loop);
    if (rows == nullptr || fact.trips < least_columns) continue;
    const auto carried = sdfg::carried_columns(nest, *fact.loop);
    if (!carried) continue;
    const bool hands_on = std::ranges::any_of(
        *carried, [](const auto& one) { return one.second.kind == sdfg::CarriedElement::Kind::Passed; });
    const double count = bits / (8.0 * widest_in(nest, *rows));
    const double trips = std::ranges::find(known.loops, rows, &LoopFact::loop)->trips;
    if (count < many_lanes && brought(*fact.loop, *rows, *carried) > most_brought) continue;
    // Compilers branch, which few lanes of masks do not outdo.
    if (count < many_lanes && hands_on && has_branches(*rows)) continue;
    passed = passed || hands_on;
    if (count >= least_staggered && sdfg::most_trips(*rows) == count && trips >= count) lanes[fact.loop] = count;
  }
  std::set<int> looking_up;  // statements
  for (const AccessFact& access : known.accesses)
    if (is_found_by_data(*access.memlet)) looking_up.insert(access.statement);
  double all = 0, in_squares = 0, fewest = plain_only ? least_staggered : many_lanes;
  for (std::size_t k = 0; k < known.statements.size(); ++k) {
    const StatementFact& s = known.statements[k];
    all += weight(s);
    const bool plain = s.under == nullptr && !looking_up.contains(static_cast<int>(k));
    if (s.loops.size() < 2 || (plain_only && !plain)) continue;
    const auto found = lanes.find(known.loops[static_cast<std::size_t>(s.loops[s.loops.size() - 2])].loop);
    if (found == lanes.end() || runs_one_by_one(s)) continue;
    in_squares += weight(s);
    fewest = std::min(fewest, s.under != nullptr ? least_staggered : found->second);
  }
  if (all == 0 || in_squares < (passed ? most_in_passed : most_in_squares) * all) return 0;
  return fewest >= many_lanes ? counted_on_many : counted_on_vectors;
}

bool has_whiles(const sdfg::Sdfg& nest) {
  bool found = false;
  sdfg::visit(nest.root, [&](const sdfg::Node& n) { found = found || std::holds_alternative<sdfg::While>(n.value); });
  return found;
}

bool has_whiles_in_lanes(const sdfg::Sdfg& nest) { return has_in_lanes<sdfg::While>(nest); }

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
  const bool with_masks = bits >= 512;
  if (has_whiles_in_lanes(nest)) waits = Waits::ForEnds;
  const LeastVectors least = waits == Waits::ForChoices ? for_choices
                             : waits == Waits::ForEnds  ? (with_masks ? for_ends_with_masks : for_ends)
                                                        : (with_masks ? for_slow_with_masks : for_slow);
  const double lanes = filled_lanes(nest, sizes, least, bits);
  if (waits == Waits::ForEnds) {
    if (lanes == 0) return 0;
    const double in_lanes = std::max(counted_on_vectors, share_of_waiting_lanes * lanes);
    const double lookups = share_of_lookups(nest, sizes), gain = 1 / ((1 - lookups) / in_lanes + lookups);
    return gain >= counted_on_vectors ? gain : 0;
  }
  if (lanes == 0 || waits != Waits::ForSums) return lanes == 0 ? 0 : counted_on_vectors;
  const double as_memory_allows = before.bytes > 0 ? bytes_of_vectors * before.nanoseconds / before.bytes : lanes;
  return std::max(counted_on_vectors, std::min(share_of_lanes * lanes, as_memory_allows));
}

}  // namespace sous::tuning_db
