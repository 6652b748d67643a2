// What the program itself asks of a core, beside what its normal form and recipes for that ask: a recipe that gains
// against the normal form must gain against the program.
#pragma once

#include <optional>

#include "client/nest.h"
#include "client/sized.h"
#include "sdfg/data_ends.h"
#include "tuning-db/schedule_features.h"

namespace sous::client {

// Whether the front end has taken loops apart at the seam of a ring (frontends/c/seams.cc): in the program each
// subscript there is a remainder or a choice.
bool has_seams(const PreparedNest& nest);
// Of which loops the program's compiler makes vectors: of none with seams.
tuning_db::Vectors compilers_vectors(const PreparedNest& nest);

// The nest must outlive it. What takes long is found out once, when it is asked for.
class ProgramLoad {
 public:
  ProgramLoad(const PreparedNest& nest, int threads)
      : nest_(nest), threads_(threads), program_(sdfg::without_ends(nest.lifted->sdfg)) {}

  const sdfg::Sdfg& program() const { return program_; }
  const Sizes& usual() const { return whole().usual(); }
  bool computes() const { return whole().threads() > 1 && tuning_db::computes(apart()); }

  // Whether the nest's parts, apart, bring from memory what the program brings once, where memory is what it waits for:
  // what a part gains by itself then says little of the whole.
  bool apart_reads_more() const;
  // Whether the parts, one after the other, wait for sums that the program adds up beside each other.
  bool apart_waits_more() const;
  // What the normal form takes apart needs arrays, which a recipe for the whole should have spared again, and sums that
  // overlap in the program are waited for one after the other.
  bool brings_little_more(const tuning_db::CoreLoad& applied) const;
  // Whether a recipe for the whole that brings little more may ask enough of a core for threads to pay (without
  // vectors, if it is `in_waves`).
  bool may_be_long(bool in_waves) const;
  // Whether the normal form updates in memory, under conditions, what the program holds in registers.
  bool updates_in_memory(const sdfg::Sdfg& recipes, const Sizes& sizes) const;
  // Whether a recipe for the whole asks conditions that the program asks once again for each of the parts that the
  // normal form took from under them.
  bool asks_again(const sdfg::Sdfg& recipes, const Sizes& sizes) const;
  // Measured against a compiler that had to keep the order of sums, a recipe for the unit gains so much more than
  // here: with leave to change it the compiler fills these lanes with what the program waits for in order.
  double lanes_of_sums(const sdfg::Sdfg& unit) const;
  // Whether most of what it does is sums of integers, of which its compiler makes vectors.
  bool adds_integers() const;
  // What the unit waits for in the program, at the usual sizes, or where these are its own: short sums are not waited
  // for. Most of any part of the program that is as large waits for that; of less than most of the program it counts
  // only if the parts, one after the other, take about as long as it does.
  tuning_db::Waits waits(const Unit& unit) const;
  tuning_db::Waits waits(const Unit& unit, const Sizes& sizes) const;
  // Whether each iteration of innermost loops waits for the one before, where the program's do not: the normal form has
  // brought the loop inside that goes over the same elements again. What the program computes
  // for a chain alone counts as part of it, unless threads may have loops in the program's own order, which needs no
  // arrays (PreparedNest::written).
  bool makes_chains(const sdfg::Sdfg& recipes, const Sizes& sizes) const;

 private:
  const Sized& whole() const;
  // The unit's share of the work, by statements or by operations, whichever is less; 1: it is most of it.
  double part(const Unit& unit) const;
  bool has_threads_as_written() const;
  tuning_db::Waits waits_at(const Unit& unit, const Sizes& sizes) const;
  const tuning_db::CoreLoad& together() const;
  const tuning_db::CoreLoad& apart() const;

  const PreparedNest& nest_;
  const int threads_;
  const sdfg::Sdfg program_;
  mutable std::optional<Sized> whole_;
  mutable std::optional<bool> adds_integers_;
  mutable std::optional<tuning_db::CoreLoad> together_, apart_;
  mutable std::optional<bool> threads_as_written_;
  mutable std::optional<bool> fills_lanes_;  // the compiler, with sums that the program waits for
};

}  // namespace sous::client
