#include "sdfg/schedule_tree.h"

#include <algorithm>
#include <functional>

#include "sdfg/planted_fault.h"
#include "sdfg/polyhedral.h"

namespace sous::sdfg {

namespace {

bool symbols_only(const ScalarExpr& e) {
  bool ok = true;
  e.visit([&](const ScalarExpr& n) { ok = ok && n.op != ScalarOp::input; });
  return ok;
}

std::string first_state(const Node& node) {
  const NodeNames names = node_names(Region{{node}});
  return names.states.empty() ? "" : names.states.front();
}

class ScopBuilder {
 public:
  explicit ScopBuilder(const Sdfg& sdfg) {
    scop_.frame = sdfg;
    scop_.frame.root.nodes.clear();
    scop_.tree = region(sdfg.root, {});
  }
  Scop take() { return std::move(scop_); }

 private:
  // `around`: the chain of loops and guards down to here, outermost first, without children.
  ScheduleTree region(const Region& region, const std::vector<ScheduleNode>& around) {
    ScheduleTree children;
    for (const Node& n : region.nodes) node(n, around, children);
    return children;
  }

  void node(const Node& n, const std::vector<ScheduleNode>& around, ScheduleTree& out) {
    match(
        n.value, [&](const State&) { leaf(n, around, out, false); },
        [&](const Loop& l) {
          if (!is_quasi_affine(l.begin) || !is_quasi_affine(l.end)) return leaf(n, around, out, true);
          ScheduleLoop loop{l, {}};
          auto inner = around;
          inner.emplace_back(loop);
          loop.children = region(l.body, inner);
          out.emplace_back(std::move(loop));
        },
        [&](const If& i) {
          if (!symbols_only(i.condition.code) || !is_affine_condition(i.condition.code))
            return leaf(n, around, out, true);
          guard(i.condition.code, i.then_body, around, out);
          if (!i.else_body.nodes.empty())
            guard(ScalarExpr::unary(ScalarOp::logical_not, i.condition.code), i.else_body, around, out);
        },
        [&](const While&) { leaf(n, around, out, true); });
  }

  void guard(const ScalarExpr& condition, const Region& body, const std::vector<ScheduleNode>& around,
             ScheduleTree& out) {
    ScheduleGuard g{.condition = condition, .children = {}};
    if (planted(Fault::schedule_guard_lost)) g.condition = ScalarExpr::integer(1, ElementType::boolean);
    auto inner = around;
    inner.emplace_back(g);
    g.children = region(body, inner);
    out.emplace_back(std::move(g));
  }

  void leaf(const Node& n, const std::vector<ScheduleNode>& around, ScheduleTree& out, bool opaque) {
    ScheduleLeaf leaf{.statement = static_cast<int>(scop_.statements.size()), .iterators = {}};
    Statement statement{.name = first_state(n), .node = n, .iterators = {}, .domain = {}, .opaque = opaque};
    if (statement.name.empty()) statement.name = "opaque" + std::to_string(leaf.statement);
    for (const ScheduleNode& a : around)
      if (const auto* loop = std::get_if<ScheduleLoop>(&a.value)) {
        statement.iterators.push_back(loop->symbol);
        leaf.iterators.push_back(Expr::symbol(loop->symbol));
      }
    ScheduleTree chain{leaf};
    for (std::size_t i = around.size(); i-- > 0;) {
      ScheduleNode parent = around[i];
      match(
          parent.value, [&](ScheduleLoop& l) { l.children = std::move(chain); },
          [&](ScheduleGuard& g) { g.children = std::move(chain); }, [](ScheduleLeaf&) {});
      chain = {std::move(parent)};
    }
    statement.domain = std::move(chain);
    scop_.statements.push_back(std::move(statement));
    out.emplace_back(std::move(leaf));
  }

