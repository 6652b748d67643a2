#include "tuning-db/nest_facts.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "sdfg/unknown_extent.h"

namespace sous::tuning_db {
namespace {

using sdfg::Expr;

Interval product(Interval a, Interval b) {
  const auto [lo, hi] = std::minmax({a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi});
  return {lo, hi};
}

std::optional<Interval> evaluate(const sdfg::Atom& atom, const IntervalMap& symbols) {
  if (atom.kind == sdfg::AtomKind::Symbol) {
    const auto at = symbols.find(atom.name);
    return at == symbols.end() ? std::nullopt : std::optional(at->second);
  }
  if (atom.kind == sdfg::AtomKind::Read) return std::nullopt;
  const auto a = tuning_db::evaluate(atom.args[0], symbols), b = tuning_db::evaluate(atom.args[1], symbols);
  if (!a || !b) return std::nullopt;
  switch (atom.kind) {
    case sdfg::AtomKind::FloorDiv: {
      if (b->lo <= 0) return std::nullopt;
      const Interval q = product(*a, {1 / b->hi, 1 / b->lo});
      return Interval{std::floor(q.lo), std::floor(q.hi)};
    }
    case sdfg::AtomKind::Mod:
      if (b->lo <= 0) return std::nullopt;
      if (a->lo == a->hi && b->lo == b->hi) {
        const double value = a->lo - b->lo * std::floor(a->lo / b->lo);
        return Interval{value, value};
      }
      return Interval{0, b->hi - 1};
    case sdfg::AtomKind::Min:
      return Interval{std::min(a->lo, b->lo), std::min(a->hi, b->hi)};
    case sdfg::AtomKind::Max:
      return Interval{std::max(a->lo, b->lo), std::max(a->hi, b->hi)};
    case sdfg::AtomKind::Symbol:
    case sdfg::AtomKind::Read:
      return std::nullopt;
  }
  __builtin_unreachable();
}

double middle(Interval i) { return (i.lo + i.hi) / 2; }

// The values of a loop's symbol for symbols within their intervals.
std::optional<Interval> range_of(const sdfg::Loop& loop, const IntervalMap& symbols) {
  const auto begin = evaluate(loop.begin, symbols), end = evaluate(loop.end, symbols);
  if (!begin || !end) return std::nullopt;
  const Interval values = loop.step > 0 ? Interval{begin->lo, end->hi - 1} : Interval{end->lo + 1, begin->hi};
  return Interval{values.lo, std::max(values.lo, values.hi)};
}

class Collector {
 public:
  Collector(const sdfg::Sdfg& nest, double assumed, bool accesses, NestFacts& out)
      : nest_(nest), assumed_(assumed), accesses_(accesses), out_(out) {}

  // `times`: how often the region runs; `middles`: the symbols, loop symbols in the middle of their ranges.
  void region(const sdfg::Region& region, double times, const IntervalMap& middles) {
    for (const sdfg::Node& node : region.nodes)
      match(
          node.value, [&](const sdfg::State& state) { this->state(state, times); },
          [&](const sdfg::Loop& loop) { this->loop(loop, times, middles); },
          [&](const sdfg::If& branch) {
            ++out_.ifs;
            const sdfg::If* around = std::exchange(under_, &branch);
            this->region(branch.then_body, times, middles);
            this->region(branch.else_body, times, middles);
            under_ = around;
          },
          [&](const sdfg::While& loop) {
            ++out_.whiles;
            ++whiles_;
            this->region(loop.body, times, middles);
            --whiles_;
          });
  }

