// Structures as values: `a = p[i];`, `struct complex z = *q;`, `v = add(v, scale(d, 2));`, and functions of the file
// that take one, or a pointer to one.
//
// A whole structure is read and written member by member, which is all of it where it has no padding, no bit-fields and
// no unions. A structure of the function's own that the nest sets before it reads it, and that nobody reads afterwards,
// is a set of temporaries; so are compound literals, what a called function declares, takes by value and returns.
#include <algorithm>

#include "frontends/c/addresses.h"
#include "frontends/c/builder.h"
#include "frontends/c/call_effects.h"
#include "llvm/Support/SaveAndRestore.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::Expr;

namespace {

// More members than this are a copy of memory, not arithmetic.
constexpr std::size_t kMostMembers = 16;

const clang::Expr* without_qualifiers(const clang::Expr* e) {
  e = e->IgnoreParens();
  while (const auto* cast = llvm::dyn_cast<clang::CastExpr>(e)) {
    if (cast->getCastKind() != clang::CK_NoOp) break;
    e = cast->getSubExpr()->IgnoreParens();
  }
  return e;
}

bool holds_array(clang::QualType type) {
  if (type->isArrayType()) return true;
  const auto* record = type->getAs<clang::RecordType>();
  return record && std::ranges::any_of(record->getDecl()->fields(),
                                       [](const clang::FieldDecl* f) { return holds_array(f->getType()); });
}

// Whether the function may write a part of its parameter, by its name or by an address of it.
bool writes_part(const clang::FunctionDecl* f, const clang::ParmVarDecl* p) {
  std::set<const clang::VarDecl*> escaping;
  escaping_addresses(f->getBody(), escaping);
  bool found = escaping.contains(p);
  for_each_statement(f->getBody(), [&](const clang::Stmt* s) {
    const auto* b = llvm::dyn_cast<clang::BinaryOperator>(s);
    const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s);
    const clang::Expr* target = b && b->isAssignmentOp()           ? b->getLHS()
                                : u && u->isIncrementDecrementOp() ? u->getSubExpr()
                                                                   : nullptr;
    found = found || (target && object_of(target) == p);
  });
  return found;
}

}  // namespace

bool Builder::is_own_record(const clang::VarDecl* v) {
  if (own_records_.contains(v)) return true;
  if (!is_record(v->getType(), context_) || !v->hasLocalStorage() || llvm::isa<clang::ParmVarDecl>(v) ||
      facts_.address_taken.contains(v) || in_called_function(v))
    return false;
  if (declared_.contains(v) || planted(Fault::record_taken_as_private)) return true;
  if (!whole_records_.contains(v) || live_after_(v)) return false;
  Use use = Use::None;
  for (const clang::Stmt* s : stretch_)
    if (use == Use::None) use = use_of(s, v, context_);
  return use != Use::Exposed;
}

// A new one for each time that it comes to be: of a call, the values outlive it until they are used.
Place Builder::own_record(clang::QualType type, const std::string& name) {
  const std::string root = name + "@" + std::to_string(roots_.size());
  roots_[root].alignment = context_.getTypeAlignInChars(type).getQuantity();
  return Place{.root = root, .path = "", .offset = 0, .subscript = {}, .strides = {}, .extents = {}};
}

// Whether its address is taken as an argument of calls alone. Of what is declared in the nest, all of these are built
// in their places.
bool Builder::only_passed(const clang::VarDecl* v) const {
  std::size_t taken = 0, passed = 0;
  const auto is_address = [&](const clang::Stmt* s) {
    const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s);
    return u && u->getOpcode() == clang::UO_AddrOf && address_taken(u).contains(v);
  };
  std::vector<const clang::Stmt*> scope = stretch_;
  if (const auto* f = llvm::dyn_cast<clang::FunctionDecl>(v->getDeclContext()); f != facts_.function)
    scope = {f ? f->getBody() : nullptr};
  for (const clang::Stmt* nest : scope)
    for_each_statement(nest, [&](const clang::Stmt* s) {
      taken += is_address(s) ? 1 : 0;
      if (const auto* call = llvm::dyn_cast<clang::CallExpr>(s))
        for (const clang::Expr* argument : call->arguments())
          passed += is_address(without_qualifiers(argument)) ? 1 : 0;
    });
  return taken == passed;
}

