#include "sdfg/check.h"

#include <algorithm>

#include "sdfg/check_rules.h"
#include "sdfg/text_internal.h"

namespace sous::sdfg {
namespace rules {
namespace {

constexpr int depth_limit = 200;

// Calls f on every node below, parents first, down to the depth limit: the graph may be anything yet.
void walk(const Region& region, const std::function<void(const Node&)>& f, int depth = 0) {
  if (depth > depth_limit) return;
  for (const Node& n : region.nodes) {
    f(n);
    match(
        n.value, [](const State&) {}, [&](const Loop& l) { walk(l.body, f, depth + 1); },
        [&](const If& i) {
          walk(i.then_body, f, depth + 1);
          walk(i.else_body, f, depth + 1);
        },
        [&](const While& w) { walk(w.body, f, depth + 1); });
  }
}

class GraphChecker {
 public:
  explicit GraphChecker(Context& context) : context_(context), sdfg_(context.sdfg) {}

  void run() {
    names();
    for (const Container& c : sdfg_.containers) container(c);
    arguments();
    const Scope root;
    assumptions(root);
    region(sdfg_.root, root);
  }

 private:
  void report(const char* code, const std::string& why, const std::string& where) { context_.report(code, why, where); }

  void names() {
    check_name(context_, sdfg_.name, "graph", "");
    std::set<std::string> taken;
    auto declare = [&](const std::string& name, const char* what) {
      check_name(context_, name, what, name.substr(0, 64));
      if (!taken.insert(name).second)
        report("sdfg.name.duplicate", "'" + name + "' is declared twice among symbols and containers", name);
    };
    for (const std::string& s : sdfg_.symbols) declare(s, "symbol");
    for (const Container& c : sdfg_.containers) declare(c.name, "container");
  }

  void container(const Container& c) {
    const std::string where = "array " + c.name;
    const Scope scope = Scope{}.inside(where);
    if (c.strides.size() != c.shape.size())
      report("sdfg.container.rank",
             std::to_string(c.strides.size()) + " strides for " + std::to_string(c.shape.size()) + " dimensions",
             where);
    for (const Expr& e : c.shape) check_symbolic(context_, e, scope, "sdfg.container.read");
    for (const Expr& e : c.strides) check_symbolic(context_, e, scope, "sdfg.container.read");
    check_symbolic(context_, c.offset, scope, "sdfg.container.read");
    if (c.transient == (c.storage == Storage::argument))
      report("sdfg.container.transient", "a container is either an argument or transient", where);
    if (c.dead && (c.storage != Storage::argument || c.constant || shares_memory(c)))
      report("sdfg.container.dead", "only a written argument that shares its alias class with no other can be dead",
             where);
    if (c.natural && (c.storage != Storage::argument || !is_integer(c.type)))
      report("sdfg.container.natural", "only an argument of integers is said to hold no negative ones", where);
    if (c.storage == Storage::device_shared && !context_.private_to_grid.contains(c.name))
      report("sdfg.gpu.shared", "device_shared, but private to no gpu_grid loop", where);
  }

  // What is not looked at in a dead container, another one that may be the same memory would show.
  bool shares_memory(const Container& c) const {
    return c.alias_class != 0 && std::ranges::any_of(sdfg_.containers, [&](const Container& other) {
             return &other != &c && other.alias_class == c.alias_class;
           });
  }

  bool is_argument(const std::string& name) const {
    const Container* c = context_.find(name);
    return c && c->storage == Storage::argument;
  }

  void arguments() {
    std::set<std::string> given;
    for (const std::string& name : sdfg_.arguments) {
      if (!given.insert(name).second) report("sdfg.argument.duplicate", "'" + name + "' is listed twice", "arguments");
      if (!context_.symbols.contains(name) && !is_argument(name))
        report("sdfg.argument.unknown", "'" + name + "' is neither a symbol nor an argument container", "arguments");
    }
    auto require = [&](const std::string& name) {
      if (!given.contains(name)) report("sdfg.argument.missing", "'" + name + "' is not listed", "arguments");
    };
    for (const std::string& s : sdfg_.symbols) require(s);
    for (const Container& c : sdfg_.containers)
      if (c.storage == Storage::argument) require(c.name);
  }

  void assumptions(const Scope& root) {
    const Scope scope = root.inside("assume");
    for (const Expr& e : sdfg_.assumptions) {
      check_expr(context_, e, scope);
      for_each_read(e, [&](const std::string& name, const std::vector<Expr>&) {
        const Container* c = context_.find(name);
        if (c && (!c->shape.empty() || context_.written.contains(name) || c->storage != Storage::argument))
          report("sdfg.assumption.read", "'" + name + "' is not a scalar argument that the graph leaves as it is",
                 scope.where);
      });
    }
    for (const auto& [a, b] : sdfg_.disjoint)
      for (const std::string& name : {a, b})
        if (a == b || !is_argument(name))
          report("sdfg.disjoint.container", "'" + a + "' and '" + b + "' are not two argument containers", "disjoint");
  }

