#include "sdfg/one_sided.h"

#include <algorithm>
#include <map>
#include <vector>

#include "sdfg/atoms.h"
#include "sdfg/planted_fault.h"

namespace sous::sdfg {
namespace {

// Of a sum: what reads nothing, and the elements with their constant factors; nullopt: another one.
struct Parts {
  Expr rest;
  std::vector<std::pair<std::string, std::int64_t>> elements;
};
std::optional<Parts> parts_of(const Expr& e) {
  Parts parts{.rest = e.constant_term(), .elements = {}};
  for (const Term& term : e.terms()) {
    const bool one = term.atoms.size() == 1;
    const Expr value = term_value(term);
    if (value.reads().empty())
      parts.rest = parts.rest + value;
    else if (one && term.atoms[0].kind == AtomKind::Read)
      parts.elements.emplace_back(term.atoms[0].name, term.coefficient);
    else
      return std::nullopt;
  }
  return parts.rest.is_valid() ? std::optional(std::move(parts)) : std::nullopt;
}

// What an innermost loop does with arrays.
struct Accesses {
  std::vector<Memlet> written, read;
};
Accesses accesses_of(const Region& body) {
  Accesses all;
  visit(body, [&](const Node& node) {
    if (const auto* state = std::get_if<State>(&node.value))
      for (const Edge& e : state->edges) (is_write(*state, e) ? all.written : all.read).push_back(e.memlet);
    if (const auto* branch = std::get_if<If>(&node.value))
      all.read.insert(all.read.end(), branch->condition.inputs.begin(), branch->condition.inputs.end());
  });
  return all;
}

bool is_innermost(const Loop& loop) {
  bool inner = false;
  visit(loop.body, [&](const Node& node) {
    inner = inner || std::holds_alternative<Loop>(node.value) || std::holds_alternative<While>(node.value);
  });
  return !inner;
}

// The part with elements in the place of the variables that are copies of them (`int c = weight[i]`).
Region without_copies(const Sdfg& sdfg, const Region& part) {
  std::map<std::string, int> writes;
  std::map<std::string, Expr> copied;
  visit(part, [&](const Node& node) {
    const auto* state = std::get_if<State>(&node.value);
    if (state == nullptr) return;
    for (const Edge& e : state->edges)
      if (is_write(*state, e)) ++writes[e.memlet.container];
    const auto assignment = as_assignment(*state);
    if (!assignment || assignment->out.combine || assignment->code.op != ScalarOp::input) return;
    const Container* container = sdfg.find(assignment->out.container);
    if (container == nullptr || !container->transient || !container->shape.empty()) return;
    const Memlet& from = assignment->inputs[0];
    copied[container->name] = Expr::read(from.container, from.subset);
  });
  return map_exprs(part, [&](const Expr& e) {
    return map_atoms(e, [&](const Atom& atom, const std::vector<Expr>& args) {
      const auto copy = atom.kind == AtomKind::Read && args.empty() ? copied.find(atom.name) : copied.end();
      return copy != copied.end() && writes[atom.name] == 1 ? copy->second : make_atom(atom, args);
    });
  });
}

enum class Wanted : std::uint8_t { No, Signs, Never };

// Whether `read` meets what `written` writes in later iterations only, if these elements are not negative.
Wanted wanted(const Memlet& read, const Memlet& written, const Loop& loop, std::set<std::string>& elements) {
  if (read.container != written.container || read.subset.size() != written.subset.size()) return Wanted::No;
  std::optional<std::size_t> by_data;
  for (std::size_t d = 0; d < read.subset.size(); ++d) {
    const Expr distance = read.subset[d] - written.subset[d];
    if (distance == Expr(0)) continue;
    if (distance.reads().empty() || by_data) return Wanted::No;
    by_data = d;
  }
  if (!by_data) return Wanted::No;
  const auto along = coefficient_of(written.subset[*by_data], loop.symbol);
  const std::int64_t step = (along ? along->constant().value_or(0) : 0) * (loop.step < 0 ? -1 : 1);
  const Expr distance = read.subset[*by_data] - written.subset[*by_data];
  const auto parts = step != 0 && !distance.uses(loop.symbol) ? parts_of(distance) : std::nullopt;
  const auto fixed = parts ? parts->rest.constant() : std::nullopt;
  if (!fixed) return Wanted::Never;
  const auto later = [&](std::int64_t by) { return by == 0 || (by > 0) == (step > 0); };
  if (!later(*fixed)) return Wanted::Never;
  for (const auto& [name, factor] : parts->elements) {
    if (!later(factor)) return Wanted::Never;
    elements.insert(name);
  }
  return Wanted::Signs;
}

}  // namespace

bool is_natural(const Container& container) {
  const TypeInfo& type = info(container.type);
  return container.natural || (type.kind == TypeKind::Unsigned && type.bytes < 8);
}

std::optional<OneSided> one_sided(const Expr& e, const Sdfg& sdfg) {
  const auto parts = parts_of(e);
  if (!parts || parts->elements.empty()) return std::nullopt;
  const bool above = parts->elements[0].second > 0;
  for (const auto& [name, factor] : parts->elements) {
    const Container* container = sdfg.find(name);
    if (container == nullptr || !is_natural(*container) || (factor > 0) != above) return std::nullopt;
  }
  return OneSided{parts->rest, planted(Fault::one_sided_turned) ? !above : above};
}

std::set<std::string> distances_ahead(const Loop& loop) {
  if (!is_innermost(loop)) return {};
  const Accesses accesses = accesses_of(loop.body);
  std::set<std::string> elements;
  for (const Memlet& written : accesses.written)
    for (const Memlet& read : accesses.read)
      if (wanted(read, written, loop, elements) == Wanted::Never) return {};
  return elements;
}

bool is_at_data_distance(const Loop& loop) {
  if (!is_innermost(loop)) return false;
  const Accesses accesses = accesses_of(loop.body);
  const auto by_data = [&](const Memlet& read, const Memlet& written) {
    if (read.container != written.container || read.subset.size() != written.subset.size()) return false;
    bool found = false;
    for (std::size_t d = 0; d < read.subset.size(); ++d) {
      const Expr distance = read.subset[d] - written.subset[d];
      if (distance.uses(loop.symbol)) return false;
      found = found || !distance.reads().empty();
    }
    return found;
  };
  return std::ranges::any_of(accesses.read, [&](const Memlet& read) {
    return std::ranges::any_of(accesses.written, [&](const Memlet& written) { return by_data(read, written); });
  });
}

std::set<std::string> decisive_signs(const Sdfg& sdfg, const Region& part) {
  std::set<std::string> result;
  const std::set<std::string> changed = touched(part).written;
  const Region read = without_copies(sdfg, part);
  visit(read, [&](const Node& node) {
    const auto* loop = std::get_if<Loop>(&node.value);
    if (loop == nullptr) return;
    for (const std::string& name : distances_ahead(*loop)) {
      const Container* container = sdfg.find(name);
      const bool asked = container != nullptr && container->storage == Storage::argument && !changed.contains(name);
      if (asked && info(container->type).kind == TypeKind::Signed) result.insert(name);
    }
  });
  return result;
}

}  // namespace sous::sdfg
