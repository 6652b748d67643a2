#include "transforms/footprints.h"

#include <algorithm>

#include "sdfg/planted_fault.h"
#include "sdfg/polyhedral.h"
#include "sdfg/scan.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

namespace {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Memlet;
using sdfg::Node;
using sdfg::Points;
using sdfg::Region;
using sdfg::ScalarExpr;

class Footprints {
 public:
  explicit Footprints(const Region& region) { walk(region, {}, true); }
  const std::map<std::string, Footprint>& all() const { return all_; }

 private:
  void add(const Memlet& m, const Points& around, bool write, bool certain) {
    Footprint& footprint = all_[m.container];
    const auto known = [](const sdfg::Dim& d) { return !d.end && sdfg::is_quasi_affine(d.begin); };
    if (!std::ranges::all_of(m.subset, known)) {
      (write ? footprint.writes_known : footprint.reads_known) = false;
      return;
    }
    const std::vector<Expr> subscript = sdfg::subscripts(m.subset);
    footprint.accesses.push_back(
        {.subscript = subscript, .elements = at(around, subscript), .write = write, .certain = certain});
  }

  void walk(const Region& region, const Points& around, bool certain) {
    for (const Node& n : region.nodes)
      match(
          n.value, [&](const sdfg::State& s) { state(s, around, certain); },
          [&](const Loop& l) {
            Points inside = around;
            inside.exists.push_back(l.symbol);
            const bool affine = sdfg::is_quasi_affine(l.begin) && sdfg::is_quasi_affine(l.end);
            if (affine) sdfg::append(inside.conditions, sdfg::runs(l.begin, l.end, l.step, Expr::symbol(l.symbol)));
            walk(l.body, inside, certain && affine);
          },
          [&](const sdfg::If& i) {
            for (const Memlet& m : i.condition.inputs) add(m, around, false, certain);
            Points inside = around, otherwise = around;
            const bool affine = i.condition.inputs.empty() && sdfg::is_affine_condition(i.condition.code);
            if (affine) {
              inside.conditions.push_back(i.condition.code);
              otherwise.conditions.push_back(ScalarExpr::unary(sdfg::ScalarOp::logical_not, i.condition.code));
            }
            walk(i.then_body, inside, certain && affine);
            walk(i.else_body, otherwise, certain && affine);
          },
          [&](const sdfg::While&) { unknown(n); }, [](const sdfg::Return&) {});
  }

  void state(const sdfg::State& s, const Points& around, bool certain) {
    const bool library = std::ranges::any_of(
        s.nodes, [](const sdfg::DataflowNode& d) { return std::holds_alternative<sdfg::LibraryNode>(d); });
    if (library) return unknown(Node(s));
    const bool divisible = sdfg::as_assignment(s).has_value();
    sdfg::for_each_memlet(Node(s), [&](const Memlet& m, bool writes) {
      add(m, around, writes, certain);
      all_[m.container].divisible = all_[m.container].divisible && divisible;
    });
  }

  void unknown(const Node& n) {
    const sdfg::Touched t = sdfg::touched(n);
    for (const std::string& name : t.read) all_[name].reads_known = false;
    for (const std::string& name : t.written) all_[name].writes_known = false;
  }

  std::map<std::string, Footprint> all_;
};

}  // namespace

std::vector<std::string> dimensions(std::size_t rank) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < rank; ++d) names.push_back("#" + std::to_string(d));
  return names;
}

Points iterations(const std::vector<sdfg::ScheduleLoop>& loops, const std::vector<ScalarExpr>& conditions) {
  Points result{.dims = {}, .exists = {}, .conditions = conditions};
  for (const sdfg::ScheduleLoop& l : loops) {
    result.exists.push_back(l.symbol);
    sdfg::append(result.conditions, runs(l));
  }
  return result;
}

Points at(const Points& around, const std::vector<Expr>& subscript) {
  Points elements = around;
  elements.dims = dimensions(subscript.size());
  for (std::size_t d = 0; d < subscript.size(); ++d)
    elements.conditions.push_back(sdfg::equal(Expr::symbol(elements.dims[d]), subscript[d]));
  return elements;
}

std::map<std::string, Footprint> footprints(const Region& region) { return Footprints(region).all(); }

Result<bool> is_unwritten(const std::string& container, const Points& elements, const Region& region,
                          const std::vector<ScalarExpr>& around) {
  if (planted(Fault::packed_though_written)) return true;
  const Footprint touched = footprints(region)[container];
  if (!touched.writes_known || !sdfg::is_affine(elements)) return false;
  for (const Footprint::Access& a : touched.accesses) {
    if (!a.write) continue;
    if (!sdfg::is_affine(a.elements)) return false;
    TRY(const bool apart, sdfg::is_apart(elements, a.elements, around));
    if (!apart) return false;
  }
  return true;
}

Result<std::vector<Footprint>> apart(const Footprint& footprint, bool reads_too,
                                     const std::vector<ScalarExpr>& around) {
  const auto together = [&](const Footprint::Access& a, const Footprint::Access& b) -> Result<bool> {
    if (a.subscript == b.subscript) return true;
    if ((!reads_too && !a.write && !b.write) || planted(Fault::promoted_beside_others)) return false;
    TRY(const bool disjoint, sdfg::is_apart(a.elements, b.elements, around));
    return !disjoint;
  };
  std::vector<Footprint> groups;
  for (const Footprint::Access& a : footprint.accesses) {
    Footprint joined{.accesses = {a}};
    std::vector<Footprint> others;
    for (Footprint& g : groups) {
      bool one = false;
      for (const Footprint::Access& b : g.accesses) {
        TRY(const bool meet, together(a, b));
        one = one || meet;
      }
      if (one)
        joined.accesses.insert(joined.accesses.end(), g.accesses.begin(), g.accesses.end());
      else
        others.push_back(std::move(g));
    }
    others.push_back(std::move(joined));
    groups = std::move(others);
  }
  return groups;
}

}  // namespace sous::transforms
