// The order of what stands side by side: see order_siblings in passes.h.
#include <algorithm>

#include "sdfg/mathematics.h"
#include "sdfg/text.h"
#include "transforms/normal/passes.h"
#include "transforms/normal/util.h"
#include "transforms/normal_form.h"
#include "transforms/simplify.h"

namespace sous::transforms::normal {

using namespace sdfg;

namespace {

// What of a bound depends on other loops. Extents say how large a nest is, not what it computes: with them the order
// would be another one for each size of the same program.
Expr shape_of(const Expr& bound, const std::set<std::string>& loops) {
  std::map<std::string, Expr> without;
  for (const std::string& s : bound.symbols())
    if (!loops.contains(s)) without[s] = Expr(0);
  const Expr rest = bound.substitute(without);
  return rest - Expr(rest.constant_term());
}

Region without_extents(Region region, std::set<std::string> loops) {
  visit(region, [&](Node& node) {
    auto* l = std::get_if<Loop>(&node.value);
    if (!l) return;
    l->begin = shape_of(l->begin, loops);
    l->end = shape_of(l->end, loops);
    loops.insert(l->symbol);
  });
  return region;
}

bool calls_something(const Node& statement) {
  bool found = false;
  for_each_code(Region{{statement}}, [&](const ScalarExpr& code) { found = found || sets_errno(code); });
  return found;
}

class Orderer {
 public:
  explicit Orderer(const Work& work) : work_(work) {
    bare_.statements = work.scop.statements;
    for (const Dependence& d : work.dependences.all()) {
      dependent_.emplace(d.source, d.target);
      dependent_.emplace(d.target, d.source);
    }
    // The last of two calls says what errno is.
    std::vector<int> calls;
    for (std::size_t s = 0; s < work.scop.statements.size(); ++s)
      if (calls_something(work.scop.statements[s].node)) calls.push_back(static_cast<int>(s));
    for (const int a : calls)
      for (const int b : calls) dependent_.emplace(a, b);
  }

  ScheduleTree ordered(ScheduleTree nodes) const {
    for (ScheduleNode& node : nodes)
      match(
          node.value, [&](ScheduleLoop& l) { l.children = ordered(std::move(l.children)); },
          [&](ScheduleGuard& g) { g.children = ordered(std::move(g.children)); }, [](ScheduleLeaf&) {});
    if (nodes.size() < 2) return nodes;
    const std::vector<std::vector<bool>> before = precedence(nodes);
    bool in_a_chain = true;
    for (std::size_t k = 0; k + 1 < nodes.size(); ++k) in_a_chain = in_a_chain && before[k][k + 1];
    if (in_a_chain) return nodes;  // there is one order, and what each computes need not be described
    const std::vector<std::size_t> rank = ranks(nodes, before);
    ScheduleTree result;
    std::vector<bool> placed(nodes.size(), false);
    while (result.size() < nodes.size()) {
      std::optional<std::size_t> next;
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        if (placed[k] || (next && rank[*next] <= rank[k])) continue;
        bool ready = true;
        for (std::size_t other = 0; other < k; ++other) ready = ready && (placed[other] || !before[other][k]);
        if (ready) next = k;
      }
      placed[*next] = true;
      result.push_back(nodes[*next]);
    }
    return result;
  }

 private:
  // Of dependent ones the program's order stays, whichever loop carries the dependence.
  std::vector<std::vector<bool>> precedence(const ScheduleTree& nodes) const {
    std::vector<std::vector<int>> statements(nodes.size());
    for (std::size_t k = 0; k < nodes.size(); ++k)
      for_each_leaf({nodes[k]}, [&](const ScheduleLeaf& leaf) { statements[k].push_back(leaf.statement); });
    std::vector<std::vector<bool>> result(nodes.size(), std::vector<bool>(nodes.size(), false));
    for (std::size_t a = 0; a < nodes.size(); ++a)
      for (std::size_t b = a + 1; b < nodes.size(); ++b)
        result[a][b] = std::ranges::any_of(statements[a], [&](int s) {
          return std::ranges::any_of(statements[b], [&](int t) { return dependent_.contains({s, t}); });
        });
    return result;
  }

