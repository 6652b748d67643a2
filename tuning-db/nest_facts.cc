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

std::optional<Interval> value_of(const IntervalMap& symbols, const std::string& name) {
  const auto at = symbols.find(name);
  return at == symbols.end() ? std::nullopt : std::optional(at->second);
}

// The symbols inside of some loops, whose own stand in the middle of their ranges.
struct Middles {
  const NestFacts& facts;
  const std::vector<int>& loops;
};
std::optional<Interval> value_of(const Middles& symbols, const std::string& name) {
  for (const int loop : symbols.loops)
    if (const LoopFact& fact = symbols.facts.loops[static_cast<std::size_t>(loop)]; fact.loop->symbol == name)
      return Interval{fact.middle, fact.middle};
  return value_of(symbols.facts.symbols, name);
}

template <class Symbols>
std::optional<Interval> evaluate_in(const Expr& e, const Symbols& symbols);

template <class Symbols>
std::optional<Interval> evaluate(const sdfg::Atom& atom, const Symbols& symbols) {
  if (atom.kind == sdfg::AtomKind::Symbol) return value_of(symbols, atom.name);
  if (atom.kind == sdfg::AtomKind::Read) return std::nullopt;
  const auto a = evaluate_in(atom.args[0], symbols), b = evaluate_in(atom.args[1], symbols);
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

// coefficient times all factors but `but`.
template <class Symbols>
std::optional<Interval> evaluate(const sdfg::Term& term, const Symbols& symbols, const sdfg::Atom* but = nullptr) {
  Interval value{static_cast<double>(term.coefficient), static_cast<double>(term.coefficient)};
  for (const sdfg::Atom& atom : term.atoms) {
    if (&atom == but) continue;
    const auto factor = evaluate(atom, symbols);
    if (!factor) return std::nullopt;
    value = product(value, *factor);
  }
  return value;
}

template <class Symbols>
std::optional<Interval> evaluate_in(const Expr& e, const Symbols& symbols) {
  if (!e.is_valid()) return std::nullopt;
  Interval sum{static_cast<double>(e.constant_term()), static_cast<double>(e.constant_term())};
  for (const sdfg::Term& term : e.terms()) {
    const auto value = evaluate(term, symbols);
    if (!value) return std::nullopt;
    sum.lo += value->lo;
    sum.hi += value->hi;
  }
  return sum;
}

double middle(Interval i) { return (i.lo + i.hi) / 2; }

bool uses(const sdfg::Atom& atom, const std::string& symbol) {
  if (atom.kind == sdfg::AtomKind::Symbol) return atom.name == symbol;
  return std::ranges::any_of(atom.args, [&](const Expr& arg) { return arg.uses(symbol); });
}

// How much `e` grows with the symbol, term by term: what stands before it need not be multiplied out. Nullopt: it is
// not linear in it.
std::optional<double> slope(const Expr& e, const std::string& symbol, const Middles& symbols) {
  if (!e.is_valid()) return std::nullopt;
  double sum = 0;
  for (const sdfg::Term& term : e.terms()) {
    const sdfg::Atom* factor = nullptr;
    for (const sdfg::Atom& atom : term.atoms) {
      if (!uses(atom, symbol)) continue;
      if (factor || atom.kind != sdfg::AtomKind::Symbol) return std::nullopt;
      factor = &atom;
    }
    if (!factor) continue;
    const auto value = evaluate(term, symbols, factor);
    if (!value) return std::nullopt;
    sum += middle(*value);
  }
  return sum;
}

// The values of a loop's symbol for symbols within their intervals.
template <class Symbols>
std::optional<Interval> range_of(const sdfg::Loop& loop, const Symbols& symbols) {
  const auto begin = evaluate_in(loop.begin, symbols), end = evaluate_in(loop.end, symbols);
  if (!begin || !end) return std::nullopt;
  const Interval values = loop.step > 0 ? Interval{begin->lo, end->hi - 1} : Interval{end->lo + 1, begin->hi};
  return Interval{values.lo, std::max(values.lo, values.hi)};
}

class Collector {
 public:
  Collector(const sdfg::Sdfg& nest, double assumed, bool accesses, NestFacts& out)
      : containers_(by_name(nest)), assumed_(assumed), accesses_(accesses), out_(out) {}

  // `times`: how often the region runs; `middles`: the symbols, loop symbols in the middle of their ranges; as it was
  // again behind the region.
  void region(const sdfg::Region& region, double times, IntervalMap& middles) {
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
  void loop(const sdfg::Loop& loop, double times, IntervalMap& middles) {
    LoopFact fact{.loop = &loop, .around = stack_};
    for (const int outer : stack_) {
      const std::string& symbol = out_.loops[static_cast<std::size_t>(outer)].loop->symbol;
      fact.triangular |= loop.begin.uses(symbol) || loop.end.uses(symbol);
    }
    const auto begin = evaluate_in(loop.begin, middles), end = evaluate_in(loop.end, middles);
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
    const auto [place, first_of_name] = middles.try_emplace(loop.symbol);
    const Interval before = std::exchange(place->second, {at, at});
    const int index = static_cast<int>(out_.loops.size());
    const double inside = times * fact.trips;
    out_.loops.push_back(std::move(fact));
    stack_.push_back(index);
    const sdfg::If* around = std::exchange(under_, nullptr);
    region(loop.body, inside, middles);
    under_ = around;
    stack_.pop_back();
    if (first_of_name)
      middles.erase(place);
    else
      place->second = before;
    if (!stack_.empty()) {
      const int height = out_.loops[static_cast<std::size_t>(index)].height;
      int& outer = out_.loops[static_cast<std::size_t>(stack_.back())].height;
      outer = std::max(outer, height + 1);
    }
  }

  void state(const sdfg::State& state, double times) {
    std::vector<std::vector<const sdfg::Edge*>> edges(state.nodes.size());  // of each tasklet
    const auto is_tasklet = [&](int node) {
      return std::holds_alternative<sdfg::Tasklet>(state.nodes[static_cast<std::size_t>(node)]);
    };
    if (accesses_)
      for (const sdfg::Edge& edge : state.edges)
        edges[static_cast<std::size_t>(is_tasklet(edge.source) ? edge.source : edge.target)].push_back(&edge);
    for (const int node : sdfg::execution_order(state)) {
      const auto& tasklet = std::get<sdfg::Tasklet>(state.nodes[static_cast<std::size_t>(node)]);
      const int statement = static_cast<int>(out_.statements.size());
      out_.statements.push_back({&state, &tasklet.code, stack_, times, whiles_, under_});
      for (const sdfg::Edge* edge : edges[static_cast<std::size_t>(node)])
        if (const auto container = containers_.find(edge->memlet.container); container != containers_.end())
          out_.accesses.push_back({container->second, &edge->memlet, edge->source == node, statement});
    }
  }

  static std::map<std::string_view, const sdfg::Container*> by_name(const sdfg::Sdfg& nest) {
    std::map<std::string_view, const sdfg::Container*> result;
    for (const sdfg::Container& container : nest.containers) result.emplace(container.name, &container);
    return result;
  }

  const std::map<std::string_view, const sdfg::Container*> containers_;
  double assumed_;
  bool accesses_;
  NestFacts& out_;
  std::vector<int> stack_;
  int whiles_ = 0;
  const sdfg::If* under_ = nullptr;  // in the innermost loop
};

}  // namespace

std::optional<Interval> evaluate(const Expr& e, const IntervalMap& symbols) { return evaluate_in(e, symbols); }

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
  const LoopFact& fact = loops[static_cast<std::size_t>(loop)];
  const Middles around{*this, fact.around};
  double sum = 0;
  const std::size_t dims = std::min(access.memlet->subset.size(), access.container->strides.size());
  for (std::size_t d = 0; d < dims; ++d) {
    const auto along = slope(access.memlet->subset[d], fact.loop->symbol, around);
    if (!along) return std::nullopt;
    if (*along == 0) continue;
    const auto stride = evaluate_in(access.container->strides[d], around);
    if (!stride) return std::nullopt;
    sum += *along * middle(*stride);
  }
  return sum * static_cast<double>(fact.loop->step);
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
  IntervalMap middles = result.symbols;
  Collector(nest, assumed, accesses, result).region(nest.root, 1, middles);
  if (accesses)
    for (LoopFact& fact : result.loops)
      fact.middle = middle(range_of(*fact.loop, Middles{result, fact.around}).value_or(Interval{0, 0}));
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
