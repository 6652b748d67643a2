// After building: shapes of pointers, overlaps between containers, arguments, final values of induction variables.
#include <algorithm>
#include <ranges>
#include <tuple>

#include "frontends/c/builder.h"
#include "sdfg/check.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::Atom;
using sdfg::AtomKind;
using sdfg::Expr;
using sdfg::Memlet;
using sdfg::Term;

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

Expr expression(const Atom& atom) {
  switch (atom.kind) {
    case AtomKind::Symbol:
      return Expr::symbol(atom.name);
    case AtomKind::FloorDiv:
      return Expr::floor_div(atom.args[0], atom.args[1]);
    case AtomKind::Mod:
      return Expr::mod(atom.args[0], atom.args[1]);
    case AtomKind::Min:
      return Expr::min(atom.args[0], atom.args[1]);
    case AtomKind::Max:
      return Expr::max(atom.args[0], atom.args[1]);
    case AtomKind::Read:
      return Expr::read(atom.name, atom.args);
  }
  __builtin_unreachable();
}

using Monomial = std::vector<Atom>;  // a product of parameters, sorted

Expr product(const Monomial& m) {
  Expr result(1);
  for (const Atom& a : m) result = result * expression(a);
  return result;
}

// How far apart the rows of one dimension are: a number times a product of parameters.
struct Stride {
  std::int64_t factor = 1;
  Monomial parameters;

  // Of chained strides, the inner one is the smaller.
  auto order() const { return std::tuple(parameters.size(), parameters, factor); }
  bool is_number() const { return parameters.empty(); }
  Expr value() const { return Expr(factor) * product(parameters); }
};

// a / b, where b's atoms are all in a.
std::optional<Monomial> divide(Monomial a, const Monomial& b) {
  for (const Atom& atom : b) {
    auto it = std::ranges::find(a, atom);
    if (it == a.end()) return std::nullopt;
    a.erase(it);
  }
  return a;
}

// a / b, where it is exact and more than 1.
std::optional<Stride> divide(const Stride& a, const Stride& b) {
  std::optional<Monomial> rest = divide(a.parameters, b.parameters);
  if (!rest || a.factor % b.factor != 0) return std::nullopt;
  if (rest->empty() && a.factor == b.factor) return std::nullopt;
  return Stride{.factor = a.factor / b.factor, .parameters = std::move(*rest)};
}

// value / divisor to the nearest integer.
std::int64_t rounded(std::int64_t value, std::int64_t divisor) {
  const std::int64_t quotient = value / divisor, rest = value % divisor;
  return 2 * std::abs(rest) > divisor ? quotient + (rest > 0 ? 1 : -1) : quotient;
}

// e as quotient * stride + remainder, term by term: 1101*i - 1 by 1100 is i and i - 1.
std::pair<Expr, Expr> split(const Expr& e, const Stride& stride) {
  Expr quotient(0), remainder(0);
  const auto add = [&](std::int64_t coefficient, const Monomial& whole, const std::optional<Monomial>& rest) {
    const std::int64_t times = rest ? rounded(coefficient, stride.factor) : 0;
    if (times != 0) quotient = quotient + Expr(times) * product(*rest);
    remainder = remainder + Expr(coefficient - times * stride.factor) * product(whole);
  };
  for (const Term& t : e.terms()) add(t.coefficient, t.atoms, divide(t.atoms, stride.parameters));
  add(e.constant_term(), {}, divide(Monomial{}, stride.parameters));
  return {quotient, remainder};
}

// Each stride a multiple of the one before (n, n*m, …): the extents of the inner dimensions, innermost first.
std::optional<std::vector<Stride>> chain(const std::vector<Stride>& strides) {
  std::vector<Stride> extents;
  Stride before;
  for (const Stride& s : strides) {
    const std::optional<Stride> extent = divide(s, before);
    if (!extent) return std::nullopt;
    extents.push_back(*extent);
    before = s;
  }
  return extents;
}

