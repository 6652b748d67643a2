#include "sdfg/interp.h"

#include <algorithm>
#include <set>

#include "sdfg/interp_memory.h"
#include "sdfg/scalar_eval.h"

namespace sous::sdfg {
namespace {

using interp::Array;
using interp::Lane;
using interp::Place;
using interp::Store;

// The lanes that run a region together: one, but for the body of a Simd loop in lockstep.
using Lanes = std::vector<Lane*>;

// Iterations of a Simd loop that run in lockstep when the loop leaves it open: a 512-bit vector's worth.
constexpr int widest_vector_bytes = 64;

class Machine {
 public:
  Machine(const Sdfg& sdfg, const InterpOptions& options) : sdfg_(sdfg), options_(options) {}

  Result<void> run(const Region& region, const Lanes& lanes) {
    for (const Node& node : region.nodes) {
      TRY_VOID(match(
          node.value,  //
          [&](const State& state) { return run_state(state, lanes); },
          [&](const Loop& loop) { return run_loop(loop, lanes); },
          [&](const If& branch) { return run_if(branch, lanes); },
          [&](const While& loop) { return run_while(loop, lanes); }));
    }
    return {};
  }

 private:
  Result<void> count(std::int64_t operations) {
    operations_ += operations;
    if (operations_ > options_.max_operations) return std::unexpected(over_budget());
    return {};
  }
  Error over_budget() const {
    return {"interp.budget", "more than " + std::to_string(options_.max_operations) + " operations"};
  }

  // --- States -------------------------------------------------------------------------------------------------------

  // All reads and the computation of one node for one lane; what it stores is given back.
  Result<std::vector<Store>> compute(const State& state, int node, Lane& lane) {
    TRY_VOID(count(1));
    const TaskletView view = tasklet_view(state, node);
    TRY(const auto inputs, read_points(view.inputs, lane));
    TRY(const std::uint64_t bits, evaluate(view.tasklet->code, inputs, lane.symbols));
    std::vector<Store> stores;
    for (const Memlet* memlet : view.outputs) {
      TRY(const Place place, point_of(*memlet, lane));
      TRY(const Store store, interp::store_through(*memlet, place, bits));
      stores.push_back(store);
    }
    return stores;
  }

  Result<void> run_state(const State& state, const Lanes& lanes) {
    for (const int node : execution_order(state)) {
      std::vector<Store> stores;
      // Lanes that combine into one element take turns; otherwise all read before any writes.
      const bool in_turn = lanes.size() > 1 && combines(state, node);
      for (Lane* lane : lanes) {
        auto computed = compute(state, node, *lane);
        if (!computed) return located(computed.error(), state, *lane);
        for (const Store& store : *computed) {
          if (in_turn) {
            store.place.array->store(store.place.element, store.bits);
          } else {
            stores.push_back(store);
          }
        }
      }
      for (const Store& store : stores) store.place.array->store(store.place.element, store.bits);
    }
    return {};
  }

  bool combines(const State& state, int node) const {
    return std::ranges::any_of(state.edges, [&](const Edge& edge) {
      return edge.source == node && std::ranges::find(reducing_, edge.memlet.container) != reducing_.end();
    });
  }

  static Result<void> located(Error error, const State& state, const Lane& lane) {
    if (error.where.empty()) {
      error.where = state.name;
      for (const auto& [name, value] : lane.symbols) error.where += " " + name + "=" + std::to_string(value);
    }
    return std::unexpected(std::move(error));
  }

  static Result<Place> point_of(const Memlet& memlet, Lane& lane) {
    std::vector<std::int64_t> subscript;
    for (const Expr& dim : memlet.subset) {
      TRY(const std::int64_t index, interp::evaluate(dim, lane));
      subscript.push_back(index);
    }
    return interp::place(memlet.container, subscript, lane);
  }

  template <class Memlets>
  static Result<std::vector<std::uint64_t>> read_points(const Memlets& memlets, Lane& lane) {
    std::vector<std::uint64_t> values;
    for (const auto& m : memlets) {
      const Memlet& memlet = *to_pointer(m);
      TRY(const Place place, point_of(memlet, lane));
      TRY(const std::uint64_t bits, interp::read(place, memlet.container));
      values.push_back(bits);
    }
    return values;
  }
  static const Memlet* to_pointer(const Memlet* memlet) { return memlet; }
  static const Memlet* to_pointer(const Memlet& memlet) { return &memlet; }

  // --- If and While -------------------------------------------------------------------------------------------------

  static Result<bool> holds(const Condition& condition, Lane& lane) {
    TRY(const auto inputs, read_points(condition.inputs, lane));
    TRY(const std::uint64_t bits, evaluate(condition.code, inputs, lane.symbols));
    return bits != 0;
  }

