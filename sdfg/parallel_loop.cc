#include "sdfg/parallel_loop.h"

namespace sous::sdfg {

bool has_parallel_loop(const Sdfg& sdfg) {
  bool found = false;
  visit(sdfg.root, [&](const Node& node) {
    const auto* loop = std::get_if<Loop>(&node.value);
    found = found || (loop != nullptr && std::holds_alternative<Parallel>(loop->schedule));
  });
  return found;
}

}  // namespace sous::sdfg
