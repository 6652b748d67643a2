// What variables become, and the names, symbols and containers that stand for them.
#include <algorithm>

#include "clang/AST/Attr.h"
#include "clang/Basic/SourceManager.h"
#include "frontends/c/builder.h"
#include "sdfg/planted_fault.h"
#include "sdfg/unknown_extent.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Expr;

std::string Builder::fresh(const std::string& wish) {
  std::string name = wish;
  for (int k = 1; names_.contains(name); ++k) name = wish + "_" + std::to_string(k);
  names_.insert(name);
  return name;
}

void Builder::note_line(const std::string& symbol, clang::SourceLocation where) {
  const clang::SourceManager& sources = context_.getSourceManager();
  const clang::PresumedLoc at = sources.getPresumedLoc(sources.getExpansionLoc(where));
  if (at.isValid()) loop_lines_[symbol] = static_cast<int>(at.getLine());
}

std::string Builder::symbol_for(const std::string& wish, const std::string& c_expr, clang::QualType type) {
  const auto same = std::ranges::find_if(symbol_c_, [&](const auto& known) { return known.second == c_expr; });
  if (same != symbol_c_.end()) return same->first;
  const std::string name = fresh(wish);
  const ElementType t = *element_type(type, context_);
  sdfg_.symbols.push_back(name);
  ranges_.parameters[name] = type_interval(t);
  symbol_c_[name] = c_expr;
  constexpr int of_int = 4;  // bytes
  if (sdfg::info(t).bytes <= of_int) symbol_types_[name] = t == ElementType::u32 ? t : ElementType::i32;
  // Wider ones are passed as long long: the upper half of an unsigned 64-bit type would arrive negative.
  if (t == ElementType::u64) ranges_.assumptions.push_back(Expr::symbol(name));
  return name;
}

std::string Builder::add_container(const std::string& wish, ElementType type, std::vector<Expr> shape,
                                   sdfg::Storage storage) {
  sdfg::Container c;
  c.name = fresh(wish);
  c.type = type;
  c.strides = sdfg::row_major(shape);
  c.shape = std::move(shape);
  c.storage = storage;
  c.transient = storage != sdfg::Storage::argument;
  c.alias_class = static_cast<int>(sdfg_.containers.size());
  sdfg_.containers.push_back(c);
  constexpr int kNarrow = 2;  // bytes
  if (!sdfg::is_float(type) && sdfg::info(type).bytes <= kNarrow) ranges_.elements[c.name] = type_interval(type);
  return c.name;
}

std::string Builder::temporary(const std::string& wish, ElementType type) {
  return add_container(wish, type, {}, sdfg::Storage::stack);
}

Lift<std::vector<Expr>> Builder::extents(clang::QualType& type, clang::SourceLocation where) {
  std::vector<Expr> shape;
  while (const clang::ArrayType* array = context_.getAsArrayType(type)) {
    if (const auto* fixed = llvm::dyn_cast<clang::ConstantArrayType>(array))
      shape.push_back(Expr(static_cast<std::int64_t>(fixed->getSize().getZExtValue())));
    else if (const auto* vla = llvm::dyn_cast<clang::VariableArrayType>(array); vla && vla->getSizeExpr()) {
      TRY(Expr extent, index(vla->getSizeExpr()));
      if (!extent.reads().empty()) return refuse("c.vla.extent", "the size of the array is not known on entry", where);
      shape.push_back(extent);
    } else if (llvm::isa<clang::IncompleteArrayType>(array) && shape.empty())
      shape.push_back(Expr(sdfg::unknown_extent));
    else
      return refuse("c.array.extent", "the size of the array is not known", where);
    type = array->getElementType();
  }
  if (is_complex(type, context_)) {
    type = part_type(type);
    shape.push_back(Expr(2));
  }
  return shape;
}

