// Members of structures that are named in C: what they become, and whether the entry may read them.
#include "frontends/c/builder.h"
#include "frontends/c/read_before.h"

namespace sous::frontends::c {

using sdfg::Expr;

namespace {

bool is_plain_struct(clang::QualType type) {
  const auto* record = type->getAs<clang::RecordType>();
  return record && record->getDecl()->isStruct();
}

}  // namespace

Lift<Binding*> Builder::member(const clang::MemberExpr* e) {
  const clang::SourceLocation where = e->getExprLoc();
  const auto* field = llvm::dyn_cast<clang::FieldDecl>(e->getMemberDecl());
  if (!field || field->isBitField()) return refuse("c.bit-field", "bit-fields are not understood", where);
  const auto named = named_member(e);
  if (!named) return refuse("c.struct", "only members of a named struct variable or pointer are understood", where);
  TRY_VOID(readable_member(*named, e->getType(), where));
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
  if (named.through_pointer && !type->isArrayType()) note_load(root, named.c_expr);
  const bool in_memory =
      named.through_pointer || ((root->hasGlobalStorage() || facts_.address_taken.contains(root)) && !is_private(root));
  if (in_memory && !members_.contains(named.c_expr) && !roots_.contains(named.c_expr))
    memory_scalars_.push_back({named.c_expr, name, type, where, named.through_pointer ? root : nullptr});
  return {};
}

Memory Builder::of_member(const NamedMember& named, clang::QualType type) const {
  const clang::VarDecl* root = named.root;
  Memory memory;
  memory.c_expr = named.c_expr;
  memory.root = root->getNameAsString();
  memory.field = named.path;
  memory.through_pointer = named.through_pointer;
  memory.inside = type->isArrayType();
  memory.local = memory.inside && !named.through_pointer && !root->hasGlobalStorage();
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

namespace {
std::string c_of_pointee(const clang::VarDecl* v) { return "(*" + v->getNameAsString() + ")"; }
}  // namespace

// The pointer of `*n` (a size that is passed by its address, as Fortran does), an integer of which the stretch names
// nothing but its value. That nothing else writes it is looked at when all is built (check_scalars).
const clang::VarDecl* Builder::fixed_pointee(const clang::Expr* e) const {
  const clang::VarDecl* v = pointer_to(e);
  const auto uses = v ? pointees_.find(v) : pointees_.end();
  if (uses == pointees_.end() || uses->second.loads != uses->second.mentions) return nullptr;
  const auto type = element_type(e->getType(), context_);
  const bool is_number = type && sdfg::is_integer(*type) && *type != sdfg::ElementType::boolean;
  const bool changes = written_here(v) || header_writes_.contains(v) || declared_.contains(v) || tracked(v);
  if (!is_number || changes || !v->hasLocalStorage() || facts_.address_taken.contains(v) || in_called_function(v) ||
      v->getType().isVolatileQualified() || in_place_.contains(c_of_pointee(v)))
    return nullptr;
  return v;
}

Lift<Binding*> Builder::pointee_value(const clang::VarDecl* v, clang::SourceLocation where) {
  TRY_VOID(nameable(v, where));
  const std::string c_expr = c_of_pointee(v);
  note_load(v, c_expr);
  if (const auto known = members_.find(c_expr); known != members_.end()) return &known->second;
  const clang::QualType type = v->getType()->getPointeeType();
  unset_.insert(c_expr);
  memory_scalars_.push_back({c_expr, v->getNameAsString(), type, where, v});
  Binding b;
  b.kind = Binding::Kind::Expression;
  b.index = Expr::symbol(symbol_for(v->getNameAsString(), c_expr, type));
  return &(members_[c_expr] = std::move(b));
}

void Builder::note_load(const clang::VarDecl* root, const std::string& c_expr) {
  Load load{root->getNameAsString(), c_expr, facts_.readable.contains(root), std::nullopt, ranges_.assumptions.size()};
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
}  // namespace sous::frontends::c
