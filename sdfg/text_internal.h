// Pieces of the text form that the other written forms (JSON, pictures) and the checks use.
#pragma once

#include <string>
#include <string_view>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

std::string expr_text(const Expr& e);                 // as to_string; the invalid expression is "!overflow"
std::string storage_text(Storage storage);            // "stack"
std::string memlet_text(const Memlet& m);             // "A[i, 0] combine +"
std::string dataflow_text(const DataflowNode& node);  // "access A", "tasklet (a: f64) a * 2.0"
std::string schedule_text(const Schedule& schedule);  // "parallel(threads=2)"; empty for sequential
std::string loop_text(const Loop& loop);              // "loop i = 0 .. n private(t)"
std::string condition_text(const Condition& condition, const Sdfg& context);

// As parse_expr of text.h, where many texts share one budget: `work` counts what was spent so far.
Result<Expr> parse_expr(std::string_view text, std::size_t& work);

}  // namespace sous::sdfg
