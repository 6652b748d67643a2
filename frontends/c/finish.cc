// After building: arguments, and final values of induction variables.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "frontends/c/builder.h"
#include "frontends/c/filled.h"
#include "sdfg/check.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::Atom;
using sdfg::AtomKind;
using sdfg::Expr;
using sdfg::Memlet;
using sdfg::Term;

namespace {

void symbols_of(const sdfg::Region& region, std::set<std::string>& used) {
  auto add = [&](const Expr& e) { used.merge(e.symbols()); };
  auto add_memlet = [&](const Memlet& m) {
    for (const sdfg::Expr& d : m.subset) add(d);
  };
  auto add_code = [&](const sdfg::ScalarExpr& code) {
    code.visit([&](const sdfg::ScalarExpr& e) {
      if (e.op == sdfg::ScalarOp::symbolic) add(e.symbolic);
    });
  };
  sdfg::visit(region, [&](const sdfg::Node& node) {
    match(
        node.value,
        [&](const sdfg::State& s) {
          for (const sdfg::Edge& e : s.edges) add_memlet(e.memlet);
          sdfg::for_each_code(s, add_code);
        },
        [&](const sdfg::Loop& l) {
          add(l.begin);
          add(l.end);
        },
        [&](const sdfg::If& i) {
          add_code(i.condition.code);
          for (const Memlet& m : i.condition.inputs) add_memlet(m);
        },
        [&](const sdfg::While& w) {
          add_code(w.condition.code);
          for (const Memlet& m : w.condition.inputs) add_memlet(m);
        });
  });
}

}  // namespace

std::string Builder::c_text(const Expr& e) const {
  auto atom = [&](const Atom& a) -> std::string {
    if (a.kind == AtomKind::Symbol) return "(long long)(" + symbol_c_.at(a.name) + ")";
    std::vector<std::string> args;
    for (const Expr& one : a.args) args.push_back(c_text(one));
    // It may be asked ahead of a nest that never divides by it, when it need not even have a value.
    const bool divides = a.kind == AtomKind::FloorDiv || a.kind == AtomKind::Mod;
    if (divides && !a.args[1].constant())
      args[1] = "__extension__({ long long sous_by = " + args[1] +
                "; __asm__(\"\" : \"+r\"(sous_by)); sous_by > 0 ? sous_by : 1; })";
    // Each is named several times: what is long (and may hold the like in turn) is computed once, or chains of minima
    // would double the text with each link.
    constexpr std::size_t longest = 1000;
    const bool named = std::ranges::any_of(args, [](const std::string& one) { return one.size() > longest; });
    std::string before, behind;
    if (named) {
      before = "__extension__ ({ long long ";
      for (std::size_t k = 0; k < args.size(); ++k) {
        const std::string name = "sous_" + std::to_string(k);
        before += (k > 0 ? ", " : "") + name + " = " + std::exchange(args[k], name);
      }
      before += "; ";
      behind = "; })";
    }
    auto arg = [&](std::size_t k) { return args.at(k); };
    switch (a.kind) {
      // Divisors are positive. Dividends may be negative: of (5 - n) / 3 an expression keeps
      // (2 - n) / 3, and what C truncates is one too many then.
      case AtomKind::FloorDiv:
        return before + "((" + arg(0) + ") / (" + arg(1) + ") - ((" + arg(0) + ") % (" + arg(1) + ") < 0))" + behind;
      case AtomKind::Mod:
        return before + "((" + arg(0) + ") % (" + arg(1) + ") + ((" + arg(0) + ") % (" + arg(1) + ") < 0 ? " + arg(1) +
               " : 0))" + behind;
      case AtomKind::Min:
        return before + "((" + arg(0) + ") < (" + arg(1) + ") ? (" + arg(0) + ") : (" + arg(1) + "))" + behind;
      case AtomKind::Max:
        return before + "((" + arg(0) + ") > (" + arg(1) + ") ? (" + arg(0) + ") : (" + arg(1) + "))" + behind;
      case AtomKind::Symbol:
      case AtomKind::Read:
        break;
    }
    SOUS_ASSERT(false);
    return {};
  };
  std::string text;
  for (const Term& t : e.terms()) {
    if (!text.empty()) text += " + ";
    std::string factor = t.coefficient == 1 ? "" : std::to_string(t.coefficient) + "LL";
    for (const Atom& a : t.atoms) factor += (factor.empty() ? "" : " * ") + atom(a);
    text += factor;
  }
  if (text.empty()) return std::to_string(e.constant_term()) + "LL";
  if (e.constant_term() != 0) text += " + " + std::to_string(e.constant_term()) + "LL";
  return text;
}

