// What a statement computes, weighted: a sum, a product or a comparison is one; storing the result is one, too.
#pragma once

#include "sdfg/scalar_expr.h"

namespace sous::tuning_db {

struct Cost {
  double all = 1;
  double special = 0;  // of all, divisions, roots and the like
};

// `code` may be null.
Cost cost_of(const sdfg::ScalarExpr* code);
// As compilers write it: integers are divided by a constant with a multiplication and two shifts. (The gain model was
// trained on the simpler one.)
Cost compiled_cost_of(const sdfg::ScalarExpr* code);

}  // namespace sous::tuning_db
