// Forwarding of scalar definitions and dead code: see scalars.h.
#include <algorithm>

#include "sdfg/contraction.h"
#include "sdfg/mathematics.h"
#include "sdfg/planted_fault.h"
#include "transforms/normal/scalars.h"
#include "transforms/normal/util.h"

namespace sous::transforms::normal {

using namespace sdfg;

bool is_local_scalar(const Sdfg& sdfg, const std::string& container) {
  const Container* c = sdfg.find(container);
  return c && c->transient && c->shape.empty() && on_host(*c);
}

namespace {

// Work that forwarding into several places or into a loop would multiply. Up to `cheap` it is less than what a load
// and a store of the scalar would cost.
constexpr int cheap = 2;
int cost(const ScalarExpr& code) {
  int total = 0;
  code.visit([&](const ScalarExpr& e) {
    const OpForm form = info(e.op).form;
    if (form == OpForm::Leaf || e.op == ScalarOp::cast || e.op == ScalarOp::uncontracted) return;
    if (e.op == ScalarOp::div || e.op == ScalarOp::rem)
      total += 10;
    else if (form == OpForm::Call && e.op != ScalarOp::min && e.op != ScalarOp::max && e.op != ScalarOp::select)
      total += 20;
    else
      total += 1;
  });
  return total;
}

// Most states do not, and what they assign takes longer to tell.
bool names(const State& s, const std::string& container) {
  return std::ranges::any_of(s.edges, [&](const Edge& e) { return e.memlet.container == container; });
}

// How often an expression names the container: once forwarded, it would be computed as often.
int count_reads(const ScalarExpr& code, const std::vector<Memlet>& inputs, const std::string& container) {
  int count = 0;
  code.visit([&](const ScalarExpr& e) {
    count += e.op == ScalarOp::input && inputs[static_cast<std::size_t>(e.input)].container == container;
  });
  return count;
}
int count_reads(const Region& region, const std::string& container) {
  int count = 0;
  visit(region, [&](const Node& node) {
    match(
        node.value,
        [&](const State& s) {
          if (!names(s, container)) return;
          if (const auto a = as_assignment(s)) {
            count += count_reads(a->code, a->inputs, container);
            return;
          }
          for_each_memlet(node, [&](const Memlet& m, bool writes) { count += !writes && m.container == container; });
        },
        [](const Loop&) {}, [&](const If& i) { count += count_reads(i.condition.code, i.condition.inputs, container); },
        [&](const While& w) { count += count_reads(w.condition.code, w.condition.inputs, container); });
  });
  return count;
}

std::set<std::string> operands(const Assignment& a) {
  std::set<std::string> result;
  for (const Memlet& m : a.inputs) {
    result.insert(m.container);
    result.merge(reads_of(m));
  }
  return result;
}

// Whether an operand of a sum (or its negation) is an input that reads the container.
bool adds(const ScalarExpr& code, const std::vector<Memlet>& inputs, const std::string& container) {
  const auto reads = [&](const ScalarExpr& operand) {
    const ScalarExpr* e = &operand;
    while (e->op == ScalarOp::neg) e = &e->args[0];
    return e->op == ScalarOp::input && inputs[static_cast<std::size_t>(e->input)].container == container;
  };
  bool found = false;
  code.visit([&](const ScalarExpr& e) {
    if (e.op == ScalarOp::add || e.op == ScalarOp::sub) found = found || std::ranges::any_of(e.args, reads);
  });
  return found;
}

constexpr std::size_t most_operands = 64;

// Whether evaluating the code evaluates an input that reads the container.
bool surely_reads(const ScalarExpr& code, const std::vector<Memlet>& inputs, const std::string& container) {
  if (code.op == ScalarOp::input) return inputs[static_cast<std::size_t>(code.input)].container == container;
  for (std::size_t k = 0; k < operands_in_any_case(code); ++k)
    if (surely_reads(code.args[k], inputs, container)) return true;
  return false;
}

// Whether all that the node reads is read before it writes anything: a state, or a condition that guards one.
bool reads_first(const Node& node) {
  const auto only_state = [](const Region& r) {
    return r.nodes.empty() || (r.nodes.size() == 1 && std::holds_alternative<State>(r.nodes[0].value));
  };
  const auto* guarded = std::get_if<If>(&node.value);
  return std::holds_alternative<State>(node.value) ||
         (guarded != nullptr && only_state(guarded->then_body) && only_state(guarded->else_body));
}

class Forwarder {
 public:
  Forwarder(const Sdfg& sdfg, Log& log) : sdfg_(sdfg), log_(log), names_(sdfg) {}