// A row as short as this is assumed to be long enough only where that is certain: a[2*i + j] is more often a window
// that moves by 2 than a row of 2.
constexpr std::int64_t kShortRow = 16;

void symbols_of(const sdfg::Region& region, std::set<std::string>& used) {
  auto add = [&](const Expr& e) { used.merge(e.symbols()); };
  auto add_memlet = [&](const Memlet& m) {
    for (const sdfg::Dim& d : m.subset) add(d.begin);
  };
  auto add_code = [&](const sdfg::ScalarExpr& code) {
    code.visit([&](const sdfg::ScalarExpr& e) {
      if (e.op == sdfg::ScalarOp::symbolic) add(e.symbolic);
    });
  };
  sdfg::visit(region, [&](const sdfg::Node& node) {
    match(
        node.value,
        [&](const sdfg::State& s) {
          for (const sdfg::Edge& e : s.edges) add_memlet(e.memlet);
          for (const sdfg::DataflowNode& n : s.nodes)
            if (const auto* t = std::get_if<sdfg::Tasklet>(&n)) add_code(t->code);
        },
        [&](const sdfg::Loop& l) {
          add(l.begin);
          add(l.end);
        },
        [&](const sdfg::If& i) {
          add_code(i.condition.code);
          for (const Memlet& m : i.condition.inputs) add_memlet(m);
        },
        [&](const sdfg::While& w) {
          add_code(w.condition.code);
          for (const Memlet& m : w.condition.inputs) add_memlet(m);
        },
        [](const sdfg::Return&) {});
  });
}

}  // namespace

// `e` with the variables of loops that may end early as symbols, whose ranges are added to the box: each is read inside
// of its loop only.
Expr Builder::ranged(const Expr& e, Box& box) const {
  if (own_ranges_.empty() || e.reads().empty()) return e;
  return e.map_reads([&](const std::string& container, const std::vector<Expr>& subscript) {
    const auto own = own_ranges_.find(container);
    if (own == own_ranges_.end() || !subscript.empty()) return Expr::read(container, subscript);
    box.push_back(own->second);
    return Expr::symbol(own->second.symbol);
  });
}

