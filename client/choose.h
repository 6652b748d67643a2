// Which recipes a nest gets.
//
// A recipe is used only with evidence that it is faster: measured here, or elsewhere as far as that is believed here
// (tuning-db/belief.h), at this size class and with loops that are long enough (tuning-db/shape.h), by more than 5 %
// and more than both spreads. Where no evidence is near, what a strategy writes is used if the gain model is sure of it
// (client/predicted.h). What is not known of the sizes is asked again on entry. The entry of the whole stretch is
// preferred (it may fuse its nests) where it was measured on the same stretch, or promises at least what those of its
// nests do together: the speed-up measured, less the more the farther away it was. Where the nests' are used, every
// nest with as much work as the largest must have one; else what strategies write for the whole is used, or the
// original stays. Those with next to none get none where sizes are not known. For shapes that a recipe has no evidence
// for, a second variant is made: threads alone on the whole, where they gain. For runs with fewer threads than a recipe
// needs to gain more than what is known for one thread, that.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/nest.h"
#include "client/report.h"
#include "targets/target.h"
#include "transforms/source.h"
#include "tuning-db/gain_model.h"

namespace sous::client {

// Less of a nest's work than this cannot be felt.
inline constexpr double felt_share = 0.05;

struct Chosen {
  std::vector<UnitReport> units;  // what became of each
  std::vector<Choice> choices;    // empty: the original stays
  std::string why;                // one line, either way
  double expected_ratio = 0;      // the least of the choices; 0: unknown
  // What the run must bring (targets/target.h): its shape, where sizes are not known now; threads.
  std::vector<targets::Guard> guards;
  // Where some guards hold and others do not, how much those which hold must save of all the work for the nest to run,
  // each part as chosen or as it was (client/partly.h); 0: all must hold.
  double least_saved = 0;
  // What runs where the guards do not hold or threads are too few, one after the other, at most three; then the
  // original.
  std::vector<Chosen> otherwise;
  // Of choices for a GPU: what decides on each call, and what is asked where it declines, at most one for the CPU.
  std::optional<targets::Offer> offer = {};
  std::vector<Chosen> beside = {};
  int threads = 0;        // the most of the choices
  int least_threads = 1;  // those that the gains need
};

// A measurement on the spot of a choice against the original; null: none is made.
using Measure = std::function<Result<transforms::Evidence>(const PreparedNest&, const Choice&)>;

struct Question {
  const PreparedNest& nest;  // its units with their matches
  std::string target = {};   // instead of the recipes' own
  std::string unit = {};     // the only one that a forced recipe is for
  Measure measure = {};      // what has no evidence
  // Asked for when a neighbour's recipe is judged, and for what strategies write. Null: neither is done.
  tuning_db::FindGainModel gain_model = nullptr;
  bool other_shapes = true;  // Chosen::otherwise is asked for
  bool cpu_only = false;     // no recipe for a GPU is taken
  bool tells_all = true;     // of every unit what became of it, whether or not that can change anything
};

Chosen choose(const Question& question);

// A recipe that is used wherever it applies: in the hottest nest and in all others that it fits, or, where it does not
// fit the hottest, in the whole.
Chosen force(const Question& question, const transforms::Recipe& recipe);

// Of the nest's units, before anything is asked.
std::vector<UnitReport> unit_reports(const PreparedNest& nest);
UnitReport unit_report(const Unit& unit);

}  // namespace sous::client