  Region region(Region r) {
    for (std::size_t p = 0; p < r.nodes.size(); ++p) {
      const std::optional<Assignment> a = assignment_of(r.nodes[p]);
      if (!a) continue;
      if (is_local_scalar(sdfg_, a->out.container)) {
        if (!operands(*a).contains(a->out.container)) forward(r, p, *a);
      } else if (merge_with_next(r, p, *a)) {
        --p;  // the merged store is looked at next, which may be overwritten in turn
      }
    }
    return r;
  }
  bool changed() const { return changed_; }
  // What merge_with_next has made.
  const std::vector<Container>& scalars() const { return scalars_; }

 private:
  // From the definition at r.nodes[p] downwards, until it or one of its operands may be overwritten.
  void forward(Region& r, std::size_t p, Assignment definition) {
    const std::string name = definition.out.container;
    const std::set<std::string> needed = operands(definition);
    const int price = cost(definition.code);
    const bool fails = sets_errno(definition.code);
    if (added(name)) definition.code = kept_apart(definition.code);
    int uses = 0, uses_in_loops = 0;
    std::size_t last = p + 1;
    for (; last < r.nodes.size(); ++last) {
      const Node& node = r.nodes[last];
      const Touched t = sdfg::touched(node);
      const bool clobbers =
          t.written.contains(name) ||
          (!planted(Fault::forward_past_write) &&
           std::ranges::any_of(needed, [&](const std::string& n) { return any_overlaps(sdfg_, t.written, n); }));
      if (clobbers && !reads_first(node)) break;
      const int here = count_reads(Region{{node}}, name);
      // A call that sets errno is made where the program makes it.
      if (here > 0 && fails) {
        const auto use = assignment_of(node);
        if (!use || !surely_reads(use->code, use->inputs, name)) return;
      }
      uses += here;
      if (has_loop(node)) uses_in_loops += here;
      if (clobbers) {
        ++last;
        break;
      }
    }
    if (price > cheap) {
      if (uses != 1 || uses_in_loops > 0 || count_reads(sdfg_.root, name) != 1) return;
    }
    for (std::size_t q = p + 1; q < last; ++q) r.nodes[q] = replace(r.nodes[q], definition);
  }

  // X[s] = e; X[s] = f(X[s])   becomes   X[s] = f(e),   or   t = e; X[s] = f(t)   where f names it several times and e
  // is expensive: as if the program had written it with a temporary.
  bool merge_with_next(Region& r, std::size_t p, const Assignment& first) {
    std::optional<Assignment> second = p + 1 < r.nodes.size() ? assignment_of(r.nodes[p + 1]) : std::nullopt;
    if (!second || second->out != first.out) return false;
    const std::string& name = first.out.container;
    for (const Memlet& m : second->inputs) {
      if (m.container == name ? m.subset != first.out.subset : may_overlap(sdfg_, m.container, name)) return false;
      for (const std::string& index : reads_of(m))
        if (may_overlap(sdfg_, index, name)) return false;
    }
    for (const std::string& index : reads_of(first.out))
      if (may_overlap(sdfg_, index, name)) return false;
    const int uses = count_reads(second->code, second->inputs, name);
    bool as_index = false;
    second->code.visit([&](const ScalarExpr& e) {
      as_index = as_index || (e.op == ScalarOp::symbolic && e.symbolic.reads().contains(name));
    });
    if (as_index || uses == 0) return false;
    if (uses > 1 && cost(first.code) > cheap) {
      // What a scalar holds may go unread; what an argument holds is computed, errno and all.
      if (sets_errno(first.code) && sdfg_.find(name)->dead) return false;
      through_scalar(r, p, first, *second);
      return false;
    }
    // Each merge looks at all that was merged before; and an expression of hundreds of operands is no better than two.
    if (first.inputs.size() + second->inputs.size() > most_operands) return false;
    if (sets_errno(first.code) && !surely_reads(second->code, second->inputs, name)) return false;
    Assignment value = first;
    if (adds(second->code, second->inputs, name)) value.code = kept_apart(value.code);
    inline_into(second->code, second->inputs, value);
    r.nodes[p + 1] =
        tidy_assignment(std::get<State>(r.nodes[p + 1].value).name, second->out, second->code, second->inputs);
    r.nodes.erase(r.nodes.begin() + static_cast<std::ptrdiff_t>(p));
    changed_ = true;
    log_.push_back("forward: " + name + " into the store that overwrites it");
    return true;
  }