// C statements that give variables the values they have behind the nest: those of loops first, then the tracked ones.
// All are expressions over what the variables hold on entry, so nothing is assigned before all is computed; what is
// declared comes first, as compilers can be told to want it.
Lift<std::string> Builder::epilogue() {
  std::string declare, assign;
  int count = 0;
  // One variable may have been the loop variable of several loops: all its values, in order.
  for (const Final& f : finals_) {
    if (!left_behind(f.variable)) continue;
    const std::string name = f.variable->getNameAsString();
    std::vector<Expr> needed = f.nonneg;
    if (f.value) needed.push_back(*f.value);
    for (const Expr& e : needed) text_symbols_.merge(e.symbols());
    const auto known = [&](const std::string& s) { return symbol_c_.contains(s); };
    if (!f.value ||
        !std::ranges::all_of(needed, [&](const Expr& e) { return std::ranges::all_of(e.symbols(), known); }))
      return refuse("c.induction-variable", "the value of '" + name + "' after the nest is not known",
                    f.variable->getLocation());
    std::string guard;
    for (const Expr& e : f.nonneg) guard += (guard.empty() ? "" : " && ") + c_text(e) + " >= 0";
    const std::string number = std::to_string(count++), held = "sous_final_" + number, is_set = "sous_if_" + number;
    if (!guard.empty()) declare += "int " + is_set + " = " + guard + ";\n";
    declare += "long long " + held + " = " + (guard.empty() ? "" : is_set + " ? ") + c_text(*f.value) +
               (guard.empty() ? "" : " : 0") + ";\n";
    assign += (guard.empty() ? "" : "if (" + is_set + ") ") + name + " = (__typeof__(" + name + "))" + held + ";\n";
  }
  TRY_VOID(tracked_epilogue(declare, assign));
  return rest_begin_ + declare + assign + rest_;
}

// Whether the program behind the nest may look at the variable, which is one of the function's own.
bool Builder::left_behind(const clang::VarDecl* v) const {
  return !declared_.contains(v) && !in_called_function(v) && live_after_(v);
}

Lift<void> Builder::finish_memory() {
  built_assumptions_ = ranges_.assumptions.size();
  for (Memory& m : memories_)
    if (!m.stride.empty()) TRY_VOID(resolve_rows(m));
  values_ = values_read(sdfg_, ranges_);
  for (Memory& m : memories_) TRY_VOID(delinearize(m));
  for (Memory& m : memories_) TRY_VOID(outermost_extent(m));
  for (const Expr& run : runs_of_filling_loops(sdfg_)) ranges_.require_nonneg(run, {});
  return check_overlaps();
}

static const char* c_integer(sdfg::ElementType type) {
  return type == sdfg::ElementType::i32 ? "int" : type == sdfg::ElementType::u32 ? "unsigned int" : "long long";
}

// What attempts left behind and nothing uses goes; the alias classes of the others are numbered anew, in order.
static void tidy_containers(sdfg::Sdfg& sdfg, const sdfg::Touched& touched) {
  std::erase_if(sdfg.containers, [&](const sdfg::Container& c) {
    return !touched.read.contains(c.name) && !touched.written.contains(c.name);
  });
  std::map<int, int> members, numbers;
  for (const sdfg::Container& c : sdfg.containers) ++members[c.alias_class];
  for (sdfg::Container& c : sdfg.containers) {
    const bool shared = members[c.alias_class] > 1;
    const int number = numbers.emplace(c.alias_class, static_cast<int>(numbers.size())).first->second;
    // Those of class 0 overlap none.
    c.alias_class = shared && number == 0 ? static_cast<int>(sdfg.containers.size()) : number;
  }
}

// What was assumed about these symbols, and that what stands for the upper half of an unsigned 64-bit type arrives as
// no negative number: an attempt that was given up took that with it, but not the symbols that it had made.
static std::vector<Expr> assumptions_about(const std::set<std::string>& used, const sdfg::Sdfg& sdfg,
                                           const Ranges& ranges,
                                           const std::map<std::string, sdfg::ElementType>& narrow) {
  Ranges types;
  types.parameters = ranges.parameters;
  std::vector<Expr> assumptions, of_types;
  for (const Expr& e : ranges.assumptions) {
    const auto symbols = e.symbols();
    const bool matters = std::ranges::any_of(symbols, [&](const std::string& s) { return used.contains(s); });
    const bool trivial = !sdfg.has_symbol(e.as_symbol().value_or("")) && types.nonneg(e, {});
    if (matters && !trivial && std::ranges::find(assumptions, e) == assumptions.end()) assumptions.push_back(e);
  }
  for (const std::string& s : sdfg.symbols) {
    const bool asked = used.contains(s) || std::ranges::any_of(assumptions, [&](const Expr& e) { return e.uses(s); });
    const bool is_u64 = !narrow.contains(s) && ranges.parameters.at(s).lo == 0;
    if (asked && is_u64 && std::ranges::find(assumptions, Expr::symbol(s)) == assumptions.end())
      of_types.push_back(Expr::symbol(s));
  }
  assumptions.insert(assumptions.begin(), of_types.begin(), of_types.end());
  return assumptions;
}

