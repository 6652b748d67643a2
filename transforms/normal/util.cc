#include "transforms/normal/util.h"

#include <algorithm>

namespace sous::transforms::normal {

using namespace sdfg;

Region rewrite_regions(const Region& region, const std::function<Region(Region, const Around&)>& f, Around around) {
  Region result;
  for (const Node& node : region.nodes)
    match(
        node.value, [&](const State& s) { result.nodes.emplace_back(s); },
        [&](const Loop& l) {
          Loop loop = l;
          Around inner = around;
          inner.push_back(&l);
          loop.body = rewrite_regions(l.body, f, inner);
          result.nodes.emplace_back(std::move(loop));
        },
        [&](const If& i) {
          result.nodes.emplace_back(If{.condition = i.condition,
                                       .then_body = rewrite_regions(i.then_body, f, around),
                                       .else_body = rewrite_regions(i.else_body, f, around)});
        },
        [&](const While& w) {
          result.nodes.emplace_back(
              While{.condition = w.condition, .test_first = w.test_first, .body = rewrite_regions(w.body, f, around)});
        },
        [&](const Return& r) { result.nodes.emplace_back(r); });
  return f(std::move(result), around);
}

void for_each_memlet(const Region& region, const std::function<void(const Memlet&, bool)>& f) {
  const auto state = [&](const State& s) {
    for (const Edge& e : s.edges) {
      const bool writes = std::holds_alternative<AccessNode>(s.nodes[static_cast<std::size_t>(e.target)]);
      if (!writes || e.memlet.combine) f(e.memlet, false);
      if (writes) f(e.memlet, true);
    }
  };
  const auto condition = [&](const Condition& c) {
    for (const Memlet& m : c.inputs) f(m, false);
  };
  visit(region, [&](const Node& node) {
    match(
        node.value, state, [](const Loop&) {}, [&](const If& i) { condition(i.condition); },
        [&](const While& w) { condition(w.condition); }, [](const Return&) {});
  });
}

void for_each_memlet(const Node& node, const std::function<void(const Memlet&, bool)>& f) {
  for_each_memlet(Region{{node}}, f);
}

Touched touched(const Node& node) { return sdfg::touched(Region{{node}}); }

bool may_overlap(const Sdfg& sdfg, const std::string& a, const std::string& b) {
  if (a == b) return true;
  const Container *x = sdfg.find(a), *y = sdfg.find(b);
  if (!x || !y || x->alias_class == 0 || x->alias_class != y->alias_class) return false;
  return std::ranges::none_of(sdfg.disjoint, [&](const auto& pair) {
    return (pair.first == a && pair.second == b) || (pair.first == b && pair.second == a);
  });
}

bool any_overlaps(const Sdfg& sdfg, const std::set<std::string>& written, const std::string& container) {
  return std::ranges::any_of(written, [&](const std::string& w) { return may_overlap(sdfg, w, container); });
}

namespace {

ScalarExpr map_symbolic(ScalarExpr e, const std::function<Expr(const Expr&)>& f) {
  if (e.op == ScalarOp::symbolic) e.symbolic = f(e.symbolic);
  for (ScalarExpr& arg : e.args) arg = map_symbolic(std::move(arg), f);
  return e;
}

void map_memlet(Memlet& m, const std::function<Expr(const Expr&)>& f) {
  for (Dim& d : m.subset) {
    d.begin = f(d.begin);
    if (d.end) d.end = f(*d.end);
  }
}

void map_condition(Condition& c, const std::function<Expr(const Expr&)>& f) {
  c.code = map_symbolic(std::move(c.code), f);
  for (Memlet& m : c.inputs) map_memlet(m, f);
}

}  // namespace

Region map_exprs(const Region& region, const std::function<Expr(const Expr&)>& f) {
  Region result = region;
  for (Node& node : result.nodes)
    match(
        node.value,
        [&](State& s) {
          for (DataflowNode& n : s.nodes)
            if (auto* tasklet = std::get_if<Tasklet>(&n)) tasklet->code = map_symbolic(std::move(tasklet->code), f);
          for (Edge& e : s.edges) map_memlet(e.memlet, f);
        },
        [&](Loop& l) {
          l.begin = f(l.begin);
          l.end = f(l.end);
          l.body = map_exprs(l.body, f);
        },
        [&](If& i) {
          map_condition(i.condition, f);
          i.then_body = map_exprs(i.then_body, f);
          i.else_body = map_exprs(i.else_body, f);
        },
        [&](While& w) {
          map_condition(w.condition, f);
          w.body = map_exprs(w.body, f);
        },
        [](Return&) {});
  return result;
}

Expr make_atom(AtomKind kind, const std::string& name, const std::vector<Expr>& args) {
  switch (kind) {
    case AtomKind::Symbol:
      return Expr::symbol(name);
    case AtomKind::FloorDiv:
      return Expr::floor_div(args[0], args[1]);
    case AtomKind::Mod:
      return Expr::mod(args[0], args[1]);
    case AtomKind::Min:
      return Expr::min(args[0], args[1]);
    case AtomKind::Max:
      return Expr::max(args[0], args[1]);
    case AtomKind::Read:
      return Expr::read(name, args);
  }
  __builtin_unreachable();
}

Expr map_atoms(const Expr& e, const std::function<Expr(const Atom&)>& f) {
  if (!e.is_valid()) return e;
  Expr result(e.constant_term());
  for (const Term& term : e.terms()) {
    Expr product(term.coefficient);
    for (const Atom& atom : term.atoms) {
      Atom inner = atom;
      for (Expr& arg : inner.args) arg = map_atoms(arg, f);
      product = product * f(inner);
    }
    result = result + product;
  }
  return result;
}

bool exprs_read(const Region& region, const std::function<bool(const std::string&)>& asked) {
  bool found = false;
  map_exprs(region, [&](const Expr& e) {
    found = found || std::ranges::any_of(e.reads(), asked);
    return e;
  });
  return found;
}

void tidy_inputs(ScalarExpr& code, std::vector<Memlet>& inputs) {
  std::vector<Memlet> used;
  code = code.map_inputs([&](const ScalarExpr& leaf) {
    const Memlet& memlet = inputs[static_cast<std::size_t>(leaf.input)];
    const auto it = std::ranges::find(used, memlet);
    const int index = static_cast<int>(it - used.begin());
    if (it == used.end()) used.push_back(memlet);
    return ScalarExpr::make_input(index, leaf.type);
  });
  inputs = std::move(used);
}

State tidy_assignment(std::string name, Memlet out, ScalarExpr code, std::vector<Memlet> inputs) {
  tidy_inputs(code, inputs);
  return assignment(std::move(name), std::move(out), std::move(code), std::move(inputs));
}

Names::Names(const Sdfg& sdfg) {
  used_.insert(sdfg.symbols.begin(), sdfg.symbols.end());
  for (const Container& c : sdfg.containers) used_.insert(c.name);
  visit(sdfg.root, [&](const Node& node) {
    if (const auto* loop = std::get_if<Loop>(&node.value)) used_.insert(loop->symbol);
    if (const auto* state = std::get_if<State>(&node.value)) used_.insert(state->name);
  });
}

std::string Names::fresh(const std::string& wish) {
  std::string name = wish;
  for (int k = 2; !used_.insert(name).second; ++k) name = wish + "_" + std::to_string(k);
  return name;
}

bool has_return(const Region& region) {
  bool found = false;
  visit(region, [&](const Node& n) { found = found || std::holds_alternative<Return>(n.value); });
  return found;
}

bool has_loop(const Node& node) {
  bool found = false;
  visit(Region{{node}}, [&](const Node& n) { found = found || std::holds_alternative<Loop>(n.value); });
  return found;
}

}  // namespace sous::transforms::normal
