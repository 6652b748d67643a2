// Structures in arrays: `p[i].x`, `p[i].at[j]`, `grid[i][j].v`, `q->x` with `q = &p[i]` declared in the nest.
//
// Each member that is accessed becomes a container of its own: the address of the member in the first structure, and
// strides that lead from structure to structure. Members of what is reached by one name never overlap each other: they
// lie at different offsets, and a subscript of an array in a structure stays in that array.
#include "clang/AST/RecordLayout.h"
#include "frontends/c/builder.h"
#include "llvm/ADT/StringExtras.h"
#include "sdfg/unknown_extent.h"

namespace sous::frontends::c {

using sdfg::Expr;

namespace {

// The array whose first element's address the pointer is, offsets aside; null: no array that is named here.
const clang::Expr* decayed(const clang::Expr* pointer) {
  pointer = pointer->IgnoreParens();
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(pointer); b && b->isAdditiveOp())
    return decayed(b->getLHS()->getType()->isPointerType() ? b->getLHS() : b->getRHS());
  const auto* cast = llvm::dyn_cast<clang::CastExpr>(pointer);
  return cast && cast->getCastKind() == clang::CK_ArrayToPointerDecay ? cast->getSubExpr()->IgnoreParens() : nullptr;
}

}  // namespace

std::optional<NamedMember> named_member(const clang::MemberExpr* e) {
  NamedMember named;
  for (const clang::MemberExpr* m = e; m != nullptr;) {
    // The members of a nameless structure are named as if they were the outer one's.
    if (const std::string name = m->getMemberDecl()->getNameAsString(); !name.empty())
      named.path = name + (named.path.empty() ? "" : "." + named.path);
    if (const auto* f = llvm::dyn_cast<clang::FieldDecl>(m->getMemberDecl()))
      named.in_union = named.in_union || f->getParent()->isUnion();
    const clang::Expr* base = m->getBase()->IgnoreParens();
    if (m->isArrow()) {
      const auto* load = llvm::dyn_cast<clang::ImplicitCastExpr>(base);
      if (!load || load->getCastKind() != clang::CK_LValueToRValue) return std::nullopt;
      named.root = named_variable(load->getSubExpr());
      named.through_pointer = true;
      break;
    }
    named.root = named_variable(base);
    m = llvm::dyn_cast<clang::MemberExpr>(base);
  }
  if (!named.root) return std::nullopt;
  named.c_expr = named.root->getNameAsString() + (named.through_pointer ? "->" : ".") + named.path;
  return named;
}

bool Builder::is_place(const clang::Expr* e) const {
  e = e->IgnoreParens();
  if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(e)) {
    const auto named = named_member(m);
    return !named || places_.contains(named->root) || own_records_.contains(named->root) ||
           in_place_.contains(named->c_expr) || (!named->through_pointer && whole_records_.contains(named->root));
  }
  const clang::Expr* base = nullptr;
  if (const auto* s = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) base = s->getBase();
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e); u && u->getOpcode() == clang::UO_Deref)
    base = u->getSubExpr();
  const clang::Expr* array = base ? decayed(base) : nullptr;
  return array && is_place(array);
}

