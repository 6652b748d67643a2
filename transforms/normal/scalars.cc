// Splitting scalars and accumulating in place: see scalars.h.
#include "transforms/normal/scalars.h"

#include <algorithm>
#include <map>

#include "sdfg/planted_fault.h"
#include "transforms/normal/facts.h"
#include "transforms/normal/util.h"

namespace sous::transforms::normal {

using namespace sdfg;

namespace {

Node renamed(const Node& node, const std::string& from, const std::string& to) {
  Sdfg holder;
  holder.root.nodes.push_back(node);
  return rename(holder, {.symbols = {}, .containers = {{from, to}}, .states = {}}).root.nodes[0];
}

// Groups of accesses that begin with a definition. A read sees a write of its own group, or the split fails.
class Splitter {
 public:
  Splitter(std::string name, std::function<std::string()> fresh) : name_(std::move(name)), fresh_(std::move(fresh)) {}

  // The region with a new name per group; nothing if some read could see a value from outside its group.
  std::optional<Region> split(const Region& region) {
    Region result = region;
    std::vector<Node>& nodes = result.nodes;
    for (std::size_t p = 0; p < nodes.size(); ++p) {
      if (!touches(nodes[p], name_)) continue;
      if (!defines(nodes[p], name_)) {
        std::optional<Node> inside = split_inside(nodes[p]);
        if (!inside) return std::nullopt;
        nodes[p] = std::move(*inside);
        continue;
      }
      // The group runs to the next definition here, less what comes last and stands on its own.
      std::size_t next = p + 1;
      while (next < nodes.size() && !defines(nodes[next], name_)) ++next;
      std::size_t end = next;
      while (end > p + 1 && (!touches(nodes[end - 1], name_) || split_inside(nodes[end - 1]))) --end;
      const std::string group = fresh_();
      for (std::size_t q = p; q < end; ++q) nodes[q] = renamed(nodes[q], name_, group);
      p = end - 1;
    }
    return result;
  }

 private:
  std::optional<Node> split_inside(const Node& node) {
    return match(
        node.value, [](const State&) -> std::optional<Node> { return std::nullopt; },
        [&](const Loop& l) -> std::optional<Node> {
          if (l.begin.reads().contains(name_) || l.end.reads().contains(name_)) return std::nullopt;
          Loop loop = l;
          auto body = split(l.body);
          if (!body) return std::nullopt;
          loop.body = std::move(*body);
          return loop;
        },
        [&](const If& i) -> std::optional<Node> {
          if (touched_itself(node).read.contains(name_)) return std::nullopt;
          auto a = split(i.then_body), b = split(i.else_body);
          if (!a || !b) return std::nullopt;
          return If{.condition = i.condition, .then_body = std::move(*a), .else_body = std::move(*b)};
        },
        [](const While&) -> std::optional<Node> { return std::nullopt; });
  }

  std::string name_;
  std::function<std::string()> fresh_;
};

// Whether two points of one container differ wherever the facts hold.
bool differ(const Facts& facts, const Subset& a, const Subset& b) {
  for (std::size_t d = 0; d < std::min(a.size(), b.size()); ++d) {
    const Expr gap = a[d] - b[d];
    if (facts.non_negative(gap - 1) || facts.non_negative(-gap - 1)) return true;
  }
  return false;
}

class Accumulator {
 public:
  Accumulator(const Sdfg& sdfg, Log& log) : sdfg_(sdfg), log_(log) {}

  Region region(Region r, const LoopsAround& around) {
    for (std::size_t p = 0; p < r.nodes.size(); ++p) {
      const auto a = assignment_of(r.nodes[p]);
      if (a && is_local_scalar(sdfg_, a->out.container) && defines(r.nodes[p], a->out.container))
        in_place(r, p, a->out.container, around);
    }
    return r;
  }
  bool changed() const { return changed_; }

 private:
  void in_place(Region& r, std::size_t first, const std::string& name, const LoopsAround& around) {
    // All accesses lie in this region from the definition on; a loop among them updates the scalar, or there is none.
    std::size_t last = first, last_write = first;
    int here = 0, everywhere = 0;
    const auto count = [&](int& to) { return [&](const Memlet& m, bool) { to += m.container == name; }; };
    for (std::size_t q = first; q < r.nodes.size(); ++q) {
      if (!touches(r.nodes[q], name)) continue;
      last = q;
      if (sdfg::touched(r.nodes[q]).written.contains(name)) last_write = q;
      for_each_memlet(r.nodes[q], count(here));
    }
    for_each_memlet(sdfg_.root, count(everywhere));
    const bool straight =
        last_write == first && std::all_of(r.nodes.begin() + static_cast<std::ptrdiff_t>(first),
                                           r.nodes.begin() + static_cast<std::ptrdiff_t>(last) + 1,
                                           [](const Node& n) { return std::holds_alternative<State>(n.value); });
    if (here != everywhere || !(straight || has_loop(r.nodes[last_write]))) return;
    if (exprs_read(sdfg_.root, [&](const std::string& read) { return read == name; })) return;

    // The store: the first plain copy of the final value, or else the last use.
    std::size_t store = 0;
    std::optional<Assignment> target;
    for (std::size_t q = last_write + 1; q <= last; ++q) {
      const auto a = assignment_of(r.nodes[q]);
      if (!a || !touches(r.nodes[q], name)) continue;
      const bool copy = a->code.op == ScalarOp::input && a->inputs[0].container == name;
      if (!copy && (q != last || straight)) continue;
      store = q;
      target = a;
      if (copy) break;
    }
    if (!target || !usable(r, first, last, store, name, *target, around)) return;

    for (std::size_t q = first; q <= last; ++q) r.nodes[q] = retarget(r.nodes[q], name, target->out);
    changed_ = true;
    log_.push_back("accumulate: " + name + " in " + target->out.container);
  }