// A flat pointer with subscripts such as i*n + j or 1100*i + j becomes an array of rows of n or 1100, where 0 <= j < n.
Lift<void> Builder::delinearize(Memory& memory) {
  const sdfg::Container* container = sdfg_.find(memory.container);
  if (!memory.flat || (container->shape.size() != 1 && memory.record.empty()) || !memory.stride.empty()) return {};
  std::set<std::string> loops;
  sdfg::visit(sdfg_.root, [&](const sdfg::Node& n) {
    if (const auto* l = std::get_if<sdfg::Loop>(&n.value)) loops.insert(l->symbol);
  });
  std::map<std::string, Expr> reads;  // what `ranged` replaced
  for (const auto& [own, range] : own_ranges_) {
    loops.insert(range.symbol);
    reads.emplace(range.symbol, Expr::read(own, {}));
  }
  auto varies = [&](const Atom& a) {
    if (a.kind == AtomKind::Symbol) return loops.contains(a.name);
    return a.kind == AtomKind::Read ||
           std::ranges::any_of(expression(a).symbols(), [&](const std::string& s) { return loops.contains(s); });
  };
  std::vector<std::pair<Expr, Box>> accesses;
  std::vector<Stride> strides;
  visit_memlets(sdfg_.root, [&](const Memlet& m, bool, const Box& box) {
    if (m.container != memory.container) return;
    Box inside = box;
    const Expr at = ranged(m.subset[0].begin, inside);
    accesses.emplace_back(at, std::move(inside));
    std::optional<std::int64_t> smallest;  // of what varies in this access without a parameter
    for (const Term& t : at.terms())
      if (std::ranges::all_of(t.atoms, varies))
        smallest = std::min(smallest.value_or(INT64_MAX), std::abs(t.coefficient));
    for (const Term& t : at.terms()) {
      Monomial parameters;
      for (const Atom& a : t.atoms)
        if (!varies(a)) parameters.push_back(a);
      if (parameters.size() == t.atoms.size()) continue;
      if (!parameters.empty())
        strides.push_back({.factor = 1, .parameters = parameters});
      else if (std::abs(t.coefficient) > *smallest)
        strides.push_back({.factor = std::abs(t.coefficient), .parameters = {}});
    }
  });
  const auto distinct = [](std::vector<Stride>& all) {
    std::ranges::sort(all, {}, &Stride::order);
    all.erase(std::ranges::unique(all, {}, &Stride::order).begin(), all.end());
  };
  distinct(strides);
  std::optional<std::vector<Stride>> inner = chain(strides);
  if (!inner) {
    // Numbers that are no rows of the others (the members of 4*j + k in rows of n) stay in the subscripts.
    std::erase_if(strides, &Stride::is_number);
    inner = chain(strides);
  }
  if (!inner || strides.empty()) return {};
  const std::vector<Expr> assumptions = ranges_.assumptions;
  auto decompose = [&](const Expr& at, const Box& box) -> std::optional<std::vector<Expr>> {
    std::vector<Expr> subscript;
    Expr rest = at;
    for (std::size_t k = strides.size(); k-- > 0;) {
      auto [quotient, remainder] = split(rest, strides[k]);
      subscript.push_back(quotient);
      rest = remainder;
    }
    subscript.push_back(rest);
    // Innermost first, for a shift changes the next dimension.
    for (std::size_t d = subscript.size() - 1; d > 0; --d) {
      const Stride& row = (*inner)[subscript.size() - 1 - d];
      const Expr extent = row.value();
      Expr& s = subscript[d];
      if (ranges_.nonneg(Expr(-1) - s, box) && ranges_.nonneg(s + extent, box)) {
        s = s + extent;  // [i][-1] is [i-1][n-1]
        subscript[d - 1] = subscript[d - 1] - Expr(1);
      }
      if (planted(Fault::rows_unchecked)) continue;
      const bool short_row = row.is_number() && row.factor < kShortRow;
      for (const Expr& e : {s, extent - s - Expr(1)})
        if (!(short_row ? ranges_.nonneg(e, box) : ranges_.require_nonneg(e, box))) return std::nullopt;
    }
    return subscript;
  };
  for (const auto& [at, box] : accesses)
    if (!decompose(at, box)) {
      ranges_.assumptions = assumptions;
      return {};
    }
  rewrite_subscripts(sdfg_.root, memory.container, [&](const std::vector<Expr>& s, const Box& box) {
    Box inside = box;
    const Expr at = ranged(s[0], inside);
    auto result = decompose(at, inside);
    SOUS_ASSERT(result);
    for (Expr& e : *result) e = e.substitute(reads);
    result->insert(result->end(), s.begin() + 1, s.end());  // arrays in structures
    return *result;
  });
  memory.declared.reset();  // in elements: of rows, the accesses tell
  sdfg::Container* c = sdfg_.find(memory.container);
  std::vector<Expr> shape{Expr(kUnknownExtent)};
  for (const Stride& row : *inner | std::views::reverse) shape.push_back(row.value());
  std::vector<Expr> rows = sdfg::row_major(shape);
  for (Expr& stride : rows) stride = stride * c->strides[0];
  shape.insert(shape.end(), c->shape.begin() + 1, c->shape.end());
  rows.insert(rows.end(), c->strides.begin() + 1, c->strides.end());
  c->shape = std::move(shape);
  c->strides = std::move(rows);
  return {};
}

