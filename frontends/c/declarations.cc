// Variables that the stretch declares.
#include <algorithm>

#include "clang/AST/Attr.h"
#include "frontends/c/builder.h"
#include "llvm/Support/SaveAndRestore.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Expr;

namespace {

constexpr std::int64_t kStackBytes = std::int64_t{16} * 1024;

bool reads(const clang::Stmt* s, const clang::VarDecl* v) {
  if (s == nullptr || llvm::isa<clang::UnaryExprOrTypeTraitExpr>(s)) return false;  // sizeof looks at the type
  if (const auto* e = llvm::dyn_cast<clang::DeclRefExpr>(s)) return e->getDecl() == v;
  return std::ranges::any_of(s->children(), [&](const clang::Stmt* child) { return reads(child, v); });
}

}  // namespace

Lift<void> Builder::declare(const clang::VarDecl* v) {
  const clang::SourceLocation where = v->getLocation();
  const std::string name = v->getNameAsString();
  if (v->hasGlobalStorage()) {
    if (v->getType().isConstQualified()) return {};  // bound when used, as any object that outlives the nest
    return refuse("c.static", "'" + name + "' is a static variable declared in the nest", where);
  }
  if (v->hasAttr<clang::CleanupAttr>()) return refuse("c.attribute.cleanup", "'" + name + "' has a cleanup", where);
  // int q = q: the name, read outside of the nest, would be another variable's, or nobody's.
  if (v->hasInit() && reads(v->getInit(), v))
    return refuse("c.declaration", "'" + name + "' is read where it is declared", where);
  if (v->getType()->isArrayType()) return declare_array(v);
  if (is_record(v->getType(), context_)) return declare_record(v);
  return v->getType()->isPointerType() ? declare_pointer(v) : declare_scalar(v);
}

Lift<void> Builder::declare_array(const clang::VarDecl* v) {
  const clang::SourceLocation where = v->getLocation();
  const std::string name = v->getNameAsString();
  if (auto table = constant_table(v)) {
    bindings_[v] = std::move(*table);
    return {};
  }
  clang::QualType element = v->getType();
  TRY(std::vector<Expr> shape, extents(element, where));
  auto scalar = element_type(element, context_);
  if (!scalar) return refuse("c.type", "the elements of '" + name + "' have the type " + element.getAsString(), where);
  Expr bytes(sdfg::info(*scalar).bytes);
  for (const Expr& extent : shape) {
    bytes = bytes * extent;
    for (const Range& r : box_)
      if (extent.uses(r.symbol)) return refuse("c.vla.extent", "the size of '" + name + "' depends on a loop", where);
  }
  const bool small = bytes.constant() && *bytes.constant() <= kStackBytes;
  Binding b;
  b.kind = Binding::Kind::Array;
  b.container = add_container(name, *scalar, shape, small ? sdfg::Storage::stack : sdfg::Storage::heap);
  if (v->hasInit()) TRY_VOID(initialize_array(v, b));
  bindings_[v] = std::move(b);
  return {};
}

Lift<void> Builder::declare_pointer(const clang::VarDecl* v) {
  const clang::SourceLocation where = v->getLocation();
  const std::string name = v->getNameAsString();
  const clang::QualType type = v->getType();
  if (tracked(v)) return declare_tracked(v);
  if (!v->hasInit() || written_here(v))
    return refuse("c.pointer.reassigned", "the pointer '" + name + "' is changed in the nest", where);
  if (type->getPointeeType()->isRecordType()) {
    TRY(Place target, pointee(v->getInit()));
    settle(target.subscript);
    places_[v] = std::move(target);
    return {};
  }
  TRY(Access target, pointer(v->getInit()));
  if (target.subscript.empty()) return refuse("c.pointer", "'" + name + "' points to a variable", where);
  settle(target.subscript);
  Binding b;
  b.kind = Binding::Kind::Pointer;
  b.container = target.container;
  b.subscript = target.subscript;
  bindings_[v] = std::move(b);
  return {};
}

