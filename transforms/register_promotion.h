// A tile of a result held in registers while the loops inside it run: scalar replacement (Callahan, Carr and Kennedy
// 1990) of a tile's elements.
//
// Condition: inside these loops every write to such a container has one and the same subscript, free of them, and every
// read has that one or surely another element than any of the tile's; so an element of the tile is touched through this
// subscript only (containers that may share memory with it are refused), and the tile before and after the loop is the
// container's own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sdfg/surroundings.h"
#include "transforms/padded_tile.h"

namespace sous::transforms {

struct ResultTile {
  std::string a, b, tile;                  // symbols: the loops inside the sums, and the loop over tiles around these
  std::vector<std::string> sums;           // symbols of loops directly inside each other, outermost first
  sdfg::Surroundings points;               // around the sums of a full tile
  std::vector<sdfg::ScheduleLoop> inside;  // sums, a, b
  std::vector<sdfg::Expr> shape;
  std::optional<PaddedTile> padded;
};

// The loops directly inside of `loop`, each the only thing in the one before.
std::vector<const sdfg::ScheduleLoop*> loops_inside(const sdfg::ScheduleLoop& loop);

// A loop that reduces an array keeps partial results of it: only x = x op e may touch those, and neither the loads nor
// the stores of a tile are that. `body`: statements. Errors: register-tile.reduced.
Result<void> no_reduction_around(const Nest& nest, const std::string& outermost, const sdfg::ScheduleTree& body);

// Puts what the tile writes into registers. Errors: register-tile.not-invariant.
Result<void> hold_in_registers(sdfg::Sdfg& sdfg, const ResultTile& tile);

}  // namespace sous::transforms