 private:
  void loop(const sdfg::Loop& loop, double times, IntervalMap middles) {
    LoopFact fact{.loop = &loop, .around = stack_};
    for (const int outer : stack_) {
      const std::string& symbol = out_.loops[static_cast<std::size_t>(outer)].loop->symbol;
      fact.triangular |= loop.begin.uses(symbol) || loop.end.uses(symbol);
    }
    const auto begin = evaluate(loop.begin, middles), end = evaluate(loop.end, middles);
    double first = 0;
    if (begin && end) {
      first = middle(*begin);
      const double trips = (middle(*end) - first) / static_cast<double>(loop.step);
      // Between the middles of outer loops a fraction is right: it is what the whole iterations average to.
      fact.trips = std::max(0.0, fact.triangular ? trips : std::ceil(trips));
    } else {
      out_.sizes_known = fact.known = false;
      fact.trips = assumed_;
    }
    const double at = first + (std::max(1.0, fact.trips) - 1) / 2 * static_cast<double>(loop.step);
    middles[loop.symbol] = {at, at};
    const int index = static_cast<int>(out_.loops.size());
    const double inside = times * fact.trips;
    out_.loops.push_back(std::move(fact));
    stack_.push_back(index);
    const sdfg::If* around = std::exchange(under_, nullptr);
    region(loop.body, inside, middles);
    under_ = around;
    stack_.pop_back();
    if (!stack_.empty()) {
      const int height = out_.loops[static_cast<std::size_t>(index)].height;
      int& outer = out_.loops[static_cast<std::size_t>(stack_.back())].height;
      outer = std::max(outer, height + 1);
    }
  }

  void state(const sdfg::State& state, double times) {
    for (const int node : sdfg::execution_order(state)) {
      const int statement = static_cast<int>(out_.statements.size());
      out_.statements.push_back(
          {&state, &sdfg::tasklet_view(state, node).tasklet->code, stack_, times, whiles_, under_});
      if (!accesses_) continue;
      for (const sdfg::Edge& edge : state.edges)
        if (edge.source == node || edge.target == node)
          if (const sdfg::Container* container = nest_.find(edge.memlet.container))
            out_.accesses.push_back({container, &edge.memlet, edge.source == node, statement});
    }
  }

