#include "tuning-db/machine_load.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace sous::tuning_db {
namespace {

constexpr double least_own_share = 0.97;
constexpr double most_other_share = 0.1;
constexpr double agreement = 0.04;

// The numbers behind the name of a line of /proc/stat.
std::vector<std::uint64_t> numbers(std::string_view line) {
  std::vector<std::uint64_t> out;
  while (true) {
    const auto begin = line.find_first_of("0123456789");
    if (begin == std::string_view::npos) return out;
    line.remove_prefix(begin);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc()) return out;
    out.push_back(value);
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  }
}

}  // namespace

bool disturbed(const Occupancy& o) {
  if (o.wall > 0 && o.own < least_own_share * o.wall) return true;
  return o.others > most_other_share * o.elapsed * o.processors;
}

Judgement judge(const std::vector<Pass>& passes) {
  Judgement out;
  out.settled = std::count_if(passes.begin(), passes.end(), [](const Pass& p) { return !p.disturbed; }) >= 2;
  for (std::size_t f = 0; f < figure_count; ++f) {
    std::vector<double> undisturbed;
    for (const Pass& pass : passes) {
      out.figures[f] = std::max(out.figures[f], pass.figures[f]);
      if (!pass.disturbed) undisturbed.push_back(pass.figures[f]);
    }
    std::sort(undisturbed.rbegin(), undisturbed.rend());
    if (undisturbed.size() >= 2 && undisturbed[1] < (1 - agreement) * undisturbed[0]) out.settled = false;
  }
  return out;
}

std::optional<MachineTime> parse_machine_time(std::string_view text, double ticks_per_second) {
  MachineTime out;
  bool found = false;
  while (!text.empty()) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
    if (!line.starts_with("cpu")) continue;
    if (!line.starts_with("cpu ")) {
      ++out.processors;
      continue;
    }
    // user nice system idle iowait irq softirq steal; guests are in user already (proc(5))
    const auto ticks = numbers(line.substr(4));
    if (ticks.size() < 8) return std::nullopt;
    for (const std::size_t k : {0, 1, 2, 5, 6, 7}) out.busy += static_cast<double>(ticks[k]) / ticks_per_second;
    found = true;
  }
  if (!found || out.processors == 0) return std::nullopt;
  return out;
}

}  // namespace sous::tuning_db