Lift<Place> Builder::record_root(const clang::VarDecl* v, clang::SourceLocation where) {
  v = v->hasGlobalStorage() ? v->getCanonicalDecl() : v;
  const std::string name = v->getNameAsString();
  const bool is_pointer = v->getType()->isPointerType();
  if (is_own_record(v)) {
    if (!own_records_.contains(v)) own_records_[v] = own_record(v->getType(), name).root;
    return Place{.root = own_records_.at(v), .path = "", .offset = 0, .subscript = {}, .strides = {}, .extents = {}};
  }
  if (const auto* p = llvm::dyn_cast<clang::ParmVarDecl>(v); p && p->getDeclContext() != facts_.function)
    return refuse("c.struct", "'" + name + "' is a parameter of a called function", where);
  const bool written = is_pointer && (written_here(v) || header_writes_.contains(v));
  if (declared_.contains(v) || written)
    return refuse(is_pointer ? "c.pointer.reassigned" : "c.struct", "'" + name + "' is changed in the nest", where);
  TRY_VOID(nameable(v, where));
  Place place{.root = name, .path = "", .subscript = {}, .strides = {}, .extents = {}};
  const clang::QualType type = v->getType();
  if (type.isVolatileQualified()) return refuse("c.volatile", "'" + name + "' is volatile", where);
  clang::QualType held = type;
  if (is_pointer) {
    held = type->getPointeeType();
    if (held->isIncompleteType()) return refuse("c.struct", "the structure is not complete here", where);
    place.subscript = {Expr(0)};
    place.strides = {context_.getTypeSizeInChars(held).getQuantity()};
    place.extents = {Expr(sdfg::unknown_extent)};
  }
  // Sizes of variable-length arrays are no constants.
  if (held->isVariablyModifiedType() || held->isIncompleteType())
    return refuse("c.struct", "structures in an array of variable size", where);
  if (is_blind(held)) return refuse("c.struct", "'" + name + "' holds structures that may alias anything", where);
  if (!roots_.contains(name)) {
    Memory memory = of_variable(v);
    if (is_record(type, context_) && v->getStorageClass() == clang::SC_Register)
      return refuse("c.register", "'" + name + "' is declared register, and has no address", where);
    if (is_record(type, context_)) memory.c_expr = "&(" + name + ")";
    memory.alignment = context_.getTypeAlignInChars(held).getQuantity();
    if (is_pointer && v->hasGlobalStorage() && !type.isConstQualified() && !is_private(v))
      memory_scalars_.push_back({name, name, type, where});
    if (v->hasLocalStorage() && !v->hasInit() && !llvm::isa<clang::ParmVarDecl>(v)) unset_.insert(name);
    roots_[name] = std::move(memory);
  }
  return place;
}

// A pointer to structures that is a member itself: `world->bodies[i].x`. It is read on entry, as other members are.
Lift<Place> Builder::member_root(const clang::MemberExpr* m, clang::SourceLocation where) {
  const NamedMember named = *named_member(m);
  TRY_VOID(readable_member(named, m->getType(), where));
  const clang::QualType held = m->getType()->getPointeeType();
  if (held->isIncompleteType() || held->isVariablyModifiedType())
    return refuse("c.struct", "the structure is not complete here", where);
  if (is_blind(held)) return refuse("c.struct", "a pointer to structures that may alias anything", where);
  if (!roots_.contains(named.c_expr)) {
    Memory memory = of_member(named, m->getType());
    memory.alignment = context_.getTypeAlignInChars(held).getQuantity();
    unset_.insert(named.c_expr);
    roots_[named.c_expr] = std::move(memory);
  }
  return Place{.root = named.c_expr,
               .path = "",
               .offset = 0,
               .subscript = {Expr(0)},
               .strides = {context_.getTypeSizeInChars(held).getQuantity()},
               .extents = {Expr(sdfg::unknown_extent)}};
}

// The first element of an array that lies at `array`.
Lift<Place> Builder::element_of(Place array, clang::QualType type, clang::SourceLocation where) {
  const auto* fixed = context_.getAsConstantArrayType(type);
  if (!fixed) return refuse("c.struct", "an array of variable size beside structures", where);
  array.subscript.push_back(Expr(0));
  array.strides.push_back(context_.getTypeSizeInChars(fixed->getElementType()).getQuantity());
  array.extents.push_back(Expr(static_cast<std::int64_t>(fixed->getSize().getZExtValue())));
  return array;
}

Lift<Place> Builder::field_of(Place record, const clang::FieldDecl* field, clang::SourceLocation where) {
  if (field->isBitField()) return refuse("c.bit-field", "bit-fields are not understood", where);
  const clang::RecordDecl* parent = field->getParent();
  if (is_blind(field->getType()) && field->getType()->isRecordType())
    return refuse("c.struct", "structures that may alias anything", where);
  if (parent->isUnion()) return refuse("c.union", "members of unions are not understood", where);
  // An array of one at the end of a structure is how rows of any length were declared.
  const clang::QualType type = field->getType();
  if (type->isArrayType()) {
    const auto* fixed = context_.getAsConstantArrayType(type);
    if (!fixed || fixed->getSize().getZExtValue() <= 1)
      return refuse("c.struct", "'" + field->getNameAsString() + "' is an array of open length", where);
  }
  const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(parent);
  record.offset += static_cast<std::int64_t>(layout.getFieldOffset(field->getFieldIndex())) / 8;
  record.path += "." + field->getNameAsString();
  return record;
}

