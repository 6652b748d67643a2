// Maximal loop distribution: see distribute in passes.h.
#include <algorithm>

#include "transforms/normal/passes.h"
#include "transforms/normal/util.h"
#include "transforms/simplify.h"

namespace sous::transforms::normal {

using namespace sdfg;

namespace {

std::vector<int> statements_below(const ScheduleTree& tree) {
  std::vector<int> result;
  for_each_leaf(tree, [&](const ScheduleLeaf& leaf) { result.push_back(leaf.statement); });
  return result;
}

class Distributor {
 public:
  explicit Distributor(const Work& work) : work_(work), names_(lower(work.scop, work.tree)) { glue_private_users(); }

  ScheduleTree list(const ScheduleTree& nodes, std::size_t level) {
    ScheduleTree out;
    for (const ScheduleNode& node : nodes)
      match(
          node.value,
          [&](const ScheduleLoop& l) {
            for (ScheduleNode& n : loop(l, level)) out.push_back(std::move(n));
          },
          [&](const ScheduleGuard& g) {
            out.emplace_back(ScheduleGuard{.condition = g.condition, .children = list(g.children, level)});
          },
          [&](const ScheduleLeaf& leaf) { out.emplace_back(leaf); });
    return out;
  }

 private:
  // Statements that share a private container stay in one loop, at every level.
  void glue_private_users() {
    std::set<std::string> privates;
    for (const std::string& symbol : loop_symbols(work_.tree)) {
      const ScheduleLoop& l = *find_loop(work_.tree, symbol);
      privates.insert(l.privates.begin(), l.privates.end());
    }
    for (const std::string& name : privates) {
      std::vector<int> users;
      for (std::size_t s = 0; s < work_.scop.statements.size(); ++s)
        if (touches(static_cast<int>(s), name)) users.push_back(static_cast<int>(s));
      for (int a : users)
        for (int b : users)
          if (a != b) glued_.emplace_back(a, b);
    }
  }

  bool touches(int statement, const std::string& name) const {
    return normal::touches(work_.scop.statements[static_cast<std::size_t>(statement)].node, name);
  }

  ScheduleTree loop(const ScheduleLoop& l, std::size_t level) {
    const std::vector<int> statements = statements_below(l.children);
    const std::vector<std::vector<int>> groups = components(statements, level);
    ScheduleTree out;
    for (std::size_t k = 0; k < groups.size(); ++k) {
      ScheduleLoop part = l;
      if (groups.size() > 1) {
        const std::set<int> group(groups[k].begin(), groups[k].end());
        part.children = project(l.children, group);
        std::erase_if(part.privates, [&](const std::string& name) {
          return std::ranges::none_of(groups[k], [&](int s) { return touches(s, name); });
        });
      }
      part.children = list(part.children, level + 1);
      // Copies of a loop have symbols of their own; the first keeps the old one.
      if (k > 0)
        out.push_back(renamed_loops({part}, [&](const std::string& symbol) { return names_.fresh(symbol); })[0]);
      else
        out.emplace_back(std::move(part));
    }
    return out;
  }

  // The tree with only these statements.
  static ScheduleTree project(ScheduleTree tree, const std::set<int>& keep) {
    const auto emptied = [&](auto& inner) {
      inner.children = project(std::move(inner.children), keep);
      return inner.children.empty();
    };
    std::erase_if(tree, [&](ScheduleNode& node) {
      return match(
          node.value, [&](ScheduleLoop& l) { return emptied(l); }, [&](ScheduleGuard& g) { return emptied(g); },
          [&](const ScheduleLeaf& leaf) { return !keep.contains(leaf.statement); });
    });
    return tree;
  }

  // Strongly connected components in topological order, program order among independent ones. A dependence counts at
  // this level unless the loops further out carry all of it.
  std::vector<std::vector<int>> components(const std::vector<int>& statements, std::size_t level) {
    const std::size_t n = statements.size();
    std::map<int, std::size_t> position;
    for (std::size_t k = 0; k < n; ++k) position[statements[k]] = k;
    std::vector<std::vector<bool>> reach(n, std::vector<bool>(n, false));
    const auto add = [&](int source, int target) {
      const auto a = position.find(source), b = position.find(target);
      if (a != position.end() && b != position.end()) reach[a->second][b->second] = true;
    };
    for (const Dependence& d : work_.dependences.all())
      if (d.equal_loops >= level) add(d.source, d.target);
    for (const auto& [a, b] : glued_) add(a, b);
    for (std::size_t k = 0; k < n; ++k)  // transitive closure: nests have few statements
      for (std::size_t a = 0; a < n; ++a)
        if (reach[a][k])
          for (std::size_t b = 0; b < n; ++b)
            if (reach[k][b]) reach[a][b] = true;

    std::vector<std::vector<int>> groups;
    std::vector<bool> done(n, false);
    const auto same = [&](std::size_t a, std::size_t b) { return a == b || (reach[a][b] && reach[b][a]); };
    for (std::size_t placed = 0; placed < n;) {
      for (std::size_t a = 0; a < n; ++a) {
        if (done[a]) continue;
        bool ready = true;  // nothing outside its component has still to come before it
        for (std::size_t b = 0; b < n; ++b) ready = ready && (done[b] || same(a, b) || !reach[b][a]);
        if (!ready) continue;
        std::vector<int> group;
        for (std::size_t b = 0; b < n; ++b)
          if (same(a, b)) {
            group.push_back(statements[b]);
            done[b] = true;
          }
        placed += group.size();
        groups.push_back(std::move(group));
        break;
      }
    }
    return groups;
  }

  const Work& work_;
  Names names_;
  std::vector<std::pair<int, int>> glued_;
};

}  // namespace

void distribute(Work& work, Log& log) {
  const auto accept = [&](ScheduleTree tree, const std::string& what) {
    if (tree == work.tree) return true;
    if (const auto ok = respects_as(work.dependences, work.scop, work.tree, tree); !ok) {
      log.push_back("distribute: " + what + " stays as it is: " + ok.error().to_string());
      return false;
    }
    log.push_back("distribute: " + what + ": " + std::to_string(loop_symbols(work.tree).size()) + " loops became " +
                  std::to_string(loop_symbols(tree).size()));
    work.tree = std::move(tree);
    return true;
  };
  if (accept(Distributor(work).list(work.tree, 0), "all nests")) return;
  // One nest at a time, last first, so that the positions of the others hold.
  for (std::size_t k = work.tree.size(); k-- > 0;) {
    const auto at = work.tree.begin() + static_cast<std::ptrdiff_t>(k);
    ScheduleTree parts = Distributor(work).list({*at}, 0);
    ScheduleTree tree = work.tree;
    tree.erase(tree.begin() + static_cast<std::ptrdiff_t>(k));
    tree.insert(tree.begin() + static_cast<std::ptrdiff_t>(k), parts.begin(), parts.end());
    accept(std::move(tree), "nest " + std::to_string(k));
  }
}

}  // namespace sous::transforms::normal
