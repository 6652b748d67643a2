#include "sdfg/points.h"

#include <algorithm>
#include <span>

#include "sdfg/answers.h"
#include "sdfg/isl_read.h"
#include "sdfg/polyhedral.h"

namespace sous::sdfg {

namespace {

ScalarExpr leaf(const Expr& e) { return ScalarExpr::make_symbolic(e, ElementType::i64); }

void add_symbols(const ScalarExpr& condition, std::set<std::string>& symbols) {
  condition.visit([&](const ScalarExpr& e) {
    if (e.op == ScalarOp::symbolic) symbols.merge(e.symbolic.symbols());
  });
}

// "name0, name1, …" for as many as there are, and what they stand for.
std::string numbered(const std::vector<std::string>& symbols, const char* prefix, IslNames& names) {
  std::string text;
  for (std::size_t k = 0; k < symbols.size(); ++k) {
    names[symbols[k]] = prefix + std::to_string(k);
    text += (k ? ", " : "") + names[symbols[k]];
  }
  return text;
}

// A conjunction in halves of halves: isl intersects with one condition after the other, each time looking at all
// before.
std::string all_of(std::span<const ScalarExpr> conditions, const IslNames& names) {
  if (conditions.empty()) return "0 = 0";
  if (conditions.size() == 1) return isl_text(conditions.front(), names);
  const std::size_t half = conditions.size() / 2;
  return "(" + all_of(conditions.first(half), names) + ") and (" + all_of(conditions.subspan(half), names) + ")";
}

}  // namespace

std::set<std::string> parameters_of(const Points& points) {
  std::set<std::string> symbols;
  for (const ScalarExpr& c : points.conditions) add_symbols(c, symbols);
  for (const std::string& bound : points.dims) symbols.erase(bound);
  for (const std::string& bound : points.exists) symbols.erase(bound);
  return symbols;
}

std::string isl_text(const Points& points, const std::vector<std::string>& parameters, bool as_relation) {
  IslNames names;
  const std::string header = numbered(parameters, "p", names);
  const std::string dims = numbered(points.dims, "e", names);
  const std::string exists = numbered(points.exists, "x", names);
  std::string where = all_of(points.conditions, names);
  if (as_relation) return "[" + header + "] -> { [" + exists + "] -> [" + dims + "] : " + where + " }";
  if (!exists.empty()) where = "exists (" + exists + " : " + where + ")";
  return "[" + header + "] -> { [" + dims + "] : " + where + " }";
}

void append(std::vector<ScalarExpr>& to, const std::vector<ScalarExpr>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

ScalarExpr equal(const Expr& a, const Expr& b) { return ScalarExpr::binary(ScalarOp::eq, leaf(a), leaf(b)); }

ScalarExpr at_most(const Expr& low, const Expr& high) {
  return ScalarExpr::binary(ScalarOp::le, leaf(low), leaf(high));
}

std::vector<ScalarExpr> runs(const Expr& begin, const Expr& end, std::int64_t step, const Expr& at) {
  const bool up = step > 0;
  const std::int64_t stride = up ? step : -step;
  std::vector<ScalarExpr> conditions = {up ? at_most(begin, at) : at_most(at, begin),
                                        up ? at_most(at + 1, end) : at_most(end + 1, at)};
  if (stride != 1)
    conditions.push_back(
        ScalarExpr::binary(ScalarOp::eq, leaf(Expr::mod(up ? at - begin : begin - at, stride)), leaf(0)));
  return conditions;
}

bool is_affine(const Points& points) { return std::ranges::all_of(points.conditions, is_affine_condition); }

Result<bool> is_within(const Points& part, const std::vector<Points>& whole, const Budget& budget) {
  std::set<std::string> free;
  std::vector<const Points*> all = {&part};
  for (const Points& w : whole) all.push_back(&w);
  for (const Points* points : all) {
    SOUS_ASSERT(is_affine(*points) && points->dims.size() == part.dims.size());
    free.merge(parameters_of(*points));
  }
  const std::vector<std::string> parameters(free.begin(), free.end());
  std::vector<std::string> texts;
  std::string asked = "within " + std::to_string(budget.operations);
  for (const Points* points : all) asked += texts.emplace_back(isl_text(*points, parameters));
  return answered_once(asked, [&]() -> Result<bool> {
    IslContext context(budget.operations);
    IslSet rest = read_isl_set(context.get(), texts.front());
    for (const std::string& w : std::span(texts).subspan(1))
      rest = IslSet(isl_set_subtract(rest.release(), read_isl_set(context.get(), w).release()));
    const bool within = isl_set_is_empty(rest.get()) == isl_bool_true;
    TRY_VOID(context.ok());
    return within;
  });
}

}  // namespace sous::sdfg
