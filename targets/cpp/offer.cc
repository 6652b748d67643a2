#include "targets/cpp/offer.h"

#include "targets/cpp/extents.h"

namespace sous::targets {
namespace {

using sdfg::Node;
using sdfg::Region;

bool has_grid(const Node& node) {
  bool found = false;
  sdfg::visit(Region{{node}}, [&](const Node& n) {
    const auto* loop = std::get_if<sdfg::Loop>(&n.value);
    found = found || (loop != nullptr && std::holds_alternative<sdfg::GpuGrid>(loop->schedule));
  });
  return found;
}

std::string number(double value) { return literal(sdfg::ScalarExpr::real(value, sdfg::ElementType::f64)).text; }

}  // namespace

Region launches(const Region& emitted) {
  Region out;
  bool together = false;  // what stands beside kernels is one launch with its neighbours
  for (const Node& node : emitted.nodes) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    const auto* branch = std::get_if<sdfg::If>(&node.value);
    const bool kernel = has_grid(node);
    if (kernel && loop != nullptr && !std::holds_alternative<sdfg::GpuGrid>(loop->schedule)) {
      sdfg::Loop around = *loop;
      around.body = launches(loop->body);
      out.nodes.push_back(Node{std::move(around)});
    } else if (kernel && branch != nullptr) {
      const Region first = launches(branch->then_body), second = launches(branch->else_body);
      out.nodes.insert(out.nodes.end(), first.nodes.begin(), first.nodes.end());
      out.nodes.insert(out.nodes.end(), second.nodes.begin(), second.nodes.end());
    } else if (kernel || !together) {
      out.nodes.push_back(Node{sdfg::State{}});
    }
    together = !kernel;
  }
  return out;
}

std::string offer_text(const Offer& offer, const Region& emitted, const Expressions& expressions,
                       const std::string& name) {
  const auto executions = [&](Region region) { return shape(Guard{std::move(region)}, expressions).work.text; };
  std::string prices = number(offer.core_each) + ", " + number(offer.memory_each) + ", ";
  prices += offer.threads ? "true" : "false";
  for (const double price :
       {offer.kernels_each, offer.launch, offer.run, offer.first, offer.to_byte, offer.from_byte, offer.start})
    prices += ", " + number(price);
  return "sous::gpu::Offer " + name + "({" + prices + "}, " + executions(offer.original) + ", " +
         executions(launches(emitted)) + ");";
}

}  // namespace sous::targets
