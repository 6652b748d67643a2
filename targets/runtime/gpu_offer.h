// Whether a run is worth the GPU: estimates of both sides, made when the program was built, at the sizes of this call.
//
// Starting CUDA's runtime takes longer than most nests, and a process does it once. It is begun when the runs that the
// GPU would have gained by, had it been there, have lost as much: at worst a program takes that long again (the ski
// rental problem; A. Karlin et al.: Competitive Snoopy Caching, 1988). The sum is of all objects of a program.
#pragma once

#include "targets/runtime/gpu_run.h"

namespace sous::gpu {

// Below this ratio of the estimates nobody knows which side is faster.
constexpr double clearly = 1.5;
// Of the time on one core, what each further one adds to the time on several: of PolyBench's kernels, the one that
// threads help most takes a quarter of the time on 16 cores that it takes on 2.
constexpr double lost_by_sharing = 0.04;
// What one core copies between the program's memory and buffers, in bytes per second.
constexpr double copied_by_core = 5e9;

struct Prices {
  double core_each, memory_each;  // seconds for each execution of a statement (targets::Offer)
  bool threads;
  double kernels_each, launch, run, first, to_byte, from_byte, start;
};

class Offer {
 public:
  Offer(const Prices& prices, double work, double launches)
      : prices_(prices),
        core_(work * prices.core_each),
        memory_(work * prices.memory_each),
        gpu_(prices.run + launches * prices.launch + work * prices.kernels_each) {}

  // Whether it does not pay, whatever is there and moved: asked first, since small calls are to cost nothing.
  bool hopeless() const { return gpu_ * clearly > (core_ > memory_ ? core_ : memory_); }

  // An array that the run moves, unless the GPU has it.
  void array(const Footprint& covered, int use, uint64_t* region = nullptr) {
    if (covered.empty()) return;
    const auto bytes = static_cast<double>(covered.end() - covered.begin());
    const bool part = (use & (writes | whole)) == writes, read = (use & reads) != 0 || part;
    // What lies around what is written is kept, too: three copies in place of one.
    if (read && !is_there(covered, use, region)) to_ += (part ? 2.5 : 1) * bytes;
    if ((use & writes) != 0) from_ += bytes;
  }

  // Whether to run there. `ran`: of the entry, whether it has run there before.
  bool taken(volatile bool& ran) {
    cpu_set_t allowed;
    const int cpus = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
    const double shared = prices_.threads ? cpus / (1 + lost_by_sharing * (cpus - 1)) : 1;
    const double of_cores = core_ / shared, cpu = of_cores > memory_ ? of_cores : memory_;
    const double slowest = 1 / (copied_by_core * cpus);
    const double gpu = gpu_ + (__atomic_load_n(&ran, __ATOMIC_RELAXED) ? 0 : prices_.first) +
                       to_ * (prices_.to_byte > slowest ? prices_.to_byte : slowest) +
                       from_ * (prices_.from_byte > slowest ? prices_.from_byte : slowest);
    if (gpu * clearly > cpu) return false;
    // Threads may overwrite each other's sums: one of them is lost, and the start comes a call later.
    double missed = 0;
    __atomic_load(&sous_gpu_missed, &missed, __ATOMIC_RELAXED);
    const double sum = missed + cpu - gpu;
    const bool worth = sum >= prices_.start;
    set_missed(worth ? __builtin_inf() : sum);
    if (worth) __atomic_store_n(&ran, true, __ATOMIC_RELAXED);
    return worth;
  }

 private:
  static bool is_there(const Footprint& covered, int use, uint64_t* region) {
    const bool part = (use & (writes | whole)) == writes;
    if (region == nullptr || *region == 0 || (part && (use & interleaved) != 0) || !owns_device()) return false;
    const Locked locked(device.lock);
    for (const Block& b : device.blocks)
      if (b.region == *region && b.begin <= covered.begin() &&
          covered.end() <= b.begin + static_cast<uintptr_t>(b.held))
        return true;
    return false;
  }

  const Prices prices_;
  const double core_, memory_, gpu_;
  double to_ = 0, from_ = 0;
};

}  // namespace sous::gpu
