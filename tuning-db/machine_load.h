// Whether other programs ran while this machine was measured. Peaks that were taken beside them are too low, and
// recipes and ratios that are judged by them would be judged wrongly.
#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace sous::tuning_db {

// What happened while something was measured.
struct Occupancy {
  double wall = 0;     // seconds that measuring threads ran, each counted
  double own = 0;      // seconds of processor time that they got
  double elapsed = 0;  // seconds from begin to end
  double others = -1;  // seconds of processor time that everybody else got, the hypervisor's other guests included; <
                       // 0: not known
  int processors = 1;  // of the whole machine
};
// Threads that waited for a processor, or others that took over a tenth of the machine: with fewer, the clock and the
// memory bus are this program's own.
bool disturbed(const Occupancy& occupancy);

// The five peaks of one pass, and whether it was disturbed.
constexpr std::size_t figure_count = 5;
struct Pass {
  std::array<double, figure_count> figures{};
  bool disturbed = false;
};
struct Judgement {
  std::array<double, figure_count> figures{};  // the best of the passes: other load only lowers a peak
  bool settled = false;  // of two undisturbed passes or more, the two best of each figure agree within 4 %
};
Judgement judge(const std::vector<Pass>& passes);

// Seconds of processor time that the whole machine has given away since it was started, stolen ones included, and its
// number of processors, from the text of /proc/stat.
struct MachineTime {
  double busy = 0;
  int processors = 0;
};
std::optional<MachineTime> parse_machine_time(std::string_view proc_stat, double ticks_per_second);

}  // namespace sous::tuning_db
