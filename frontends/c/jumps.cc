// Statements that leave others: continue, break, return in a function that is called; and switch.
//
// What follows a statement that may leave becomes part of the branches that do not: `if (c) continue; S` is
// `if (!c) S`. So the list of a branch holds what is left of the lists around it, up to where the last of its jumps
// goes to: the end of a loop's body, or of the function. A break ends its loop, a While then, through a flag.
#include <algorithm>
#include <bit>
#include <functional>

#include "frontends/c/builder.h"
#include "frontends/c/counts.h"
#include "llvm/Support/SaveAndRestore.h"
#include "sdfg/extremum.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::ElementType;
using sdfg::Memlet;
using sdfg::ScalarExpr;

namespace {

// Where both ways of a branch go on, each level doubles what follows; where one does not, the graph only gets deeper.
constexpr int kMostDoubled = 4, kDeepest = 40;

bool is_loop(const clang::Stmt* s) { return llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt>(s); }

// The first statement in `s` that leaves it. `breaks`, `continues`: whether such a one would; not inside of a loop.
const clang::Stmt* jump_out_of(const clang::Stmt* s, bool breaks, bool continues) {
  if (!s) return nullptr;
  if (llvm::isa<clang::ReturnStmt>(s) || (breaks && llvm::isa<clang::BreakStmt>(s)) ||
      (continues && llvm::isa<clang::ContinueStmt>(s)))
    return s;
  if (is_loop(s)) breaks = continues = false;
  if (llvm::isa<clang::SwitchStmt>(s)) breaks = false;
  for (const clang::Stmt* child : s->children())
    if (const clang::Stmt* found = jump_out_of(child, breaks, continues)) return found;
  return nullptr;
}
bool leaves(const clang::Stmt* s) { return jump_out_of(s, true, true) != nullptr; }

// Whether nothing that follows `s` in its list is ever reached through it.
bool always_leaves(const clang::Stmt* s) {
  if (!s) return false;
  if (llvm::isa<clang::ReturnStmt, clang::BreakStmt, clang::ContinueStmt>(s)) return true;
  if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(s))
    return std::ranges::any_of(block->body(), always_leaves);
  const auto* i = llvm::dyn_cast<clang::IfStmt>(s);
  return i && always_leaves(i->getThen()) && always_leaves(i->getElse());
}

bool is_continue(const clang::Stmt* s) {
  const auto* block = llvm::dyn_cast<clang::CompoundStmt>(s);
  return block ? block->size() == 1 && is_continue(block->body_front()) : llvm::isa<clang::ContinueStmt>(s);
}

// The statement behind case 1: case 2: …, and what they ask for.
struct Labelled {
  std::vector<const clang::CaseStmt*> cases;
  bool is_default = false;
  const clang::Stmt* statement = nullptr;
};
Labelled labelled(const clang::Stmt* s) {
  Labelled result;
  while (const auto* label = llvm::dyn_cast<clang::SwitchCase>(s)) {
    if (const auto* c = llvm::dyn_cast<clang::CaseStmt>(label)) result.cases.push_back(c);
    result.is_default = result.is_default || llvm::isa<clang::DefaultStmt>(label);
    s = label->getSubStmt();
  }
  result.statement = s;
  return result;
}

bool has_label(const clang::Stmt* s) {
  if (!s || llvm::isa<clang::SwitchStmt>(s)) return false;
  return llvm::isa<clang::SwitchCase>(s) || std::ranges::any_of(s->children(), has_label);
}

}  // namespace

const char* reason_code(const clang::Stmt* s) {
  if (llvm::isa<clang::GotoStmt, clang::IndirectGotoStmt, clang::LabelStmt>(s)) return "c.goto";
  if (llvm::isa<clang::AsmStmt>(s)) return "c.asm";
  if (llvm::isa<clang::BreakStmt>(s)) return "c.break";
  if (llvm::isa<clang::ContinueStmt>(s)) return "c.continue";
  if (llvm::isa<clang::ReturnStmt>(s)) return "c.return";
  if (llvm::StringRef(s->getStmtClassName()).starts_with("OMP")) return "c.openmp";
  return "c.statement";
}

