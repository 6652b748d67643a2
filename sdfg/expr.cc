#include "sdfg/expr.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sdfg/atoms.h"
#include "sdfg/floor_division.h"

namespace sous::sdfg {

struct Expr::Node {
  bool valid = true;
  std::int64_t constant = 0;
  std::vector<Term> terms;
};

// Sums terms in canonical order; every operation that builds an Expr goes through it.
struct ExprBuilder {
  bool valid = true;
  std::int64_t constant = 0;
  std::map<std::vector<Atom>, std::int64_t> terms;

  void add_constant(std::int64_t value) { valid = valid && !__builtin_add_overflow(constant, value, &constant); }

  void add_term(const std::vector<Atom>& atoms, std::int64_t coefficient) {
    if (coefficient == 0) return;
    if (atoms.empty()) return add_constant(coefficient);
    auto [it, inserted] = terms.try_emplace(atoms, 0);
    if (__builtin_add_overflow(it->second, coefficient, &it->second)) valid = false;
    if (it->second == 0) terms.erase(it);
  }

  // scale * e
  void add(const Expr& e, std::int64_t scale = 1) {
    if (!e.is_valid()) valid = false;
    std::int64_t product = 0;
    if (__builtin_mul_overflow(e.constant_term(), scale, &product)) valid = false;
    add_constant(product);
    for (const Term& t : e.terms()) {
      if (__builtin_mul_overflow(t.coefficient, scale, &product)) valid = false;
      add_term(t.atoms, product);
    }
  }

  Expr build() const {
    if (!valid) return Expr::invalid();
    auto node = std::make_shared<Expr::Node>();
    node->constant = constant;
    node->terms.reserve(terms.size());
    for (const auto& [atoms, coefficient] : terms) node->terms.push_back({coefficient, atoms});
    return Expr(std::move(node));
  }

