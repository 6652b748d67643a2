// Iteration domains and access relations of a nest.
#include <utility>

#include "sdfg/dependence_data.h"
#include "sdfg/one_sided.h"
#include "sdfg/planted_fault.h"

namespace sous::sdfg {

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& p : parts) text += (text.empty() ? "" : separator) + p;
  return text;
}

std::string numbered(const char* prefix, std::size_t k) { return prefix + std::to_string(k); }

std::string tuple(const char* prefix, std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) names.push_back(numbered(prefix, i));
  return "[" + joined(names, ", ") + "]";
}

std::string statement_tuple(std::size_t statement, const std::vector<std::string>& dims) {
  return numbered("S", statement) + "[" + joined(dims, ", ") + "]";
}

std::vector<std::string> assumed(const Scop& scop, const IslNames& names) {
  std::vector<std::string> constraints;
  for (const Expr& a : scop.frame.assumptions)
    if (is_quasi_affine(a) && names_known(a, names) && !has_absolute_value(a))
      constraints.push_back("(" + isl_text(a, names) + ") >= 0");
  return constraints;
}

namespace {

using Data = Dependences::Data;

class Collector {
 public:
  Collector(Data& data, const Scop& scop)
      : data_(data),
        scop_(scop),
        names_(scop.statements.size()),
        dims_(scop.statements.size()),
        domains_(scop.statements.size()) {
    data.domains.resize(scop.statements.size());
  }

  void run() {
    const Scop& scop = scop_;
    Data& data = data_;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < scop.frame.symbols.size(); ++i) {
      names.push_back(numbered("p", i));
      data.parameters[scop.frame.symbols[i]] = names.back();
    }
    data.header = "[" + joined(names, ", ") + "] -> ";
    std::map<int, int> class_sizes;
    for (const Container& c : scop.frame.containers) ++class_sizes[c.alias_class];
    for (std::size_t i = 0; i < scop.frame.containers.size(); ++i) {
      const Container& c = scop.frame.containers[i];
      bool alone = c.alias_class <= 0 || class_sizes[c.alias_class] == 1;
      alone = alone || planted(Fault::shared_alias_class_apart);
      tuples_[c.name] = alone ? numbered("C", i) : numbered("K", static_cast<std::size_t>(c.alias_class));
      whole_[c.name] = !alone;
      if (alone && c.transient && !c.shape.empty()) own_memory(c);
    }
    for (std::size_t s = 0; s < scop.statements.size(); ++s)
      if (data.known(s)) {
        domain(s);
      } else {
        const Touched t = touched(Region{{scop.statements[s].node}});
        data.elsewhere.insert(t.read.begin(), t.read.end());
        data.elsewhere.insert(t.written.begin(), t.written.end());
      }
    for (std::size_t s = 0; s < scop.statements.size(); ++s)
      if (data.known(s)) statement(s);
  }

 private:
  // An element of a container by its subscript, which reads nothing: its place stays the same while a statement runs.
  using Element = std::pair<std::string, std::vector<Expr>>;

  // (Of an argument the outermost extent says how much of it is looked at, not where the memory ends.)
  void own_memory(const Container& c) {
    std::vector<std::string> dims, constraints;
    for (const Expr& extent : c.shape) {
      if (!is_quasi_affine(extent) || !names_known(extent, data_.parameters)) return;
      dims.push_back(numbered("e", dims.size()));
      constraints.push_back("0 <= " + dims.back() + " < (" + isl_text(extent, data_.parameters) + ")");
    }
    data_.own_memory[c.name] = "[" + joined(dims, ", ") + "] : " + joined(constraints, " and ");
  }

  void statement(std::size_t s) {
    statement_ = s;
    written_.clear();
    perhaps_.clear();
    const Statement& all = scop_.statements[s];
    const auto* state = std::get_if<State>(&all.node.value);
    updated_.reset();
    if (state && commuting_update(all)) updated_ = as_assignment(*state)->out;
    node(all.node, !all.opaque);
    // What every way through the statement writes, it writes for sure.
    for (const auto& [at, element] : perhaps_)
      if (written_.contains(element)) data_.accesses[at].exact = true;
  }

  static std::optional<Element> element(const Memlet& m) {
    for (const Expr& e : m.subset)
      if (!e.reads().empty()) return std::nullopt;
    return Element{m.container, m.subset};
  }

  void domain(std::size_t s) {
    IslNames names = data_.parameters;
    std::vector<std::string> dims, constraints;
    constraints = assumed(scop_, names);
    const ScheduleTree* tree = &scop_.statements[s].domain;
    while (tree) {
      const ScheduleTree* below = nullptr;
      match(
          tree->at(0).value,
          [&](const ScheduleLoop& l) {
            dims.push_back(numbered("o", dims.size()));
            constraints.push_back(isl_loop(l.symbol, l.begin, l.end, l.step, names, dims.back()));
            names[l.symbol] = dims.back();
            below = &l.children;
          },
          [&](const ScheduleGuard& g) {
            constraints.push_back(isl_text(g.condition, names));
            below = &g.children;
          },
          [](const ScheduleLeaf&) {});
      tree = below;
    }
    names_[s] = names;
    dims_[s] = dims;
    std::string where = constraints.empty() ? "" : " : " + joined(constraints, " and ");
    domains_[s] = joined(dims, ", ") + where;
    data_.domains[s] = data_.read_set(statement_tuple(s, dims) + where);
  }

