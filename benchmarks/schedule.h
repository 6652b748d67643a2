// How often each build runs, where time is short.
#pragma once

#include <vector>

namespace sous::benchmarks {

// What is known of a build after its warm-up.
struct Cost {
  double wall = 0;       // seconds of one run of the whole process
  bool counted = false;  // the warm-up itself is a figure
};
// A warm-up of a second and more is a figure itself: what a first run pays for (pages, clock frequency, the loader) is
// small against it.
constexpr double counted_from_seconds = 1;

// For each build, further runs. Each is to have `runs` figures; where `seconds` do not suffice, builds that take long
// have fewer, at least one beside the warm-up. The seconds are shared so that every build is granted the same: those
// that need less leave the rest to the others. Below 0: there is no limit.
std::vector<int> further_runs(const std::vector<Cost>& costs, int runs, double seconds);

}  // namespace sous::benchmarks
