// Every access of a graph together with the ranges of the loops and conditions around it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontends/c/ranges.h"
#include "sdfg/sdfg.h"

namespace sous::frontends::c {

// Calls f for every memlet below with the ranges around it (`write`: it is the target of an assignment), and for every
// read inside a symbolic expression too, as a memlet.
void visit_memlets(const sdfg::Region& region,
                   const std::function<void(const sdfg::Memlet&, bool write, const Box&)>& f);
// Replaces every memlet (and every read in a symbolic expression) of `container`.
void rewrite_subscripts(sdfg::Region& region, const std::string& container,
                        const std::function<std::vector<sdfg::Expr>(const std::vector<sdfg::Expr>&, const Box&)>& f);

}  // namespace sous::frontends::c
