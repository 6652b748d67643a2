#include "transforms/normal/accesses.h"

#include "transforms/normal/util.h"

namespace sous::transforms::normal {

using namespace sdfg;

std::vector<TreeAccess> accesses_below(const Scop& scop, const ScheduleTree& tree) {
  std::vector<TreeAccess> result;
  for_each_leaf(tree, [&](const ScheduleLeaf& leaf) {
    const Statement& statement = scop.statements[static_cast<std::size_t>(leaf.statement)];
    std::map<std::string, Expr> with;
    for (std::size_t k = 0; k < statement.iterators.size(); ++k)
      with.emplace(statement.iterators[k], leaf.iterators[k]);
    for_each_memlet(substitute(statement.node, with),
                    [&](const Memlet& m, bool writes) { result.push_back({.memlet = m, .writes = writes}); });
  });
  return result;
}

std::optional<std::int64_t> byte_stride(const Sdfg& frame, const TreeAccess& access, const std::string& symbol) {
  const Container* c = frame.find(access.memlet.container);
  if (!c) return std::nullopt;
  Expr address;
  for (std::size_t d = 0; d < access.memlet.subset.size() && d < c->strides.size(); ++d)
    address = address + access.memlet.subset[d] * c->strides[d];
  const std::optional<Expr> factor = coefficient_of(address, symbol);
  if (!factor) return std::nullopt;
  std::map<std::string, std::int64_t> values;
  for (const std::string& name : factor->symbols()) values[name] = 1000;
  const auto stride = factor->evaluate(values);
  std::int64_t bytes = 0;
  if (!stride || __builtin_mul_overflow(*stride, std::int64_t{info(c->type).bytes}, &bytes)) return std::nullopt;
  return bytes;
}

}  // namespace sous::transforms::normal