  bool usable(const Region& r, std::size_t first, std::size_t last, std::size_t store, const std::string& name,
              const Assignment& target, const LoopsAround& around) {
    const Container* x = sdfg_.find(target.out.container);
    if (!x || x->type != sdfg_.find(name)->type || x->name == name) return false;
    for (const Expr& d : target.out.subset)
      if (!d.reads().empty()) return false;
    Facts facts(sdfg_);
    for (const Loop* l : around) facts.enter(*l);
    for (std::size_t q = first; q <= last; ++q) {
      const Region one{{r.nodes[q]}};
      if (exprs_read(one, [&](const std::string& read) { return may_overlap(sdfg_, read, x->name); })) return false;
      // What the last state writes is read by none of them.
      if (!undisturbed(one, facts, target.out, q == first, q == store || q == last)) return false;
    }
    return true;
  }

  // No access below touches the element, but reads where it is defined (they come before the write), and writes of a
  // state that stores it or is the last.
  bool undisturbed(const Region& region, const Facts& facts, const Memlet& element, bool definition, bool store) {
    if (planted(Fault::accumulate_disturbed)) return true;
    return std::ranges::all_of(region.nodes, [&](const Node& node) {
      bool fine = true;
      const auto check = [&](const Memlet& m, bool writes) {
        if ((definition && !writes) || (store && writes)) return;
        if (m.container == element.container)
          fine = fine && differ(facts, m.subset, element.subset);
        else
          fine = fine && !may_overlap(sdfg_, m.container, element.container);
      };
      const auto head = [&](const Node& n) { for_each_memlet(n, check); };
      return match(
          node.value,
          [&](const State& s) {
            head(s);
            return fine;
          },
          [&](const Loop& l) {
            Facts inside = facts;
            inside.enter(l);
            return undisturbed(l.body, inside, element, false, false);
          },
          [&](const If& i) {
            head(If{.condition = i.condition, .then_body = {}, .else_body = {}});
            return fine && undisturbed(i.then_body, facts, element, false, false) &&
                   undisturbed(i.else_body, facts, element, false, false);
          },
          [&](const While& w) {
            head(While{.condition = w.condition, .test_first = w.test_first, .body = {}});
            return fine && undisturbed(w.body, facts, element, false, false);
          });
    });
  }

  static Node retarget(const Node& node, const std::string& name, const Memlet& element) {
    const auto to_element = [&](Memlet& m) {
      if (m.container == name) m = element;
    };
    Region region{{node}};
    visit(region, [&](Node& n) {
      auto* s = std::get_if<State>(&n.value);
      if (!s) return change_memlets(n, to_element);
      std::optional<Assignment> a = as_assignment(*s);
      if (!a) return;
      for (Memlet& m : a->inputs) to_element(m);
      to_element(a->out);
      *s = tidy_assignment(s->name, a->out, a->code, a->inputs);
    });
    return region.nodes[0];
  }

  const Sdfg& sdfg_;
  Log& log_;
  bool changed_ = false;
};

}  // namespace

bool split_scalars(Sdfg& sdfg, Log& log) {
  bool changed = false;
  Names names(sdfg);
  const std::vector<Container> before = sdfg.containers;
  std::map<std::string, int> writes;  // one cannot begin two groups
  for_each_memlet(sdfg.root, [&](const Memlet& m, bool written) { writes[m.container] += written ? 1 : 0; });
  for (const Container& c : before) {
    if (!is_local_scalar(sdfg, c.name) || writes[c.name] < 2) continue;
    std::vector<std::string> groups;
    Splitter splitter(c.name, [&] {
      groups.push_back(names.fresh(c.name));
      return groups.back();
    });
    const std::optional<Region> split = splitter.split(sdfg.root);
    std::set<std::string> used;
    if (split) for_each_memlet(*split, [&](const Memlet& m, bool) { used.insert(m.container); });
    std::erase_if(groups, [&](const std::string& g) { return !used.contains(g); });
    if (!split || groups.size() < 2) continue;
    sdfg.root = *split;
    for (const std::string& group : groups) {
      Container own = c;
      own.name = group;
      own.alias_class = 0;  // a local scalar overlaps nothing, and its parts not each other
      sdfg.containers.push_back(std::move(own));
    }
    std::erase_if(sdfg.containers, [&](const Container& old) { return old.name == c.name; });
    log.push_back("split: " + c.name + " is " + std::to_string(groups.size()) + " scalars");
    changed = true;
  }
  return changed;
}

bool accumulate_in_place(Sdfg& sdfg, Log& log) {
  Accumulator accumulator(sdfg, log);
  Region root = rewrite_regions(
      sdfg.root, [&](Region r, const LoopsAround& around) { return accumulator.region(std::move(r), around); });
  sdfg.root = std::move(root);
  return accumulator.changed();
}

Sdfg forward_scalars(const Sdfg& sdfg, Log& log) {
  Sdfg result = sdfg;
  split_scalars(result, log);
  // Every round removes a scalar or a use of one, so the rounds end; the bound is for what tests have not shown.
  for (int round = 0; round < 64; ++round) {
    bool changed = forward_definitions(result, log);
    changed = remove_dead(result, log) || changed;
    if (!changed) changed = accumulate_in_place(result, log) && (remove_dead(result, log), true);
    if (!changed) break;
  }
  return result;
}

}  // namespace sous::transforms::normal