  void through_scalar(Region& r, std::size_t p, const Assignment& first, Assignment second) {
    const Memlet scalar{names_.fresh("t"), {}, std::nullopt};
    scalars_.push_back(temporary(scalar.container, sdfg_.find(first.out.container)->type, {}, Storage::stack));
    for (Memlet& m : second.inputs)
      if (m == first.out) m = scalar;
    r.nodes[p] = assignment(std::get<State>(r.nodes[p].value).name, scalar, first.code, first.inputs);
    r.nodes[p + 1] = assignment(std::get<State>(r.nodes[p + 1].value).name, second.out, second.code, second.inputs);
    changed_ = true;
    log_.push_back("forward: " + first.out.container + " through " + scalar.container +
                   " into the store that overwrites it");
  }

  // Whether the scalar is an operand of a sum anywhere.
  bool added(const std::string& name) const {
    bool found = false;
    const auto look = [&](const ScalarExpr& code, const std::vector<Memlet>& inputs) {
      found = found || adds(code, inputs, name);
    };
    visit(sdfg_.root, [&](const Node& node) {
      match(
          node.value,
          [&](const State& s) {
            if (found || !names(s, name)) return;
            if (const auto a = as_assignment(s)) look(a->code, a->inputs);
          },
          [](const Loop&) {}, [&](const If& i) { look(i.condition.code, i.condition.inputs); },
          [&](const While& w) { look(w.condition.code, w.condition.inputs); });
    });
    return found;
  }

  Node replace(const Node& node, const Assignment& d) {
    const std::string& name = d.out.container;
    if (!sdfg::touched(node).read.contains(name)) return node;
    Region region = replace_in(Region{{node}}, d);
    if (const std::optional<Expr> value = as_expr(d))
      region = map_exprs(region, [&](const Expr& e) {
        return e.map_reads(
            [&](const std::string& c, const std::vector<Expr>& at) { return c == name ? *value : Expr::read(c, at); });
      });
    if (region.nodes[0] != node) {
      changed_ = true;
      log_.push_back("forward: " + name + " into its uses");
    }
    return region.nodes[0];
  }

  // The definition as a symbolic expression. Signed types only, and symbolic leaves of those that C computes in: there
  // an int of C does not wrap.
  std::optional<Expr> as_expr(const Assignment& d) const {
    if (info(d.code.type).kind != TypeKind::Signed) return std::nullopt;
    if (d.code.op == ScalarOp::symbolic && d.code.type != ElementType::i32 && d.code.type != ElementType::i64)
      return std::nullopt;
    if (d.code.op == ScalarOp::symbolic) return d.code.symbolic;
    if (d.code.op == ScalarOp::constant) return Expr(d.code.integer_value());
    if (d.code.op != ScalarOp::input) return std::nullopt;
    const Memlet& from = d.inputs[static_cast<std::size_t>(d.code.input)];
    return Expr::read(from.container, from.subset);
  }