const clang::Stmt* interruption(const clang::Stmt* loop_body) { return jump_out_of(loop_body, true, false); }

std::vector<Item> items_of(const clang::Stmt* s) {
  if (!s) return {};
  const auto* block = llvm::dyn_cast<clang::CompoundStmt>(s);
  if (!block) return {{s, false}};
  std::vector<Item> list;
  for (const clang::Stmt* child : block->body()) list.push_back({child, false});
  return list;
}

Lift<void> Builder::body(const clang::Stmt* s, const Exits* exits) { return sequence(items_of(s), exits); }

// `exits`: where jumps go that leave the list; null: none does.
Lift<void> Builder::sequence(const std::vector<Item>& list, const Exits* exits) {
  for (std::size_t k = 0; k < list.size(); ++k) {
    const clang::Stmt* s = list[k].statement;
    if (list[k].end) continue;
    if (!exits || !leaves(s)) {
      TRY_VOID(statement(s));
      continue;
    }
    const std::vector<Item> rest(list.begin() + static_cast<std::ptrdiff_t>(k) + 1, list.end());
    if (llvm::isa<clang::BreakStmt>(s)) {
      // Out of the innermost switch that is open here, or else of the loop.
      const auto end = std::ranges::find(rest, true, &Item::end);
      if (end == rest.end()) return jump(s, *exits);
      k += static_cast<std::size_t>(end - rest.begin()) + 1;
      continue;
    }
    if (llvm::isa<clang::ContinueStmt, clang::ReturnStmt>(s)) return jump(s, *exits);
    return leaving(s, rest, *exits);
  }
  return {};
}

Lift<void> Builder::jump(const clang::Stmt* s, const Exits& exits) {
  const clang::SourceLocation where = s->getBeginLoc();
  const auto set = [&](const std::string& container, bool value) {
    emit_assignment({container, {}, std::nullopt}, ScalarExpr::integer(value, ElementType::boolean));
  };
  if (const auto* r = llvm::dyn_cast<clang::ReturnStmt>(s)) {
    if (!exits.function) return refuse("c.return", "a return in the nest", where);
    if (exits.record) {
      if (!r->getRetValue()) return refuse("c.call.not-inlinable", "a return without a value", where);
      TRY_VOID(fill(exits.record->place, r->getRetValue(), exits.record->type, where));
    }
    if (!exits.result.empty()) {
      if (!r->getRetValue()) return refuse("c.call.not-inlinable", "a return without a value", where);
      pool_.clear();
      const llvm::SaveAndRestore<const clang::CallExpr*> lone(lone_call_, lone_call(r->getRetValue()));
      const llvm::SaveAndRestore<bool> effects(effects_, !contains_call(r->getRetValue()));
      TRY(const std::vector<Step> steps, steps_in(r->getRetValue()));
      TRY(ScalarExpr v, value(r->getRetValue()));
      emit_assignment({exits.result, {}, std::nullopt}, v);
      TRY_VOID(take_effect(steps));
    }
    if (!exits.returned.empty()) set(exits.returned, true);
  } else if (llvm::isa<clang::ContinueStmt>(s)) {
    if (!exits.loop) return refuse("c.continue", "a continue in this place", where);
    return {};
  } else if (exits.flag.empty()) {
    return refuse("c.break", "a break in this place", where);
  }
  if (!exits.flag.empty()) set(exits.flag, false);
  return {};
}

