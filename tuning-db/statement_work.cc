#include "tuning-db/statement_work.h"

#include <bit>
#include <cmath>

#include "tuning-db/operation_cost.h"

namespace sous::tuning_db {
namespace {

template <class Holds>
bool any_operation(const StatementFact& s, const Holds& holds) {
  bool found = false;
  if (s.code != nullptr) s.code->visit([&](const sdfg::ScalarExpr& e) { found = found || holds(e); });
  return found;
}

bool is_power_of_two(const sdfg::ScalarExpr& e) {
  return e.op == sdfg::ScalarOp::constant && e.integer_value() > 0 &&
         std::has_single_bit(static_cast<std::uint64_t>(e.integer_value()));
}

}  // namespace

double weight(const StatementFact& s) {
  return s.executions * std::pow(some_iterations, s.whiles) * cost_of(s.code).all;
}

bool calls_library(const StatementFact& s) {
  return any_operation(s, [](const sdfg::ScalarExpr& e) {
    using enum sdfg::OpKind;
    const sdfg::OpInfo& op = sdfg::info(e.op);
    return op.kind == Exponential || op.kind == Trigonometric || (op.form == sdfg::OpForm::Call && op.kind == Div) ||
           (op.kind == Root && e.op != sdfg::ScalarOp::sqrt);
  });
}

bool runs_one_by_one(const StatementFact& s) {
  return calls_library(s) || any_operation(s, [](const sdfg::ScalarExpr& e) {
           using enum sdfg::ScalarOp;
           if (!sdfg::is_integer(e.type)) return false;
           if (e.op == div || e.op == rem) return !is_power_of_two(e.args[1]);
           return (e.op == shl || e.op == shr) && e.args[1].op != constant;
         });
}

}  // namespace sous::tuning_db
