// The normal form: different ways to write one computation become one nest, so that one recipe serves all of them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sdfg/dependences.h"
#include "sdfg/sdfg.h"

namespace sous::transforms {

struct NormalForm {
  // Equivalent to the input, argument order and names of arguments kept; loops from 0 in steps of 1, temporaries
  // forwarded or expanded, folded, fissioned, permuted to small strides.
  sdfg::Sdfg sdfg;
  // The parts of `sdfg` that get recipes of their own: [first, last) nodes of the root region. First the whole, if it
  // has more than one nest (recipes that fuse nests fit only that), then every top-level nest.
  struct Unit {
    std::size_t first = 0, last = 0;
    sdfg::Sdfg nest;              // cut out, canonical names
    std::string structural_hash;  // of `nest`: 32 hex digits; the same for the same computation, whatever the names
    sdfg::Renaming to_original;   // canonical names -> names in `sdfg`
  };
  std::vector<Unit> units;
  std::vector<std::string> log;  // what was done, for --explain and --dump-after
};

// The nest in the order that the program has, as one unit: one assignment a state, loops from 0 in steps of 1, nothing
// else changed. For recipes that leave all else as it is.
struct AsWritten {
  sdfg::Sdfg sdfg;
  NormalForm::Unit unit;  // all of it
};

struct NormalFormOptions {
  bool reassociate = false;  // -ffast-math or the like
  sdfg::Budget budget;
};

// Errors: isl.budget never fails it (the pass is skipped and logged); a malformed input is check's error.
Result<NormalForm> normalize(const sdfg::Sdfg& sdfg, const NormalFormOptions& options = {});
// Errors: check's, of a malformed input.
Result<AsWritten> as_written(const sdfg::Sdfg& sdfg);

// The structural hash of a nest with canonical names: 128 bits of a fixed hash of its canonical text, in hex.
std::string structural_hash(const sdfg::Sdfg& canonical);
// Canonical names by place: loops i0… in preorder, states s0…, containers a0… and symbols n0… by first use.
std::pair<sdfg::Sdfg, sdfg::Renaming> canonical_names(const sdfg::Sdfg& sdfg);

}  // namespace sous::transforms
