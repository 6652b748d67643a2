// What the passes of the normal form share: walking over regions, what a stretch of nodes touches, fresh names.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::transforms::normal {

// The node with what f makes of each region directly inside it.
sdfg::Node with_bodies(sdfg::Node node, const std::function<sdfg::Region(const sdfg::Region&)>& f);

// Rebuilds a region bottom-up: f gets each region after the regions inside its nodes are done, and the loops around it.
using LoopsAround = std::vector<const sdfg::Loop*>;
sdfg::Region rewrite_regions(const sdfg::Region& region,
                             const std::function<sdfg::Region(sdfg::Region, const LoopsAround&)>& f,
                             LoopsAround around = {});

// Containers that the subscripts are read from.
std::set<std::string> reads_of(const sdfg::Memlet& memlet);
// What the node reads or writes, and whether the container is among it.
std::set<std::string> containers_of(const sdfg::Node& node);
std::set<std::string> containers_of(const sdfg::Region& region);
bool touches(const sdfg::Node& node, const std::string& container);
bool on_host(const sdfg::Container& container);
// Whether something below runs on a GPU.
bool has_gpu_loops(const sdfg::Region& region);
// Whether two containers may share memory.
bool may_overlap(const sdfg::Sdfg& sdfg, const std::string& a, const std::string& b);
// Whether something in `written` may overlap `container`.
bool any_overlaps(const sdfg::Sdfg& sdfg, const std::set<std::string>& written, const std::string& container);

// Whether an expression below (a bound, a subscript, a symbolic leaf) reads a container that is asked for.
bool exprs_read(const sdfg::Region& region, const std::function<bool(const std::string&)>& asked);

// Drops inputs that `code` does not use, makes equal ones one, and puts them in the order of their first use.
void tidy_inputs(sdfg::ScalarExpr& code, std::vector<sdfg::Memlet>& inputs);
// Calls f on what the node itself computes: an assignment, of which `out` is the target, or a condition. Where f
// changes that, and returns true, the inputs are tidied.
using ChangeCode =
    std::function<bool(sdfg::ScalarExpr& code, std::vector<sdfg::Memlet>& inputs, const sdfg::Memlet* out)>;
void change_code(sdfg::Node& node, const ChangeCode& f);
// The assignment that the node is, if it is one.
std::optional<sdfg::Assignment> assignment_of(const sdfg::Node& node);
// Whether it gives the container a value that does not depend on the old one.
bool defines(const sdfg::Node& node, const std::string& container);
// The state of an assignment with tidy inputs.
sdfg::State tidy_assignment(std::string name, sdfg::Memlet out, sdfg::ScalarExpr code,
                            std::vector<sdfg::Memlet> inputs);

// Names that are free in an Sdfg: `wish`, else wish_2, wish_3 … (with this separator); each is given once.
class Names {
 public:
  explicit Names(const sdfg::Sdfg& sdfg, std::string separator = "_");
  std::string fresh(const std::string& wish);

 private:
  std::set<std::string> used_;
  std::string separator_;
};

bool has_loop(const sdfg::Node& node);

}  // namespace sous::transforms::normal
