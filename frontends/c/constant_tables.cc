// Constant objects whose names do not reach the place where the nest begins (those of inner blocks and of called
// functions), and arrays with initialisers.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "clang/AST/APValue.h"
#include "frontends/c/builder.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Expr;
using sdfg::ScalarExpr;

namespace {

constexpr std::uint64_t most_elements = 1024;  // that are written out in the call

// As a constant expression of C; nothing where it is none that every compiler reads as the same.
std::string c_constant(const clang::APValue& value) {
  if (value.isInt()) {
    const llvm::APSInt& i = value.getInt();
    if (i.getBitWidth() > 64) return "";
    if (i.isUnsigned()) return std::to_string(i.getZExtValue()) + "ULL";
    if (i.getExtValue() == INT64_MIN) return "(-9223372036854775807LL - 1)";
    return std::to_string(i.getExtValue()) + "LL";
  }
  if (!value.isFloat() || !value.getFloat().isFinite()) return "";
  llvm::APFloat f = value.getFloat();
  bool exact = false;
  f.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &exact);
  char text[64];
  std::snprintf(text, sizeof text, "%a", f.convertToDouble());
  return text;
}

// The elements of an array, row by row, with a comma behind each; false: it has no values that are known.
bool append(const clang::APValue& value, std::uint64_t& elements, std::string& text) {
  if (value.isArray()) {
    const unsigned given = value.getArrayInitializedElts();
    for (unsigned k = 0; k < value.getArraySize(); ++k)
      if (!append(k < given ? value.getArrayInitializedElt(k) : value.getArrayFiller(), elements, text)) return false;
    return true;
  }
  const std::string one = c_constant(value);
  if (one.empty() || ++elements > most_elements) return false;
  text += one + ",";
  return true;
}

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

}  // namespace

// What `const` says nobody writes keeps the values that it begins with.
void Builder::note_constant_values(const clang::VarDecl* v, const std::string& container) {
  if (v == nullptr || context_.getAsConstantArrayType(v->getType()) == nullptr || !v->hasInit() || v->isWeak() ||
      !context_.getBaseElementType(v->getType()).isConstQualified() || v->getType().isVolatileQualified())
    return;
  const clang::APValue* value = v->evaluateValue();
  if (value == nullptr) return;
  if (const auto values = hull(*value)) ranges_.elements[container] = *values;
  // As numbers in the code where a compiler makes numbers of them, too: in loops that are as short.
  constexpr std::uint64_t most_numbers = 64;
  std::string text;
  std::uint64_t elements = 0;
  if (append(*value, elements, text) && elements <= most_numbers) tables_[container] = text;
}

bool Builder::out_of_reach(const clang::VarDecl* v) const {
  return v->isStaticLocal() && (declared_.contains(v) || v->getDeclContext() != facts_.function);
}

// A table of constants, written out where it is passed; nullopt: it is none.
std::optional<Binding> Builder::constant_table(const clang::VarDecl* v) {
  clang::QualType element = v->getType();
  std::vector<Expr> shape;
  std::uint64_t elements = 1;
  while (const auto* array = context_.getAsConstantArrayType(element)) {
    elements *= std::min<std::uint64_t>(array->getSize().getZExtValue(), most_elements + 1);
    if (elements == 0 || elements > most_elements) return std::nullopt;
    shape.push_back(Expr(static_cast<std::int64_t>(array->getSize().getZExtValue())));
    element = array->getElementType();
  }
  const auto type = element_type(element, context_);
  if (shape.empty() || !type || !element.isConstQualified() || !v->hasInit() || v->isWeak()) return std::nullopt;
  const clang::APValue* value = v->evaluateValue();
  std::string values;
  elements = 0;
  if (value == nullptr || !append(*value, elements, values)) return std::nullopt;
  Binding b{
      Binding::Kind::Array, {}, {}, add_container(v->getNameAsString(), *type, shape, sdfg::Storage::argument), {}};
  Memory memory;
  memory.container = b.container;
  memory.origin = Origin::Object;
  memory.element = element;  // const: nobody writes it
  memory.c_expr = "__extension__({ static const " + c_type(element.getUnqualifiedType(), context_) + " sous_table[" +
                  std::to_string(elements) + "] = {" + values + "}; sous_table; })";
  memory.where = v->getLocation();
  note_constant_values(v, b.container);
  memories_.push_back(std::move(memory));
  return b;
}

// Elements that are given a value each; false: a part is initialised in a way that is not followed.
bool Builder::explicit_elements(const clang::Expr* e, std::vector<Expr>& at,
                                std::vector<std::pair<std::vector<Expr>, const clang::Expr*>>& found) const {
  constexpr std::size_t most_statements = 64;
  if (llvm::isa<clang::ImplicitValueInitExpr>(e)) return true;
  if (!e->getType()->isArrayType()) {
    const auto constant = e->getType()->isIntegerType() ? constant_value(e, context_) : std::nullopt;
    if (!constant || *constant != 0) found.emplace_back(at, e);
    return found.size() <= most_statements;
  }
  const auto* list = llvm::dyn_cast<clang::InitListExpr>(e);
  if (!list || (list->hasArrayFiller() && !llvm::isa<clang::ImplicitValueInitExpr>(list->getArrayFiller())))
    return false;
  for (unsigned k = 0; k < list->getNumInits(); ++k) {
    at.push_back(Expr(static_cast<std::int64_t>(k)));
    if (!explicit_elements(list->getInit(k), at, found)) return false;
    at.pop_back();
  }
  return true;
}

Lift<void> Builder::initialize_array(const clang::VarDecl* v, const Binding& b) {
  constexpr std::int64_t most_single = 8;
  const clang::SourceLocation where = v->getLocation();
  std::vector<Expr> at;
  std::vector<std::pair<std::vector<Expr>, const clang::Expr*>> given;
  if (!explicit_elements(v->getInit(), at, given))
    return refuse("c.array.initializer", "an initialiser of more than 64 values, or of another form than a list",
                  where);
  const sdfg::Container& c = *sdfg_.find(b.container);
  const ElementType type = c.type;
  const std::vector<Expr> shape = c.shape;
  Expr elements(1);
  for (const Expr& extent : shape) elements = elements * extent;
  const ScalarExpr zero = sdfg::is_float(type) ? ScalarExpr::real(0, type) : ScalarExpr::integer(0, type);
  pool_.clear();
  const std::int64_t count = elements.constant().value_or(most_single + 1);
  const auto set = [&](const std::vector<Expr>& place, const ScalarExpr& code) {
    emit_assignment({b.container, place, std::nullopt}, code);
  };
  if (shape.size() == 1 && count <= most_single) {
    for (std::int64_t k = 0; k < count; ++k)
      if (std::ranges::none_of(given, [&](const auto& one) { return one.first[0] == Expr(k); })) set({Expr(k)}, zero);
  } else if (count > static_cast<std::int64_t>(given.size()) && !planted(Fault::initializer_rest_unset)) {
    fill_block({{b.container, {Expr(0)}}, shape}, zero, where);
  }
  for (const auto& [place, e] : given) {
    pool_.clear();
    TRY(const ScalarExpr code, value(e));
    set(place, code);
  }
  return {};
}

}  // namespace sous::frontends::c
