#include "sdfg/data_rows.h"

#include <algorithm>
#include <cstdlib>

namespace sous::sdfg {
namespace {

// The one element that `e` is the value of.
struct Element {
  std::string container;
  Expr place;
};
std::optional<Element> as_element(const Expr& e) {
  const auto& terms = e.terms();
  if (e.constant_term() != 0 || terms.size() != 1 || terms[0].coefficient != 1 || terms[0].atoms.size() != 1)
    return std::nullopt;
  const Atom& atom = terms[0].atoms[0];
  if (atom.kind != AtomKind::Read || atom.args.size() != 1) return std::nullopt;
  return Element{atom.name, atom.args[0]};
}

void collect(const Region& region, std::vector<const Loop*>& around, RowLengths& lengths) {
  for (const Node& node : region.nodes) {
    const auto* loop = std::get_if<Loop>(&node.value);
    if (loop != nullptr) {
      if (const auto found = data_rows(*loop, around)) lengths.emplace(found->starts, "");
      around.push_back(loop);
    }
    for (const Region* body : bodies(node)) collect(*body, around, lengths);
    if (loop != nullptr) around.pop_back();
  }
}

}  // namespace

std::optional<DataRows> data_rows(const Loop& loop, const std::vector<const Loop*>& around) {
  const auto begin = as_element(loop.begin), end = as_element(loop.end);
  if (!begin || !end || begin->container != end->container || loop.step != 1) return std::nullopt;
  const auto over = std::ranges::find_if(around, [&](const Loop* outer) {
    const Expr next = Expr::symbol(outer->symbol) + 1;
    return begin->place.uses(outer->symbol) && begin->place.substitute({{outer->symbol, next}}) == end->place;
  });
  if (over == around.end() || std::abs((*over)->step) != 1) return std::nullopt;
  const Loop& outer = **over;
  const bool up = outer.step > 0;
  const auto at = [&](const Expr& value) { return begin->place.substitute({{outer.symbol, value}}); };
  DataRows result{begin->container, at(up ? outer.begin : outer.end + 1), at(up ? outer.end : outer.begin + 1),
                  up ? outer.end - outer.begin : outer.begin - outer.end};
  for (const Expr* e : {&result.first, &result.last, &result.count}) {
    const bool inside = std::ranges::any_of(around, [&](const Loop* other) { return e->uses(other->symbol); });
    if (inside || !e->reads().empty()) return std::nullopt;
  }
  return result;
}

RowLengths row_lengths(const Sdfg& nest) {
  RowLengths lengths;
  std::vector<const Loop*> around;
  collect(nest.root, around, lengths);
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