// A statement with a jump out of it, and what follows it.
Lift<void> Builder::leaving(const clang::Stmt* s, const std::vector<Item>& rest, const Exits& exits) {
  const auto joined = [&](const clang::Stmt* first) {
    std::vector<Item> list = items_of(first);
    list.insert(list.end(), rest.begin(), rest.end());
    return list;
  };
  if (llvm::isa<clang::CompoundStmt>(s)) return sequence(joined(s), &exits);
  if (const auto* a = llvm::dyn_cast<clang::AttributedStmt>(s)) {
    std::vector<Item> list{{a->getSubStmt(), false}};
    list.insert(list.end(), rest.begin(), rest.end());
    return sequence(list, &exits);
  }
  if (const auto* sw = llvm::dyn_cast<clang::SwitchStmt>(s)) return switch_statement(sw, rest, &exits);
  if (is_loop(s) && exits.function && !exits.loop) return returning_loop(s, rest, exits);
  const auto* i = llvm::dyn_cast<clang::IfStmt>(s);
  if (!i || i->getInit() || i->getConditionVariable())
    return refuse(reason_code(jump_out_of(s, true, true)), "a jump out of this place", s->getBeginLoc());
  const bool doubles = !rest.empty() && !always_leaves(i->getThen()) && !always_leaves(i->getElse());
  if (doubled_ + (doubles ? 1 : 0) > kMostDoubled || nested_jumps_ >= kDeepest)
    return refuse(reason_code(jump_out_of(s, true, true)), "too many jumps in one place", s->getBeginLoc());
  pool_.clear();
  TRY(const std::vector<Step> steps, steps_in(i->getCond()));
  const llvm::SaveAndRestore<int> nested(nested_jumps_, nested_jumps_ + 1);
  const bool goes_on = !i->getElse() && is_continue(i->getThen()) && exits.loop && exits.flag.empty();
  if (const auto any = asked_in(i->getCond(), clang::BO_LOr, context_); !any.empty() && goes_on && steps.empty())
    return one_by_one(any, false, [&] { return sequence(rest, &exits); });
  TRY(ScalarExpr test, tested_once(i->getCond()));
  TRY_VOID(take_effect(steps));
  if (const auto known = decided(test)) return sequence(joined(*known ? i->getThen() : i->getElse()), &exits);
  doubled_ += doubles ? 1 : 0;
  auto done = branch(
      test, [&] { return sequence(joined(i->getThen()), &exits); },
      [&] { return sequence(joined(i->getElse()), &exits); });
  doubled_ -= doubles ? 1 : 0;
  return done;
}

// A loop of a called function with a return in it: what follows it is done where none was met.
Lift<void> Builder::returning_loop(const clang::Stmt* s, const std::vector<Item>& rest, const Exits& exits) {
  const Memlet returned{temporary("returned", ElementType::boolean), {}, std::nullopt};
  emit_assignment(returned, ScalarExpr::integer(0, ElementType::boolean));
  // A value before the loop, so that each iteration around the call is seen to write what it reads.
  if (!exits.result.empty()) {
    const ElementType type = sdfg_.find(exits.result)->type;
    emit_assignment({exits.result, {}, std::nullopt},
                    sdfg::is_float(type) ? ScalarExpr::real(0, type) : ScalarExpr::integer(0, type));
  }
  if (exits.record) TRY_VOID(fill(exits.record->place, nullptr, exits.record->type, s->getBeginLoc()));
  returning_ = Returning{.result = exits.result, .returned = returned.container, .record = exits.record};
  auto done = statement(s);
  returning_.reset();
  TRY_VOID(done);
  pool_.clear();
  const ScalarExpr test = input(returned, ElementType::boolean);
  return branch(test, [] { return Lift<void>(); }, [&] { return sequence(rest, &exits); });
}

