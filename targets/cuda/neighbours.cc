#include "targets/cuda/neighbours.h"

namespace sous::targets {
namespace {

using sdfg::Expr;

// Whether the subscripts of one iteration are the next element's in the other.
bool are_neighbours(const sdfg::Container& c, const sdfg::Memlet& m, const std::string& symbol) {
  Expr by = 0;
  for (std::size_t d = 0; d < m.subset.size(); ++d) {
    const Expr& at = m.subset[d];
    if (!at.reads().empty()) return false;
    by = by + (at.substitute({{symbol, Expr::symbol(symbol) + 1}}) - at) * c.strides[d];
  }
  return by == Expr(1);
}

}  // namespace

bool print_neighbours(Printer& printer, const sdfg::Loop& loop) {
  const auto trips = (loop.end - loop.begin).constant();
  if (!std::holds_alternative<sdfg::Simd>(loop.schedule) || loop.step != 1 || !trips || *trips < 2) return false;
  const auto* state = loop.body.nodes.size() == 1 ? std::get_if<sdfg::State>(&loop.body.nodes[0].value) : nullptr;
  const auto assignment = state != nullptr ? sdfg::as_assignment(*state) : std::nullopt;
  if (!assignment || assignment->out.combine || assignment->code.op != sdfg::ScalarOp::input ||
      !loop.begin.reads().empty() || !loop.privates.empty())
    return false;
  const sdfg::Memlet &from = assignment->inputs[static_cast<std::size_t>(assignment->code.input)],
                     &to = assignment->out;
  const sdfg::Container &source = printer.expressions.container(from.container),
                        &target = printer.expressions.container(to.container);
  const auto in_memory = [](const sdfg::Container& c) { return !c.transient && !c.shape.empty(); };
  const auto held = [](const sdfg::Container& c) { return c.storage == sdfg::Storage::registers; };
  const bool loads = in_memory(source) && held(target), stores = held(source) && in_memory(target);
  if (!(loads || stores) || source.type != target.type || !are_neighbours(source, from, loop.symbol) ||
      !are_neighbours(target, to, loop.symbol))
    return false;
  const auto first = [&](sdfg::Memlet m) {
    for (sdfg::Expr& d : m.subset) d = d.substitute({{loop.symbol, loop.begin}});
    return "&" + printer.expressions.element(m).text;
  };
  printer.out.line(std::string("sous::gpu::") + (loads ? "load" : "store") + "_neighbours<" + std::to_string(*trips) +
                   ">(" + first(to) + ", " + first(from) + ");");
  return true;
}

}  // namespace sous::targets
