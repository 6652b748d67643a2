#include "sdfg/inspection.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sdfg/atoms.h"
#include "sdfg/data_rows.h"
#include "sdfg/place.h"
#include "sdfg/planted_fault.h"

namespace sous::sdfg {
namespace {

using Loops = std::vector<Visits::Loop>;

bool has_reads(const std::vector<Expr>& expressions) {
  return std::ranges::any_of(expressions, [](const Expr& e) { return !e.reads().empty(); });
}

// Decides which loops are gone through; nullopt: the innermost one would have to be.
std::optional<Visits> visits(Loops loops, const Expr& value) {
  for (std::size_t k = 0; k < loops.size(); ++k)
    for (std::size_t inner = k + 1; inner < loops.size(); ++inner)
      for (const Expr* bound : {&loops[inner].begin, &loops[inner].end})
        loops[k].through = loops[k].through || bound->uses(loops[k].symbol);
  const auto is_linear = [&](const Visits::Loop& loop) {
    const auto factor = coefficient_of(value, loop.symbol);
    return factor && std::ranges::none_of(loops, [&](const Visits::Loop& other) {
             return !other.through && factor->uses(other.symbol);
           });
  };
  for (Visits::Loop& loop : loops) loop.through = loop.through || !is_linear(loop);
  if (!loops.empty() && loops.back().through) return std::nullopt;
  return Visits{std::move(loops), value};
}

enum class Asked : std::uint8_t { Subscripts, Values };

class Inspector {
 public:
  Inspector(const Sdfg& sdfg, const std::string& container, Asked asked)
      : sdfg_(sdfg), container_(container), asked_(asked), written_(touched(sdfg.root).written) {
    region(sdfg.root);
  }

  std::optional<std::vector<Reach>> found() {
    // What is read under a condition only may not be there to be read, if it is not read without one, too.
    const auto is_read = [&](const Reach::Element& e) {
      return certain_.contains(key(e.container, e.place.value, e.place.loops)) ||
             planted(Fault::index_read_under_condition);
    };
    for (const Reach& reach : reaches_)
      if (!std::ranges::all_of(reach.elements, is_read)) return std::nullopt;
    if (failed_ || reaches_.empty()) return std::nullopt;
    return std::move(reaches_);
  }

 private:
  using Values = std::map<std::string, Expr>;  // of scalars of the nest's own

  // Whether nothing in the nest writes it, but by what is asked about.
  bool is_stable(const std::string& name) const {
    const Container* c = sdfg_.find(name);
    if (c == nullptr || c->transient || written_.contains(name)) return false;
    return std::ranges::none_of(written_, [&](const std::string& other) {
      const Container* w = sdfg_.find(other);
      return w != nullptr && c->alias_class != 0 && w->alias_class == c->alias_class;
    });
  }

  // Over loops, parameters, elements and what else is stable; nullopt: a variable has no value that is known.
  std::optional<Expr> known(const Expr& e) const {
    bool all = true;
    const Expr result = e.map_reads([&](const std::string& name, const std::vector<Expr>& subscript) {
      if (const auto value = now_.find(name); value != now_.end() && subscript.empty()) return value->second;
      all = all && is_stable(name);
      return Expr::read(name, subscript);
    });
    return all && result.is_valid() ? std::optional(result) : std::nullopt;
  }

  std::optional<Expr> place(const std::string& name, const std::vector<Expr>& subscript) const {
    const Container& c = *sdfg_.find(name);
    const Expr place = place_of(c, subscript);
    const bool known = !has_reads(c.strides) && place.is_valid() && is_there(place);
    return known ? std::optional(place) : std::nullopt;
  }
  // Whether the nest reads here, in any case and at places that are known, what the expression reads.
  bool is_there(const Expr& e) const {
    bool there = true;
    e.map_reads([&](const std::string& name, const std::vector<Expr>& subscript) {
      const auto at = place(name, subscript);
      there = there && (subscript.empty() || (at && certain_.contains(key(name, *at, loops_))));
      return Expr::read(name, subscript);
    });
    return there;
  }

  static std::string key(const std::string& name, const Expr& place, const Loops& loops) {
    std::string result = name + " " + place.to_string();
    for (const Visits::Loop& loop : loops) result += " " + loop.symbol;
    return result;
  }

