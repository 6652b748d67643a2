// Scalar expressions for device compilers: what a host compiler does by its options is written out.
#include "sdfg/planted_fault.h"
#include "targets/cpp/expressions.h"
#include "targets/cpp/operators.h"

namespace sous::targets {

using sdfg::ScalarExpr;
using sdfg::ScalarOp;

namespace {

Text negated(const Text& value) { return {"-" + value.in(Binding::Primary), Binding::Other}; }

std::string typed(std::string_view function, sdfg::ElementType type) {
  return std::string(function) + "<" + std::string(sdfg::info(type).cpp) + ">";
}

// a*b or -(a*b), as compilers look for it in a sum.
struct Product {
  const ScalarExpr* code;
  bool minus;
};
std::optional<Product> product_in(const ScalarExpr& e) {
  const bool minus = e.op == ScalarOp::neg;
  const ScalarExpr& code = minus ? e.args[0] : e;
  if (code.op != ScalarOp::mul || !sdfg::is_float(code.type)) return std::nullopt;
  return Product{&code, minus};
}

}  // namespace

std::optional<Text> Expressions::device_operation(const ScalarExpr& e, const std::vector<Text>& inputs) const {
  const auto wrapped = [&](std::string_view function) -> std::optional<Text> {
    if (!sdfg::is_integer(e.type) || planted(Fault::device_integers_unwrapped)) return std::nullopt;
    return call(typed(function, e.type), {scalar(e.args[0], inputs), scalar(e.args[1], inputs)});
  };
  switch (e.op) {
    case ScalarOp::mul:
      return wrapped("wrap_mul");
    case ScalarOp::neg:
      if (!sdfg::is_integer(e.type)) return std::nullopt;
      return call(typed("wrap_sub", e.type), {{"0"}, scalar(e.args[0], inputs)});
    case ScalarOp::add:
    case ScalarOp::sub:
      break;
    default:
      return std::nullopt;
  }
  const bool minus = e.op == ScalarOp::sub;
  if (!sdfg::is_float(e.type)) return wrapped(minus ? "wrap_sub" : "wrap_add");
  if (!contracts) return std::nullopt;
  // The left product first, as compilers do.
  for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
    const auto product = product_in(e.args[k]);
    if (!product) continue;
    const Text a = scalar(product->code->args[0], inputs), b = scalar(product->code->args[1], inputs);
    const Text c = scalar(e.args[1 - k], inputs);
    const bool minus_product = product->minus != (minus && k == 1);
    return call(typed("mul_add", e.type), {minus_product ? negated(a) : a, b, minus && k == 0 ? negated(c) : c});
  }
  return std::nullopt;
}

std::optional<Text> Expressions::fused_update(sdfg::ReductionOp op, const ScalarExpr& e,
                                              const std::vector<Text>& inputs, const Text& accumulated) const {
  if (!on_device) return std::nullopt;
  if (sdfg::is_integer(e.type)) {
    if (op != sdfg::ReductionOp::sum && op != sdfg::ReductionOp::product) return std::nullopt;
    return call(typed(op == sdfg::ReductionOp::sum ? "wrap_add" : "wrap_mul", e.type),
                {accumulated, scalar(e, inputs)});
  }
  const auto product = product_in(e);
  if (!contracts || op != sdfg::ReductionOp::sum || !product) return std::nullopt;
  const Text a = scalar(product->code->args[0], inputs), b = scalar(product->code->args[1], inputs);
  return call(typed("mul_add", e.type), {product->minus ? negated(a) : a, b, accumulated});
}

}  // namespace sous::targets
