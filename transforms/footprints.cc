#include "transforms/footprints.h"

#include <algorithm>

#include "sdfg/planted_fault.h"
#include "sdfg/polyhedral.h"
#include "sdfg/scan.h"
#include "transforms/normal/util.h"
#include "transforms/step.h"
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

// The places below a region, which is in this one.
void places(const Region& region, const Around& around, const std::function<void(const Node&, const Around&)>& f) {
  for (const Node& n : region.nodes) {
    f(n, around);
    match(
        n.value, [](const sdfg::State&) {},
        [&](const Loop& l) {
          Around inside = around;
          sdfg::ScheduleLoop bounds{sdfg::counted(l.symbol, l.begin, l.end), {}};
          bounds.step = l.step;
          bounds.schedule = l.schedule;
          inside.enter(bounds);
          places(l.body, inside, f);
        },
        [&](const sdfg::If& i) {
          Around inside = around, otherwise = around;
          const bool affine = i.condition.inputs.empty() && sdfg::is_affine_condition(i.condition.code);
          if (affine) {
            inside.where(i.condition.code);
            otherwise.where(ScalarExpr::unary(sdfg::ScalarOp::logical_not, i.condition.code));
          } else {
            inside.known = otherwise.known = false;
          }
          places(i.then_body, inside, f);
          places(i.else_body, otherwise, f);
        },
        [](const sdfg::While&) {});
  }
}

class Footprints {
 public:
  explicit Footprints(const Region& region) {
    for_each_place(region, [&](const Node& n, const Around& around) {
      match(
          n.value, [&](const sdfg::State& s) { state(s, around); }, [](const Loop&) {},
          [&](const sdfg::If& i) {
            for (const Memlet& m : i.condition.inputs) add(m, around, false);
          },
          [&](const sdfg::While&) { unknown(n); });
    });
  }
  const std::map<std::string, Footprint>& all() const { return all_; }

 private:
  void add(const Memlet& m, const Around& around, bool write) {
    Footprint& footprint = all_[m.container];
    if (!std::ranges::all_of(m.subset, sdfg::is_quasi_affine)) {
      (write ? footprint.writes_known : footprint.reads_known) = false;
      return;
    }
    footprint.accesses.push_back({.subscript = m.subset,
                                  .elements = at(around.iterations(), m.subset),
                                  .write = write,
                                  .certain = around.known});
  }

  void state(const sdfg::State& s, const Around& around) {
    const bool divisible = sdfg::as_assignment(s).has_value();
    sdfg::for_each_memlet(Node(s), [&](const Memlet& m, bool writes) {
      add(m, around, writes);
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

void Around::enter(const sdfg::ScheduleLoop& loop) {
  loops.push_back(loop);
  loops.back().children.clear();
  if (sdfg::is_quasi_affine(loop.begin) && sdfg::is_quasi_affine(loop.end))
    sdfg::append(conditions, runs(loop));
  else
    known = false;
}

void Around::where(const ScalarExpr& condition) {
  guards.push_back(condition);
  conditions.push_back(condition);
}

bool Around::runs_in_threads(const Region& inside) const {
  return !normal::has_gpu_loops(inside) && std::ranges::all_of(loops, [](const sdfg::ScheduleLoop& l) {
    return is_sequential(l) || std::holds_alternative<sdfg::Parallel>(l.schedule);
  });
}

Points Around::iterations() const {
  Points result{.dims = {}, .exists = {}, .conditions = conditions};
  for (const sdfg::ScheduleLoop& l : loops) result.exists.push_back(l.symbol);
  return result;
}

void for_each_place(const Region& region, const std::function<void(const Node&, const Around&)>& f) {
  places(region, {}, f);
}

std::vector<std::string> dimensions(std::size_t rank) {
  std::vector<std::string> names;
  for (std::size_t d = 0; d < rank; ++d) names.push_back("#" + std::to_string(d));
  return names;
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
        TRY(one, together(a, b));
        if (one) break;
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
