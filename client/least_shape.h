// From which shape on a prediction holds that was made for sizes which nobody said.
#pragma once

#include <cstdint>
#include <functional>

#include "client/sized.h"
#include "transforms/source.h"

namespace sous::client {

// What a gain is known for: loops that are all long; as much work, whichever loops do it; or the shape alone.
enum class Needs : std::uint8_t { LongLoops, Work, Shape };

// Writes into the evidence what it is of: a nest at sizes at which it takes so many seconds, and gains.
void set_shape(transforms::Evidence& evidence, const sdfg::Sdfg& nest, const Sizes& sizes, double seconds, double gain);

// Writes into the evidence from which extents on, and from how much work on, the prediction `holds`, as it does where
// what is open is `lowest`, or, where work is what it needs, for other shapes with as much to do. `sized` is of the
// nest. Nothing where no size is open. False: nobody can say from where on.
bool set_least_shape(transforms::Evidence& evidence, const sdfg::Sdfg& nest, const Sized& sized, std::int64_t lowest,
                     Needs needs, const std::function<bool(const Sizes&)>& holds);

}  // namespace sous::client
