#include "sdfg/written.h"

#include "sdfg/dependence_data.h"
#include "sdfg/schedule_tree.h"

namespace sous::sdfg {
namespace {

// All elements of the container, called `memory`; nothing where its shape is not affine.
std::optional<IslSet> elements(const Dependences::Data& data, const Scop& scop, const Container& c,
                               const std::string& memory) {
  std::vector<std::string> dims, constraints = assumed(scop, data.parameters);
  for (std::size_t d = 0; d < c.shape.size(); ++d) {
    if (!is_quasi_affine(c.shape[d]) || !names_known(c.shape[d], data.parameters)) return std::nullopt;
    dims.push_back(numbered("e", d));
    constraints.push_back("0 <= " + dims.back() + " < (" + isl_text(c.shape[d], data.parameters) + ")");
  }
  const std::string where = constraints.empty() ? "" : " : " + joined(constraints, " and ");
  return data.read_set(memory + "[" + joined(dims, ", ") + "]" + where);
}

bool is_whole(const Dependences::Data& data, const Scop& scop, const Container& c) {
  data.context.restart();
  IslSet written;
  std::string memory;
  for (const Access& a : data.accesses) {
    if (a.container != c.name || !a.write || !a.exact) continue;
    memory = a.tuple;
    IslSet one(isl_map_range(a.map.copy()));
    written = written ? IslSet(isl_set_union(written.release(), one.release())) : std::move(one);
  }
  if (!written) return false;
  const auto all = elements(data, scop, c, memory);
  return all && isl_set_is_subset(all->get(), written.get()) == isl_bool_true && data.context.ok();
}

}  // namespace

std::set<std::string> written_whole(const Sdfg& sdfg, const Budget& budget) {
  std::set<std::string> result;
  const Scop scop = scop_of(sdfg);
  Dependences::Data data(budget);
  collect(data, scop);
  if (!data.context.ok()) return result;
  for (const Container& c : sdfg.containers)
    if (is_whole(data, scop, c)) result.insert(c.name);
  return result;
}

// The graph as the body of a loop: does each iteration read its own values?
bool reads_only_its_own(const Sdfg& sdfg, const std::string& container) {
  Sdfg again = sdfg;
  Loop run;
  run.symbol = "run";
  const auto taken = [&](const std::string& name) {
    bool found = sdfg.has_symbol(name) || sdfg.find(name) != nullptr;
    visit(sdfg.root, [&](const Node& n) {
      const auto* l = std::get_if<Loop>(&n.value);
      found = found || (l && l->symbol == name);
    });
    return found;
  };
  while (taken(run.symbol)) run.symbol += "_";
  run.begin = Expr(0);
  run.end = Expr(2);
  run.body = std::move(again.root);
  again.root = {{Node(run)}};
  const Scop scop = scop_of(again);
  const auto dependences = Dependences::compute(scop);
  if (!dependences) return false;
  const auto own = reads_own_values(*dependences, scop, scop.tree, run.symbol, container);
  return own && *own;
}

}  // namespace sous::sdfg
