#include "sdfg/scan.h"

#include <isl/aff.h>
#include <isl/ilp.h>
#include <isl/val.h>

#include <algorithm>
#include <functional>

#include "sdfg/answers.h"
#include "sdfg/isl_read.h"

namespace sous::sdfg {

namespace {

constexpr std::size_t most_nests = 8;

std::int64_t number(isl_val* value) {
  const bool fits = value && isl_val_is_int(value) == isl_bool_true && isl_val_n_abs_num_chunks(value, 4) <= 1;
  const std::int64_t result = fits ? isl_val_get_num_si(value) : 0;
  isl_val_free(value);
  return result;
}

// Calls f on each constraint.
void for_each(const IslBasicSet& set, const std::function<void(isl_constraint*)>& f) {
  isl_constraint_list* list = isl_basic_set_get_constraint_list(set.get());
  const int count = list ? isl_constraint_list_n_constraint(list) : 0;
  for (int k = 0; k < count; ++k) {
    isl_constraint* c = isl_constraint_list_get_constraint(list, k);
    f(c);
    isl_constraint_free(c);
  }
  isl_constraint_list_free(list);
}

// All symbols that some of the sets leave open.
std::vector<std::string> open_symbols(const std::vector<Points>& parts, const std::vector<ScalarExpr>& around) {
  std::set<std::string> free = parameters_of({.dims = parts.front().dims, .exists = {}, .conditions = around});
  for (const Points& p : parts) free.merge(parameters_of(p));
  return {free.begin(), free.end()};
}

// What is asked of one union of parts: isl's view of it, with the names that stand for its symbols.
class Union {
 public:
  Union(const std::vector<Points>& parts, const std::vector<ScalarExpr>& around, const Budget& budget)
      : context_(budget.operations), parts_(parts), around_(around) {
    dims_ = parts.front().dims;
    parameters_ = open_symbols(parts, around);
    where_ = read({.dims = dims_, .exists = {}, .conditions = around});
  }

  const IslSet& where() const { return where_; }
  IslSet read(const Points& points) const { return read_isl_set(context_.get(), isl_text(points, parameters_)); }
  IslMap relation(const Points& points) const {
    return read_isl_map(context_.get(), isl_text(points, parameters_, true));
  }
  // The points, or some more: none of those that a bound or an equation cuts off.
  IslSet all() const {
    IslSet all(isl_set_empty(isl_set_get_space(where_.get())));
    for (const Points& p : parts_) all = IslSet(isl_set_union(all.release(), read(p).release()));
    all = IslSet(isl_set_intersect(all.release(), where_.copy()));
    all = IslSet(isl_set_remove_divs(isl_set_detect_equalities(all.release())));
    return IslSet(isl_set_coalesce(all.release()));
  }
  // One set of inequalities around these, without what holds anyway.
  IslBasicSet hull(const IslSet& set) const {
    IslSet one(isl_set_from_basic_set(isl_set_simple_hull(set.copy())));
    one = IslSet(isl_set_remove_divs(isl_set_gist(one.release(), where_.copy())));
    return IslBasicSet(isl_basic_set_remove_redundancies(isl_set_simple_hull(one.release())));
  }
  // The same without what is asked of the dims from `first` on (up to `last`).
  static IslBasicSet without(const IslBasicSet& set, std::size_t first, std::size_t last) {
    IslBasicSet less(isl_basic_set_eliminate(set.copy(), isl_dim_set, static_cast<unsigned>(first),
                                             static_cast<unsigned>(last - first)));
    return IslBasicSet(isl_basic_set_remove_redundancies(less.release()));
  }

  static std::int64_t coefficient(isl_constraint* c, isl_dim_type type, std::size_t k) {
    return number(isl_constraint_get_coefficient_val(c, type, static_cast<int>(k)));
  }
  // The left side of c >= 0 or c = 0, without dimension `but`.
  Expr expression(isl_constraint* c, std::size_t but) const {
    Expr e = number(isl_constraint_get_constant_val(c));
    for (std::size_t k = 0; k < parameters_.size(); ++k)
      e = e + Expr(coefficient(c, isl_dim_param, k)) * Expr::symbol(parameters_[k]);
    for (std::size_t k = 0; k < dims_.size(); ++k)
      if (k != but) e = e + Expr(coefficient(c, isl_dim_set, k)) * Expr::symbol(dims_[k]);
    return e;
  }

