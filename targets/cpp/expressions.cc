#include "targets/cpp/expressions.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "sdfg/planted_fault.h"

namespace sous::targets {

using sdfg::Atom;
using sdfg::AtomKind;
using sdfg::ElementType;
using sdfg::Expr;
using sdfg::ScalarExpr;
using sdfg::ScalarOp;

namespace {

Text integer(std::int64_t value) {
  if (value == INT64_MIN) return {"INT64_MIN"};
  return {std::to_string(value), value < 0 ? Binding::Other : Binding::Primary};
}

Text infix(const Text& a, std::string_view op, const Text& b, Binding binding) {
  // The right operand of the same strength keeps its parentheses: neither - nor float + is associative.
  Binding right = binding == Binding::Sum ? Binding::Product : Binding::Primary;
  if (planted(Fault::minus_reassociated) && binding == Binding::Sum) right = Binding::Sum;
  const Binding left = binding == Binding::Other ? Binding::Primary : binding;
  return {a.in(left) + " " + std::string(op) + " " + b.in(right), binding};
}

std::string cpp(ElementType type) { return std::string(info(type).cpp); }

bool is_narrow(ElementType type) { return sdfg::is_integer(type) && sdfg::info(type).bytes < 4; }

// C++ computes in int what is narrower; back to the type that the IR computes in.
Text narrowed(Text value, ElementType type) {
  if (!is_narrow(type) && type != ElementType::boolean) return value;
  if (planted(Fault::narrow_not_wrapped)) return value;
  return {"(" + cpp(type) + ")" + value.in(Binding::Primary), Binding::Primary};
}

Text call(std::string_view function, const std::vector<Text>& args) {
  std::string text = "sous::" + std::string(function) + "(";
  for (std::size_t k = 0; k < args.size(); ++k) text += (k > 0 ? ", " : "") + args[k].text;
  return {text + ")"};
}

template <class T>
std::string shortest(T value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  std::string text(buffer, end);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

Text literal(const ScalarExpr& c) {
  if (sdfg::is_float(c.type)) {
    if (!std::isfinite(c.real_value())) {
      const bool wide = c.type == ElementType::f64;
      const std::string bits = wide ? "UINT64_C(" + std::to_string(c.bits) + ")"
                                    : "(uint32_t)" + std::to_string(static_cast<std::uint32_t>(c.bits)) + "u";
      return {"__builtin_bit_cast(" + cpp(c.type) + ", " + bits + ")"};
    }
    const std::string text =
        c.type == ElementType::f32 ? shortest(static_cast<float>(c.real_value())) + "f" : shortest(c.real_value());
    return {text, text.starts_with('-') ? Binding::Other : Binding::Primary};
  }
  if (c.type == ElementType::boolean) return {c.bits != 0 ? "true" : "false"};
  const std::int64_t value = c.integer_value();
  switch (c.type) {
    case ElementType::i32:
      if (value == INT32_MIN) return {"INT32_MIN"};
      return integer(value);
    case ElementType::u32:
      return {std::to_string(static_cast<std::uint32_t>(value)) + "u"};
    case ElementType::i64:
      if (value == INT64_MIN) return {"INT64_MIN"};
      return {"INT64_C(" + std::to_string(value) + ")"};
    case ElementType::u64:
      return {"UINT64_C(" + std::to_string(static_cast<std::uint64_t>(value)) + ")"};
    case ElementType::i8:
    case ElementType::i16:
    case ElementType::u8:
    case ElementType::u16:
      return {"(" + cpp(c.type) + ")" + integer(value).in(Binding::Primary)};
    case ElementType::f32:
    case ElementType::f64:
    case ElementType::boolean:
      break;
  }
  __builtin_unreachable();
}

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
  for (const Around& a : around_) symbols.push_back(a.loop->symbol);
  return symbols;
}

std::vector<sdfg::Memlet> Expressions::ahead(const sdfg::Memlet& read) {
  constexpr std::int64_t line_bytes = 64;
  std::vector<sdfg::Memlet> out;
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
    for (const Around& other : around_) {
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
    for (sdfg::Dim& dim : shifted.subset) dim.begin = dim.begin.substitute(later);
    const auto overflows = [](const sdfg::Dim& dim) { return !dim.begin.is_valid(); };
    if (!there.is_valid() || std::ranges::any_of(shifted.subset, overflows)) continue;
    asked_for_.emplace_back(of.name, there);
    out.push_back(std::move(shifted));
  }
  return out;
}

Text Expressions::index(const Expr& e) const {
  SOUS_ASSERT(e.is_valid());
  const auto atom_text = [&](const Atom& a) -> Text {
    const auto arg = [&](std::size_t k) { return index(a.args[k]); };
    const auto helper = [&](std::string_view name) { return call(name, {arg(0), arg(1)}); };
    const bool plain =
        (a.kind == AtomKind::FloorDiv || a.kind == AtomKind::Mod) && nonnegative(a.args[0]) && nonnegative(a.args[1]);
    switch (a.kind) {
      case AtomKind::Symbol: {
        const auto replaced = symbols.find(a.name);
        return replaced != symbols.end() ? replaced->second : Text{names_.of(a.name)};
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
  const sdfg::Container& c = container(memlet.container);
  Expr place = c.offset;
  const auto subscript = sdfg::subscripts(memlet.subset);
  for (std::size_t d = 0; d < subscript.size(); ++d) place = place + subscript[d] * c.strides[d];
  return place;
}

Text Expressions::element(const std::string& name, const std::vector<Expr>& subscript) const {
  if (const auto local = locals.find(name); local != locals.end()) return {local->second};
  const sdfg::Container& c = container(name);
  const std::string& base = names_.of(name);
  if (c.shape.empty() && c.transient) return {base};
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

Text Expressions::element(const sdfg::Memlet& memlet) const {
  return element(memlet.container, sdfg::subscripts(memlet.subset));
}

Text Expressions::scalar(const ScalarExpr& e, const std::vector<const sdfg::Memlet*>& inputs) const {
  std::vector<Text> texts;
  for (const sdfg::Memlet* memlet : inputs) texts.push_back(element(*memlet));
  return scalar(e, texts);
}

Text Expressions::scalar(const ScalarExpr& e, const std::vector<Text>& inputs) const {
  if (e.op == ScalarOp::input) return inputs[static_cast<std::size_t>(e.input)];
  std::vector<Text> args;
  for (const ScalarExpr& arg : e.args) args.push_back(scalar(arg, inputs));
  return operation(e, args);
}

Text Expressions::operation(const ScalarExpr& e, const std::vector<Text>& args) const {
  const auto prefix = [&](std::string_view op) {
    return narrowed({std::string(op) + args[0].in(Binding::Primary), Binding::Other}, e.type);
  };
  const auto binary = [&](Binding binding) {
    return narrowed(infix(args[0], info(e.op).text, args[1], binding), e.type);
  };
  switch (e.op) {
    case ScalarOp::input:
      break;
    case ScalarOp::constant:
      return literal(e);
    case ScalarOp::symbolic: {
      Text value = index(e.symbolic);
      if (e.type == ElementType::i64 && !e.symbolic.constant()) return value;
      if (e.type == ElementType::boolean) return {value.in(Binding::Primary) + " != 0", Binding::Other};
      return {"(" + cpp(e.type) + ")" + value.in(Binding::Primary)};
    }
    case ScalarOp::neg:
      return prefix("-");
    case ScalarOp::bit_not:
      return prefix("~");
    case ScalarOp::logical_not:
      return {"!" + args[0].in(Binding::Primary), Binding::Other};
    case ScalarOp::add:
    case ScalarOp::sub:
      return binary(Binding::Sum);
    case ScalarOp::mul:
    case ScalarOp::div:
    case ScalarOp::rem:
      return binary(Binding::Product);
    case ScalarOp::bit_and:
    case ScalarOp::bit_or:
    case ScalarOp::bit_xor:
    case ScalarOp::shl:
    case ScalarOp::shr:
      return binary(Binding::Other);
    case ScalarOp::lt:
    case ScalarOp::le:
    case ScalarOp::gt:
    case ScalarOp::ge:
    case ScalarOp::eq:
    case ScalarOp::ne:
    case ScalarOp::logical_and:
    case ScalarOp::logical_or:
      if (planted(Fault::compare_signed) && e.args[0].type == ElementType::u32)
        return {"(int32_t)" + args[0].in(Binding::Primary) + " " + std::string(info(e.op).text) + " (int32_t)" +
                    args[1].in(Binding::Primary),
                Binding::Other};
      return {args[0].in(Binding::Primary) + " " + std::string(info(e.op).text) + " " + args[1].in(Binding::Primary),
              Binding::Other};
    case ScalarOp::select:
      return {
          args[0].in(Binding::Primary) + " ? " + args[1].in(Binding::Primary) + " : " + args[2].in(Binding::Primary),
          Binding::Other};
    case ScalarOp::cast:
      if (e.type == ElementType::boolean) return {args[0].in(Binding::Primary) + " != 0", Binding::Other};
      return {"(" + cpp(e.type) + ")" + args[0].in(Binding::Primary)};
    case ScalarOp::min:
    case ScalarOp::max: {
      // Sums of what is narrower than int are int: name the type.
      const std::string function = std::string(info(e.op).text) + "<" + cpp(e.type) + ">";
      return call(function, args);
    }
    case ScalarOp::divide_by:
      if (planted(Fault::division_unguarded)) {
        const Text q = infix(args[0], "*", args[2], Binding::Product), minus = {"-" + args[1].in(Binding::Primary)};
        return call("fma", {call("fma", {q, minus, args[0]}), args[2], q});
      }
      return call(info(e.op).text, args);
    case ScalarOp::uncontracted:
    case ScalarOp::fabs:
    case ScalarOp::sqrt:
    case ScalarOp::cbrt:
    case ScalarOp::exp:
    case ScalarOp::exp2:
    case ScalarOp::expm1:
    case ScalarOp::log:
    case ScalarOp::log2:
    case ScalarOp::log10:
    case ScalarOp::log1p:
    case ScalarOp::sin:
    case ScalarOp::cos:
    case ScalarOp::tan:
    case ScalarOp::asin:
    case ScalarOp::acos:
    case ScalarOp::atan:
    case ScalarOp::sinh:
    case ScalarOp::cosh:
    case ScalarOp::tanh:
    case ScalarOp::erf:
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::trunc:
    case ScalarOp::round:
    case ScalarOp::rint:
    case ScalarOp::pow:
    case ScalarOp::atan2:
    case ScalarOp::fmod:
    case ScalarOp::hypot:
    case ScalarOp::fmin:
    case ScalarOp::fmax:
    case ScalarOp::copysign:
    case ScalarOp::fma:
      return call(info(e.op).text, args);
  }
  panic(__FILE__, __LINE__, "an input where none can be");
}

Text Expressions::combined(sdfg::ReductionOp op, ElementType type, const Text& accumulated, const Text& value) const {
  const auto infixed = [&](std::string_view text, Binding binding) {
    return narrowed(infix(accumulated, text, value, binding), type);
  };
  switch (op) {
    case sdfg::ReductionOp::sum:
      return infixed("+", Binding::Sum);
    case sdfg::ReductionOp::product:
      return infixed("*", Binding::Product);
    case sdfg::ReductionOp::min:
      return call("min<" + cpp(type) + ">", {accumulated, value});
    case sdfg::ReductionOp::max:
      return call("max<" + cpp(type) + ">", {accumulated, value});
    case sdfg::ReductionOp::bit_and:
      return infixed("&", Binding::Other);
    case sdfg::ReductionOp::bit_or:
      return infixed("|", Binding::Other);
    case sdfg::ReductionOp::bit_xor:
      return infixed("^", Binding::Other);
  }
  __builtin_unreachable();
}

}  // namespace sous::targets
