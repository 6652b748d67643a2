// Cutting nests out of a normalized Sdfg.
#pragma once

#include "transforms/normal_form.h"

namespace sous::transforms::normal {

// The nodes [first, last) of the root as an Sdfg of their own, with canonical names: only the symbols and containers
// that they touch, transients that others touch as arguments, assumptions and disjoint pairs about what is left.
NormalForm::Unit cut_out(const sdfg::Sdfg& sdfg, std::size_t first, std::size_t last);

// The whole, if it has more than one nest, then each top-level nest.
std::vector<NormalForm::Unit> units_of(const sdfg::Sdfg& sdfg);

}  // namespace sous::transforms::normal
