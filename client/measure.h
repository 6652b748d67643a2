// Measuring on the spot (--measure): a unit of a nest with a recipe against the better of the nest as lifted and in
// normal form, all generated, in one program that fills the arguments with tame random data and runs them in turn. Of a
// unit that is one of several the clock is stopped while the others run.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "client/inputs.h"
#include "client/nest.h"
#include "client/pipeline.h"
#include "targets/target.h"
#include "tuning-db/entry.h"

namespace sous::client {

// How often a pair of runs is made, on what, and what ends it.
struct Pace {
  int most = 7;
  bool until_decided = false;  // fewer, where the runs made leave no doubt (`decided`)
  double limit_seconds = 0;    // of one run of either program; 0: none
  const std::atomic<bool>* stop = nullptr;
  Inputs inputs = Inputs::Tame;
};
// Whether more pairs would change nothing about which is faster: two where they are more than twice apart, three where
// they are more than a third apart, every run on its side, and those of a side within a quarter of each other.
bool decided(const std::vector<double>& baseline, const std::vector<double>& tuned);

// Median and half the interquartile range relative to it.
struct Timing {
  double median = 0, spread = 0;
};
Timing summarize(std::vector<double> values);

// Errors: measure.sizes (a size is not known: give --size), measure.gather (`takes`), measure.rest (nothing is left for
// the unit), measure.build, measure.run, measure.differs (the results are not the original's, and no reassociation was
// allowed).
Result<transforms::Evidence> measure_on_the_spot(const PreparedNest& nest, const Choice& choice, const Pace& pace);
// Only how long the nest takes with the recipe: the median, in seconds. The same errors.
Result<double> time_on_the_spot(const PreparedNest& nest, const Choice& choice, const Pace& pace);
// The same with the recipes of several units at once; the whole nest is timed. More errors: target.mixed, sdfg.* (never
// expected).
Result<Timing> time_together(const PreparedNest& nest, const std::vector<Choice>& choices, const Pace& pace);
// The measurement as an entry of the database.
tuning_db::Entry entry_of(const PreparedNest& nest, const Choice& choice, const transforms::Evidence& evidence,
                          const std::string& name, const std::string& provenance);
// What the provenance says of a unit that is one of several: ", the unit by itself", or nothing.
std::string by_itself(const Unit& unit);
// "2026-01-31T12:00:00Z", now.
std::string utc_now();
std::string joined(const std::vector<std::string>& words);

// Threads that the target's code runs on when it is measured: $OMP_NUM_THREADS or all cores, or 1.
int threads_of(const sdfg::Sdfg& sdfg, const targets::Target& target);

}  // namespace sous::client
