// What a piece of a nest reads and never writes, as a step sees it that wants to read it from somewhere else: each read
// with the loops and guards around it, and with the part of the statement's expression that could be computed ahead.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "transforms/footprints.h"

namespace sous::transforms {

// Whether this operation (apart from its arguments) may be computed where the source does not: it never fails.
bool is_total(const sdfg::ScalarExpr& e);
// Whether that is so of the whole expression, given its inputs.
bool never_fails(const sdfg::ScalarExpr& e);

// A value that a statement reads: `value` is a part of its code (over its inputs), with one input that is an element of
// `element.container`; everything else in it has the same value in all iterations inside.
struct Operand {
  std::string state;
  sdfg::ScalarExpr value;  // over the statement's inputs
  sdfg::Memlet element;
  std::vector<sdfg::Memlet> others;  // the invariant inputs, in order of first use
  sdfg::ScalarExpr code;             // `value` with the element as input 0 and others[k] as input k + 1
  Around around;                     // the statement, below `loop`
  // The elements that are read, in all iterations of the loops.
  sdfg::Points elements() const;
  // Something inside the loop writes elements of its container, under this name: whether this one, is to be proven.
  bool is_container_written = false;

  const sdfg::ScheduleLoop* loop(const std::string& symbol) const;
  // The extremes of `e` over the loops, as expressions over what is outside them, and over those that are `kept`.
  std::optional<sdfg::Expr> least(const sdfg::Expr& e, const std::map<std::string, sdfg::Expr>& kept = {}) const;
  std::optional<sdfg::Expr> greatest(const sdfg::Expr& e, const std::map<std::string, sdfg::Expr>& kept = {}) const;
};

// All operands of plain statements inside `loop` whose subscripts are quasi-affine and whose containers nothing inside
// may write under another name. With `fold`, `value` grows as long as what joins it is invariant inside `loop`: alpha *
// A(i, k) for A(i, k). Statements under conditions or bounds that depend on data are left out.
std::vector<Operand> operands(const sdfg::Sdfg& sdfg, const sdfg::Loop& loop, bool fold);

// The statement with every `from` in its code replaced by the element `to`; a part of what another one replaces is left
// to that one.
struct Replacement {
  sdfg::ScalarExpr from;  // over the statement's inputs
  sdfg::Memlet to;
};
sdfg::State replaced(const sdfg::State& state, const std::vector<Replacement>& with);

}  // namespace sous::transforms