Lift<Binding> Builder::outer_scalar(const clang::VarDecl* v, clang::SourceLocation where) {
  const std::string name = v->getNameAsString();
  auto type = element_type(v->getType(), context_);
  if (!type) {
    const bool is_volatile = v->getType().isVolatileQualified() || v->getType()->isAtomicType();
    return refuse(is_volatile ? "c.volatile" : "c.type", "'" + name + "' has the type " + v->getType().getAsString(),
                  where);
  }
  const bool in_memory = v->hasGlobalStorage() || facts_.address_taken.contains(v);
  // A const object keeps its initial value (C17 6.7.3p6), which another file may define anew where it is weak.
  const clang::Expr* initial = v->getType().isConstQualified() && v->hasInit() && !v->isWeak() ? v->getInit() : nullptr;
  if (v->getTLSKind() != clang::VarDecl::TLS_None)
    return refuse("c.thread-local", "'" + name + "' is thread-local", where);
  Binding b;
  if ((!written_here(v) || tracked(v)) && !sdfg::is_float(*type)) {
    const bool constant = v->getType().isConstQualified();
    if (const auto start = facts_.starts.find(v); tracked(v) && start != facts_.starts.end()) {
      b.kind = Binding::Kind::Expression;
      b.index = Expr(start->second);
      return b;
    }
    if (initial && v->hasGlobalStorage())
      if (auto c = constant_value(initial, context_)) {
        b.kind = Binding::Kind::Expression;
        b.index = Expr(*c);
        return b;
      }
    if (in_memory && !constant && !is_private(v)) memory_scalars_.push_back({name, name, v->getType(), where});
    const std::string symbol = symbol_for(name, name, v->getType());
    if (auto it = facts_.known.find(v); it != facts_.known.end()) known_[symbol] = it->second;
    if (auto it = facts_.supposed.find(v); it != facts_.supposed.end()) supposed_[symbol] = it->second;
    if (auto it = facts_.starts.find(v); it != facts_.starts.end() && !written_here(v)) known_[symbol] = it->second;
    const bool first_value = v->hasLocalStorage() && !in_memory && v->hasInit() && !facts_.written.contains(v);
    if (initial || first_value)
      if (auto c = constant_value(v->getInit(), context_)) known_[symbol] = *c;
    b.kind = Binding::Kind::Expression;
    b.index = Expr::symbol(symbol);
    return b;
  }
  if (initial)
    if (auto c = real_constant(initial, context_)) {
      b.kind = Binding::Kind::Expression;
      b.value = sdfg::ScalarExpr::real(*c, *type);
      return b;
    }
  b.kind = Binding::Kind::Scalar;
  bool exposed = true;
  if (written_here(v) && !in_memory && !live_after_(v)) {
    Use use = Use::None;
    for (const clang::Stmt* s : stretch_)
      if (use == Use::None) use = use_of(s, v, context_);
    exposed = use == Use::Exposed;
  }
  if (!exposed) {
    b.container = temporary(name, *type);
    return b;
  }
  if (written_here(v) && v->getStorageClass() == clang::SC_Register)
    return refuse("c.register", "'" + name + "' is declared register and written", where);
  b.container = add_container(name, *type, {}, sdfg::Storage::argument);
  Memory memory;
  memory.container = b.container;
  memory.origin = in_memory && !is_private(v) ? Origin::Object : Origin::PrivateObject;
  memory.local = !v->hasGlobalStorage();
  memory.element = v->getType();
  memory.c_expr = name;
  memory.where = where;
  memories_.push_back(memory);
  if (!written_here(v) && in_memory && !v->getType().isConstQualified() && !is_private(v))
    memory_scalars_.push_back({name, name, v->getType(), where});
  return b;
}

