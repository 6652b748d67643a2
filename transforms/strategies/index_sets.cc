#include "transforms/strategies/index_sets.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "transforms/footprints.h"
#include "transforms/normal/util.h"
#include "transforms/simplify.h"

namespace sous::transforms {
namespace {

using sdfg::Expr;
using sdfg::ScheduleLoop;
using std::set;
using std::string;
using std::vector;

// Loops that are looked at, and points at which one is tried to be cut: each is a question to isl.
constexpr int most_loops = 32;
constexpr std::size_t most_points = 4;

struct Point {
  string at;
  std::int64_t offset = 0;
  auto operator<=>(const Point&) const = default;
};

class Splitter {
 public:
  Splitter(const Nest& nest, const StepContext& context) : nest_(nest), context_(context) {}

  Result<IndexSets> run() {
    TRY_VOID(in(outermost(nest_.tree, {}), true));
    sdfg::Sdfg lowered = sdfg::lower(nest_.scop, nest_.tree);
    std::erase_if(sets_.vectors, [&](const string& symbol) { return !writes_neighbours(lowered, symbol); });
    return std::move(sets_);
  }

 private:
  // The loops of the tree that none is around but those named.
  static vector<string> outermost(const sdfg::ScheduleTree& nodes, const set<string>& named) {
    vector<string> loops;
    for (const sdfg::ScheduleNode& node : nodes) {
      vector<string> inside;
      if (const auto* guard = std::get_if<sdfg::ScheduleGuard>(&node.value)) inside = outermost(guard->children, named);
      if (const auto* loop = std::get_if<ScheduleLoop>(&node.value))
        inside = named.contains(loop->symbol) ? outermost(loop->children, named) : vector{loop->symbol};
      loops.insert(loops.end(), inside.begin(), inside.end());
    }
    return loops;
  }
  const ScheduleLoop& loop(const string& symbol) const { return *sdfg::find_loop(nest_.tree, symbol); }
  std::size_t height(const string& symbol) const { return depth(loop(symbol).children); }

  // In statements that are opaque to schedules, such as conditions on data.
  bool has_hidden_loops(const string& symbol) const {
    bool found = false;
    sdfg::for_each_leaf(loop(symbol).children, [&](const sdfg::ScheduleLeaf& leaf) {
      found = found || normal::has_loop(nest_.scop.statements[static_cast<std::size_t>(leaf.statement)].node);
    });
    return found;
  }

  bool is_uneven(const string& symbol) const {
    const sdfg::ScheduleTree& inside = loop(symbol).children;
    return std::ranges::any_of(sdfg::loop_symbols(inside), [&](const string& inner) {
      const ScheduleLoop& one = *sdfg::find_loop(inside, inner);
      return one.begin.uses(symbol) || one.end.uses(symbol);
    });
  }

  Result<bool> is_parallel(const string& symbol) {
    if (const auto known = parallel_.find(symbol); known != parallel_.end()) return known->second;
    const auto free = independent(nest_, symbol, context_, "strategy.carried");
    if (!free && free.error().code != "strategy.carried") return std::unexpected(free.error());
    return parallel_[symbol] = free && free->reductions.empty();
  }

  static bool writes_neighbours(sdfg::Sdfg& lowered, const string& symbol) {
    const auto place = sdfg::find_loop(lowered.root, symbol);
    if (!place) return false;
    for (const auto& [container, footprint] : footprints(place->loop().body))
      for (const auto& access : footprint.accesses)
        if (access.write && !access.subscript.empty() && coefficient_of(access.subscript.back(), symbol) == Expr(1))
          return true;
    return false;
  }

  // `outside`: no loop around is parallel. Whether one of the loops, or one inside, is.
  Result<bool> in(const vector<string>& loops, bool outside) {
    bool any = false;
    for (const string& one : loops) {
      const std::size_t whole = height(one);
      TRY(const vector<string> parts, cut(one));
      for (const string& part : parts) {
        if (height(part) != whole) {  // the one iteration at the point
          TRY(const bool single, in({part}, outside));
          any = any || single;
          continue;
        }
        TRY(const bool parallel, is_parallel(part));
        const vector<string> inside = outermost(loop(part).children, {});
        const bool holds_loops = !inside.empty() || has_hidden_loops(part);
        if (parallel && outside && holds_loops) {
          sets_.threads.push_back(part);
          sets_.uneven = sets_.uneven || is_uneven(part);
        }
        TRY(const bool inner, in(inside, outside && !parallel));
        if (parallel && !inner && !has_hidden_loops(part)) sets_.vectors.push_back(part);
        any = any || parallel || inner;
      }
    }
    return any;
  }

