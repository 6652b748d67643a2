#include "sdfg/data_rows.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace sous::sdfg {
namespace {

// An element, and what is added to its value: -1 where it counts from 1.
struct Element {
  std::string container;
  Expr place, beside;
};
std::optional<Element> as_element(const Expr& e) {
  for (const Term& term : e.terms()) {
    if (term.coefficient != 1 || term.atoms.size() != 1) continue;
    const Atom& atom = term.atoms[0];
    if (atom.kind == AtomKind::Read && atom.args.size() == 1)
      return Element{atom.name, atom.args[0], e - Expr::read(atom.name, atom.args)};
  }
  return std::nullopt;
}

// Gives a nest's rows, by their starts.
class Collector {
 public:
  explicit Collector(const Sdfg& nest) : walk_(nest, nest.root) { region(nest.root); }
  RowLengths found;

 private:
  bool region(const Region& region) {
    for (const Node& node : region.nodes)
      match(
          node.value, [](const State&) {},
          [&](const Loop& l) {
            if (const auto rows = walk_.of(l)) found.emplace(rows->starts, "");
            walk_.inside(l, [&] { return this->region(l.body); });
          },
          [&](const If& i) { walk_.inside(i, [&] { return this->region(i.then_body) && this->region(i.else_body); }); },
          [&](const While& w) { walk_.inside(w, [&] { return this->region(w.body); }); });
    return true;
  }

  RowWalk walk_;
};

}  // namespace

std::optional<DataRows> RowWalk::of(const Loop& loop) const {
  const auto begin = as_element(loop.begin), end = as_element(loop.end);
  if (conditions_ > 0 || !begin || !end || loop.step != 1) return std::nullopt;
  if (begin->container != end->container || begin->beside != end->beside) return std::nullopt;
  const Container* starts = sdfg_.find(begin->container);
  if (starts == nullptr || starts->transient || starts->shape.size() != 1 || written_.contains(starts->name))
    return std::nullopt;
  // Rows in the order of the iterations, or against it.
  const auto next = [&](const Loop& l, int by) {
    return begin->place.substitute({{l.symbol, Expr::symbol(l.symbol) + Expr(by)}}) == end->place;
  };
  const auto over = std::ranges::find_if(around_, [&](const Loop* l) {
    return begin->place.uses(l->symbol) && std::abs(l->step) == 1 && (next(*l, 1) || next(*l, -1));
  });
  if (over == around_.end()) return std::nullopt;
  const Loop& outer = **over;
  const bool up = outer.step > 0, ahead = next(outer, 1);
  const Expr least = up ? outer.begin : outer.end + 1, greatest = up ? outer.end - 1 : outer.begin;
  const auto at = [&](const Expr& value) { return begin->place.substitute({{outer.symbol, value}}); };
  const auto length = [](const Loop& l) { return l.step > 0 ? l.end - l.begin : l.begin - l.end; };
  DataRows result{
      begin->container, at(ahead ? least : greatest), at(ahead ? greatest + 1 : least - 1), length(outer), {}};
  for (const Loop* one : around_) result.lengths.push_back(length(*one));
  const auto known = [&](const Expr& e) {
    return e.is_valid() && e.reads().empty() &&
           std::ranges::none_of(around_, [&](const Loop* other) { return e.uses(other->symbol); });
  };
  const bool all = known(result.first) && known(result.last) && std::ranges::all_of(result.lengths, known);
  return all ? std::optional(std::move(result)) : std::nullopt;
}

const Loop* unsigned_loop(const If& branch) {
  const ScalarExpr& code = branch.condition.code;
  const bool compares = code.op == ScalarOp::le && code.args[0].op == ScalarOp::input &&
                        code.args[0].type == ElementType::u64 && code.args[1].op == ScalarOp::constant &&
                        code.args[1].integer_value() == INT64_MAX && branch.condition.inputs.size() == 1;
  if (!compares || !branch.else_body.nodes.empty() || branch.then_body.nodes.size() != 1) return nullptr;
  const auto* loop = std::get_if<Loop>(&branch.then_body.nodes.front().value);
  const Memlet& begin = branch.condition.inputs.front();
  return loop != nullptr && loop->begin == Expr::read(begin.container, begin.subset) ? loop : nullptr;
}

RowLengths row_lengths(const Sdfg& nest) {
  RowLengths lengths = Collector(nest).found;
  const auto loops = node_names(nest.root).symbols;
  const auto taken = [&](const std::string& name) {
    return std::ranges::find(nest.symbols, name) != nest.symbols.end() || std::ranges::find(loops, name) != loops.end();
  };
  for (auto& [starts, symbol] : lengths)
    for (symbol = starts + "_length"; taken(symbol);) symbol += "_";
  return lengths;
}

Sdfg with_equal_rows(Sdfg nest, const RowLengths& lengths) {
  nest.root = map_exprs(std::move(nest.root), [&](const Expr& e) {
    return e.map_reads([&](const std::string& container, const std::vector<Expr>& at) {
      const auto length = lengths.find(container);
      return length == lengths.end() ? Expr::read(container, at) : at[0] * Expr::symbol(length->second);
    });
  });
  for (const auto& [starts, symbol] : lengths) nest.symbols.push_back(symbol);
  return nest;
}

}  // namespace sous::sdfg
