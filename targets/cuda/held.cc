#include "targets/cuda/held.h"

#include <algorithm>
#include <map>

#include "sdfg/planted_fault.h"
#include "targets/cuda/block.h"

namespace sous::targets {
namespace {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Node;

// Of 4 bytes, of 255 that a thread may have; of one loop; and what compilers take a second or two for.
constexpr std::int64_t most_registers = 160, most_iterations = 64, most_statements = 6000;

std::int64_t registers_of(const sdfg::Container& c) {
  std::int64_t all = std::max(sdfg::info(c.type).bytes / 4, 1);
  for (const Expr& extent : c.shape) {
    const auto size = extent.constant();
    if (!size || *size > most_registers) return most_registers + 1;
    all = std::min(all * std::max<std::int64_t>(*size, 1), most_registers + 1);
  }
  return all;
}

}  // namespace

Held::Held(Printer& printer, const Loop& kernel) : printer_(printer) {
  sdfg::visit(sdfg::Region{{Node(kernel)}}, [&](const Node& n) {
    const auto* loop = std::get_if<Loop>(&n.value);
    if (loop != nullptr && !is_grid(*loop)) add(*loop);
  });
}

void Held::add(const Loop& owner) {
  std::set<std::string> arrays;
  std::int64_t registers = 0, all = 0;
  for (const std::string& name : owner.privates) {
    const sdfg::Container& c = printer_.expressions.container(name);
    if (c.storage != sdfg::Storage::stack || c.shape.empty()) continue;
    arrays.insert(name);
    registers += registers_of(c);
  }
  std::set<std::string> loops;
  for (const Node& n : owner.body.nodes) {
    if (!touches(n, arrays)) continue;
    const auto* loop = std::get_if<Loop>(&n.value);
    const auto some = loop != nullptr ? statements(*loop, arrays) : std::nullopt;
    all += some.value_or(most_statements + 1);
    sdfg::visit(sdfg::Region{{n}}, [&](const Node& inner) {
      if (const auto* l = std::get_if<Loop>(&inner.value)) loops.insert(l->symbol);
    });
  }
  if (registers <= most_registers && all <= most_statements) loops_.merge(loops);
}

bool Held::print(const Loop& loop) {
  if (!loops_.contains(loop.symbol)) return false;
  const auto range = bounds(loop);
  if (!range) return false;
  Expressions& expressions = printer_.expressions;
  const std::string variable = expressions.names().of(loop.symbol);
  Counted here = counted(loop, *range);
  here.counter = expressions.names().fresh(variable + "_n");
  const std::string last = planted(Fault::counted_one_short) ? " - 1" : "";
  printer_.out.line("SOUS_UNROLLED");
  printer_.out.open("for (int64_t " + here.counter + " = " + range->begin.text() + "; " + here.counter + " < " +
                    range->end.text() + last + "; ++" + here.counter + ")");
  printer_.out.line("const int64_t " + variable + " = " + expressions.index(here.base).in(Binding::Sum) + " + " +
                    here.counter + ";");
  around_.push_back(std::move(here));
  printer_.body(loop);
  around_.pop_back();
  printer_.out.close();
  return true;
}

std::string Held::Offset::text() const {
  const std::string constant = std::to_string(more);
  if (from == nullptr) return constant;
  return more == 0 ? from->counter : from->counter + " + " + constant;
}

bool Held::touches(const Node& node, const std::set<std::string>& arrays) {
  const sdfg::Touched touched = sdfg::touched(node);
  return std::ranges::any_of(
      arrays, [&](const std::string& name) { return touched.read.contains(name) || touched.written.contains(name); });
}

std::optional<Held::Offset> Held::offset(const Expr& e, const Expr& base) const {
  if (const auto more = (e - base).constant()) return Offset{.more = *more};
  for (const Counted& loop : around_)
    if (const auto more = (e - Expr::symbol(loop.symbol)).constant(); more && loop.base == base)
      return Offset{.from = &loop, .more = *more};
  return std::nullopt;
}

std::optional<Held::Bounds> Held::bounds(const Loop& loop) const {
  if (!std::holds_alternative<sdfg::Sequential>(loop.schedule) || loop.step != 1 || !loop.begin.reads().empty())
    return std::nullopt;
  // From where a loop around is counted, if both have to do with each other.
  Expr base = loop.begin;
  for (const Counted& other : around_)
    if (offset(loop.begin, other.base)) base = other.base;
  if (std::ranges::any_of(around_, [&](const Counted& other) { return base.uses(other.symbol); })) return std::nullopt;
  const auto begin = offset(loop.begin, base), end = offset(loop.end, base);
  if (!begin || !end) return std::nullopt;
  return Bounds{.base = base, .begin = *begin, .end = *end};
}

Held::Counted Held::counted(const Loop& loop, const Bounds& bounds) const {
  const auto& [base, begin, end] = bounds;
  return {.symbol = loop.symbol,
          .base = base,
          .least = begin.more + (begin.from != nullptr ? begin.from->least : 0),
          .end = end.more + (end.from != nullptr ? end.from->end - 1 : 0),
          .counter = ""};
}

std::optional<std::int64_t> Held::statements(const Loop& loop, const std::set<std::string>& arrays) {
  const auto range = bounds(loop);
  if (!range) return std::nullopt;
  const Counted here = counted(loop, *range);
  const std::int64_t trips = std::max<std::int64_t>(here.end - here.least, 0);
  if (trips > most_iterations) return std::nullopt;
  around_.push_back(here);
  std::optional<std::int64_t> each = 0;
  for (const Node& n : loop.body.nodes) {
    const auto* inner = std::get_if<Loop>(&n.value);
    const auto* state = std::get_if<sdfg::State>(&n.value);
    std::optional<std::int64_t> more;
    if (inner != nullptr) more = statements(*inner, arrays);
    if (state != nullptr && has_constant_subscripts(*state, arrays)) more = 1;
    each = each && more ? std::optional(*each + *more) : std::nullopt;
  }
  around_.pop_back();
  return each ? std::optional(std::min(*each * trips, most_statements + 1)) : std::nullopt;
}

bool Held::has_constant_subscripts(const sdfg::State& state, const std::set<std::string>& arrays) const {
  std::map<std::string, Expr> counters;
  for (const Counted& loop : around_) counters[loop.symbol] = loop.base + Expr::symbol("#" + loop.symbol);
  bool constant = true;
  const sdfg::Region region{{Node(state)}};
  sdfg::for_each_memlet(region, [&](const sdfg::Memlet& m, bool) {
    for (const sdfg::Expr& d : m.subset) {
      for (const std::string& read : d.reads()) constant = constant && !arrays.contains(read);
      if (!arrays.contains(m.container)) continue;
      const auto symbols = d.substitute(counters).symbols();
      constant = constant && d.reads().empty() &&
                 std::ranges::all_of(symbols, [](const std::string& symbol) { return symbol.starts_with("#"); });
    }
  });
  return constant;
}

}  // namespace sous::targets
