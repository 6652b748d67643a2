#include "transforms/roles.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "sdfg/dependences.h"

namespace sous::transforms {
namespace {

using sdfg::Sdfg;
using std::string;

void collect(const sdfg::Region& region, int depth, std::vector<LoopRole>& out) {
  for (const auto& node : region.nodes) {
    if (const auto* loop = std::get_if<sdfg::Loop>(&node.value)) {
      LoopRole role;
      role.symbol = loop->symbol;
      role.depth = depth;
      const std::size_t place = out.size();
      out.push_back(role);
      collect(loop->body, depth + 1, out);
      for (std::size_t k = place + 1; k < out.size(); ++k) {
        out[place].height = std::max(out[place].height, out[k].depth - depth);
      }
    } else {
      for (const sdfg::Region* inside : sdfg::bodies(node)) collect(*inside, depth, out);
    }
  }
}

bool moves_by_one(const sdfg::Memlet& memlet, const string& symbol) {
  if (memlet.subset.empty()) return false;
  const auto last = coefficient_of(memlet.subset.back(), symbol);
  if (!last || last->constant() != 1) return false;
  return std::none_of(memlet.subset.begin(), memlet.subset.end() - 1,
                      [&](const sdfg::Expr& d) { return d.uses(symbol); });
}

bool uses(const sdfg::Memlet& memlet, const string& symbol) {
  return std::any_of(memlet.subset.begin(), memlet.subset.end(), [&](const sdfg::Expr& d) { return d.uses(symbol); });
}

double unlike(const LoopRole& a, const LoopRole& b) {
  return 4.0 * (a.parallel != b.parallel) + 3.0 * (a.reduction != b.reduction) + 2.0 * std::abs(a.depth - b.depth) +
         2.0 * std::abs(a.height - b.height) + 1.0 * ((a.contiguous > 0) != (b.contiguous > 0)) +
         0.25 * std::min(4, std::abs(a.contiguous - b.contiguous)) +
         0.25 * std::min(4, std::abs(a.writes_used - b.writes_used));
}

struct ArrayRole {
  string name;
  sdfg::ElementType type;
  std::size_t rank = 0;
  bool transient = false;
  int reads = 0, writes = 0;
};

std::vector<ArrayRole> array_roles(const Sdfg& nest) {
  std::vector<ArrayRole> out;
  for (const auto& c : nest.containers) out.push_back({c.name, c.type, c.shape.size(), c.transient, 0, 0});
  for_each_memlet(nest.root, [&](const sdfg::Memlet& memlet, bool written) {
    for (auto& role : out) {
      if (role.name == memlet.container) ++(written ? role.writes : role.reads);
    }
  });
  return out;
}

double unlike(const ArrayRole& a, const ArrayRole& b) {
  return 4.0 * (a.rank != b.rank) + 2.0 * (a.type != b.type) + 2.0 * (a.transient != b.transient) +
         2.0 * ((a.writes > 0) != (b.writes > 0)) + 0.25 * std::abs(a.reads - b.reads);
}

// Each of `wanted` (names) gets the unused counterpart that is least unlike it, in the order of `wanted`, ties by
// place. Nests have a handful of loops: no need of an optimal assignment, and a recipe that does not fit is refused by
// its steps.
template <class Role, class Name>
Result<std::map<string, string>> assign(const std::vector<Role>& from, const std::vector<Role>& to,
                                        const std::set<string>& wanted, Name&& name, const char* what) {
  std::map<string, string> out;
  std::set<string> used;
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (!wanted.contains(name(from[k]))) continue;
    const Role* best = nullptr;
    double best_cost = 7;  // past this they have nothing in common
    for (std::size_t j = 0; j < to.size(); ++j) {
      if (used.contains(name(to[j]))) continue;
      const double cost = unlike(from[k], to[j]) + (j == k ? 0 : 0.125);
      if (cost < best_cost) {
        best_cost = cost;
        best = &to[j];
      }
    }
    if (best == nullptr) return fail("roles.no-match", string("no ") + what + " here has the role of " + name(from[k]));
    out[name(from[k])] = name(*best);
    used.insert(name(*best));
  }
  return out;
}

// The canonical name at the head of `text`: "i0" of "i0_t", "a12". Empty if there is none.
string canonical_head(const string& text) {
  if (text.size() < 2 || (text[0] != 'i' && text[0] != 'a' && text[0] != 's')) return "";
  std::size_t end = 1;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
  if (end == 1 || (end < text.size() && text[end] != '_')) return "";
  return text.substr(0, end);
}

template <class F>
void for_each_name(Recipe& recipe, F&& f) {
  for (auto& step : recipe.steps) {
    for (auto& [name, value] : step.params) {
      if (auto* one = std::get_if<string>(&value)) {
        f(*one);
      } else if (auto* many = std::get_if<std::vector<string>>(&value)) {
        for (auto& each : *many) f(each);
      }
    }
  }
}

std::vector<string> state_names(const Sdfg& nest) {
  std::vector<string> out;
  sdfg::visit(nest.root, [&](const sdfg::Node& node) {
    if (const auto* state = std::get_if<sdfg::State>(&node.value)) out.push_back(state->name);
  });
  return out;
}

}  // namespace

