#include "transforms/normal/units.h"

#include <algorithm>

#include "sdfg/one_sided.h"
#include "sdfg/planted_fault.h"
#include "transforms/normal/util.h"

namespace sous::transforms::normal {

using namespace sdfg;

namespace {

Region slice(const Region& region, std::size_t first, std::size_t last) {
  Region result;
  for (std::size_t k = first; k < last; ++k) result.nodes.push_back(region.nodes[k]);
  return result;
}

bool within(const std::set<std::string>& some, const std::set<std::string>& all) {
  return std::ranges::includes(all, some);
}

}  // namespace

NormalForm::Unit cut_out(const Sdfg& sdfg, std::size_t first, std::size_t last) {
  Sdfg nest;
  nest.root = slice(sdfg.root, first, last);
  std::set<std::string> used = containers_of(nest.root), outside = containers_of(slice(sdfg.root, 0, first));
  const std::set<std::string> written = sdfg::touched(nest.root).written;
  const std::set<std::string> read_after = sdfg::touched(slice(sdfg.root, last, sdfg.root.nodes.size())).read;
  outside.merge(containers_of(slice(sdfg.root, last, sdfg.root.nodes.size())));
  visit(nest.root, [&](const Node& n) {
    if (const auto* loop = std::get_if<Loop>(&n.value)) used.insert(loop->privates.begin(), loop->privates.end());
  });

  std::set<std::string> symbols;
  const auto note = [&](const Expr& e) {
    symbols.merge(e.symbols());
    used.merge(e.reads());
    return e;
  };
  map_exprs(nest.root, note);
  for (const Container& c : sdfg.containers)
    if (used.contains(c.name)) {
      for (const Expr& e : c.shape) note(e);
      for (const Expr& e : c.strides) note(e);
      note(c.offset);
    }
  for (const std::string& s : sdfg.symbols)
    if (symbols.contains(s)) {
      nest.symbols.push_back(s);
      nest.arguments.push_back(s);
    }
  const std::set<std::string> decisive = sdfg::decisive_signs(sdfg, nest.root);
  for (Container c : sdfg.containers) {
    if (!used.contains(c.name)) continue;
    if (c.transient && outside.contains(c.name)) {
      c.transient = false;
      c.storage = Storage::argument;
    }
    const bool read_later = read_after.contains(c.name) && !planted(Fault::dead_though_read_later);
    c.dead = c.dead && written.contains(c.name) && !read_later;
    c.natural = c.natural && decisive.contains(c.name);
    if (!c.transient) nest.arguments.push_back(c.name);
    nest.containers.push_back(std::move(c));
  }
  const std::set<std::string> known(nest.symbols.begin(), nest.symbols.end());
  for (const Expr& e : sdfg.assumptions)
    if (within(e.symbols(), known) && within(e.reads(), used)) nest.assumptions.push_back(e);
  for (const auto& pair : sdfg.disjoint)
    if (used.contains(pair.first) && used.contains(pair.second)) nest.disjoint.push_back(pair);

  NormalForm::Unit unit{.first = first, .last = last, .nest = {}, .structural_hash = {}, .to_original = {}};
  std::tie(unit.nest, unit.to_original) = canonical_names(nest);
  unit.structural_hash = structural_hash(unit.nest);
  return unit;
}

std::vector<NormalForm::Unit> units_of(const Sdfg& sdfg) {
  std::vector<std::size_t> nests;
  for (std::size_t k = 0; k < sdfg.root.nodes.size(); ++k)
    if (has_loop(sdfg.root.nodes[k])) nests.push_back(k);
  std::vector<NormalForm::Unit> units;
  if (nests.size() > 1) units.push_back(cut_out(sdfg, 0, sdfg.root.nodes.size()));
  for (std::size_t k : nests) units.push_back(cut_out(sdfg, k, k + 1));
  return units;
}

}  // namespace sous::transforms::normal
