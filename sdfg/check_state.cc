#include <algorithm>

#include "sdfg/check_rules.h"
#include "sdfg/lexer.h"
#include "sdfg/text_internal.h"

namespace sous::sdfg::rules {
namespace {

// Checks hold a reachability matrix of the nodes.
constexpr std::size_t node_limit = 4096;

class StateChecker {
 public:
  StateChecker(Context& context, const State& state, const Scope& scope)
      : context_(context), state_(state), scope_(scope) {}

  void run() {
    if (state_.nodes.size() > node_limit || state_.edges.size() > 4 * node_limit)
      return report("sdfg.state.size",
                    "more than " + std::to_string(node_limit) + " nodes, or four times as many edges");
    if (!edges()) return;
    into_.resize(state_.nodes.size());
    out_of_.resize(state_.nodes.size());
    for (const Edge& e : state_.edges) {
      into_[static_cast<std::size_t>(e.target)].push_back(&e);
      out_of_[static_cast<std::size_t>(e.source)].push_back(&e);
    }
    for (std::size_t k = 0; k < state_.nodes.size(); ++k) {
      const int index = static_cast<int>(k);
      match(
          state_.nodes[k], [&](const AccessNode& a) { check_use(context_, a.container, scope_); },
          [&](const Tasklet& t) { tasklet(index, t); });
    }
    order();
  }

 private:
  void report(const char* code, const std::string& why) { context_.report(code, why, scope_.where); }
  const DataflowNode& node(int k) const { return state_.nodes[static_cast<std::size_t>(k)]; }
  // Whether the ends of all edges are such that the other rules can look at them.
  bool edges() {
    bool usable = true;
    for (const Edge& e : state_.edges) {
      const int count = static_cast<int>(state_.nodes.size());
      if (e.source < 0 || e.target < 0 || e.source >= count || e.target >= count) {
        report("sdfg.edge.node", "an edge between nodes " + std::to_string(e.source) + " and " +
                                     std::to_string(e.target) + " of " + std::to_string(count));
        usable = false;
        continue;
      }
      const auto* from = std::get_if<AccessNode>(&node(e.source));
      const auto* to = std::get_if<AccessNode>(&node(e.target));
      if (!from == !to) {
        report("sdfg.edge.ends", "an edge connects an access node with a tasklet");
        usable = false;
        continue;
      }
      const std::string& container = (from ? from : to)->container;
      if (e.memlet.container != container)
        report("sdfg.edge.container",
               "a memlet of '" + e.memlet.container + "' on an edge of an access node of '" + container + "'");
      if (e.memlet.combine && from)
        report("sdfg.memlet.combine", memlet_text(e.memlet) + ": only an edge into an access node combines");
      const Container* c = check_memlet(context_, e.memlet, scope_);
      if (to && c && c->constant) report("sdfg.container.constant-written", "'" + container + "' is declared const");
      if (c && e.memlet.combine && !combines(*e.memlet.combine, c->type))
        report("sdfg.memlet.combine-type",
               memlet_text(e.memlet) + ": the operator does not work on " + std::string(info(c->type).name));
    }
    return usable;
  }

  static bool combines(ReductionOp op, ElementType type) {
    switch (op) {
      case ReductionOp::sum:
      case ReductionOp::product:
      case ReductionOp::min:
      case ReductionOp::max:
        return type != ElementType::boolean;
      case ReductionOp::bit_and:
      case ReductionOp::bit_or:
      case ReductionOp::bit_xor:
        return !is_float(type);
    }
    __builtin_unreachable();
  }

  const std::vector<const Edge*>& edges_of(int k, bool into) const {
    return (into ? into_ : out_of_)[static_cast<std::size_t>(k)];
  }

  // Binds every connector: `inputs` to one edge each, `output` to at least one.
  void connectors(int k, const std::vector<std::string>& inputs, const std::string& output) {
    std::map<std::string, int> bound;
    for (const Edge* e : edges_of(k, true)) ++bound[e->connector];
    for (const auto& [name, times] : bound) {
      if (std::ranges::find(inputs, name) == inputs.end())
        report("sdfg.edge.connector", "node " + std::to_string(k) + " has no input '" + name + "'");
      else if (times > 1)
        report("sdfg.edge.connector-twice", "input '" + name + "' of node " + std::to_string(k) + " is bound twice");
    }
    for (const std::string& name : inputs)
      if (!bound.contains(name))
        report("sdfg.edge.unbound", "input '" + name + "' of node " + std::to_string(k) + " has no edge");
    const auto& out = edges_of(k, false);
    if (out.empty()) report("sdfg.edge.unbound", "output of node " + std::to_string(k) + " has no edge");
    for (const Edge* e : out)
      if (e->connector != output)
        report("sdfg.edge.connector", "node " + std::to_string(k) + " has no output '" + e->connector + "'");
  }

