#include "frontends/c/row_accesses.h"

#include <algorithm>
#include <utility>

#include "frontends/c/ranges.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::Expr;
using sdfg::Memlet;

namespace {

// An affine comparison as conditions that are the same as it; nullopt: it is none.
std::optional<std::vector<Condition>> as_conditions(const sdfg::ScalarExpr& e, bool holds) {
  using sdfg::ScalarOp;
  if (e.op == ScalarOp::logical_not) return as_conditions(e.args[0], !holds);
  if ((e.op == ScalarOp::logical_and && holds) || (e.op == ScalarOp::logical_or && !holds)) {
    auto both = as_conditions(e.args[0], holds);
    const auto second = as_conditions(e.args[1], holds);
    if (!both || !second) return std::nullopt;
    both->insert(both->end(), second->begin(), second->end());
    return both;
  }
  const bool compares = e.op == ScalarOp::eq || e.op == ScalarOp::ne || e.op == ScalarOp::lt || e.op == ScalarOp::le ||
                        e.op == ScalarOp::gt || e.op == ScalarOp::ge;
  const auto a = compares ? as_symbolic(e.args[0]) : std::nullopt, b = compares ? as_symbolic(e.args[1]) : std::nullopt;
  if (!a || !b) return std::nullopt;
  const Expr less = *b - *a;  // a < b: positive
  if ((e.op == ScalarOp::eq) == holds && (e.op == ScalarOp::eq || e.op == ScalarOp::ne))
    return std::vector<Condition>{{less}, {-less}};
  if (e.op == ScalarOp::eq || e.op == ScalarOp::ne) return std::vector<Condition>{{less, true}};
  const bool first_smaller = (e.op == ScalarOp::lt || e.op == ScalarOp::le) == holds;
  const bool strict = (e.op == ScalarOp::lt || e.op == ScalarOp::gt) == holds;
  return std::vector<Condition>{{(first_smaller ? less : -less) - Expr(strict ? 1 : 0)}};
}

// Collects the accesses to one table of rows.
class RowAccesses {
 public:
  explicit RowAccesses(std::string table) : table_(std::move(table)) {}
  std::vector<RowAccess> of(const sdfg::Region& region) {
    collect(region);
    return std::move(found_);
  }

 private:
  void add(const Expr& row) { found_.push_back({row, loops_, conditions_, always_}); }
  void collect(const Expr& e) {
    if (e.reads().empty()) return;
    e.map_reads([&](const std::string& container, const std::vector<Expr>& subscript) {
      for (const Expr& s : subscript) collect(s);
      if (container == table_) add(subscript[0]);
      return Expr::read(container, subscript);
    });
  }
  void collect(const Memlet& m) {
    for (const sdfg::Expr& d : m.subset) collect(d);
    if (m.container == table_) add(m.subset[0]);
  }
  // What is found in the region, as if it were sure to run.
  std::vector<RowAccess> arm(const sdfg::Region& region, const std::optional<std::vector<Condition>>& conditions) {
    std::vector<RowAccess> outside = std::exchange(found_, {});
    const std::size_t before = conditions_.size();
    const bool always = std::exchange(always_, true);
    if (conditions) conditions_.insert(conditions_.end(), conditions->begin(), conditions->end());
    collect(region);
    conditions_.erase(conditions_.begin() + static_cast<std::ptrdiff_t>(before), conditions_.end());
    always_ = always;
    return std::exchange(found_, std::move(outside));
  }
  void branch(const sdfg::If& i) {
    const auto& [code, inputs] = i.condition;
    for (const Memlet& m : inputs) collect(m);
    const auto yes = inputs.empty() ? as_conditions(code, true) : std::nullopt,
               no = inputs.empty() ? as_conditions(code, false) : std::nullopt;
    std::vector<RowAccess> arms[2] = {arm(i.then_body, yes), arm(i.else_body, no)};
    const bool known[2] = {yes.has_value(), no.has_value()};
    const auto same = [](const RowAccess& a, const RowAccess& b) {
      return a.always && b.always && a.row == b.row && a.loops == b.loops && a.conditions == b.conditions;
    };
    for (const int k : {0, 1})
      for (const RowAccess& a : arms[k]) {
        // Without a condition that can be asked: what both ways come to.
        const bool either = std::ranges::any_of(arms[1 - k], [&](const RowAccess& b) { return same(a, b); });
        found_.push_back(a);
        found_.back().always = a.always && always_ && (known[k] || either || planted(Fault::row_of_one_arm));
      }
  }
  void collect(const sdfg::Region& region) {
    for (const sdfg::Node& node : region.nodes)
      match(
          node.value,
          [&](const sdfg::State& s) {
            for (const sdfg::Edge& e : s.edges) collect(e.memlet);
          },
          [&](const sdfg::Loop& l) {
            collect(l.begin);
            collect(l.end);
            loops_.push_back({l.symbol, l.begin, l.end, l.step});
            collect(l.body);
            loops_.pop_back();
          },
          [&](const sdfg::If& i) { branch(i); },
          [&](const sdfg::While& w) {
            const bool always = always_;
            always_ = always && w.test_first;
            for (const Memlet& m : w.condition.inputs) collect(m);
            always_ = false;
            collect(w.body);
            always_ = always;
          });
  }

