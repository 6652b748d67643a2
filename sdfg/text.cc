#include "sdfg/text.h"

#include <array>
#include <map>
#include <utility>

#include "sdfg/scalar_text.h"
#include "sdfg/text_internal.h"
#include "sdfg/text_parser.h"

namespace sous::sdfg {
namespace {

constexpr std::size_t max_text = std::size_t{1} << 20;

std::string list(const std::vector<Expr>& exprs) {
  std::string text;
  for (const Expr& e : exprs) text += (text.empty() ? "" : ", ") + expr_text(e);
  return text;
}

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& n : names) text += (text.empty() ? "" : ", ") + quote_name(n);
  return text;
}

std::string memlet_list(const std::vector<Memlet>& memlets) {
  std::string text;
  for (const Memlet& m : memlets) text += (text.empty() ? "" : ", ") + memlet_text(m);
  return text;
}

// The types of containers, by name: the first declaration counts.
class Types {
 public:
  explicit Types(const Sdfg& sdfg) {
    for (const Container& c : sdfg.containers) types_.emplace(c.name, c.type);
  }
  std::optional<ElementType> of(const std::string& container) const {
    const auto it = types_.find(container);
    return it == types_.end() ? std::nullopt : std::optional(it->second);
  }

 private:
  std::map<std::string, ElementType> types_;
};

// Prints one scalar expression; how an input leaf is written is the caller's.
class ScalarPrinter {
 public:
  using Leaf = std::function<std::string(const ScalarExpr&)>;
  explicit ScalarPrinter(Leaf leaf) : leaf_(std::move(leaf)) {}

  // `least`: an infix operator that binds weaker is put in parentheses.
  std::string print(const ScalarExpr& e, int least = 1) const {
    switch (info(e.op).form) {
      case OpForm::Leaf:
        return leaf(e);
      case OpForm::Prefix:
      case OpForm::Infix:
      case OpForm::Call:
        break;
    }
    const std::string type(info(e.type).name);
    if (e.op == ScalarOp::cast) return type + "(" + print(e.args[0]) + ")";
    if (natural_type(e.op, e.args) != e.type) return "typed(" + type + ", " + operation(e, 1) + ")";
    return operation(e, least);
  }

 private:
  std::string leaf(const ScalarExpr& e) const {
    if (e.op == ScalarOp::input) return leaf_(e);
    if (e.op == ScalarOp::constant) return constant_text(e);
    return "{" + expr_text(e.symbolic) + "}" + std::string(info(e.type).name);
  }

  std::string operation(const ScalarExpr& e, int least) const {
    const std::string op(info(e.op).text);
    if (info(e.op).form == OpForm::Prefix) {
      // -(1.0) is an operation, -1.0 a constant.
      const bool plain = e.args[0].op != ScalarOp::constant && precedence(e.args[0].op) == 0;
      return op + (plain ? print(e.args[0]) : "(" + print(e.args[0]) + ")");
    }
    if (const int strength = precedence(e.op)) {
      const std::string text = print(e.args[0], strength) + " " + op + " " + print(e.args[1], strength + 1);
      return strength < least ? "(" + text + ")" : text;
    }
    std::string text;
    for (const ScalarExpr& arg : e.args) text += (text.empty() ? "" : ", ") + print(arg);
    return op + "(" + text + ")";
  }

  Leaf leaf_;
};

std::string raw_input(const ScalarExpr& leaf) {
  return "input(" + std::to_string(leaf.input) + ", " + std::string(info(leaf.type).name) + ")";
}

// Whether the parser, which numbers inputs in the order in which it meets them and takes equal ones for one, would
// give back these inputs.
bool inputs_in_place(const ScalarExpr& code, const std::vector<Memlet>& inputs, const Types& types) {
  std::map<std::string, int> known;
  bool same = true;
  code.visit([&](const ScalarExpr& e) {
    if (e.op != ScalarOp::input || !same) return;
    same = e.input >= 0 && static_cast<std::size_t>(e.input) < inputs.size();
    if (!same) return;
    const Memlet& m = inputs[static_cast<std::size_t>(e.input)];
    same = !m.combine && types.of(m.container) == e.type;
    const auto [it, added] = known.emplace(memlet_text(m), static_cast<int>(known.size()));
    same = same && it->second == e.input;
  });
  return same && known.size() == inputs.size();
}

std::string code_text(const ScalarExpr& code, const std::vector<Memlet>& inputs, const Types& types) {
  if (!inputs_in_place(code, inputs, types))
    return ScalarPrinter(raw_input).print(code) + " with (" + memlet_list(inputs) + ")";
  return ScalarPrinter([&](const ScalarExpr& e) { return memlet_text(inputs[static_cast<std::size_t>(e.input)]); })
      .print(code);
}