  // The loops that stand in the place of this one: itself, where it is parallel or no cut makes a part of it so.
  Result<vector<string>> cut(const string& symbol) {
    if (looked_at_++ >= most_loops) return vector{symbol};
    TRY(const bool parallel, is_parallel(symbol));
    if (parallel) return vector{symbol};
    for (const Point& point : points(symbol)) {
      const Splitter before = *this;
      TRY(const vector<string> parts, cut_at(symbol, point));
      bool gains = false;
      for (const string& part : parts) {
        if (gains || parts.size() == 1 || height(part) != before.height(symbol)) continue;
        TRY(gains, is_parallel(part));
      }
      if (gains) return parts;
      nest_ = before.nest_;
      sets_ = before.sets_;
      parallel_ = before.parallel_;
    }
    return vector{symbol};
  }

  Result<vector<string>> cut_at(const string& symbol, const Point& point) {
    set<string> others;
    for (const string& other : sdfg::loop_symbols(nest_.tree)) others.insert(other);
    others.erase(symbol);
    for (const string& inside : sdfg::loop_symbols(loop(symbol).children)) others.erase(inside);
    const std::size_t whole = height(symbol);
    // The iterations behind the point are the last part; its begin is the point.
    TRY_VOID(split(symbol, point));
    string rest;
    for (const string& part : outermost(nest_.tree, others))
      if (height(part) == whole) rest = part;
    const bool from_begin = point.at.empty() && point.offset >= 0;
    const Point behind{point.at, from_begin ? 1 : point.offset + 1};
    const bool is_last = point.at.empty() && behind.offset == 0;
    if (!is_last) TRY_VOID(split(rest, behind));
    return outermost(nest_.tree, others);
  }

  // Nothing where the loop cannot be cut there.
  Result<void> split(const string& symbol, const Point& point) {
    StepCall call{"split", {{"loop", symbol}, {"offset", point.offset}}};
    if (!point.at.empty()) call.params["at"] = point.at;
    const auto plan = find_step("split")->plan(nest_, call, context_);
    if (!plan && plan.error().code.starts_with("isl.")) return std::unexpected(plan.error());
    if (!plan) return {};
    parallel_.erase(symbol);
    for (const string& inside : sdfg::loop_symbols(loop(symbol).children)) parallel_.erase(inside);
    nest_ = rewrite(std::move(nest_), *plan);
    if (nest_.stale) {
      TRY(nest_.dependences, sdfg::Dependences::compute(nest_.scop));
      nest_.stale = false;
    }
    sets_.cuts.push_back({symbol, point.at, point.offset});
    return {};
  }

  // Where an iteration meets what others meet, too.
  vector<Point> points(const string& symbol) const {
    sdfg::Sdfg lowered = sdfg::lower(nest_.scop, nest_.tree);
    const auto place = sdfg::find_loop(lowered.root, symbol);
    if (!place) return {};
    std::map<Point, int> found;  // how often: the likeliest point first
    for (const auto& [container, footprint] : footprints(place->loop().body)) {
      if (footprint.of(true).empty()) continue;
      for (const auto& own : footprint.accesses)
        for (const auto& shared : footprint.accesses)
          for (std::size_t d = 0; d < std::min(own.subscript.size(), shared.subscript.size()); ++d) {
            const bool same = coefficient_of(own.subscript[d], symbol) == Expr(1) && !shared.subscript[d].uses(symbol);
            const auto point = same ? as_point(symbol, shared.subscript[d] - own.subscript[d] + Expr::symbol(symbol))
                                    : std::optional<Point>();
            if (point) ++found[*point];
          }
    }
    vector<std::pair<int, Point>> order;
    for (const auto& [point, count] : found) order.emplace_back(-count, point);
    std::ranges::sort(order);
    vector<Point> result;
    for (const auto& [count, point] : order)
      if (result.size() < most_points) result.push_back(point);
    return result;
  }

  std::optional<Point> as_point(const string& symbol, const Expr& value) const {
    const ScheduleLoop& cut = loop(symbol);
    if (const auto offset = (value - cut.begin).constant(); offset && *offset >= 0) return Point{"", *offset};
    if (const auto offset = (value - cut.end).constant(); offset && *offset < 0) return Point{"", *offset};
    auto path = sdfg::path_to(nest_.tree, symbol);
    path.pop_back();
    for (const string& outer : path)
      if (const auto offset = (value - Expr::symbol(outer)).constant()) return Point{outer, *offset};
    return std::nullopt;
  }

  Nest nest_;
  const StepContext& context_;
  IndexSets sets_;
  std::map<string, bool> parallel_;  // what is known of the loops as they are
  int looked_at_ = 0;
};

}  // namespace

Result<IndexSets> index_sets_of(const Nest& nest, const StepContext& context) { return Splitter(nest, context).run(); }

}  // namespace sous::transforms
