// After building: how far the memory reaches that a pointer leads to.
#include <algorithm>

#include "frontends/c/builder.h"
#include "frontends/c/memlets.h"
#include "sdfg/planted_fault.h"
#include "sdfg/unknown_extent.h"

namespace sous::frontends::c {

using sdfg::Expr;
using sdfg::Memlet;

Lift<void> Builder::outermost_extent(Memory& memory) {
  if (!memory.flat) return {};
  std::optional<Expr> extent, first;  // `first`: where some subscript may be negative
  bool known = true, bounded = true;
  const auto to_front = [&](const Expr& bottom) { first = first ? -ranges_.larger(-*first, -bottom) : bottom; };
  const auto plain = [](const std::optional<Expr>& e) { return e && e->reads().empty(); };
  visit_memlets(sdfg_.root, [&](const Memlet& m, bool, const Box& box) {
    if (m.container != memory.container || m.subset.empty()) return;
    Box inside = box;
    Expr at = ranged(m.subset[0], own_ranges_, inside);
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
    at = ranged(at, values_[memory.container], inside);
    ranges_.trust_elements = true;
    const auto most = ranges_.upper(at, inside, true), least = ranges_.lower(at, inside, true);
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
