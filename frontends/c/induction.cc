// Induction variables of loops: integers and pointers whose value in iteration k is start + k * step.
//
// Any loop counts in which its conditions are linear in k: `while (n--)`, `do … while (--n)`, `while (p != end)`,
// `for (; i < n; i += step)`. The body is built twice. A trial run of it, from values that nothing is known of, shows
// by how much it moves each tracked variable; then it is built with those values, and what was said of the steps is
// verified at its end. What only the run can know (a positive step, a bound that is met exactly) is checked on entry.
#include <algorithm>

#include "frontends/c/builder.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::Expr;

namespace {

// What a tracked variable adds to where it started.
Expr* offset_of(Binding& b) {
  if (b.kind == Binding::Kind::Pointer) return &b.subscript.back();
  return b.kind == Binding::Kind::Expression && b.index ? &*b.index : nullptr;
}

std::set<const clang::VarDecl*> declared_below(const clang::Stmt* s) {
  std::set<const clang::VarDecl*> found;
  for_each_statement(s, [&](const clang::Stmt* x) {
    if (const auto* d = llvm::dyn_cast<clang::DeclStmt>(x))
      for (const clang::Decl* decl : d->decls())
        if (const auto* v = llvm::dyn_cast<clang::VarDecl>(decl)) found.insert(v);
  });
  return found;
}

std::set<const clang::VarDecl*> written_in(const LoopParts& loop) {
  std::set<const clang::VarDecl*> written = written_variables(loop.body);
  written.merge(written_variables(loop.condition));
  if (loop.increment) written.merge(written_variables(loop.increment));
  return written;
}

// Shown, or assumed, of a number of iterations; and of what is divided in it, for C's division rounds to zero.
bool surely_nonneg(const Expr& trips, Ranges& ranges, const Box& box) {
  for (const sdfg::Term& t : trips.terms())
    for (const sdfg::Atom& a : t.atoms) {
      const bool divides = a.kind == sdfg::AtomKind::FloorDiv || a.kind == sdfg::AtomKind::Mod;
      const bool chooses = a.kind == sdfg::AtomKind::Min || a.kind == sdfg::AtomKind::Max;
      if (divides && !ranges.require_nonneg(a.args[0], box)) return false;
      if (chooses && !std::ranges::all_of(a.args, [&](const Expr& e) { return surely_nonneg(e, ranges, box); }))
        return false;
    }
  return ranges.require_nonneg(trips, box);
}

}  // namespace

// Whether the condition names what is followed through the loop, and changed there.
bool Builder::counts(const LoopParts& loop) const {
  if (!loop.condition || interruption(loop.body)) return false;
  const std::set<const clang::VarDecl*> written = written_in(loop);
  const std::set<const clang::VarDecl*> named = named_variables(loop.condition);
  return std::ranges::any_of(tracked_,
                             [&](const clang::VarDecl* v) { return written.contains(v) && named.contains(v); });
}

// A symbol that a trial found in an expression, for what C says on entry. False: it means something inside only.
bool Builder::adopt(const std::string& symbol, const Builder& trial) {
  if (symbol_c_.contains(symbol)) return true;
  const auto named = trial.symbol_c_.find(symbol);
  if (named == trial.symbol_c_.end()) return false;
  names_.insert(symbol);
  sdfg_.symbols.push_back(symbol);
  symbol_c_[symbol] = named->second;
  if (const auto type = trial.symbol_types_.find(symbol); type != trial.symbol_types_.end())
    symbol_types_.insert(*type);
  ranges_.parameters[symbol] = trial.ranges_.parameters.at(symbol);
  if (std::ranges::find(trial.ranges_.assumptions, Expr::symbol(symbol)) != trial.ranges_.assumptions.end())
    ranges_.assumptions.push_back(Expr::symbol(symbol));
  return true;
}

// How far one run of `pass` moves each of the variables; not those that it changes in some other way.
Lift<std::map<const clang::VarDecl*, Expr>> Builder::net_steps(const std::vector<const clang::VarDecl*>& variables,
                                                               const std::string& loop_symbol, const Pass& pass) {
  Builder trial(*this);
  sdfg::Region scratch;
  trial.out_ = &scratch;
  std::map<const clang::VarDecl*, std::pair<Binding, Expr>> tops;
  for (const clang::VarDecl* v : variables) {
    Binding& b = trial.bindings_[v];
    Expr* at = offset_of(b);
    if (!at) {
      b = {};
      continue;
    }
    const std::string top = trial.fresh(v->getNameAsString());
    if (const auto type = element_type(v->getType(), context_)) trial.ranges_.parameters[top] = type_interval(*type);
    *at = Expr::symbol(top);
    tops[v] = {b, *at};
  }
  const auto done = pass(trial);
  unfollowed_.insert(trial.unfollowed_.begin(), trial.unfollowed_.end());
  if (!done) return std::unexpected(done.error());
  std::map<const clang::VarDecl*, Expr> steps;
  for (auto& [v, top] : tops) {
    auto& [before, start] = top;
    const std::optional<Expr> end = trial.tracked_offset(v);
    Binding& after = trial.bindings_[v];
    if (!end || after.kind != before.kind || after.container != before.container) continue;
    const Expr by = *end - start;
    *offset_of(after) = start;
    const auto outside = [&](const std::string& s) {
      return s != loop_symbol && (std::ranges::find(loops_, s, &OpenLoop::symbol) != loops_.end() || adopt(s, trial));
    };
    if (after.subscript == before.subscript && std::ranges::all_of(by.symbols(), outside)) steps[v] = by;
  }
  return steps;
}

