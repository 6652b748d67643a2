#include "transforms/sizeless.h"

#include <algorithm>
#include <set>
#include <vector>

#include "transforms/normal_form.h"

namespace sous::transforms {
namespace {

using sdfg::Atom;
using sdfg::AtomKind;
using sdfg::Expr;

bool is_large(std::int64_t number) { return number >= least_size_constant || number <= -least_size_constant; }

class Sizeless {
 public:
  explicit Sizeless(const sdfg::Sdfg& sdfg) : parameters_(sdfg.symbols.begin(), sdfg.symbols.end()) {}

  Expr operator()(const Expr& e) const {
    if (!e.is_valid()) return e;
    Expr rest = 0;
    bool sized = is_large(e.constant_term()), negative = e.constant_term() < 0, first = true;
    for (const sdfg::Term& term : e.terms()) {
      if (!std::ranges::all_of(term.atoms, [&](const Atom& atom) { return is_size(atom); })) {
        rest = rest + scaled(term);
        continue;
      }
      // The sign of n - 100 is that of n.
      if (first) negative = term.coefficient < 0;
      sized = true;
      first = false;
    }
    if (!sized) return rest + e.constant_term();
    return negative ? rest - size() : rest + size();
  }

 private:
  static Expr size() { return Expr::symbol("size"); }

  // A term with loop variables, or what is read.
  Expr scaled(const sdfg::Term& term) const {
    bool sized = is_large(term.coefficient);
    Expr product = 1;
    for (const Atom& atom : term.atoms) {
      if (is_size(atom)) {
        sized = true;
      } else {
        product = product * rebuilt(atom);
      }
    }
    if (!sized) return product * term.coefficient;
    return product * (term.coefficient < 0 ? -size() : size());
  }

  bool is_size(const Atom& atom) const {
    if (atom.kind == AtomKind::Read) return false;
    if (atom.kind == AtomKind::Symbol) return parameters_.contains(atom.name);
    return std::ranges::all_of(atom.args, [&](const Expr& arg) {
      return arg.reads().empty() && std::ranges::includes(parameters_, arg.symbols());
    });
  }

  Expr rebuilt(const Atom& atom) const {
    std::vector<Expr> args;
    for (const Expr& arg : atom.args) args.push_back((*this)(arg));
    switch (atom.kind) {
      case AtomKind::Symbol:
        return Expr::symbol(atom.name);
      case AtomKind::FloorDiv:
        return Expr::floor_div(args[0], divisor(atom, args[1]));
      case AtomKind::Mod:
        return Expr::mod(args[0], divisor(atom, args[1]));
      case AtomKind::Min:
        return Expr::min(args[0], args[1]);
      case AtomKind::Max:
        return Expr::max(args[0], args[1]);
      case AtomKind::Read:
        return Expr::read(atom.name, args);
    }
    __builtin_unreachable();
  }
  static Expr divisor(const Atom& atom, const Expr& sizeless) {
    return atom.args[1].constant() ? atom.args[1] : sizeless;
  }

  const std::set<std::string> parameters_;
};

}  // namespace

sdfg::Sdfg without_sizes(const sdfg::Sdfg& sdfg) {
  const Sizeless sizeless(sdfg);
  sdfg::Sdfg result = sdfg;
  result.symbols = {"size"};
  std::erase_if(result.arguments, [&](const std::string& name) { return sdfg.has_symbol(name); });
  for (sdfg::Container& container : result.containers) {
    for (Expr& extent : container.shape) extent = sizeless(extent);
    for (Expr& stride : container.strides) stride = sizeless(stride);
    container.offset = sizeless(container.offset);
  }
  result.root = sdfg::map_exprs(std::move(result.root), sizeless);
  return result;
}

std::string sizeless_hash(const sdfg::Sdfg& canonical) { return structural_hash(without_sizes(canonical)); }

bool differ_in_sizes_alone(const sdfg::Sdfg& a, const sdfg::Sdfg& b) { return sizeless_hash(a) == sizeless_hash(b); }

}  // namespace sous::transforms
