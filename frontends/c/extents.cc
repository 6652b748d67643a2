// After building: how far the memory reaches that a pointer leads to.
#include <algorithm>

#include "frontends/c/builder.h"
#include "frontends/c/memlets.h"
#include "frontends/c/read_values.h"
#include "sdfg/planted_fault.h"
#include "sdfg/unknown_extent.h"

namespace sous::frontends::c {

using sdfg::Expr;
using sdfg::Memlet;

namespace {

// The hull of all values in a table of integers; nullopt: it has others.
std::optional<Interval> hull(const clang::APValue& value) {
  if (value.isInt()) {
    if (!value.getInt().isRepresentableByInt64()) return std::nullopt;
    return Interval{value.getInt().getExtValue(), value.getInt().getExtValue()};
  }
  if (!value.isArray()) return std::nullopt;
  std::optional<Interval> all;
  const unsigned given = value.getArrayInitializedElts(), each = given + (value.hasArrayFiller() ? 1 : 0);
  for (unsigned k = 0; k < each; ++k) {
    const auto one = hull(k < given ? value.getArrayInitializedElt(k) : value.getArrayFiller());
    if (!one) return std::nullopt;
    all = all ? Interval{std::min(all->lo, one->lo), std::max(all->hi, one->hi)} : *one;
  }
  return all;
}

// What `const` says nobody writes keeps the values that it begins with.
std::optional<Interval> constant_values(const Memory& memory, const clang::ASTContext& context) {
  const clang::VarDecl* v = memory.variable;
  if (v == nullptr || context.getAsConstantArrayType(v->getType()) == nullptr || !v->hasInit() || v->isWeak() ||
      !context.getBaseElementType(v->getType()).isConstQualified() || v->getType().isVolatileQualified())
    return std::nullopt;
  const clang::APValue* value = v->evaluateValue();
  return value == nullptr ? std::nullopt : hull(*value);
}

// `e` with symbols for the variables and the elements of tables that it reads of which values are known, whose ranges
// are added to the box.
Expr with_values(const Expr& e, const std::map<std::string, Range>& values, const ElementValues& tables, Box& box) {
  return e.map_reads([&](const std::string& container, const std::vector<Expr>& subscript) {
    std::optional<Range> range;
    if (const auto value = values.find(container); value != values.end() && subscript.empty()) range = value->second;
    if (const auto all = subscript.empty() ? std::nullopt : tables(container))
      range = Range{"element " + std::to_string(box.size()) + " of " + container, Expr(all->lo), Expr(all->hi)};
    if (!range) return Expr::read(container, subscript);
    box.push_back(*range);
    return Expr::symbol(range->symbol);
  });
}

}  // namespace

Lift<void> Builder::outermost_extent(Memory& memory) {
  if (!memory.flat) return {};
  std::optional<Expr> extent, first;  // `first`: where some subscript may be negative
  bool known = true, bounded = true;
  std::optional<std::map<std::string, Range>> values;  // of variables that subscripts read
  const ElementValues tables = [&](const std::string& container) -> std::optional<Interval> {
    const auto table = std::ranges::find(memories_, container, &Memory::container);
    return table == memories_.end() ? std::nullopt : constant_values(*table, context_);
  };
  const auto to_front = [&](const Expr& bottom) { first = first ? -ranges_.larger(-*first, -bottom) : bottom; };
  const auto plain = [](const std::optional<Expr>& e) { return e && e->reads().empty(); };
  visit_memlets(sdfg_.root, [&](const Memlet& m, bool, const Box& box) {
    if (m.container != memory.container || m.subset.empty()) return;
    Box inside = box;
    const Expr at = ranged(m.subset[0], inside);
    const auto top = ranges_.upper(at, inside, true);
    bool here = plain(top);
    if (here) {
      extent = extent ? ranges_.larger(*extent, *top + Expr(1)) : *top + Expr(1);
      if (!ranges_.require_nonneg(at, inside)) {
        const auto bottom = ranges_.lower(at, inside, true);
        here = plain(bottom);
        if (here) to_front(*bottom);
      }
    }
    known = known && here;
    if (here || !bounded) return;
    // By what the values that are read may be. No more than a hull: nobody says that all of it is there.
    if (!values) values = values_read(sdfg_, ranges_, tables);
    const Expr by_values = with_values(at, *values, tables, inside);
    ranges_.trust_elements = true;
    const auto most = ranges_.upper(by_values, inside, true), least = ranges_.lower(by_values, inside, true);
    ranges_.trust_elements = false;
    bounded = plain(most) && plain(least);
    if (!bounded) return;
    extent = extent ? ranges_.larger(*extent, *most + Expr(1)) : *most + Expr(1);
    to_front(*least);
  });
  if (extent && !known && bounded) {
    memory.reach = {first ? -ranges_.larger(-*first, Expr(0)) : Expr(0),
                    planted(Fault::reach_of_data_short) ? Expr(0) : *extent - Expr(1)};
  }
  if (known && first) {
    if (!is_pointer(memory))
      return refuse("c.subscript.negative", "a subscript of '" + memory.c_expr + "' may be negative", memory.where);
    // The container begins at the first element that is accessed.
    const Expr shift = -ranges_.larger(-*first, Expr(0));
    rewrite_subscripts(sdfg_.root, memory.container, [&](const std::vector<Expr>& s, const Box&) {
      std::vector<Expr> moved = s;
      moved[0] = moved[0] - shift;
      return moved;
    });
    memory.shift = memory.shift + shift * sdfg_.find(memory.container)->strides[0];
    memory.declared.reset();
    extent = *extent - shift;
  }
  sdfg::Container* c = sdfg_.find(memory.container);
  if (known && extent) {
    // What a parameter declares is the nicer form of what the accesses show, where it covers them; C promises nothing.
    const bool covered = memory.declared && ranges_.larger(*memory.declared, *extent) == *memory.declared;
    c->shape[0] = covered ? *memory.declared : *extent;
    memory.flat = false;  // its extent is known now
  } else if (memory.declared) {
    c->shape[0] = *memory.declared;
  }
  return {};
}

}  // namespace sous::frontends::c
