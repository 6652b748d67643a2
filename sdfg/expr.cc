#include "sdfg/expr.h"

#include <algorithm>
#include <numeric>
#include <utility>

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

std::int64_t floor_div_int(std::int64_t a, std::int64_t b) { return a / b - (a % b != 0 && (a % b < 0) != (b < 0)); }
std::int64_t floor_mod_int(std::int64_t a, std::int64_t b) { return a - b * floor_div_int(a, b); }

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

Expr make(const Atom& like, const std::vector<Expr>& args) {
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

void visit_atoms(const Expr& e, const std::function<void(const Atom&)>& f) {
  for (const Term& t : e.terms())
    for (const Atom& a : t.atoms) {
      f(a);
      for (const Expr& arg : a.args) visit_atoms(arg, f);
    }
}

// Rewrites atoms bottom-up: `leaf` sees each atom with its arguments rewritten.
Expr transform(const Expr& e, const std::function<Expr(const Atom&, const std::vector<Expr>&)>& leaf) {
  return rebuild(e, [&](const Atom& a) {
    std::vector<Expr> args;
    for (const Expr& arg : a.args) args.push_back(transform(arg, leaf));
    return leaf(a, args);
  });
}

}  // namespace

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
  return transform(*this, [&](const Atom& a, const std::vector<Expr>& args) {
    if (a.kind == AtomKind::Symbol)
      if (auto it = with.find(a.name); it != with.end()) return it->second;
    return make(a, args);
  });
}

Expr Expr::rename_containers(const std::map<std::string, std::string>& with) const {
  return map_reads([&](const std::string& container, const std::vector<Expr>& subscript) {
    auto it = with.find(container);
    return read(it == with.end() ? container : it->second, subscript);
  });
}

Expr Expr::map_reads(const std::function<Expr(const std::string&, const std::vector<Expr>&)>& f) const {
  return transform(*this, [&](const Atom& a, const std::vector<Expr>& args) {
    return a.kind == AtomKind::Read ? f(a.name, args) : make(a, args);
  });
}

namespace {

using Symbols = std::map<std::string, std::int64_t>;

std::optional<std::int64_t> evaluate_atom(const Atom& a, const Symbols& symbols, const Expr::ReadValue& read) {
  std::vector<std::int64_t> args;
  for (const Expr& arg : a.args) {
    auto value = arg.evaluate(symbols, read);
    if (!value) return std::nullopt;
    args.push_back(*value);
  }
  switch (a.kind) {
    case AtomKind::Symbol: {
      auto it = symbols.find(a.name);
      if (it == symbols.end()) return std::nullopt;
      return it->second;
    }
    case AtomKind::FloorDiv:
      if (args[1] == 0 || (args[0] == INT64_MIN && args[1] == -1)) return std::nullopt;
      return floor_div_int(args[0], args[1]);
    case AtomKind::Mod:
      if (args[1] == 0 || (args[0] == INT64_MIN && args[1] == -1)) return std::nullopt;
      return floor_mod_int(args[0], args[1]);
    case AtomKind::Min:
      return std::min(args[0], args[1]);
    case AtomKind::Max:
      return std::max(args[0], args[1]);
    case AtomKind::Read:
      return read ? read(a.name, args) : std::nullopt;
  }
  __builtin_unreachable();
}

}  // namespace

std::optional<std::int64_t> Expr::evaluate(const Symbols& symbols, const ReadValue& read) const {
  if (!node_->valid) return std::nullopt;
  std::int64_t sum = node_->constant;
  for (const Term& t : node_->terms) {
    std::int64_t product = t.coefficient;
    for (const Atom& a : t.atoms) {
      auto value = evaluate_atom(a, symbols, read);
      if (!value || __builtin_mul_overflow(product, *value, &product)) return std::nullopt;
    }
    if (__builtin_add_overflow(sum, product, &sum)) return std::nullopt;
  }
  return sum;
}