  std::optional<Scan> loops(const IslBasicSet& set) const {
    Scan scan;
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      std::optional<Expr> from, to;
      for_each(without(set, d + 1, dims_.size()), [&](isl_constraint* c) {
        const std::int64_t a = coefficient(c, isl_dim_set, d);
        const bool equality = isl_constraint_is_equality(c) == isl_bool_true;
        const Expr rest = expression(c, d);
        const auto bound = [&](bool low) {
          // a * e + rest >= 0, or -a * e - rest >= 0.
          const Expr value = low ? Expr::ceil_div(a > 0 ? -rest : rest, std::abs(a))
                                 : Expr::floor_div(a > 0 ? -rest : rest, std::abs(a));
          std::optional<Expr>& old = low ? from : to;
          old = !old ? value : low ? Expr::max(*old, value) : Expr::min(*old, value);
        };
        if (a > 0 || (a < 0 && equality)) bound(true);
        if (a < 0 || (a > 0 && equality)) bound(false);
      });
      if (!from || !to) return std::nullopt;
      scan.from.push_back(*from);
      scan.to.push_back(*to);
    }
    // What the loops do not say by being empty.
    IslSet said = read(points(scan));
    said = IslSet(isl_set_intersect(said.release(), where_.copy()));
    const IslSet rest(isl_set_remove_divs(
        isl_set_gist(isl_set_from_basic_set(without(set, 0, dims_.size()).release()), said.release())));
    bool known = true;
    for_each(IslBasicSet(isl_set_simple_hull(rest.copy())), [&](isl_constraint* c) {
      if (isl_constraint_involves_dims(c, isl_dim_set, 0, static_cast<unsigned>(dims_.size())) != isl_bool_false) {
        known = false;
        return;
      }
      const Expr e = expression(c, dims_.size());
      // Both sides without negative terms: 1 <= n.
      Expr left = e.constant_term() < 0 ? Expr(-e.constant_term()) : Expr(0), right = e + left;
      for (const Term& t : e.terms()) {
        if (t.coefficient > 0) continue;
        const Expr term = Expr(-t.coefficient) * Expr::symbol(t.atoms[0].name);
        left = left + term;
        right = right + term;
      }
      scan.guard.push_back(isl_constraint_is_equality(c) == isl_bool_true ? equal(left, right) : at_most(left, right));
    });
    if (!known) return std::nullopt;
    return scan;
  }

  Points points(const Scan& scan) const {
    Points p{.dims = dims_, .exists = {}, .conditions = scan.guard};
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      p.conditions.push_back(at_most(scan.from[d], Expr::symbol(dims_[d])));
      p.conditions.push_back(at_most(Expr::symbol(dims_[d]), scan.to[d]));
    }
    return p;
  }

  // Whether the nests run through exactly the points.
  Result<bool> is_exact(const std::vector<Scan>& scans, const Budget& budget) const {
    std::vector<Points> run;
    for (const Scan& s : scans) {
      run.push_back(points(s));
      Points here = run.back();
      append(here.conditions, around_);
      if (!is_affine(here)) return false;
      TRY(const bool only, is_within(here, parts_, budget));
      if (!only) return false;
    }
    for (Points part : parts_) {
      append(part.conditions, around_);
      TRY(const bool every, is_within(part, run, budget));
      if (!every) return false;
    }
    return true;
  }

  // Whether no point is outside of the box.
  Result<bool> is_inside(const std::vector<Extent>& box, const Budget& budget) const {
    Points room{.dims = dims_, .exists = {}, .conditions = {}};
    for (std::size_t d = 0; d < dims_.size(); ++d) {
      room.conditions.push_back(at_most(box[d].least, Expr::symbol(dims_[d])));
      room.conditions.push_back(at_most(Expr::symbol(dims_[d]), box[d].least + box[d].size - 1));
    }
    for (Points part : parts_) {
      append(part.conditions, around_);
      TRY(const bool inside, is_within(part, {room}, budget));
      if (!inside) return false;
    }
    return true;
  }

  std::size_t rank() const { return dims_.size(); }
  Result<void> ok() const { return context_.ok(); }

 private:
  IslContext context_;  // first: everything below lives in it
  const std::vector<Points>& parts_;
  const std::vector<ScalarExpr>& around_;
  std::vector<std::string> dims_, parameters_;
  IslSet where_;
};

bool empty(const IslSet& set) { return isl_set_is_empty(set.get()) == isl_bool_true; }

// The sets that make up the union.
std::vector<IslSet> pieces(const IslSet& set) {
  std::vector<IslSet> result;
  isl_basic_set_list* list = isl_set_get_basic_set_list(set.get());
  const int count = list ? isl_basic_set_list_n_basic_set(list) : 0;
  for (int k = 0; k < count; ++k)
    result.emplace_back(isl_set_from_basic_set(isl_basic_set_list_get_basic_set(list, k)));
  isl_basic_set_list_free(list);
  return result;
}

}  // namespace

