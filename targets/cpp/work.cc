#include "targets/cpp/work.h"

#include <charconv>

#include "sdfg/extremes.h"
#include "sdfg/trips.h"

namespace sous::targets {
namespace {

using sdfg::Expr;
using sdfg::Extremes;
using sdfg::Signs;

std::string number(double value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace

Work constant_work(double value) { return {number(value), value}; }

Work product(const Work& a, const Work& b) {
  if (a.constant && b.constant) return constant_work(*a.constant * *b.constant);
  if (a.constant == 1.0) return b;
  if (b.constant == 1.0) return a;
  const auto factor = [](const Work& w) { return w.is_sum ? "(" + w.text + ")" : w.text; };
  return {factor(a) + " * " + factor(b), std::nullopt};
}

Work sum(const Work& a, const Work& b) {
  if (a.constant && b.constant) return constant_work(*a.constant + *b.constant);
  if (a.constant == 0.0) return b;
  if (b.constant == 0.0) return a;
  return {a.text + " + " + b.text, std::nullopt, true};
}

Work work_of_extent(const Expr& extent, const Expressions& expressions) {
  if (const auto known = extent.constant()) return constant_work(*known > 0 ? static_cast<double>(*known) : 0);
  return {"sous::extent(" + expressions.index_ahead(extent).text + ")", std::nullopt};
}

Work mean_length(const sdfg::DataRows& rows, const Expressions& expressions) {
  const auto index = [&](const Expr& e) { return expressions.index_ahead(e).in(Binding::Sum); };
  const auto element = [&](const Expr& place) { return index(Expr::read(rows.starts, {place})); };
  std::string any;
  for (const Expr& length : rows.lengths) any += (any.empty() ? "" : " && ") + index(length) + " > 0";
  return {"(" + any + " ? sous::mean_length(" + element(rows.first) + ", " + element(rows.last) + ", " +
              index(rows.count) + ") : 0.0)",
          std::nullopt};
}

namespace {

struct Counter {
  const Expressions& expressions;
  sdfg::RowWalk walk;
  sdfg::ExtremesOf ranges = {};

  Work region(const sdfg::Region& r) {
    Work total = constant_work(0);
    for (const sdfg::Node& n : r.nodes) total = sum(total, node(n));
    return total;
  }

  Work node(const sdfg::Node& n) {
    return match(
        n.value, [](const sdfg::State&) { return constant_work(1); }, [&](const sdfg::Loop& l) { return loop(l); },
        [&](const sdfg::If& i) {
          return walk.inside(i, [&] { return sum(region(i.then_body), region(i.else_body)); });
        },
        [&](const sdfg::While& w) { return walk.inside(w, [&] { return region(w.body); }); });
  }

  Work loop(const sdfg::Loop& l) {
    const bool up = l.step > 0;
    // An estimate: sizes are taken as not negative.
    const auto first = sdfg::extreme(l.begin, !up, ranges, Signs::NotNegative);
    const auto end = sdfg::extreme(l.end, up, ranges, Signs::NotNegative);
    Work iterations = constant_work(1);
    // Reads stand for values that are not known on entry.
    const auto is_known = [](const std::optional<Expr>& e) { return e && e->is_valid() && e->reads().empty(); };
    if (is_known(first) && is_known(end)) {
      const auto within = sdfg::most_trips(l);
      const Expr extent =
          within ? Expr(*within) : Expr::ceil_div(up ? *end - *first : *first - *end, up ? l.step : -l.step);
      ranges[l.symbol] = up ? Extremes{*first, *end - Expr(1)} : Extremes{*end + Expr(1), *first};
      if (extent.is_valid()) iterations = work_of_extent(extent, expressions);
    } else {
      // Its variable stands for any value: what depends on it counts as one.
      ranges[l.symbol] = {Expr::read(l.symbol, {}), Expr::read(l.symbol, {})};
      if (const auto rows = walk.of(l)) iterations = mean_length(*rows, expressions);
    }
    const Work result = product(iterations, walk.inside(l, [&] { return region(l.body); }));
    ranges.erase(l.symbol);
    return result;
  }
};

}  // namespace

Work work(const sdfg::Node& node, const Expressions& expressions) {
  return Counter{expressions, {expressions.sdfg(), node}}.node(node);
}
Work work(const sdfg::Region& region, const Expressions& expressions) {
  return Counter{expressions, {expressions.sdfg(), region}}.region(region);
}

}  // namespace sous::targets