  // Inputs of tasklets and conditions that read the scalar compute it instead.
  static void inline_into(ScalarExpr& code, std::vector<Memlet>& inputs, const Assignment& d) {
    const std::size_t first = inputs.size();
    std::vector<Memlet> all = inputs;
    all.insert(all.end(), d.inputs.begin(), d.inputs.end());
    const ScalarExpr value = d.code.map_inputs([&](const ScalarExpr& leaf) {
      return ScalarExpr::make_input(leaf.input + static_cast<int>(first), leaf.type);
    });
    code = code.map_inputs([&](const ScalarExpr& leaf) {
      return inputs[static_cast<std::size_t>(leaf.input)].container == d.out.container ? value : leaf;
    });
    inputs = std::move(all);
  }
  static bool reads(const std::vector<Memlet>& inputs, const std::string& name) {
    return std::ranges::any_of(inputs, [&](const Memlet& m) { return m.container == name; });
  }

  static Region replace_in(Region region, const Assignment& d) {
    visit(region, [&](Node& node) {
      change_code(node, [&](ScalarExpr& code, std::vector<Memlet>& inputs, const Memlet*) {
        if (!reads(inputs, d.out.container)) return false;
        inline_into(code, inputs, d);
        return true;
      });
    });
    return region;
  }

  const Sdfg& sdfg_;
  Log& log_;
  Names names_;
  std::vector<Container> scalars_;
  bool changed_ = false;
};

// Containers that something reads, apart from the updates of that same container.
std::set<std::string> read_by_others(const Sdfg& sdfg) {
  std::set<std::string> result;
  visit(sdfg.root, [&](const Node& node) {
    const std::optional<Assignment> a = assignment_of(node);
    for (const std::string& name : touched_itself(node).read)
      if (!a || name != a->out.container) result.insert(name);
  });
  return result;
}

}  // namespace

bool forward_definitions(Sdfg& sdfg, Log& log) {
  Forwarder forwarder(sdfg, log);
  Sdfg result = sdfg;
  result.root =
      rewrite_regions(sdfg.root, [&](Region r, const LoopsAround&) { return forwarder.region(std::move(r)); });
  result.containers.insert(result.containers.end(), forwarder.scalars().begin(), forwarder.scalars().end());
  sdfg = std::move(result);
  return forwarder.changed();
}

bool remove_dead(Sdfg& sdfg, Log& log) {
  const std::set<std::string> live = read_by_others(sdfg);
  const auto is_dead = [&](const Node& node) {
    return match(
        node.value,
        [&](const State& s) {
          const std::optional<Assignment> a = as_assignment(s);
          if (!a) return s.edges.empty();
          const Container* out = sdfg.find(a->out.container);
          const bool itself = a->code.op == ScalarOp::input && a->inputs[0] == a->out;
          // A call that sets errno stays: that much of what is stored in an argument the program sees.
          const bool unseen =
              out->transient || (out->dead && !sets_errno(a->code)) || planted(Fault::live_store_removed);
          return itself || (unseen && !live.contains(out->name));
        },
        [](const Loop& l) { return l.body.nodes.empty(); },
        [](const If& i) { return i.then_body.nodes.empty() && i.else_body.nodes.empty(); },
        [](const While&) { return false; });  // might not end
  };
  int removed = 0;
  sdfg.root = rewrite_regions(sdfg.root, [&](Region r, const LoopsAround&) {
    removed += static_cast<int>(std::erase_if(r.nodes, is_dead));
    return r;
  });
  std::set<std::string> used(live.begin(), live.end());
  for_each_memlet(sdfg.root, [&](const Memlet& m, bool) { used.insert(m.container); });
  for (const Container& c : sdfg.containers)
    for (const std::vector<Expr>* exprs : {&c.shape, &c.strides})
      for (const Expr& e : *exprs) used.merge(e.reads());
  const auto containers =
      std::erase_if(sdfg.containers, [&](const Container& c) { return c.transient && !used.contains(c.name); });
  if (removed > 0) log.push_back("dead code: " + std::to_string(removed) + " nodes removed");
  return removed > 0 || containers > 0;
}

}  // namespace sous::transforms::normal
