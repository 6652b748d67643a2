#include "sdfg/surroundings.h"

#include "sdfg/isl_read.h"
#include "sdfg/polyhedral.h"

namespace sous::sdfg {

namespace {

constexpr unsigned long operations = 100'000;

}  // namespace

Surroundings::Surroundings(const Scop& scop, const std::vector<ScheduleNode>& chain) {
  std::string list;
  for (const std::string& symbol : scop.frame.symbols) {
    const std::string p = "p" + std::to_string(names_.size());
    names_[symbol] = p;
    list += (list.empty() ? "" : ", ") + p;
  }
  parameters_ = "[" + list + "] -> ";
  for (const Expr& a : scop.frame.assumptions)
    if (expressible(a) && !has_absolute_value(a)) constraints_ += " and " + isl_text(a, names_) + " >= 0";
  for (const ScheduleNode& n : chain)
    match(
        n.value, [&](const ScheduleLoop& l) { enter(l); }, [&](const ScheduleGuard& g) { where(g.condition); },
        [](const ScheduleLeaf&) {});
}

bool Surroundings::expressible(const Expr& e) const { return is_quasi_affine(e) && names_known(e, names_); }

bool Surroundings::expressible(const ScalarExpr& condition) const {
  bool known = is_affine_condition(condition);
  condition.visit([&](const ScalarExpr& n) {
    if (n.op == ScalarOp::symbolic) known = known && names_known(n.symbolic, names_);
  });
  return known;
}

void Surroundings::enter(const ScheduleLoop& loop) {
  const std::string v = "v" + std::to_string(variables_.size());
  variables_.push_back(v);
  if (expressible(loop.begin) && expressible(loop.end))
    constraints_ += " and " + isl_loop(loop.symbol, loop.begin, loop.end, loop.step, names_, v);
  names_[loop.symbol] = v;
}

void Surroundings::where(const ScalarExpr& condition) {
  if (expressible(condition)) constraints_ += " and " + isl_text(condition, names_);
}

void Surroundings::same(const Expr& a, const Expr& b) {
  if (expressible(a) && expressible(b)) constraints_ += " and " + isl_text(a, names_) + " = " + isl_text(b, names_);
}

bool Surroundings::impossible(const std::string& besides) const {
  IslContext context(operations);
  std::string tuple;
  for (const std::string& v : variables_) tuple += (tuple.empty() ? "" : ", ") + v;
  const IslSet set =
      read_isl_set(context.get(), parameters_ + "{ [" + tuple + "] : " + constraints_ + " and " + besides + " }");
  return set && isl_set_is_empty(set.get()) == isl_bool_true && context.ok();
}

bool Surroundings::at_most(const Expr& low, const Expr& high) const {
  if (!expressible(low) || !expressible(high)) return false;
  // One conjunction for each way not to be.
  for (const Expr& l : max_pieces(low))
    for (const Expr& h : min_pieces(high))
      if (!impossible(isl_text(h, names_) + " < " + isl_text(l, names_))) return false;
  return true;
}

bool Surroundings::always(const ScalarExpr& condition) const {
  return expressible(condition) && impossible("not " + isl_text(condition, names_));
}

bool Surroundings::never() const { return impossible("0 = 0"); }

bool apart(const Surroundings& common, const std::vector<ScheduleLoop>& of_first, const Subset& first,
           const std::vector<ScheduleLoop>& of_second, const Subset& second) {
  Surroundings pairs = common;
  const auto enter = [&](const std::vector<ScheduleLoop>& loops, Subset subset, const std::string& suffix) {
    std::map<std::string, Expr> own;
    for (const ScheduleLoop& loop : loops) {
      ScheduleLoop renamed{loop, {}};
      renamed.symbol += suffix;
      renamed.begin = loop.begin.substitute(own);
      renamed.end = loop.end.substitute(own);
      pairs.enter(renamed);
      own[loop.symbol] = Expr::symbol(renamed.symbol);
    }
    for (Expr& e : subset) e = e.substitute(own);
    return subset;
  };
  // No identifier has these signs, so the names are new.
  const Subset a = enter(of_first, first, "'1"), b = enter(of_second, second, "'2");
  SOUS_ASSERT(a.size() == b.size());
  for (std::size_t d = 0; d < a.size(); ++d) pairs.same(a[d], b[d]);
  return pairs.never();
}

}  // namespace sous::sdfg