  Scop scop_;
};

std::set<std::string> names_in_use(const Scop& scop, const ScheduleTree& tree) {
  std::vector<std::string> loops = loop_symbols(tree);
  std::set<std::string> used(loops.begin(), loops.end());
  used.insert(scop.frame.symbols.begin(), scop.frame.symbols.end());
  for (const Container& c : scop.frame.containers) used.insert(c.name);
  for (const Statement& s : scop.statements) {
    used.insert(s.iterators.begin(), s.iterators.end());
    const NodeNames inside = node_names(Region{{s.node}});
    used.insert(inside.symbols.begin(), inside.symbols.end());
  }
  return used;
}

class Lowerer {
 public:
  Lowerer(const Scop& scop, const ScheduleTree& tree) : scop_(scop), symbols_(names_in_use(scop, tree)) {}

  Region region(const ScheduleTree& tree) {
    Region result;
    for (const ScheduleNode& n : tree)
      match(
          n.value, [&](const ScheduleLoop& l) { result.nodes.emplace_back(Loop{l, region(l.children)}); },
          [&](const ScheduleGuard& g) {
            result.nodes.emplace_back(
                If{.condition = {.code = g.condition, .inputs = {}}, .then_body = region(g.children), .else_body = {}});
          },
          [&](const ScheduleLeaf& leaf) { result.nodes.push_back(instance(leaf)); });
    return result;
  }

 private:
  Node instance(const ScheduleLeaf& leaf) {
    const Statement& s = scop_.statements[static_cast<std::size_t>(leaf.statement)];
    std::map<std::string, Expr> with;
    for (std::size_t i = 0; i < s.iterators.size(); ++i) with.emplace(s.iterators[i], leaf.iterators[i]);
    Node node = substitute(s.node, with);
    // Names of states and of loops are unique: those of a statement's second copy get numbers.
    Renaming names;
    const NodeNames old = node_names(Region{{node}});
    for (const std::string& state : old.states)
      if (const std::string name = numbered(state, states_, states_); name != state) names.states[state] = name;
    for (const std::string& symbol : old.symbols)
      if (const std::string name = numbered(symbol, loops_, symbols_); name != symbol) names.symbols[symbol] = name;
    if (names.states.empty() && names.symbols.empty()) return node;
    Sdfg holder;
    holder.root.nodes.push_back(std::move(node));
    return rename(holder, names).root.nodes[0];
  }

  // The name itself the first time; then with the first number that nothing in `taken` has.
  static std::string numbered(const std::string& name, std::set<std::string>& seen, std::set<std::string>& taken) {
    if (seen.insert(name).second) {
      taken.insert(name);
      return name;
    }
    std::string copy;
    for (int k = 1; copy.empty() || !taken.insert(copy).second; ++k) copy = name + "_" + std::to_string(k);
    seen.insert(copy);
    return copy;
  }

