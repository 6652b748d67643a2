// After building: which containers may overlap, by how C lets them be reached.
#include <utility>

#include "frontends/c/builder.h"
#include "sdfg/inspection.h"
#include "sdfg/one_sided.h"
#include "sdfg/planted_fault.h"
#include "sdfg/unknown_extent.h"

namespace sous::frontends::c {

using sdfg::Expr;

namespace {

bool is_character(clang::QualType type) { return type->isCharType(); }

// Whether an object of type `a` may be accessed as a `b` (C17 6.5p7).
bool may_alias(clang::QualType a, clang::QualType b, const clang::ASTContext& context, bool strict) {
  if (!strict || is_character(a) || is_character(b) || is_blind(a) || is_blind(b)) return true;
  auto canonical = [&](clang::QualType t) {
    t = t.getCanonicalType().getUnqualifiedType();
    if (const auto* e = t->getAs<clang::EnumType>()) t = e->getDecl()->getIntegerType().getCanonicalType();
    return t->isUnsignedIntegerType() && !t->isBooleanType() ? context.getCorrespondingSignedType(t).getCanonicalType()
                                                             : t;
  };
  return canonical(a) == canonical(b);
}

bool is_same_pointer(const Memory& a, const Memory& b) { return a.variable && a.variable == b.variable; }

// Whether C itself keeps what may be reached by `a` apart from what may be reached by `b`, whatever their types.
bool kept_apart(const Memory& a, const Memory& b) {
  // A structure that is reached as a whole, and an array in it by its name.
  const auto within = [](const Memory& x, const Memory& whole) { return x.inside && x.root == whole.record; };
  if (within(a, b) || within(b, a)) return false;
  const auto own = [](const Memory& x) {
    // An object defined const is never written, whoever points at it.
    return x.origin == Origin::PrivateObject || x.origin == Origin::Transient ||
           (x.origin == Origin::Object && x.element.isConstQualified());
  };
  if (own(a) || own(b)) return true;
  // A restrict parameter is apart from all that is not based on it. A local or stored pointer may be.
  const auto not_based = [](const Memory& x) {
    return x.origin == Origin::Restrict || x.origin == Origin::Object || x.parameter;
  };
  // The same pointer, cast to two types.
  if (is_same_pointer(a, b) && !planted(Fault::views_of_one_apart)) return false;
  const bool by_restrict =
      (a.origin == Origin::Restrict && not_based(b)) || (b.origin == Origin::Restrict && not_based(a));
  // Members of two structures may be the same pointer, where both are the same structure.
  const bool same_member =
      (a.through_pointer || b.through_pointer) && !a.root.empty() && !b.root.empty() && a.root != b.root;
  if (by_restrict && (!same_member || planted(Fault::members_of_two_apart))) return true;
  // Where the function only follows it, nothing in memory can be based on it either.
  if ((a.origin == Origin::Restrict && a.followed) || (b.origin == Origin::Restrict && b.followed)) return true;
  // Different members of what is reached by the same pointer.
  if (!a.record.empty() && a.record == b.record) return true;
  if (a.origin == Origin::Object && b.origin == Origin::Object) return true;
  // A block from malloc is apart from other blocks, from objects, and from all that parameters point to. (What else is
  // read from memory may be based on it.)
  const auto own_block = [](const Memory& x, const Memory& other) {
    return x.block && (other.block ? other.block != x.block : other.origin == Origin::Object || other.parameter);
  };
  if (own_block(a, b) || own_block(b, a)) return true;
  // A pointer that came in as a parameter cannot point to this call's own locals.
  return (a.local && b.parameter) || (b.local && a.parameter);
}

}  // namespace

// Two containers that are used, one of them written.
Lift<void> Builder::check_pair(const Memory& a, const Memory& b) {
  if (kept_apart(a, b) || !may_alias(a.element, b.element, context_, facts_.strict_aliasing)) return {};
  if (is_same_pointer(a, b) && in_one_class(a, b)) return {};
  if (a.reach || b.reach) {
    if ((!a.flat || a.reach) && (!b.flat || b.reach)) {
      keep_apart(span(a), span(b));
      return {};
    }
  }
  if ((a.flat && !a.reach) || (b.flat && !b.reach))
    by_data_.emplace_back(&a, &b);
  else
    sdfg_.disjoint.emplace_back(a.container, b.container);
  return {};
}

// Pairs of which data say how far one is accessed. Where the entry can look at the data, it compares. What is looked at
// must not be changed by what stays open: each pair that does may take the next one with it.
Lift<void> Builder::check_by_data() {
  const auto ends_by_data = [](const Memory& m) { return m.flat && !m.reach; };
  const auto open = [&](const Memory& m) {
    return ends_by_data(m) && (!m.table.empty() || !m.stride.empty() || !sdfg::reaches(sdfg_, m.container));
  };
  for (bool again = true; std::exchange(again, false);)
    for (std::size_t k = 0; k < by_data_.size(); ++k) {
      const auto [a, b] = by_data_[k];
      const bool scalar = sdfg_.find(a->container)->shape.empty() || sdfg_.find(b->container)->shape.empty();
      const Memory* by = open(*a) || (scalar && ends_by_data(*a))   ? a
                         : open(*b) || (scalar && ends_by_data(*b)) ? b
                                                                    : nullptr;
      if (by == nullptr) continue;
      if (!in_one_class(*a, *b))
        return refuse("c.alias.unknown-extent",
                      "'" + a->c_expr + "' and '" + b->c_expr + "' may overlap, and how far '" + by->c_expr +
                          "' is accessed is not known on entry",
                      by->where);
      by_data_.erase(by_data_.begin() + static_cast<std::ptrdiff_t>(k--));
      again = true;
    }
  for (const auto& [a, b] : by_data_) {
    sdfg_.disjoint.emplace_back(a->container, b->container);
    // What a parameter declares C does not promise.
    for (const Memory* m : {a, b})
      if (ends_by_data(*m)) sdfg_.find(m->container)->shape[0] = Expr(sdfg::unknown_extent);
  }
  return {};
}

// What nobody can check on entry stays open: every access to one of the two may touch what the other accesses, so that
// what depends on that keeps its order. The generated code may do so where C's own types allow it, which are those that
// it is made of; not where only -fno-strict-aliasing or an attribute does.
bool Builder::in_one_class(const Memory& a, const Memory& b) {
  const sdfg::Container &x = *sdfg_.find(a.container), &y = *sdfg_.find(b.container);
  if (is_blind(a.element) || is_blind(b.element) || !may_alias(a.element, b.element, context_, true)) return false;
  // A scalar that nothing writes by its name is read when it is used (Builder::bind_parameters).
  if (x.shape.empty() || y.shape.empty()) return false;
  if (planted(Fault::unknown_extent_apart)) return true;
  const int from = y.alias_class, to = x.alias_class;
  for (sdfg::Container& c : sdfg_.containers)
    if (c.alias_class == from) c.alias_class = to;
  return true;
}

// C tests a loop's condition each time, the Sdfg reads its bounds once: nothing in the loop may write them, under
// another name neither.
Lift<void> Builder::check_bounds() {
  Lift<void> result;
  const auto share = [&](const std::string& a, const std::string& b) {
    return a != b && sdfg_.find(a)->alias_class == sdfg_.find(b)->alias_class && !planted(Fault::bound_read_once);
  };
  sdfg::visit(sdfg_.root, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    if (!loop || loop->end.reads().empty()) return;
    const sdfg::Touched touched = sdfg::touched(loop->body);
    for (const std::string& bound : loop->end.reads())
      for (const std::string& written : touched.written)
        if (share(bound, written))
          result = refuse("c.alias.unknown-extent",
                          "a bound is read from '" + bound + "', which a write to '" + written + "' may change",
                          stretch_.front()->getBeginLoc());
  });
  return result;
}