Lift<void> Builder::declare_scalar(const clang::VarDecl* v) {
  const clang::SourceLocation where = v->getLocation();
  const std::string name = v->getNameAsString();
  const clang::QualType type = v->getType();
  auto scalar = element_type(type, context_);
  if (!scalar) {
    const bool is_volatile = type.isVolatileQualified() || type->isAtomicType();
    return refuse(is_volatile ? "c.volatile" : "c.type", "'" + name + "' has the type " + type.getAsString(), where);
  }
  if (addressed(v)) {
    if (!only_passed(v)) return refuse("c.address-taken", "the address of '" + name + "' is taken", where);
    general_writes_.insert(v);  // by what it is passed to
  }
  if (tracked(v)) return declare_tracked(v);
  const llvm::SaveAndRestore<const clang::CallExpr*> lone(lone_call_, v->hasInit() ? lone_call(v->getInit()) : nullptr);
  Binding b;
  std::optional<Interval> values;
  if (!written_here(v) && !sdfg::is_float(*scalar)) {
    if (header_writes_.contains(v) && !v->hasInit()) {
      bindings_[v] = {};  // bound by its loops
      return {};
    }
    if (v->hasInit() && !has_effect(v->getInit())) {
      const std::size_t assumptions = ranges_.assumptions.size();
      auto e = index(v->getInit());
      if (e && e->reads().empty() && ranges_.assumed_little(assumptions)) {
        b.kind = Binding::Kind::Expression;
        b.index = *e;
        bindings_[v] = std::move(b);
        return {};
      }
      const std::vector<Expr> assumed(ranges_.assumptions.begin() + static_cast<std::ptrdiff_t>(assumptions),
                                      ranges_.assumptions.end());
      ranges_.assumptions.resize(assumptions);
      const bool holds = std::ranges::all_of(assumed, [&](const Expr& a) { return ranges_.nonneg(a, {}); });
      if (header_writes_.contains(v)) {
        bindings_[v] = {};
        return {};
      }
      // Not where that is for what was assumed: of k % 8 for one k >= 0.
      if (e && holds) values = constant_range(*e);
    }
  }
  b.kind = Binding::Kind::Scalar;
  b.container = temporary(name, *scalar);
  const std::string container = b.container;
  if (values) ranges_.elements[container] = *values;
  if (v->hasInit()) {
    pool_.clear();
    const llvm::SaveAndRestore<bool> effects(effects_, !contains_call(v->getInit()));
    TRY(sdfg::ScalarExpr code, value(v->getInit()));
    emit_assignment({container, {}, std::nullopt}, code);
  }
  bindings_[v] = std::move(b);
  return {};
}

// A variable that is followed from statement to statement.
Lift<void> Builder::declare_tracked(const clang::VarDecl* v) {
  Binding b;
  if (v->hasInit() && v->getType()->isPointerType()) {
    TRY(Access target, pointer(v->getInit()));
    if (target.subscript.empty())
      return refuse("c.pointer", "'" + v->getNameAsString() + "' points to a variable", v->getLocation());
    settle(target.subscript);
    b = {Binding::Kind::Pointer, std::nullopt, std::nullopt, target.container, target.subscript};
  } else if (v->hasInit()) {
    TRY(b, value_of(v, v->getInit()));
  }
  bindings_[v] = std::move(b);
  return {};
}

// The values that an expression may have, by the types of what it reads; nullopt: any.
std::optional<Interval> Builder::constant_range(const Expr& e) {
  const std::vector<Expr> assumptions = ranges_.assumptions;
  ranges_.trust_elements = true;
  const auto most = ranges_.upper(e, box_), least = ranges_.lower(e, box_);
  ranges_.trust_elements = false;
  ranges_.assumptions = assumptions;
  if (!most || !least || !most->constant() || !least->constant()) return std::nullopt;
  return Interval{*least->constant(), *most->constant()};
}

}  // namespace sous::frontends::c
