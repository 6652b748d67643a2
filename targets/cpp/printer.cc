#include "targets/cpp/printer.h"

#include <algorithm>
#include <utility>

#include "sdfg/planted_fault.h"
#include "sdfg/trips.h"
#include "targets/cpp/early_exits.h"
#include "targets/openmp/parallel.h"

namespace sous::targets {

using sdfg::AtomKind;
using sdfg::Expr;

namespace {

bool is_cheap(const Expr& e) {
  for (const sdfg::Term& term : e.terms()) {
    for (const sdfg::Atom& atom : term.atoms) {
      if (atom.kind != AtomKind::Symbol) return false;
    }
  }
  return true;
}

// Containers whose values go somewhere: read by a statement that writes another one, by a condition or by a subscript.
// The rest the compiler sees as set but never used.
std::set<std::string> used_containers(const sdfg::Region& region) {
  std::set<std::string> used;
  const auto add_reads = [&](const Expr& e) { used.merge(e.reads()); };
  const auto add_memlet = [&](const sdfg::Memlet& memlet) {
    for (const Expr& e : memlet.subset) add_reads(e);
  };
  const auto add_condition = [&](const sdfg::Condition& condition) {
    for (const sdfg::Memlet& memlet : condition.inputs) used.insert(memlet.container);
    for (const sdfg::Memlet& memlet : condition.inputs) add_memlet(memlet);
  };
  const auto add_state = [&](const sdfg::State& state) {
    for (const sdfg::Edge& edge : state.edges) add_memlet(edge.memlet);
    for (const sdfg::TaskletView& view : sdfg::tasklets(state)) {
      view.tasklet->code.visit([&](const sdfg::ScalarExpr& e) {
        if (e.op != sdfg::ScalarOp::input) return;
        const std::string& read = view.inputs[static_cast<std::size_t>(e.input)]->container;
        for (const sdfg::Memlet* out : view.outputs) {
          if (out->container != read) used.insert(read);
        }
      });
    }
  };
  sdfg::visit(region, [&](const sdfg::Node& node) {
    match(
        node.value, add_state,
        [&](const sdfg::Loop& loop) {
          add_reads(loop.begin);
          add_reads(loop.end);
        },
        [&](const sdfg::If& branch) { add_condition(branch.condition); },
        [&](const sdfg::While& loop) { add_condition(loop.condition); });
  });
  return used;
}

// Whether it holds where something is no number alone: x != x.
bool needs_a_nan(const sdfg::ScalarExpr& e) {
  if (e.op == sdfg::ScalarOp::logical_and) return needs_a_nan(e.args[0]) || needs_a_nan(e.args[1]);
  if (e.op == sdfg::ScalarOp::logical_or) return needs_a_nan(e.args[0]) && needs_a_nan(e.args[1]);
  return e.op == sdfg::ScalarOp::ne && e.args[0] == e.args[1];
}

// What hardly ever runs, and is long: the infinities of complex products. Compilers that fill vectors would compute it
// for all iterations (a product of complex matrices took 2.3 times as long).
bool is_aside(const sdfg::If& branch) {
  constexpr std::size_t few = 3;
  return branch.else_body.nodes.empty() && branch.then_body.nodes.size() > few && needs_a_nan(branch.condition.code);
}

}  // namespace

Printer::Printer(const sdfg::Sdfg& sdfg, const EmitOptions& options, const Dialect& dialect,
                 const std::vector<Transient>& transients, Names& names)
    : expressions(sdfg, names),
      options_(options),
      dialect_(dialect),
      transients_(transients),
      used_(used_containers(sdfg.root)) {}

void Printer::region(const sdfg::Region& region) {
  if (dialect_.region != nullptr && dialect_.region(*this, region)) return;
  for (const sdfg::Node& n : region.nodes) node(n);
}

void Printer::node(const sdfg::Node& node) {
  match(
      node.value,
      [&](const sdfg::State& s) {
        state(s);
        if (exits_.contains(&s)) out.line("break;");
      },
      [&](const sdfg::Loop& l) { loop(l); },
      [&](const sdfg::If& branch) {
        const std::string test = condition(branch.condition).text;
        const bool aside = is_aside(branch);
        out.open(aside ? "if (sous::hardly_ever(" + test + "))" : "if (" + test + ")");
        if (aside) out.line("sous::only_here();");
        region(branch.then_body);
        if (!branch.else_body.nodes.empty()) {
          out.otherwise();
          region(branch.else_body);
        }
        out.close();
      },
      [&](const sdfg::While& loop) {
        const std::string test = "while (" + condition(loop.condition).text + ")";
        out.open(loop.test_first ? test : "do");
        const std::set<const sdfg::State*> around = std::exchange(exits_, early_exits(loop, expressions.sdfg()));
        region(loop.body);
        exits_ = around;
        out.close(loop.test_first ? "" : " " + test + ";");
      });
}

Text Printer::condition(const sdfg::Condition& condition) {
  std::vector<const sdfg::Memlet*> inputs;
  for (const sdfg::Memlet& memlet : condition.inputs) inputs.push_back(&memlet);
  return expressions.scalar(condition.code, inputs);
}

void Printer::state(const sdfg::State& state) {
  for (const sdfg::TaskletView& tasklet : sdfg::tasklets(state)) assign(tasklet);
}

void Printer::assign(const sdfg::TaskletView& tasklet) {
  for (const sdfg::Memlet* read : tasklet.inputs) prefetch(*read);
  const sdfg::ScalarExpr& code = tasklet.tasklet->code;
  std::vector<Text> inputs;
  for (const sdfg::Memlet* read : tasklet.inputs) inputs.push_back(expressions.element(*read));
  Text value = expressions.scalar(code, inputs);
  const bool several = tasklet.outputs.size() > 1;
  if (several) {
    out.open("");
    const std::string name = expressions.names().fresh("value");
    out.line("const " + std::string(sdfg::info(code.type).cpp) + " " + name + " = " + value.text + ";");
    value = {name};
  }
  for (const sdfg::Memlet* memlet : tasklet.outputs) {
    const Text element = expressions.element(*memlet);
    const auto stored = [&]() -> Text {
      if (!memlet->combine) return value;
      const auto fused = several ? std::nullopt : expressions.fused_update(*memlet->combine, code, inputs, element);
      return fused ? *fused : expressions.combined(*memlet->combine, code.type, element, value);
    };
    out.line(element.text + " = " + stored().text + ";");
  }
  if (several) out.close();
}

void Printer::declare(const std::string& owner, const std::set<std::string>& except) {
  for (const Transient& t : transients_) {
    if (t.owner != owner || except.contains(t.container) || (t.heap && !t.per_thread)) continue;
    const sdfg::Container& c = expressions.container(t.container);
    const std::string type(sdfg::info(c.type).cpp);
    const std::string& name = expressions.names().of(c.name);
    const std::string unused = used_.contains(c.name) ? "" : "[[maybe_unused]] ";
    if (c.shape.empty() && c.storage == sdfg::Storage::device_shared) {
      out.line("SOUS_SHARED_VALUE(" + type + ", " + name + ");");
    } else if (c.shape.empty()) {
      // The value is never seen: it tells the compiler's flow analysis what the IR's check knows.
      out.line(unused + type + " " + name + " = 0;");
    } else if (!t.heap) {
      const std::int64_t elements = std::max<std::int64_t>(1, *t.elements.constant());
      if (c.storage == sdfg::Storage::device_shared) {
        out.line("SOUS_SHARED(" + type + ", " + name + ", " + std::to_string(elements) + ");");
        continue;
      }
      out.line(unused + "alignas(64) " + type + " " + name + "[" + std::to_string(elements) + "];");
    } else {
      out.line(unused + type + "* const " + name + " = " + expressions.use(c.name + ".all") + " + " +
               (planted(Fault::thread_copies_shared) ? "0" : "sous::thread()") + " * " +
               expressions.use(c.name + ".size") + ";");
    }
  }
}

void Printer::prefetch(const sdfg::Memlet& read) {
  for (const sdfg::Memlet& later : expressions.ahead(read))
    out.line("__builtin_prefetch(&" + expressions.element(later).text + ");");
}

std::string Printer::bound(const Expr& e, const std::string& name) {
  std::string text = expressions.index(e).text;
  if (is_cheap(e)) return text;
  const std::string variable = expressions.names().fresh(name);
  out.line("const int64_t " + variable + " = " + text + ";");
  return variable;
}

std::string Printer::condition(const std::string& variable, const sdfg::Loop& loop, const std::string& end) {
  return variable + (loop.step > 0 ? " < " : " > ") + end;
}

std::string Printer::advance(const std::string& variable, std::int64_t step) {
  if (step == 1) return "++" + variable;
  if (step == -1) return "--" + variable;
  return step > 0 ? variable + " += " + std::to_string(step)
                  : variable + " -= " + std::to_string(-static_cast<__int128>(step) > INT64_MAX ? INT64_MAX : -step);
}

// How many iterations the loop has whose first one depends on others, if they are few: compilers, to which sums of
// integers wrap, do not see from `j + 7` that `j` to there are seven, and write out (and make vectors around) only what
// they can count.
static std::optional<std::int64_t> few_from_elsewhere(const sdfg::Loop& loop) {
  constexpr std::int64_t few = 64;
  const auto distance = (loop.end - loop.begin).constant();
  if (!distance || loop.step != 1 || loop.begin.constant() || !loop.begin.reads().empty()) return std::nullopt;
  return *distance > 1 && *distance <= few ? distance : std::nullopt;
}

void Printer::plain_loop(const sdfg::Loop& loop, const std::string& pragma) {
  const std::string variable = expressions.names().of(loop.symbol);
  if (const auto count = few_from_elsewhere(loop); count && !expressions.on_device) {
    const std::string counter = expressions.names().fresh(variable + "_n");
    const std::string first = bound(loop.begin, variable + "_begin");
    if (!pragma.empty()) out.line(pragma);
    out.open("for (int64_t " + counter + " = 0; " + counter + " < " +
             std::to_string(*count - (planted(Fault::counted_one_short) ? 1 : 0)) + "; ++" + counter + ")");
    out.line("const int64_t " + variable + " = " + first + " + " + counter + ";");
    body(loop);
    return out.close();
  }
  const std::string end = bound(loop.end, variable + "_end");
  const std::string begin = expressions.index(loop.begin).text;
  // Compilers that see a loop keep in registers what all of its iterations read.
  if (expressions.on_device && sdfg::most_trips(loop) == 1) {
    out.open("if (const int64_t " + variable + " = " + begin + "; " + condition(variable, loop, end) + ")");
    body(loop);
    return out.close();
  }
  if (!pragma.empty()) out.line(pragma);
  out.open("for (int64_t " + variable + " = " + begin + "; " + condition(variable, loop, end) + "; " +
           advance(variable, loop.step) + ")");
  body(loop);
  out.close();
}

void Printer::not_followed(const sdfg::Loop& loop, const std::string& why) const {
  auto* list = options_.unfollowed;
  if (list == nullptr) return;
  Unfollowed entry{loop.symbol, std::holds_alternative<sdfg::Parallel>(loop.schedule), why};
  if (std::ranges::find(*list, entry) == list->end()) list->push_back(std::move(entry));
}

void Printer::body(const sdfg::Loop& loop) {
  expressions.enter(loop);
  if (body_instead) {
    body_instead(loop);
  } else {
    declare(loop.symbol);
    region(loop.body);
  }
  expressions.leave(loop);
}

void Printer::loop(const sdfg::Loop& loop) {
  const auto known = options_.lines.loops.find(loop.symbol);
  const int around = out.source_line;
  // Where loops were interchanged, the inner one keeps the line of the one that was: the statements stand there.
  if (around > 0 && known != options_.lines.loops.end()) out.source_line = std::max(around, known->second);
  scheduled(loop);
  out.source_line = around;
}

// How many statements the loop's iterations are, one after the other; nullopt: nobody knows, or they are many.
static std::optional<std::int64_t> statements_of(const sdfg::Loop& loop);
// Those of one iteration.
static std::optional<std::int64_t> statements_in(const sdfg::Region& body) {
  std::int64_t all = 0;
  for (const sdfg::Node& n : body.nodes) {
    const auto* inner = std::get_if<sdfg::Loop>(&n.value);
    if (inner == nullptr && !std::holds_alternative<sdfg::State>(n.value)) return std::nullopt;
    const auto more = inner != nullptr ? statements_of(*inner) : std::optional<std::int64_t>(1);
    if (!more) return std::nullopt;
    all += *more;
  }
  return all;
}
static std::optional<std::int64_t> statements_of(const sdfg::Loop& loop) {
  constexpr std::int64_t many = 512;
  const auto trips = sdfg::most_trips(loop);
  if (!trips || loop.end - loop.begin != Expr(*trips * loop.step)) return std::nullopt;
  const auto each = statements_in(loop.body);
  return each && *trips <= many && *each * *trips <= many ? std::optional(*each * *trips) : std::nullopt;
}

// Whether a loop in a kernel is written out: subscripts become constants, and loads for one iteration stand beside the
// arithmetic of another.
static bool is_short(const sdfg::Loop& loop) {
  constexpr std::int64_t most = 16;
  return statements_of(loop) && sdfg::most_trips(loop) <= most;
}

// What stands ahead of a loop of a kernel: how far it is written out. (Compilers do so themselves with small bodies.)
static std::string written_out_by(const sdfg::Loop& loop) {
  constexpr std::int64_t at_a_time = 16, few = 4, tile = 32;
  if (is_short(loop)) return "SOUS_UNROLLED";
  const auto statements = statements_in(loop.body);
  if (!statements) return "";
  if (statements_of(loop) && *statements <= few && *sdfg::most_trips(loop) % at_a_time == 0) return "SOUS_UNROLLED_16";
  return *statements > few && *statements <= tile ? "SOUS_UNROLLED_4" : "";
}

void Printer::scheduled(const sdfg::Loop& loop) {
  if (loop_instead && loop_instead(loop)) return;
  match(
      loop.schedule,
      [&](const sdfg::Sequential&) {
        if (dialect_.around_simd != nullptr && dialect_.around_simd(*this, loop)) return;
        plain_loop(loop, expressions.on_device ? written_out_by(loop) : "");
      },
      [&](const sdfg::Parallel& parallel) {
        if (dialect_.target.has_threads() && !in_parallel) return print_parallel(*this, loop, parallel);
        not_followed(loop, in_parallel ? "a loop around it runs on threads" : "the target has no threads");
        plain_loop(loop);
      },
      [&](const sdfg::Simd&) {
        if (!dialect_.target.follows.contains(loop.schedule)) {
          not_followed(loop, "the target has no vectors");
          // What lanes hold in vectors, a thread of a device holds in registers, if no subscript remains.
          const auto trips = sdfg::most_trips(loop);
          if (expressions.on_device && trips && (loop.end - loop.begin) == Expr(*trips * loop.step) && *trips > 1)
            return unrolled(loop, *trips);
          return plain_loop(loop, expressions.on_device ? "SOUS_UNROLLED" : "");
        }
        if (const auto reason = dialect_.simd(*this, loop)) {
          out.line("// Not as vectors: " + *reason + ".");
          not_followed(loop, *reason);
          plain_loop(loop);
        }
      },
      [&](const sdfg::Unroll& unroll) { unrolled(loop, unroll.factor); },
      // The others' targets let none of these through.
      [&](const sdfg::GpuGrid&) { dialect_.gpu(*this, loop); },
      [&](const sdfg::GpuBlock&) { dialect_.gpu(*this, loop); });
}

// Real copies of the body: pragmas are only hints, and differ from compiler to compiler.
void Printer::unrolled(const sdfg::Loop& loop, std::int64_t factor) {
  factor = std::clamp<std::int64_t>(factor, 1, 64);
  std::int64_t reach = 0;  // from the first to the last copy
  if (factor == 1 || __builtin_mul_overflow(factor, loop.step, &reach)) return plain_loop(loop);
  reach -= loop.step;
  const auto copies = [&](const Expr& first, std::int64_t count) {
    for (std::int64_t k = 0; k < count; ++k) {
      out.open("");
      sdfg::Loop copy = loop;
      copy.body = sdfg::substitute(loop.body, {{loop.symbol, first + Expr(k * loop.step)}});
      body(copy);
      out.close();
    }
  };
  const auto distance = (loop.end - loop.begin).constant();
  std::optional<std::int64_t> trips;
  if (distance) trips = Expr::ceil_div(loop.step > 0 ? *distance : -*distance, std::abs(loop.step)).constant();
  if (trips && *trips <= 0) return plain_loop(loop);
  if (trips && *trips <= factor && loop.begin.reads().empty()) return copies(loop.begin, *trips);
  const std::string variable = expressions.names().of(loop.symbol);
  const Expr symbol = Expr::symbol(loop.symbol);
  out.open("");
  const std::string end = bound(loop.end, variable + "_end");
  out.line("int64_t " + variable + " = " + expressions.index(loop.begin).text + ";");
  const std::string last = variable + (reach > 0 ? " + " : " - ") + std::to_string(std::abs(reach));
  out.open("for (; " + condition(last, loop, end) + "; " + advance(variable, reach + loop.step) + ")");
  copies(symbol, factor);
  out.close();
  if ((!trips || *trips % factor != 0) && !planted(Fault::unroll_remainder_lost)) {
    out.open("for (; " + condition(variable, loop, end) + "; " + advance(variable, loop.step) + ")");
    body(loop);
    out.close();
  }
  out.close();
}

}  // namespace sous::targets