// The tracked variables that a loop changes. `iteration`: how many are done, in the loop's symbol.
Lift<std::vector<Stepping>> Builder::find_steps(const std::set<const clang::VarDecl*>& written,
                                                const clang::Stmt* loop_body, const std::string& loop_symbol,
                                                const Expr& iteration, const Pass& pass, clang::SourceLocation where) {
  std::vector<Stepping> steps;
  std::vector<const clang::VarDecl*> variables;
  const std::set<const clang::VarDecl*> inner = declared_below(loop_body);
  for (const clang::VarDecl* v : tracked_) {
    if (!written.contains(v) || inner.contains(v)) continue;
    if (!binding(v, where)) bindings_[v] = {};  // of no use before it is set in the loop
    variables.push_back(v);
  }
  if (variables.empty()) return steps;
  TRY(const auto by, net_steps(variables, loop_symbol, pass));
  for (const clang::VarDecl* v : variables) {
    Stepping s{v, bindings_[v], std::nullopt, iteration};
    if (const auto it = by.find(v); it != by.end() && iteration.reads().empty()) s.by = it->second;
    steps.push_back(std::move(s));
  }
  return steps;
}

// At the top of the body.
Lift<void> Builder::enter_steps(const std::vector<Stepping>& steps, clang::SourceLocation where) {
  for (const Stepping& s : steps) {
    if (s.by)
      TRY_VOID(advance(s.variable, s.iteration * *s.by, where));
    else
      bindings_[s.variable] = {};
  }
  return {};
}

// At the end of the body: each has gone as far as was said.
Lift<void> Builder::verify_steps(const std::vector<Stepping>& steps, clang::SourceLocation where) {
  for (const Stepping& s : steps) {
    if (!s.by) continue;
    Binding expected = s.before;
    Expr& at = *offset_of(expected);
    at = at + (s.iteration + Expr(1)) * *s.by;
    const Binding& b = bindings_[s.variable];
    if (b.kind == expected.kind && b.container == expected.container && b.subscript == expected.subscript &&
        b.index == expected.index)
      continue;
    unfollowed(s.variable);
    return refuse("c.pointer.reassigned",
                  "'" + s.variable->getNameAsString() + "' is not changed by the same amount each time", where);
  }
  return {};
}

// Behind the loop. An unsigned variable may have wrapped by the last test: `while (n--)` leaves its largest value.
void Builder::leave_steps(const std::vector<Stepping>& steps, const std::optional<Expr>& trips) {
  for (const Stepping& s : steps) {
    Binding& b = bindings_[s.variable];
    b = {};
    const bool stays = s.by == Expr(0) && s.last_test == 0;
    if (!s.by || !(trips || stays)) continue;
    b = s.before;
    if (stays) continue;
    Expr& at = *offset_of(b);
    at = at + (planted(Fault::final_value_short) ? *trips - 1 : *trips) * *s.by + Expr(s.last_test);
    if (b.kind == Binding::Kind::Expression && !in_range(at, s.variable, {})) b.kind = Binding::Kind::Wrapped;
  }
}