  void access(const Memlet& m, bool write, bool sure) {
    for (const Expr& e : m.subset) reads(e);
    const IslNames& names = names_[statement_];
    const std::optional<Element> at = element(m);
    bool exact = !whole_.at(m.container);
    std::vector<std::string> dims, constraints, in_shape;
    for (std::size_t d = 0; d < m.subset.size() && !whole_.at(m.container); ++d) {
      dims.push_back(numbered("e", d));
      const Expr& e = m.subset[d];
      if (is_quasi_affine(e) && names_known(e, names)) {
        constraints.push_back(dims.back() + " = " + isl_text(e, names));
      } else {
        exact = false;
        if (const auto side = one_sided(e, scop_.frame);
            side && is_quasi_affine(side->end) && names_known(side->end, names))
          constraints.push_back(dims.back() + (side->above ? " >= " : " <= ") + isl_text(side->end, names));
        if (planted(Fault::indirect_access_fixed)) constraints.push_back(dims.back() + " = 0");
        // Of an argument the outermost extent says how much of it is looked at, not where the memory ends.
        const Container& container = *scop_.frame.find(m.container);
        const Expr& extent = container.shape[d];
        if ((container.transient || d > 0) && is_quasi_affine(extent) && names_known(extent, names))
          in_shape.push_back("0 <= " + dims.back() + " < " + isl_text(extent, names));
      }
    }
    if (write && exact && !sure && at) perhaps_.emplace_back(data_.accesses.size(), *at);
    add(m.container, tuples_.at(m.container), dims, constraints, write, exact && sure);
    data_.accesses.back().own = !write && at && written_.contains(*at);
    data_.accesses.back().update = updated_ == m;
    if (write || in_shape.empty()) return;
    constraints.insert(constraints.end(), in_shape.begin(), in_shape.end());
    data_.accesses.back().there = elements(tuples_.at(m.container), dims, constraints);
  }

  // From each instance of the statement to those elements.
  IslMap elements(const std::string& memory, const std::vector<std::string>& dims,
                  const std::vector<std::string>& constraints) {
    std::string where = constraints.empty() ? "" : " : " + joined(constraints, " and ");
    const IslMap everywhere = data_.read_map(statement_tuple(statement_, dims_[statement_]) + " -> " + memory + "[" +
                                             joined(dims, ", ") + "]" + where);
    return IslMap(isl_map_intersect_domain(everywhere.copy(), data_.domains[statement_].copy()));
  }

  void add(const std::string& container, const std::string& memory, const std::vector<std::string>& dims,
           const std::vector<std::string>& constraints, bool write, bool exact) {
    const std::string where = constraints.empty() ? "" : " : " + joined(constraints, " and ");
    const std::string shape = domains_[statement_] + " -> " + joined(dims, ", ") + where;
    data_.accesses.push_back({.statement = static_cast<int>(statement_),
                              .container = container,
                              .tuple = memory,
                              .write = write,
                              .exact = exact,
                              .map = elements(memory, dims, constraints),
                              .there = {},
                              .own = false,
                              .update = false,
                              .shape = shapes_.try_emplace(shape, shapes_.size()).first->second});
  }

  void reads(const Expr& e) {
    e.map_reads([&](const std::string& container, const std::vector<Expr>& subscript) {
      const auto updated = std::exchange(updated_, std::nullopt);  // a subscript is no part of an update
      access({.container = container, .subset = subscript, .combine = std::nullopt}, false, true);
      updated_ = updated;
      return Expr::read(container, subscript);
    });
  }

  void condition(const Condition& c) {
    for (const Memlet& m : c.inputs) access(m, false, true);
  }

  void node(const Node& n, bool sure) {
    match(
        n.value,
        [&](const State& s) {
          std::vector<Element> written;
          for (const Edge& e : s.edges) {
            const bool write = is_write(s, e);
            if (!write || e.memlet.combine) access(e.memlet, false, sure);
            if (write) access(e.memlet, true, sure);
            if (const auto at = element(e.memlet); write && at) written.push_back(*at);
          }
          written_.insert(written.begin(), written.end());
        },
        [&](const Loop& l) {
          reads(l.begin);
          reads(l.end);
          perhaps(l.body);
        },
        [&](const If& i) {
          condition(i.condition);
          const std::set<Element> then_written = perhaps(i.then_body), else_written = perhaps(i.else_body);
          for (const Element& e : then_written)
            if (else_written.contains(e) || planted(Fault::branch_taken_always)) written_.insert(e);
        },
        [&](const While& w) {
          if (w.test_first) {
            condition(w.condition);
            perhaps(w.body);
          } else {
            written_ = perhaps(w.body);
            condition(w.condition);
          }
        });
  }

  // What has been written for sure at the end of the region, which runs perhaps.
  std::set<Element> perhaps(const Region& region) {
    const std::set<Element> before = written_;
    for (const Node& below : region.nodes) node(below, false);
    return std::exchange(written_, before);
  }

  Data& data_;
  const Scop& scop_;
  std::map<std::string, std::string> tuples_;
  std::map<std::string, bool> whole_;  // shares its alias class: any access may touch any of it
  std::vector<IslNames> names_;
  std::vector<std::vector<std::string>> dims_;
  std::vector<std::string> domains_;  // without the statements' names
  std::size_t statement_ = 0;
  std::optional<Memlet> updated_;                         // what commuting_update's statement updates
  std::set<Element> written_;                             // by each run of the statement that gets this far
  std::vector<std::pair<std::size_t, Element>> perhaps_;  // accesses that write an element, if they are made
  std::map<std::string, std::size_t> shapes_;             // domain and map without names -> Access::shape
};

}  // namespace

void collect(Data& data, const Scop& scop) { Collector(data, scop).run(); }

}  // namespace sous::sdfg
