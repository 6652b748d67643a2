// A machine, and what was measured on it.
#pragma once

#include <string>

#include "transforms/source.h"
#include "tuning-db/hardware.h"

namespace sous::client {

inline const std::string here = "x86-64:avx512:2c:l2=1M:l3=32M";

inline tuning_db::Hardware machine() {
  tuning_db::Hardware h;
  h.architecture = "x86-64";
  h.isa = tuning_db::Isa::avx512;
  h.cores = 2;
  h.l2_bytes = 1 << 20;
  h.l3_bytes = 32 << 20;
  return h;
}

inline transforms::Match measured(double baseline, double tuned, double spread = 0.01) {
  transforms::Match m;
  m.evidence.baseline_seconds = baseline;
  m.evidence.tuned_seconds = tuned;
  m.evidence.baseline_spread = m.evidence.tuned_spread = spread;
  m.evidence.hardware = here;
  m.evidence.size_class = "4^11:8";
  m.reach = 3;
  return m;
}

}  // namespace sous::client