namespace {

bool is_sum(const Expr& e) {  // needs parentheses as an operand of floordiv and mod
  return e.terms().size() + (e.constant_term() != 0) > 1 ||
         (e.terms().size() == 1 &&
          (e.terms()[0].coefficient != 1 || e.terms()[0].atoms.size() > 1 ||
           e.terms()[0].atoms[0].kind == AtomKind::FloorDiv || e.terms()[0].atoms[0].kind == AtomKind::Mod)) ||
         (e.terms().empty() && e.constant_term() < 0);
}

std::string operand(const Expr& e) { return is_sum(e) ? "(" + e.to_string() + ")" : e.to_string(); }

std::string list(const std::vector<Expr>& args) {
  std::string text;
  for (const Expr& e : args) text += (text.empty() ? "" : ", ") + e.to_string();
  return text;
}

std::string print_atom(const Atom& a, bool alone) {
  switch (a.kind) {
    case AtomKind::Symbol:
      return a.name;
    case AtomKind::FloorDiv:
    case AtomKind::Mod: {
      std::string text = operand(a.args[0]) + (a.kind == AtomKind::Mod ? " mod " : " floordiv ") + operand(a.args[1]);
      return alone ? text : "(" + text + ")";
    }
    case AtomKind::Min:
      return "min(" + list(a.args) + ")";
    case AtomKind::Max:
      return "max(" + list(a.args) + ")";
    case AtomKind::Read:
      return a.name + "[" + list(a.args) + "]";
  }
  __builtin_unreachable();
}

}  // namespace

std::string Expr::to_string() const {
  if (!node_->valid) return "invalid";
  std::string text;
  auto sign = [&](bool negative) { text += text.empty() ? (negative ? "-" : "") : (negative ? " - " : " + "); };
  auto magnitude = [](std::int64_t v) {
    return std::to_string(v < 0 ? 0 - static_cast<std::uint64_t>(v) : static_cast<std::uint64_t>(v));
  };
  for (const Term& t : node_->terms) {
    sign(t.coefficient < 0);
    bool one = t.coefficient == 1 || t.coefficient == -1;
    if (!one) text += magnitude(t.coefficient) + "*";
    bool alone = one && t.atoms.size() == 1 && t.coefficient == 1;
    for (std::size_t i = 0; i < t.atoms.size(); ++i) text += (i ? "*" : "") + print_atom(t.atoms[i], alone);
  }
  if (node_->constant != 0 || node_->terms.empty()) {
    sign(node_->constant < 0);
    text += magnitude(node_->constant);
  }
  return text;
}

std::optional<Affine> affine(const Expr& e) {
  if (!e.is_valid()) return std::nullopt;
  Affine form{.constant = e.constant_term(), .coefficients = {}};
  for (const Term& t : e.terms()) {
    if (t.atoms.size() != 1 || t.atoms[0].kind != AtomKind::Symbol) return std::nullopt;
    form.coefficients[t.atoms[0].name] = t.coefficient;
  }
  return form;
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

namespace {

// The pieces of a sum with exactly one term 1 * max(a, b) (or min) in it; {e} for every other expression.
std::vector<Expr> pieces(const Expr& e, AtomKind kind) {
  for (const sdfg::Term& term : e.terms()) {
    if (term.coefficient != 1 || term.atoms.size() != 1 || term.atoms[0].kind != kind) continue;
    const sdfg::Atom& atom = term.atoms[0];
    const Expr whole =
        kind == AtomKind::Max ? Expr::max(atom.args[0], atom.args[1]) : Expr::min(atom.args[0], atom.args[1]);
    const Expr rest = e - whole;
    std::vector<Expr> result;
    for (const Expr& arg : atom.args)
      for (const Expr& piece : pieces(arg + rest, kind))
        if (std::ranges::find(result, piece) == result.end()) result.push_back(piece);
    return result;
  }
  return {e};
}

}  // namespace

std::vector<Expr> max_pieces(const Expr& e) { return pieces(e, AtomKind::Max); }
std::vector<Expr> min_pieces(const Expr& e) { return pieces(e, AtomKind::Min); }

}  // namespace sous::sdfg
