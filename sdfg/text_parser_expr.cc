#include <algorithm>
#include <utility>

#include "sdfg/scalar_text.h"
#include "sdfg/text_parser.h"

namespace sous::sdfg {
namespace {

// Each level of a tree of nesting_limit levels may cost an operator, its parentheses and a written type.
constexpr int recursion_limit = 3 * nesting_limit + 8;
constexpr std::size_t expr_work_limit = 4'000'000;
constexpr std::size_t expr_terms_limit = 4096;
constexpr std::size_t expr_degree_limit = 64;

std::string memlet_key(const Memlet& m) {
  std::string key = m.container;
  for (const Expr& d : m.subset) key += '\n' + d.to_string();
  return key;
}

std::size_t degree(const Expr& e) {
  std::size_t most = 0;
  for (const Term& t : e.terms()) most = std::max(most, t.atoms.size());
  return most;
}

}  // namespace

// --- Symbolic expressions -------------------------------------------------------------------------------------------

Result<std::vector<Expr>> Parser::expr_list(std::string_view close) {
  std::vector<Expr> list;
  while (!is(close)) {
    if (!list.empty()) TRY_VOID(expect(","));
    TRY(Expr e, expr());
    list.push_back(std::move(e));
  }
  TRY_VOID(expect(close));
  return list;
}

// a + b or a * b, within the budgets.
Result<Expr> Parser::pay(const Expr& a, const Expr& b, bool multiply) {
  const std::size_t left = a.terms().size() + 1, right = b.terms().size() + 1;
  const std::size_t terms = multiply ? left * right : left + right;
  const std::size_t atoms = multiply ? degree(a) + degree(b) : std::max(degree(a), degree(b));
  work_ += terms * (1 + atoms);
  if (terms > expr_terms_limit || atoms > expr_degree_limit || work_ > expr_work_limit)
    return error("sdfg.text.expression-size", "a symbolic expression that is too large");
  return multiply ? a * b : a + b;
}

Result<Expr> Parser::expr() {
  const Level level(expr_depth_);
  TRY_VOID(within(expr_depth_, nesting_limit));
  const bool negative = accept("-");
  TRY(Expr sum, product(negative));
  while (is("+") || is("-")) {
    const bool minus = accept("-");
    if (!minus) TRY_VOID(expect("+"));
    TRY(Expr term, product(minus));
    TRY(sum, pay(sum, term, false));
  }
  return sum;
}

// The sign goes into the first factor, so that the smallest integer can be read.
Result<Expr> Parser::product(bool negative) {
  TRY(Expr value, factor(negative));
  while (true) {
    if (accept("*")) {
      TRY(Expr right, factor(false));
      TRY(value, pay(value, right, true));
    } else if (is_word("floordiv") || is_word("mod")) {
      const bool division = accept_word("floordiv");
      if (!division) accept_word("mod");
      TRY(Expr right, factor(false));
      // -a mod b is -(a mod b)
      const Expr left = negative ? -value : value;
      const Expr result = division ? Expr::floor_div(left, right) : Expr::mod(left, right);
      value = negative ? -result : result;
    } else {
      return value;
    }
  }
}

Result<Expr> Parser::factor(bool negative) {
  auto with_sign = [&](const Expr& e) { return negative ? -e : e; };
  if (peek().kind == TokenKind::Number) {
    const auto magnitude = parse_unsigned(peek().text);
    const std::uint64_t most = (std::uint64_t{1} << 63) - (negative ? 0 : 1);
    if (!magnitude || *magnitude > most) return error("sdfg.text.number", "not a 64-bit integer");
    ++at_;
    return Expr(static_cast<std::int64_t>(negative ? 0 - *magnitude : *magnitude));
  }
  if (is("-")) {
    const Level level(expr_depth_);
    TRY_VOID(within(expr_depth_, nesting_limit));
    accept("-");
    return factor(!negative);
  }
  if (accept("(")) {
    TRY(Expr inner, expr());
    TRY_VOID(expect(")"));
    return with_sign(inner);
  }
  if (is("!") && is_word("overflow", 1)) {
    at_ += 2;
    return Expr::invalid();
  }
  if (!at_name()) return syntax("an expression");
  if ((is_word("min") || is_word("max")) && is("(", 1)) {
    const bool least = is_word("min");
    at_ += 2;
    TRY(Expr a, expr());
    TRY_VOID(expect(","));
    TRY(Expr b, expr());
    TRY_VOID(expect(")"));
    return with_sign(least ? Expr::min(a, b) : Expr::max(a, b));
  }
  TRY(std::string symbol, name("a name"));
  if (!accept("[")) return with_sign(Expr::symbol(symbol));
  TRY(std::vector<Expr> subscript, expr_list("]"));
  return with_sign(Expr::read(symbol, subscript));
}

Result<Expr> Parser::whole_expr(std::size_t& work) {
  work_ = work;
  auto result = expr();
  work = work_;
  TRY(Expr e, std::move(result));
  if (peek().kind != TokenKind::End) return syntax("the end of the expression");
  return e;
}

Result<Memlet> Parser::memlet() {
  Memlet result;
  TRY(result.container, name("a container"));
  TRY_VOID(expect("["));
  while (!is("]")) {
    if (!result.subset.empty()) TRY_VOID(expect(","));
    TRY(Expr subscript, expr());
    result.subset.push_back(std::move(subscript));
  }
  TRY_VOID(expect("]"));
  if (is_word("combine") && !is(":", 1)) {
    ++at_;
    TRY(result.combine, reduction_op());
  }
  return result;
}

// --- Scalar expressions ---------------------------------------------------------------------------------------------

Result<ScalarExpr> Parser::scalar(Inputs& inputs) {
  TRY(Scalar result, infix(inputs, 1));
  return std::move(result.expr);
}

Result<Parser::Scalar> Parser::make(ScalarOp op, std::vector<Scalar> args) {
  Scalar result;
  result.expr.op = op;
  for (Scalar& arg : args) {
    result.height = std::max(result.height, arg.height + 1);
    result.expr.args.push_back(std::move(arg.expr));
  }
  TRY_VOID(within(result.height, nesting_limit));
  result.expr.type = natural_type(op, result.expr.args).value_or(ElementType::f64);
  return result;
}

Result<Parser::Scalar> Parser::infix(Inputs& inputs, int least) {
  const Level level(expr_depth_);
  TRY_VOID(within(expr_depth_, recursion_limit));
  auto operator_here = [&]() -> std::optional<ScalarOp> {
#define X(e, ...) \
  if (precedence(ScalarOp::e) > 0 && is(info(ScalarOp::e).text)) return ScalarOp::e;
    SOUS_SCALAR_OPS(X)
#undef X
    return std::nullopt;
  };
  TRY(Scalar left, prefix(inputs));
  while (true) {
    const auto op = operator_here();
    if (!op || precedence(*op) < least) return left;
    ++at_;
    TRY(Scalar right, infix(inputs, precedence(*op) + 1));
    std::vector<Scalar> args;
    args.push_back(std::move(left));
    args.push_back(std::move(right));
    TRY(left, make(*op, std::move(args)));
  }
}

Result<Parser::Scalar> Parser::prefix(Inputs& inputs) {
  const Level level(expr_depth_);
  TRY_VOID(within(expr_depth_, recursion_limit));
  if (is("-") && peek(1).kind == TokenKind::Number) {
    ++at_;
    return number(true);
  }
  if (is("-") && is_word("inf", 1) && is("(", 2)) {
    ++at_;
    TRY(Scalar infinity, bits_call());
    infinity.expr = ScalarExpr::real(-infinity.expr.real_value(), infinity.expr.type);
    return infinity;
  }
  for (const ScalarOp op : {ScalarOp::neg, ScalarOp::bit_not, ScalarOp::logical_not}) {
    if (!accept(info(op).text)) continue;
    std::vector<Scalar> args(1);
    TRY(args[0], prefix(inputs));
    return make(op, std::move(args));
  }
  return primary(inputs);
}

Result<Parser::Scalar> Parser::number(bool negative) {
  const auto constant = parse_constant(peek().text, negative);
  if (!constant) return error("sdfg.text.number", "a number that its type does not hold");
  ++at_;
  return Scalar{.expr = *constant, .height = 1};
}

Result<Parser::Scalar> Parser::primary(Inputs& inputs) {
  if (peek().kind == TokenKind::Number) return number(false);
  if (accept("(")) {
    TRY(Scalar inner, infix(inputs, 1));
    TRY_VOID(expect(")"));
    return inner;
  }
  if (accept("{")) {
    TRY(Expr e, expr());
    TRY_VOID(expect("}"));
    TRY(const ElementType t, type());
    return Scalar{.expr = ScalarExpr::make_symbolic(e, t), .height = 1};
  }
  if (!at_name()) return syntax("a value");
  if (is("[", 1)) return inline_input(inputs);
  if (peek().kind == TokenKind::Name && is("(", 1)) return call(inputs);
  if (!inputs.inlined) {
    const auto connector = inputs.connectors.find(name_of(peek()));
    if (connector != inputs.connectors.end()) {
      ++at_;
      return Scalar{.expr = ScalarExpr::make_input(connector->second.first, connector->second.second), .height = 1};
    }
  }
  if (is_word("true") || is_word("false")) {
    const bool value = accept_word("true");
    if (!value) accept_word("false");
    return Scalar{.expr = ScalarExpr::integer(value, ElementType::boolean), .height = 1};
  }
  if (inputs.inlined) return syntax("a value (a scalar container is written x[], a symbol {n}i64)");
  return error("sdfg.text.unknown-connector",
               "an input connector that the tasklet does not declare, or not with a type");
}

Result<Parser::Scalar> Parser::inline_input(Inputs& inputs) {
  if (!inputs.inlined) return error("sdfg.text.syntax", "a tasklet reads its connectors, not containers");
  const auto declared = types_.find(name_of(peek()));
  if (declared == types_.end()) return error("sdfg.text.unknown-container", "a container that is not declared");
  const std::size_t start = at_;
  TRY(Memlet m, memlet());
  if (m.combine) {
    at_ = start;
    return error("sdfg.text.syntax", "an input does not combine");
  }
  const auto [known, added] = inputs.known.emplace(memlet_key(m), static_cast<int>(inputs.memlets.size()));
  if (added) inputs.memlets.push_back(std::move(m));
  return Scalar{.expr = ScalarExpr::make_input(known->second, declared->second), .height = 1};
}

// input(k, type)
Result<Parser::Scalar> Parser::raw_input(Inputs& inputs) {
  at_ += 2;
  inputs.raw = true;
  TRY(const int index, small_integer());
  TRY_VOID(expect(","));
  TRY(const ElementType t, type());
  TRY_VOID(expect(")"));
  return Scalar{.expr = ScalarExpr::make_input(index, t), .height = 1};
}

// inf(type), nan(type), bits(type, 0x…)
Result<Parser::Scalar> Parser::bits_call() {
  const std::string word(peek().text);
  at_ += 2;
  const Token at_type = peek();
  TRY(const ElementType t, type());
  Scalar result;
  if (word == "bits") {
    TRY_VOID(expect(","));
    const auto bits = peek().kind == TokenKind::Number ? parse_unsigned(peek().text) : std::nullopt;
    if (!bits) return error("sdfg.text.number", "not the bits of a value");
    ++at_;
    result.expr = {.op = ScalarOp::constant, .type = t, .args = {}, .input = 0, .bits = *bits, .symbolic = {}};
  } else {
    if (!is_float(t)) return source_.error("sdfg.text.number", word + " is of type f32 or f64", at_type.offset);
    result.expr = ScalarExpr::real(word == "inf" ? __builtin_inf() : __builtin_nan(""), t);
  }
  TRY_VOID(expect(")"));
  return result;
}

// f64(x), typed(f64, x), sqrt(x), select(c, x, y) …
Result<Parser::Scalar> Parser::call(Inputs& inputs) {
  const std::string_view word = peek().text;
  if (word == "input") return raw_input(inputs);
  if (word == "bits" || word == "inf" || word == "nan") return bits_call();
  if (word == "typed") {
    at_ += 2;
    TRY(const ElementType t, type());
    TRY_VOID(expect(","));
    TRY(Scalar inner, infix(inputs, 1));
    TRY_VOID(expect(")"));
    inner.expr.type = t;
    return inner;
  }
  std::optional<ScalarOp> op;
#define X(e, text, arity, form, ...) \
  if (OpForm::form == OpForm::Call && ScalarOp::e != ScalarOp::cast && word == text) op = ScalarOp::e;
  SOUS_SCALAR_OPS(X)
#undef X
  const auto cast_to = parse_type(word);
  if (cast_to) op = ScalarOp::cast;
  if (!op) return error("sdfg.text.unknown-function", "an unknown function");
  at_ += 2;
  std::vector<Scalar> args;
  while (static_cast<int>(args.size()) < info(*op).arity) {
    if (!args.empty()) TRY_VOID(expect(","));
    TRY(Scalar arg, infix(inputs, 1));
    args.push_back(std::move(arg));
  }
  TRY_VOID(expect(")"));
  TRY(Scalar result, make(*op, std::move(args)));
  if (cast_to) result.expr.type = *cast_to;
  return result;
}

// The inputs of the expression just read: those met in it, or where it used input(k, type), "with (A[i], B[0:n])".
Result<std::vector<Memlet>> Parser::input_list(Inputs& inputs) {
  if (!is_word("with") || !is("(", 1)) {
    if (inputs.raw) return syntax("with (…): the memlets that input(…) names");
    return std::move(inputs.memlets);
  }
  if (!inputs.memlets.empty()) return error("sdfg.text.syntax", "inputs are written in place or behind with, not both");
  at_ += 2;
  std::vector<Memlet> memlets;
  while (!is(")")) {
    if (!memlets.empty()) TRY_VOID(expect(","));
    TRY(Memlet m, memlet());
    memlets.push_back(std::move(m));
  }
  TRY_VOID(expect(")"));
  return memlets;
}

}  // namespace sous::sdfg
