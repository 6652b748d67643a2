// Scalar expansion, contraction, privates: see passes.h.
#include <algorithm>

#include "transforms/interchange_bounds.h"
#include "transforms/normal/facts.h"
#include "transforms/normal/scalars.h"
#include "transforms/normal/util.h"

namespace sous::transforms::normal {

using namespace sdfg;

namespace {

// The nodes directly in the region in which it is touched.
std::vector<const Node*> touching(const Region& region, const std::string& name) {
  std::vector<const Node*> result;
  for (const Node& node : region.nodes)
    if (touches(node, name)) result.push_back(&node);
  return result;
}

// The innermost region with all accesses to a container, and the loops around it. Null under a While (nothing is known
// about its iterations) or where a bound or a condition reads the container.
struct Home {
  const Region* region = nullptr;
  LoopsAround around;
};
Home home_of(const Region& region, const std::string& name, LoopsAround around = {}) {
  const std::vector<const Node*> nodes = touching(region, name);
  if (nodes.empty()) return {};
  if (nodes.size() > 1) return {&region, around};
  return match(
      nodes[0]->value, [&](const State&) { return Home{&region, around}; },
      [&](const Loop& l) {
        if (l.begin.reads().contains(name) || l.end.reads().contains(name)) return Home{&region, around};
        LoopsAround inner = around;
        inner.push_back(&l);
        return home_of(l.body, name, inner);
      },
      [&](const If& i) {
        const bool then_touches = !touching(i.then_body, name).empty();
        const bool else_touches = !touching(i.else_body, name).empty();
        if (touched_itself(*nodes[0]).read.contains(name) || (then_touches && else_touches))
          return Home{&region, around};
        return home_of(then_touches ? i.then_body : i.else_body, name, around);
      },
      [](const While&) { return Home{}; });
}

// Whether the first access in the region is a state that defines the scalar anew.
bool defined_first(const Region& region, const std::string& name) {
  const std::vector<const Node*> nodes = touching(region, name);
  return !nodes.empty() && defines(*nodes[0], name);
}

// Whether a run of the region may read the scalar before it has written it. `written`: whether it has for sure, before
// and then behind the region.
bool exposed(const Region& region, const std::string& name, bool& written) {
  for (const Node& node : region.nodes) {
    const bool reads = match(
        node.value,
        [&](const State& s) {
          const Touched t = sdfg::touched(s);
          const bool before = !written && t.read.contains(name);
          written = written || t.written.contains(name);
          return before;
        },
        [&](const Loop& l) {
          if (!written && (l.begin.reads().contains(name) || l.end.reads().contains(name))) return true;
          bool inside = written;
          return exposed(l.body, name, inside);
        },
        [&](const If& i) {
          if (!written && touched_itself(node).read.contains(name)) return true;
          bool yes = written, no = written;
          if (exposed(i.then_body, name, yes) || exposed(i.else_body, name, no)) return true;
          written = yes && no;
          return false;
        },
        [&](const While& w) {
          const bool tests = touched_itself(node).read.contains(name);
          if (w.test_first && !written && tests) return true;
          bool inside = written;
          if (exposed(w.body, name, inside)) return true;
          if (w.test_first) return false;
          written = inside;
          return !written && tests;
        });
    if (reads) return true;
  }
  return false;
}

// The innermost loop around all accesses to the scalar, as far as loops and conditions over symbols alone lead down,
// where each iteration writes it before it reads it: in its branches and inner loops, too. Null: there is none.
const Loop* writes_first(const Region& region, const std::string& name, const Loop* around = nullptr) {
  const std::vector<const Node*> nodes = touching(region, name);
  const auto* loop = nodes.size() == 1 ? std::get_if<Loop>(&nodes[0]->value) : nullptr;
  if (loop && !loop->begin.reads().contains(name) && !loop->end.reads().contains(name))
    return writes_first(loop->body, name, loop);
  bool written = false;
  return around && !exposed(region, name, written) ? around : nullptr;
}

// Whether a loop lies among the accesses. Else distribution may leave them side by side.
bool spans_loop(const Region& region, const std::string& name) {
  bool begun = false, loop = false, found = false;
  for (const Node& node : region.nodes) {
    const bool here = touches(node, name);
    begun = begun || here;
    loop = loop || (begun && has_loop(node));
    found = found || (here && loop);
  }
  return found;
}

// Bounds of a loop symbol over all iterations of the loops around it, in parameters only: low <= symbol < high.
struct Hull {
  Expr low, high;
};
std::optional<Expr> extreme(const Expr& e, const LoopsAround& around, const std::vector<Hull>& hulls, bool largest) {
  Expr result = e;
  for (std::size_t k = hulls.size(); k-- > 0;) {
    const std::string& symbol = around[k]->symbol;
    if (!result.uses(symbol)) continue;
    const auto factor = coefficient_of(result, symbol);
    if (!factor || !factor->constant()) return std::nullopt;
    const bool at_high = (*factor->constant() > 0) == largest;
    result = result.substitute({{symbol, at_high ? hulls[k].high - 1 : hulls[k].low}});
  }
  return result.reads().empty() && result.is_valid() ? std::optional(result) : std::nullopt;
}
std::optional<std::vector<Hull>> hulls_of(const LoopsAround& around) {
  std::vector<Hull> hulls;
  for (const Loop* loop : around) {
    if (loop->step != 1) return std::nullopt;
    std::optional<Expr> low, high;
    for (const Expr& piece : max_pieces(loop->begin))
      if (!low) low = extreme(piece, around, hulls, false);
    for (const Expr& piece : min_pieces(loop->end))
      if (!high) high = extreme(piece, around, hulls, true);
    if (!low || !high) return std::nullopt;
    hulls.push_back({*low, *high});
  }
  return hulls;
}

// Replaces each access to `name`, in subscripts too, by one with the subset that `to` gives for the old one.
Region map_subsets(const Region& region, const std::string& name, const std::function<Subset(const Subset&)>& to) {
  Region result = map_exprs(region, [&](const Expr& e) {
    return e.map_reads([&](const std::string& container, const Subset& subset) {
      return Expr::read(container, container == name ? to(subset) : subset);
    });
  });
  visit(result, [&](Node& node) {
    change_memlets(node, [&](Memlet& m) {
      if (m.container == name) m.subset = to(m.subset);
    });
  });
  return result;
}

// The subsets of all accesses to `name`, in subscripts too.
std::vector<Subset> subsets_of(const Region& region, const std::string& name) {
  std::vector<Subset> result;
  for_each_memlet(region, [&](const Memlet& m, bool) {
    if (m.container == name) result.push_back(m.subset);
  });
  map_exprs(region, [&](const Expr& e) {
    return e.map_reads([&](const std::string& container, const Subset& subset) {
      if (container == name) result.push_back(subset);
      return Expr::read(container, subset);
    });
  });
  return result;
}

// Whether all that subscripts do with the scalar is to wait for a loop that finds its value: the place of the nearest,
// a row's class. No bound reads it, and what is only an index of what follows (a neighbour's) is computed again sooner
// than it is stored.
bool waits_for_loop(const Region& home, const std::string& name) {
  bool bounds = false, found = false;
  visit(home, [&](const Node& node) {
    const auto* loop = std::get_if<Loop>(&node.value);
    if (loop == nullptr) return;
    bounds = bounds || loop->begin.reads().contains(name) || loop->end.reads().contains(name);
    const auto reads = [&](const std::string& read) { return read == name; };
    found = found || (sdfg::touched(loop->body).written.contains(name) && !exprs_read(loop->body, reads));
  });
  return found && !bounds;
}

}  // namespace

Expanded expand_scalars(const Sdfg& sdfg, Log& log) {
  Expanded result{.sdfg = sdfg, .arrays = {}};
  const Facts facts(sdfg);
  for (Container& c : result.sdfg.containers) {
    if (!is_local_scalar(result.sdfg, c.name)) continue;
    const Home home = home_of(result.sdfg.root, c.name);
    if (!home.region || home.around.empty() || !defined_first(*home.region, c.name)) continue;
    if (!spans_loop(*home.region, c.name)) continue;
    const auto reads_it = [&](const std::string& read) { return read == c.name; };
    if (exprs_read(result.sdfg.root, reads_it) && !waits_for_loop(*home.region, c.name)) continue;
    const auto hulls = hulls_of(home.around);
    if (!hulls) continue;
    Subset subset;
    for (std::size_t k = 0; k < hulls->size(); ++k) {
      const Expr extent = (*hulls)[k].high - (*hulls)[k].low;
      c.shape.push_back(facts.non_negative(extent) ? extent : Expr::max(extent, 0));
      subset.push_back(Expr::symbol(home.around[k]->symbol) - (*hulls)[k].low);
    }
    c.strides = row_major(c.shape);
    c.storage = Storage::heap;
    result.sdfg.root = map_subsets(result.sdfg.root, c.name, [&](const Subset&) { return subset; });
    result.arrays.push_back(c.name);
    log.push_back("expand: " + c.name + " over " + std::to_string(subset.size()) + " loops");
  }
  return result;
}

Sdfg contract_scalars(const Sdfg& sdfg, const std::vector<std::string>& arrays, Log& log) {
  Sdfg result = sdfg;
  for (const std::string& name : arrays) {
    const Home home = home_of(result.root, name);
    if (!home.region) continue;
    const std::vector<Subset> accesses = subsets_of(result.root, name);
    std::set<std::string> common, used;
    for (const Loop* loop : home.around) common.insert(loop->symbol);
    std::vector<bool> keep;
    for (std::size_t d = 0; d < accesses[0].size(); ++d) {
      const std::set<std::string> symbols = accesses[0][d].symbols();
      const bool same = std::ranges::all_of(accesses, [&](const Subset& s) { return s[d] == accesses[0][d]; });
      const bool inside = std::ranges::all_of(
          symbols, [&](const std::string& s) { return common.contains(s) || result.has_symbol(s); });
      keep.push_back(!same || !inside);
      used.insert(symbols.begin(), symbols.end());
    }
    // A common loop that no dimension follows would see the value of its previous iteration.
    const bool followed = std::ranges::all_of(common, [&](const std::string& s) { return used.contains(s); });
    if (!followed || std::ranges::find(keep, false) == keep.end()) continue;
    const auto kept = [&](const auto& all) {
      std::decay_t<decltype(all)> some;
      for (std::size_t d = 0; d < all.size(); ++d)
        if (keep[d]) some.push_back(all[d]);
      return some;
    };
    Container& c = *result.find(name);
    c.shape = kept(c.shape);
    c.strides = row_major(c.shape);
    if (c.shape.empty()) c.storage = Storage::stack;
    result.root = map_subsets(result.root, name, [&](const Subset& s) { return kept(s); });
    log.push_back("contract: " + name + " to " + std::to_string(c.shape.size()) + " dimensions");
  }
  return result;
}

Sdfg mark_privates(const Sdfg& sdfg) {
  Sdfg result = sdfg;
  std::map<std::string, std::vector<std::string>> privates;  // by loop
  for (const Container& c : sdfg.containers) {
    if (!is_local_scalar(sdfg, c.name)) continue;
    const Home home = home_of(sdfg.root, c.name);
    if (home.region && !home.around.empty() && home.region == &home.around.back()->body &&
        defined_first(*home.region, c.name))
      privates[home.around.back()->symbol].push_back(c.name);
    else if (const Loop* loop = writes_first(sdfg.root, c.name))
      privates[loop->symbol].push_back(c.name);
  }
  visit(result.root, [&](Node& node) {
    auto* l = std::get_if<Loop>(&node.value);
    if (!l) return;
    // What forwarding has removed is nobody's private either.
    std::erase_if(l->privates,
                  [&](const std::string& name) { return sdfg.find(name) == nullptr || is_local_scalar(sdfg, name); });
    for (const std::string& name : privates[l->symbol]) l->privates.push_back(name);
  });
  return result;
}

}  // namespace sous::transforms::normal