  // What is read here in any case.
  void reads(const Expr& e) {
    if (conditions_ > 0 || loops_unknown_ > 0) return;
    const auto value = known(e);
    if (!value) return;
    value->map_reads([&](const std::string& name, const std::vector<Expr>& subscript) {
      if (const auto at = place(name, subscript); at && !subscript.empty()) certain_.insert(key(name, *at, loops_));
      return Expr::read(name, subscript);
    });
  }
  // An expression reads what it names: bounds of a loop, a subscript of another access.
  void expression(const Expr& e) {
    reads(e);
    e.map_reads([&](const std::string& name, const std::vector<Expr>& subscript) {
      if (!planted(Fault::reads_in_expressions_have_no_reach)) element(name, subscript);
      return Expr::read(name, subscript);
    });
  }
  void access(const Memlet& memlet, bool is_read) {
    for (const Expr& e : memlet.subset) expression(e);
    const Container* c = sdfg_.find(memlet.container);
    if (is_read && c != nullptr && is_integer(c->type) && !memlet.subset.empty())
      reads(Expr::read(memlet.container, memlet.subset));
    element(memlet.container, memlet.subset);
  }
  void element(const std::string& name, const std::vector<Expr>& subscript) {
    if (name != container_ || subscript.empty()) return;
    auto reach = reach_of(asked_ == Asked::Values ? Expr::read(name, subscript) : subscript[0]);
    failed_ = failed_ || !reach;
    if (reach) reaches_.push_back(std::move(*reach));
  }

  std::optional<Reach> reach_of(const Expr& subscript) const {
    const auto value = known(subscript);
    if (!value || loops_unknown_ > 0) return std::nullopt;
    Reach reach;
    Expr fixed = value->constant_term();
    for (const Term& term : value->terms()) {
      Expr factor = term.coefficient;
      const Atom* element = nullptr;
      for (const Atom& atom : term.atoms) {
        const bool is_element = atom.kind == AtomKind::Read && !atom.args.empty();
        if (is_element ? element != nullptr : has_reads(atom.args)) return std::nullopt;
        if (is_element)
          element = &atom;
        else
          factor = factor * make_atom(atom, atom.args);
      }
      if (element == nullptr) {
        fixed = fixed + factor;
        continue;
      }
      const bool varies = std::ranges::any_of(loops_, [&](const Visits::Loop& l) { return factor.uses(l.symbol); });
      const auto at = place(element->name, element->args);
      auto where = at && !varies ? visits(loops_, *at) : std::nullopt;
      if (!where || !factor.is_valid()) return std::nullopt;
      reach.elements.push_back({element->name, std::move(*where), factor});
    }
    // Where there is no element, nothing is accessed: what is the same for all needs no loops.
    const bool varies = std::ranges::any_of(loops_, [&](const Visits::Loop& l) { return fixed.uses(l.symbol); });
    auto rest = visits(varies || reach.elements.empty() ? loops_ : Loops{}, fixed);
    if (!rest) return std::nullopt;
    // Rows that begin at an element and have their own lengths: what is gone through for these gives the beginnings,
    // too.
    if (!reach.elements.empty() && std::ranges::any_of(rest->loops, &Visits::Loop::through) && is_there(*value)) {
      if (auto rows = visits(loops_, *value)) return Reach{std::move(*rows), {}};
    }
    reach.fixed = std::move(*rest);
    return reach;
  }
  void region(const Region& region) {
    for (const Node& node : region.nodes)
      match(
          node.value, [&](const State& s) { state(s); }, [&](const Loop& l) { loop(l); },
          [&](const If& i) { branch(i); }, [&](const While& w) { repeated(w); });
  }

