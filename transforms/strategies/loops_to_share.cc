#include "transforms/strategies/loops_to_share.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace sous::transforms {

using sdfg::ScheduleLoop;
using std::string;

std::vector<string> loops_to_share(const sdfg::ScheduleTree& tree, const string& outermost,
                                   const std::map<string, std::int64_t>& sizes,
                                   const std::function<bool(const string&)>& parallel) {
  constexpr std::int64_t enough = 256;
  std::map<string, sdfg::Expr> known;
  for (const auto& [symbol, size] : sizes) known.emplace(symbol, size);
  const auto trips_of = [&](const ScheduleLoop& loop) -> std::optional<std::int64_t> {
    const auto distance = (loop.end - loop.begin).substitute(known).constant();
    if (!distance) return std::nullopt;
    return std::max<std::int64_t>(0, *distance / loop.step);
  };
  const ScheduleLoop* last = sdfg::find_loop(tree, outermost);
  std::vector<string> loops{outermost};
  std::optional<std::int64_t> trips = trips_of(*last);
  while (trips.value_or(0) < enough && last->children.size() == 1 && parallel(last->symbol)) {
    const auto* next = std::get_if<ScheduleLoop>(&last->children[0].value);
    if (next == nullptr || (!trips && sdfg::loop_symbols(next->children).empty())) break;
    const auto moves = [&](const string& outer) { return next->begin.uses(outer) || next->end.uses(outer); };
    if (std::ranges::any_of(loops, moves) || !parallel(next->symbol)) break;
    const auto more = trips_of(*next);
    trips = trips && more ? std::optional(*trips * *more) : std::nullopt;
    loops.push_back(next->symbol);
    last = next;
  }
  return loops;
}

}  // namespace sous::transforms
