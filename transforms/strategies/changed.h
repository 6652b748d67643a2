// A nest as it is after some steps, for strategies that look at it again before they write the rest.
#pragma once

#include <string>
#include <utility>

#include "transforms/strategies/nest_facts.h"

namespace sous::transforms {

struct Changed {
  std::string steps;  // "expand(loop=i1); distribute(loop=i1); "
  NestFacts facts;

  // `steps` with `more`, if the nest takes them.
  bool admits(const NestFacts& original, const std::string& more) {
    auto after = original.after(steps + more);
    if (!after) return false;
    *this = {.steps = steps + more, .facts = std::move(*after)};
    return true;
  }
};

}  // namespace sous::transforms