  static Expr of_atom(Atom atom) {
    ExprBuilder b;
    b.add_term({std::move(atom)}, 1);
    return b.build();
  }
};

namespace {

// The atom, where `e` is exactly one atom.
const Atom* single_atom(const Expr& e) {
  if (!e.is_valid() || e.constant_term() != 0 || e.terms().size() != 1) return nullptr;
  const Term& t = e.terms()[0];
  return t.coefficient == 1 && t.atoms.size() == 1 ? &t.atoms[0] : nullptr;
}

// min and max: flattened, without duplicates and without operands that another one beats by a constant, nested to the
// right.
Expr extremum(AtomKind kind, const Expr& a, const Expr& b) {
  if (!a.is_valid() || !b.is_valid()) return Expr::invalid();
  std::vector<Expr> operands;
  auto collect = [&](auto&& self, const Expr& e) -> void {
    const Atom* atom = single_atom(e);
    if (atom && atom->kind == kind) {
      for (const Expr& arg : atom->args) self(self, arg);
    } else {
      operands.push_back(e);
    }
  };
  collect(collect, a);
  collect(collect, b);
  std::vector<Expr> kept;
  for (const Expr& e : operands) {
    bool dropped = false;
    for (Expr& k : kept) {
      if (auto difference = (e - k).constant()) {  // comparable: keep the better of the two in place
        if (kind == AtomKind::Min ? *difference < 0 : *difference > 0) k = e;
        dropped = true;
        break;
      }
    }
    if (!dropped) kept.push_back(e);
  }
  std::sort(kept.begin(), kept.end());
  Expr result = kept.back();
  for (std::size_t i = kept.size() - 1; i-- > 0;)
    result = ExprBuilder::of_atom({.kind = kind, .name = {}, .args = {kept[i], result}});
  return result;
}

}  // namespace

Expr::Expr(std::int64_t value) {
  auto node = std::make_shared<Node>();
  node->constant = value;
  node_ = std::move(node);
}

Expr Expr::invalid() {
  auto node = std::make_shared<Node>();
  node->valid = false;
  return Expr(std::move(node));
}

Expr Expr::symbol(const std::string& name) {
  return ExprBuilder::of_atom({.kind = AtomKind::Symbol, .name = name, .args = {}});
}

Expr Expr::read(const std::string& container, const std::vector<Expr>& subscript) {
  for (const Expr& e : subscript)
    if (!e.is_valid()) return invalid();
  return ExprBuilder::of_atom({.kind = AtomKind::Read, .name = container, .args = subscript});
}

Expr Expr::floor_div(const Expr& a, const Expr& b) {
  if (!a.is_valid() || !b.is_valid() || b == Expr(0)) return invalid();
  auto divisor = b.constant();
  if (!divisor) {
    if (a == Expr(0)) return 0;
    return ExprBuilder::of_atom({.kind = AtomKind::FloorDiv, .name = {}, .args = {a, b}});
  }
  if (*divisor == INT64_MIN) return invalid();
  if (*divisor < 0) return floor_div(-a, Expr(-*divisor));
  const std::int64_t c = *divisor;
  if (c == 1) return a;
  ExprBuilder whole, rest;
  whole.add_constant(floor_div_int(a.constant_term(), c));
  std::int64_t remainder = floor_mod_int(a.constant_term(), c);
  std::int64_t g = c;
  for (const Term& t : a.terms()) {
    if (t.coefficient % c == 0) {
      whole.add_term(t.atoms, t.coefficient / c);
    } else {
      rest.add_term(t.atoms, t.coefficient);
      g = std::gcd(g, t.coefficient);
    }
  }
  if (rest.terms.empty()) return whole.build();  // 0 <= remainder < c
  // floor((g*x + r) / (g*d)) == floor((x + floor(r/g)) / d)
  ExprBuilder reduced;
  for (const auto& [atoms, coefficient] : rest.terms) reduced.add_term(atoms, coefficient / g);
  reduced.add_constant(remainder / g);
  Expr numerator = reduced.build();
  std::int64_t d = c / g;
  if (d == 1) return whole.build() + numerator;
  // floor((floor(x/m) + r) / d) == floor((x + r*m) / (m*d))
  if (numerator.terms().size() == 1 && numerator.terms()[0].coefficient == 1 &&
      numerator.terms()[0].atoms.size() == 1 && numerator.terms()[0].atoms[0].kind == AtomKind::FloorDiv) {
    const Atom& inner = numerator.terms()[0].atoms[0];
    if (auto m = inner.args[1].constant(); m && *m > 0) {
      std::int64_t product = 0;
      if (!__builtin_mul_overflow(*m, d, &product))
        return whole.build() + floor_div(inner.args[0] + Expr(numerator.constant_term()) * Expr(*m), Expr(product));
    }
  }
  return whole.build() + ExprBuilder::of_atom({.kind = AtomKind::FloorDiv, .name = {}, .args = {numerator, Expr(d)}});
}

Expr Expr::mod(const Expr& a, const Expr& b) {
  if (!a.is_valid() || !b.is_valid() || b == Expr(0)) return invalid();
  auto divisor = b.constant();
  if (!divisor) {
    if (a == Expr(0)) return 0;
    return ExprBuilder::of_atom({.kind = AtomKind::Mod, .name = {}, .args = {a, b}});
  }
  if (*divisor == INT64_MIN) return invalid();
  const std::int64_t c = *divisor;
  if (c < 0) return a - b * floor_div(a, b);
  ExprBuilder rest;
  rest.add_constant(floor_mod_int(a.constant_term(), c));
  for (const Term& t : a.terms()) rest.add_term(t.atoms, floor_mod_int(t.coefficient, c));
  if (rest.terms.empty()) return rest.build();
  return ExprBuilder::of_atom({.kind = AtomKind::Mod, .name = {}, .args = {rest.build(), b}});
}

Expr Expr::min(const Expr& a, const Expr& b) { return extremum(AtomKind::Min, a, b); }
Expr Expr::max(const Expr& a, const Expr& b) { return extremum(AtomKind::Max, a, b); }
Expr Expr::ceil_div(const Expr& a, std::int64_t b) { return floor_div(a + Expr(b - 1), Expr(b)); }

bool Expr::is_valid() const { return node_->valid; }
std::int64_t Expr::constant_term() const { return node_->constant; }
const std::vector<Term>& Expr::terms() const { return node_->terms; }

std::optional<std::int64_t> Expr::constant() const {
  if (!node_->valid || !node_->terms.empty()) return std::nullopt;
  return node_->constant;
}

std::optional<std::string> Expr::as_symbol() const {
  const Atom* atom = single_atom(*this);
  if (!atom || atom->kind != AtomKind::Symbol) return std::nullopt;
  return atom->name;
}

int Expr::compare(const Expr& a, const Expr& b) {
  if (a.node_ == b.node_) return 0;
  auto order = [](std::strong_ordering o) { return o < 0 ? -1 : o > 0 ? 1 : 0; };
  if (a.node_->valid != b.node_->valid) return a.node_->valid ? -1 : 1;
  const auto& ta = a.node_->terms;
  const auto& tb = b.node_->terms;
  for (std::size_t i = 0; i < ta.size() && i < tb.size(); ++i) {
    if (int c = order(ta[i].atoms <=> tb[i].atoms)) return c;
    if (ta[i].coefficient != tb[i].coefficient) return ta[i].coefficient < tb[i].coefficient ? -1 : 1;
  }
  if (ta.size() != tb.size()) return ta.size() < tb.size() ? -1 : 1;
  return order(a.node_->constant <=> b.node_->constant);
}

Expr operator+(const Expr& a, const Expr& b) {
  ExprBuilder sum;
  sum.add(a);
  sum.add(b);
  return sum.build();
}

Expr operator-(const Expr& a, const Expr& b) {
  ExprBuilder sum;
  sum.add(a);
  sum.add(b, -1);
  return sum.build();
}

Expr Expr::operator-() const { return Expr(0) - *this; }

Expr operator*(const Expr& a, const Expr& b) {
  if (auto c = b.constant()) {
    ExprBuilder product;
    product.add(a, *c);
    return product.build();
  }
  if (auto c = a.constant()) return b * a;
  if (!a.is_valid() || !b.is_valid()) return Expr::invalid();
  ExprBuilder product;
  product.add(a, b.constant_term());
  for (const Term& tb : b.terms()) {
    std::int64_t coefficient = 0;
    if (__builtin_mul_overflow(a.constant_term(), tb.coefficient, &coefficient)) product.valid = false;
    product.add_term(tb.atoms, coefficient);
    for (const Term& ta : a.terms()) {
      if (__builtin_mul_overflow(ta.coefficient, tb.coefficient, &coefficient)) product.valid = false;
      std::vector<Atom> atoms;
      std::merge(ta.atoms.begin(), ta.atoms.end(), tb.atoms.begin(), tb.atoms.end(), std::back_inserter(atoms));
      product.add_term(atoms, coefficient);
    }
  }
  return product.build();
}

namespace {

// Rebuilds an expression from rewritten atoms.
Expr rebuild(const Expr& e, const std::function<Expr(const Atom&)>& atom) {
  if (!e.is_valid()) return e;
  Expr sum = e.constant_term();
  for (const Term& t : e.terms()) {
    Expr product = t.coefficient;
    for (const Atom& a : t.atoms) product = product * atom(a);
    sum = sum + product;
  }
  return sum;
}

void visit_atoms(const Expr& e, const std::function<void(const Atom&)>& f) {
  for (const Term& t : e.terms())
    for (const Atom& a : t.atoms) {
      f(a);
      for (const Expr& arg : a.args) visit_atoms(arg, f);
    }
}

}  // namespace

Expr make_atom(const Atom& like, const std::vector<Expr>& args) {
  switch (like.kind) {
    case AtomKind::Symbol:
      return Expr::symbol(like.name);
    case AtomKind::FloorDiv:
      return Expr::floor_div(args[0], args[1]);
    case AtomKind::Mod:
      return Expr::mod(args[0], args[1]);
    case AtomKind::Min:
      return Expr::min(args[0], args[1]);
    case AtomKind::Max:
      return Expr::max(args[0], args[1]);
    case AtomKind::Read:
      return Expr::read(like.name, args);
  }
  __builtin_unreachable();
}

Expr map_atoms(const Expr& e, const std::function<Expr(const Atom&, const std::vector<Expr>&)>& f) {
  return rebuild(e, [&](const Atom& a) {
    std::vector<Expr> args;
    for (const Expr& arg : a.args) args.push_back(map_atoms(arg, f));
    return f(a, args);
  });
}

std::set<std::string> Expr::symbols() const {
  std::set<std::string> result;
  visit_atoms(*this, [&](const Atom& a) {
    if (a.kind == AtomKind::Symbol) result.insert(a.name);
  });
  return result;
}

std::set<std::string> Expr::reads() const {
  std::set<std::string> result;
  visit_atoms(*this, [&](const Atom& a) {
    if (a.kind == AtomKind::Read) result.insert(a.name);
  });
  return result;
}

bool Expr::is_short() const {
  constexpr std::size_t most_atoms = 256, most_factors = 16;
  std::size_t atoms = 0;
  visit_atoms(*this, [&](const Atom&) { ++atoms; });
  return atoms <= most_atoms &&
         std::ranges::all_of(terms(), [](const Term& t) { return t.atoms.size() <= most_factors; });
}

bool Expr::uses(const std::string& symbol) const {
  bool found = false;
  visit_atoms(*this, [&](const Atom& a) { found = found || (a.kind == AtomKind::Symbol && a.name == symbol); });
  return found;
}

Expr Expr::substitute(const std::map<std::string, Expr>& with) const {
  if (with.empty() || node_->terms.empty()) return *this;
  return map_atoms(*this, [&](const Atom& a, const std::vector<Expr>& args) {
    if (a.kind == AtomKind::Symbol)
      if (auto it = with.find(a.name); it != with.end()) return it->second;
    return make_atom(a, args);
  });
}

Expr Expr::rename_containers(const std::map<std::string, std::string>& with) const {
  return map_reads([&](const std::string& container, const std::vector<Expr>& subscript) {
    auto it = with.find(container);
    return read(it == with.end() ? container : it->second, subscript);
  });
}

Expr Expr::map_reads(const std::function<Expr(const std::string&, const std::vector<Expr>&)>& f) const {
  return map_atoms(*this, [&](const Atom& a, const std::vector<Expr>& args) {
    return a.kind == AtomKind::Read ? f(a.name, args) : make_atom(a, args);
  });
}

Expr term_value(const Term& term) {
  Expr value = term.coefficient;
  for (const Atom& atom : term.atoms) value = value * make_atom(atom, atom.args);
  return value;
}

std::optional<Expr> coefficient_of(const Expr& e, const std::string& symbol) {
  if (!e.is_valid()) return std::nullopt;
  Expr sum = 0;
  for (const Term& t : e.terms()) {
    Expr rest = t.coefficient;
    bool found = false;
    for (const Atom& a : t.atoms) {
      if (a.kind == AtomKind::Symbol && a.name == symbol && !found) {
        found = true;
        continue;
      }
      Expr factor = ExprBuilder::of_atom(a);
      if (factor.uses(symbol)) return std::nullopt;  // squared, or inside another atom
      rest = rest * factor;
    }
    if (found) sum = sum + rest;
  }
  return sum;
}

}  // namespace sous::sdfg