  void region(const Region& r, const Scope& scope) {
    if (scope.depth > depth_limit)
      return report("sdfg.depth", "control flow nested more than " + std::to_string(depth_limit) + " deep",
                    scope.where);
    for (const Node& n : r.nodes)
      match(
          n.value, [&](const State& s) { state(s, scope); }, [&](const Loop& l) { loop(l, scope); },
          [&](const If& i) {
            const Scope inside = scope.inside("if");
            condition(i.condition, inside);
            region(i.then_body, inside);
            region(i.else_body, inside);
          },
          [&](const While& w) {
            const Scope inside = scope.inside("while");
            condition(w.condition, inside);
            region(w.body, inside);
          });
  }

  void state(const State& s, const Scope& scope) {
    const Scope inside = scope.inside("state " + s.name.substr(0, 64));
    check_name(context_, s.name, "state", inside.where);
    if (!states_.insert(s.name).second)
      report("sdfg.state.duplicate", "two states named '" + s.name + "'", inside.where);
    check_state(context_, s, inside);
  }

  void condition(const Condition& c, const Scope& scope) {
    std::vector<std::optional<ElementType>> types;
    for (const Memlet& m : c.inputs) {
      const Container* read = check_memlet(context_, m, scope);
      types.push_back(read ? std::optional(read->type) : std::nullopt);
      if (m.combine) report("sdfg.condition.input", memlet_text(m) + ": a condition combines nothing", scope.where);
    }
    if (c.code.type != ElementType::boolean)
      report("sdfg.condition.type", "a condition of type " + std::string(info(c.code.type).name), scope.where);
    check_scalar(context_, c.code, types, scope);
  }

  void loop(const Loop& l, const Scope& scope) {
    Scope inside = scope.inside("loop " + l.symbol.substr(0, 64));
    const std::string& where = inside.where;
    check_name(context_, l.symbol, "loop symbol", where);
    if (!loops_.insert(l.symbol).second)
      report("sdfg.loop.symbol", "two loops over '" + l.symbol + "'", where);
    else if (parameters_.contains(l.symbol) || context_.find(l.symbol))
      report("sdfg.name.duplicate", "'" + l.symbol + "' is a loop symbol and declared besides", where);
    Scope bounds = scope;
    bounds.where = where;
    check_expr(context_, l.begin, bounds);
    check_expr(context_, l.end, bounds);
    if (l.step == 0) report("sdfg.loop.step", "a loop that does not move", where);
    if (l.prefetch < 0 || l.prefetch > max_prefetch)
      report("sdfg.loop.prefetch", "a loop prefetches 0 to " + std::to_string(max_prefetch) + " iterations ahead",
             where);
    const auto symbol = context_.symbols.insert(l.symbol);
    schedule(l, scope, inside);
    const std::set<std::string> own(l.privates.begin(), l.privates.end());
    for (const std::string& name : own) {
      const Container* c = context_.find(name);
      if (!c || !c->transient)
        report("sdfg.loop.private", "'" + name + "' is private, but not a transient container", where);
      context_.privates.insert(name);
    }
    std::set<std::string> reduced;
    for (const Reduction& r : l.reductions) {
      if (!context_.find(r.container) || !reduced.insert(r.container).second || own.contains(r.container))
        report("sdfg.reduction.container", "'" + r.container + "' is unknown, private to the loop, or reduced twice",
               where);
      else
        check_reduction(context_, l, r, inside);
    }
    region(l.body, inside);
    for (const std::string& name : own) context_.privates.erase(context_.privates.find(name));
    context_.symbols.erase(symbol);
  }

