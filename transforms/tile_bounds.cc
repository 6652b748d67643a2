#include "transforms/tile_bounds.h"

#include <algorithm>

#include "transforms/step.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::ScalarExpr;

std::vector<ScalarExpr> runs(const sdfg::ScheduleLoop& l) {
  return sdfg::runs(l.begin, l.end, l.step, Expr::symbol(l.symbol));
}

Expr simplest(const Expr& e) {
  const std::vector<Expr> pieces = sdfg::min_pieces(e);
  std::optional<Expr> result;
  for (std::size_t k = 0; k < pieces.size(); ++k) {
    bool needed = true;
    for (std::size_t other = 0; other < pieces.size(); ++other) {
      const auto above = (pieces[k] - pieces[other]).constant();
      needed = needed && (other == k || !above || *above < 0);
    }
    if (needed) result = result ? Expr::min(*result, pieces[k]) : pieces[k];
  }
  return result.value_or(e);
}

std::vector<ScalarExpr> needed_at_most(const Expr& low, const Expr& high) {
  std::vector<ScalarExpr> result;
  for (const Expr& l : sdfg::max_pieces(low))
    for (const Expr& h : sdfg::min_pieces(high))
      if ((h - l).constant().value_or(-1) < 0) result.push_back(sdfg::at_most(l, h));
  return result;
}

ScalarExpr all_of(const std::vector<ScalarExpr>& conditions) {
  if (conditions.empty()) return ScalarExpr::integer(1, sdfg::ElementType::boolean);
  ScalarExpr all = conditions[0];
  for (std::size_t k = 1; k < conditions.size(); ++k)
    all = ScalarExpr::binary(sdfg::ScalarOp::logical_and, all, conditions[k]);
  return all;
}

std::optional<Expr> crossed(const Expr& end, const Expr& begin, std::int64_t size) {
  std::optional<Expr> result;
  for (const Expr& piece : sdfg::min_pieces(end)) {
    const auto length = (piece - begin).constant();
    if (length && *length % size == 0) continue;
    result = result ? Expr::min(*result, piece) : piece;
  }
  if (result) result = simplest(*result);
  return result;
}

namespace {

using Extreme = std::optional<Expr>(const Expr&, const std::string&, const Expr&, const Expr&);

std::optional<Expr> of_all(Expr e, const std::vector<sdfg::ScheduleLoop>& loops, Extreme* extreme) {
  for (std::size_t k = loops.size(); k-- > 0;) {
    if (!e.uses(loops[k].symbol)) continue;
    if (loops[k].step < 0) return std::nullopt;
    const auto next = extreme(e, loops[k].symbol, loops[k].begin, loops[k].end - 1);
    if (!next) return std::nullopt;
    e = simplest(*next);
  }
  return e;
}

// Whether `e` is a multiple of `width` in all iterations of the loops.
bool is_multiple(Expr e, std::int64_t width, const std::vector<sdfg::ScheduleLoop>& loops) {
  for (std::size_t k = loops.size(); k-- > 0;)
    if (loops[k].step % width == 0 && affine(e)) e = e.substitute({{loops[k].symbol, loops[k].begin}});
  const auto form = affine(e);
  return form && form->constant % width == 0 &&
         std::ranges::all_of(form->coefficients, [&](const auto& term) { return term.second % width == 0; });
}

}  // namespace

std::optional<Expr> least_of_all(Expr e, const std::vector<sdfg::ScheduleLoop>& loops) {
  return of_all(std::move(e), loops, least);
}
std::optional<Expr> greatest_of_all(Expr e, const std::vector<sdfg::ScheduleLoop>& loops) {
  return of_all(std::move(e), loops, greatest);
}

std::optional<Expr> bounded(const Expr& extent, const std::vector<sdfg::ScheduleLoop>& loops) {
  const auto is_free = [&](const Expr& e) {
    return std::ranges::none_of(loops, [&](const sdfg::ScheduleLoop& l) { return e.uses(l.symbol); });
  };
  std::optional<Expr> best;
  for (const Expr& piece : sdfg::min_pieces(extent)) {
    if (piece.constant() && (!best || !best->constant() || *piece.constant() < *best->constant())) best = piece;
    if (!best && is_free(piece)) best = piece;
  }
  if (best) return best;
  const auto greatest = greatest_of_all(extent, loops);
  return greatest && is_free(*greatest) && greatest->reads().empty() ? greatest : std::nullopt;
}

Expr aligned(const Expr& begin, std::int64_t width, const std::vector<sdfg::ScheduleLoop>& around) {
  const auto base = least_of_all(begin, around);
  if (!base) return begin;
  std::optional<Expr> result;
  for (const Expr& piece : sdfg::max_pieces(begin)) {
    const Expr from_base = piece - *base;
    const Expr down =
        is_multiple(from_base, width, around) ? piece : *base + Expr(width) * Expr::floor_div(from_base, width);
    result = result ? Expr::max(*result, down) : down;
  }
  return *result;
}

}  // namespace sous::transforms