std::string condition_text(const Condition& c, const Types& types) { return code_text(c.code, c.inputs, types); }

std::string tasklet_text(const Tasklet& t) {
  // A connector's type is that of its first use; a use that names cannot express is written input(k, type).
  std::map<int, ElementType> types;
  std::map<std::string, int> first;
  t.code.visit([&](const ScalarExpr& e) {
    if (e.op == ScalarOp::input) types.emplace(e.input, e.type);
  });
  std::string head;
  for (std::size_t k = 0; k < t.inputs.size(); ++k) {
    const auto type = types.find(static_cast<int>(k));
    const bool typed = type != types.end() && first.emplace(t.inputs[k], static_cast<int>(k)).second;
    head += (k ? ", " : "") + quote_name(t.inputs[k]);
    if (typed) head += ": " + std::string(info(type->second).name);
  }
  const ScalarPrinter printer([&](const ScalarExpr& e) {
    const bool declared = e.input >= 0 && static_cast<std::size_t>(e.input) < t.inputs.size();
    if (!declared || types.at(e.input) != e.type) return raw_input(e);
    const std::string& name = t.inputs[static_cast<std::size_t>(e.input)];
    return first.at(name) == e.input ? quote_name(name) : raw_input(e);
  });
  return "tasklet (" + head + ") " + printer.print(t.code);
}

std::string reduction_text(ReductionOp op) {
  switch (op) {
#define X(e, text, ...) \
  case ReductionOp::e:  \
    return text;
    SOUS_REDUCTION_OPS(X)
#undef X
  }
  __builtin_unreachable();
}

class Printer {
 public:
  explicit Printer(const Sdfg& sdfg) : types_(sdfg) {}

  std::string header(const Sdfg& sdfg) {
    line("sdfg 1 " + quote_name(sdfg.name));
    if (!sdfg.symbols.empty()) line("symbols " + list(sdfg.symbols));
    for (const Container& c : sdfg.containers) line(container(c));
    if (!sdfg.arguments.empty()) line("arguments " + list(sdfg.arguments));
    for (const Expr& e : sdfg.assumptions) line("assume " + expr_text(e) + " >= 0");
    for (const auto& [a, b] : sdfg.disjoint) line("disjoint " + quote_name(a) + ", " + quote_name(b));
    return std::move(out_);
  }

  std::string region(const Region& r, int indent) {
    indent_ = indent;
    body(r);
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += std::string(static_cast<std::size_t>(2 * indent_), ' ') + text + "\n"; }

  static std::string container(const Container& c) {
    std::string text = "array " + quote_name(c.name) + ": " + std::string(info(c.type).name);
    if (!c.shape.empty()) text += "[" + list(c.shape) + "]";
    if (c.strides != row_major(c.shape)) text += " strides [" + list(c.strides) + "]";
    if (c.offset != Expr(0)) text += " offset " + expr_text(c.offset);
    text += " " + storage_text(c.storage);
    if (c.transient) text += " transient";
    if (c.constant) text += " const";
    if (c.dead) text += " dead";
    if (c.natural) text += " natural";
    if (c.alias_class != 0) text += " alias " + std::to_string(c.alias_class);
    return text;
  }

  void body(const Region& r) {
    for (const Node& n : r.nodes) node(n);
  }

  void braced(const std::string& before, const Region& r, const std::string& after = "") {
    line(before + "{");
    ++indent_;
    body(r);
    --indent_;
    line("}" + after);
  }

  void node(const Node& n) {
    match(
        n.value, [&](const State& s) { state(s); },
        [&](const Loop& l) {
          const std::string head = loop_text(l);
          if (l.body.nodes.empty()) return line(head + " {}");
          braced(head + " ", l.body);
        },
        [&](const If& i) {
          const std::string head = "if (" + condition_text(i.condition, types_) + ") ";
          if (i.else_body.nodes.empty()) return braced(head, i.then_body);
          line(head + "{");
          ++indent_;
          body(i.then_body);
          --indent_;
          braced("} else ", i.else_body);
        },
        [&](const While& w) {
          const std::string test = "while (" + condition_text(w.condition, types_) + ")";
          w.test_first ? braced(test + " ", w.body) : braced("do ", w.body, " " + test);
        });
  }

  void state(const State& s) {
    const std::string label = quote_name(s.name) + ": ";
    if (const auto a = as_assignment(s)) {
      Memlet target = a->out;
      target.combine = std::nullopt;
      const std::string op = a->out.combine ? reduction_text(*a->out.combine) + "=" : "=";
      return line(label + memlet_text(target) + " " + op + " " + code_text(a->code, a->inputs, types_));
    }
    if (s.nodes.empty() && s.edges.empty()) return line(label + "{}");
    line(label + "{");
    ++indent_;
    int index = 0;
    for (const DataflowNode& n : s.nodes) line("n" + std::to_string(index++) + " = " + dataflow_text(n));
    for (const Edge& e : s.edges)
      line("n" + std::to_string(e.source) + " -> n" + std::to_string(e.target) + " as " + quote_name(e.connector) +
           ": " + memlet_text(e.memlet));
    --indent_;
    line("}");
  }

