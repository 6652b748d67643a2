#include "targets/cuda/accesses.h"

#include <algorithm>

#include "sdfg/planted_fault.h"

namespace sous::targets {
namespace {

using sdfg::Expr;

// How many buffers the container is, if it is several.
std::optional<std::int64_t> buffers_of(const sdfg::Container& c) {
  if (c.storage != sdfg::Storage::device_shared || c.shape.size() < 2) return std::nullopt;
  const auto count = c.shape[0].constant();
  return count && *count > 1 ? count : std::nullopt;
}

// x, where the subscript is x mod count.
std::optional<Expr> number_in(const Expr& subscript, std::int64_t count) {
  if (subscript.constant()) return subscript;
  const auto& terms = subscript.terms();
  if (subscript.constant_term() != 0 || terms.size() != 1 || terms[0].coefficient != 1 || terms[0].atoms.size() != 1)
    return std::nullopt;
  const sdfg::Atom& atom = terms[0].atoms[0];
  return atom.kind == sdfg::AtomKind::Mod && atom.args[1] == Expr(count) ? std::optional(atom.args[0]) : std::nullopt;
}

// Which of its buffers all accesses of the node are of.
std::optional<Expr> buffer_of(const sdfg::Sdfg& sdfg, const sdfg::Region& region, const std::string& name,
                              bool written) {
  const auto count = buffers_of(*sdfg.find(name));
  if (!count) return std::nullopt;
  std::set<std::string> inside;
  sdfg::visit(region, [&](const sdfg::Node& n) {
    if (const auto* loop = std::get_if<sdfg::Loop>(&n.value)) inside.insert(loop->symbol);
  });
  std::optional<Expr> number;
  bool one = true;
  sdfg::for_each_memlet(region, [&](const sdfg::Memlet& m, bool writes) {
    if (m.container != name || writes != written) return;
    const auto here = m.subset.empty() ? std::nullopt : number_in(m.subset[0], *count);
    one = one && here && (!number || *number == *here) && here->reads().empty() &&
          std::ranges::none_of(here->symbols(), [&](const std::string& s) { return inside.contains(s); });
    number = here;
  });
  sdfg::map_exprs(region, [&](const Expr& e) {
    one = one && !e.reads().contains(name);
    return e;
  });
  return one ? number : std::nullopt;
}

void add_to(Touches& all, const Touches& more) {
  for (const auto& [name, buffer] : more) {
    const auto [at, is_new] = all.emplace(name, buffer);
    if (!is_new && at->second != buffer) at->second.reset();
  }
}

bool meet(const sdfg::Sdfg& sdfg, const Touches& some, const Touches& others) {
  for (const auto& [a, first] : some)
    for (const auto& [b, second] : others) {
      const sdfg::Container &one = *sdfg.find(a), &other = *sdfg.find(b);
      if (a != b && (one.alias_class == 0 || one.alias_class != other.alias_class)) continue;
      const auto count = a == b ? buffers_of(one) : std::nullopt;
      if (!count) return true;
      if (planted(Fault::gpu_buffers_confused)) continue;
      const auto distance = first && second ? (*first - *second).constant() : std::nullopt;
      if (!distance || *distance % *count == 0) return true;
    }
  return false;
}

}  // namespace

void Accesses::add(const Accesses& more) {
  add_to(read, more.read);
  add_to(written, more.written);
}

void Accesses::forget_buffers() {
  for (Touches* touches : {&read, &written})
    for (auto& [name, buffer] : *touches) buffer.reset();
}

Accesses accesses_of(const sdfg::Sdfg& sdfg, const sdfg::Node& node, const std::set<std::string>& own) {
  const sdfg::Region region{{node}};
  const sdfg::Touched touched = sdfg::touched(region);
  Accesses result;
  for (const std::string& name : touched.read)
    if (!own.contains(name)) result.read[name] = buffer_of(sdfg, region, name, false);
  for (const std::string& name : touched.written)
    if (!own.contains(name)) result.written[name] = buffer_of(sdfg, region, name, true);
  return result;
}

bool conflict(const sdfg::Sdfg& sdfg, const Accesses& some, const Accesses& others) {
  return meet(sdfg, some.read, others.written) || meet(sdfg, some.written, others.read) ||
         meet(sdfg, some.written, others.written);
}

}  // namespace sous::targets
