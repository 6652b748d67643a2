#include "frontends/c/memlets.h"

#include <algorithm>

namespace sous::frontends::c {

using sdfg::Expr;

namespace {

void visit_reads(const Expr& e, const Box& box, const std::function<void(const sdfg::Memlet&, bool, const Box&)>& f) {
  if (e.reads().empty()) return;
  e.map_reads([&](const std::string& container, const std::vector<Expr>& subscript) {
    f(sdfg::Memlet{container, subscript, std::nullopt}, false, box);
    return Expr::read(container, subscript);
  });
}

void visit_memlet(const sdfg::Memlet& memlet, bool write, const Box& box,
                  const std::function<void(const sdfg::Memlet&, bool, const Box&)>& f) {
  for (const sdfg::Expr& d : memlet.subset) visit_reads(d, box, f);
  f(memlet, write, box);
}

void visit_memlets(const sdfg::Region& region, Box& box,
                   const std::function<void(const sdfg::Memlet&, bool, const Box&)>& f) {
  auto inside = [&](const sdfg::Region& body, std::vector<Range> ranges) {
    const std::size_t before = box.size();
    for (Range& r : ranges)  // only symbols of the loops around: parameters are bounded by assumptions, not by ifs
      if (std::ranges::any_of(box, [&](const Range& b) { return b.symbol == r.symbol; })) box.push_back(std::move(r));
    visit_memlets(body, box, f);
    box.resize(before);
  };
  for (const sdfg::Node& node : region.nodes)
    match(
        node.value,
        [&](const sdfg::State& s) {
          for (const sdfg::Edge& e : s.edges) visit_memlet(e.memlet, sdfg::is_write(s, e), box, f);
        },
        [&](const sdfg::Loop& l) {
          visit_reads(l.begin, box, f);
          visit_reads(l.end, box, f);
          box.push_back(loop_range(l.symbol, l.begin, l.end, l.step));
          visit_memlets(l.body, box, f);
          box.pop_back();
        },
        [&](const sdfg::If& i) {
          for (const sdfg::Memlet& m : i.condition.inputs) visit_memlet(m, false, box, f);
          inside(i.then_body, refine(i.condition.code, true, box));
          inside(i.else_body, refine(i.condition.code, false, box));
        },
        [&](const sdfg::While& w) {
          for (const sdfg::Memlet& m : w.condition.inputs) visit_memlet(m, false, box, f);
          inside(w.body, {});
        });
}

using Rewrite = std::function<std::vector<Expr>(const std::vector<Expr>&, const Box&)>;

Expr rewrite_reads(const Expr& e, const std::string& container, const Rewrite& f, const Box& box) {
  if (e.reads().empty()) return e;
  return e.map_reads([&](const std::string& name, const std::vector<Expr>& subscript) {
    return Expr::read(name, name == container ? f(subscript, box) : subscript);
  });
}

void rewrite_memlet(sdfg::Memlet& memlet, const std::string& container, const Rewrite& f, const Box& box) {
  for (sdfg::Expr& d : memlet.subset) d = rewrite_reads(d, container, f, box);
  if (memlet.container == container) memlet.subset = f(memlet.subset, box);
}

void rewrite(sdfg::Region& region, const std::string& container, const Rewrite& f, Box& box) {
  auto inside = [&](sdfg::Region& body, std::vector<Range> ranges) {
    const std::size_t before = box.size();
    for (Range& r : ranges)
      if (std::ranges::any_of(box, [&](const Range& b) { return b.symbol == r.symbol; })) box.push_back(std::move(r));
    rewrite(body, container, f, box);
    box.resize(before);
  };
  for (sdfg::Node& node : region.nodes)
    match(
        node.value,
        [&](sdfg::State& s) {
          for (sdfg::Edge& e : s.edges) rewrite_memlet(e.memlet, container, f, box);
        },
        [&](sdfg::Loop& l) {
          l.begin = rewrite_reads(l.begin, container, f, box);
          l.end = rewrite_reads(l.end, container, f, box);
          box.push_back(loop_range(l.symbol, l.begin, l.end, l.step));
          rewrite(l.body, container, f, box);
          box.pop_back();
        },
        [&](sdfg::If& i) {
          for (sdfg::Memlet& m : i.condition.inputs) rewrite_memlet(m, container, f, box);
          inside(i.then_body, refine(i.condition.code, true, box));
          inside(i.else_body, refine(i.condition.code, false, box));
        },
        [&](sdfg::While& w) {
          for (sdfg::Memlet& m : w.condition.inputs) rewrite_memlet(m, container, f, box);
          inside(w.body, {});
        });
}

}  // namespace

void visit_memlets(const sdfg::Region& region,
                   const std::function<void(const sdfg::Memlet&, bool write, const Box&)>& f) {
  Box box;
  visit_memlets(region, box, f);
}

void rewrite_subscripts(sdfg::Region& region, const std::string& container, const Rewrite& f) {
  Box box;
  rewrite(region, container, f, box);
}
}  // namespace sous::frontends::c
