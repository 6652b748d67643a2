// Loops that count from one bound to another: where they end, and the values of their variables after them.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "frontends/c/builder.h"
#include "llvm/Support/SaveAndRestore.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Expr;
using sdfg::Memlet;
using sdfg::ScalarExpr;

namespace {

// Whether a write to one of `written` may change one of `read`, under another name too: which of them overlap is known
// only when all is built.
bool may_change(const sdfg::Sdfg& sdfg, const std::set<std::string>& read, const std::set<std::string>& written) {
  const auto bytes = [](const sdfg::Container& c) { return sdfg::info(c.type).bytes; };
  for (const std::string& r : read)
    for (const std::string& w : written) {
      const sdfg::Container &a = *sdfg.find(r), &b = *sdfg.find(w);
      if (r == w) return true;
      if (a.transient || b.transient || a.shape.empty() || b.shape.empty()) continue;
      if (a.type == b.type || bytes(a) == bytes(b) || bytes(a) == 1 || bytes(b) == 1) return true;
    }
  return false;
}

}  // namespace

// All conditions have to hold: the loop ends at the first bound that it meets.
Lift<Bounds> Builder::bounds(const ForHeader& header, const Expr& begin, const std::string& symbol) {
  std::optional<Expr> end;
  for (const clang::BinaryOperator* condition : header.conditions) {
    // The second condition is looked at where the first one holds.
    const auto look = [&] { return bound(header, condition, begin, symbol); };
    TRY(Expr next, end ? sometimes(look) : look());
    if (header.conditions.size() > 1)
      TRY_VOID(lower_half(next, condition->getLHS()->getType(), condition->getExprLoc()));
    end = !end ? next : header.step > 0 ? Expr::min(*end, next) : Expr::max(*end, next);
  }
  return Bounds{begin, *end};
}

// The end that one condition sets, from its linear form with `symbol` for the variable: c*v + rest OP 0.
Lift<Expr> Builder::bound(const ForHeader& header, const clang::BinaryOperator* condition, const Expr& begin,
                          const std::string& symbol) {
  const clang::SourceLocation where = condition->getExprLoc();
  const bool up = header.step > 0;
  // While the condition is read, the variable is known on one side: it runs away from its beginning.
  box_.push_back(up ? Range{symbol, begin, std::nullopt} : Range{symbol, std::nullopt, begin});
  // A conversion of the variable itself to a wider or unsigned type keeps its value where it does not turn negative.
  auto left = index(condition->getLHS());
  auto right = left ? index(condition->getRHS()) : left;
  box_.pop_back();
  if (!left) return std::unexpected(left.error());
  if (!right) return std::unexpected(right.error());
  const Expr difference = *left - *right;
  auto coefficient = sdfg::coefficient_of(difference, symbol);
  if (!coefficient || !coefficient->constant() || *coefficient->constant() == 0)
    return refuse("c.loop.form", "the condition is not linear in the loop's variable", where);
  std::int64_t c = *coefficient->constant();
  const std::map<std::string, Expr> first{{symbol, begin}};
  expect_distance(header, condition, {left->substitute(first), right->substitute(first)}, up == (c > 0));
  Expr rest = difference - Expr(c) * Expr::symbol(symbol);  // c*v + rest OP 0
  clang::BinaryOperatorKind op = condition->getOpcode();
  if (c < 0) {
    c = -c;
    rest = -rest;
    op = op == clang::BO_LT   ? clang::BO_GT
         : op == clang::BO_LE ? clang::BO_GE
         : op == clang::BO_GT ? clang::BO_LT
         : op == clang::BO_GE ? clang::BO_LE
                              : op;
  }
  Expr end;
  const Expr limit = -rest;  // c*v OP limit
  switch (op) {
    case clang::BO_LT:  // v < ceil(limit / c)
      if (!up) return refuse("c.loop.form", "the loop counts down to an upper bound", where);
      end = Expr::ceil_div(limit, c);
      break;
    case clang::BO_LE:  // v < floor(limit / c) + 1
      if (!up) return refuse("c.loop.form", "the loop counts down to an upper bound", where);
      end = Expr::floor_div(limit, Expr(c)) + Expr(planted(Fault::bound_inclusive_lost) ? 0 : 1);
      break;
    case clang::BO_GT:  // v > floor(limit / c)
      if (up) return refuse("c.loop.form", "the loop counts up to a lower bound", where);
      end = Expr::floor_div(limit, Expr(c));
      break;
    case clang::BO_GE:  // v > ceil(limit / c) - 1
      if (up) return refuse("c.loop.form", "the loop counts up to a lower bound", where);
      end = Expr::ceil_div(limit, c) - Expr(1);
      break;
    case clang::BO_NE: {
      if (c != 1) return refuse("c.loop.form", "a scaled variable compared with !=", where);
      const Expr distance = up ? limit - begin : begin - limit;
      const std::int64_t step = up ? header.step : -header.step;
      if (step != 1 && Expr::mod(distance, Expr(step)) != Expr(0))
        return refuse("c.loop.form", "the step may jump over the bound", where);
      TRY_VOID(nonneg(distance, where, "c.loop.form", "the loop may start behind its bound"));
      end = limit;
      break;
    }
    default:
      return refuse("c.loop.form", "this condition is not understood", where);
  }
  if (!(end - begin).is_valid()) return refuse("c.loop.form", "a bound leaves 64 bits", where);
  const bool computed = left->as_symbol() == symbol || right->as_symbol() == symbol;
  if (const auto least = computed ? std::nullopt : ranges_.lower(up ? end : -end, box_)) expect_no_underflow(*least);
  TRY_VOID(end_in_type(end, header, where));
  return end;
}

