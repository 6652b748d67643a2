// Which values integer variables have where subscripts read them, followed from statement to statement through clamps
// (`v < 0 ? 0 : v`, `if (v >= n) v = n - 1`), conditions, sums and remainders.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "frontends/c/ranges.h"

namespace sous::frontends::c {

// Between which values the elements of a container always are; nullopt: nobody knows.
using ElementValues = std::function<std::optional<Interval>(const std::string& container)>;

// For variables of the graph's own that symbolic expressions read, a range (of a symbol that nothing else has) over
// parameters that holds wherever one does. Not there: no such range is known.
std::map<std::string, Range> values_read(const sdfg::Sdfg& sdfg, const Ranges& ranges, const ElementValues& elements);

}  // namespace sous::frontends::c