  void state(const State& s) {
    for (const Edge& e : s.edges) access(e.memlet, !is_write(s, e) || e.memlet.combine.has_value());
    for_each_code(s, [&](const ScalarExpr& code) { for_each_symbolic(code); });
    const auto assigned = as_assignment(s);
    const bool plain = assigned && !assigned->out.combine && is_own_scalar(assigned->out.container);
    const auto value = plain ? this->value(assigned->code, assigned->inputs) : std::nullopt;
    for (const std::string& name : touched(Region{{Node{s}}}).written) now_.erase(name);
    if (value) now_.insert_or_assign(assigned->out.container, *value);
  }
  bool is_own_scalar(const std::string& name) const {
    const Container* c = sdfg_.find(name);
    return c != nullptr && c->transient && c->shape.empty() && is_integer(c->type);
  }
  // Of a wide enough type: of what C computes in less, or without a sign, nothing is known but the elements' values.
  // But sums and products without a sign that have 64 bits, and become an index with one, are those of the same
  // integers: what wraps on the way wraps back, and what does not is out of reach (sous::Hull).
  std::optional<Expr> value(const ScalarExpr& e, const std::vector<Memlet>& inputs) const {
    const auto of = [&](std::size_t k) { return value(e.args[k], inputs); };
    switch (e.op) {
      case ScalarOp::symbolic:
        return known(e.symbolic);
      case ScalarOp::constant:
        return is_signed(e.type) ? std::optional(Expr(e.integer_value())) : std::nullopt;
      case ScalarOp::input: {
        const Memlet& m = inputs[static_cast<std::size_t>(e.input)];
        return is_integer(e.type) ? known(Expr::read(m.container, m.subset)) : std::nullopt;
      }
      case ScalarOp::cast: {
        const auto wide = info(e.type).bytes, narrow = info(e.args[0].type).bytes;
        if (!is_integer(e.type) || !is_integer(e.args[0].type)) return std::nullopt;
        if (e.type == ElementType::i64 && e.args[0].type == ElementType::u64) return modulo_2_64(e.args[0], inputs);
        const bool kept =
            info(e.type).kind == info(e.args[0].type).kind ? wide >= narrow : is_signed(e.type) && wide > narrow;
        return kept ? of(0) : std::nullopt;
      }
      case ScalarOp::add:
      case ScalarOp::sub:
      case ScalarOp::mul: {
        return is_signed(e.type) ? combined(e.op, of(0), of(1)) : std::nullopt;
      }
      default:
        return std::nullopt;
    }
  }
  // An integer that is this one modulo 2^64.
  std::optional<Expr> modulo_2_64(const ScalarExpr& e, const std::vector<Memlet>& inputs) const {
    const auto of = [&](std::size_t k) { return modulo_2_64(e.args[k], inputs); };
    const bool wide = e.type == ElementType::u64 || e.type == ElementType::i64;
    if (wide && (e.op == ScalarOp::add || e.op == ScalarOp::sub || e.op == ScalarOp::mul))
      return combined(e.op, of(0), of(1));
    if (wide && e.op == ScalarOp::constant) return Expr(e.integer_value());
    if (wide && e.op == ScalarOp::cast && is_integer(e.args[0].type)) return of(0);
    return value(e, inputs);
  }
  static std::optional<Expr> combined(ScalarOp op, const std::optional<Expr>& a, const std::optional<Expr>& b) {
    if (!a || !b) return std::nullopt;
    const Expr result = op == ScalarOp::add ? *a + *b : op == ScalarOp::sub ? *a - *b : *a * *b;
    return result.is_valid() && result.is_short() ? std::optional(result) : std::nullopt;
  }
  static bool is_signed(ElementType type) { return info(type).kind == TypeKind::Signed; }

  // What the body writes has no value that is known at its beginning, nor behind it.
  void forget(const Region& body) {
    for (const std::string& name : touched(body).written) now_.erase(name);
  }
  void loop(const Loop& l, bool unless_negative = false) {
    expression(l.begin);
    expression(l.end);
    forget(l.body);
    const Values before = now_;
    const auto begin = known(l.begin), end = known(l.end);
    // Elements that give bounds are read where the loop is.
    const bool is_known = begin && end && is_there(*begin) && is_there(*end);
    loops_unknown_ += is_known ? 0 : 1;
    if (is_known) loops_.push_back({l.symbol, *begin, *end, l.step, false, unless_negative});
    region(l.body);
    if (is_known) loops_.pop_back();
    loops_unknown_ -= is_known ? 0 : 1;
    now_ = before;
  }
  void branch(const If& i) {
    for (const Memlet& m : i.condition.inputs) access(m, true);
    if (const Loop* l = unsigned_loop(i)) return loop(*l, true);
    for_each_symbolic(i.condition.code);
    const Values before = now_;
    ++conditions_;
    for (const Region* body : {&i.then_body, &i.else_body}) {
      now_ = before;
      region(*body);
    }
    --conditions_;
    now_ = before;
    forget(i.then_body);
    forget(i.else_body);
  }
  void repeated(const While& w) {
    forget(w.body);
    const Values before = now_;
    ++conditions_;
    for (const Memlet& m : w.condition.inputs) access(m, true);
    region(w.body);
    --conditions_;
    now_ = before;
  }
  void for_each_symbolic(const ScalarExpr& code) {
    code.visit([&](const ScalarExpr& e) {
      if (e.op == ScalarOp::symbolic) expression(e.symbolic);
    });
  }

  const Sdfg& sdfg_;
  const std::string& container_;
  const Asked asked_;
  const std::set<std::string> written_;
  Values now_;
  Loops loops_;  // around, but for those whose bounds are not known
  int loops_unknown_ = 0;
  int conditions_ = 0;             // around
  std::set<std::string> certain_;  // key()
  std::vector<Reach> reaches_;
  bool failed_ = false;
};

}  // namespace

std::optional<std::vector<Reach>> reaches(const Sdfg& sdfg, const std::string& container) {
  return Inspector(sdfg, container, Asked::Subscripts).found();
}

std::optional<std::vector<Reach>> values_read(const Sdfg& sdfg, const std::string& container) {
  return Inspector(sdfg, container, Asked::Values).found();
}

bool meets_each_once(const std::vector<Reach>& reaches) {
  return std::ranges::any_of(reaches, [](const Reach& reach) {
    return std::ranges::any_of(reach.elements, [](const Reach::Element& e) {
      return std::ranges::all_of(
          e.place.loops, [&](const Visits::Loop& loop) { return loop.through || e.place.value.uses(loop.symbol); });
    });
  });
}

}  // namespace sous::sdfg
