// Canonical loops: see canonical_loops in passes.h.
#include <algorithm>
#include <cstdlib>

#include "sdfg/atoms.h"
#include "transforms/interchange_bounds.h"
#include "transforms/normal/passes.h"
#include "transforms/normal/util.h"

namespace sous::transforms::normal {

using namespace sdfg;

namespace {

bool uses_any(const Expr& e, const std::vector<std::string>& symbols) {
  return std::ranges::any_of(symbols, [&](const std::string& s) { return e.uses(s); });
}

// The part of a sum that uses none of (or, `using_them`, any of) the symbols.
Expr part(const Expr& e, const std::vector<std::string>& symbols, bool using_them) {
  Expr free(e.constant_term());
  for (const Term& term : e.terms()) {
    Expr product(term.coefficient);
    for (const Atom& atom : term.atoms) product = product * make_atom(atom, atom.args);
    if (!uses_any(product, symbols)) free = free + product;
  }
  return using_them ? e - free : free;
}

bool reads_something_written(const Sdfg& sdfg, const Expr& e, const std::set<std::string>& written) {
  return std::ranges::any_of(e.reads(), [&](const std::string& c) { return any_overlaps(sdfg, written, c); });
}

// Whether scalar code below computes with the symbol: what it becomes there may not read memory.
bool computed_with(const Region& region, const std::string& symbol) {
  bool found = false;
  for_each_code(region, [&](const ScalarExpr& code) {
    code.visit([&](const ScalarExpr& e) { found = found || (e.op == ScalarOp::symbolic && e.symbolic.uses(symbol)); });
  });
  return found;
}

class Canonicalizer {
 public:
  Canonicalizer(const Sdfg& sdfg, Log& log) : sdfg_(sdfg), log_(log) {}

  Region region(const Region& r) {
    Region out;
    for (const Node& node : r.nodes)
      if (const auto* l = std::get_if<Loop>(&node.value)) {
        for (Node& n : loop(*l).nodes) out.nodes.push_back(std::move(n));
      } else {
        out.nodes.push_back(with_bodies(node, [&](const Region& body) { return region(body); }));
      }
    return out;
  }

 private:
  Region loop(const Loop& original) {
    Loop l = original;
    const std::set<std::string> written = sdfg::touched(l.body).written;
    const bool stays = !l.begin.reads().empty() && computed_with(l.body, l.symbol);
    if (!stays && !reads_something_written(sdfg_, l.begin, written) &&
        !reads_something_written(sdfg_, l.end, written)) {
      if (l.step != 1) count_iterations(l);
      tighten(l);
      shift(l);
      if ((l.end - l.begin).constant() == 1 && l.privates.empty()) {
        log_.push_back("loops: " + l.symbol + " has one iteration");
        return region(substitute(l.body, {{l.symbol, l.begin}}));
      }
      if (const auto extent = (l.end - l.begin).constant(); extent && *extent <= 0) {
        log_.push_back("loops: " + l.symbol + " has no iteration");
        return {};
      }
    }
    outer_.push_back(l.symbol);
    l.body = region(l.body);
    outer_.pop_back();
    Region result;
    result.nodes.emplace_back(std::move(l));
    return result;
  }

  // symbol = begin + step * k, k counted from 0; the symbol now means k.
  void count_iterations(Loop& l) {
    const Expr extent = l.step > 0 ? Expr::ceil_div(l.end - l.begin, l.step) : Expr::ceil_div(l.begin - l.end, -l.step);
    l.body = substitute(l.body, {{l.symbol, l.begin + l.step * Expr::symbol(l.symbol)}});
    log_.push_back("loops: " + l.symbol + " counts its iterations (step " + std::to_string(l.step) + ")");
    l.begin = 0;
    l.end = extent;
    l.step = 1;
  }

  // Drops outer iterations in which the one loop inside is empty, where that changes a bound by a constant.
  void tighten(Loop& l) {
    if (l.body.nodes.size() != 1) return;
    auto* inner = std::get_if<Loop>(&l.body.nodes[0].value);
    if (!inner || inner->step != 1) return;
    tighten(*inner);
    for (const Expr& low : max_pieces(inner->begin))
      for (const Expr& high : min_pieces(inner->end)) {
        const Expr gap = high - low - 1;  // the inner loop is empty where this is negative
        const auto factor = coefficient_of(gap, l.symbol);
        if (!factor || !factor->constant() || *factor->constant() == 0 || !gap.reads().empty()) continue;
        const std::int64_t a = *factor->constant();
        const Expr rest = gap - a * Expr::symbol(l.symbol);
        if (a < 0) {
          const Expr end = Expr::floor_div(rest, -a) + 1;
          if (const auto gain = (l.end - end).constant(); gain && *gain > 0) l.end = end;
        } else {
          const Expr begin = Expr::ceil_div(-rest, a);
          if (const auto gain = (begin - l.begin).constant(); gain && *gain > 0) l.begin = begin;
        }
      }
  }

  // The part of the subscripts' other terms that depends on outer loops, where it is the same in all subscripts that
  // use the symbol: j + i everywhere means that j + i is what the loop is about.
  std::optional<Expr> common_skew(const Loop& l) const {
    std::optional<Expr> skew;
    bool same = true;
    for_each_memlet(l.body, [&](const Memlet& m, bool) {
      for (const Expr& d : m.subset) {
        if (!d.uses(l.symbol)) continue;
        const auto factor = coefficient_of(d, l.symbol);
        const auto value = factor ? factor->constant() : std::nullopt;
        if (!value || (*value != 1 && *value != -1)) {
          same = false;
          continue;
        }
        const Expr rest = *value * part(d - *value * Expr::symbol(l.symbol), outer_, true);
        if (skew && *skew != rest) same = false;
        skew = rest;
      }
    });
    return same ? skew : std::nullopt;
  }

  // Whether iterations of the loops around share none of the loop's values once it is skewed back: 3 * x + c with c
  // below 3 counts what lies side by side. As one long loop it would leave those around one iteration for each of its
  // own.
  static bool is_apart(const Loop& l, const Expr& skew) {
    const auto trips = (l.end - l.begin).constant();
    return trips && std::ranges::any_of(skew.symbols(), [&](const std::string& symbol) {
             const auto factor = coefficient_of(skew, symbol);
             const auto value = factor ? factor->constant() : std::nullopt;
             return value && std::abs(*value) > 1 && std::abs(*value) >= *trips;
           });
  }

  void shift(Loop& l) {
    Expr amount = part(l.begin, outer_, false);
    if (const auto skew = common_skew(l); skew && *skew != Expr(0) && affine(*skew) && !is_apart(l, *skew)) {
      amount = amount - *skew;
      log_.push_back("loops: " + l.symbol + " skewed back by " + skew->to_string());
    }
    if (amount == Expr(0)) return;
    l.begin = l.begin - amount;
    l.end = l.end - amount;
    l.body = substitute(l.body, {{l.symbol, Expr::symbol(l.symbol) + amount}});
  }

  const Sdfg& sdfg_;
  Log& log_;
  std::vector<std::string> outer_;
};

}  // namespace

Sdfg canonical_loops(const Sdfg& sdfg, Log& log) {
  Sdfg result = sdfg;
  result.root = Canonicalizer(sdfg, log).region(sdfg.root);
  return result;
}

}  // namespace sous::transforms::normal
