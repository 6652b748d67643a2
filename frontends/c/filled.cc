#include "frontends/c/filled.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace sous::frontends::c {

using sdfg::Expr;
using sdfg::Memlet;

namespace {

// The body of one loop, in the order of its statements.
class Body {
 public:
  Body(const sdfg::Sdfg& sdfg, const sdfg::Loop& loop) : sdfg_(sdfg), symbol_(loop.symbol) { region(loop.body); }

  std::vector<Expr> found() const {
    std::vector<Expr> all;
    for (const auto& [container, runs] : asked_)
      if (!varies_.contains(container)) all.insert(all.end(), runs.begin(), runs.end());
    for (const auto& [container, times] : begun_)
      if (!varies_.contains(container)) all.push_back(times);
    return all;
  }

 private:
  bool is_over_parameters(const Expr& e) const {
    return e.is_valid() && e.reads().empty() &&
           std::ranges::all_of(e.symbols(), [&](const std::string& s) { return sdfg_.has_symbol(s); });
  }

  void access(const Memlet& memlet, bool is_write) {
    const std::string& name = memlet.container;
    if (memlet.subset.empty()) return;
    if (std::ranges::any_of(memlet.subset, [&](const Expr& e) { return e.uses(symbol_); })) varies_.insert(name);
    const bool single =
        loops_ == 0 && std::ranges::all_of(memlet.subset, [&](const Expr& e) { return is_over_parameters(e); });
    if (is_write && single && known_) set_.insert(name);
    // A row that is kept from iteration to iteration, its first element set by itself, the others perhaps by branches.
    if (is_write && loops_ == 1 && runs_.size() == 1 && set_.contains(name) && memlet.subset.size() == 1 &&
        memlet.subset[0].uses(runs_.back().first))
      begun_.emplace_back(name, runs_.back().second + Expr(1));
    if (is_write && !single && known_) {
      // Behind what fills it first, what comes back to the same elements need not run.
      const auto [fills, is_first] = filled_.try_emplace(name);
      for (const auto& [symbol, run] : runs_)
        if (is_first || std::ranges::any_of(memlet.subset, [&](const Expr& e) { return e.uses(symbol); }))
          fills->second.push_back(run);
    } else if (const auto fills = filled_.find(name); !is_write && single && fills != filled_.end()) {
      asked_.insert(*fills);
    }
  }

  void region(const sdfg::Region& region) {
    for (const sdfg::Node& node : region.nodes)
      match(
          node.value,
          [&](const sdfg::State& s) {
            for (const bool is_write : {false, true})
              for (const sdfg::Edge& e : s.edges)
                if (sdfg::is_write(s, e) == is_write) access(e.memlet, is_write);
          },
          [&](const sdfg::Loop& l) { loop(l); },
          [&](const sdfg::If& i) {
            for (const Memlet& m : i.condition.inputs) access(m, false);
            unknown(i.then_body);
            unknown(i.else_body);
          },
          [&](const sdfg::While& w) { unknown(w.body); });
  }
  void unknown(const sdfg::Region& body) {
    const bool before = std::exchange(known_, false);
    region(body);
    known_ = before;
  }
  void loop(const sdfg::Loop& l) {
    const Expr run = l.step > 0 ? l.end - l.begin - Expr(1) : l.begin - l.end - Expr(1);
    if (!is_over_parameters(run)) {
      ++loops_;
      unknown(l.body);
      --loops_;
      return;
    }
    ++loops_;
    runs_.emplace_back(l.symbol, run);
    region(l.body);
    runs_.pop_back();
    --loops_;
  }

  const sdfg::Sdfg& sdfg_;
  const std::string symbol_;
  bool known_ = true;  // whether what stands here runs wherever the loops around it do
  int loops_ = 0;
  std::vector<std::pair<std::string, Expr>> runs_;           // of the loops around, by symbol
  std::map<std::string, std::vector<Expr>> filled_, asked_;  // by container: of the loops that filled it
  std::set<std::string> set_;                                // single elements of them
  std::vector<std::pair<std::string, Expr>> begun_;          // and how often the loop behind that runs
  std::set<std::string> varies_;                             // those whose subscripts name the loop
};

}  // namespace

std::vector<Expr> runs_of_filling_loops(const sdfg::Sdfg& sdfg) {
  std::vector<Expr> all;
  sdfg::visit(sdfg.root, [&](const sdfg::Node& node) {
    if (const auto* l = std::get_if<sdfg::Loop>(&node.value))
      for (const Expr& run : Body(sdfg, *l).found())
        if (std::ranges::find(all, run) == all.end()) all.push_back(run);
  });
  return all;
}

}  // namespace sous::frontends::c