namespace {

// if (e > x) x = e, of two plain values: x = e > x ? e : x, which says that x is the greatest. (And the like.)
std::optional<sdfg::State> as_extremum(const ScalarExpr& test, const std::vector<Memlet>& inputs,
                                       const sdfg::Region& then_body) {
  const auto* state = then_body.nodes.size() == 1 ? std::get_if<sdfg::State>(&then_body.nodes[0].value) : nullptr;
  const auto made = state ? sdfg::as_assignment(*state) : std::nullopt;
  if (!made || !made->out.subset.empty()) return std::nullopt;
  std::vector<Memlet> all = inputs;
  const auto index = [&](const Memlet& m) {
    const auto found = std::ranges::find(all, m);
    if (found == all.end()) all.push_back(m);
    return static_cast<int>(found - all.begin());
  };
  const auto read = [&](const Memlet& m, ElementType type) { return ScalarExpr::make_input(index(m), type); };
  const ScalarExpr value = made->code.map_inputs(
      [&](const ScalarExpr& leaf) { return read(made->inputs[static_cast<std::size_t>(leaf.input)], leaf.type); });
  ScalarExpr chosen = ScalarExpr::select(test, value, read(made->out, value.type));
  if (!sdfg::selected_extremum(chosen)) return std::nullopt;
  return sdfg::assignment(state->name, made->out, std::move(chosen), std::move(all));
}

}  // namespace

// Nobody else sees a store to it that the program does not make.
bool Builder::is_own_variable(const std::string& container) const {
  return std::ranges::any_of(bindings_, [&](const auto& one) {
    const auto& [v, b] = one;
    return b.kind == Binding::Kind::Scalar && b.container == container && v->hasLocalStorage() &&
           !facts_.address_taken.contains(v);
  });
}

Lift<void> Builder::branch(ScalarExpr test, const std::function<Lift<void>()>& yes,
                           const std::function<Lift<void>()>& no) {
  std::vector<Memlet> inputs = compact(test);
  const auto compared = nonneg_where(test);
  const std::size_t finals = finals_.size();
  const Box box = box_;
  const Values followed = tracked_values();
  const std::map<const clang::VarDecl*, Binding> bindings = bindings_;
  const auto arm = [&](const std::function<Lift<void>()>& build, bool holds) {
    for (Range& r : refine(test, holds, box)) box_.push_back(std::move(r));
    auto result = sometimes([&] { return region(build); });
    box_ = box;
    return result;
  };
  TRY(sdfg::Region then_body, arm(yes, true));
  // Both start with the induction variables as they are here.
  for (const auto& [v, b] : bindings)
    if (header_writes_.contains(v)) bindings_[v] = b;
  const Values after_yes = tracked_values();
  restore_tracked(followed);
  TRY(sdfg::Region else_body, arm(no, false));
  join_tracked(after_yes, compared);
  forget_inner_finals(finals);
  auto one = else_body.nodes.empty() ? as_extremum(test, inputs, then_body) : std::nullopt;
  if (one && is_own_variable(sdfg::as_assignment(*one)->out.container)) {
    emit(std::move(*one));
    return {};
  }
  const bool is_asked_once = then_body.nodes.size() + else_body.nodes.size() == 1;
  const auto count = [&](const ScalarExpr& where, sdfg::Region& body, const sdfg::Region& other) {
    const sdfg::Touched elsewhere = sdfg::touched(other);
    for (sdfg::State& sum : take_counts(where, inputs, body, is_asked_once, [&](const std::string& c) {
           return is_own_variable(c) && !elsewhere.read.contains(c) && !elsewhere.written.contains(c);
         }))
      emit(std::move(sum));
  };
  count(test, then_body, else_body);
  count(negate(test), else_body, then_body);
  if (then_body.nodes.empty()) {
    test = negate(std::move(test));
    std::swap(then_body, else_body);
  }
  if (!then_body.nodes.empty())
    emit(sdfg::If{.condition = {std::move(test), std::move(inputs)},
                  .then_body = std::move(then_body),
                  .else_body = std::move(else_body)});
  return {};
}

