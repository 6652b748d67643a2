// What the passes of the normal form share: walking over regions, what a stretch of nodes touches, fresh names.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::transforms::normal {

// Rebuilds a region bottom-up: f gets each region after the regions inside its nodes are done, and the loops around it.
using Around = std::vector<const sdfg::Loop*>;
sdfg::Region rewrite_regions(const sdfg::Region& region,
                             const std::function<sdfg::Region(sdfg::Region, const Around&)>& f, Around around = {});

// Calls f on every memlet below; a combining memlet is reported as a read, then as a write.
void for_each_memlet(const sdfg::Region& region, const std::function<void(const sdfg::Memlet&, bool writes)>& f);
void for_each_memlet(const sdfg::Node& node, const std::function<void(const sdfg::Memlet&, bool writes)>& f);

// Containers that a node reads and writes.
sdfg::Touched touched(const sdfg::Node& node);

// Whether two containers may share memory.
bool may_overlap(const sdfg::Sdfg& sdfg, const std::string& a, const std::string& b);
// Whether something in `written` may overlap `container`.
bool any_overlaps(const sdfg::Sdfg& sdfg, const std::set<std::string>& written, const std::string& container);

// Whether an expression below (a bound, a subscript, a symbolic leaf) reads a container that is asked for.
bool exprs_read(const sdfg::Region& region, const std::function<bool(const std::string&)>& asked);
// Rewrites each expression below: bounds, subscripts, symbolic leaves.
sdfg::Region map_exprs(const sdfg::Region& region, const std::function<sdfg::Expr(const sdfg::Expr&)>& f);
// Replaces atoms of an expression bottom-up.
sdfg::Expr map_atoms(const sdfg::Expr& e, const std::function<sdfg::Expr(const sdfg::Atom&)>& f);
// The expression that a rebuilt atom is.
sdfg::Expr make_atom(sdfg::AtomKind kind, const std::string& name, const std::vector<sdfg::Expr>& args);

// Drops inputs that `code` does not use, makes equal ones one, and puts them in the order of their first use.
void tidy_inputs(sdfg::ScalarExpr& code, std::vector<sdfg::Memlet>& inputs);
// The state of an assignment with tidy inputs.
sdfg::State tidy_assignment(std::string name, sdfg::Memlet out, sdfg::ScalarExpr code,
                            std::vector<sdfg::Memlet> inputs);

// Names that are free in an Sdfg: `wish`, else wish2, wish3 …; each is given once.
class Names {
 public:
  explicit Names(const sdfg::Sdfg& sdfg);
  std::string fresh(const std::string& wish);

 private:
  std::set<std::string> used_;
};

// Whether something below ends the call: passes leave such stretches alone.
bool has_return(const sdfg::Region& region);
bool has_loop(const sdfg::Node& node);

}  // namespace sous::transforms::normal