// A variable of another function, whose body is built in the place of a call.
bool Builder::in_called_function(const clang::VarDecl* v) const {
  return v->hasLocalStorage() && v->getDeclContext() != facts_.function;
}

// Its members that are no structures, in order; arrays by element.
Lift<void> Builder::members_of(const Place& place, clang::QualType type, std::vector<Member>& members,
                               clang::SourceLocation where) {
  if (members.size() >= kMostMembers) return refuse("c.struct", "a large structure is read or written whole", where);
  if (type.isVolatileQualified() || type->isAtomicType()) return refuse("c.volatile", "a volatile structure", where);
  if (const auto* array = context_.getAsConstantArrayType(type)) {
    TRY(const Place first, element_of(place, type, where));
    for (std::uint64_t k = 0; k < array->getSize().getZExtValue(); ++k) {
      Place element = first;
      element.subscript.back() = Expr(static_cast<std::int64_t>(k));
      TRY_VOID(members_of(element, array->getElementType(), members, where));
    }
    return {};
  }
  if (is_complex(type, context_)) {
    for (const bool imaginary : {false, true}) members.push_back({part_of(place, type, imaginary), part_type(type)});
    return {};
  }
  const auto* record = type->getAs<clang::RecordType>();
  if (!record) {
    const auto scalar = element_type(type, context_);
    // What a truth value holds that was never set, a copy of memory keeps and a load does not.
    if (!scalar || *scalar == sdfg::ElementType::boolean)
      return refuse("c.struct", "a structure with a member of type " + type.getAsString() + " is read or written whole",
                    where);
    members.push_back({place, type});
    return {};
  }
  for (const clang::FieldDecl* field : record->getDecl()->fields()) {
    TRY(const Place inside, field_of(place, field, where));
    TRY_VOID(members_of(inside, field->getType(), members, where));
  }
  return {};
}

// The object that an expression of a structure's type is, or a temporary that holds its value.
Lift<Place> Builder::record_value(const clang::Expr* e) {
  e = without_qualifiers(e);
  const clang::SourceLocation where = e->getExprLoc();
  const clang::QualType type = e->getType();
  if (const auto* load = llvm::dyn_cast<clang::CastExpr>(e); load && load->getCastKind() == clang::CK_LValueToRValue)
    return place(load->getSubExpr());
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(e)) return record_call(call);
  if (llvm::isa<clang::MemberExpr>(e)) return place(e);               // of what a function returns
  const llvm::SaveAndRestore<std::vector<sdfg::Memlet>> pool(pool_);  // of the expression around
  const Place result = own_record(type, "t");
  if (const auto* literal = llvm::dyn_cast<clang::CompoundLiteralExpr>(e)) {
    TRY_VOID(fill(result, literal->getInitializer(), type, where));
    return result;
  }
  if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(e)) {
    pool_.clear();
    TRY(sdfg::ScalarExpr test, condition(choice->getCond()));
    TRY_VOID(branch(
        std::move(test), [&] { return fill(result, choice->getTrueExpr(), type, where); },
        [&] { return fill(result, choice->getFalseExpr(), type, where); }));
    return result;
  }
  return refuse("c.struct", "a structure is given the value of what is no object", where);
}

