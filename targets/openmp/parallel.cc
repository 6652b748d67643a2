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

struct Reductions {
  std::vector<LocalReduction> locals;
  std::string clauses;
  bool ordered = false;  // each thread takes iterations that follow each other, the first thread the first of them
};

// Of floats the first of equal values stays, in whatever order the threads end (sdfg::keeps_first_extremum).
bool keeps_first(const Printer& printer, const sdfg::Container& container, sdfg::ReductionOp op) {
  return sdfg::is_float(container.type) && (op == sdfg::ReductionOp::min || op == sdfg::ReductionOp::max) &&
         !printer.options().reassociate;
}

// How the loop's reductions become clauses; nothing if one cannot.
std::optional<Reductions> plan_reductions(Printer& printer, const sdfg::Loop& loop, bool sections) {
  Reductions result;
  Names& names = printer.expressions.names();
  for (const sdfg::Reduction& r : loop.reductions) {
    std::string item;
    const sdfg::Container& c = printer.expressions.container(r.container);
    if (const auto place = single_place(loop, r.container)) {
      item = names.fresh(names.of(r.container) + "_local");
      result.locals.push_back({*place, item, r.op});
      if (sections && keeps_first(printer, c, r.op)) {
        result.ordered = result.locals.back().ordered = true;
        result.clauses += " reduction(sous_first_" + std::string(omp_operator(r.op)) + " : " + item + ")";
        continue;
      }
    } else if (sections && !keeps_first(printer, c, r.op) && !printer.expressions.locals.contains(r.container)) {
      sdfg::Expr elements = c.offset + sdfg::Expr(1);
      for (std::size_t d = 0; d < c.shape.size(); ++d) {
        elements = elements + (c.shape[d] - sdfg::Expr(1)) * c.strides[d];
        if (c.strides[d].constant().value_or(-1) < 0) return std::nullopt;
      }
      const auto count = elements.constant();
      if (!count || *count < 1 || *count > max_section) return std::nullopt;
      item = printer.expressions.use(r.container) + "[0:" + std::to_string(*count) + "]";
    } else {
      return std::nullopt;
    }
    if (planted(Fault::reduction_clause_lost)) continue;
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

struct Pragmas {
  std::string clauses, reductions, schedule;
  std::string share;  // a variable that the schedule reads, or none
};

// The loop as a region of threads. Compilers make a function of the region, which knows nothing of `restrict`: sums
// would go through memory and loops stay scalar. So the loop stands in a function that takes its pointers again.
// `failure`: where calls may set errno, the variable through which what they set in any thread reaches the one that
// entered (of several errors, that of any thread); else empty.
void print_region(Printer& printer, const sdfg::Loop& loop, const Pragmas& pragmas, const std::string& failure) {
  Lines& out = printer.out;
  if (!failure.empty()) out.line("int " + failure + " = 0;");
  const Lines::Gap clauses = out.line_with_gap("#pragma omp parallel" + pragmas.clauses, pragmas.reductions);
  if (!failure.empty()) {
    out.open("");
    out.line("errno = 0;");
  }
  const Lines::Gap parameters = out.line_with_gap("[&](", ") __attribute__((always_inline)) {");
  out.set_depth(out.depth() + 1);
  std::set<std::string>& used = printer.expressions.used();
  std::set<std::string> before = std::exchange(used, {});
  printer.plain_loop(loop, "#pragma omp for nowait" + pragmas.schedule);
  // clang 19 fails on a clause inside the lambda that alone reads a variable from outside.
  std::string names, declared = pragmas.share.empty() ? "" : "int64_t " + pragmas.share, passed = pragmas.share;
  for (const std::string& name : own_copies(printer, loop, used)) {
    names += (names.empty() ? "" : ", ") + name;
    const auto pointer = printer.pointers.find(name);
    if (pointer == printer.pointers.end()) continue;
    declared += (declared.empty() ? "" : ", ") + pointer->second;
    passed += (passed.empty() ? "" : ", ") + name;
  }
  out.close("(" + passed + ");");
  if (!failure.empty()) {
    out.open("if (errno != 0)");
    out.line("#pragma omp atomic write");
    out.line(failure + " = errno;");
    out.close();
    out.close();
  }
  used.merge(before);
  out.fill(parameters, declared);
  out.fill(clauses, names.empty() ? "" : " firstprivate(" + names + ")");
}

// Is there a node below on which `f` holds?
bool any_below(const sdfg::Region& region, const std::function<bool(const sdfg::Node&)>& f) {
  bool found = false;
  sdfg::visit(region, [&](const sdfg::Node& node) { found = found || f(node); });
  return found;
}

void set_schedule(Printer& printer, const sdfg::Loop& loop, const sdfg::Parallel& parallel, Pragmas& pragmas) {
  const bool dynamic = parallel.kind == sdfg::ParallelKind::Dynamic;
  const std::string kind = dynamic ? " schedule(dynamic" : " schedule(static";
  pragmas.schedule = kind + (parallel.chunk > 0 ? ", " + std::to_string(parallel.chunk) + ")" : ")");
  if (parallel.chunk > 0 || !dynamic) return;
  // The runtime would hand out one iteration at a time, which costs more than most of them take.
  const bool up = loop.step > 0;
  const sdfg::Expr trips =
      sdfg::Expr::ceil_div(up ? loop.end - loop.begin : loop.begin - loop.end, std::abs(loop.step));
  pragmas.share = printer.expressions.names().fresh("share");
  pragmas.schedule = kind + ", " + pragmas.share + ")";
  printer.out.line("const int64_t " + pragmas.share + " = sous::dynamic_share(" +
                   printer.expressions.index(trips).text + ");");
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
    printer.plain_loop(loop, "#pragma omp parallel for num_threads(1)");
    printer.in_parallel = false;
    return;
  }
  Pragmas pragmas{"", reductions->clauses, "", ""};
  if (parallel.threads > 0) pragmas.clauses += " num_threads(" + std::to_string(parallel.threads) + ")";
  pragmas.clauses += " if (" + work(sdfg::Node(loop), printer.expressions).text + " >= sous::parallel_from)";
  // The runtime may change errno, which the original nest does not.
  std::string before, failure;
  if (printer.options().math_errno) {
    before = printer.expressions.names().fresh("errno_before");
    printer.out.line("const int " + before + " = errno;");
    if (calls_set_errno(loop.body)) failure = printer.expressions.names().fresh("failure");
  }
  printer.in_parallel = printer.starts_team = true;
  print_with_locals(printer, loop, reductions->locals, [&] {
    if (reductions->ordered)
      pragmas.schedule = " schedule(static)";
    else
      set_schedule(printer, loop, parallel, pragmas);
    print_region(printer, loop, pragmas, failure);
    if (!failure.empty()) printer.out.line("errno = " + failure + " != 0 ? " + failure + " : " + before + ";");
  });
  printer.in_parallel = false;
  if (!before.empty() && failure.empty()) printer.out.line("errno = " + before + ";");
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