Lift<void> Builder::outermost_extent(Memory& memory) {
  if (!memory.flat) return {};
  std::optional<Expr> extent, first;  // `first`: where some subscript may be negative
  bool known = true, bounded = true;
  const auto to_front = [&](const Expr& bottom) { first = first ? -ranges_.larger(-*first, -bottom) : bottom; };
  const auto plain = [](const std::optional<Expr>& e) { return e && e->reads().empty(); };
  visit_memlets(sdfg_.root, [&](const Memlet& m, bool, const Box& box) {
    if (m.container != memory.container || m.subset.empty()) return;
    Box inside = box;
    const Expr at = ranged(m.subset[0].begin, inside);
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
    memory.shift = shift * sdfg_.find(memory.container)->strides[0];
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

Lift<void> Builder::check_overlaps() {
  const sdfg::Touched touched = sdfg::touched(sdfg_.root);
  const bool strict = facts_.strict_aliasing;
  for (std::size_t i = 0; i < memories_.size(); ++i) {
    const Memory& a = memories_[i];
    const bool a_written = touched.written.contains(a.container);
    const bool a_used = a_written || touched.read.contains(a.container);
    for (std::size_t j = i + 1; j < memories_.size() && a_used; ++j) {
      const Memory& b = memories_[j];
      const bool b_written = touched.written.contains(b.container);
      if (!(b_written || touched.read.contains(b.container)) || (!a_written && !b_written)) continue;
      const auto own = [](const Memory& x) {
        // An object defined const is never written, whoever points at it.
        return x.origin == Origin::PrivateObject || x.origin == Origin::Transient ||
               (x.origin == Origin::Object && x.element.isConstQualified());
      };
      if (own(a) || own(b)) continue;
      // A restrict parameter is apart from all that is not based on it. A local or stored pointer may be.
      const auto not_based = [](const Memory& x) {
        return x.origin == Origin::Restrict || x.origin == Origin::Object || x.parameter;
      };
      const bool kept_apart =
          (a.origin == Origin::Restrict && not_based(b)) || (b.origin == Origin::Restrict && not_based(a));
      // Members of two structures may be the same pointer, where both are the same structure.
      const bool same_member =
          (a.through_pointer || b.through_pointer) && !a.root.empty() && !b.root.empty() && a.root != b.root;
      if (kept_apart && (!same_member || planted(Fault::members_of_two_apart))) continue;
      // Where the function only follows it, nothing in memory can be based on it either.
      if ((a.origin == Origin::Restrict && a.followed) || (b.origin == Origin::Restrict && b.followed)) continue;
      // Different members of what is reached by the same pointer.
      if (!a.record.empty() && a.record == b.record) continue;
      if (a.origin == Origin::Object && b.origin == Origin::Object) continue;
      // A pointer that came in as a parameter cannot point to this call's own locals.
      if ((a.local && b.parameter) || (b.local && a.parameter)) continue;
      if (!may_alias(a.element, b.element, context_, strict)) continue;
      if (a.reach || b.reach) {
        if ((!a.flat || a.reach) && (!b.flat || b.reach)) {
          keep_apart(span(a), span(b));
          continue;
        }
      }
      for (const Memory* m : {&a, &b})
        if (m->flat && !m->reach)
          return refuse("c.alias.unknown-extent",
                        "'" + a.c_expr + "' and '" + b.c_expr + "' may overlap, and how far '" + m->c_expr +
                            "' is accessed is not known on entry",
                        m->where);
      sdfg_.disjoint.emplace_back(a.container, b.container);
    }
  }
  for (const MemoryScalar& s : memory_scalars_)
    for (const Memory& w : memories_) {
      // Through a restrict pointer only what is reached by the same pointer is written.
      const bool same_root =
          w.origin == Origin::Restrict && w.record == s.root && !planted(Fault::first_structure_ignored);
      if ((w.origin != Origin::Pointer && !same_root) || !touched.written.contains(w.container)) continue;
      const bool aliases = s.type->isPointerType() ? !strict || is_character(w.element)
                           : s.type->isArrayType() ? false
                                                   : may_alias(s.type, w.element, context_, strict);
      if (!aliases) continue;
      if (w.flat && !w.reach)
        return refuse("c.alias.scalar", "'" + s.name + "' might be changed by a write through '" + w.c_expr + "'",
                      s.where);
      const std::string at = "(unsigned long)&(" + s.name + ")";
      keep_apart({at, at + " + sizeof(" + s.name + ")"}, span(w));
    }
  // A table of rows is read on entry: nothing may change it.
  for (const Memory& t : memories_)
    for (const Memory& w : memories_) {
      const bool writes = touched.written.contains(w.container) && w.origin != Origin::PrivateObject;
      const bool reaches = !strict || is_character(w.element) || is_blind(w.element);
      if (t.table.empty() || !writes || !reaches || planted(Fault::row_table_overwritten)) continue;
      if (w.flat && !w.reach)
        return refuse("c.alias.unknown-extent", "writes through '" + w.c_expr + "' may change '" + t.table + "'",
                      w.where);
      keep_apart(t.entries, span(w));
    }
  for (sdfg::Container& c : sdfg_.containers)
    if (!c.transient) c.constant = !touched.written.contains(c.name);
  return {};
}

std::string Builder::c_text(const Expr& e) const {
  auto atom = [&](const Atom& a) -> std::string {
    auto arg = [&](std::size_t k) { return c_text(a.args[k]); };
    switch (a.kind) {
      case AtomKind::Symbol:
        return "(long long)(" + symbol_c_.at(a.name) + ")";
      // Divisors are positive constants here (steps), dividends non-negative where the value is used.
      case AtomKind::FloorDiv:
        return "((" + arg(0) + ") / (" + arg(1) + "))";
      case AtomKind::Mod:
        return "((" + arg(0) + ") % (" + arg(1) + "))";
      case AtomKind::Min:
        return "((" + arg(0) + ") < (" + arg(1) + ") ? (" + arg(0) + ") : (" + arg(1) + "))";
      case AtomKind::Max:
        return "((" + arg(0) + ") > (" + arg(1) + ") ? (" + arg(0) + ") : (" + arg(1) + "))";
      case AtomKind::Read:
        break;
    }
    SOUS_ASSERT(false);
    return {};
  };
  std::string text;
  for (const Term& t : e.terms()) {
    if (!text.empty()) text += " + ";
    std::string factor = t.coefficient == 1 ? "" : std::to_string(t.coefficient) + "LL";
    for (const Atom& a : t.atoms) factor += (factor.empty() ? "" : " * ") + atom(a);
    text += factor;
  }
  if (text.empty()) return std::to_string(e.constant_term()) + "LL";
  if (e.constant_term() != 0) text += " + " + std::to_string(e.constant_term()) + "LL";
  return text;
}

Lift<std::string> Builder::epilogue() const {
  std::string text;
  // One variable may have been the loop variable of several loops: all its values, in order.
  for (const Final& f : finals_) {
    if (declared_.contains(f.variable) || !live_after_(f.variable)) continue;
    const std::string name = f.variable->getNameAsString();
    bool known = f.value.has_value();
    if (known)
      for (const std::string& s : f.value->symbols()) known = known && symbol_c_.contains(s);
    for (const Expr& e : f.nonneg)
      for (const std::string& s : e.symbols()) known = known && symbol_c_.contains(s);
    if (!known)
      return refuse("c.induction-variable", "the value of '" + name + "' after the nest is not known",
                    f.variable->getLocation());
    std::string guard;
    for (const Expr& e : f.nonneg) guard += (guard.empty() ? "" : " && ") + c_text(e) + " >= 0";
    if (!guard.empty()) text += "if (" + guard + ") ";
    text += name + " = " + c_text(*f.value) + ";\n";
  }
  return tracked_epilogue(text);
}

Lift<void> Builder::finish_memory() {
  built_assumptions_ = ranges_.assumptions.size();
  for (Memory& m : memories_)
    if (!m.stride.empty()) TRY_VOID(resolve_rows(m));
  for (Memory& m : memories_) TRY_VOID(delinearize(m));
  for (Memory& m : memories_) TRY_VOID(outermost_extent(m));
  return check_overlaps();
}

Lift<LiftedNest> Builder::build(const std::string& name) {
  for (const clang::Stmt* s : stretch_) scan(s);
  if (own_floating_point_)
    return refuse("c.floating-point", "a pragma gives this floating-point operation rules of its own",
                  own_floating_point_->getBeginLoc());
  find_tracked();
  out_ = &sdfg_.root;
  sdfg_.name = name;
  std::vector<Item> list;
  for (const clang::Stmt* s : stretch_) list.push_back({s, false});
  TRY_VOID(sequence(list));
  const clang::SourceLocation where = stretch_.front()->getBeginLoc();
  if (sdfg::touched(sdfg_.root).written.empty()) return refuse("c.empty", "the nest does nothing", where);
  TRY_VOID(finish_memory());
  LiftedNest nest;
  nest.loop_lines = loop_lines_;
  TRY(nest.epilogue, epilogue());

  // What attempts left behind and nothing uses goes.
  const sdfg::Touched touched = sdfg::touched(sdfg_.root);
  std::erase_if(sdfg_.containers, [&](const sdfg::Container& c) {
    return !touched.read.contains(c.name) && !touched.written.contains(c.name);
  });
  int alias_class = 0;
  for (sdfg::Container& c : sdfg_.containers) c.alias_class = alias_class++;
  std::set<std::string> used;
  symbols_of(sdfg_.root, used);
  for (const sdfg::Container& c : sdfg_.containers)
    for (const std::vector<Expr>* lengths : {&c.shape, &c.strides})
      for (const Expr& e : *lengths) used.merge(e.symbols());
  std::vector<Expr> assumptions;
  Ranges types;
  types.parameters = ranges_.parameters;
  for (const Expr& e : ranges_.assumptions) {
    const auto symbols = e.symbols();
    const bool matters = std::ranges::any_of(symbols, [&](const std::string& s) { return used.contains(s); });
    const bool trivial = !sdfg_.has_symbol(e.as_symbol().value_or("")) && types.nonneg(e, {});
    if (matters && !trivial && std::ranges::find(assumptions, e) == assumptions.end()) assumptions.push_back(e);
  }
  for (const Expr& e : assumptions) used.merge(e.symbols());
  std::erase_if(sdfg_.symbols, [&](const std::string& s) { return !used.contains(s); });
  sdfg_.assumptions = std::move(assumptions);

  std::set<std::string> read;  // C expressions
  for (const std::string& s : sdfg_.symbols) {
    sdfg_.arguments.push_back(s);
    read.insert(symbol_c_.at(s));
    const std::string& c = symbol_c_.at(s);
    nest.arguments.push_back({Argument::Kind::Symbol, s, "long long", c, unset_.contains(c)});
    if (auto it = known_.find(s); it != known_.end()) nest.known[s] = it->second;
  }
  for (const sdfg::Container& c : sdfg_.containers) {
    if (c.transient) continue;
    const auto m = std::ranges::find(memories_, c.name, &Memory::container);
    SOUS_ASSERT(m != memories_.end());
    const Argument::Kind kind = !c.shape.empty()                   ? Argument::Kind::Array
                                : touched.written.contains(c.name) ? Argument::Kind::ScalarInOut
                                                                   : Argument::Kind::ScalarIn;
    sdfg_.arguments.push_back(c.name);
    const bool unset = (kind == Argument::Kind::ScalarIn || (kind == Argument::Kind::Array && is_pointer(*m))) &&
                       unset_.contains(m->c_expr);
    nest.arguments.push_back({kind, c.name, c_type(m->element, context_), address(*m), unset});
    read.insert(m->table.empty() ? m->c_expr : m->table);
  }
  TRY(nest.guard, guard(read));
  if (auto ok = sdfg::check(sdfg_); !ok)
    return refuse("c.internal", "the nest is malformed: " + ok.error().to_string(), where);
  nest.sdfg = std::move(sdfg_);
  return nest;
}

std::vector<std::pair<std::string, const clang::VarDecl*>> Builder::arrays() const {
  std::vector<std::pair<std::string, const clang::VarDecl*>> result;
  for (const Memory& m : memories_)
    if (m.variable) result.emplace_back(m.container, m.variable);
  return result;
}

}  // namespace sous::frontends::c