  Result<void> run_if(const If& branch, const Lanes& lanes) {
    Lanes then_lanes;
    Lanes else_lanes;
    for (Lane* lane : lanes) {
      TRY(const bool taken, holds(branch.condition, *lane));
      (taken ? then_lanes : else_lanes).push_back(lane);
    }
    if (!then_lanes.empty()) TRY_VOID(run(branch.then_body, then_lanes));
    if (!else_lanes.empty()) TRY_VOID(run(branch.else_body, else_lanes));
    return {};
  }

  Result<void> run_while(const While& loop, Lanes lanes) {
    for (bool first = true;; first = false) {
      Lanes active;
      for (Lane* lane : lanes) {
        if (!first || loop.test_first) {
          TRY(const bool again, holds(loop.condition, *lane));
          if (!again) continue;
        }
        active.push_back(lane);
      }
      if (active.empty()) return {};
      TRY_VOID(count(1));
      TRY_VOID(run(loop.body, active));
      lanes = active;
    }
  }

  // --- Loops --------------------------------------------------------------------------------------------------------

  enum class Order { Ascending, Descending, Lockstep };

  static std::optional<Order> other_order(const Schedule& schedule) {
    return match(
        schedule,  //
        [](const Sequential&) -> std::optional<Order> { return std::nullopt; },
        [](const Unroll&) -> std::optional<Order> { return std::nullopt; },
        [](const Parallel&) -> std::optional<Order> { return Order::Descending; },
        [](const GpuGrid&) -> std::optional<Order> { return Order::Descending; },
        [](const GpuBlock&) -> std::optional<Order> { return Order::Descending; },
        [](const Simd&) -> std::optional<Order> { return Order::Lockstep; });
  }

  Result<void> run_loop(const Loop& loop, const Lanes& lanes) {
    for (const Reduction& r : loop.reductions) reducing_.push_back(r.container);
    const auto other = other_order(loop.schedule);
    const bool compare = options_.check_orders && !comparing_ && lanes.size() == 1 && other;
    auto done = compare ? run_both(loop, *lanes[0], *other) : run_in_order(loop, lanes);
    reducing_.resize(reducing_.size() - loop.reductions.size());
    return done;
  }

  // The containers that must not depend on the order: all that the loop writes and that outlive an iteration, but for
  // reductions of floats.
  std::vector<std::string> compared(const Loop& loop) const {
    std::set<std::string> names = touched(loop.body).written;
    for (const std::string& name : loop.privates) names.erase(name);
    for (const std::string& name : reducing_) {
      if (is_float(sdfg_.find(name)->type)) names.erase(name);
    }
    return {names.begin(), names.end()};
  }

  // Runs the loop in the other order and then, from the same state, in ascending order; the latter's result stays.
  Result<void> run_both(const Loop& loop, Lane& lane, Order other) {
    std::map<Array*, Array> before;
    for (const std::string& name : touched(loop.body).written) {
      if (Array* array = lane.find(name)) before.emplace(array, *array);
    }
    const std::int64_t operations = operations_;
    comparing_ = true;
    const auto first = run_as(loop, lane, other);
    comparing_ = false;
    operations_ = operations;
    std::map<Array*, Array> after;
    for (auto& [array, saved] : before) {
      after.emplace(array, std::move(*array));
      *array = std::move(saved);
    }
    TRY_VOID(run_in_order(loop, {&lane}));
    const std::string how = other == Order::Lockstep ? "in lockstep" : "in descending order";
    if (!first) {
      if (first.error().code == "interp.budget") return first;
      return fail("interp.order",
                  "loop '" + loop.symbol + "' runs in ascending order, but " + how + ": " + first.error().to_string());
    }
    for (const std::string& name : compared(loop)) {
      const Array* array = lane.find(name);
      if (array != nullptr && after.at(lane.find(name)) != *array) {
        return fail("interp.order", "loop '" + loop.symbol + "' leaves other values in '" + name + "' " + how +
                                        " than in ascending order");
      }
    }
    return {};
  }

  Result<void> run_as(const Loop& loop, Lane& lane, Order order) {
    TRY(auto values, iterations(loop, lane));
    if (order == Order::Descending) std::ranges::reverse(values);
    const std::size_t group = order == Order::Lockstep ? lanes_of(loop) : 1;
    for (std::size_t first = 0; first < values.size(); first += group) {
      std::vector<Lane> children;
      for (std::size_t k = first; k < std::min(first + group, values.size()); ++k) {
        TRY(Lane child, iteration(loop, lane, values[k]));
        children.push_back(std::move(child));
      }
      Lanes together;
      for (Lane& child : children) together.push_back(&child);
      TRY_VOID(run(loop.body, together));
    }
    return {};
  }