Lift<Binding> Builder::outer_memory(clang::QualType type, const std::string& wish, Memory memory, bool sizes_stable,
                                    clang::SourceLocation where) {
  clang::QualType element = type;
  std::vector<Expr> shape;
  if (const auto* p = type->getAs<clang::PointerType>()) {
    if (type.isVolatileQualified()) return refuse("c.volatile", "'" + wish + "' is volatile", where);
    element = p->getPointeeType();
    if (element->isFunctionType()) return refuse("c.pointer.to-function", "'" + wish + "' points to code", where);
    shape.push_back(Expr(sdfg::unknown_extent));
    memory.flat = true;
  }
  if (!sizes_stable)
    return refuse("c.vla.size-changed", "a variable in the size of '" + wish + "' is changed in the function", where);
  TRY(std::vector<Expr> inner, extents(element, where));
  if (!memory.flat && !inner.empty() && inner[0] == Expr(sdfg::unknown_extent)) memory.flat = true;
  shape.insert(shape.end(), inner.begin(), inner.end());
  if (element->isPointerType() && shape.size() == 1 && !element.isVolatileQualified()) {
    // A table of pointers to rows: rows.cc.
    element = element->getPointeeType();
    if (element->isFunctionType()) return refuse("c.pointer.to-function", "'" + wish + "' points to code", where);
    TRY(std::vector<Expr> in_row, extents(element, where));
    shape.push_back(Expr(sdfg::unknown_extent));
    shape.insert(shape.end(), in_row.begin(), in_row.end());
    memory.stride = fresh(wish + "_row");
    if (memory.variable && memory.variable->hasGlobalStorage() && !memory.variable->isWeak() && shape[0].constant() &&
        !memory.flat)
      memory.table_rows = *shape[0].constant();
    memory.variable = nullptr;  // of the rows nobody knows which other names they have
    memory.origin = Origin::Pointer;
    memory.parameter = memory.local = false;
    memory.block = nullptr;
  }
  auto scalar = element_type(element, context_);
  if (!scalar) {
    if (element.isVolatileQualified()) return refuse("c.volatile", "'" + wish + "' is volatile", where);
    if (element->isPointerType())
      return refuse("c.pointer.to-pointer", "'" + wish + "' leads to pointers to pointers", where);
    if (element->isRecordType()) return refuse("c.struct", "'" + wish + "' holds structs or unions", where);
    return refuse("c.type", "the elements of '" + wish + "' have the type " + element.getAsString(), where);
  }
  Binding b;
  b.kind = Binding::Kind::Array;
  b.container = add_container(wish, *scalar, std::move(shape), sdfg::Storage::argument);
  memory.container = b.container;
  memory.element = element;
  memory.where = where;
  note_constant_values(memory.variable, memory.container);
  memories_.push_back(std::move(memory));
  return b;
}

// The rewritten program names it where the nest begins: there the name must mean the same.
Lift<void> Builder::nameable(const clang::VarDecl* v, clang::SourceLocation where) const {
  const std::string name = v->getNameAsString();
  if (out_of_reach(v))
    return refuse("c.static", "'" + name + "' is a static variable of an inner block or another function", where);
  if (v->hasGlobalStorage()) {
    const clang::VarDecl* last = v->getMostRecentDecl();  // which has the attributes of all before
    if (last->hasAttr<clang::AliasAttr>() || last->hasAttr<clang::AsmLabelAttr>())
      return refuse("c.symbol", "'" + name + "' may be another name of an object that has one", where);
    if (last->isWeak() && v->hasDefinition() == clang::VarDecl::DeclarationOnly)
      return refuse("c.symbol", "'" + name + "' is weak and defined elsewhere, if at all", where);
  }
  if (!inline_stack_.empty() && v->hasGlobalStorage())
    for (const clang::Decl* d : facts_.function->decls())
      if (const auto* local = llvm::dyn_cast<clang::VarDecl>(d); local && local != v && local->getName() == name)
        return refuse("c.call.not-inlinable", "a local variable hides '" + name + "', which a called function uses",
                      where);
  return {};
}

// No pointer leads to it: it has internal linkage, and nothing in the file takes its address.
bool Builder::is_private(const clang::VarDecl* v) const {
  return v->hasGlobalStorage() && facts_.unaddressed && facts_.unaddressed->contains(v->getCanonicalDecl());
}

// The value of a const object, which it keeps (C17 6.7.3p6); another file may define a weak one anew.
std::optional<std::int64_t> Builder::fixed_value(const clang::VarDecl* v) const {
  if (!v->getType().isConstQualified() || v->getType().isVolatileQualified() || !v->hasInit() || v->isWeak() ||
      !v->hasGlobalStorage() || !v->getType()->isIntegralOrEnumerationType())
    return std::nullopt;
  return constant_value(v->getInit(), context_);
}