  void schedule(const Loop& l, const Scope& around, Scope& inside) {
    auto parameter = [&](bool good, const char* what) {
      if (!good) report("sdfg.loop.schedule", what, inside.where);
    };
    auto dimension = [&](int d, const std::vector<int>& taken) {
      if (d < 0 || d > 2 || std::ranges::find(taken, d) != taken.end())
        report("sdfg.gpu.dimension", "a GPU dimension is 0, 1 or 2, and its own among nested loops", inside.where);
    };
    match(
        l.schedule, [](const Sequential&) {},
        [&](const Parallel& p) {
          parameter(p.threads >= 0 && p.chunk >= 0, "threads and chunk are not negative");
          inside.ordered = false;
        },
        [&](const Simd& s) {
          parameter(s.lanes >= 0, "lanes is not negative");
          inside.ordered = false;
        },
        [&](const Unroll& u) { parameter(u.factor >= 1, "factor is at least 1"); },
        [&](const GpuGrid& g) {
          dimension(g.dimension, around.grid);
          if (!around.block.empty()) report("sdfg.gpu.grid", "a gpu_grid loop inside a gpu_block loop", inside.where);
          inside.grid.push_back(g.dimension);
          inside.ordered = false;
        },
        [&](const GpuBlock& b) {
          dimension(b.dimension, around.block);
          if (around.grid.empty())
            report("sdfg.gpu.block", "a gpu_block loop outside every gpu_grid loop", inside.where);
          inside.block.push_back(b.dimension);
          inside.ordered = false;
        });
  }

  Context& context_;
  const Sdfg& sdfg_;
  const std::set<std::string> parameters_{sdfg_.symbols.begin(), sdfg_.symbols.end()};
  std::set<std::string> states_, loops_;
};

}  // namespace

Scope Scope::inside(const std::string& place) const {
  Scope result = *this;
  result.where += (where.empty() ? "" : " / ") + place;
  ++result.depth;
  return result;
}

Context::Context(const Sdfg& graph, std::size_t limit)
    : sdfg(graph), symbols(graph.symbols.begin(), graph.symbols.end()), limit_(limit) {
  for (const Container& c : sdfg.containers) containers.emplace(c.name, &c);
  walk(sdfg.root, [&](const Node& n) {
    if (const auto* l = std::get_if<Loop>(&n.value)) {
      private_somewhere.insert(l->privates.begin(), l->privates.end());
      if (std::holds_alternative<GpuGrid>(l->schedule)) private_to_grid.insert(l->privates.begin(), l->privates.end());
    } else if (const auto* s = std::get_if<State>(&n.value)) {
      for (const Edge& e : s->edges)
        if (e.target >= 0 && static_cast<std::size_t>(e.target) < s->nodes.size())
          if (const auto* a = std::get_if<AccessNode>(&s->nodes[static_cast<std::size_t>(e.target)]))
            written.insert(a->container);
    }
  });
}

void Context::report(const char* code, const std::string& why, const std::string& where) {
  if (errors_.size() >= limit_) return;
  Error error{.code = code, .why = why, .where = where};
  // One fault may be met at an access node and at each of its memlets.
  if (std::ranges::find(errors_, error) == errors_.end()) errors_.push_back(std::move(error));
}

const Container* Context::find(const std::string& name) const {
  const auto it = containers.find(name);
  return it == containers.end() ? nullptr : it->second;
}

const Container* check_use(Context& context, const std::string& container, const Scope& scope) {
  const Container* c = context.find(container);
  if (!c) {
    context.report("sdfg.container.unknown", "'" + container + "' is not declared", scope.where);
    return nullptr;
  }
  if (context.private_somewhere.contains(container) && !context.privates.contains(container))
    context.report("sdfg.loop.private-scope", "'" + container + "' is private to a loop, and used outside of it",
                   scope.where);
  return c;
}

}  // namespace rules

std::vector<Error> check_all(const Sdfg& sdfg) {
  rules::Context context(sdfg, 200);  // more of them help nobody
  rules::GraphChecker(context).run();
  return std::move(context).take_errors();
}

Result<void> check(const Sdfg& sdfg) {
  rules::Context context(sdfg, 1);
  rules::GraphChecker(context).run();
  const std::vector<Error> errors = std::move(context).take_errors();
  if (!errors.empty()) return std::unexpected(errors.front());
  return {};
}

Result<void> check_size(const Sdfg& sdfg) {
  std::size_t parts = 0;
  visit(sdfg.root, [&](const Node& n) {
    ++parts;
    if (const auto* l = std::get_if<Loop>(&n.value)) parts += l->privates.size() + l->reductions.size();
    if (const auto* s = std::get_if<State>(&n.value)) parts += s->nodes.size();
  });
  if (sdfg.symbols.size() <= most_symbols && sdfg.containers.size() <= most_containers && parts <= most_parts)
    return {};
  return fail("sdfg.size", std::to_string(sdfg.symbols.size()) + " symbols, " + std::to_string(sdfg.containers.size()) +
                               " containers and " + std::to_string(parts) + " loops, states and nodes of these; " +
                               std::to_string(most_symbols) + ", " + std::to_string(most_containers) + " and " +
                               std::to_string(most_parts) + " are taken");
}

Result<void> check_foreign(const Sdfg& sdfg) {
  TRY_VOID(check_size(sdfg));
  return check(sdfg);
}

}  // namespace sous::sdfg