  const sdfg::Sdfg& nest_;
  double assumed_;
  bool accesses_;
  NestFacts& out_;
  std::vector<int> stack_;
  int whiles_ = 0;
  const sdfg::If* under_ = nullptr;  // in the innermost loop
};

}  // namespace

std::optional<Interval> evaluate(const Expr& e, const IntervalMap& symbols) {
  if (!e.is_valid()) return std::nullopt;
  Interval sum{static_cast<double>(e.constant_term()), static_cast<double>(e.constant_term())};
  for (const sdfg::Term& term : e.terms()) {
    Interval value{static_cast<double>(term.coefficient), static_cast<double>(term.coefficient)};
    for (const sdfg::Atom& atom : term.atoms) {
      const auto factor = evaluate(atom, symbols);
      if (!factor) return std::nullopt;
      value = product(value, *factor);
    }
    sum.lo += value.lo;
    sum.hi += value.hi;
  }
  return sum;
}

double NestFacts::work() const {
  double sum = 0;
  for (const StatementFact& statement : statements) sum += statement.executions;
  return sum;
}

namespace {

using ElementBox = std::vector<std::pair<double, double>>;  // of each dimension the first and the last element

double elements(const ElementBox& box) {
  double product = 1;
  for (const auto& [first, last] : box) product *= std::floor(last) - std::floor(first) + 1;
  return product;
}

ElementBox hull(const std::set<ElementBox>& boxes) {
  ElementBox result = *boxes.begin();
  for (const ElementBox& box : boxes)
    for (std::size_t d = 0; d < std::min(box.size(), result.size()); ++d)
      result[d] = {std::min(result[d].first, box[d].first), std::max(result[d].second, box[d].second)};
  return result;
}

// What is accessed, as `footprint` says. In order of declaration, keyed by places in one vector: sums are reproducible.
std::map<const sdfg::Container*, std::set<ElementBox>> boxes_of(const NestFacts& facts, int free_height, int below) {
  IntervalMap at = facts.symbols;
  for (const LoopFact& fact : facts.loops) {
    const Interval range = range_of(*fact.loop, at).value_or(Interval{0, std::max(0.0, fact.trips - 1)});
    at[fact.loop->symbol] = fact.height < free_height ? range : Interval{middle(range), middle(range)};
  }
  std::map<const sdfg::Container*, std::set<ElementBox>> boxes;
  for (const AccessFact& access : facts.accesses) {
    const auto& around = facts.statements[static_cast<std::size_t>(access.statement)].loops;
    if (below >= 0 && (around.empty() || around.front() != below)) continue;
    ElementBox box;
    for (std::size_t d = 0; d < access.memlet->subset.size(); ++d) {
      const auto extent =
          d < access.container->shape.size() ? evaluate(access.container->shape[d], facts.symbols) : std::nullopt;
      const bool known_end = extent && extent->hi < static_cast<double>(sdfg::unknown_extent);
      const double last = known_end ? std::max(0.0, extent->hi - 1) : INFINITY;
      const Interval anywhere{0, std::isfinite(last) ? last : 0};
      const Interval index = evaluate(access.memlet->subset[d], at).value_or(anywhere);
      box.emplace_back(std::clamp(index.lo, 0.0, last), std::clamp(index.hi, 0.0, last));
    }
    boxes[access.container].insert(std::move(box));
  }
  return boxes;
}

}  // namespace

double NestFacts::footprint(int free_height, int below) const {
  double bytes = 0;
  for (const auto& [container, boxes] : boxes_of(*this, free_height, below))
    bytes += elements(hull(boxes)) * info(container->type).bytes;
  return bytes;
}

double NestFacts::touched(int free_height, int below) const {
  double bytes = 0;
  for (const auto& [container, boxes] : boxes_of(*this, free_height, below)) {
    double apart = 0;
    for (const ElementBox& box : boxes) apart += elements(box);
    bytes += std::min(elements(hull(boxes)), apart) * info(container->type).bytes;
  }
  return bytes;
}

std::optional<double> NestFacts::stride(const AccessFact& access, int loop) const {
  const sdfg::Loop& l = *loops[static_cast<std::size_t>(loop)].loop;
  Expr offset;
  const std::size_t dims = std::min(access.memlet->subset.size(), access.container->strides.size());
  for (std::size_t d = 0; d < dims; ++d) offset = offset + access.memlet->subset[d] * access.container->strides[d];
  if (!offset.uses(l.symbol)) return offset.is_valid() ? std::optional(0.0) : std::nullopt;
  const auto coefficient = sdfg::coefficient_of(offset, l.symbol);
  if (!coefficient) return std::nullopt;
  IntervalMap at = symbols;
  for (const int outer : loops[static_cast<std::size_t>(loop)].around) {
    const LoopFact& fact = loops[static_cast<std::size_t>(outer)];
    const double value = middle(range_of(*fact.loop, at).value_or(Interval{0, 0}));
    at[fact.loop->symbol] = {value, value};
  }
  const auto value = evaluate(*coefficient, at);
  if (!value) return std::nullopt;
  return middle(*value) * static_cast<double>(l.step);
}

bool NestFacts::lengths_change(const StatementFact& statement, int outer) const {
  const std::vector<double> first = lengths(statement, outer, false), last = lengths(statement, outer, true);
  for (std::size_t k = 0; k < std::min(first.size(), last.size()); ++k)
    if (2 * std::min(first[k], last[k]) < std::max(first[k], last[k])) return true;
  return first.empty() || last.empty();
}

std::vector<double> NestFacts::lengths(const StatementFact& statement, int outer, bool last) const {
  std::vector<double> result;
  IntervalMap at = symbols;
  bool inside = false;
  for (const int k : statement.loops) {
    const sdfg::Loop& one = *loops[static_cast<std::size_t>(k)].loop;
    const auto begin = evaluate(one.begin, at), end = evaluate(one.end, at);
    if (!begin || !end) return {};
    const double from = middle(*begin), to = middle(*end), step = static_cast<double>(one.step);
    if (inside) result.push_back(std::max(0.0, (to - from) / step));
    // The last but one: the last one may be a tile that is cut off.
    const double next_to_last = (to - from) / step > 2 ? to - 2 * step : from;
    const double value = k != outer ? (from + to) / 2 : last ? next_to_last : from;
    inside = inside || k == outer;
    at[one.symbol] = {value, value};
  }
  return result;
}

namespace {

NestFacts facts(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes, double assumed,
                bool accesses) {
  NestFacts result;
  for (const std::string& symbol : nest.symbols) {
    const auto at = sizes.find(symbol);
    const double value = at == sizes.end() ? assumed : static_cast<double>(at->second);
    result.symbols[symbol] = {value, value};
    if (at == sizes.end()) result.sizes_known = false;
  }
  Collector(nest, assumed, accesses, result).region(nest.root, 1, result.symbols);
  return result;
}

}  // namespace

NestFacts facts(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes, double assumed) {
  return facts(nest, sizes, assumed, /*accesses=*/true);
}
NestFacts facts_without_accesses(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes,
                                 double assumed) {
  return facts(nest, sizes, assumed, /*accesses=*/false);
}

}  // namespace sous::tuning_db
