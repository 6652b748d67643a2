// Structures as values: `a = p[i];`, `struct complex z = *q;`, and functions of the file that take a pointer to one.
//
// A whole structure is read and written member by member, which is all of it where it has no padding, no bit-fields and
// no unions. A structure of the function's own that the nest sets before it reads it, and that nobody reads afterwards,
// is a set of temporaries.
#include "clang/AST/RecordLayout.h"
#include "frontends/c/builder.h"
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

}  // namespace

bool Builder::is_own_record(const clang::VarDecl* v) {
  if (!v->getType()->isRecordType() || !v->hasLocalStorage() || llvm::isa<clang::ParmVarDecl>(v) ||
      facts_.address_taken.contains(v) || in_called_function(v))
    return false;
  if (declared_.contains(v) || planted(Fault::record_taken_as_private)) return true;
  if (!whole_records_.contains(v) || live_after_(v)) return false;
  Use use = Use::None;
  for (const clang::Stmt* s : stretch_)
    if (use == Use::None) use = use_of(s, v, context_);
  return use != Use::Exposed;
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
  std::int64_t bits = 0;
  for (const clang::FieldDecl* field : record->getDecl()->fields()) {
    TRY(const Place inside, field_of(place, field, where));
    bits += static_cast<std::int64_t>(context_.getTypeSize(field->getType()));
    TRY_VOID(members_of(inside, field->getType(), members, where));
  }
  if (bits != static_cast<std::int64_t>(context_.getTypeSize(type)) && !planted(Fault::padding_not_copied))
    return refuse("c.struct", "a structure with padding is read or written whole", where);
  return {};
}

Lift<void> Builder::assign_record(const Place& to, const clang::Expr* from, clang::QualType type,
                                  clang::SourceLocation where) {
  const auto* load = llvm::dyn_cast<clang::CastExpr>(from->IgnoreParens());
  if (!load || load->getCastKind() != clang::CK_LValueToRValue)
    return refuse("c.struct", "a structure is given the value of what is no object", where);
  TRY(const Place source, place(load->getSubExpr()));
  std::vector<Member> targets, sources;
  TRY_VOID(members_of(to, type, targets, where));
  TRY_VOID(members_of(source, load->getType(), sources, where));
  if (targets.size() != sources.size()) return refuse("c.struct", "structures of two types", where);
  for (std::size_t k = 0; k < targets.size(); ++k) {
    TRY(const Access read, access(sources[k].place, sources[k].type, where));
    TRY(const Access written, access(targets[k].place, targets[k].type, where));
    pool_.clear();
    const sdfg::ScalarExpr value =
        input({read.container, sdfg::point(read.subscript), std::nullopt}, sdfg_.find(read.container)->type);
    emit_assignment({written.container, sdfg::point(written.subscript), std::nullopt}, value);
  }
  return {};
}

Lift<void> Builder::declare_record(const clang::VarDecl* v) {
  const clang::SourceLocation where = v->getLocation();
  if (facts_.address_taken.contains(v))
    return refuse("c.address-taken", "the address of '" + v->getNameAsString() + "' is taken", where);
  if (!v->hasInit()) return {};
  if (llvm::isa<clang::InitListExpr>(v->getInit()))
    return refuse("c.struct", "a structure with an initialiser of its members", where);
  TRY(const Place to, record_root(v, where));
  return assign_record(to, v->getInit(), v->getType(), where);
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
    return in_called_function(v) ? std::nullopt : std::optional(RecordArgument{v, false, "", false});
  const auto* m = llvm::dyn_cast<clang::MemberExpr>(object);
  if (!m || is_place(m)) return std::nullopt;
  const auto named = named_member(m);
  if (!named || in_called_function(named->root)) return std::nullopt;
  return RecordArgument{named->root, named->through_pointer, named->path, named->in_union};
}

std::optional<NamedMember> Builder::named_member(const clang::MemberExpr* e) const {
  auto named = c::named_member(e);
  if (!named || !named->through_pointer) return named;
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
