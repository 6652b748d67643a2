#include "transforms/normal/util.h"

#include <algorithm>

namespace sous::transforms::normal {

using namespace sdfg;

Node with_bodies(Node node, const std::function<Region(const Region&)>& f) {
  match(
      node.value, [](State&) {}, [&](Loop& l) { l.body = f(l.body); },
      [&](If& i) {
        i.then_body = f(i.then_body);
        i.else_body = f(i.else_body);
      },
      [&](While& w) { w.body = f(w.body); });
  return node;
}

Region rewrite_regions(const Region& region, const std::function<Region(Region, const LoopsAround&)>& f,
                       LoopsAround around) {
  Region result;
  for (const Node& node : region.nodes) {
    LoopsAround inside = around;
    if (const auto* loop = std::get_if<Loop>(&node.value)) inside.push_back(loop);
    result.nodes.push_back(with_bodies(node, [&](const Region& body) { return rewrite_regions(body, f, inside); }));
  }
  return f(std::move(result), around);
}

std::set<std::string> reads_of(const Memlet& m) {
  std::set<std::string> result;
  for (const Expr& e : m.subset) result.merge(e.reads());
  return result;
}

namespace {

std::set<std::string> all_of(Touched t) {
  t.read.merge(t.written);
  return std::move(t.read);
}

}  // namespace

std::set<std::string> containers_of(const Node& node) { return all_of(touched(node)); }
std::set<std::string> containers_of(const Region& region) { return all_of(touched(region)); }
bool touches(const Node& node, const std::string& container) { return containers_of(node).contains(container); }

bool on_host(const Container& c) { return c.storage != Storage::device_shared; }

bool has_gpu_loops(const Region& region) {
  bool found = false;
  visit(region, [&](const Node& n) {
    const auto* l = std::get_if<Loop>(&n.value);
    found = found || (l && is_on_gpu(l->schedule));
  });
  return found;
}

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

void change_code(Node& node, const ChangeCode& f) {
  const auto condition = [&](Condition& c) {
    if (f(c.code, c.inputs, nullptr)) tidy_inputs(c.code, c.inputs);
  };
  match(
      node.value,
      [&](State& s) {
        std::optional<Assignment> a = as_assignment(s);
        if (a && f(a->code, a->inputs, &a->out)) s = tidy_assignment(s.name, a->out, a->code, a->inputs);
      },
      [](Loop&) {}, [&](If& i) { condition(i.condition); }, [&](While& w) { condition(w.condition); });
}

std::optional<Assignment> assignment_of(const Node& node) {
  const auto* state = std::get_if<State>(&node.value);
  return state ? as_assignment(*state) : std::nullopt;
}

bool defines(const Node& node, const std::string& container) {
  const auto a = assignment_of(node);
  return a && a->out.container == container && !touched(node).read.contains(container);
}

State tidy_assignment(std::string name, Memlet out, ScalarExpr code, std::vector<Memlet> inputs) {
  tidy_inputs(code, inputs);
  return assignment(std::move(name), std::move(out), std::move(code), std::move(inputs));
}

Names::Names(const Sdfg& sdfg, std::string separator) : separator_(std::move(separator)) {
  used_.insert(sdfg.symbols.begin(), sdfg.symbols.end());
  for (const Container& c : sdfg.containers) used_.insert(c.name);
  const NodeNames nodes = node_names(sdfg.root);
  used_.insert(nodes.symbols.begin(), nodes.symbols.end());
  used_.insert(nodes.states.begin(), nodes.states.end());
}

std::string Names::fresh(const std::string& wish) {
  std::string name = wish;
  for (int k = 2; !used_.insert(name).second; ++k) name = wish + separator_ + std::to_string(k);
  return name;
}

bool has_loop(const Node& node) {
  bool found = false;
  visit(Region{{node}}, [&](const Node& n) { found = found || std::holds_alternative<Loop>(n.value); });
  return found;
}

}  // namespace sous::transforms::normal
