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
      const bool library = std::holds_alternative<LibraryNode>(s.nodes[static_cast<std::size_t>(node)]);
      if (library && !expandable(s, node)) {  // nothing can be said about its parts: the state stays as it is
        out.nodes.emplace_back(s);
        return;
      }
    }
    for (int node : order) {
      const std::string name = order.size() == 1 ? s.name : names_.fresh(s.name + "_0");
      if (std::holds_alternative<Tasklet>(s.nodes[static_cast<std::size_t>(node)]))
        tasklet(tasklet_view(s, node), name, out);
      else
        library_node(s, node, name, out);
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

  // --- Library nodes: the definitions of sdfg/interp_library.cc as loops ---------------------------------------------

  static const Memlet* input_of(const State& s, int node, const std::string& connector) {
    for (const Edge& e : s.edges)
      if (e.target == node && e.connector == connector) return &e.memlet;
    return nullptr;
  }
  static const Memlet* output_of(const State& s, int node) {
    for (const Edge& e : s.edges)
      if (e.source == node) return &e.memlet;
    return nullptr;
  }

  // Host storage, one plain output, and no input whose elements the loops would overwrite before they read them.
  bool expandable(const State& s, int node) const {
    const Memlet* out = output_of(s, node);
    if (!out || out->combine) return false;
    const auto& library = std::get<LibraryNode>(s.nodes[static_cast<std::size_t>(node)]);
    const bool elementwise = std::holds_alternative<CopyNode>(library) || std::holds_alternative<SoftmaxNode>(library);
    for (const Edge& e : s.edges) {
      if (e.source != node && e.target != node) continue;
      const Container* c = result_.find(e.memlet.container);
      if (!c || !on_host(*c)) return false;
      for (const std::string& read : reads_of(e.memlet))
        if (may_overlap(result_, read, out->container)) return false;
      if (e.target != node || !may_overlap(result_, e.memlet.container, out->container)) continue;
      if (e.memlet != *out || !(elementwise || e.connector == "c")) return false;
    }
    return true;
  }
  static std::vector<Expr> extents(const Memlet& box) {
    std::vector<Expr> result;
    for (const Dim& d : box.subset)
      if (d.end) result.push_back(Expr::ceil_div(*d.end - d.begin, d.step));
    return result;
  }
  // The element of the box at these positions along its ranges.
  static Memlet element(const Memlet& box, const std::vector<Expr>& at) {
    Memlet result = box;
    std::size_t k = 0;
    for (Dim& d : result.subset)
      if (d.end) d = {.begin = d.begin + d.step * at[k++], .end = std::nullopt, .step = 1};
    return result;
  }

  struct Nest {
    std::vector<Loop> loops;
    std::vector<Expr> at;
  };
  Nest nest_over(const std::vector<Expr>& extents) {
    Nest nest;
    for (const Expr& extent : extents) {
      nest.loops.push_back(counted(names_.fresh("e"), 0, extent));
      nest.at.push_back(Expr::symbol(nest.loops.back().symbol));
    }
    return nest;
  }
  static void put(Region& out, const std::vector<Loop>& loops, Region body) {
    for (Node& n : in_loops(loops, std::move(body.nodes))) out.nodes.push_back(std::move(n));
  }

  void library_node(const State& s, int node, const std::string& name, Region& out) {
    const Memlet& target = *output_of(s, node);
    const auto& library = std::get<LibraryNode>(s.nodes[static_cast<std::size_t>(node)]);
    match(
        library, [&](const GemmNode& g) { gemm(g, s, node, name, target, out); },
        [&](const ReduceNode& r) {
          const Memlet& in = *input_of(s, node, "in");
          const Nest nest = nest_over(extents(in));
          std::vector<Expr> kept;
          for (std::size_t d = 0; d < nest.at.size(); ++d)
            if (std::ranges::find(r.axes, static_cast<int>(d)) == r.axes.end()) kept.push_back(nest.at[d]);
          Memlet to = element(target, kept);
          to.combine = r.op;
          Region body;
          assign(name, to, input(in, 0), {element(in, nest.at)}, body);
          put(out, nest.loops, std::move(body));
        },
        [&](const SoftmaxNode&) { softmax(*input_of(s, node, "in"), target, name, out); },
        [&](const CopyNode&) {
          const Memlet& in = *input_of(s, node, "in");
          const Nest nest = nest_over(extents(in));
          Region body;
          assign(name, element(target, nest.at), input(in, 0), {element(in, nest.at)}, body);
          put(out, nest.loops, std::move(body));
        });
    log_.push_back("expand: library node in " + s.name + " became loops");
  }

  ScalarExpr input(const Memlet& of, int index) const {
    return ScalarExpr::make_input(index, result_.find(of.container)->type);
  }

  void gemm(const GemmNode& g, const State& s, int node, const std::string& name, const Memlet& target, Region& out) {
    const Memlet &a = *input_of(s, node, "a"), &b = *input_of(s, node, "b");
    const std::vector<Expr> ea = extents(a), eb = extents(b);
    const Nest nest = nest_over({ea[g.transpose_a ? 1 : 0], eb[g.transpose_b ? 0 : 1], ea[g.transpose_a ? 0 : 1]});
    const Expr &i = nest.at[0], &j = nest.at[1], &k = nest.at[2];
    const ElementType type = result_.find(a.container)->type;
    const auto number = [&](double value) {
      return is_float(type) ? ScalarExpr::real(value, type)
                            : ScalarExpr::integer(static_cast<std::int64_t>(value), type);
    };
    const auto in = [&](int index) { return ScalarExpr::make_input(index, type); };
    const auto times = [](ScalarExpr x, ScalarExpr y) {
      return ScalarExpr::binary(ScalarOp::mul, std::move(x), std::move(y));
    };
    const Memlet sum = scalar(type);
    Region body, product;
    assign(names_.fresh(name + "_zero"), sum, number(0), {}, body);
    assign(name, sum, ScalarExpr::binary(ScalarOp::add, in(0), times(in(1), in(2))),
           {sum, element(a, g.transpose_a ? std::vector{k, i} : std::vector{i, k}),
            element(b, g.transpose_b ? std::vector{j, k} : std::vector{k, j})},
           product);
    put(body, {nest.loops[2]}, std::move(product));
    ScalarExpr value = g.alpha == 1 ? in(0) : times(number(g.alpha), in(0));
    std::vector<Memlet> inputs{sum};
    if (g.beta != 0) {
      inputs.push_back(element(*input_of(s, node, "c"), {i, j}));
      value = ScalarExpr::binary(ScalarOp::add, value, g.beta == 1 ? in(1) : times(number(g.beta), in(1)));
    }
    assign(names_.fresh(name + "_store"), element(target, {i, j}), value, inputs, body);
    put(out, {nest.loops[0], nest.loops[1]}, std::move(body));
  }

  void softmax(const Memlet& in, const Memlet& target, const std::string& name, Region& out) {
    const std::vector<Expr> extent = extents(in);
    const Nest nest = nest_over(extent);
    const std::size_t row = extent.size() - 1;
    const ElementType type = result_.find(in.container)->type;
    const auto in_leaf = [&](int index) { return ScalarExpr::make_input(index, type); };
    const Memlet largest = scalar(type), sum = scalar(type);
    std::vector<Expr> first = nest.at;
    first[row] = 0;
    // Each loop along the row has a symbol of its own.
    const auto along_row = [&](const std::function<void(const std::vector<Expr>&, Region&)>& fill, Region& to) {
      const Nest along = nest_over({extent[row]});
      std::vector<Expr> at = nest.at;
      at[row] = along.at[0];
      Region body;
      fill(at, body);
      put(to, along.loops, std::move(body));
    };
    Region rows;
    assign(names_.fresh(name + "_first"), largest, in_leaf(0), {element(in, first)}, rows);
    along_row(
        [&](const std::vector<Expr>& at, Region& body) {
          Memlet to = largest;
          to.combine = ReductionOp::max;
          assign(names_.fresh(name + "_max"), to, in_leaf(0), {element(in, at)}, body);
        },
        rows);
    assign(names_.fresh(name + "_zero"), sum, ScalarExpr::real(0, type), {}, rows);
    along_row(
        [&](const std::vector<Expr>& at, Region& body) {
          const auto difference = ScalarExpr::binary(ScalarOp::sub, in_leaf(0), in_leaf(1));
          assign(names_.fresh(name + "_exp"), element(target, at), ScalarExpr::unary(ScalarOp::exp, difference),
                 {element(in, at), largest}, body);
          Memlet to = sum;
          to.combine = ReductionOp::sum;
          assign(names_.fresh(name + "_sum"), to, in_leaf(0), {element(target, at)}, body);
        },
        rows);
    along_row(
        [&](const std::vector<Expr>& at, Region& body) {
          assign(names_.fresh(name + "_div"), element(target, at),
                 ScalarExpr::binary(ScalarOp::div, in_leaf(0), in_leaf(1)), {element(target, at), sum}, body);
        },
        rows);
    put(out, {nest.loops.begin(), nest.loops.end() - 1}, std::move(rows));
  }

  Sdfg result_;
  Names names_;
  Log& log_;
};

}  // namespace

Sdfg expand_nodes(const Sdfg& sdfg, Log& log) { return Expander(sdfg, log).run(); }

}  // namespace sous::transforms::normal
