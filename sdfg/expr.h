// Symbolic integer expressions: loop bounds, subscripts, shapes, strides.
//
// Meaning. An Expr denotes a mathematical integer (no width, no wrap-around); front ends build one only where C's own
// arithmetic does not wrap. Symbols are loop variables and the integer parameters of an Sdfg. `read` takes the value of
// an integer container at a point, evaluated when the expression is: a bound when the loop is entered, a subscript when
// its memlet is moved (this is how A[idx[i]] and CSR bounds are written).
//
// Canonical form. A sum of a constant and of terms, each a non-zero coefficient times a sorted product of atoms; an
// atom is a symbol, floor division, modulo, min, max or read. Construction canonicalises, so that equal polynomials
// compare equal: (i+j)*2 - i is i + 2*j. floor_div and mod by a positive constant take out the terms that the divisor
// divides exactly: (4*i + j) floordiv 4 is i + j floordiv 4. Division by a non-constant is kept as written.
//
// Overflow. Coefficients are int64. Arithmetic that leaves that range gives the invalid expression, which absorbs
// whatever it meets and which `check` refuses (sdfg.expr.overflow).
//
// An Expr is a shared immutable handle: copying is cheap, comparing is by structure.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sous::sdfg {

class Expr;
struct Atom;

// coefficient * atoms[0] * atoms[1] * …; atoms sorted, never empty, coefficient never zero.
struct Term {
  std::int64_t coefficient = 0;
  std::vector<Atom> atoms;
};

class Expr {
 public:
  Expr() : Expr(std::int64_t{0}) {}
  Expr(std::int64_t value);                                    // NOLINT: constants convert
  Expr(int value) : Expr(static_cast<std::int64_t>(value)) {}  // NOLINT

  static Expr symbol(const std::string& name);
  static Expr invalid();
  // Floor division and the modulo that goes with it (a == b*floor_div(a,b) + mod(a,b), 0 <= mod < |b| for b > 0).
  // Division by the constant 0 is invalid.
  static Expr floor_div(const Expr& a, const Expr& b);
  static Expr mod(const Expr& a, const Expr& b);
  static Expr min(const Expr& a, const Expr& b);
  static Expr max(const Expr& a, const Expr& b);
  // The value of container[subscript…]; no subscripts for a scalar.
  static Expr read(const std::string& container, const std::vector<Expr>& subscript);
  // ceil(a / b) for a constant b > 0.
  static Expr ceil_div(const Expr& a, std::int64_t b);

  bool is_valid() const;
  std::optional<std::int64_t> constant() const;  // the value, where it is one
  std::optional<std::string> as_symbol() const;  // the name, where it is exactly one symbol
  std::int64_t constant_term() const;            // the constant part of the sum
  const std::vector<Term>& terms() const;        // the non-constant part, sorted
  // At most 256 atoms, those inside min, read … included, and 16 in one product. What grows from a program's own
  // arithmetic stays below: a chain of squares would double with each link.
  bool is_short() const;

  std::set<std::string> symbols() const;  // free symbols, those inside min, read … included
  std::set<std::string> reads() const;    // containers that it reads
  bool uses(const std::string& symbol) const;
  // Replaces symbols, simultaneously.
  Expr substitute(const std::map<std::string, Expr>& with) const;
  // Renames the containers of `read` atoms.
  Expr rename_containers(const std::map<std::string, std::string>& with) const;
  // Replaces every read atom by f(container, subscript).
  Expr map_reads(const std::function<Expr(const std::string&, const std::vector<Expr>&)>& f) const;

  // Value under `symbols`; nullopt if a symbol is missing, a divisor is zero, int64 overflows, or a read fails.
  // `read` gives container values (null: every read fails).
  using ReadValue = std::function<std::optional<std::int64_t>(const std::string&, const std::vector<std::int64_t>&)>;
  std::optional<std::int64_t> evaluate(const std::map<std::string, std::int64_t>& symbols,
                                       const ReadValue& read = nullptr) const;

  // Text in the .sdfg language: "i + 2*j - 1", "(i + 3) floordiv 4", "i mod 8", "min(n, i + 32)", "idx[i]", "count[]".
  std::string to_string() const;

  friend Expr operator+(const Expr& a, const Expr& b);
  friend Expr operator-(const Expr& a, const Expr& b);
  friend Expr operator*(const Expr& a, const Expr& b);
  Expr operator-() const;
  friend bool operator==(const Expr& a, const Expr& b) { return compare(a, b) == 0; }
  friend std::strong_ordering operator<=>(const Expr& a, const Expr& b) { return compare(a, b) <=> 0; }

 private:
  struct Node;
  friend struct ExprBuilder;
  explicit Expr(std::shared_ptr<const Node> node) : node_(std::move(node)) {}
  static int compare(const Expr& a, const Expr& b);  // by structure: deterministic, not by value
  std::shared_ptr<const Node> node_;
};

enum class AtomKind : std::uint8_t { Symbol, FloorDiv, Mod, Min, Max, Read };

struct Atom {
  AtomKind kind = AtomKind::Symbol;
  std::string name;        // of the symbol, or of the container read
  std::vector<Expr> args;  // two for FloorDiv, Mod, Min, Max; the subscript for Read; none for Symbol
  friend bool operator==(const Atom&, const Atom&) = default;
  friend std::strong_ordering operator<=>(const Atom&, const Atom&) = default;
};

// An affine form over symbols: constant + sum of coefficient * symbol.
struct Affine {
  std::int64_t constant = 0;
  std::map<std::string, std::int64_t> coefficients;
};

// The affine form of `e`, or nullopt if it has a product of symbols, a floor division, modulo, min, max or read.
std::optional<Affine> affine(const Expr& e);

// The coefficient of `symbol` in `e` as an expression free of it, if `e` is linear in it and does not use it elsewhere.
std::optional<Expr> coefficient_of(const Expr& e, const std::string& symbol);

// The expressions whose maximum `e` is: max(a, b) + c gives {a + c, b + c}; whatever has no max on top gives {e}.
std::vector<Expr> max_pieces(const Expr& e);
// The same for min.
std::vector<Expr> min_pieces(const Expr& e);

}  // namespace sous::sdfg