  // In order; several lanes run the iterations with equal values together, each value once.
  Result<void> run_in_order(const Loop& loop, const Lanes& lanes) {
    std::vector<std::set<std::int64_t>> of_lane;
    std::set<std::int64_t> all;
    for (Lane* lane : lanes) {
      TRY(const auto values, iterations(loop, *lane));
      of_lane.emplace_back(values.begin(), values.end());
      all.insert(values.begin(), values.end());
    }
    std::vector<std::int64_t> order(all.begin(), all.end());
    if (loop.step < 0) std::ranges::reverse(order);
    for (const std::int64_t value : order) {
      std::vector<Lane> children;
      for (std::size_t l = 0; l < lanes.size(); ++l) {
        if (!of_lane[l].contains(value)) continue;
        TRY(Lane child, iteration(loop, *lanes[l], value));
        children.push_back(std::move(child));
      }
      Lanes together;
      for (Lane& child : children) together.push_back(&child);
      TRY_VOID(count(1));
      TRY_VOID(run(loop.body, together));
    }
    return {};
  }

  std::size_t lanes_of(const Loop& loop) const {
    const int lanes = std::get<Simd>(loop.schedule).lanes;
    if (lanes > 0) return static_cast<std::size_t>(lanes);
    int widest = 1;
    const Touched names = touched(loop.body);
    for (const auto* set : {&names.read, &names.written}) {
      for (const std::string& name : *set) widest = std::max(widest, info(sdfg_.find(name)->type).bytes);
    }
    return static_cast<std::size_t>(widest_vector_bytes / widest);
  }

  Result<std::vector<std::int64_t>> iterations(const Loop& loop, Lane& lane) {
    TRY(const std::int64_t begin, interp::evaluate(loop.begin, lane));
    TRY(const std::int64_t end, interp::evaluate(loop.end, lane));
    const bool up = loop.step > 0;
    std::vector<std::int64_t> values;
    const std::int64_t left = options_.max_operations - operations_;
    for (std::int64_t v = begin; up ? v < end : v > end;) {
      values.push_back(v);
      if (static_cast<std::int64_t>(values.size()) > left) return std::unexpected(over_budget());
      if (__builtin_add_overflow(v, loop.step, &v)) break;
    }
    return values;
  }

  Result<Lane> iteration(const Loop& loop, Lane& outer, std::int64_t value) {
    Lane lane;
    lane.outer = &outer;
    lane.symbols = outer.symbols;
    lane.symbols[loop.symbol] = value;
    for (const std::string& name : loop.privates) {
      const Container* container = sdfg_.find(name);
      SOUS_ASSERT(container != nullptr);
      TRY(Array array, interp::undefined_array(*container, lane));
      lane.own.emplace(name, std::move(array));
    }
    return lane;
  }

  const Sdfg& sdfg_;
  const InterpOptions& options_;
  std::int64_t operations_ = 0;
  bool comparing_ = false;  // in the second run of a comparison of orders: inner loops are not compared again
  std::vector<std::string> reducing_;  // reductions of the loops around
};

std::set<std::string> privates_below(const Region& region) {
  std::set<std::string> names;
  visit(region, [&](const Node& node) {
    if (const auto* loop = std::get_if<Loop>(&node.value)) names.insert(loop->privates.begin(), loop->privates.end());
  });
  return names;
}

}  // namespace

Result<void> interpret(const Sdfg& sdfg, Memory& memory, const InterpOptions& options) {
  Lane root;
  for (const std::string& symbol : sdfg.symbols) {
    const auto value = memory.symbols.find(symbol);
    if (value == memory.symbols.end()) return fail("interp.symbol", "no value for symbol '" + symbol + "'");
    root.symbols.emplace(*value);
  }
  TRY_VOID(interp::bind_arguments(sdfg, memory, root));
  for (const Expr& assumption : sdfg.assumptions) {
    TRY(const std::int64_t value, interp::evaluate(assumption, root));
    if (value < 0) return fail("interp.assumption", "'" + assumption.to_string() + "' is " + std::to_string(value));
  }
  const std::set<std::string> private_names = privates_below(sdfg.root);
  for (const Container& container : sdfg.containers) {
    if (!container.transient) continue;
    auto array = interp::undefined_array(container, root);
    if (array) {
      root.own.emplace(container.name, std::move(*array));
    } else if (!private_names.contains(container.name)) {  // a private's shape may depend on the loops around it
      return std::unexpected(array.error());
    }
  }
  const Result<void> done = Machine(sdfg, options).run(sdfg.root, {&root});
  for (auto& [name, buffer] : memory.buffers) {
    if (const auto it = root.own.find(name); it != root.own.end()) buffer.bytes = std::move(it->second.bytes);
  }
  forget_dead(sdfg, memory);
  return done;
}

}  // namespace sous::sdfg