// The value with which the loop ends has to exist in the variable's type, or the loop would wrap and never end.
Lift<void> Builder::end_in_type(const Expr& end, const ForHeader& header, clang::SourceLocation where) {
  const clang::QualType type = header.variable->getType();
  const bool up = header.step > 0;
  const bool is_signed = type->isSignedIntegerOrEnumerationType();
  const ElementType t = *element_type(type, context_);
  const int bits = 8 * sdfg::info(t).bytes;
  if (!is_signed) {
    if (!up)
      TRY_VOID(nonneg(end + Expr(header.step) + Expr(1), where, "c.unsigned-wrap", "the loop counts below zero"));
    if (up && bits == 64 && header.step > 1)
      TRY_VOID(nonneg(Expr(INT64_MAX - header.step) - end, where, "c.unsigned-wrap", "the loop may wrap"));
  }
  // What is read as that type, or as a narrower one, it holds.
  const auto is_element = [&] {
    const auto& terms = end.terms();
    if (end.constant_term() != 0 || terms.size() != 1 || terms[0].coefficient != 1 || terms[0].atoms.size() != 1 ||
        terms[0].atoms[0].kind != sdfg::AtomKind::Read)
      return false;
    const sdfg::TypeInfo& read = sdfg::info(sdfg_.find(terms[0].atoms[0].name)->type);
    return read.kind == sdfg::TypeKind::Unsigned && 8 * read.bytes <= bits;
  };
  if (up && bits < 64 && (!is_signed || bits < 32) && !(!is_signed && header.step == 1 && is_element())) {
    const std::int64_t top = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
    TRY_VOID(nonneg(Expr(top - header.step + 1) - end, where, is_signed ? "c.narrowing" : "c.unsigned-wrap",
                    "the loop's variable may be too small for its bound"));
  }
  if (!up && is_signed && bits < 32)
    TRY_VOID(nonneg(end + Expr(header.step) + Expr(std::int64_t{1} << (bits - 1)), where, "c.narrowing",
                    "the loop's variable may be too small for its bound"));
  return {};
}

void Builder::forget_inner_finals(std::size_t from) {
  for (std::size_t k = from; k < finals_.size(); ++k) {
    finals_[k].nonneg.clear();
    finals_[k].value.reset();
    bindings_[finals_[k].variable] = {};
  }
}

