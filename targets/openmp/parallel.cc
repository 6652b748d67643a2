#include "targets/openmp/parallel.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "sdfg/planted_fault.h"
#include "targets/cpp/work.h"

namespace sous::targets {
namespace {

// Elements of an array that every thread may hold a partial copy of, on its stack.
constexpr std::int64_t max_section = 4096;

std::string_view omp_operator(sdfg::ReductionOp op) {
  switch (op) {
    case sdfg::ReductionOp::sum:
      return "+";
    case sdfg::ReductionOp::product:
      return "*";
    case sdfg::ReductionOp::min:
      return "min";
    case sdfg::ReductionOp::max:
      return "max";
    case sdfg::ReductionOp::bit_and:
      return "&";
    case sdfg::ReductionOp::bit_or:
      return "|";
    case sdfg::ReductionOp::bit_xor:
      return "^";
  }
  __builtin_unreachable();
}

// What each thread has a copy of, and what becomes of it when the thread is done.
struct OwnCopy {
  std::string name;           // in the loop, where it is the thread's copy, and around it
  std::string type;           // of the copy, or of its elements
  std::string neutral;        // what it starts from
  std::int64_t elements = 0;  // of an array; 0: it is a variable
  std::function<std::string(const std::string& all, const std::string& own)> combined;
};

struct Reductions {
  std::vector<LocalReduction> locals;
  std::vector<OwnCopy> copies;  // with sections
  std::string clauses;          // without
  bool ordered = false;  // each thread takes iterations that follow each other, the first thread the first of them
};

// Of floats the first of equal values stays, in whatever order the threads end (sdfg::keeps_first_extremum).
bool keeps_first(const Printer& printer, const sdfg::Container& container, sdfg::ReductionOp op) {
  return sdfg::is_float(container.type) && (op == sdfg::ReductionOp::min || op == sdfg::ReductionOp::max) &&
         !printer.options().reassociate;
}

std::string_view neutral(sdfg::ReductionOp op) {
  switch (op) {
    case sdfg::ReductionOp::sum:
      return "neutral_sum";
    case sdfg::ReductionOp::product:
      return "neutral_product";
    case sdfg::ReductionOp::min:
      return "neutral_min";
    case sdfg::ReductionOp::max:
      return "neutral_max";
    case sdfg::ReductionOp::bit_and:
      return "neutral_and";
    case sdfg::ReductionOp::bit_or:
    case sdfg::ReductionOp::bit_xor:
      return "neutral_or";
  }
  __builtin_unreachable();
}

OwnCopy own_copy(const Printer& printer, const std::string& name, sdfg::ElementType type, sdfg::ReductionOp op,
                 std::int64_t elements, bool ordered) {
  const std::string of(sdfg::info(type).cpp);
  const bool max = op == sdfg::ReductionOp::max;
  if (ordered) {
    return {name, "sous::First<" + of + ">", "{sous::" + std::string(neutral(op)) + "<" + of + ">, sous::thread()}",
            elements, [max](const std::string& all, const std::string& own) {
              return std::string(max ? "sous::first_max(" : "sous::first_min(") + all + ", " + own + ")";
            }};
  }
  return {name, of, "sous::" + std::string(neutral(op)) + "<" + of + ">", elements,
          [&printer, op, type](const std::string& all, const std::string& own) {
            return printer.expressions.combined(op, type, {all}, {own}).text;
          }};
}

// What the threads of a region (`shared`) or the lanes of a loop have copies of; nothing if a reduction cannot be
// followed.
std::optional<Reductions> plan_reductions(Printer& printer, const sdfg::Loop& loop, bool shared) {
  Reductions result;
  Names& names = printer.expressions.names();
  for (const sdfg::Reduction& r : loop.reductions) {
    const sdfg::Container& c = printer.expressions.container(r.container);
    const bool first = shared && keeps_first(printer, c, r.op);
    std::string item;
    std::int64_t elements = 0;
    if (const auto place = single_place(loop, r.container)) {
      item = names.fresh(names.of(r.container) + "_local");
      result.locals.push_back({*place, item, r.op, first});
      result.ordered = result.ordered || first;
    } else if (shared && !first && !printer.expressions.locals.contains(r.container)) {
      sdfg::Expr last = c.offset;
      for (std::size_t d = 0; d < c.shape.size(); ++d) {
        last = last + (c.shape[d] - sdfg::Expr(1)) * c.strides[d];
        if (c.strides[d].constant().value_or(-1) < 0) return std::nullopt;
      }
      elements = last.constant().value_or(-1) + 1;
      if (elements < 1 || elements > max_section) return std::nullopt;
      item = printer.expressions.use(r.container);
    } else {
      return std::nullopt;
    }
    if (planted(Fault::reduction_clause_lost)) continue;
    if (shared)
      result.copies.push_back(own_copy(printer, item, c.type, r.op, elements, first));
    else
      result.clauses += " reduction(" + std::string(omp_operator(r.op)) + " : " + item + ")";
  }
  return result;
}

// Prints the loop (print_loop does) with the reductions' elements in local variables, loaded before and stored after
// it; only if it runs at all, since otherwise its elements need not exist.
void print_with_locals(Printer& printer, const sdfg::Loop& loop, const std::vector<LocalReduction>& locals,
                       const std::function<void()>& print_loop) {
  if (locals.empty()) return print_loop();
  Expressions& expressions = printer.expressions;
  printer.out.open("if (" + expressions.index(loop.begin).text + (loop.step > 0 ? " < " : " > ") +
                   expressions.index(loop.end).text + ")");
  const auto outer = expressions.locals;
  for (const LocalReduction& r : locals) {
    const std::string type(sdfg::info(expressions.container(r.place.container).type).cpp);
    const std::string value = expressions.element(r.place).text;
    printer.out.line(r.ordered ? "sous::First<" + type + "> " + r.variable + "{" + value + ", -1};"
                               : type + " " + r.variable + " = " + value + ";");
  }
  const auto variable = [](const LocalReduction& r) { return r.ordered ? r.variable + ".value" : r.variable; };
  for (const LocalReduction& r : locals) expressions.locals[r.place.container] = variable(r);
  print_loop();
  expressions.locals = outer;
  for (const LocalReduction& r : locals)
    printer.out.line(expressions.element(r.place).text + " = " + variable(r) + ";");
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
  sdfg::visit(region, [&](const sdfg::Node& node) {
    match(
        node.value,
        [&](const sdfg::State& s) {
          for (const sdfg::DataflowNode& n : s.nodes) {
            if (const auto* t = std::get_if<sdfg::Tasklet>(&n)) found = found || sdfg::sets_errno(t->code);
          }
        },
        [](const sdfg::Loop&) {}, [&](const sdfg::If& i) { found = found || sdfg::sets_errno(i.condition.code); },
        [&](const sdfg::While& w) { found = found || sdfg::sets_errno(w.condition.code); }, [](const sdfg::Return&) {});
  });
  return found;
}

struct Region {
  std::string pays, threads;
  bool dynamic = false;
  std::string chunk = {};  // empty: even shares
  std::vector<OwnCopy> copies = {};
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

// The loop as shares of threads.
void print_shares(Printer& printer, const sdfg::Loop& loop, const Region& region, const std::string& taken) {
  Lines& out = printer.out;
  Expressions& expressions = printer.expressions;
  const std::string variable = expressions.names().of(loop.symbol), step = "<" + std::to_string(loop.step) + ">";
  const std::string bounds = expressions.index(loop.begin).text + ", " + expressions.index(loop.end).text;
  const std::string share = expressions.names().fresh(variable + "_share");
  std::string part = share;
  if (region.chunk.empty()) {
    out.line("const sous::Share" + step + " " + share + " = sous::even_share" + step + "(" + bounds + ");");
  } else {
    // The longest first, so that threads end together.
    const std::string order = grows(loop) ? ", true" : ", false";
    out.line((region.dynamic ? "sous::QueuedShares" : "sous::TurnShares") + step + " " + share + "(" + bounds + ", " +
             region.chunk + (region.dynamic ? ", " + taken + order : "") + ");");
    out.open("while (" + share + ".next())");
    part += ".share";
  }
  out.open("for (int64_t " + variable + " = " + part + ".begin; " + Printer::condition(variable, loop, part + ".end") +
           "; " + Printer::advance(variable, loop.step) + ")");
  printer.body(loop);
  out.close();
  if (!region.chunk.empty()) out.close();
}

// The loop as a region of threads. The region is a function, which knows nothing of `restrict`: sums would go through
// memory and loops stay scalar. So the loop stands in a function that takes its pointers again, and those of the
// thread's own copies.
void print_region(Printer& printer, const sdfg::Loop& loop, const Region& region) {
  Lines& out = printer.out;
  Names& names = printer.expressions.names();
  std::string taken;
  if (region.dynamic) {
    taken = names.fresh("taken");
    out.line("alignas(64) int64_t " + taken + " = 0;");
  }
  if (!region.failure.empty()) out.line("int " + region.failure + " = 0;");
  const Lines::Gap own = out.line_with_gap("sous::parallel(" + region.pays + ", " + region.threads + ", [&",
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
      out.line(copy.type + " " + copies.back() + "[" + std::to_string(copy.elements) + "];");
      const std::string element = names.fresh("element");
      out.line("for (" + copy.type + "& " + element + " : " + copies.back() + ") " + element + " = " + copy.neutral +
               ";");
      pass(copy.type + "* __restrict " + copy.name, copies.back());
    } else {
      out.line(copy.type + " " + copies.back() + " = " + copy.neutral + ";");
      pass(copy.type + "& " + copy.name, copies.back());
    }
  }
  const Lines::Gap parameters = out.line_with_gap("[&](", ") __attribute__((always_inline)) {");
  out.set_depth(out.depth() + 1);
  std::set<std::string>& used = printer.expressions.used();
  std::set<std::string> before = std::exchange(used, {});
  print_shares(printer, loop, region, taken);
  std::string captured;
  for (const std::string& name : own_copies(printer, loop, used)) {
    captured += ", " + name;
    const auto pointer = printer.pointers.find(name);
    if (pointer != printer.pointers.end()) pass(pointer->second, name);
  }
  out.close("(" + passed + ");");
  for (std::size_t k = 0; k < copies.size(); ++k) {
    const OwnCopy& copy = region.copies[k];
    out.open("sous::one_at_a_time([&]()");
    const std::string element = copy.elements > 0 ? names.fresh("element") : "";
    const std::string at = copy.elements > 0 ? "[" + element + "]" : "";
    if (copy.elements > 0)
      out.open("for (int64_t " + element + " = 0; " + element + " < " + std::to_string(copy.elements) + "; ++" +
               element + ")");
    out.line(copy.name + at + " = " + copy.combined(copy.name + at, copies[k] + at) + ";");
    if (copy.elements > 0) out.close();
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
  region.chunk = printer.expressions.names().fresh("share");
  printer.out.line("const int64_t " + region.chunk + " = sous::dynamic_share(" + printer.expressions.index(trips).text +
                   ");");
}

}  // namespace

std::optional<sdfg::Memlet> single_place(const sdfg::Loop& loop, const std::string& container) {
  std::set<std::string> bound = {loop.symbol};
  std::vector<const sdfg::Memlet*> memlets;
  std::vector<sdfg::Expr> exprs;
  sdfg::visit(loop.body, [&](const sdfg::Node& node) {
    match(
        node.value,
        [&](const sdfg::State& s) {
          for (const sdfg::Edge& edge : s.edges) memlets.push_back(&edge.memlet);
        },
        [&](const sdfg::Loop& l) {
          bound.insert(l.symbol);
          exprs.insert(exprs.end(), {l.begin, l.end});
        },
        [&](const sdfg::If& i) {
          for (const sdfg::Memlet& m : i.condition.inputs) memlets.push_back(&m);
        },
        [&](const sdfg::While& w) {
          for (const sdfg::Memlet& m : w.condition.inputs) memlets.push_back(&m);
        },
        [](const sdfg::Return&) {});
  });
  const sdfg::Memlet* place = nullptr;
  for (const sdfg::Memlet* m : memlets) {
    for (const sdfg::Dim& dim : m->subset) {
      exprs.push_back(dim.begin);
      if (dim.end) exprs.push_back(*dim.end);
    }
    if (m->container != container) continue;
    if (place != nullptr && place->subset != m->subset) return std::nullopt;
    place = m;
  }
  if (place == nullptr) return std::nullopt;
  for (const sdfg::Expr& e : exprs) {
    if (e.reads().contains(container)) return std::nullopt;
  }
  for (const sdfg::Dim& dim : place->subset) {
    if (dim.end || !dim.begin.reads().empty()) return std::nullopt;
    for (const std::string& symbol : dim.begin.symbols()) {
      if (bound.contains(symbol)) return std::nullopt;
    }
  }
  return sdfg::Memlet{place->container, place->subset, std::nullopt};
}

void print_parallel(Printer& printer, const sdfg::Loop& loop, const sdfg::Parallel& parallel) {
  if (has_return(loop.body)) {
    printer.not_followed(loop, "the function returns from inside of it");
    return printer.plain_loop(loop);
  }
  const auto reductions = plan_reductions(printer, loop, true);
  if (!reductions) {
    // A team of one, so that its thread has number 0 and the first copy of the temporaries, wherever the call comes
    // from.
    const std::string why = "a reduction into an array of unknown or large size";
    printer.out.line("// In order: " + why + ".");
    printer.not_followed(loop, why);
    printer.in_parallel = printer.starts_team = true;
    print_region(printer, loop, {.pays = "false", .threads = "1"});
    printer.in_parallel = false;
    return;
  }
  Region region{.pays = work(sdfg::Node(loop), printer.expressions).text + " >= sous::parallel_from",
                .threads = std::to_string(parallel.threads),
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
    if (!reductions->ordered) set_schedule(printer, loop, parallel, region);
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