  Types types_;
  std::string out_;
  int indent_ = 0;
};

}  // namespace

std::string expr_text(const Expr& e) { return e.is_valid() ? e.to_string() : "!overflow"; }

std::string storage_text(Storage storage) {
  switch (storage) {
#define X(e, text) \
  case Storage::e: \
    return text;
    SOUS_STORAGES(X)
#undef X
  }
  __builtin_unreachable();
}

std::string memlet_text(const Memlet& m) {
  std::string text;
  for (const Expr& e : m.subset) text += (text.empty() ? "" : ", ") + expr_text(e);
  text = quote_name(m.container) + "[" + text + "]";
  return m.combine ? text + " combine " + reduction_text(*m.combine) : text;
}

std::string dataflow_text(const DataflowNode& node) {
  return match(
      node, [](const AccessNode& a) { return "access " + quote_name(a.container); },
      [](const Tasklet& t) { return tasklet_text(t); });
}

std::string schedule_text(const Schedule& schedule) {
  auto with = [](const std::string& name, std::initializer_list<std::pair<bool, std::string>> parameters) {
    std::string text;
    for (const auto& [given, parameter] : parameters)
      if (given) text += (text.empty() ? "" : ", ") + parameter;
    return text.empty() ? name : name + "(" + text + ")";
  };
  return match(
      schedule, [](const Sequential&) { return std::string(); },
      [&](const Parallel& p) {
        return with("parallel", {{p.threads != 0, "threads=" + std::to_string(p.threads)},
                                 {p.chunk != 0, "chunk=" + std::to_string(p.chunk)},
                                 {p.kind == ParallelKind::Dynamic, "dynamic"}});
      },
      [&](const Simd& s) { return with("simd", {{s.lanes != 0, "lanes=" + std::to_string(s.lanes)}}); },
      [&](const Unroll& u) { return with("unroll", {{true, "factor=" + std::to_string(u.factor)}}); },
      [&](const GpuGrid& g) { return with("gpu_grid", {{true, "dimension=" + std::to_string(g.dimension)}}); },
      [&](const GpuBlock& b) { return with("gpu_block", {{true, "dimension=" + std::to_string(b.dimension)}}); });
}

std::string loop_text(const Loop& loop) {
  std::string text = "loop " + quote_name(loop.symbol) + " = " + expr_text(loop.begin) + " .. " + expr_text(loop.end);
  if (loop.step != 1) text += " step " + std::to_string(loop.step);
  if (const std::string schedule = schedule_text(loop.schedule); !schedule.empty()) text += " " + schedule;
  if (!loop.privates.empty()) text += " private(" + list(loop.privates) + ")";
  std::string reductions;
  for (const Reduction& r : loop.reductions)
    reductions += (reductions.empty() ? "" : ", ") + reduction_text(r.op) + ": " + quote_name(r.container);
  if (!reductions.empty()) text += " reduce(" + reductions + ")";
  return loop.prefetch == 0 ? text : text + " prefetch(" + std::to_string(loop.prefetch) + ")";
}

std::string condition_text(const Condition& condition, const Sdfg& context) {
  return condition_text(condition, Types(context));
}

std::string print(const Sdfg& sdfg) {
  return Printer(sdfg).header(sdfg) + (sdfg.root.nodes.empty() ? "" : "\n" + print(sdfg.root, sdfg));
}

std::string print(const Region& region, const Sdfg& context, int indent) {
  return Printer(context).region(region, indent);
}

Result<Sdfg> parse(std::string_view text, std::string_view file) {
  const Source source{.text = text, .file = file};
  if (text.size() > max_text)
    return fail("sdfg.text.size", "more than " + std::to_string(max_text) + " bytes of text", std::string(file));
  TRY(std::vector<Token> tokens, tokenize(source));
  return Parser(source, std::move(tokens)).whole();
}

Result<Expr> parse_expr(std::string_view text, std::size_t& work) {
  const Source source{.text = text, .file = "<expression>"};
  if (text.size() > max_text) return fail("sdfg.text.size", "more than " + std::to_string(max_text) + " bytes of text");
  TRY(std::vector<Token> tokens, tokenize(source));
  return Parser(source, std::move(tokens)).whole_expr(work);
}

Result<Expr> parse_expr(std::string_view text) {
  std::size_t work = 0;
  return parse_expr(text, work);
}

}  // namespace sous::sdfg
