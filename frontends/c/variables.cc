// What variables, struct members and declarations become.
#include "clang/AST/Attr.h"
#include "clang/Basic/SourceManager.h"
#include "frontends/c/builder.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Expr;

namespace {

constexpr std::int64_t kStackBytes = std::int64_t{16} * 1024;

bool is_plain_struct(clang::QualType type) {
  const auto* record = type->getAs<clang::RecordType>();
  return record && record->getDecl()->isStruct();
}

Interval type_interval(ElementType type) {
  const int bits = 8 * sdfg::info(type).bytes;
  if (type == ElementType::boolean) return {0, 1};
  if (sdfg::info(type).kind == sdfg::TypeKind::Signed)
    return bits == 64 ? Interval{INT64_MIN, INT64_MAX}
                      : Interval{-(std::int64_t{1} << (bits - 1)), (std::int64_t{1} << (bits - 1)) - 1};
  return bits == 64 ? Interval{0, INT64_MAX} : Interval{0, (std::int64_t{1} << bits) - 1};
}

// Variables that the extents of a variable-length array type name.
void size_variables(clang::QualType type, const clang::ASTContext& context, std::set<const clang::VarDecl*>& found) {
  if (const auto* p = type->getAs<clang::PointerType>()) return size_variables(p->getPointeeType(), context, found);
  const clang::ArrayType* array = context.getAsArrayType(type);
  if (!array) return;
  if (const auto* vla = llvm::dyn_cast<clang::VariableArrayType>(array)) {
    std::vector<const clang::Stmt*> work{vla->getSizeExpr()};
    while (!work.empty()) {
      const clang::Stmt* s = work.back();
      work.pop_back();
      if (!s) continue;
      if (const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(s))
        if (const auto* v = llvm::dyn_cast<clang::VarDecl>(ref->getDecl())) found.insert(v);
      for (const clang::Stmt* child : s->children()) work.push_back(child);
    }
  }
  size_variables(array->getElementType(), context, found);
}

}  // namespace

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
  const std::string name = fresh(wish);
  const ElementType t = *element_type(type, context_);
  sdfg_.symbols.push_back(name);
  ranges_.parameters[name] = type_interval(t);
  symbol_c_[name] = c_expr;
  // A symbol is passed as long long: the upper half of an unsigned 64-bit type would arrive negative.
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
      shape.push_back(Expr(kUnknownExtent));
    else
      return refuse("c.array.extent", "the size of the array is not known", where);
    type = array->getElementType();
  }
  return shape;
}

