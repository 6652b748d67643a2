// Whether a nest should be on the GPU: estimates of the time that it takes there, from end to end, and of the best that
// is known for the CPU.
//
// The GPU's: launches at what each costs, the arrays that cross the bus at the rates measured for it, and the kernels
// by what they compute and move (tuning-db/gpu_load.h), rather too long than too short. The CPU's: what was measured of
// the recipe that it would get, as if it ran as well on all cores, or what its cores do at best (tuning-db's
// core_load), rather too short than too long. A measurement of the GPU's recipe takes the place of its estimate. Per
// execution of a statement both hold for sizes that nobody knows now: the entry multiplies them with those of each call
// (targets/runtime/gpu_offer.h).
#pragma once

#include <string>

#include "client/choose.h"
#include "tuning-db/gpu.h"

namespace sous::client {

struct Times {
  targets::Offer offer;
  double cpu = 0, gpu = 0;  // seconds, at the sizes that are known, or some; all arrays on the host
  bool sizes_known = false;
  bool gains() const;  // clearly
  std::string in_words() const;
};
// `gpu`, `cpu`: what is chosen for each; nothing for the CPU stands for the original. `applied`: the nest with `gpu`.
Times times(const PreparedNest& nest, const Chosen& gpu, const sdfg::Sdfg& applied, const Chosen& cpu,
            const tuning_db::Gpu& device);

// The GPU that code is made for: this machine's, with what is measured of it; or a typical one of the oldest
// architecture that SOUS_CUDA_ARCH names.
tuning_db::Gpu offered_gpu();

}  // namespace sous::client
