// Which values integer variables have where subscripts read them, followed from statement to statement through clamps
// (`v < 0 ? 0 : v`, `if (v >= n) v = n - 1`), conditions, integer arithmetic, and from one iteration to the next
// (`if (x[i] > x[k]) k = i`, `for (j = 0, k = m - 1; j < m; k = j++)`).
#pragma once

#include <map>
#include <string>

#include "frontends/c/ranges.h"

namespace sous::frontends::c {

// By container, and by variable of the graph's own that its subscripts read: a range (of a symbol that nothing else
// has) over parameters that holds wherever they do. Not there: no such range is known.
using ReadValues = std::map<std::string, std::map<std::string, Range>>;
// Assumptions are made only where more ranges are known by them.
ReadValues values_read(const sdfg::Sdfg& sdfg, Ranges& ranges);

}  // namespace sous::frontends::c
