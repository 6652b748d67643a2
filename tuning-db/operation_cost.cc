#include "tuning-db/operation_cost.h"

namespace sous::tuning_db {
namespace {

double cost(sdfg::OpKind kind) {
  using sdfg::OpKind;
  switch (kind) {
    case OpKind::Free:
    case OpKind::Constant:
      return 0;
    case OpKind::Add:
    case OpKind::Mul:
    case OpKind::MinMax:
    case OpKind::Compare:
    case OpKind::Rounding:
    case OpKind::Bitwise:
    case OpKind::Cast:
    case OpKind::Fma:
      return 1;
    case OpKind::Div:
    case OpKind::Root:
      return 8;
    case OpKind::Exponential:
    case OpKind::Trigonometric:
      return 20;
  }
  __builtin_unreachable();
}

}  // namespace

Cost cost_of(const sdfg::ScalarExpr* code) {
  Cost result;
  if (code == nullptr) return result;
  code->visit([&](const sdfg::ScalarExpr& e) {
    const double one = cost(info(e.op).kind);
    result.all += one;
    if (one > 1) result.special += one;
  });
  return result;
}

Cost compiled_cost_of(const sdfg::ScalarExpr* code) {
  constexpr double by_constant = 3;
  Cost result = cost_of(code);
  if (code == nullptr) return result;
  code->visit([&](const sdfg::ScalarExpr& e) {
    const sdfg::OpKind kind = info(e.op).kind;
    if (kind != sdfg::OpKind::Div || !sdfg::is_integer(e.type) || e.args[1].op != sdfg::ScalarOp::constant) return;
    result.special -= cost(kind);
    result.all -= cost(kind) - by_constant;
  });
  return result;
}

}  // namespace sous::tuning_db
