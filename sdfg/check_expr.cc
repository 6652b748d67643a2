#include <algorithm>

#include "sdfg/check_rules.h"
#include "sdfg/lexer.h"
#include "sdfg/scalar_eval.h"
#include "sdfg/scalar_text.h"
#include "sdfg/text_internal.h"

namespace sous::sdfg::rules {
namespace {

constexpr int scalar_depth_limit = 200;
constexpr std::size_t name_limit = 128;

void check_symbols(Context& context, const Expr& e, const Scope& scope) {
  if (!e.is_valid())
    return context.report("sdfg.expr.overflow", "a symbolic expression left the 64-bit range", scope.where);
  for (const std::string& s : e.symbols())
    if (!context.symbols.contains(s))
      context.report("sdfg.expr.unknown-symbol",
                     "'" + s + "' in '" + e.to_string() + "' is neither a parameter nor a loop symbol in scope",
                     scope.where);
}

bool is_number(ElementType t) { return t != ElementType::boolean; }
bool is_bits(ElementType t) { return !is_float(t); }

// The element types on which the operator works.
bool works_on(ScalarOp op, ElementType t) {
  switch (info(op).types) {
    case OpTypes::Any:
      return true;
    case OpTypes::Number:
      return is_number(t);
    case OpTypes::Integer:
      return is_integer(t);
    case OpTypes::Bits:
      return is_bits(t);
    case OpTypes::Bool:
      return t == ElementType::boolean;
    case OpTypes::Float:
      return is_float(t);
  }
  __builtin_unreachable();
}

// Whether the types of the arguments and of the node go together.
bool types_fit(const ScalarExpr& e) {
  const auto natural = natural_type(e.op, e.args);
  if (!natural) return true;  // leaves and casts
  if (*natural != e.type) return false;
  if (e.op == ScalarOp::shl || e.op == ScalarOp::shr)
    return works_on(e.op, e.args[0].type) && is_integer(e.args[1].type);
  if (e.op == ScalarOp::select) return e.args[0].type == ElementType::boolean && e.args[1].type == e.args[2].type;
  return works_on(e.op, e.args[0].type) &&
         std::ranges::all_of(e.args, [&](const ScalarExpr& a) { return a.type == e.args[0].type; });
}

// Fields that mean nothing for this operator hold what they hold by default; otherwise equal programs would differ.
bool has_stray_fields(const ScalarExpr& e) {
  return (e.op != ScalarOp::input && e.input != 0) || (e.op != ScalarOp::constant && e.bits != 0) ||
         (e.op != ScalarOp::symbolic && e.symbolic != Expr(0));
}

class ScalarChecker {
 public:
  ScalarChecker(Context& context, const std::vector<std::optional<ElementType>>& inputs, const Scope& scope)
      : context_(context), inputs_(inputs), scope_(scope) {}

  void operator()(const ScalarExpr& e, int depth = 1) {
    if (depth > scalar_depth_limit) return report("sdfg.scalar.depth", "a scalar expression nested more than 200 deep");
    if (static_cast<int>(e.args.size()) != info(e.op).arity)
      return report("sdfg.scalar.arity", "'" + std::string(info(e.op).name) + "' has " +
                                             std::to_string(info(e.op).arity) + " arguments, not " +
                                             std::to_string(e.args.size()));
    if (has_stray_fields(e))
      report("sdfg.scalar.stray", "'" + std::string(info(e.op).name) + "' carries a field of another operator");
    for (const ScalarExpr& arg : e.args) (*this)(arg, depth + 1);
    if (!types_fit(e)) {
      std::string types;
      for (const ScalarExpr& arg : e.args) types += (types.empty() ? "" : ", ") + std::string(info(arg.type).name);
      report("sdfg.scalar.type", "'" + std::string(info(e.op).name) + "' does not take (" + types + ") to " +
                                     std::string(info(e.type).name));
    }
    if (e.op == ScalarOp::input) input(e);
    if (e.op == ScalarOp::constant && canonical_bits(e.type, e.bits) != e.bits)
      report("sdfg.scalar.constant", "a constant with bits outside its type");
    if (e.op == ScalarOp::symbolic) check_symbolic(context_, e.symbolic, scope_, "sdfg.scalar.read");
  }

 private:
  void report(const char* code, const std::string& why) { context_.report(code, why, scope_.where); }

  void input(const ScalarExpr& e) {
    if (e.input < 0 || static_cast<std::size_t>(e.input) >= inputs_.size())
      return report("sdfg.scalar.input", "input " + std::to_string(e.input) + " of " + std::to_string(inputs_.size()));
    const auto type = inputs_[static_cast<std::size_t>(e.input)];
    if (type && *type != e.type)
      report("sdfg.scalar.input-type", "input " + std::to_string(e.input) + " is taken for " +
                                           std::string(info(e.type).name) + ", but reads " +
                                           std::string(info(*type).name));
  }

  Context& context_;
  const std::vector<std::optional<ElementType>>& inputs_;
  const Scope& scope_;
};

}  // namespace

void check_name(Context& context, const std::string& name, const char* what, const std::string& where) {
  if (is_identifier(name) && name.size() <= name_limit) return;
  context.report("sdfg.name.invalid",
                 std::string(what) + " " + quote_name(name.substr(0, name_limit)) +
                     ": a name is [A-Za-z_][A-Za-z0-9_]*, at most 128 characters",
                 where);
}

void for_each_read(const Expr& e, const std::function<void(const std::string&, const std::vector<Expr>&)>& f) {
  for (const Term& t : e.terms())
    for (const Atom& a : t.atoms) {
      if (a.kind == AtomKind::Read) f(a.name, a.args);
      for (const Expr& arg : a.args) for_each_read(arg, f);
    }
}

void check_symbolic(Context& context, const Expr& e, const Scope& scope, const char* code) {
  check_symbols(context, e, scope);
  if (e.is_valid() && !e.reads().empty())
    context.report(code, "'" + e.to_string() + "' reads '" + *e.reads().begin() + "'; only symbols are allowed here",
                   scope.where);
}

void check_expr(Context& context, const Expr& e, const Scope& scope) {
  check_symbols(context, e, scope);
  if (!e.is_valid()) return;
  for_each_read(e, [&](const std::string& name, const std::vector<Expr>& subscript) {
    const Container* c = check_use(context, name, scope);
    if (!c) return;
    if (!is_integer(c->type))
      context.report("sdfg.expr.read-type", "'" + e.to_string() + "' reads '" + name + "', which holds no integers",
                     scope.where);
    if (subscript.size() != c->shape.size())
      context.report(
          "sdfg.expr.read-rank",
          "'" + e.to_string() + "' reads '" + name + "', which has " + std::to_string(c->shape.size()) + " dimensions",
          scope.where);
  });
}

void check_scalar(Context& context, const ScalarExpr& code, const std::vector<std::optional<ElementType>>& inputs,
                  const Scope& scope) {
  ScalarChecker(context, inputs, scope)(code);
}

}  // namespace sous::sdfg::rules