// Whether the last iteration sets f's variable if any iteration does that under f's conditions: by an entry of `inside`
// with no more conditions than f, each of which turns no smaller from one iteration to the next.
bool Builder::set_last(const Final& f, const std::vector<Final>& inside, const std::string& symbol, bool up) {
  const auto lasting = [&](const Expr& e) {
    if (!e.symbols().contains(symbol)) return true;
    const auto coefficient = sdfg::coefficient_of(e, symbol);
    const auto constant = coefficient ? coefficient->constant() : std::nullopt;
    return constant && (up ? *constant >= 0 : *constant <= 0);
  };
  return std::ranges::any_of(inside, [&](const Final& g) {
    return g.variable == f.variable && g.value && std::ranges::all_of(g.nonneg, [&](const Expr& e) {
             return lasting(e) && std::ranges::find(f.nonneg, e) != f.nonneg.end();
           });
  });
}

Expr CountedLoop::nonempty() const {
  return up() ? limits.end - limits.begin - Expr(1) : limits.begin - limits.end - Expr(1);
}
Expr CountedLoop::trips() const {
  return Expr::floor_div(nonempty(), Expr(passes * (up() ? header.step : -header.step))) + Expr(1);
}
Expr CountedLoop::after() const {
  return limits.begin + Expr(header.step * passes) * (planted(Fault::final_value_short) ? trips() - 1 : trips());
}
bool CountedLoop::readable() const { return limits.begin.reads().empty() && limits.end.reads().empty(); }

Lift<Expr> Builder::loop_begin(const ForHeader& header, clang::SourceLocation where) {
  if (header.begin) return index(header.begin);
  TRY(const Binding* b, binding(header.variable, where));
  if (b->kind == Binding::Kind::Expression && b->index) return *b->index;
  if (b->kind == Binding::Kind::Scalar) return Expr::read(b->container, {});
  return refuse("c.induction-variable", "where the loop begins is not known", where);
}

// C skips a loop that begins in the upper half of an unsigned type; as an index, that begin is negative. Where that may
// be: what is read from memory there, to be looked at before the loop.
Lift<std::optional<Memlet>> Builder::begin_in_lower_half(const ForHeader& header, const Expr& begin,
                                                         clang::SourceLocation where) const {
  if (header.step <= 0 || element_type(header.variable->getType(), context_) != ElementType::u64 ||
      ranges_.nonneg(begin, box_))
    return std::nullopt;
  const auto& terms = begin.terms();
  if (terms.size() != 1 || begin.constant_term() != 0 || terms[0].coefficient != 1 || terms[0].atoms.size() != 1 ||
      terms[0].atoms[0].kind != sdfg::AtomKind::Read)
    return refuse("c.unsigned-wrap", "where the loop begins may be larger than any index", where);
  const sdfg::Atom& read = terms[0].atoms[0];
  if (sdfg_.find(read.name)->type != ElementType::u64) return std::nullopt;
  return Memlet{read.name, read.args, std::nullopt};
}

// Of a loop's variable that keeps its memory.
Lift<Binding> Builder::loop_memory(const ForHeader& header, clang::SourceLocation where) {
  const clang::VarDecl* v = header.variable;
  if (!header.declared) {
    TRY(const Binding* b, binding(v, where));
    return *b;
  }
  Binding own;
  own.kind = Binding::Kind::Scalar;
  own.container = temporary(v->getNameAsString(), *element_type(v->getType(), context_));
  return own;
}

// Inner induction variables after the loop: as its last iteration left them, if there was one.
void Builder::leave_inner_finals(const LoopRun& loop, std::size_t from) {
  const std::vector<Final> inside(finals_.begin() + static_cast<std::ptrdiff_t>(from), finals_.end());
  for (std::size_t k = from; k < finals_.size(); ++k) {
    Final& f = finals_[k];
    bindings_[f.variable] = {};
    if (!f.value) continue;
    if (!loop.last || !set_last(f, inside, loop.symbol, loop.up)) {
      f.value.reset();
      continue;
    }
    const std::map<std::string, Expr> last{{loop.symbol, *loop.last}};
    f.value = f.value->substitute(last);
    for (Expr& e : f.nonneg) e = e.substitute(last);
    f.nonneg.insert(f.nonneg.begin(), loop.nonempty);
  }
}

