// The properties themselves: what a case is held against.
#pragma once

#include "sdfg/dependences.h"
#include "tests/property/property.h"

namespace sous::tests {

// Text and JSON are lossless, and `check` accepts.
std::vector<std::optional<Verdict>> judge_round_trip(const std::vector<Case>& cases);
// Every target computes what the interpreter does.
std::vector<std::optional<Verdict>> judge_compiled(const std::vector<Case>& cases);
// The one that the recipe names does.
std::vector<std::optional<Verdict>> judge_compiled_for_target(const std::vector<Case>& cases);
// The nest with the recipe applied (if it is not refused) is valid and computes the same, interpreted and compiled for
// the recipe's target.
std::vector<std::optional<Verdict>> judge_recipe(const std::vector<Case>& cases);
// So does the normal form.
std::vector<std::optional<Verdict>> judge_normal_form(const std::vector<Case>& cases);

// Flags under which a case's recipe is applied.
bool may_reassociate(const Case& c);

}  // namespace sous::tests
