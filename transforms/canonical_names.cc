// Canonical names and the structural hash: see normal_form.h.
#include <algorithm>

#include "sdfg/text.h"
#include "transforms/normal_form.h"

namespace sous::transforms {

using namespace sdfg;

namespace {

// Collects, in program order, everything that has a name. Loops and states are numbered by place at once; containers
// by first use; symbols only when all expressions are known, because one expression can hold several new ones.
class Namer {
 public:
  explicit Namer(const Sdfg& sdfg) : sdfg_(sdfg) {}

  std::pair<Sdfg, Renaming> run() {
    region(sdfg_.root);
    name_symbols();
    for (const Container& c : sdfg_.containers) container(c.name);  // unused ones
    for (const std::string& s : sdfg_.symbols) symbol(s);
    Sdfg result = rename(sdfg_, forward_);
    finish(result);
    Renaming back;
    for (const auto& [from, to] : forward_.symbols) back.symbols[to] = from;
    for (const auto& [from, to] : forward_.containers) back.containers[to] = from;
    for (const auto& [from, to] : forward_.states) back.states[to] = from;
    return {std::move(result), std::move(back)};
  }

 private:
  void region(const Region& r) {
    visit(r, [&](const Node& node) {
      match(
          node.value,
          [&](const State& s) {
            forward_.states.emplace(s.name, "s" + std::to_string(forward_.states.size()));
            for_each_code(s, [&](const ScalarExpr& e) { code(e); });
            for (const Edge& e : s.edges) memlet(e.memlet);
          },
          [&](const Loop& l) {
            forward_.symbols.emplace(l.symbol, "i" + std::to_string(loops_++));
            expr(l.begin);
            expr(l.end);
          },
          [&](const If& i) { condition(i.condition); }, [&](const While& w) { condition(w.condition); });
    });
  }
  void condition(const Condition& c) {
    for (const Memlet& m : c.inputs) memlet(m);
    code(c.code);
  }
  void code(const ScalarExpr& e) {
    e.visit([&](const ScalarExpr& n) {
      if (n.op == ScalarOp::symbolic) expr(n.symbolic);
    });
  }
  void memlet(const Memlet& m) {
    container(m.container);
    for (const Expr& e : m.subset) expr(e);
  }
  void container(const std::string& name) {
    if (!forward_.containers.emplace(name, "a" + std::to_string(containers_.size())).second) return;
    containers_.push_back(name);
    uses_.push_back({.is_container = true, .name = name, .expr = {}});
    const Container* c = sdfg_.find(name);
    if (!c) return;
    for (const Expr& e : c->shape) expr(e);
    for (const Expr& e : c->strides) expr(e);
    expr(c->offset);
  }
  void expr(const Expr& e) {
    for (const std::string& c : e.reads()) container(c);
    if (!e.symbols().empty()) uses_.push_back({.is_container = false, .name = {}, .expr = e});
  }

  void symbol(const std::string& name) {
    if (forward_.symbols.contains(name)) return;
    forward_.symbols.emplace(name, "n" + std::to_string(symbols_.size()));
    symbols_.push_back(name);
    order_.push_back(name);
  }

  void name_symbols() {
    for (const Use& use : uses_) {
      if (use.is_container) {
        order_.push_back(use.name);
        continue;
      }
      std::vector<std::pair<std::string, std::string>> fresh;  // by what tells them apart, then by name
      for (const std::string& s : use.expr.symbols())
        if (!forward_.symbols.contains(s)) fresh.emplace_back("", s);
      if (fresh.size() > 1)
        for (auto& [signature, s] : fresh) signature = signature_of(s);
      std::ranges::sort(fresh);
      for (const auto& [signature, s] : fresh) symbol(s);
    }
  }
  // How a symbol occurs in all expressions, the other symbols nameless.
  std::string signature_of(const std::string& name) const {
    std::string text;
    for (const Use& use : uses_) {
      if (use.is_container || !use.expr.uses(name)) {
        text += ";";
        continue;
      }
      std::map<std::string, Expr> with;
      for (const std::string& s : use.expr.symbols()) {
        const auto known = forward_.symbols.find(s);
        with[s] = Expr::symbol(s == name ? "self" : known == forward_.symbols.end() ? "other" : known->second);
      }
      text += use.expr.substitute(with).to_string() + ";";
    }
    return text;
  }

  // Declarations in the order of their numbers, arguments in the order of first use, alias classes by first use.
  void finish(Sdfg& result) const {
    result.name = "nest";
    const auto position = [](const std::vector<std::string>& all, const std::string& name) {
      return std::ranges::find(all, name) - all.begin();
    };
    std::vector<std::string> new_containers, new_symbols, new_order;
    for (const std::string& c : containers_) new_containers.push_back(forward_.containers.at(c));
    for (const std::string& s : symbols_) new_symbols.push_back(forward_.symbols.at(s));
    for (const std::string& name : order_)
      new_order.push_back(sdfg_.find(name) ? forward_.containers.at(name) : forward_.symbols.at(name));
    std::ranges::sort(result.containers, {}, [&](const Container& c) { return position(new_containers, c.name); });
    std::ranges::sort(result.symbols, {}, [&](const std::string& s) { return position(new_symbols, s); });
    std::ranges::sort(result.arguments, {}, [&](const std::string& s) { return position(new_order, s); });
    std::map<int, int> classes{{0, 0}};
    for (Container& c : result.containers)
      c.alias_class = classes.emplace(c.alias_class, static_cast<int>(classes.size())).first->second;
    for (auto& [a, b] : result.disjoint)
      if (position(new_containers, b) < position(new_containers, a)) std::swap(a, b);
    std::ranges::sort(result.disjoint);
    std::ranges::sort(result.assumptions);
    visit(result.root, [&](Node& node) {
      if (auto* loop = std::get_if<Loop>(&node.value))
        std::ranges::sort(loop->privates, {}, [&](const std::string& name) { return position(new_containers, name); });
    });
  }

  struct Use {
    bool is_container;
    std::string name;
    Expr expr;
  };
  const Sdfg& sdfg_;
  Renaming forward_;
  std::vector<Use> uses_;
  std::vector<std::string> containers_, symbols_, order_;  // in order of first use; order_: both
  int loops_ = 0;
};

}  // namespace

std::pair<Sdfg, Renaming> canonical_names(const Sdfg& sdfg) { return Namer(sdfg).run(); }

std::string structural_hash(const Sdfg& canonical) {
  Sdfg bare = canonical;
  bare.name = "nest";
  bare.assumptions.clear();
  bare.disjoint.clear();
  for (Container& c : bare.containers) {
    c.alias_class = 0;
    c.constant = false;
  }
  // FNV-1a, 128 bits (Fowler, Noll, Vo).
  const std::string text = print(bare);
  constexpr auto word = [](std::uint64_t high, std::uint64_t low) {
    return static_cast<unsigned __int128>(high) << 64 | low;
  };
  unsigned __int128 hash = word(0x6c62272e07bb0142, 0x62b821756295c58d);
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= word(0x0000000001000000, 0x000000000000013b);
  }
  std::string hex;
  for (int digit = 31; digit >= 0; --digit) hex += "0123456789abcdef"[static_cast<unsigned>(hash >> (4 * digit)) & 15U];
  return hex;
}

}  // namespace sous::transforms
