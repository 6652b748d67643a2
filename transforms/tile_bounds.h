// Bounds of tiles: minima without superfluous pieces, and what of a loop's end a tile can really cross.
#pragma once

#include <optional>
#include <vector>

#include "sdfg/points.h"

namespace sous::transforms {

// The loop takes the value of its symbol.
std::vector<sdfg::ScalarExpr> runs(const sdfg::ScheduleLoop& loop);
// The same value, without the pieces of the minimum that another one makes superfluous: min(n, n + 7) is n.
sdfg::Expr simplest(const sdfg::Expr& e);
// low <= high as conditions piece by piece, without what holds anyway.
std::vector<sdfg::ScalarExpr> needed_at_most(const sdfg::Expr& low, const sdfg::Expr& high);
// All of them; true if there are none.
sdfg::ScalarExpr all_of(const std::vector<sdfg::ScalarExpr>& conditions);
// What of `end` a tile of a loop that is cut from `begin` on, `size` iterations each, can cross: not a piece that is a
// whole number of tiles behind the begin. nullopt: no tile is ever partial.
std::optional<sdfg::Expr> crossed(const sdfg::Expr& end, const sdfg::Expr& begin, std::int64_t size);

// The begin of tiles of `width`, moved down so that it is always a whole number of tiles behind its least value in the
// loops `around` (outermost first): tiles then begin at the same places in all their iterations.
sdfg::Expr aligned(const sdfg::Expr& begin, std::int64_t width, const std::vector<sdfg::ScheduleLoop>& around);
// The greatest value of `extent` in the iterations of these loops, over parameters alone; a constant where there is
// one.
std::optional<sdfg::Expr> bounded(const sdfg::Expr& extent, const std::vector<sdfg::ScheduleLoop>& loops);
// The least (greatest) value over all iterations of these loops, outermost first.
std::optional<sdfg::Expr> least_of_all(sdfg::Expr e, const std::vector<sdfg::ScheduleLoop>& loops);
std::optional<sdfg::Expr> greatest_of_all(sdfg::Expr e, const std::vector<sdfg::ScheduleLoop>& loops);

}  // namespace sous::transforms
