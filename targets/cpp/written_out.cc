#include "targets/cpp/written_out.h"

#include <algorithm>

namespace sous::targets {

double written_out(const sdfg::Region& region, double copies) {
  double count = 0;
  for (const sdfg::Node& node : region.nodes) {
    count += sous::match(
        node.value, [&](const sdfg::State&) { return copies; },
        [&](const sdfg::Loop& l) {
          const auto* unroll = std::get_if<sdfg::Unroll>(&l.schedule);
          return written_out(l.body, unroll ? copies * (std::clamp(unroll->factor, 1, 64) + 1) : copies);
        },
        [&](const sdfg::If& i) { return written_out(i.then_body, copies) + written_out(i.else_body, copies); },
        [&](const sdfg::While& w) { return written_out(w.body, copies); });
  }
  return count;
}

}  // namespace sous::targets
