// Models of gains with a known opinion, and choices by them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "client/choose.h"
#include "frontends/c/lift.h"
#include "tests/unit/client/measured.h"

namespace sous::client {

// Expects nothing.
inline const tuning_db::GainModel* pessimist() {
  static const auto model = [] {
    tuning_db::GainSample sample;
    sample.gain = 0.5;
    return tuning_db::GainModel::train({sample}, {here, 2});
  }();
  return &model;
}

// Expects much, and is not sure at all: of five gains one is a loss.
inline const tuning_db::GainModel* gambler() {
  static const auto model = [] {
    std::vector<tuning_db::GainSample> samples(100);
    for (std::size_t k = 0; k < samples.size(); ++k) samples[k].gain = k % 5 == 0 ? 0.5 : 4;
    return tuning_db::GainModel::train(samples, {here, 2});
  }();
  return &model;
}

// What is chosen for the one nest of a text, as `f`, by a model that expects nothing.
inline Chosen without_expectations(const std::string& text, const std::map<std::string, std::int64_t>& sizes = {},
                                   const tuning_db::Hardware& machine = client::machine()) {
  const auto unit = frontends::c::lift("#include <math.h>\n" + text, "f.c", {});
  EXPECT_TRUE(unit);
  const auto nest = prepare(unit->nests.at(0), {}, sizes, machine);
  EXPECT_TRUE(nest);
  return choose({.nest = *nest, .gain_model = pessimist});
}

}  // namespace sous::client