// `from` may be a list of values for the members, or null: all of them zero.
Lift<void> Builder::fill(const Place& to, const clang::Expr* from, clang::QualType type, clang::SourceLocation where) {
  if (from && llvm::isa<clang::ImplicitValueInitExpr>(from)) from = nullptr;
  const auto* list = llvm::dyn_cast_or_null<clang::InitListExpr>(from);
  constexpr std::int64_t kMostBytes = 256;
  if (context_.getTypeSizeInChars(type).getQuantity() > kMostBytes)
    return refuse("c.struct", "a large structure is read or written whole", where);
  if (const auto* array = context_.getAsConstantArrayType(type)) {
    if (from && !list) return refuse("c.struct", "an array in a structure with an unusual initialiser", where);
    TRY(const Place first, element_of(to, type, where));
    for (unsigned k = 0; k < array->getSize().getZExtValue(); ++k) {
      Place element = first;
      element.subscript.back() = Expr(static_cast<std::int64_t>(k));
      const clang::Expr* value = !list ? nullptr : k < list->getNumInits() ? list->getInit(k) : list->getArrayFiller();
      TRY_VOID(fill(element, value, array->getElementType(), where));
    }
    return {};
  }
  if (is_complex(type, context_)) {
    Complex parts;
    if (from) {
      pool_.clear();
      TRY(parts, complex_value(from));
    } else {
      parts.real = sdfg::ScalarExpr::real(0, *element_type(part_type(type), context_));
    }
    TRY(const ComplexAccess target, complex_access(to, type, where));
    set_complex(target, std::move(parts));
    return {};
  }
  if (const auto* record = type->getAs<clang::RecordType>()) {
    if (from && !list) return assign_record(to, from, type, where);
    if (!record->getDecl()->isStruct()) return refuse("c.union", "members of unions are not understood", where);
    unsigned k = 0;
    for (const clang::FieldDecl* field : record->getDecl()->fields()) {
      TRY(const Place inside, field_of(to, field, where));
      const clang::Expr* value = list && k < list->getNumInits() ? list->getInit(k) : nullptr;
      ++k;
      TRY_VOID(fill(inside, value, field->getType(), where));
    }
    return {};
  }
  TRY(const Access target, access(to, type, where));
  const sdfg::ElementType scalar = sdfg_.find(target.container)->type;
  pool_.clear();
  sdfg::ScalarExpr code =
      sdfg::is_float(scalar) ? sdfg::ScalarExpr::real(0, scalar) : sdfg::ScalarExpr::integer(0, scalar);
  if (from) {
    TRY(code, value(from));
  }
  emit_assignment({target.container, target.subscript, std::nullopt}, code);
  return {};
}

Lift<void> Builder::assign_record(const Place& target, const clang::Expr* from, clang::QualType type,
                                  clang::SourceLocation where) {
  TRY(Place source, record_value(from));
  // Both places are found before the first member is written, which may be what a subscript is read from.
  Place to = target;
  settle(source.subscript);
  settle(to.subscript);
  std::vector<Member> targets, sources;
  TRY_VOID(members_of(to, type, targets, where));
  TRY_VOID(members_of(source, from->getType(), sources, where));
  if (targets.size() != sources.size()) return refuse("c.struct", "structures of two types", where);
  // Padding is copied with the rest, where anybody can look at it.
  std::uint64_t bits = 0;
  for (const Member& m : targets) bits += context_.getTypeSize(m.type);
  if (bits != context_.getTypeSize(type) && !is_own(to) && !planted(Fault::padding_not_copied))
    return refuse("c.struct", "a structure with padding is read or written whole", where);
  for (std::size_t k = 0; k < targets.size(); ++k) {
    TRY(const Access read, access(sources[k].place, sources[k].type, where));
    TRY(const Access written, access(targets[k].place, targets[k].type, where));
    pool_.clear();
    const sdfg::ScalarExpr value =
        input({read.container, read.subscript, std::nullopt}, sdfg_.find(read.container)->type);
    emit_assignment({written.container, written.subscript, std::nullopt}, value);
  }
  return {};
}

Lift<void> Builder::declare_record(const clang::VarDecl* v) {
  const clang::SourceLocation where = v->getLocation();
  if (facts_.address_taken.contains(v) && !only_passed(v))
    return refuse("c.address-taken", "the address of '" + v->getNameAsString() + "' is taken", where);
  if (v->getType().isVolatileQualified()) return refuse("c.volatile", "a volatile structure", where);
  const Place to = own_record(v->getType(), v->getNameAsString());
  if (v->hasInit()) TRY_VOID(fill(to, v->getInit(), v->getType(), where));
  own_records_[v] = to.root;
  return {};
}

// Which members the nest writes is known before it is built (scan.cc), by their names in the function itself.
Lift<void> Builder::assignable(const clang::Expr* target) const {
  const auto* m = llvm::dyn_cast<clang::MemberExpr>(target->IgnoreParens());
  const auto named = m ? c::named_member(m) : std::nullopt;
  if (named && record_arguments_.contains(named->root))
    return refuse("c.call.not-inlinable", "a called function writes a member through its parameter", m->getExprLoc());
  return {};
}

