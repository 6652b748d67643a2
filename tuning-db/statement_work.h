// What a statement of a nest is worth beside the others, where it is asked what most of them do.
#pragma once

#include "tuning-db/nest_facts.h"

namespace sous::tuning_db {

// Of the work: most of it.
inline constexpr double most_of_all = 0.9;
// A loop that ends when the data say so counts as so many iterations.
inline constexpr double some_iterations = 8;

// Its operations (operation_cost.h), as often as it runs.
double weight(const StatementFact& s);
// Whether it calls the library's functions, which take longer than what a statement waits for, and run one by one in
// lanes too (but for some with -ffast-math, where no sum is waited for).
bool calls_library(const StatementFact& s);
// Whether it does what vectors do lane by lane: such calls, quotients of integers but by a power of two, and shifts by
// what is not a constant.
bool runs_one_by_one(const StatementFact& s);

}  // namespace sous::tuning_db