  // What a node computes, without names, and the places in that text of the containers it touches.
  struct Described {
    std::string text;
    std::map<std::string, std::string> places;
  };
  Described described(const ScheduleNode& node) const {
    Sdfg part = lower(bare_, {node});
    const std::set<std::string> touched = containers_of(part.root);
    part.root = without_extents(std::move(part.root), {});
    part.containers = of_use(touched);
    const auto [canonical, original] = canonical_names(part);
    Described result{.text = print(canonical.root, canonical), .places = {}};
    for (const auto& [place, name] : original.containers)
      if (touched.contains(name)) result.places[name] = place;
    return result;
  }

  // These, and those that their shapes are read from: the others take no part in names.
  std::vector<Container> of_use(std::set<std::string> names) const {
    std::vector<Container> result;
    const auto read = [&](const Expr& e) { names.merge(e.reads()); };
    for (std::size_t known = 0; known < names.size();) {
      known = names.size();
      result.clear();
      for (const Container& c : work_.scop.frame.containers) {
        if (!names.contains(c.name)) continue;
        result.push_back(c);
        std::ranges::for_each(c.shape, read);
        std::ranges::for_each(c.strides, read);
        read(c.offset);
      }
    }
    return result;
  }

  // Where in both texts stands what they share.
  using Link = std::vector<std::pair<std::string, std::string>>;
  static Link link(const Described& a, const Described& b) {
    Link result;
    for (const auto& [name, place] : a.places)
      if (const auto it = b.places.find(name); it != b.places.end()) result.emplace_back(place, it->second);
    std::ranges::sort(result);
    return result;
  }

  // Equal for what cannot be told apart: by depth, by itself, then by what has to come before and after and what it
  // hands on (colour refinement, Weisfeiler and Leman 1968): of two equal products, the one that is the left operand of
  // a third comes first.
  std::vector<std::size_t> ranks(const ScheduleTree& nodes, const std::vector<std::vector<bool>>& before) const {
    std::vector<Described> each;
    std::vector<std::pair<std::size_t, std::string>> own;
    for (const ScheduleNode& node : nodes) {
      each.push_back(described(node));
      own.emplace_back(depth({node}), each.back().text);
    }
    auto [rank, classes] = positions(own);
    for (std::size_t known = 0; classes > known && classes < nodes.size();) {
      using Neighbours = std::vector<std::pair<std::size_t, Link>>;
      std::vector<std::tuple<std::size_t, Neighbours, Neighbours>> refined;
      for (std::size_t k = 0; k < nodes.size(); ++k) {
        Neighbours earlier, later;
        for (std::size_t other = 0; other < nodes.size(); ++other) {
          if (before[other][k]) earlier.emplace_back(rank[other], link(each[other], each[k]));
          if (before[k][other]) later.emplace_back(rank[other], link(each[k], each[other]));
        }
        std::ranges::sort(earlier);
        std::ranges::sort(later);
        refined.emplace_back(rank[k], std::move(earlier), std::move(later));
      }
      known = classes;
      std::tie(rank, classes) = positions(refined);
    }
    return rank;
  }

  // Of each value, among the distinct ones; and how many these are.
  template <class T>
  static std::pair<std::vector<std::size_t>, std::size_t> positions(const std::vector<T>& values) {
    const std::set<T> sorted(values.begin(), values.end());
    std::vector<std::size_t> result;
    for (const T& value : values)
      result.push_back(static_cast<std::size_t>(std::distance(sorted.begin(), sorted.find(value))));
    return {std::move(result), sorted.size()};
  }

  const Work& work_;
  Scop bare_;  // the statements alone
  std::set<std::pair<int, int>> dependent_;
};

}  // namespace

void order_siblings(Work& work, Log& log) {
  ScheduleTree tree = Orderer(work).ordered(work.tree);
  if (tree == work.tree) return;
  if (const auto ok = respects_as(work.dependences, work.scop, work.tree, tree); !ok) {
    log.push_back("order: stays as it is: " + ok.error().to_string());
    return;
  }
  log.push_back("order: of " + std::to_string(work.tree.size()) + " nests");
  work.tree = std::move(tree);
}

}  // namespace sous::transforms::normal
