// A nest with its dependences, and what a proof about it says.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sdfg/dependences.h"
#include "sdfg/text.h"

namespace sous::sdfg {

struct Analysed {
  Scop scop;
  Dependences dependences;
};

inline Analysed analysed(const std::string& text) {
  auto sdfg = parse(text);
  if (!sdfg) ADD_FAILURE() << sdfg.error().to_string();
  Analysed a{scop_of(sdfg.value_or(Sdfg{})), {}};
  auto d = Dependences::compute(a.scop);
  if (d) a.dependences = *d;
  return a;
}

inline std::string answer(const Result<void>& result) { return result ? "legal" : result.error().code; }

}  // namespace sous::sdfg