std::optional<RecordArgument> Builder::record_argument(const clang::Expr* e) const {
  e = without_qualifiers(e);
  if (const auto* load = llvm::dyn_cast<clang::CastExpr>(e)) {
    if (load->getCastKind() != clang::CK_LValueToRValue) return std::nullopt;
    const clang::VarDecl* v = named_variable(load->getSubExpr());
    if (!v || !v->getType()->isPointerType() || places_.contains(v)) return std::nullopt;
    if (const auto known = record_arguments_.find(v); known != record_arguments_.end()) return known->second;
    return in_called_function(v) ? std::nullopt : std::optional(RecordArgument{v, true, "", false});
  }
  const auto* address = llvm::dyn_cast<clang::UnaryOperator>(e);
  if (!address || address->getOpcode() != clang::UO_AddrOf) return std::nullopt;
  const clang::Expr* object = address->getSubExpr()->IgnoreParens();
  if (const clang::VarDecl* v = named_variable(object))
    return in_called_function(v) || own_records_.contains(v) ? std::nullopt
                                                             : std::optional(RecordArgument{v, false, "", false});
  const auto* m = llvm::dyn_cast<clang::MemberExpr>(object);
  if (!m || is_place(m)) return std::nullopt;
  const auto named = named_member(m);
  if (!named || in_called_function(named->root)) return std::nullopt;
  return RecordArgument{named->root, named->through_pointer, named->path, named->in_union};
}

// A structure that is passed by value, where neither the called function nor the nest writes any of it: another name.
std::optional<RecordArgument> Builder::record_alias(const clang::ParmVarDecl* p, const clang::Expr* argument) const {
  const auto* called = llvm::cast<clang::FunctionDecl>(p->getDeclContext());
  if (written_here(p) || writes_part(called, p)) return std::nullopt;
  const auto* load = llvm::dyn_cast<clang::CastExpr>(without_qualifiers(argument));
  if (!load || load->getCastKind() != clang::CK_LValueToRValue) return std::nullopt;
  const clang::Expr* object = load->getSubExpr()->IgnoreParens();
  std::optional<RecordArgument> found;
  if (const clang::VarDecl* v = named_variable(object)) {
    const auto known = record_arguments_.find(v);
    found = known != record_arguments_.end() ? known->second : RecordArgument{v, false, "", false};
  } else if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(object); m && !is_place(m)) {
    const auto named = named_member(m);
    if (named) found = {named->root, named->through_pointer, named->path, named->in_union};
  } else if (const auto* target = llvm::dyn_cast<clang::UnaryOperator>(object)) {
    if (target->getOpcode() == clang::UO_Deref) found = record_argument(target->getSubExpr());
  }
  if (!found || in_called_function(found->root) || own_records_.contains(found->root) ||
      whole_records_.contains(found->root))
    return std::nullopt;
  // Arrays in it would be the same memory as those that the function writes by another name. (Of other members it is
  // looked at when all is built that nothing writes them.)
  const bool out_of_sight =
      !found->through_pointer && found->root->hasLocalStorage() && !facts_.address_taken.contains(found->root);
  if (holds_array(p->getType()) && !out_of_sight && writes_of(called) != Writes::OwnVariables) return std::nullopt;
  const std::string part = found->root->getNameAsString() + (found->through_pointer ? "->" : ".") + found->path;
  const bool changed = std::ranges::any_of(in_place_, [&](const std::string& m) { return m.starts_with(part); });
  return changed ? std::nullopt : found;
}

std::optional<NamedMember> Builder::named_member(const clang::MemberExpr* e) const {
  auto named = c::named_member(e);
  if (!named) return named;
  const auto argument = record_arguments_.find(named->root);
  if (argument == record_arguments_.end()) return named;
  const auto& [root, through_pointer, path, in_union] = argument->second;
  named->root = root;
  named->through_pointer = through_pointer;
  named->in_union = named->in_union || in_union;
  if (!path.empty()) named->path = path + "." + named->path;
  named->c_expr = root->getNameAsString() + (through_pointer ? "->" : ".") + named->path;
  return named;
}

}  // namespace sous::frontends::c