Lift<Place> Builder::place(const clang::Expr* e) {
  e = e->IgnoreParens();
  const clang::SourceLocation where = e->getExprLoc();
  if (e->getType().isVolatileQualified() || e->getType()->isAtomicType())
    return refuse("c.volatile", "an access to a volatile or atomic object", where);
  if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(e)) {
    const auto* field = llvm::dyn_cast<clang::FieldDecl>(m->getMemberDecl());
    if (!field) return refuse("c.struct", "this member is not understood", where);
    TRY(Place base, m->isArrow() ? pointee(m->getBase()) : place(m->getBase()));
    return field_of(std::move(base), field, where);
  }
  if (const auto* s = llvm::dyn_cast<clang::ArraySubscriptExpr>(e)) {
    TRY(Place base, pointee(s->getBase()));
    TRY(Expr at, subscript(s->getIdx()));
    base.subscript.back() = base.subscript.back() + at;
    return base;
  }
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e); u && u->getOpcode() == clang::UO_Deref)
    return pointee(u->getSubExpr());
  if (const clang::VarDecl* v = named_variable(e)) {
    const auto argument = record_arguments_.find(v);
    if (argument == record_arguments_.end()) return record_root(v, where);
    const auto& [root, through_pointer, path, in_union] = argument->second;
    TRY(Place part, record_root(root, where));
    clang::QualType type = through_pointer ? root->getType()->getPointeeType() : root->getType();
    for (const llvm::StringRef name : llvm::split(path, '.')) {
      const auto* record = type->getAs<clang::RecordType>();
      if (name.empty() || !record) break;
      for (const clang::FieldDecl* field : record->getDecl()->fields()) {
        if (field->getName() != name) continue;
        TRY(part, field_of(std::move(part), field, where));
        type = field->getType();
        break;
      }
    }
    return part;
  }
  if (e->getType()->isRecordType() &&
      llvm::isa<clang::CallExpr, clang::CompoundLiteralExpr, clang::ConditionalOperator>(e))
    return record_value(e);
  return refuse("c.struct", "this way to reach a structure is not understood", where);
}

// What a pointer to structures, or to an array in one, points to. Its last subscript may be added to.
Lift<Place> Builder::pointee(const clang::Expr* e) {
  e = e->IgnoreParens();
  const clang::SourceLocation where = e->getExprLoc();
  if (const auto* cast = llvm::dyn_cast<clang::CastExpr>(e)) {
    const clang::Expr* inner = cast->getSubExpr()->IgnoreParens();
    if (cast->getCastKind() == clang::CK_NoOp) return pointee(inner);
    if (cast->getCastKind() == clang::CK_ArrayToPointerDecay) {
      TRY(Place array, place(inner));
      return element_of(std::move(array), inner->getType(), where);
    }
    if (cast->getCastKind() != clang::CK_LValueToRValue)
      return refuse("c.pointer.cast", "a pointer is cast to another type", where);
    if (const clang::VarDecl* v = named_variable(inner)) {
      if (auto it = places_.find(v); it != places_.end()) return it->second;
      if (auto it = record_arguments_.find(v); it != record_arguments_.end()) {
        const RecordArgument& argument = it->second;
        if (argument.through_pointer && argument.path.empty()) return record_root(argument.root, where);
        return refuse("c.struct", "'" + v->getNameAsString() + "' is a parameter of a called function", where);
      }
      return record_root(v, where);
    }
    const auto* m = llvm::dyn_cast<clang::MemberExpr>(inner);
    if (m && !is_place(m)) return member_root(m, where);
    return refuse("c.pointer.to-pointer", "a pointer to structures is read from memory", where);
  }
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(e); b && b->isAdditiveOp()) {
    const bool left = b->getLHS()->getType()->isPointerType();
    TRY(Place base, pointee(left ? b->getLHS() : b->getRHS()));
    TRY(Expr by, subscript(left ? b->getRHS() : b->getLHS()));
    base.subscript.back() = b->getOpcode() == clang::BO_Add ? base.subscript.back() + by : base.subscript.back() - by;
    return base;
  }
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(e); u && u->getOpcode() == clang::UO_AddrOf) {
    const clang::Expr* object = u->getSubExpr()->IgnoreParens();
    if (object->getType()->isRecordType()) return place(object);
  }
  return refuse("c.struct", "this way to reach a structure is not understood", where);
}

