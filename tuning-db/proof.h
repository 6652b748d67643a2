// Whether an entry from outside may be kept: its nest is a normal form, and its recipe is legal for it. (Clients prove
// a recipe on the nest at hand in any case: what could never be used shall take no place.)
#pragma once

#include "sdfg/result.h"
#include "tuning-db/entry.h"

namespace sous::tuning_db {

// Takes 30 ms, half a second at most for what the seeds hold, and seconds for what is made to take long. Errors:
// entry.size (too deep, too many nodes), entry.normal-form (made
// again, the nest is another), entry.field (nothing was measured), the refusal of the step that is not legal.
Result<void> prove(const Entry& entry);

// Of a nest that a stranger sent. Error: entry.size.
Result<void> is_small(const sdfg::Sdfg& nest);

}  // namespace sous::tuning_db
