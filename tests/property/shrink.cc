// Shrinking: all cases that are one removal away are tried in turn; the first that still fails is taken, until none is.
#include <algorithm>
#include <functional>
#include <set>

#include "sdfg/check.h"
#include "tests/property/property.h"

namespace sous::tests {
namespace {

using namespace sdfg;

// Every region that is `region` less one thing.
void smaller(const Region& region, const std::function<void(Region)>& found);

// Every expression that is `e` with one node replaced by one of its arguments of the same type, or by a constant.
void smaller(const ScalarExpr& e, const std::function<void(ScalarExpr)>& found) {
  if (e.op == ScalarOp::constant) return;
  for (const ScalarExpr& arg : e.args) {
    if (arg.type == e.type) found(arg);
  }
  found(is_float(e.type) ? ScalarExpr::real(1, e.type) : ScalarExpr::integer(1, e.type));
  for (std::size_t k = 0; k < e.args.size(); ++k) {
    smaller(e.args[k], [&](ScalarExpr arg) {
      ScalarExpr changed = e;
      changed.args[k] = std::move(arg);
      found(std::move(changed));
    });
  }
}

// Renumbers the inputs so that only those that `code` uses remain.
void drop_unused(ScalarExpr& code, std::vector<Memlet>& inputs) {
  std::vector<Memlet> kept;
  code = code.map_inputs([&](const ScalarExpr& leaf) {
    const Memlet& memlet = inputs[static_cast<std::size_t>(leaf.input)];
    const auto at = std::ranges::find(kept, memlet);
    const auto index = at - kept.begin();
    if (at == kept.end()) kept.push_back(memlet);
    return ScalarExpr::make_input(static_cast<int>(index), leaf.type);
  });
  inputs = std::move(kept);
}

// With one node of the region replaced by what `parts` gives.
Region spliced(const Region& region, std::size_t at, const std::vector<Node>& parts) {
  Region result;
  for (std::size_t k = 0; k < region.nodes.size(); ++k) {
    if (k != at) {
      result.nodes.push_back(region.nodes[k]);
    } else {
      result.nodes.insert(result.nodes.end(), parts.begin(), parts.end());
    }
  }
  return result;
}

void smaller_node(const Node& node, const std::function<void(const std::vector<Node>&)>& found) {
  const auto regions = [&](const auto& owner, Region std::decay_t<decltype(owner)>::* member) {
    smaller(owner.*member, [&](Region region) {
      auto changed = owner;
      changed.*member = std::move(region);
      found({Node(std::move(changed))});
    });
  };
  const auto conditions = [&](const auto& owner) {
    smaller(owner.condition.code, [&](ScalarExpr code) {
      auto changed = owner;
      changed.condition.code = std::move(code);
      drop_unused(changed.condition.code, changed.condition.inputs);
      found({Node(std::move(changed))});
    });
  };
  match(
      node.value,
      [&](const State& state) {
        const auto assigned = as_assignment(state);
        if (!assigned) return;
        smaller(assigned->code, [&](ScalarExpr code) {
          std::vector<Memlet> inputs = assigned->inputs;
          drop_unused(code, inputs);
          found({Node(assignment(state.name, assigned->out, std::move(code), std::move(inputs)))});
        });
      },
      [&](const Loop& loop) {
        found(substitute(loop.body, {{loop.symbol, loop.begin}}).nodes);  // its first iteration
        if (!std::holds_alternative<Sequential>(loop.schedule)) {
          Loop changed = loop;
          changed.schedule = Sequential{};
          found({Node(std::move(changed))});
        }
        regions(loop, &Loop::body);
      },
      [&](const If& branch) {
        found(branch.then_body.nodes);
        found(branch.else_body.nodes);
        conditions(branch);
        regions(branch, &If::then_body);
        regions(branch, &If::else_body);
      },
      [&](const While& loop) { regions(loop, &While::body); });
}

void smaller(const Region& region, const std::function<void(Region)>& found) {
  for (std::size_t k = 0; k < region.nodes.size(); ++k) found(spliced(region, k, {}));
  for (std::size_t k = 0; k < region.nodes.size(); ++k) {
    smaller_node(region.nodes[k], [&](const std::vector<Node>& parts) { found(spliced(region, k, parts)); });
  }
}

// Without the containers that nothing mentions any more.
void drop_unused(Sdfg& sdfg) {
  const Touched used = touched(sdfg.root);
  std::set<std::string> gone;
  for (const Container& container : sdfg.containers) {
    bool in_private = false;
    visit(sdfg.root, [&](const Node& node) {
      if (const auto* loop = std::get_if<Loop>(&node.value)) {
        in_private = in_private || std::ranges::find(loop->privates, container.name) != loop->privates.end();
      }
    });
    if (!used.read.contains(container.name) && !used.written.contains(container.name) && !in_private) {
      gone.insert(container.name);
    }
  }
  std::erase_if(sdfg.containers, [&](const Container& c) { return gone.contains(c.name); });
  std::erase_if(sdfg.arguments, [&](const std::string& name) { return gone.contains(name); });
}

std::vector<Case> one_step_smaller(const Case& from) {
  std::vector<Case> result;
  const auto add = [&](Case c) {
    drop_unused(c.sdfg);
    if (check(c.sdfg)) result.push_back(std::move(c));
  };
  for (std::size_t k = 0; k < from.recipe.steps.size(); ++k) {
    Case c = from;
    c.recipe.steps.erase(c.recipe.steps.begin() + static_cast<long>(k));
    add(std::move(c));
  }
  smaller(from.sdfg.root, [&](Region root) {
    Case c = from;
    c.sdfg.root = std::move(root);
    add(std::move(c));
  });
  return result;
}

}  // namespace

Case shrink(const Case& failing, const Judge& judge, int rounds) {
  constexpr std::size_t together = 24;
  Case smallest = failing;
  for (bool progress = true; progress && rounds > 0;) {
    progress = false;
    const std::vector<Case> candidates = one_step_smaller(smallest);
    for (std::size_t first = 0; first < candidates.size() && !progress && rounds > 0; first += together) {
      const auto last = std::min(first + together, candidates.size());
      const auto verdicts =
          judge({candidates.begin() + static_cast<long>(first), candidates.begin() + static_cast<long>(last)});
      --rounds;
      for (std::size_t k = 0; k < verdicts.size() && !progress; ++k) {
        if (!verdicts[k] || verdicts[k]->invalid || verdicts[k]->refused) continue;
        smallest = candidates[first + k];
        progress = true;
      }
    }
  }
  return smallest;
}

}  // namespace sous::tests