Result<std::optional<std::vector<Scan>>> scan(const std::vector<Points>& parts, const std::vector<ScalarExpr>& around,
                                              const Budget& budget) {
  const Union points(parts, around, budget);
  const IslSet all = points.all();
  TRY_VOID(points.ok());
  if (empty(all)) return std::vector<Scan>{};
  // One nest if that is possible.
  std::vector<std::vector<IslSet>> ways = {{all}};
  if (auto each = pieces(all); each.size() > 1 && each.size() <= most_nests) ways.push_back(std::move(each));
  for (const auto& way : ways) {
    std::vector<Scan> scans;
    for (const IslSet& set : way)
      if (auto one = points.loops(points.hull(set))) scans.push_back(std::move(*one));
    TRY_VOID(points.ok());
    if (scans.size() != way.size()) continue;
    TRY(const bool exact, points.is_exact(scans, budget));
    if (exact) return scans;
  }
  return std::nullopt;
}

Result<std::optional<std::vector<Extent>>> extents(const std::vector<Points>& parts,
                                                   const std::vector<ScalarExpr>& around, const Budget& budget) {
  const Union points(parts, around, budget);
  const IslSet all = points.all();
  const IslBasicSet hull = points.hull(all);
  TRY_VOID(points.ok());
  if (empty(all)) return std::nullopt;
  std::vector<Extent> result;
  for (std::size_t d = 0; d < points.rank(); ++d) {
    std::optional<Extent> best;
    for_each(Union::without(Union::without(hull, d + 1, points.rank()), 0, d), [&](isl_constraint* c) {
      const std::int64_t a = Union::coefficient(c, isl_dim_set, d);
      const bool equality = isl_constraint_is_equality(c) == isl_bool_true;
      if (a != 1 && !(equality && a == -1)) return;
      const Expr rest = points.expression(c, d);
      Extent here{.least = a > 0 ? -rest : rest, .size = 1};
      if (!equality) {
        // The constraint's left side is the distance from `least`.
        isl_aff* distance = isl_constraint_get_aff(c);
        isl_val* most = isl_set_max_val(all.get(), distance);
        isl_aff_free(distance);
        const bool known =
            most && isl_val_is_int(most) == isl_bool_true && isl_val_cmp_si(most, std::int64_t{1} << 40) < 0;
        here.size = known ? isl_val_get_num_si(most) + 1 : 0;
        isl_val_free(most);
        if (!known) return;
      }
      if (!best || here.size < best->size) best = here;
    });
    TRY_VOID(points.ok());
    if (!best) return std::nullopt;
    result.push_back(*best);
  }
  TRY(const bool inside, points.is_inside(result, budget));
  if (!inside) return std::nullopt;
  return result;
}

Result<bool> is_repeated(const std::vector<Points>& parts, const std::vector<ScalarExpr>& around,
                         const Budget& budget) {
  const Union points(parts, around, budget);
  std::vector<IslSet> sets;
  for (const Points& p : parts) {
    Points here = p;
    append(here.conditions, around);
    const bool once = isl_map_is_injective(points.relation(here).get()) == isl_bool_true;
    TRY_VOID(points.ok());
    if (!once) return true;
    sets.push_back(points.read(here));
    for (std::size_t k = 0; k + 1 < sets.size(); ++k) {
      const bool apart = isl_set_is_disjoint(sets[k].get(), sets.back().get()) == isl_bool_true;
      TRY_VOID(points.ok());
      if (!apart) return true;
    }
  }
  return false;
}

Result<bool> is_apart(const Points& a, const Points& b, const std::vector<ScalarExpr>& around, const Budget& budget) {
  const std::vector<Points> parts = {a, b};
  const auto symbols = open_symbols(parts, around);
  const std::string asked = "apart " + isl_text(a, symbols) + isl_text(b, symbols) +
                            isl_text({.dims = a.dims, .exists = {}, .conditions = around}, symbols) +
                            std::to_string(budget.operations);
  return answered_once(asked, [&]() -> Result<bool> {
    const Union points(parts, around, budget);
    const IslSet here(isl_set_intersect(points.read(a).release(), points.where().copy()));
    const bool apart = isl_set_is_disjoint(here.get(), points.read(b).get()) == isl_bool_true;
    TRY_VOID(points.ok());
    return apart;
  });
}

}  // namespace sous::sdfg