// How often the condition holds, with each variable as it is tested in iteration `symbol`, and unsigned ones in their
// type's range each time.
Lift<Expr> Builder::tested(const LoopParts& loop, std::vector<Stepping>& steps, const std::string& symbol) {
  const Values before = tracked_values();
  TRY(const std::vector<Step> active, steps_in(loop.condition));
  for (Stepping& s : steps) {
    Expr in_test(0);
    for (const Step& a : active)
      if (a.variable == s.variable) in_test = in_test + Expr(a.by);
    s.last_test = loop.test_first ? *in_test.constant() : 0;
    Binding& b = bindings_[s.variable];
    if (!s.by) {
      b = {};
      continue;
    }
    Expr& at = *offset_of(b);
    at = at + s.iteration * *s.by + (loop.test_first ? Expr(0) : *s.by - in_test);
  }
  std::vector<std::pair<Expr, const clang::VarDecl*>> values;
  const std::set<const clang::VarDecl*> named = named_variables(loop.condition);
  for (const clang::VarDecl* v : tracked_)
    if (named.contains(v) && !v->getType()->isPointerType())
      if (const auto at = tracked_offset(v)) values.emplace_back(*at, v);
  unchecked_ = &values;
  box_.push_back({symbol, Expr(0), std::nullopt});
  Lift<Expr> trips = Expr(0);
  auto needed = region([&]() -> Lift<void> {
    TRY(trips, trips_while(loop.condition, symbol));
    return {};
  });
  box_.pop_back();
  unchecked_ = nullptr;
  for (const Step& a : active) active_steps_.erase(a.expression);
  restore_tracked(before);
  if (!needed && needed.error().code == "c.subscript")
    return refuse("c.loop.form", "the condition is not linear in what the loop steps", loop.where);
  if (!needed) return std::unexpected(needed.error());
  if (!needed->nodes.empty())
    return refuse("c.loop.form", "the condition needs statements of its own", loop.condition->getExprLoc());
  if (!loop.test_first)
    TRY_VOID(nonneg(*trips, loop.where, "c.loop.form", "the loop may run once although its condition never holds"));
  box_.push_back({symbol, Expr(0), *trips});
  Lift<void> fits;
  for (const auto& [value, v] : values)
    if (fits)
      if (auto in = in_range(value, v, loop.where); !in) fits = std::unexpected(in.error());
  box_.pop_back();
  if (!fits) return std::unexpected(fits.error());
  return trips;
}

Lift<void> Builder::stepped_loop(const LoopParts& loop) {
  const clang::SourceLocation where = loop.where;
  const std::set<const clang::VarDecl*> written = written_in(loop);
  const auto step_condition = [&](Builder& b) -> Lift<void> {
    TRY(const std::vector<Step> steps, b.steps_in(loop.condition));
    return b.take_effect(steps);
  };
  const Pass pass = [&](Builder& b) -> Lift<void> {
    if (loop.test_first) TRY_VOID(step_condition(b));
    const Exits exits{.loop = true};
    TRY_VOID(b.body(loop.body, &exits));
    if (loop.increment) TRY_VOID(b.expression_statement(loop.increment));
    return loop.test_first ? Lift<void>() : step_condition(b);
  };
  // Named after what it counts with.
  const std::set<const clang::VarDecl*> named = named_variables(loop.condition);
  const auto counter =
      std::ranges::find_if(tracked_, [&](const clang::VarDecl* v) { return named.contains(v) && written.contains(v); });
  const std::string symbol = fresh((*counter)->getNameAsString());
  note_line(symbol, where);
  TRY_VOID(enter_body(loop.condition, written, nullptr, where));
  ++for_depth_;
  auto steps = find_steps(written, loop.body, symbol, Expr::symbol(symbol), pass, where);
  auto trips = steps ? tested(loop, *steps, symbol) : Lift<Expr>(std::unexpected(steps.error()));
  if (!trips) {
    --for_depth_;
    if (!steps) return std::unexpected(trips.error());
    for (const clang::VarDecl* v : tracked_)
      if (written.contains(v)) unfollowed(v);
    // Inside of another it need not count, but then what it changes is not followed.
    return for_depth_ > 0 ? while_statement(loop) : Lift<void>(std::unexpected(trips.error()));
  }
  const Expr runs = loop.test_first ? *trips : *trips + Expr(1);
  const std::size_t finals = finals_.size();
  box_.push_back(loop_range(symbol, Expr(0), runs, 1));
  loops_.push_back({symbol, Expr(0), runs - Expr(1)});
  auto inner = region([&]() -> Lift<void> {
    TRY_VOID(enter_steps(*steps, where));
    TRY_VOID(pass(*this));
    return verify_steps(*steps, where);
  });
  loops_.pop_back();
  box_.pop_back();
  --for_depth_;
  if (!inner) return std::unexpected(inner.error());
  const sdfg::Touched touched = sdfg::touched(*inner);
  const bool readable = runs.reads().empty();
  for (const std::string& container : runs.reads())
    if (touched.written.contains(container))
      return refuse("c.loop.bound-changes", "the bound of the loop is changed in its body", where);
  leave_steps(*steps, readable && surely_nonneg(runs, ranges_, box_) ? std::optional(runs) : std::nullopt);
  leave_inner_finals({symbol, true, readable ? std::optional(runs - Expr(1)) : std::nullopt, runs - Expr(1)}, finals);
  if (inner->nodes.empty()) return {};
  emit(sdfg::counted(symbol, Expr(0), runs, std::move(inner->nodes)));
  return {};
}

}  // namespace sous::frontends::c
