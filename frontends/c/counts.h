// Counts under conditions, beside what else the condition decides.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::frontends::c {

// if (c) { n++; S }   is   n += c; if (c) { S }   for an integer that neither c nor S looks at: threads may then each
// count for themselves, whatever S is. Takes such counts out of `body`, which runs where the test holds, and gives them
// as they are before it; none where asking twice takes long, unless one count is all that depends on it
// (`is_asked_once`). `is_own`: nobody else, the other arm neither, sees a store to the container that the program does
// not make.
std::vector<sdfg::State> take_counts(const sdfg::ScalarExpr& test, const std::vector<sdfg::Memlet>& inputs,
                                     sdfg::Region& body, bool is_asked_once,
                                     const std::function<bool(const std::string&)>& is_own);

}  // namespace sous::frontends::c
