#include "sdfg/sdfg.h"

#include <algorithm>
#include <functional>
#include <set>

namespace sous::sdfg {

const Container* Sdfg::find(const std::string& container) const {
  for (const Container& c : containers)
    if (c.name == container) return &c;
  return nullptr;
}

Container* Sdfg::find(const std::string& container) {
  return const_cast<Container*>(static_cast<const Sdfg&>(*this).find(container));
}

bool Sdfg::has_symbol(const std::string& symbol) const {
  return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}

bool is_in_order(const Schedule& schedule) {
  return match(
      schedule, [](const Sequential&) { return true; }, [](const Parallel&) { return false; },
      [](const Simd&) { return false; }, [](const Unroll&) { return true; }, [](const GpuGrid&) { return false; },
      [](const GpuBlock&) { return false; });
}

bool is_in_threads(const Schedule& schedule) {
  return match(
      schedule, [](const Sequential&) { return false; }, [](const Parallel&) { return true; },
      [](const Simd&) { return false; }, [](const Unroll&) { return false; }, [](const GpuGrid&) { return true; },
      [](const GpuBlock&) { return true; });
}

bool is_on_gpu(const Schedule& schedule) {
  return match(
      schedule, [](const Sequential&) { return false; }, [](const Parallel&) { return false; },
      [](const Simd&) { return false; }, [](const Unroll&) { return false; }, [](const GpuGrid&) { return true; },
      [](const GpuBlock&) { return true; });
}

std::vector<int> execution_order(const State& state) {
  const std::size_t count = state.nodes.size();
  std::vector<int> waiting(count, 0);
  std::vector<std::vector<std::size_t>> behind(count);
  for (const Edge& e : state.edges) {
    ++waiting[static_cast<std::size_t>(e.target)];
    behind[static_cast<std::size_t>(e.source)].push_back(static_cast<std::size_t>(e.target));
  }
  std::set<std::size_t> ready;
  for (std::size_t k = 0; k < count; ++k)
    if (waiting[k] == 0) ready.insert(k);
  std::vector<int> order;
  for (std::size_t step = 0; step < count; ++step) {
    if (ready.empty()) return {};  // a cycle
    const std::size_t next = *ready.begin();
    ready.erase(ready.begin());
    for (const std::size_t node : behind[next])
      if (--waiting[node] == 0) ready.insert(node);
    match(
        state.nodes[next], [](const AccessNode&) {}, [&](const Tasklet&) { order.push_back(static_cast<int>(next)); });
  }
  return order;
}

TaskletView tasklet_view(const State& state, int node) {
  const auto* tasklet = std::get_if<Tasklet>(&state.nodes[static_cast<std::size_t>(node)]);
  SOUS_ASSERT(tasklet);
  TaskletView view{.tasklet = tasklet, .inputs = std::vector<const Memlet*>(tasklet->inputs.size()), .outputs = {}};
  for (const Edge& e : state.edges) {
    if (e.source == node) view.outputs.push_back(&e.memlet);
    if (e.target != node) continue;
    auto it = std::find(tasklet->inputs.begin(), tasklet->inputs.end(), e.connector);
    SOUS_ASSERT(it != tasklet->inputs.end());
    view.inputs[static_cast<std::size_t>(it - tasklet->inputs.begin())] = &e.memlet;
  }
  return view;
}

std::vector<TaskletView> tasklets(const State& state) {
  std::vector<TaskletView> views;
  for (int node : execution_order(state)) views.push_back(tasklet_view(state, node));
  return views;
}

bool is_write(const State& state, const Edge& edge) {
  return match(
      state.nodes[static_cast<std::size_t>(edge.target)], [](const AccessNode&) { return true; },
      [](const Tasklet&) { return false; });
}

Memlet element(std::string container, const std::vector<Expr>& subscript) {
  return {.container = std::move(container), .subset = subscript, .combine = std::nullopt};
}

State assignment(std::string name, Memlet out, ScalarExpr code, std::vector<Memlet> inputs) {
  State state{.name = std::move(name), .nodes = {}, .edges = {}};
  Tasklet tasklet{.inputs = {}, .code = std::move(code)};
  const int n = static_cast<int>(inputs.size());
  for (int i = 0; i < n; ++i) {
    Memlet& memlet = inputs[static_cast<std::size_t>(i)];
    std::string connector = "x" + std::to_string(i);
    tasklet.inputs.push_back(connector);
    state.nodes.emplace_back(AccessNode{memlet.container});
    state.edges.push_back({.source = i, .target = n, .connector = connector, .memlet = std::move(memlet)});
  }
  state.nodes.emplace_back(std::move(tasklet));
  state.nodes.emplace_back(AccessNode{out.container});
  state.edges.push_back({.source = n, .target = n + 1, .connector = "out", .memlet = std::move(out)});
  return state;
}

std::optional<Assignment> as_assignment(const State& state) {
  if (state.nodes.size() < 2 || state.edges.size() + 1 != state.nodes.size()) return std::nullopt;
  const auto* tasklet = std::get_if<Tasklet>(&state.nodes[state.nodes.size() - 2]);
  if (!tasklet) return std::nullopt;
  Assignment result{.out = state.edges.back().memlet, .code = tasklet->code, .inputs = {}};
  for (std::size_t i = 0; i + 1 < state.edges.size(); ++i) result.inputs.push_back(state.edges[i].memlet);
  if (assignment(state.name, result.out, result.code, result.inputs) != state) return std::nullopt;
  return result;
}

std::vector<Expr> row_major(const std::vector<Expr>& shape) {
  std::vector<Expr> strides(shape.size(), Expr(1));
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

Container temporary(std::string name, ElementType type, std::vector<Expr> shape, Storage storage) {
  std::vector<Expr> strides = row_major(shape);
  return {.name = std::move(name),
          .type = type,
          .shape = std::move(shape),
          .strides = std::move(strides),
          .offset = 0,
          .storage = storage,
          .transient = true};
}

Loop counted(std::string symbol, Expr begin, Expr end, std::vector<Node> body) {
  Loop loop;
  loop.symbol = std::move(symbol);
  loop.begin = std::move(begin);
  loop.end = std::move(end);
  loop.body.nodes = std::move(body);
  return loop;
}

namespace {

// Rewrites every expression, container name, loop symbol and state name of a region: the one traversal behind
// substitution and renaming.
struct Rewriter {
  std::function<Expr(const Expr&)> expr;
  std::function<std::string(const std::string&)> container = [](const std::string& name) { return name; };
  std::function<std::string(const std::string&)> symbol = container;
  std::function<std::string(const std::string&)> state_name = container;

  ScalarExpr scalar(ScalarExpr e) const {
    if (e.op == ScalarOp::symbolic) e.symbolic = expr(e.symbolic);
    for (ScalarExpr& arg : e.args) arg = scalar(std::move(arg));
    return e;
  }
  Memlet memlet(Memlet m) const {
    m.container = container(m.container);
    for (Expr& e : m.subset) e = expr(e);
    return m;
  }
  Condition condition(Condition c) const {
    c.code = scalar(std::move(c.code));
    for (Memlet& m : c.inputs) m = memlet(std::move(m));
    return c;
  }
  State state(State s) const {
    s.name = state_name(s.name);
    for (DataflowNode& n : s.nodes) {
      match(
          n, [&](AccessNode& a) { a.container = container(a.container); },
          [&](Tasklet& t) { t.code = scalar(std::move(t.code)); });
    }
    for (Edge& e : s.edges) e.memlet = memlet(std::move(e.memlet));
    return s;
  }
  Region region(Region r) const {
    for (Node& n : r.nodes) n = node(std::move(n));
    return r;
  }
  Node node(Node n) const {
    match(
        n.value, [&](State& s) { s = state(std::move(s)); },
        [&](Loop& l) {
          l.symbol = symbol(l.symbol);
          l.begin = expr(l.begin);
          l.end = expr(l.end);
          for (std::string& p : l.privates) p = container(p);
          for (Reduction& r : l.reductions) r.container = container(r.container);
          l.body = region(std::move(l.body));
        },
        [&](If& i) {
          i.condition = condition(std::move(i.condition));
          i.then_body = region(std::move(i.then_body));
          i.else_body = region(std::move(i.else_body));
        },
        [&](While& w) {
          w.condition = condition(std::move(w.condition));
          w.body = region(std::move(w.body));
        });
    return n;
  }
};

Rewriter substituter(const std::map<std::string, Expr>& with) {
  return {.expr = [&with](const Expr& e) { return e.substitute(with); }};
}

std::string renamed(const std::map<std::string, std::string>& names, const std::string& name) {
  auto it = names.find(name);
  return it == names.end() ? name : it->second;
}

}  // namespace

Region substitute(const Region& region, const std::map<std::string, Expr>& with) {
  return substituter(with).region(region);
}
Node substitute(const Node& node, const std::map<std::string, Expr>& with) { return substituter(with).node(node); }
State substitute(const State& state, const std::map<std::string, Expr>& with) { return substituter(with).state(state); }

Region map_exprs(Region region, const std::function<Expr(const Expr&)>& f) {
  return Rewriter{.expr = f}.region(std::move(region));
}

Sdfg rename(const Sdfg& sdfg, const Renaming& renaming) {
  std::map<std::string, Expr> symbols;
  for (const auto& [from, to] : renaming.symbols) symbols.emplace(from, Expr::symbol(to));
  auto expr = [&](const Expr& e) { return e.substitute(symbols).rename_containers(renaming.containers); };
  auto container = [&](const std::string& name) { return renamed(renaming.containers, name); };
  auto symbol = [&](const std::string& name) { return renamed(renaming.symbols, name); };
  Rewriter rewriter{.expr = expr, .container = container, .symbol = symbol, .state_name = [&](const std::string& name) {
                      return renamed(renaming.states, name);
                    }};
  Sdfg result = sdfg;
  for (std::string& s : result.symbols) s = symbol(s);
  for (Container& c : result.containers) {
    c.name = container(c.name);
    for (Expr& e : c.shape) e = expr(e);
    for (Expr& e : c.strides) e = expr(e);
    c.offset = expr(c.offset);
  }
  for (std::string& argument : result.arguments)
    argument = sdfg.has_symbol(argument) ? symbol(argument) : container(argument);
  for (Expr& e : result.assumptions) e = expr(e);
  for (auto& [a, b] : result.disjoint) {
    a = container(a);
    b = container(b);
  }
  result.root = rewriter.region(sdfg.root);
  return result;
}

}  // namespace sous::sdfg
