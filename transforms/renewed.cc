#include "transforms/renewed.h"

#include <algorithm>

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Memlet;
using sdfg::Node;
using sdfg::Region;

Result<std::set<std::string>> reused(const Nest& nest, const std::string& loop) {
  TRY(const auto carried, sdfg::carried_by(nest.dependences, nest.scop, nest.tree, loop));
  std::set<std::string> result;
  for (const sdfg::Carried& c : carried)
    result.insert(nest.dependences.all()[static_cast<std::size_t>(c.dependence)].container);
  return result;
}

bool is_sized(const sdfg::Container& c) {
  if (!normal::on_host(c)) return false;
  constexpr std::int64_t most = std::int64_t{1} << 32;  // an extent beyond is that of a pointer
  return std::ranges::all_of(c.shape,
                             [](const Expr& e) { return e.reads().empty() && e.constant().value_or(0) <= most; });
}

namespace {

// Leaves of the region those loops and copies.
bool keep_last(Region& region, const std::string& symbol, const LastValues& last) {
  const auto fixed = [&](const Expr& e) { return !e.uses(symbol) && e.reads().empty(); };
  bool known = true;
  std::erase_if(region.nodes, [&](Node& n) {
    if (!sdfg::touched(n).written.contains(last.container)) return true;
    return match(
        n.value,
        [&](sdfg::State& s) {
          const auto a = sdfg::as_assignment(s);
          known = known && a;
          if (!known || std::ranges::find(a->inputs, a->out) != a->inputs.end()) return true;
          const Memlet from{.container = last.own, .subset = *last.moved(a->out.subset), .combine = {}};
          s = sdfg::assignment(s.name, a->out, sdfg::ScalarExpr::make_input(0, a->code.type), {from});
          known = std::ranges::all_of(a->out.subset, fixed);
          return false;
        },
        [&](Loop& l) {
          known = keep_last(l.body, symbol, last) && fixed(l.begin) && fixed(l.end) && known;
          const std::int64_t step = l.step;
          l = sdfg::counted(l.symbol, l.begin, l.end, std::move(l.body.nodes));
          l.step = step;
          return l.body.nodes.empty();
        },
        [&](sdfg::If& i) {
          known = known && i.condition.inputs.empty();
          i.condition.code.visit([&](const sdfg::ScalarExpr& e) {
            known = known && (e.op != sdfg::ScalarOp::symbolic || fixed(e.symbolic));
          });
          known = keep_last(i.then_body, symbol, last) && keep_last(i.else_body, symbol, last) && known;
          return i.then_body.nodes.empty() && i.else_body.nodes.empty();
        },
        [&](sdfg::While&) { return !(known = false); });
  });
  return known;
}

}  // namespace

std::optional<Region> copies_of_last_values(const Region& body, const std::string& symbol, const LastValues& last,
                                            normal::Names& names) {
  sdfg::Sdfg holder;
  holder.root = body;
  if (!keep_last(holder.root, symbol, last) || holder.root.nodes.empty()) return std::nullopt;
  sdfg::Renaming fresh;
  const sdfg::NodeNames old = sdfg::node_names(holder.root);
  for (const std::string& inner : old.symbols) fresh.symbols[inner] = names.fresh(inner + "_x");
  for (const std::string& state : old.states) fresh.states[state] = names.fresh(state + "_x");
  return sdfg::rename(holder, fresh).root;
}

}  // namespace sous::transforms