void Builder::emit_loop(const CountedLoop& loop, sdfg::Region body, std::size_t finals) {
  sdfg::Loop node = sdfg::counted(loop.symbol, loop.limits.begin, loop.limits.end, std::move(body.nodes));
  node.step = loop.header.step * loop.passes;
  if (!loop.guarded) return emit(std::move(node));
  forget_inner_finals(finals);
  ScalarExpr test = ScalarExpr::binary(sdfg::ScalarOp::le, ScalarExpr::make_input(0, ElementType::u64),
                                       ScalarExpr::integer(INT64_MAX, ElementType::u64));
  sdfg::Region then_body;
  then_body.nodes.push_back(std::move(node));
  emit(sdfg::If{.condition = {std::move(test), {*loop.guarded}}, .then_body = std::move(then_body), .else_body = {}});
}

// The loop's variable after it.
Lift<void> Builder::leave_variable(const CountedLoop& loop) {
  const clang::VarDecl* v = loop.header.variable;
  const std::optional<Binding>& memory = loop.memory;
  if (loop.header.declared) {
    bindings_.erase(v);
    return {};
  }
  const Bounds& limits = loop.limits;
  if (memory) {
    if (!loop.readable())
      return refuse("c.induction-variable", "the value of the loop's variable after it is not known", loop.where);
    const ElementType type = *element_type(v->getType(), context_);
    const Expr value = std::abs(loop.header.step) == 1
                           ? (loop.up() ? Expr::max(limits.begin, limits.end) : Expr::min(limits.begin, limits.end))
                           : limits.begin + Expr(loop.header.step) * Expr::max(loop.trips(), Expr(0));
    pool_.clear();
    emit_assignment({memory->container, {}, std::nullopt}, ScalarExpr::make_symbolic(value, type));
    bindings_[v] = *memory;
    return {};
  }
  bindings_[v] = {};
  if (!loop.readable()) {
    finals_.push_back({v, {}, std::nullopt});
    return {};
  }
  if (ranges_.nonneg(loop.nonempty() + Expr(1), box_))  // begin <= end: then even zero iterations end at the bound
    bindings_[v] = {Binding::Kind::Expression, loop.after(), std::nullopt, {}, {}};
  finals_.push_back({v, {}, limits.begin});
  finals_.push_back({v, {loop.nonempty()}, loop.after()});
  return {};
}

// A loop's variable that something else writes, too, keeps its memory; inside the loop it is the symbol all the same.
bool Builder::has_memory(const clang::VarDecl* v) const {
  return written_here(v) || v->hasGlobalStorage() || facts_.address_taken.contains(v);
}

// Variables of loops in the body: from the second iteration on, they are as the one before has left them. `own`: the
// variable of this loop, if it is its header's.
Lift<void> Builder::enter_body(const clang::Stmt* condition, const std::set<const clang::VarDecl*>& written,
                               const clang::VarDecl* own, clang::SourceLocation where) {
  const std::set<const clang::VarDecl*> named = named_variables(condition);
  for (const clang::VarDecl* v : header_writes_) {
    if (v == own || !written.contains(v) || has_memory(v)) continue;
    if (named.contains(v)) return refuse("c.loop.bound-changes", "the bound of the loop is changed in its body", where);
    if (!planted(Fault::inner_variable_kept)) bindings_[v] = {};
  }
  return {};
}

Lift<void> Builder::for_loop(const clang::ForStmt* s, const ForHeader& header) {
  const clang::VarDecl* v = header.variable;
  const clang::SourceLocation where = s->getBeginLoc();
  for (const clang::Expr* e : header.before) TRY_VOID(expression_statement(e));
  TRY(const Expr begin, loop_begin(header, where));
  TRY(const std::optional<Memlet> guarded, begin_in_lower_half(header, begin, where));
  const std::string symbol = fresh(v->getNameAsString());
  std::optional<Binding> memory;
  if (has_memory(v)) {
    TRY(memory, loop_memory(header, where));
  }
  bindings_[v] = {Binding::Kind::Expression, Expr::symbol(symbol), std::nullopt, {}, {}};
  const std::size_t before = out_->nodes.size();
  TRY(const Bounds limits, bounds(header, begin, symbol));
  sdfg::Region needed;
  needed.nodes.assign(out_->nodes.begin() + static_cast<std::ptrdiff_t>(before), out_->nodes.end());
  CountedLoop loop{header, where, symbol, limits, std::move(needed), guarded, memory};
  TRY(const bool exchanges, exchanging_loop(s, loop));
  if (exchanges) return {};
  if (guarded || memory || !has_seam(s, loop)) return counted_loop(s, loop);
  const llvm::SaveAndRestore<int> parts(seams_, seams_ + 1);
  const Expr second = limits.begin + Expr(1), last = limits.end - Expr(1);
  for (const Bounds& part : {Bounds{limits.begin, second}, Bounds{second, last}, Bounds{last, limits.end}}) {
    loop.limits = part;
    TRY_VOID(counted_loop(s, loop));
    loop.symbol = fresh(v->getNameAsString());
  }
  return {};
}

