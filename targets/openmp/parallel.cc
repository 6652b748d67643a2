#include "targets/openmp/parallel.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "sdfg/parallel_loop.h"
#include "sdfg/planted_fault.h"
#include "targets/cpp/work.h"
#include "targets/openmp/reductions.h"

namespace sous::targets {
namespace {

// Prints the loop (print_loop does) with the reductions' elements in local variables, loaded before and stored after
// it; only if it runs at all, since otherwise its elements need not exist. Those that it perhaps leaves alone are
// loaded and stored after it, where there is something to store.
void print_with_locals(Printer& printer, const sdfg::Loop& loop, const std::vector<LocalReduction>& locals,
                       const std::function<void()>& print_loop) {
  if (locals.empty()) return print_loop();
  Expressions& expressions = printer.expressions;
  printer.out.open("if (" + expressions.index(loop.begin).text + (loop.step > 0 ? " < " : " > ") +
                   expressions.index(loop.end).text + ")");
  const auto outer = expressions.locals;
  for (const LocalReduction& r : locals) {
    const sdfg::ElementType element_type = expressions.container(r.place.container).type;
    const std::string type(sdfg::info(element_type).cpp);
    const std::string value = r.perhaps ? neutral_element(r.op, element_type) : expressions.element(r.place).text;
    printer.out.line(r.ordered ? "sous::First<" + type + "> " + r.variable + "{" + value + ", -1};"
                               : type + " " + r.variable + " = " + value + ";");
  }
  const auto variable = [](const LocalReduction& r) { return r.ordered ? r.variable + ".value" : r.variable; };
  for (const LocalReduction& r : locals) expressions.locals[r.place.container] = variable(r);
  print_loop();
  expressions.locals = outer;
  for (const LocalReduction& r : locals) {
    const Text element = expressions.element(r.place);
    const sdfg::ElementType type = expressions.container(r.place.container).type;
    if (!r.perhaps) {
      printer.out.line(element.text + " = " + variable(r) + ";");
      continue;
    }
    const auto combined = [&] {
      if (!r.ordered) return expressions.combined(r.op, type, element, {variable(r)}).text;
      const std::string first = r.op == sdfg::ReductionOp::max ? "sous::first_max" : "sous::first_min";
      return first + "({" + element.text + ", -1}, " + r.variable + ").value";
    };
    printer.out.open("if (" + changes(r.op, type, variable(r)) + ")");
    printer.out.line(element.text + " = " + combined() + ";");
    printer.out.close();
  }
  printer.out.close();
}

// The values that the loop uses and nobody changes, the places of the loops around included: each thread's own copies
// stay in registers, whereas a variable that threads share is read again after every store of a vector (those may alias
// anything).
std::vector<std::string> own_copies(Printer& printer, const sdfg::Loop& loop, const std::set<std::string>& used) {
  Expressions& expressions = printer.expressions;
  std::vector<std::string> list;
  const auto add = [&](const std::string& name) {
    if (used.contains(name)) list.push_back(name);
  };
  const auto is_reduced = [&](const std::string& container) {
    return std::ranges::find(loop.reductions, container, &sdfg::Reduction::container) != loop.reductions.end();
  };
  for (const std::string& argument : expressions.sdfg().arguments) {
    if (!is_reduced(argument)) add(expressions.names().of(argument));
  }
  std::set<std::string> owners{""};
  for (const std::string& symbol : expressions.entered()) {
    owners.insert(symbol);
    add(expressions.names().of(symbol));
  }
  const std::set<std::string> written = sdfg::touched(loop.body).written;
  for (const Transient& t : printer.transients()) {
    if (is_reduced(t.container)) continue;
    if (!t.heap) {
      const bool scalar = expressions.container(t.container).shape.empty();
      if (scalar && owners.contains(t.owner) && !written.contains(t.container)) {
        add(expressions.names().of(t.container));
      }
      continue;
    }
    add(expressions.names().of(t.per_thread ? t.container + ".all" : t.container));
    if (t.per_thread) add(expressions.names().of(t.container + ".size"));
  }
  return list;
}

bool calls_set_errno(const sdfg::Region& region) {
  bool found = false;
  sdfg::for_each_code(region, [&](const sdfg::ScalarExpr& code) { found = found || sdfg::sets_errno(code); });
  return found;
}

struct Region {
  std::string pays, threads;
  std::vector<const sdfg::Loop*> loops = {};  // that are handed out together (sdfg::shared_together)
  std::vector<std::string> trips = {};        // of each, where they are several; and, `all`, of them together
  std::string all = {};
  bool dynamic = false;
  std::string chunk = {};  // empty: even shares
  std::vector<OwnCopy> copies = {};
  std::string pieces = {};   // with even shares: what of each is taken; empty: each thread runs its own
  std::string failure = {};  // where calls may set errno, the variable through which what they set in any thread
                             // reaches the one that entered (of several errors, that of any thread); else empty
};

// Whether later iterations have more to do, as far as the bounds of loops inside say.
bool grows(const sdfg::Loop& loop) {
  const std::map<std::string, sdfg::Expr> next{{loop.symbol, sdfg::Expr::symbol(loop.symbol) + sdfg::Expr(loop.step)}};
  std::int64_t more = 0;
  sdfg::visit(loop.body, [&](const sdfg::Node& node) {
    const auto* inner = std::get_if<sdfg::Loop>(&node.value);
    if (inner == nullptr) return;
    const sdfg::Expr trips = inner->step > 0 ? inner->end - inner->begin : inner->begin - inner->end;
    const std::int64_t change = (trips.substitute(next) - trips).constant().value_or(0);
    more += change > 0 ? 1 : change < 0 ? -1 : 0;
  });
  return more > 0;
}

std::string bounds_of(const sdfg::Loop& loop, const Expressions& expressions) {
  return expressions.index(loop.begin).text + ", " + expressions.index(loop.end).text;
}
std::string step_of(const sdfg::Loop& loop) { return "<" + std::to_string(loop.step) + ">"; }

// Iterations in a row, from that numbered `first` of all that the loops run together to below `last`: of the innermost
// loop those that follow each other are a loop, so that it becomes vectors as ever.
void print_together(Printer& printer, const Region& region, const std::string& first, const std::string& last) {
  Lines& out = printer.out;
  Expressions& expressions = printer.expressions;
  const sdfg::Loop& innermost = *region.loops.back();
  const std::string at = expressions.names().fresh("at"), row = region.trips.back();
  out.open("for (int64_t " + at + " = " + first + "; " + at + " < " + last + ";)");
  const std::string from = expressions.names().fresh("from"), to = expressions.names().fresh("to");
  out.line("const int64_t " + from + " = " + at + " % " + row + ", " + to + " = " + row + " - " + from + " < " + last +
           " - " + at + " ? " + row + " : " + from + " + (" + last + " - " + at + ");");
  for (std::size_t k = 0; k + 1 < region.loops.size(); ++k) {
    const sdfg::Loop& loop = *region.loops[k];
    std::string number = at;
    for (std::size_t inside = region.loops.size() - 1; inside > k; --inside) number += " / " + region.trips[inside];
    if (k > 0) number += " % " + region.trips[k];
    out.line("const int64_t " + expressions.names().of(loop.symbol) + " = " + expressions.index(loop.begin).text +
             " + (" + number + ") * " + std::to_string(loop.step) + ";");
    expressions.enter(loop);
    printer.declare(loop.symbol);
  }
  const std::string variable = expressions.names().of(innermost.symbol);
  const std::string part = expressions.names().fresh(variable + "_part");
  out.line("const sous::Share" + step_of(innermost) + " " + part + " = sous::Share" + step_of(innermost) + "::of(" +
           bounds_of(innermost, expressions) + ", " + from + ", " + to + ");");
  out.line(at + " += " + to + " - " + from + ";");
  out.open("for (int64_t " + variable + " = " + part + ".begin; " +
           Printer::condition(variable, innermost, part + ".end") + "; " + Printer::advance(variable, innermost.step) +
           ")");
  printer.body(innermost);
  out.close();
  for (std::size_t k = region.loops.size() - 1; k > 0; --k) expressions.leave(*region.loops[k - 1]);
  out.close();
}

// The loop as shares of threads.
void print_shares(Printer& printer, const sdfg::Loop& loop, const Region& region, const std::string& taken) {
  Lines& out = printer.out;
  Expressions& expressions = printer.expressions;
  const bool several = region.loops.size() > 1;
  const std::string variable = expressions.names().of(loop.symbol), step = several ? "<1>" : step_of(loop);
  const std::string bounds = several ? "0, " + region.all : bounds_of(loop, expressions);
  const std::string share = expressions.names().fresh(variable + "_share");
  std::string part = share;
  if (!region.pieces.empty()) {
    out.line("sous::EvenShares" + step + " " + share + "(" + bounds + ", " + region.pieces + ");");
    out.open("while (" + share + ".next())");
    part += ".share";
  } else if (region.chunk.empty()) {
    out.line("const sous::Share" + step + " " + share + " = sous::even_share" + step + "(" + bounds + ");");
  } else {
    // The longest first, so that threads end together.
    const bool last_first = std::ranges::any_of(region.loops, [](const sdfg::Loop* l) { return grows(*l); });
    const std::string order = last_first ? ", true" : ", false";
    out.line((region.dynamic ? "sous::QueuedShares" : "sous::TurnShares") + step + " " + share + "(" + bounds + ", " +
             region.chunk + (region.dynamic ? ", " + taken + order : "") + ");");
    out.open("while (" + share + ".next())");
    part += ".share";
  }
  if (several) {
    print_together(printer, region, part + ".begin", part + ".end");
  } else {
    out.open("for (int64_t " + variable + " = " + part + ".begin; " +
             Printer::condition(variable, loop, part + ".end") + "; " + Printer::advance(variable, loop.step) + ")");
    printer.body(loop);
    out.close();
  }
  if (part != share) out.close();
}

// A thread's copy of an array, with what it starts from.
void print_own_array(Printer& printer, const OwnCopy& copy, const std::string& name) {
  Lines& out = printer.out;
  Names& names = printer.expressions.names();
  const std::string elements = std::to_string(copy.elements), type = copy.type, element = names.fresh("element");
  if (!copy.heap) {
    out.line(type + " " + name + "[" + elements + "];");
    out.line("for (" + type + "& " + element + " : " + name + ") " + element + " = " + copy.neutral + ";");
    return;
  }
  const std::string memory = names.fresh(name + "_memory");
  out.line("const sous::Temporary<" + type + "> " + memory + "(sous::padded<" + type + ">(" + elements + "), 1);");
  out.line(type + "* const " + name + " = " + memory + ".get() != nullptr ? " + memory + ".get() : static_cast<" +
           type + "*>(__builtin_alloca(" + elements + " * sizeof(" + type + ")));");
  out.line("for (int64_t " + element + " = 0; " + element + " < " + elements + "; ++" + element + ") " + name + "[" +
           element + "] = " + copy.neutral + ";");
}

// The loop as a region of threads. The region is a function, which knows nothing of `restrict`: sums would go through
// memory and loops stay scalar. So the loop stands in a function that takes its pointers again, and those of the
// thread's own copies. When that one is inlined is the compiler's choice: as always_inline, clang does so before it has
// put parameters into registers, and forgets what `restrict` says of them (elements that rows share were loaded again
// for each); never inlined, it knows no bounds there (products took 1.8 times as long).
void print_region(Printer& printer, const sdfg::Loop& loop, const Region& region) {
  Lines& out = printer.out;
  Names& names = printer.expressions.names();
  std::string taken;
  if (region.dynamic) {
    taken = names.fresh("taken");
    out.line("alignas(64) int64_t " + taken + " = 0;");
  }
  if (!region.failure.empty()) out.line("int " + region.failure + " = 0;");
  const Lines::Gap own = out.line_with_gap("sous::parallel(" + region.pays + ", " + region.threads +
                                               (region.pieces.empty() ? "" : ", " + region.pieces) + ", [&",
                                           "]() __attribute__((always_inline)) {");
  out.set_depth(out.depth() + 1);
  if (!region.failure.empty()) out.line("errno = 0;");
  std::string declared, passed;
  const auto pass = [&](const std::string& parameter, const std::string& argument) {
    declared += (declared.empty() ? "" : ", ") + parameter;
    passed += (passed.empty() ? "" : ", ") + argument;
  };
  std::vector<std::string> copies;
  for (const OwnCopy& copy : region.copies) {
    copies.push_back(names.fresh(copy.name + "_own"));
    if (copy.elements > 0) {
      print_own_array(printer, copy, copies.back());
      pass(copy.type + "* __restrict " + copy.name, copies.back());
    } else {
      out.line(copy.type + " " + copies.back() + " = " + copy.neutral + ";");
      pass(copy.type + "& " + copy.name, copies.back());
    }
  }
  const Lines::Gap parameters = out.line_with_gap("[&](", ") {");
  out.set_depth(out.depth() + 1);
  std::set<std::string>& used = printer.expressions.used();
  std::set<std::string> before = std::exchange(used, {});
  print_shares(printer, loop, region, taken);
  std::string captured;
  SideBySide side_by_side(printer.members);
  for (const std::string& name : own_copies(printer, loop, used)) {
    const auto pointer = printer.pointers.find(name);
    const std::string passed_on = pointer == printer.pointers.end() ? name : side_by_side(name);
    if (passed_on == name) captured += ", " + name;
    if (pointer != printer.pointers.end()) pass(pointer->second, passed_on);
  }
  out.close("(" + passed + ");");
  for (std::size_t k = 0; k < copies.size(); ++k) {
    const OwnCopy& copy = region.copies[k];
    out.open("sous::one_at_a_time([&]()");
    if (copy.elements > 0) {
      // A pointer of its own, and what stands in the thread's copy is nowhere else: compilers make masked vectors.
      const std::string all = names.fresh(copy.name + "_all"), element = names.fresh("element");
      const std::string own = copies[k] + "[" + element + "]", at = all + "[" + element + "]";
      out.line(copy.type + "* __restrict const " + all + " = " + copy.name + ";");
      out.open("for (int64_t " + element + " = 0; " + element + " < " + std::to_string(copy.elements) + "; ++" +
               element + ")");
      out.line("if (" + copy.changes(own) + ") " + at + " = " + copy.combined(at, own) + ";");
      out.close();
    } else {
      out.line(copy.name + " = " + copy.combined(copy.name, copies[k]) + ";");
    }
    out.close(");");
  }
  if (!region.failure.empty())
    out.line("if (errno != 0) __atomic_store_n(&" + region.failure + ", errno, __ATOMIC_RELAXED);");
  out.close(");");
  used.merge(before);
  out.fill(parameters, declared);
  out.fill(own, captured);
}

// Is there a node below on which `f` holds?
bool any_below(const sdfg::Region& region, const std::function<bool(const sdfg::Node&)>& f) {
  bool found = false;
  sdfg::visit(region, [&](const sdfg::Node& node) { found = found || f(node); });
  return found;
}

void set_schedule(Printer& printer, const sdfg::Loop& loop, const sdfg::Parallel& parallel, Region& region) {
  region.dynamic = parallel.kind == sdfg::ParallelKind::Dynamic;
  if (parallel.chunk > 0) region.chunk = std::to_string(parallel.chunk);
  if (parallel.chunk > 0 || !region.dynamic) return;
  // One iteration at a time costs more to hand out than most of them take.
  const bool up = loop.step > 0;
  const sdfg::Expr trips =
      sdfg::Expr::ceil_div(up ? loop.end - loop.begin : loop.begin - loop.end, std::abs(loop.step));
  const std::string all = region.loops.size() > 1 ? region.all : printer.expressions.index(trips).text;
  region.chunk = printer.expressions.names().fresh("share");
  printer.out.line("const int64_t " + region.chunk + " = sous::dynamic_share(" + all + ");");
}

// How often each of the loops runs that are handed out together, and all of them.
void count_together(Printer& printer, Region& region) {
  if (region.loops.size() < 2) return;
  Expressions& expressions = printer.expressions;
  std::string all;
  for (const sdfg::Loop* loop : region.loops) {
    region.trips.push_back(expressions.names().fresh(expressions.names().of(loop->symbol) + "_trips"));
    printer.out.line("const int64_t " + region.trips.back() + " = sous::Share" + step_of(*loop) + "::trips(" +
                     bounds_of(*loop, expressions) + ");");
    all += (all.empty() ? "" : ", ") + region.trips.back();
  }
  region.all = expressions.names().fresh("together");
  printer.out.line("const int64_t " + region.all + " = sous::trips_together(" + all + ");");
}

}  // namespace

void print_parallel(Printer& printer, const sdfg::Loop& loop, const sdfg::Parallel& parallel) {
  const auto reductions = plan_reductions(printer, loop, true);
  if (!reductions) {
    // A team of one, so that its thread has number 0 and the first copy of the temporaries, wherever the call comes
    // from.
    const std::string why = "a reduction into an array of unknown or large size";
    printer.out.line("// In order: " + why + ".");
    printer.not_followed(loop, why);
    printer.in_parallel = printer.starts_team = true;
    print_region(printer, loop, {.pays = "false", .threads = "1", .loops = {&loop}});
    printer.in_parallel = false;
    return;
  }
  Region region{.pays = work(sdfg::Node(loop), printer.expressions).text + " >= sous::parallel_from",
                .threads = std::to_string(parallel.threads),
                .loops = sdfg::shared_together(loop),
                .copies = reductions->copies};
  // The runtime may change errno, which the original nest does not.
  std::string before;
  if (printer.options().math_errno) {
    before = printer.expressions.names().fresh("errno_before");
    printer.out.line("const int " + before + " = errno;");
    if (calls_set_errno(loop.body)) region.failure = printer.expressions.names().fresh("failure");
  }
  printer.in_parallel = printer.starts_team = true;
  print_with_locals(printer, loop, reductions->locals, [&] {
    count_together(printer, region);
    if (!reductions->ordered) set_schedule(printer, loop, parallel, region);
    // Whatever threads combine they combine in an order of theirs.
    if (region.chunk.empty() && (region.copies.empty() || planted(Fault::combined_shares_stolen))) {
      region.pieces = printer.expressions.names().fresh("pieces");
      printer.out.line("sous::Pieces " + region.pieces + ";");
    }
    print_region(printer, loop, region);
    if (!region.failure.empty())
      printer.out.line("errno = " + region.failure + " != 0 ? " + region.failure + " : " + before + ";");
  });
  printer.in_parallel = false;
  if (!before.empty() && region.failure.empty()) printer.out.line("errno = " + before + ";");
}

std::optional<std::string> print_omp_simd(Printer& printer, const sdfg::Loop& loop) {
  const auto is_plain = [](const sdfg::Node& node) {
    return std::holds_alternative<sdfg::State>(node.value) || std::holds_alternative<sdfg::If>(node.value);
  };
  if (any_below(loop.body, [&](const sdfg::Node& node) { return !is_plain(node); })) return "the loop is not innermost";
  const int lanes = std::get<sdfg::Simd>(loop.schedule).lanes;
  if (lanes == 1) return "one lane";
  const auto reductions = plan_reductions(printer, loop, false);
  if (!reductions) return "a reduction into more than one element";
  std::string pragma = "#pragma omp simd";
  if (lanes > 1) pragma += " safelen(" + std::to_string(lanes) + ")";
  print_with_locals(printer, loop, reductions->locals, [&] { printer.plain_loop(loop, pragma + reductions->clauses); });
  return std::nullopt;
}

}  // namespace sous::targets