std::vector<LoopRole> loop_roles(const Sdfg& nest) {
  const auto scop = sdfg::scop_of(nest);
  const auto dependences = sdfg::Dependences::compute(scop);
  return loop_roles(nest, scop, dependences ? &*dependences : nullptr);
}

std::vector<LoopRole> loop_roles(const Sdfg& nest, const sdfg::Scop& scop, const sdfg::Dependences* dependences) {
  std::vector<LoopRole> roles;
  collect(nest.root, 0, roles);
  for (auto& role : roles) {
    for_each_memlet(nest.root, [&](const sdfg::Memlet& memlet, bool written) {
      if (moves_by_one(memlet, role.symbol)) ++role.contiguous;
      if (written && uses(memlet, role.symbol)) ++role.writes_used;
    });
    if (dependences == nullptr) continue;
    const auto carried = sdfg::carried_by(*dependences, scop, scop.tree, role.symbol);
    if (!carried) continue;
    role.parallel = carried->empty();
    role.reduction = !carried->empty() && std::all_of(carried->begin(), carried->end(),
                                                      [](const sdfg::Carried& c) { return c.self_update; });
  }
  return roles;
}

Result<Recipe> match_roles(const Recipe& recipe, const Sdfg& from, const Sdfg& to,
                           std::map<string, string>* matched_loops) {
  Recipe out = recipe;
  std::set<string> named;
  for_each_name(out, [&](const string& text) { named.insert(canonical_head(text)); });
  std::map<string, string> renamed;

  TRY(auto loops, assign(loop_roles(from), loop_roles(to), named, [](const LoopRole& r) { return r.symbol; }, "loop"));
  TRY(auto arrays,
      assign(array_roles(from), array_roles(to), named, [](const ArrayRole& r) { return r.name; }, "array"));
  if (matched_loops != nullptr) *matched_loops = loops;
  renamed.merge(loops);
  renamed.merge(arrays);
  // States have no role of their own yet: by place.
  const auto states_from = state_names(from), states_to = state_names(to);
  for (std::size_t k = 0; k < states_from.size(); ++k) {
    if (!named.contains(states_from[k])) continue;
    if (k >= states_to.size()) return fail("roles.no-match", "no statement here has the place of " + states_from[k]);
    renamed[states_from[k]] = states_to[k];
  }

  for_each_name(out, [&](string& text) {
    const auto found = renamed.find(canonical_head(text));
    if (found != renamed.end()) text = found->second + text.substr(found->first.size());
  });
  return out;
}

}  // namespace sous::transforms