// One iteration of the loop: one of the program's, or several.
Lift<void> Builder::run_body(const clang::ForStmt* s, const CountedLoop& loop) {
  const ForHeader& header = loop.header;
  for (std::int64_t pass = 0; pass < loop.passes; ++pass) {
    const Expr now = Expr::symbol(loop.symbol) + Expr(pass * header.step);
    bindings_[header.variable] = {Binding::Kind::Expression, now, std::nullopt, {}, {}};
    const Exits exits{.loop = true};
    TRY_VOID(body(s->getBody(), &exits));
    for (const clang::Expr* e : header.also) TRY_VOID(expression_statement(e));
  }
  return {};
}

// The loop itself.
Lift<void> Builder::counted_loop(const clang::ForStmt* s, const CountedLoop& loop) {
  const auto& [header, where, symbol, limits, needed, guarded, memory, passes] = loop;
  const clang::VarDecl* v = header.variable;
  const std::int64_t step = header.step * passes;
  note_line(symbol, where);
  std::set<const clang::VarDecl*> written = written_variables(s->getBody());
  for (const clang::Expr* e : header.also) written.merge(written_variables(e));
  TRY_VOID(enter_body(s->getCond(), written, v, where));
  const std::size_t finals = finals_.size();
  box_.push_back(loop_range(symbol, limits.begin, limits.end, step));
  ++for_depth_;
  loops_.push_back({symbol, limits.begin, loop.nonempty()});
  const Pass pass = [&](Builder& b) { return b.run_body(s, loop); };
  const Expr from = loop.up() ? Expr::symbol(symbol) - limits.begin : limits.begin - Expr::symbol(symbol);
  std::vector<Stepping> steps;
  auto inner = region([&]() -> Lift<void> {
    bindings_[v] = {Binding::Kind::Expression, Expr::symbol(symbol), std::nullopt, {}, {}};
    TRY(steps, find_steps(written, s->getBody(), symbol, Expr::floor_div(from, Expr(std::abs(step))), pass, where));
    TRY_VOID(enter_steps(steps, where));
    TRY_VOID(pass(*this));
    return verify_steps(steps, where);
  });
  loops_.pop_back();
  --for_depth_;
  box_.pop_back();
  if (!inner) return std::unexpected(inner.error());

  // C tests the condition each time; the Sdfg reads its bounds once.
  const sdfg::Touched touched = sdfg::touched(*inner);
  for (const std::string& container : limits.end.reads())
    if (touched.written.contains(container))
      return refuse("c.loop.bound-changes", "the bound of the loop is changed in its body", where);
  if (may_change(sdfg_, sdfg::touched(needed).read, touched.written))
    return refuse("c.loop.bound-changes", "what the bound of the loop is computed from may be changed in its body",
                  where);

  const bool steps_on = std::ranges::any_of(steps, [](const Stepping& v) { return v.by && *v.by != Expr(0); });
  leave_steps(steps, steps_on ? trip_count(limits, step) : std::nullopt);
  leave_inner_finals(
      {symbol, loop.up(), loop.readable() ? std::optional(loop.after() - Expr(step)) : std::nullopt, loop.nonempty()},
      finals);
  emit_loop(loop, std::move(*inner), finals);
  return leave_variable(loop);
}

}  // namespace sous::frontends::c