  const Scop& scop_;
  std::set<std::string> states_, loops_, symbols_;  // given so far; symbols_ also what other names there are
};

}  // namespace

const ScheduleTree* children(const ScheduleNode& node) {
  return match(
      node.value, [](const ScheduleLoop& l) -> const ScheduleTree* { return &l.children; },
      [](const ScheduleGuard& g) -> const ScheduleTree* { return &g.children; },
      [](const ScheduleLeaf&) -> const ScheduleTree* { return nullptr; });
}

ScheduleTree* children(ScheduleNode& node) {
  return const_cast<ScheduleTree*>(children(static_cast<const ScheduleNode&>(node)));
}

Scop scop_of(const Sdfg& sdfg) { return ScopBuilder(sdfg).take(); }

Sdfg lower(const Scop& scop, const ScheduleTree& tree) {
  Sdfg result = scop.frame;
  result.root = Lowerer(scop, tree).region(tree);
  return result;
}

const ScheduleLoop* find_loop(const ScheduleTree& tree, const std::string& symbol) {
  for (const ScheduleNode& n : tree) {
    if (const auto* loop = std::get_if<ScheduleLoop>(&n.value); loop && loop->symbol == symbol) return loop;
    if (const ScheduleTree* below = children(n))
      if (const ScheduleLoop* found = find_loop(*below, symbol)) return found;
  }
  return nullptr;
}

ScheduleLoop* find_loop(ScheduleTree& tree, const std::string& symbol) {
  return const_cast<ScheduleLoop*>(find_loop(static_cast<const ScheduleTree&>(tree), symbol));
}

std::vector<std::string> loop_symbols(const ScheduleTree& tree) {
  std::vector<std::string> symbols;
  for (const ScheduleNode& n : tree) {
    if (const auto* loop = std::get_if<ScheduleLoop>(&n.value)) symbols.push_back(loop->symbol);
    if (const ScheduleTree* below = children(n))
      for (std::string& s : loop_symbols(*below)) symbols.push_back(std::move(s));
  }
  return symbols;
}

std::vector<std::string> path_to(const ScheduleTree& tree, const std::string& symbol) {
  for (const ScheduleNode& n : tree) {
    const auto* loop = std::get_if<ScheduleLoop>(&n.value);
    if (loop && loop->symbol == symbol) return {symbol};
    const ScheduleTree* below = children(n);
    if (!below) continue;
    auto path = path_to(*below, symbol);
    if (path.empty()) continue;
    if (loop) path.insert(path.begin(), loop->symbol);
    return path;
  }
  return {};
}

std::vector<ScheduleNode> around(const ScheduleTree& tree, const std::string& symbol) {
  for (const ScheduleNode& n : tree) {
    const ScheduleTree* below = children(n);
    if (!below || !find_loop({n}, symbol)) continue;
    if (const auto* loop = std::get_if<ScheduleLoop>(&n.value); loop && loop->symbol == symbol) return {};
    std::vector<ScheduleNode> chain = around(*below, symbol);
    ScheduleNode here = n;
    children(here)->clear();
    chain.insert(chain.begin(), std::move(here));
    return chain;
  }
  return {};
}

std::pair<ScheduleTree*, std::size_t> owner_of(ScheduleTree& tree, const std::string& symbol) {
  for (std::size_t i = 0; i < tree.size(); ++i) {
    if (const auto* loop = std::get_if<ScheduleLoop>(&tree[i].value); loop && loop->symbol == symbol) return {&tree, i};
    if (ScheduleTree* below = children(tree[i]))
      if (auto found = owner_of(*below, symbol); found.first) return found;
  }
  return {nullptr, 0};
}

void for_each_leaf(const ScheduleTree& tree, const std::function<void(const ScheduleLeaf&)>& f) {
  for (const ScheduleNode& n : tree) {
    if (const auto* leaf = std::get_if<ScheduleLeaf>(&n.value)) f(*leaf);
    if (const ScheduleTree* below = children(n)) for_each_leaf(*below, f);
  }
}

ScheduleTree substitute(const ScheduleTree& tree, const std::map<std::string, Expr>& with) {
  ScheduleTree result = tree;
  for (ScheduleNode& n : result)
    match(
        n.value,
        [&](ScheduleLoop& l) {
          l.begin = l.begin.substitute(with);
          l.end = l.end.substitute(with);
          l.children = substitute(l.children, with);
        },
        [&](ScheduleGuard& g) {
          g.condition = g.condition.substitute(with);
          g.children = substitute(g.children, with);
        },
        [&](ScheduleLeaf& leaf) {
          for (Expr& e : leaf.iterators) e = e.substitute(with);
        });
  return result;
}

std::string fresh_symbol(const Scop& scop, const ScheduleTree& tree, const std::string& wish) {
  const std::set<std::string> used = names_in_use(scop, tree);
  std::string name = wish;
  for (int k = 2; used.contains(name); ++k) name = wish + std::to_string(k);
  return name;
}

}  // namespace sous::sdfg