  std::optional<ElementType> type_of(const Memlet& m) const {
    const Container* c = context_.find(m.container);
    return c ? std::optional(c->type) : std::nullopt;
  }

  void tasklet(int k, const Tasklet& t) {
    std::set<std::string> names;
    for (const std::string& name : t.inputs) {
      check_name(context_, name, "connector", scope_.where);
      if (!names.insert(name).second) report("sdfg.tasklet.connector", "two inputs named '" + name + "'");
    }
    connectors(k, t.inputs, "out");
    std::vector<std::optional<ElementType>> types(t.inputs.size());
    for (const Edge* e : edges_of(k, true)) {
      const auto input = std::ranges::find(t.inputs, e->connector);
      if (input != t.inputs.end()) types[static_cast<std::size_t>(input - t.inputs.begin())] = type_of(e->memlet);
    }
    for (const Edge* e : edges_of(k, false)) {
      const auto type = type_of(e->memlet);
      if (type && *type != t.code.type)
        report("sdfg.tasklet.type", "a value of type " + std::string(info(t.code.type).name) + " written to '" +
                                        e->memlet.container + "', which holds " + std::string(info(*type).name));
    }
    check_scalar(context_, t.code, types, scope_);
  }

  // Acyclic, and accesses of one container of which one writes are ordered by a path.
  void order() {
    const std::size_t count = state_.nodes.size();
    std::vector<std::vector<std::size_t>> next(count);
    std::vector<int> waiting(count, 0);
    for (const Edge& e : state_.edges) {
      next[static_cast<std::size_t>(e.source)].push_back(static_cast<std::size_t>(e.target));
      ++waiting[static_cast<std::size_t>(e.target)];
    }
    std::vector<std::size_t> sorted;
    for (std::size_t k = 0; k < count; ++k)
      if (waiting[k] == 0) sorted.push_back(k);
    std::vector<bool> written(count, false);
    for (const Edge& e : state_.edges) written[static_cast<std::size_t>(e.target)] = true;
    for (std::size_t k = 0; k < sorted.size(); ++k)
      for (const std::size_t n : next[sorted[k]])
        if (--waiting[n] == 0) sorted.push_back(n);
    if (sorted.size() < count) return report("sdfg.state.cycle", "the edges form a cycle");
    std::vector<std::vector<bool>> reaches(count, std::vector<bool>(count, false));
    for (std::size_t k = sorted.size(); k-- > 0;)
      for (const std::size_t n : next[sorted[k]]) {
        reaches[sorted[k]][n] = true;
        for (std::size_t m = 0; m < count; ++m)
          if (reaches[n][m]) reaches[sorted[k]][m] = true;
      }
    std::map<std::string, std::vector<std::size_t>> accesses;
    for (std::size_t k = 0; k < count; ++k)
      if (const auto* a = std::get_if<AccessNode>(&state_.nodes[k])) accesses[a->container].push_back(k);
    for (const auto& [container, nodes] : accesses)
      for (std::size_t a = 0; a < nodes.size(); ++a)
        for (std::size_t b = a + 1; b < nodes.size(); ++b) {
          if (!written[nodes[a]] && !written[nodes[b]]) continue;
          if (reaches[nodes[a]][nodes[b]] || reaches[nodes[b]][nodes[a]]) continue;
          return report("sdfg.state.race",
                        "two access nodes of '" + container + "', one of them written, are not ordered by a path");
        }
  }

  Context& context_;
  const State& state_;
  const Scope& scope_;
  std::vector<std::vector<const Edge*>> into_, out_of_;  // of each node
};

}  // namespace

const Container* check_memlet(Context& context, const Memlet& memlet, const Scope& scope) {
  const Container* c = check_use(context, memlet.container, scope);
  if (c && c->shape.size() != memlet.subset.size())
    context.report("sdfg.memlet.rank",
                   memlet_text(memlet) + ": '" + c->name + "' has " + std::to_string(c->shape.size()) + " dimensions",
                   scope.where);
  for (const Expr& e : memlet.subset) check_expr(context, e, scope);
  return c;
}

void check_state(Context& context, const State& state, const Scope& scope) {
  StateChecker(context, state, scope).run();
}

}  // namespace sous::sdfg::rules