// The element of the container of that member; of an array, as far as the place says.
Lift<Access> Builder::access(const Place& place, clang::QualType type, clang::SourceLocation where) {
  std::vector<Expr> shape = place.extents, at = place.subscript;
  std::vector<std::int64_t> strides = place.strides;
  const bool own = roots_.at(place.root).origin == Origin::Transient;
  if (shape.empty() && !own) {  // a single object: an array of one
    shape.push_back(Expr(1));
    at.push_back(Expr(0));
    strides.push_back(0);
  }
  while (const clang::ArrayType* array = context_.getAsArrayType(type)) {
    const auto* fixed = llvm::dyn_cast<clang::ConstantArrayType>(array);
    if (!fixed) return refuse("c.struct", "an array of variable size beside structures", where);
    type = fixed->getElementType();
    shape.push_back(Expr(static_cast<std::int64_t>(fixed->getSize().getZExtValue())));
    strides.push_back(context_.getTypeSizeInChars(type).getQuantity());
  }
  const std::string what = "'" + place.root + place.path + "'";
  auto scalar = element_type(type, context_);
  if (!scalar) {
    if (type.isVolatileQualified() || type->isAtomicType()) return refuse("c.volatile", what + " is volatile", where);
    if (type->isPointerType()) return refuse("c.pointer.to-pointer", what + " is a pointer in a structure", where);
    if (type->isRecordType()) return refuse("c.struct", "a whole structure is read or written", where);
    return refuse("c.type", what + " has the type " + type.getAsString(), where);
  }
  if (const auto known = place_containers_.find(place.root + place.path); known != place_containers_.end())
    return Access{known->second, at};
  const Memory& root = roots_.at(place.root);
  const std::int64_t size = sdfg::info(*scalar).bytes;
  bool aligned = place.offset % size == 0 && root.alignment % size == 0;
  for (std::int64_t& stride : strides) {
    aligned = aligned && stride % size == 0;
    stride = stride == 0 ? 1 : stride / size;
  }
  if (!aligned) return refuse("c.struct", what + " is not aligned as its type is", where);
  std::string wish;  // world->bodies.x as world_bodies_x
  for (const char c : place.root.substr(0, place.root.find('@')) + place.path) {
    const bool in_name = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    if (in_name || !wish.ends_with('_')) wish += in_name ? c : '_';
  }
  if (own) {
    const std::string name = add_container(wish, *scalar, std::move(shape), sdfg::Storage::stack);
    place_containers_.emplace(place.root + place.path, name);
    return Access{name, std::move(at)};
  }
  Memory memory = root;
  memory.flat = shape[0] == Expr(sdfg::unknown_extent);
  const std::string name = add_container(wish, *scalar, std::move(shape), sdfg::Storage::argument);
  place_containers_.emplace(place.root + place.path, name);
  memory.container = name;
  sdfg::Container* c = sdfg_.find(name);
  c->strides.clear();
  for (const std::int64_t stride : strides) c->strides.emplace_back(stride);
  memory.record = place.root;
  memory.offset = place.offset;
  memory.element = type;
  memory.where = where;
  memory.variable = nullptr;  // whether its elements are read later is not asked
  memories_.push_back(std::move(memory));
  return Access{name, std::move(at)};
}

}  // namespace sous::frontends::c