// Each run of labels starts a list of all that follows, which its break cuts off. `rest`: what follows the switch,
// where jumps lead out of it.
Lift<void> Builder::switch_statement(const clang::SwitchStmt* s, const std::vector<Item>& rest, const Exits* exits) {
  constexpr std::size_t kMostCases = 16;
  const clang::SourceLocation where = s->getBeginLoc();
  const auto* block = llvm::dyn_cast<clang::CompoundStmt>(s->getBody());
  if (s->getInit() || s->getConditionVariable() || !block)
    return refuse("c.switch", "a switch of an unusual form", where);
  struct Case {
    std::vector<std::int64_t> values;
    std::vector<Item> list;
  };
  std::vector<Case> cases;
  std::optional<std::vector<Item>> otherwise;
  std::size_t values = 0;
  const std::vector<const clang::Stmt*> body(block->body_begin(), block->body_end());
  for (std::size_t k = 0; k < body.size(); ++k) {
    const Labelled here = labelled(body[k]);
    if (has_label(here.statement) || llvm::isa<clang::DeclStmt>(here.statement) ||
        (k == 0 && !llvm::isa<clang::SwitchCase>(body[k])))
      return refuse("c.switch", "a label or a declaration in an unusual place of a switch", where);
    if (!llvm::isa<clang::SwitchCase>(body[k])) continue;
    std::vector<Item> list{{here.statement, false}};
    for (std::size_t j = k + 1; j < body.size(); ++j) {
      if (planted(Fault::fall_through_lost) && llvm::isa<clang::SwitchCase>(body[j])) break;
      list.push_back({labelled(body[j]).statement, false});
    }
    list.push_back({s, true});
    list.insert(list.end(), rest.begin(), rest.end());
    Case c;
    for (const clang::CaseStmt* label : here.cases) {
      if (label->getRHS()) return refuse("c.switch", "a range of cases", where);
      const llvm::APSInt value = label->getLHS()->EvaluateKnownConstInt(context_);
      if (value.getBitWidth() > 64) return refuse("c.switch", "a case of more than 64 bits", where);
      c.values.push_back(value.isSigned() ? value.getSExtValue() : static_cast<std::int64_t>(value.getZExtValue()));
    }
    values += c.values.size();
    // Where a case stands beside default, the same happens for it and for all else.
    if (here.is_default)
      otherwise = std::move(list);
    else
      cases.push_back({c.values, std::move(list)});
  }
  if (values > kMostCases) return refuse("c.switch", "a switch of more than sixteen cases", where);
  const Exits none{};
  if (!exits) exits = &none;
  pool_.clear();
  TRY(const std::vector<Step> steps, steps_in(s->getCond()));
  TRY(ScalarExpr on, value(s->getCond()));
  TRY_VOID(take_effect(steps));
  if (!sdfg::is_integer(on.type)) return refuse("c.switch", "a switch over what is no integer", where);
  // As many copies of what follows as there are cases.
  const int copies = rest.empty() ? 0 : std::bit_width(cases.size());
  if (doubled_ + copies > kMostDoubled) return refuse("c.switch", "too many jumps in one place", where);
  const std::vector<Memlet> pool = pool_;
  const std::function<Lift<void>(std::size_t)> from = [&](std::size_t k) -> Lift<void> {
    if (k == cases.size()) return sequence(otherwise ? *otherwise : rest, exits);
    std::optional<ScalarExpr> test;
    for (const std::int64_t v : cases[k].values) {
      ScalarExpr equal = ScalarExpr::binary(sdfg::ScalarOp::eq, on, ScalarExpr::integer(v, on.type));
      test =
          test ? ScalarExpr::binary(sdfg::ScalarOp::logical_or, std::move(*test), std::move(equal)) : std::move(equal);
    }
    pool_ = pool;
    return branch(*test, [&] { return sequence(cases[k].list, exits); }, [&] { return from(k + 1); });
  };
  doubled_ += copies;
  auto done = from(0);
  doubled_ -= copies;
  return done;
}

}  // namespace sous::frontends::c