Lift<Builder::Binding> Builder::outer_scalar(const clang::VarDecl* v, clang::SourceLocation where) {
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
    if (initial && v->hasGlobalStorage())
      if (auto c = constant_value(initial, context_)) {
        b.kind = Binding::Kind::Expression;
        b.index = Expr(*c);
        return b;
      }
    if (in_memory && !constant && !is_private(v)) memory_scalars_.push_back({name, name, v->getType(), where});
    const std::string symbol = symbol_for(name, name, v->getType());
    if (auto it = facts_.known.find(v); it != facts_.known.end()) known_[symbol] = it->second;
    if (initial)
      if (auto c = constant_value(initial, context_)) known_[symbol] = *c;
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

Lift<Builder::Binding> Builder::outer_memory(clang::QualType type, const std::string& wish, Memory memory,
                                             bool sizes_stable, clang::SourceLocation where) {
  clang::QualType element = type;
  std::vector<Expr> shape;
  if (const auto* p = type->getAs<clang::PointerType>()) {
    if (type.isVolatileQualified()) return refuse("c.volatile", "'" + wish + "' is volatile", where);
    element = p->getPointeeType();
    if (element->isFunctionType()) return refuse("c.pointer.to-function", "'" + wish + "' points to code", where);
    shape.push_back(Expr(kUnknownExtent));
    memory.flat = true;
  }
  if (!sizes_stable)
    return refuse("c.vla.size-changed", "a variable in the size of '" + wish + "' is changed in the function", where);
  TRY(std::vector<Expr> inner, extents(element, where));
  if (!memory.flat && !inner.empty() && inner[0] == Expr(kUnknownExtent)) memory.flat = true;
  shape.insert(shape.end(), inner.begin(), inner.end());
  if (element->isPointerType() && shape.size() == 1 && !element.isVolatileQualified()) {
    // A table of pointers to rows: rows.cc.
    element = element->getPointeeType();
    if (element->isFunctionType()) return refuse("c.pointer.to-function", "'" + wish + "' points to code", where);
    TRY(std::vector<Expr> in_row, extents(element, where));
    shape.push_back(Expr(kUnknownExtent));
    shape.insert(shape.end(), in_row.begin(), in_row.end());
    memory.stride = fresh(wish + "_row");
    memory.variable = nullptr;  // of the rows nobody knows which other names they have
    memory.origin = Origin::Pointer;
    memory.parameter = memory.local = false;
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
  memories_.push_back(std::move(memory));
  return b;
}

// The rewritten program names it where the nest begins: there the name must mean the same.
Lift<void> Builder::nameable(const clang::VarDecl* v, clang::SourceLocation where) const {
  const std::string name = v->getNameAsString();
  if (v->isStaticLocal() && (declared_.contains(v) || v->getDeclContext() != facts_.function))
    return refuse("c.static", "'" + name + "' is a static variable of an inner block or another function", where);
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
Builder::Memory Builder::of_variable(const clang::VarDecl* v) const {
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
    memory.followed = facts_.followed.contains(v);
    return memory;
  }
  memory.local = !v->hasGlobalStorage();
  // A file-scope static array: its address may be taken in another function of this file.
  memory.origin = facts_.address_taken.contains(v) || v->hasGlobalStorage() ? Origin::Object : Origin::PrivateObject;
  return memory;
}

Lift<Builder::Binding*> Builder::binding(const clang::VarDecl* v, clang::SourceLocation where) {
  v = v->getCanonicalDecl()->hasGlobalStorage() ? v->getCanonicalDecl() : v;
  if (auto it = bindings_.find(v); it != bindings_.end()) return &it->second;
  const std::string name = v->getNameAsString();
  const clang::QualType type = v->getType();
  TRY_VOID(nameable(v, where));
  Binding b;
  if (type->isPointerType() || type->isArrayType()) {
    if ((written_here(v) && !tracked(v)) || header_writes_.contains(v))
      return refuse("c.pointer.reassigned", "the pointer '" + name + "' is changed in the nest", where);
    const clang::VarDecl* complete = v;  // a file-scope `double A[];` may be completed later
    for (const clang::VarDecl* d : v->redecls())
      if (!d->getType()->isIncompleteArrayType()) complete = d;
    std::set<const clang::VarDecl*> sizes;
    size_variables(complete->getType(), context_, sizes);
    bool stable = true;
    for (const clang::VarDecl* s : sizes)
      stable = stable && (fixed_value(s) ||
                          (!facts_.written.contains(s) && !s->hasGlobalStorage() && !facts_.address_taken.contains(s)));
    Memory memory = of_variable(v);
    if (type->isPointerType()) {
      if (v->hasGlobalStorage() && !type.isConstQualified() && !is_private(v))
        memory_scalars_.push_back({name, name, type, where});
      if (const auto* parameter = llvm::dyn_cast<clang::ParmVarDecl>(v))
        if (const clang::ArrayType* declared = context_.getAsArrayType(parameter->getOriginalType())) {
          std::set<const clang::VarDecl*> outer;
          size_variables(parameter->getOriginalType(), context_, outer);
          bool steady = true;
          for (const clang::VarDecl* s : outer) steady = steady && (fixed_value(s) || !facts_.written.contains(s));
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

Lift<Builder::Binding*> Builder::member(const clang::MemberExpr* e) {
  const clang::SourceLocation where = e->getExprLoc();
  const auto* field = llvm::dyn_cast<clang::FieldDecl>(e->getMemberDecl());
  if (!field || field->isBitField()) return refuse("c.bit-field", "bit-fields are not understood", where);
  const auto named = named_member(e);
  if (!named) return refuse("c.struct", "only members of a named struct variable or pointer are understood", where);
  TRY_VOID(readable_member(*named, field->getType(), where));
  const auto& [root, through_pointer, in_union, path, c_expr] = *named;
  if (auto it = members_.find(c_expr); it != members_.end()) return &it->second;
  unset_.insert(c_expr);  // of those of an object nobody knows which have been set
  const clang::QualType type = field->getType();
  std::string wish = root->getNameAsString() + "_" + path;
  for (char& c : wish)
    if (c == '.') c = '_';
  Binding b;
  if (type->isPointerType() || type->isArrayType()) {
    TRY(b, outer_memory(type, wish, of_member(*named, type), true, where));
    // The extents of an array member are its own even when the struct is reached through a pointer.
  } else {
    auto scalar = element_type(type, context_);
    if (!scalar) return refuse("c.type", "'" + c_expr + "' has the type " + type.getAsString(), where);
    if (!sdfg::is_float(*scalar)) {
      b.kind = Binding::Kind::Expression;
      b.index = Expr::symbol(symbol_for(wish, c_expr, type));
    } else {
      b.kind = Binding::Kind::Scalar;
      b.container = add_container(wish, *scalar, {}, sdfg::Storage::argument);
      Memory memory;
      memory.container = b.container;
      memory.origin = Origin::PrivateObject;  // passed by value; memory_scalars_ says who may not write it
      memory.root = root->getNameAsString();
      memory.element = type;
      memory.c_expr = c_expr;
      memory.where = where;
      memories_.push_back(memory);
    }
  }
  return &(members_[c_expr] = std::move(b));
}

// A member that is read on entry: whether that may be, and who might change it.
Lift<void> Builder::readable_member(const NamedMember& named, clang::QualType type, clang::SourceLocation where) {
  const clang::VarDecl* root = named.root;
  const std::string name = root->getNameAsString();
  if (named.in_union) return refuse("c.union", "members of unions are not understood", where);
  if (!named.through_pointer && !is_plain_struct(root->getType()))
    return refuse("c.struct", "only members of a named struct variable or pointer are understood", where);
  if (written_here(root) || header_writes_.contains(root) || declared_.contains(root))
    return refuse("c.struct", "'" + name + "' is changed in the nest", where);
  if (root->getType().isVolatileQualified() || type.isVolatileQualified() ||
      (named.through_pointer && root->getType()->getPointeeType().isVolatileQualified()))
    return refuse("c.volatile", "'" + named.path + "' is volatile", where);
  TRY_VOID(nameable(root, where));
  if (named.through_pointer && !type->isArrayType()) note_load(name, named.c_expr);
  const bool in_memory =
      named.through_pointer || ((root->hasGlobalStorage() || facts_.address_taken.contains(root)) && !is_private(root));
  if (in_memory && !members_.contains(named.c_expr) && !roots_.contains(named.c_expr))
    memory_scalars_.push_back({named.c_expr, name, type, where});
  return {};
}

Builder::Memory Builder::of_member(const NamedMember& named, clang::QualType type) const {
  const clang::VarDecl* root = named.root;
  Memory memory;
  memory.c_expr = named.c_expr;
  memory.root = root->getNameAsString();
  memory.field = named.path;
  memory.through_pointer = named.through_pointer;
  memory.local = type->isArrayType() && !named.through_pointer && !root->hasGlobalStorage();
  const bool in_memory = root->hasGlobalStorage() || facts_.address_taken.contains(root);
  memory.origin = type->isPointerType() || named.through_pointer ? Origin::Pointer
                  : in_memory                                    ? Origin::Object
                                                                 : Origin::PrivateObject;
  // What a restrict member points to is reached by it alone while the function runs (C17 6.7.3.1: the declaration of
  // the root designates it), if the root is one and the same all the time. Of a file-scope root, parameters may hold
  // what the caller has read from it.
  if (type.isRestrictQualified() && root->hasLocalStorage() && !facts_.written.contains(root))
    memory.origin = Origin::Restrict;
  return memory;
}

void Builder::note_load(const std::string& root, const std::string& c_expr) {
  Load load{root, c_expr, std::nullopt, ranges_.assumptions.size()};
  if (sometimes_ == 0) {
    load.nonneg.emplace();
    std::map<std::string, Expr> first;
    for (const OpenLoop& l : loops_) {
      load.nonneg->push_back(l.nonempty.substitute(first));
      first[l.symbol] = l.begin.substitute(first);
    }
  }
  loads_.push_back(std::move(load));
}

Lift<void> Builder::declare(const clang::VarDecl* v) {
  const clang::SourceLocation where = v->getLocation();
  const std::string name = v->getNameAsString();
  if (v->hasGlobalStorage()) {
    if (v->getType().isConstQualified()) return {};  // bound when used, as any object that outlives the nest
    return refuse("c.static", "'" + name + "' is a static variable declared in the nest", where);
  }
  if (v->hasAttr<clang::CleanupAttr>()) return refuse("c.attribute.cleanup", "'" + name + "' has a cleanup", where);
  const clang::QualType type = v->getType();
  Binding b;
  if (type->isArrayType()) {
    clang::QualType element = type;
    TRY(std::vector<Expr> shape, extents(element, where));
    auto scalar = element_type(element, context_);
    if (!scalar)
      return refuse("c.type", "the elements of '" + name + "' have the type " + element.getAsString(), where);
    Expr bytes(sdfg::info(*scalar).bytes);
    for (const Expr& extent : shape) {
      bytes = bytes * extent;
      for (const Range& r : box_)
        if (extent.uses(r.symbol)) return refuse("c.vla.extent", "the size of '" + name + "' depends on a loop", where);
    }
    const bool small = bytes.constant() && *bytes.constant() <= kStackBytes;
    b.kind = Binding::Kind::Array;
    b.container = add_container(name, *scalar, shape, small ? sdfg::Storage::stack : sdfg::Storage::heap);
    if (v->hasInit()) TRY_VOID(initialize_array(v, b));
    bindings_[v] = std::move(b);
    return {};
  }
  if (type->isPointerType()) {
    if (tracked(v)) {
      if (v->hasInit()) {
        TRY(b, value_of(v, v->getInit()));
      }
      bindings_[v] = std::move(b);
      return {};
    }
    if (!v->hasInit() || written_here(v))
      return refuse("c.pointer.reassigned", "the pointer '" + name + "' is changed in the nest", where);
    if (type->getPointeeType()->isRecordType()) {
      TRY(Place target, pointee(v->getInit()));
      for (const Expr& s : target.subscript)
        if (!s.reads().empty())
          return refuse("c.pointer.indirect", "where '" + name + "' points is read from memory", where);
      places_[v] = std::move(target);
      return {};
    }
    TRY(Access target, pointer(v->getInit()));
    for (const Expr& s : target.subscript)
      if (!s.reads().empty())
        return refuse("c.pointer.indirect", "where '" + name + "' points is read from memory", where);
    b.kind = Binding::Kind::Pointer;
    b.container = target.container;
    b.subscript = target.subscript;
    bindings_[v] = std::move(b);
    return {};
  }
  auto scalar = element_type(type, context_);
  if (!scalar) {
    const bool is_volatile = type.isVolatileQualified() || type->isAtomicType();
    return refuse(is_volatile ? "c.volatile" : "c.type", "'" + name + "' has the type " + type.getAsString(), where);
  }
  if (facts_.address_taken.contains(v))
    return refuse("c.address-taken", "the address of '" + name + "' is taken", where);
  if (tracked(v)) {
    if (v->hasInit()) {
      TRY(b, value_of(v, v->getInit()));
    }
    bindings_[v] = std::move(b);
    return {};
  }
  std::optional<Interval> values;
  if (!written_here(v) && !sdfg::is_float(*scalar)) {
    if (header_writes_.contains(v) && !v->hasInit()) {
      bindings_[v] = {};  // bound by its loops
      return {};
    }
    if (v->hasInit()) {
      const std::size_t assumptions = ranges_.assumptions.size();
      auto e = index(v->getInit());
      if (e && e->reads().empty() && ranges_.assumptions.size() == assumptions) {
        b.kind = Binding::Kind::Expression;
        b.index = *e;
        bindings_[v] = std::move(b);
        return {};
      }
      ranges_.assumptions.resize(assumptions);
      if (header_writes_.contains(v)) {
        bindings_[v] = {};
        return {};
      }
      if (e) values = constant_range(*e);
    }
  }
  b.kind = Binding::Kind::Scalar;
  b.container = temporary(name, *scalar);
  const std::string container = b.container;
  if (values) ranges_.elements[container] = *values;
  if (v->hasInit()) {
    pool_.clear();
    TRY(sdfg::ScalarExpr code, value(v->getInit()));
    emit_assignment({container, {}, std::nullopt}, code);
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

Lift<void> Builder::initialize_array(const clang::VarDecl* v, const Binding& b) {
  constexpr std::int64_t kMaxElements = 64;
  const auto* fixed = context_.getAsConstantArrayType(v->getType());
  const auto* list = llvm::dyn_cast<clang::InitListExpr>(v->getInit());
  const clang::SourceLocation where = v->getLocation();
  if (!fixed || !list || fixed->getElementType()->isArrayType() ||
      fixed->getSize().getZExtValue() > static_cast<std::uint64_t>(kMaxElements))
    return refuse("c.array.initializer", "only short one-dimensional initialisers are understood", where);
  const std::int64_t count = static_cast<std::int64_t>(fixed->getSize().getZExtValue());
  const ElementType type = sdfg_.find(b.container)->type;
  for (std::int64_t k = 0; k < count; ++k) {
    pool_.clear();
    sdfg::ScalarExpr code = sdfg::is_float(type) ? sdfg::ScalarExpr::real(0, type) : sdfg::ScalarExpr::integer(0, type);
    if (k < list->getNumInits() && !llvm::isa<clang::ImplicitValueInitExpr>(list->getInit(static_cast<unsigned>(k)))) {
      TRY(code, value(list->getInit(static_cast<unsigned>(k))));
    }
    emit_assignment({b.container, sdfg::point({Expr(k)}), std::nullopt}, code);
  }
  return {};
}

}  // namespace sous::frontends::c