// What the entry reads by value must not be written under another name.
Lift<void> Builder::check_scalars(const sdfg::Touched& touched) {
  const bool strict = facts_.strict_aliasing;
  for (const MemoryScalar& s : memory_scalars_)
    for (const Memory& w : memories_) {
      if (!touched.written.contains(w.container)) continue;
      // Through a restrict pointer only what is reached by the same pointer is written.
      const bool same_root =
          w.origin == Origin::Restrict && w.record == s.root && !planted(Fault::first_structure_ignored);
      // What a pointer leads to may be any object; what C names is written under another name by pointers alone.
      const bool apart = s.through ? kept_apart(of_variable(s.through), w) : w.origin != Origin::Pointer;
      if (apart && !same_root) continue;
      const bool aliases = s.type->isPointerType() ? !strict || is_character(w.element)
                           : s.type->isArrayType() ? false
                                                   : may_alias(s.type, w.element, context_, strict);
      if (!aliases) continue;
      if (w.flat && !w.reach) guarded_.insert(s.name);  // where it lies it may be read
      if (w.flat && !w.reach)
        return refuse("c.alias.scalar", "'" + s.name + "' might be changed by a write through '" + w.c_expr + "'",
                      s.where);
      keep_apart({"(const void *)&(" + s.name + ")", "0UL", "sizeof(" + s.name + ")"}, span(w));
    }
  return {};
}

// A table of rows is read on entry: nothing may change it.
Lift<void> Builder::check_tables(const sdfg::Touched& touched) {
  for (const Memory& t : memories_)
    for (const Memory& w : memories_) {
      const bool writes = touched.written.contains(w.container) && w.origin != Origin::PrivateObject;
      const bool reaches = !facts_.strict_aliasing || is_character(w.element) || is_blind(w.element);
      if (t.table.empty() || !writes || !reaches || planted(Fault::row_table_overwritten)) continue;
      if (w.flat && !w.reach)
        return refuse("c.alias.unknown-extent", "writes through '" + w.c_expr + "' may change '" + t.table + "'",
                      w.where);
      keep_apart(t.entries, span(w));
    }
  return {};
}

Lift<void> Builder::check_overlaps() {
  const sdfg::Touched touched = sdfg::touched(sdfg_.root);
  const auto written = [&](const Memory& m) { return touched.written.contains(m.container); };
  const auto used = [&](const Memory& m) { return written(m) || touched.read.contains(m.container); };
  for (std::size_t i = 0; i < memories_.size(); ++i)
    for (std::size_t j = i + 1; j < memories_.size(); ++j) {
      const Memory &a = memories_[i], &b = memories_[j];
      if (used(a) && used(b) && (written(a) || written(b))) TRY_VOID(check_pair(a, b));
    }
  TRY_VOID(check_by_data());
  TRY_VOID(check_bounds());
  TRY_VOID(check_scalars(touched));
  TRY_VOID(check_tables(touched));
  for (sdfg::Container& c : sdfg_.containers)
    if (!c.transient) c.constant = !touched.written.contains(c.name);
  // Where a loop waits for nothing but what elements may say, it is asked on entry that they do not.
  const std::set<std::string> decisive = sdfg::decisive_signs(sdfg_, sdfg_.root);
  for (sdfg::Container& c : sdfg_.containers) c.natural = decisive.contains(c.name) && sdfg::values_read(sdfg_, c.name);
  return {};
}

}  // namespace sous::frontends::c
