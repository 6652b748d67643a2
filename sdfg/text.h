// The .sdfg text form: lossless, versioned by its first line, print(parse(print(x))) == print(x).
#pragma once

#include <string>
#include <string_view>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

std::string print(const Sdfg& sdfg);
std::string print(const Region& region, const Sdfg& context, int indent = 0);  // a part of it, for reports

// Errors: sdfg.text.*, `where` is "file:line:column", `why` ends with the source line and a caret under the column.
// Accepts at most 1 MiB of text and a nesting of 200.
Result<Sdfg> parse(std::string_view text, std::string_view file = "<sdfg>");

// Only an expression, in the same syntax (no reads of containers unknown to anyone are refused here).
Result<Expr> parse_expr(std::string_view text);

}  // namespace sous::sdfg
