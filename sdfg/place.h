// Where an element lies in its container.
#pragma once

#include "sdfg/sdfg.h"

namespace sous::sdfg {

// From the container's base, in elements.
inline Expr place_of(const Container& container, const Subset& subscript) {
  Expr place = container.offset;
  for (std::size_t d = 0; d < subscript.size(); ++d) place = place + subscript[d] * container.strides[d];
  return place;
}

}  // namespace sous::sdfg
