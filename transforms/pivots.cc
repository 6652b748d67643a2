#include "transforms/pivots.h"

#include <algorithm>

#include "transforms/normal/util.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Memlet;
using sdfg::ScalarExpr;

Memlet PivotUpdate::at(const Expr& row, const Expr& column) const {
  sdfg::Subset subset;
  for (const Expr& d : own) subset.push_back(d.substitute({{rows, row}, {columns, column}}));
  return sdfg::element(array, subset);
}

namespace {

// The only loop in the region, if it is a plain one.
const Loop* only_loop(const sdfg::Region& region) {
  return region.nodes.size() == 1 ? std::get_if<Loop>(&region.nodes[0].value) : nullptr;
}
bool is_plain(const Loop& loop) {
  return loop.step == 1 && std::holds_alternative<sdfg::Sequential>(loop.schedule) && loop.privates.empty() &&
         loop.reductions.empty();
}

// What the node computes of which element. One that is written under a condition gets its own value where that does not
// hold.
std::optional<sdfg::Assignment> update_of(const sdfg::Node& node) {
  if (auto plain = normal::assignment_of(node)) return plain;
  const auto* branch = std::get_if<sdfg::If>(&node.value);
  if (branch == nullptr || branch->then_body.nodes.size() != 1 || !branch->else_body.nodes.empty()) return std::nullopt;
  auto result = normal::assignment_of(branch->then_body.nodes[0]);
  if (!result || result->out.combine) return std::nullopt;
  const auto first = static_cast<int>(result->inputs.size());
  const ScalarExpr condition = branch->condition.code.map_inputs(
      [&](const ScalarExpr& input) { return ScalarExpr::make_input(first + input.input, input.type); });
  result->inputs.insert(result->inputs.end(), branch->condition.inputs.begin(), branch->condition.inputs.end());
  result->code = ScalarExpr::select(condition, result->code,
                                    ScalarExpr::make_input(static_cast<int>(result->inputs.size()), result->code.type));
  result->inputs.push_back(result->out);
  return result;
}

class Reader {
 public:
  Reader(const sdfg::Sdfg& sdfg, const Loop& pivots) : sdfg_(sdfg), pivots_(pivots) {}

  Result<PivotUpdate> run() {
    const Loop* rows = only_loop(pivots_.body);
    const Loop* columns = rows != nullptr ? only_loop(rows->body) : nullptr;
    if (columns == nullptr || !is_plain(pivots_) || !is_plain(*rows) || !is_plain(*columns) ||
        columns->body.nodes.size() != 1)
      return no_body();
    const auto what = update_of(columns->body.nodes[0]);
    if (!what || what->out.combine || what->code.type != sdfg_.find(what->out.container)->type) return no_body();
    result_.array = what->out.container;
    result_.pivots = pivots_.symbol;
    result_.rows = rows->symbol;
    result_.columns = columns->symbol;
    result_.own = what->out.subset;
    result_.code = what->code;
    TRY_VOID(bounds(*rows, *columns));
    TRY_VOID(own_element());
    TRY_VOID(apart());
    result_.state = result_.array;
    for (const Memlet& input : what->inputs) TRY_VOID(classify(input));
    return result_;
  }

 private:
  std::unexpected<Error> no_body() const {
    return fail("block-pivots.body", "it is not one assignment in three plain loops", pivots_.symbol);
  }
  bool varies(const Expr& e) const {
    return e.uses(result_.pivots) || e.uses(result_.rows) || e.uses(result_.columns) || !e.reads().empty();
  }

  Result<void> bounds(const Loop& rows, const Loop& columns) {
    result_.begin = pivots_.begin;
    result_.end_pivots = pivots_.end;
    result_.end_rows = rows.end;
    result_.end_columns = columns.end;
    for (const Loop* l : {&rows, &columns}) {
      if (varies(l->begin) || varies(l->end))
        return fail("block-pivots.bounds", "the bounds of loop " + l->symbol + " move", l->symbol);
      if (l->begin != pivots_.begin || (l->end - pivots_.end).constant().value_or(-1) < 0)
        return fail("block-pivots.bounds", "not each pivot is known to be among the iterations of loop " + l->symbol,
                    l->symbol);
    }
    if (varies(pivots_.begin) || varies(pivots_.end))
      return fail("block-pivots.bounds", "the bounds of loop " + pivots_.symbol + " move", pivots_.symbol);
    // The copies of rows and columns have room for all of them, whatever runs around them.
    for (const Expr& e : {result_.begin, result_.end_pivots, result_.end_rows, result_.end_columns})
      for (const std::string& symbol : e.symbols())
        if (std::ranges::find(sdfg_.symbols, symbol) == sdfg_.symbols.end())
          return fail("block-pivots.bounds", "the bounds of loop " + pivots_.symbol + " depend on a loop around it",
                      pivots_.symbol);
    return {};
  }

  // One dimension goes along the rows, another one along the columns; no two iterations have the same element.
  Result<void> own_element() const {
    int along_rows = 0, along_columns = 0;
    for (const Expr& d : result_.own) {
      const bool row = !varies(d - Expr::symbol(result_.rows)), column = !varies(d - Expr::symbol(result_.columns));
      along_rows += row ? 1 : 0;
      along_columns += column ? 1 : 0;
      if (!row && !column && varies(d))
        return fail("block-pivots.subscripts", "a subscript of what is written is neither a row nor a column",
                    result_.array);
    }
    if (along_rows != 1 || along_columns != 1)
      return fail("block-pivots.subscripts", "what is written is no element of a row and a column", result_.array);
    return {};
  }

  Result<void> apart() const {
    const sdfg::Touched touched = sdfg::touched(pivots_.body);
    for (const std::string& other : touched.read)
      if (other != result_.array && normal::may_overlap(sdfg_, result_.array, other))
        return fail("block-pivots.alias", "'" + result_.array + "' and '" + other + "' may be the same memory", other);
    if (normal::exprs_read(pivots_.body, [&](const std::string& read) { return read == result_.array; }))
      return fail("block-pivots.subscripts", "a subscript is read from what the loop writes", result_.array);
    return {};
  }

  Result<void> classify(const Memlet& input) {
    const Expr row = Expr::symbol(result_.rows), column = Expr::symbol(result_.columns),
               pivot = Expr::symbol(result_.pivots);
    auto kind = PivotUpdate::Of::Other;
    if (input.container == result_.array) {
      if (input.subset == result_.own)
        kind = PivotUpdate::Of::Own;
      else if (input.subset == result_.at(row, pivot).subset)
        kind = PivotUpdate::Of::Column;
      else if (input.subset == result_.at(pivot, column).subset)
        kind = PivotUpdate::Of::Row;
      else
        return fail("block-pivots.subscripts",
                    "an element of '" + input.container +
                        "' is read that is neither itself nor in the pivot's row or "
                        "column",
                    input.container);
    }
    result_.inputs.push_back(input);
    result_.kinds.push_back(kind);
    return {};
  }

  const sdfg::Sdfg& sdfg_;
  const Loop& pivots_;
  PivotUpdate result_;
};

}  // namespace

Result<PivotUpdate> pivot_update_of(const sdfg::Sdfg& sdfg, const Loop& pivots) { return Reader(sdfg, pivots).run(); }

}  // namespace sous::transforms
