#include "sdfg/sdfg.h"

namespace sous::sdfg {

namespace {

std::optional<LoopPlace> find_loop(Region& region, const std::string& symbol, const std::vector<Loop*>& around) {
  std::optional<LoopPlace> found;
  for (std::size_t k = 0; k < region.nodes.size() && !found; ++k)
    match(
        region.nodes[k].value, [](State&) {},
        [&](Loop& l) {
          if (l.symbol == symbol) {
            found = LoopPlace{.owner = &region, .at = k, .around = around};
            return;
          }
          std::vector<Loop*> inside = around;
          inside.push_back(&l);
          found = find_loop(l.body, symbol, inside);
        },
        [&](If& i) {
          found = find_loop(i.then_body, symbol, around);
          if (!found) found = find_loop(i.else_body, symbol, around);
        },
        [&](While& w) { found = find_loop(w.body, symbol, around); });
  return found;
}

}  // namespace

std::optional<LoopPlace> find_loop(Region& region, const std::string& symbol) { return find_loop(region, symbol, {}); }

namespace {

// T, as constant as `Like` is.
template <class Like, class T>
using As = std::conditional_t<std::is_const_v<Like>, const T, T>;

template <class N, class F>
void each_body(N& node, const F& region) {
  match(
      node.value, [](const State&) {}, [&](As<N, Loop>& l) { region(l.body); },
      [&](As<N, If>& i) {
        region(i.then_body);
        region(i.else_body);
      },
      [&](As<N, While>& w) { region(w.body); });
}

template <class N, class F>
void visit_below(N& node, const F& f) {
  each_body(node, [&](As<N, Region>& inside) {
    for (As<N, Node>& n : inside.nodes) {
      f(n);
      visit_below(n, f);
    }
  });
}

template <class R, class F>
void visit_all(R& region, const F& f) {
  for (As<R, Node>& node : region.nodes) {
    f(node);
    visit_below(node, f);
  }
}

// Calls f(memlet, reads, writes) on the memlets of the node itself.
template <class N, class F>
void memlets_of(N& node, const F& f) {
  const auto read = [&](As<N, Condition>& c) {
    for (As<N, Memlet>& m : c.inputs) f(m, true, false);
  };
  match(
      node.value,
      [&](As<N, State>& s) {
        for (As<N, Edge>& e : s.edges) {
          const bool writes = is_write(s, e);
          f(e.memlet, !writes || e.memlet.combine.has_value(), writes);
        }
      },
      [](const Loop&) {}, [&](As<N, If>& i) { read(i.condition); }, [&](As<N, While>& w) { read(w.condition); });
}

void add_touched(const Node& node, Touched& touched) {
  const auto expr = [&](const Expr& e) { touched.read.merge(e.reads()); };
  memlets_of(node, [&](const Memlet& m, bool reads, bool writes) {
    if (reads) touched.read.insert(m.container);
    if (writes) touched.written.insert(m.container);
    for (const Expr& e : m.subset) expr(e);
  });
  match(
      node.value, [](const State&) {},
      [&](const Loop& l) {
        expr(l.begin);
        expr(l.end);
      },
      [](const If&) {}, [](const While&) {});
}

}  // namespace

std::vector<const Region*> bodies(const Node& node) {
  std::vector<const Region*> result;
  each_body(node, [&](const Region& r) { result.push_back(&r); });
  return result;
}
std::vector<Region*> bodies(Node& node) {
  std::vector<Region*> result;
  each_body(node, [&](Region& r) { result.push_back(&r); });
  return result;
}

void visit(const Region& region, const std::function<void(const Node&)>& f) { visit_all(region, f); }
void visit(Region& region, const std::function<void(Node&)>& f) { visit_all(region, f); }

void for_each_memlet(const Node& node, const std::function<void(const Memlet&, bool)>& f) {
  const auto of = [&](const Node& n) {
    memlets_of(n, [&](const Memlet& m, bool reads, bool writes) {
      if (reads) f(m, false);
      if (writes) f(m, true);
    });
  };
  of(node);
  visit_below(node, of);
}

void for_each_memlet(const Region& region, const std::function<void(const Memlet&, bool)>& f) {
  for (const Node& node : region.nodes) for_each_memlet(node, f);
}

void change_memlets(Node& node, const std::function<void(Memlet&)>& f) {
  memlets_of(node, [&](Memlet& m, bool, bool) { f(m); });
}

void for_each_code(const State& state, const std::function<void(const ScalarExpr&)>& f) {
  for (const DataflowNode& n : state.nodes) match(n, [](const AccessNode&) {}, [&](const Tasklet& t) { f(t.code); });
}

void for_each_code(const Region& region, const std::function<void(const ScalarExpr&)>& f) {
  visit_all(region, [&](const Node& node) {
    match(
        node.value, [&](const State& s) { for_each_code(s, f); }, [](const Loop&) {},
        [&](const If& i) { f(i.condition.code); }, [&](const While& w) { f(w.condition.code); });
  });
}

NodeNames node_names(const Region& region) {
  NodeNames names;
  visit_all(region, [&](const Node& node) {
    match(
        node.value, [&](const State& s) { names.states.push_back(s.name); },
        [&](const Loop& l) { names.symbols.push_back(l.symbol); }, [](const If&) {}, [](const While&) {});
  });
  return names;
}

Touched touched_itself(const Node& node) {
  Touched result;
  add_touched(node, result);
  return result;
}

Touched touched(const Node& node) {
  Touched result = touched_itself(node);
  visit_below(node, [&](const Node& n) { add_touched(n, result); });
  return result;
}

Touched touched(const Region& region) {
  Touched result;
  visit_all(region, [&](const Node& node) { add_touched(node, result); });
  return result;
}

}  // namespace sous::sdfg