// What is known of the memory of an array, of a structure, or of what a pointer points to.
Memory Builder::of_variable(const clang::VarDecl* v) const {
  Memory memory;
  memory.c_expr = v->getNameAsString();
  memory.variable = v;
  if (v->getType()->isPointerType()) {
    const bool parameter = llvm::isa<clang::ParmVarDecl>(v);
    const bool steady = !facts_.written.contains(v);
    memory.parameter = parameter && steady;
    // A restrict pointer that is reassigned elsewhere may be based on anything. A local one keeps apart what is
    // accessed while its block runs, and the nest is in that.
    const bool is_restrict = v->getType().isRestrictQualified() || planted(Fault::restrict_assumed);
    const bool keeps = steady && (parameter || (v->hasLocalStorage() && v->hasInit()));
    memory.origin = is_restrict && keeps ? Origin::Restrict : Origin::Pointer;
    const bool kept = (steady && !facts_.address_taken.contains(v)) || planted(Fault::changed_block_apart);
    if (kept && v->hasLocalStorage() && starts_as_block(v)) memory.block = v;
    memory.followed = facts_.followed.contains(v);
    return memory;
  }
  memory.local = !v->hasGlobalStorage();
  // A file-scope static array: its address may be taken in another function of this file.
  memory.origin = facts_.address_taken.contains(v) || v->hasGlobalStorage() ? Origin::Object : Origin::PrivateObject;
  return memory;
}

Lift<Binding*> Builder::binding(const clang::VarDecl* v, clang::SourceLocation where) {
  v = v->getCanonicalDecl()->hasGlobalStorage() ? v->getCanonicalDecl() : v;
  if (auto it = bindings_.find(v); it != bindings_.end()) return &it->second;
  const std::string name = v->getNameAsString();
  const clang::QualType type = v->getType();
  if (out_of_reach(v)) {
    if (auto table = constant_table(v)) return &(bindings_[v] = std::move(*table));
    if (const auto fixed = fixed_value(v))
      return &(bindings_[v] = {Binding::Kind::Expression, Expr(*fixed), std::nullopt, {}, {}});
  }
  TRY_VOID(nameable(v, where));
  Binding b;
  if (type->isPointerType() || type->isArrayType()) {
    if ((written_here(v) && !tracked(v)) || header_writes_.contains(v))
      return refuse("c.pointer.reassigned", "the pointer '" + name + "' is changed in the nest", where);
    const clang::VarDecl* complete = v;  // a file-scope `double A[];` may be completed later
    for (const clang::VarDecl* d : v->redecls())
      if (!d->getType()->isIncompleteArrayType()) complete = d;
    bool stable = true;
    for (const clang::VarDecl* s : size_variables(complete->getType(), context_))
      stable = stable && (fixed_value(s) ||
                          (!facts_.written.contains(s) && !s->hasGlobalStorage() && !facts_.address_taken.contains(s)));
    Memory memory = of_variable(v);
    if (type->isPointerType()) {
      if (v->hasGlobalStorage() && !type.isConstQualified() && !is_private(v))
        memory_scalars_.push_back({name, name, type, where});
      if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(v))
        if (const clang::ArrayType* declared = context_.getAsArrayType(parameter->getOriginalType())) {
          bool steady = true;
          for (const clang::VarDecl* s : size_variables(parameter->getOriginalType(), context_))
            steady = steady && (fixed_value(s) || !facts_.written.contains(s));
          if (const auto* fixed = llvm::dyn_cast<clang::ConstantArrayType>(declared))
            memory.declared = Expr(static_cast<std::int64_t>(fixed->getSize().getZExtValue()));
          else if (const auto* vla = llvm::dyn_cast<clang::VariableArrayType>(declared); vla && vla->getSizeExpr()) {
            auto extent = steady ? index(vla->getSizeExpr()) : Lift<Expr>(Expr(0));
            if (steady && extent && extent->reads().empty()) memory.declared = *extent;
          }
        }
    }
    TRY(b, outer_memory(complete->getType(), name, memory, stable, where));
  } else if (type->isReferenceType() || !type->isScalarType()) {
    return refuse("c.type", "'" + name + "' has the type " + type.getAsString(), where);
  } else {
    TRY(b, outer_scalar(v, where));
  }
  if (v->hasLocalStorage() && !v->hasInit() && !llvm::isa<clang::ParmVarDecl>(v)) unset_.insert(v->getNameAsString());
  if (tracked(v)) {
    if (b.kind == Binding::Kind::Array) b = {Binding::Kind::Pointer, {}, {}, b.container, {Expr(0)}};
    entry_[v] = b;
  }
  return &(bindings_[v] = std::move(b));
}
}  // namespace sous::frontends::c
