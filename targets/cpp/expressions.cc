#include "targets/cpp/expressions.h"

#include <algorithm>
#include <cstdlib>

#include "sdfg/place.h"
#include "sdfg/planted_fault.h"
#include "targets/cpp/operators.h"

namespace sous::targets {

using sdfg::Atom;
using sdfg::AtomKind;
using sdfg::ElementType;
using sdfg::Expr;

bool mentions(const Expr& e, const std::set<std::string>& containers) {
  for (const std::string& read : e.reads()) {
    if (containers.contains(read)) return true;
  }
  return false;
}

Expressions::Expressions(const sdfg::Sdfg& sdfg, Names& names) : sdfg_(sdfg), names_(names) {
  const sdfg::Touched touched = sdfg::touched(sdfg.root);
  for (const sdfg::Container& c : sdfg.containers) {
    if (c.shape.empty() && !c.transient && touched.written.contains(c.name)) by_pointer_.insert(c.name);
  }
  // n - c >= 0 with c >= 0 says that n is not negative.
  for (const Expr& e : sdfg.assumptions) {
    if (e.terms().size() != 1 || e.terms()[0].coefficient != 1 || e.constant_term() > 0) continue;
    if (const auto symbol = (e - Expr(e.constant_term())).as_symbol()) nonnegative_.insert(*symbol);
  }
}

const std::string& Expressions::use(const std::string& name) const {
  if (const auto table = tables_.find(name); table != tables_.end()) {
    tables_used_.insert(name);
    return table->second;
  }
  const std::string& identifier = names_.of(name);
  used_.insert(identifier);
  return identifier;
}

const sdfg::Container& Expressions::container(const std::string& name) const {
  const sdfg::Container* found = sdfg_.find(name);
  SOUS_ASSERT(found != nullptr);
  return *found;
}

bool Expressions::nonnegative(const Expr& e) const {
  if (planted(Fault::floor_as_truncation)) return true;
  if (e.constant_term() < 0) return false;
  const auto atom_is = [&](const Atom& a) {
    switch (a.kind) {
      case AtomKind::Symbol:
        return nonnegative_.contains(a.name);
      case AtomKind::FloorDiv:
        return nonnegative(a.args[0]) && nonnegative(a.args[1]);
      case AtomKind::Mod:
        return nonnegative(a.args[1]);
      case AtomKind::Min:
        return nonnegative(a.args[0]) && nonnegative(a.args[1]);
      case AtomKind::Max:
        return nonnegative(a.args[0]) || nonnegative(a.args[1]);
      case AtomKind::Read: {
        // An index is an i64: the upper half of u64 is negative as one.
        const ElementType type = container(a.name).type;
        return sdfg::info(type).kind == sdfg::TypeKind::Unsigned && type != ElementType::u64;
      }
    }
    __builtin_unreachable();
  };
  for (const sdfg::Term& term : e.terms()) {
    if (term.coefficient < 0) return false;
    for (const Atom& atom : term.atoms) {
      if (!atom_is(atom)) return false;
    }
  }
  return true;
}

void Expressions::enter(const sdfg::Loop& loop) {
  const bool known = loop.step > 0 ? nonnegative(loop.begin) : nonnegative(loop.end + Expr(1));
  if (known) nonnegative_.insert(loop.symbol);
  around_.push_back({&loop, asked_for_});
}

void Expressions::leave(const sdfg::Loop& loop) {
  nonnegative_.erase(loop.symbol);
  asked_for_ = std::move(around_.back().asked_for);
  around_.pop_back();
}

std::vector<std::string> Expressions::entered() const {
  std::vector<std::string> symbols;
  for (const LoopAround& a : around_) symbols.push_back(a.loop->symbol);
  return symbols;
}

std::vector<sdfg::Memlet> Expressions::ahead(const sdfg::Memlet& read) {
  constexpr std::int64_t line_bytes = 64;
  std::vector<sdfg::Memlet> out;
  if (on_device) return out;  // threads wait for memory while others run
  const sdfg::Container& of = container(read.container);
  // What is an array of the function's own is in the cache.
  if (locals.contains(of.name) || (of.transient && of.storage != sdfg::Storage::heap)) return out;
  const Expr place = offset(read);
  if (!place.reads().empty()) return out;
  const auto moves_with = [&](const sdfg::Loop* l) { return place.uses(l->symbol); };
  std::set<std::string> seen;
  for (const auto& [loop, asked_before] : around_) {
    std::int64_t distance = 0;
    if (loop->prefetch == 0 || !moves_with(loop) || !seen.insert(loop->symbol).second) continue;
    if (__builtin_mul_overflow(loop->prefetch, loop->step, &distance)) continue;
    bool alone = true, moves = false;
    for (const LoopAround& other : around_) {
      if (other.loop->symbol == loop->symbol) continue;
      alone = false;
      moves = moves || moves_with(other.loop);
    }
    if (!alone && !moves) continue;
    const std::map<std::string, Expr> later{{loop->symbol, Expr::symbol(loop->symbol) + Expr(distance)}};
    const Expr there = place.substitute(later);
    const std::int64_t near = line_bytes / sdfg::info(of.type).bytes;
    if (std::ranges::any_of(asked_for_, [&](const auto& asked) {
          const auto apart = asked.first == read.container ? (asked.second - there).constant() : std::nullopt;
          return apart && std::abs(*apart) < near;
        }))
      continue;
    sdfg::Memlet shifted = read;
    for (sdfg::Expr& dim : shifted.subset) dim = dim.substitute(later);
    const auto overflows = [](const sdfg::Expr& dim) { return !dim.is_valid(); };
    if (!there.is_valid() || std::ranges::any_of(shifted.subset, overflows)) continue;
    asked_for_.emplace_back(of.name, there);
    out.push_back(std::move(shifted));
  }
  return out;
}

Text Expressions::index(const Expr& e, bool ahead) const {
  SOUS_ASSERT(e.is_valid());
  const auto atom_text = [&](const Atom& a) -> Text {
    const bool divides = a.kind == AtomKind::FloorDiv || a.kind == AtomKind::Mod;
    const auto arg = [&](std::size_t k) {
      const Text text = index(a.args[k], ahead);
      return ahead && divides && k == 1 && !a.args[k].constant() ? call("imax", {{"1"}, text}) : text;
    };
    const auto helper = [&](std::string_view name) { return call(name, {arg(0), arg(1)}); };
    const bool plain = divides && nonnegative(a.args[0]) && nonnegative(a.args[1]);
    switch (a.kind) {
      case AtomKind::Symbol: {
        const auto replaced = symbols.find(a.name);
        return replaced != symbols.end() ? replaced->second : Text{use(a.name)};
      }
      case AtomKind::FloorDiv:
        return plain ? infix(arg(0), "/", arg(1), Binding::Product) : helper("floor_div");
      case AtomKind::Mod:
        return plain ? infix(arg(0), "%", arg(1), Binding::Product) : helper("floor_mod");
      case AtomKind::Min:
        return helper("imin");
      case AtomKind::Max:
        return helper("imax");
      case AtomKind::Read: {
        Text read = element(a.name, a.args);
        if (container(a.name).type == ElementType::i64) return read;
        return {"(int64_t)" + read.in(Binding::Primary)};
      }
    }
    __builtin_unreachable();
  };
  if (const auto constant = e.constant()) return integer(*constant);
  Text sum;
  bool first = true;
  const auto add = [&](const Text& value, bool negative) {
    if (first) {
      sum = negative ? Text{"-" + value.in(Binding::Primary), Binding::Other} : value;
    } else {
      sum = {sum.in(sum.text.starts_with('-') ? Binding::Other : Binding::Sum) + (negative ? " - " : " + ") +
                 value.in(Binding::Product),
             Binding::Sum};
    }
    first = false;
  };
  const auto product = [&](const sdfg::Term& term) {
    Text text = atom_text(term.atoms[0]);
    for (std::size_t k = 1; k < term.atoms.size(); ++k) {
      text = infix(text, "*", atom_text(term.atoms[k]), Binding::Product);
    }
    if (term.coefficient == 1 || term.coefficient == -1) return text;
    const std::int64_t size =
        term.coefficient < 0 && term.coefficient != INT64_MIN ? -term.coefficient : term.coefficient;
    return infix(text, "*", integer(size), Binding::Product);
  };
  const auto is_negative = [](std::int64_t c) { return c < 0 && c != INT64_MIN; };
  // A negative first term reads better behind a positive one: n - i, not -i + n.
  for (const bool negatives : {false, true}) {
    for (const sdfg::Term& term : e.terms()) {
      if (is_negative(term.coefficient) == negatives) add(product(term), negatives);
    }
    const std::int64_t constant = e.constant_term();
    if (negatives != (constant >= 0) && constant != 0)
      add(integer(is_negative(constant) ? -constant : constant), constant < 0);
  }
  return sum;
}

Expr Expressions::offset(const sdfg::Memlet& memlet) const {
  return sdfg::place_of(container(memlet.container), memlet.subset);
}

Text Expressions::element(const std::string& name, const std::vector<Expr>& subscript) const {
  if (const auto local = locals.find(name); local != locals.end()) return {local->second};
  const sdfg::Container& c = container(name);
  const std::string& base = use(name);
  if (c.shape.empty() && !by_pointer(name)) return {base};
  std::string place;
  const auto add = [&](const Text& text) {
    place += (place.empty() ? "" : " + ") + text.in(place.empty() ? Binding::Other : Binding::Sum);
  };
  if (c.offset != Expr(0)) add(index(c.offset));
  for (std::size_t d = 0; d < subscript.size(); ++d) {
    if (subscript[d] == Expr(0)) continue;
    const Text s = index(subscript[d]);
    const Expr longer = c.strides[d] + Expr(planted(Fault::array_stride_wrong) && c.transient ? 1 : 0);
    add(c.strides[d] == Expr(1) ? s : infix(s, "*", index(longer), Binding::Product));
  }
  return {base + "[" + (place.empty() ? "0" : place) + "]"};
}

Text Expressions::element(const sdfg::Memlet& memlet) const { return element(memlet.container, memlet.subset); }

}  // namespace sous::targets