Lift<LiftedNest> Builder::build(const std::string& name) {
  scan();
  if (own_floating_point_)
    return refuse("c.floating-point", "a pragma gives this floating-point operation rules of its own",
                  own_floating_point_->getBeginLoc());
  find_tracked();
  expect_exchange();
  out_ = &sdfg_.root;
  sdfg_.name = name;
  std::vector<Item> list;
  for (const clang::Stmt* s : stretch_) list.push_back({s, false});
  TRY_VOID(sequence(list));
  const clang::SourceLocation where = stretch_.front()->getBeginLoc();
  if (sdfg::touched(sdfg_.root).written.empty()) return refuse("c.empty", "the nest does nothing", where);
  TRY_VOID(finish_memory());
  LiftedNest nest;
  nest.loop_lines = loop_lines_;
  TRY(nest.epilogue, epilogue());

  const sdfg::Touched touched = sdfg::touched(sdfg_.root);
  tidy_containers(sdfg_, touched);
  std::set<std::string> used;
  symbols_of(sdfg_.root, used);
  for (const sdfg::Container& c : sdfg_.containers)
    for (const std::vector<Expr>* lengths : {&c.shape, &c.strides})
      for (const Expr& e : *lengths) used.merge(e.symbols());
  // The epilogue, and symbols computed from others, rest on assumptions as the graph does.
  std::set<std::string> asked = used;
  asked.insert(text_symbols_.begin(), text_symbols_.end());
  sdfg_.assumptions = assumptions_about(asked, sdfg_, ranges_, symbol_types_);
  for (const Expr& e : sdfg_.assumptions) used.merge(e.symbols());
  std::erase_if(sdfg_.symbols, [&](const std::string& s) { return !used.contains(s); });

  std::set<std::string> read;  // C expressions
  std::string supposed;
  for (const std::string& s : sdfg_.symbols) {
    sdfg_.arguments.push_back(s);
    read.insert(symbol_c_.at(s));
    const std::string& c = symbol_c_.at(s);
    const auto narrow = symbol_types_.find(s);
    const sdfg::ElementType type = narrow == symbol_types_.end() ? sdfg::ElementType::i64 : narrow->second;
    nest.arguments.push_back({Argument::Kind::Symbol, s, c_integer(type), c, unset_.contains(c), type});
    if (auto it = known_.find(s); it != known_.end()) nest.known[s] = it->second;
    if (auto it = supposed_.find(s); it != supposed_.end() && !nest.known.contains(s)) {
      nest.known[s] = it->second;
      if (!planted(Fault::supposed_value_unchecked))
        supposed += (supposed.empty() ? "" : " && ") + c + " == " + std::to_string(it->second);
    }
  }
  for (const sdfg::Container& c : sdfg_.containers) {
    if (c.transient) continue;
    const auto m = std::ranges::find(memories_, c.name, &Memory::container);
    SOUS_ASSERT(m != memories_.end());
    const Argument::Kind kind = !c.shape.empty()                   ? Argument::Kind::Array
                                : touched.written.contains(c.name) ? Argument::Kind::ScalarInOut
                                                                   : Argument::Kind::ScalarIn;
    sdfg_.arguments.push_back(c.name);
    // (That of ScalarInOut counts where it becomes ScalarIn.)
    const bool unset = (kind != Argument::Kind::Array || is_pointer(*m)) && unset_.contains(m->c_expr);
    const bool own = c.shape.empty() && m->local && m->origin == Origin::PrivateObject && m->field.empty();
    nest.arguments.push_back({.kind = kind,
                              .name = c.name,
                              .type = c_type(m->element, context_),
                              .expression = address(*m),
                              .unset = unset,
                              .own = own});
    if (const auto table = tables_.find(c.name); table != tables_.end() && address(*m) == m->c_expr)
      nest.tables.insert(*table);
    if (const auto shift = m->shift.constant(); shift && !m->record.empty() && m->table.empty())
      nest.members[c.name] = {m->c_expr, m->offset + *shift * static_cast<std::int64_t>(sdfg::info(c.type).bytes)};
    if (const auto rows = m->declared ? m->declared->constant() : std::nullopt; rows && *rows > 1)
      nest.declared_rows[c.name] = *rows;
    read.insert(m->table.empty() ? m->c_expr : m->table);
  }
  TRY(nest.guard, guard(read));
  if (!supposed.empty()) nest.guard = supposed + (nest.guard.empty() ? "" : " && " + nest.guard);
  if (auto ok = sdfg::check(sdfg_); !ok)
    return refuse("c.internal", "the nest is malformed: " + ok.error().to_string(), where);
  nest.sdfg = std::move(sdfg_);
  return nest;
}

std::vector<std::pair<std::string, const clang::VarDecl*>> Builder::arrays() const {
  std::vector<std::pair<std::string, const clang::VarDecl*>> result;
  for (const Memory& m : memories_)
    if (m.variable) result.emplace_back(m.container, m.variable);
  return result;
}
}  // namespace sous::frontends::c