  std::string table_;
  std::vector<RowLoop> loops_;
  std::vector<Condition> conditions_;
  bool always_ = true;
  std::vector<RowAccess> found_;
};

Expr last_iteration(const RowLoop& l) {
  if (l.step == 1 || l.step == -1) return l.end - Expr(l.step);
  const Expr size(l.step > 0 ? l.step : -l.step);
  const Expr whole = Expr::floor_div((l.step > 0 ? l.end - l.begin : l.begin - l.end) - Expr(1), size);
  return l.begin + Expr(l.step) * whole;
}

// Of `x[i] -= a[i][k] * x[k]` with k below i the first iteration has none of the inner loop: by how many iterations of
// the loop outside of loop k it comes to one, where that is `missing` short of having one.
std::optional<std::pair<std::size_t, std::int64_t>> shift_outer(const std::vector<RowLoop>& loops, std::size_t k,
                                                                const std::vector<bool>& last, std::int64_t missing) {
  const Expr nonempty = loops[k].step > 0 ? loops[k].end - loops[k].begin : loops[k].begin - loops[k].end;
  for (std::size_t q = 0; q < k; ++q) {
    const auto slope = sdfg::coefficient_of(nonempty, loops[q].symbol);
    if (!slope || !slope->constant()) return std::nullopt;
    if (*slope->constant() == 0) continue;
    const std::int64_t inwards = last[q] ? -loops[q].step : loops[q].step;
    if (*slope->constant() != inwards || inwards * inwards != 1) return std::nullopt;
    return std::pair(q, missing);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Extreme> extreme(const RowAccess& access, bool up, bool idle_last,
                               std::map<std::size_t, std::int64_t> shifts) {
  Expr row = access.row;
  std::vector<bool> last(access.loops.size());  // which iteration of each loop
  const auto iteration = [&](const RowLoop& l, std::size_t k) {
    const std::int64_t shift = shifts.contains(k) ? shifts.at(k) * l.step : 0;
    return last[k] ? last_iteration(l) - Expr(shift) : l.begin + Expr(shift);
  };
  for (std::size_t k = access.loops.size(); k-- > 0;) {
    const RowLoop& l = access.loops[k];
    const auto coefficient = sdfg::coefficient_of(row, l.symbol);
    if (!coefficient || !coefficient->constant()) return std::nullopt;
    const bool to_high = *coefficient->constant() == 0 ? idle_last : (*coefficient->constant() > 0) == up;
    last[k] = to_high == (l.step > 0);
    row = row.substitute({{l.symbol, iteration(l, k)}});
  }
  Extreme result{.row = row, .witness = {}};
  std::map<std::string, Expr> at;
  for (std::size_t k = 0; k < access.loops.size(); ++k) {
    const RowLoop& l = access.loops[k];
    const RowLoop here{l.symbol, l.begin.substitute(at), l.end.substitute(at), l.step};
    const std::int64_t skipped = shifts.contains(k) ? shifts.at(k) : 0;
    const Expr size = l.step > 0 ? here.end - here.begin : here.begin - here.end;
    const Expr nonempty = size - Expr(1 + skipped * (l.step > 0 ? l.step : -l.step));
    if (auto c = nonempty.constant(); c && *c < 0) {
      const auto shift = shifts.empty() ? shift_outer(access.loops, k, last, -*c) : std::nullopt;
      return shift ? extreme(access, up, idle_last, {*shift}) : std::nullopt;
    }
    if (!nonempty.constant()) result.witness.nonneg.push_back(nonempty);
    at[l.symbol] = iteration(here, k);
  }
  for (const Condition& c : access.conditions) {
    const Expr value = c.value.substitute(at);
    if (auto number = value.constant(); number && (c.nonzero ? *number == 0 : *number < 0)) return std::nullopt;
    if (!value.constant()) (c.nonzero ? result.witness.nonzero : result.witness.nonneg).push_back(value);
  }
  for (const auto* values : {&result.witness.nonneg, &result.witness.nonzero})
    for (const Expr& e : *values)
      if (!e.reads().empty()) return std::nullopt;
  result.shifted = !shifts.empty();
  result.row = access.row.substitute(at);
  return result.row.reads().empty() ? std::optional(result) : std::nullopt;
}

// Every access to a row.
std::vector<RowAccess> row_accesses(const sdfg::Sdfg& sdfg, const std::string& container) {
  return RowAccesses(container).of(sdfg.root);
}

}  // namespace sous::frontends::c
