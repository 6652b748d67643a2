// One assignment per state: see expand_nodes in passes.h.
#include <algorithm>

#include "transforms/normal/passes.h"
#include "transforms/normal/util.h"
#include "transforms/relocation.h"

namespace sous::transforms::normal {

using namespace sdfg;

namespace {

// a op b as an expression; float min and max are a < b ? a : b and a > b ? a : b with a the accumulator.
ScalarExpr combined(ReductionOp op, ScalarExpr a, ScalarExpr b) {
  const auto binary = [&](ScalarOp o) { return ScalarExpr::binary(o, std::move(a), std::move(b)); };
  const auto choose = [&](ScalarOp compare, ScalarOp integer) {
    if (!is_float(a.type)) return binary(integer);
    return ScalarExpr::select(ScalarExpr::binary(compare, a, b), a, b);
  };
  switch (op) {
    case ReductionOp::sum:
      return binary(ScalarOp::add);
    case ReductionOp::product:
      return binary(ScalarOp::mul);
    case ReductionOp::min:
      return choose(ScalarOp::lt, ScalarOp::min);
    case ReductionOp::max:
      return choose(ScalarOp::gt, ScalarOp::max);
    case ReductionOp::bit_and:
      return binary(ScalarOp::bit_and);
    case ReductionOp::bit_or:
      return binary(ScalarOp::bit_or);
    case ReductionOp::bit_xor:
      return binary(ScalarOp::bit_xor);
  }
  __builtin_unreachable();
}

class Expander {
 public:
  Expander(const Sdfg& sdfg, Log& log) : result_(sdfg), names_(sdfg), log_(log) {}

  Sdfg run() {
    result_.root = region(result_.root);
    return std::move(result_);
  }

 private:
  Region region(const Region& r) {
    Region out;
    for (const Node& node : r.nodes) {
      if (const auto* s = std::get_if<State>(&node.value)) {
        state(*s, out);
        continue;
      }
      out.nodes.push_back(with_bodies(node, [&](const Region& body) { return region(body); }));
      auto* loop = std::get_if<Loop>(&out.nodes.back().value);
      if (!loop) continue;
      loop->schedule = Sequential{};
      loop->prefetch = 0;
      loop->reductions.clear();
      // Scalars only: mark_privates does not look for private arrays.
      std::erase_if(loop->privates, [&](const std::string& name) {
        const Container* c = result_.find(name);
        return c && c->shape.empty();
      });
    }
    return out;
  }

  void state(const State& s, Region& out) {
    const std::vector<int> order = execution_order(s);
    for (int node : order) {
      tasklet(tasklet_view(s, node), order.size() == 1 ? s.name : names_.fresh(s.name + "_0"), out);
    }
    if (order.size() > 1) log_.push_back("expand: " + s.name + " is " + std::to_string(order.size()) + " states");
  }

  void tasklet(const TaskletView& view, const std::string& name, Region& out) {
    std::vector<Memlet> inputs;
    for (const Memlet* m : view.inputs) inputs.push_back(*m);
    if (view.outputs.size() == 1) return assign(name, *view.outputs[0], view.tasklet->code, inputs, out);
    const Memlet value = scalar(view.tasklet->code.type);
    assign(name, value, view.tasklet->code, inputs, out);
    for (const Memlet* target : view.outputs)
      assign(names_.fresh(name + "_out"), *target, ScalarExpr::make_input(0, view.tasklet->code.type), {value}, out);
  }

  // Adds out = code(inputs), or out = out op code(inputs) for a combining memlet.
  void assign(const std::string& name, Memlet target, ScalarExpr code, std::vector<Memlet> inputs, Region& out) {
    if (target.combine) {
      const ReductionOp op = *target.combine;
      target.combine.reset();
      ScalarExpr old = ScalarExpr::make_input(static_cast<int>(inputs.size()), code.type);
      inputs.push_back(target);
      code = combined(op, std::move(old), std::move(code));
    }
    out.nodes.emplace_back(tidy_assignment(name, std::move(target), std::move(code), std::move(inputs)));
  }

  // A new transient scalar.
  Memlet scalar(ElementType type) {
    const std::string name = names_.fresh("value");
    result_.containers.push_back(temporary(name, type, {}, Storage::stack));
    return sdfg::element(name);
  }

  Sdfg result_;
  Names names_;
  Log& log_;
};

}  // namespace

Sdfg expand_nodes(const Sdfg& sdfg, Log& log) { return Expander(sdfg, log).run(); }

}  // namespace sous::transforms::normal
