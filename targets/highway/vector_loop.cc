#include "targets/highway/vector_loop.h"

#include <algorithm>
#include <bit>

#include "targets/openmp/parallel.h"

namespace sous::targets {

using sdfg::ElementType;
using sdfg::Expr;

namespace {

// Arrays of vectors, for temporaries of a lane: more than the registers hold is not faster than memory.
constexpr std::int64_t max_vector_array = 64;

// May the containers share elements?
bool may_alias(const Expressions& expressions, const std::string& a, const std::string& b) {
  if (a == b) return true;
  const sdfg::Container& x = expressions.container(a);
  const sdfg::Container& y = expressions.container(b);
  if (x.alias_class == 0 || x.alias_class != y.alias_class) return false;
  return std::ranges::none_of(expressions.sdfg().disjoint,
                              [&](const auto& pair) { return pair == std::pair(a, b) || pair == std::pair(b, a); });
}

// `accumulated op value` as an expression.
sdfg::ScalarExpr combination(sdfg::ReductionOp op, sdfg::ScalarExpr accumulated, sdfg::ScalarExpr value) {
  using sdfg::ScalarExpr;
  using sdfg::ScalarOp;
  const bool ordered = sdfg::is_float(accumulated.type);
  switch (op) {
    case sdfg::ReductionOp::min:
      if (!ordered) return ScalarExpr::binary(ScalarOp::min, accumulated, value);
      return ScalarExpr::select(ScalarExpr::binary(ScalarOp::lt, accumulated, value), accumulated, value);
    case sdfg::ReductionOp::max:
      if (!ordered) return ScalarExpr::binary(ScalarOp::max, accumulated, value);
      return ScalarExpr::select(ScalarExpr::binary(ScalarOp::gt, accumulated, value), accumulated, value);
#define X(e, text, op)       \
  case sdfg::ReductionOp::e: \
    return ScalarExpr::binary(ScalarOp::op, std::move(accumulated), std::move(value));
      X(sum, , add)
      X(product, , mul)
      X(bit_and, , bit_and)
      X(bit_or, , bit_or)
      X(bit_xor, , bit_xor)
#undef X
  }
  __builtin_unreachable();
}

}  // namespace

VectorLoop::VectorLoop(Printer& printer, const sdfg::Loop& loop, std::optional<ElementType> widest)
    : printer_(printer),
      expressions_(printer.expressions),
      names_(printer.expressions.names()),
      loop_(loop),
      widest_(widest),
      lane_(names_.fresh("lane")),
      index_(names_.of(loop.symbol)),
      inner_{loop.symbol},
      written_(sdfg::touched(loop.body).written) {
  for (const sdfg::Reduction& r : loop.reductions) reductions_.emplace(r.container, r.op);
  sdfg::visit(loop.body, [&](const sdfg::Node& node) {
    if (const auto* l = std::get_if<sdfg::Loop>(&node.value)) inner_.insert(l->symbol);
  });
}

void VectorLoop::fail(const std::string& reason) {
  if (!failure) failure = reason;
}

bool VectorLoop::is_written(const std::string& container) const {
  return std::ranges::any_of(written_, [&](const std::string& w) { return may_alias(expressions_, container, w); });
}

bool VectorLoop::differs(const Expr& e) const {
  if (e.uses(loop_.symbol)) return true;
  return std::ranges::any_of(e.reads(), [&](const std::string& read) { return variables_.contains(read); });
}

bool VectorLoop::is_invariant(const Expr& e) const {
  return std::ranges::none_of(e.symbols(), [&](const std::string& s) { return inner_.contains(s); }) &&
         std::ranges::none_of(e.reads(), [&](const std::string& read) { return is_written(read); });
}

std::string VectorLoop::tag(ElementType type) {
  if (type == ElementType::boolean) type = ElementType::u8;
  types.insert(type);
  const auto found = tag_names_.find(type);
  if (found != tag_names_.end()) return found->second;
  return tag_names_.emplace(type, names_.fresh("d_" + std::string(sdfg::info(type).name))).first->second;
}

std::string VectorLoop::mask_tag() { return widest_ ? tag(*widest_) : "d"; }

// Declarations of the tags that the body uses: the widest type fills a register, the others have as many lanes.
std::string VectorLoop::tags() const {
  const int lanes = std::get<sdfg::Simd>(loop_.schedule).lanes;
  const std::string& widest = tag_names_.at(*widest_);
  const std::string cpp(sdfg::info(*widest_).cpp);
  std::string text = "const hn::";
  text += lanes > 0 ? "CappedTag<" + cpp + ", " + std::to_string(std::bit_floor(static_cast<unsigned>(lanes))) + "> "
                    : "ScalableTag<" + cpp + "> ";
  text += widest + ";";
  for (const auto& [type, name] : tag_names_) {
    if (type == *widest_) continue;
    text += "\nconst hn::Rebind<" + std::string(sdfg::info(type).cpp) + ", decltype(" + widest + ")> " + name + ";";
  }
  return text;
}

void VectorLoop::print() {
  Lines& out = printer_.out;
  const Lines saved = out;
  const int depth = saved.depth() + 1;
  const auto outer_instead = printer_.body_instead;
  printer_.body_instead = [this](const sdfg::Loop& inner) {
    ++nesting_;
    body(inner);
    --nesting_;
  };
  expressions_.enter(loop_);

  before_.set_depth(depth);
  const std::string end_name = names_.fresh(index_ + "_end");
  const std::string lanes = names_.fresh("lanes");
  const std::string main_tag = mask_tag();
  out = Lines();
  out.set_depth(depth + 1);
  const std::string accumulators = prepare_accumulators();
  // The two passes are blocks of their own: they use the same names.
  const Names common = names_;
  pass(false);
  const std::string main_body = out.text();
  out = Lines();
  out.set_depth(depth + 1);
  names_ = common;
  for (const auto& [text, name] : hoisted_) names_.reserve(name);
  mask_ = names_.fresh("rest");
  pass(true);
  const std::string rest_body = out.text();
  out = Lines();
  out.set_depth(depth);
  const std::string rest = std::exchange(mask_, "");
  finish_accumulators();
  const std::string finish = out.text();

  out = saved;
  if (!failure && widest_) {
    const std::string begin = expressions_.index(loop_.begin).text;
    const std::string end = expressions_.index(loop_.end).text;
    const std::int64_t step = loop_.step;
    // Whatever was loaded ahead of the loop is loaded only if the loop runs.
    out.open(needs_guard_ ? "if (" + begin + (step > 0 ? " < " : " > ") + end + ")" : "");
    const std::string all_tags = tags();
    std::string_view declarations = all_tags;
    while (!declarations.empty()) {
      const std::size_t at = std::min(declarations.find('\n'), declarations.size());
      out.line(declarations.substr(0, at));
      declarations.remove_prefix(std::min(at + 1, declarations.size()));
    }
    out.line("const int64_t " + lanes + " = static_cast<int64_t>(hn::Lanes(" + main_tag + "));");
    out.line("const int64_t " + end_name + " = " + end + ";");
    out.append(before_.text());
    out.append(accumulators);
    out.line("int64_t " + index_ + " = " + begin + ";");
    const auto scaled = [&](const std::string& count) {
      const std::int64_t size = std::abs(step);
      return size == 1 ? count : count + " * " + std::to_string(size);
    };
    const std::string op = step > 0 ? " + " : " - ", compare = step > 0 ? " < " : " > ";
    const std::string last = step == 1 ? lanes + " - 1" : scaled("(" + lanes + " - 1)");
    out.open("for (; " + index_ + op + last + compare + end_name + "; " + index_ + (step > 0 ? " += " : " -= ") +
             scaled(lanes) + ")");
    out.append(main_body);
    out.close();
    out.open("if (" + index_ + compare + end_name + ")");
    std::string left = step > 0 ? end_name + " - " + index_ : index_ + " - " + end_name;
    const std::int64_t size = std::abs(step);
    if (size != 1) left = "(" + left + " + " + std::to_string(size - 1) + ") / " + std::to_string(size);
    out.line("const auto " + rest + " = hn::FirstN(" + main_tag + ", static_cast<size_t>(" + left + "));");
    out.append(rest_body);
    out.close();
    out.append(finish);
    out.close();
  }
  expressions_.leave(loop_);
  printer_.body_instead = outer_instead;
}

void VectorLoop::pass(bool masked) {
  if (!masked) mask_.clear();
  const auto outside = variables_;
  body(loop_);
  variables_ = outside;
}

// The loop's own body or an inner loop's.
void VectorLoop::body(const sdfg::Loop& loop) {
  if (&loop != &loop_ && (differs(loop.begin) || differs(loop.end))) {
    fail("the bounds of the loop over " + loop.symbol + " differ from lane to lane");
  }
  const auto outside = variables_;
  declare(loop.symbol);
  region(loop.body);
  variables_ = outside;
}

// Temporaries of an iteration: one value for each lane.
void VectorLoop::declare(const std::string& owner) {
  for (const Transient& t : printer_.transients()) {
    if (t.owner != owner) continue;
    const sdfg::Container& c = expressions_.container(t.container);
    Variable variable{.name = names_.fresh(names_.of(c.name) + "_v"), .type = c.type, .array = !c.shape.empty()};
    if (variable.array) {
      const std::int64_t elements =
          t.heap ? max_vector_array + 1 : t.elements.constant().value_or(max_vector_array + 1);
      if (elements > max_vector_array || c.type == ElementType::boolean) {
        return fail("the private array " + c.name + " is too large for registers");
      }
      printer_.out.line("hn::Vec<decltype(" + tag(c.type) + ")> " + variable.name + "[" +
                        std::to_string(std::max<std::int64_t>(1, elements)) + "];");
    } else if (c.type == ElementType::boolean) {
      printer_.out.line("[[maybe_unused]] auto " + variable.name + " = sous::mask_of(" + mask_tag() + ", false);");
    } else {
      printer_.out.line("[[maybe_unused]] auto " + variable.name + " = hn::Zero(" + tag(c.type) + ");");
    }
    variables_[c.name] = variable;
  }
}

void VectorLoop::region(const sdfg::Region& region) {
  for (const sdfg::Node& node : region.nodes) {
    if (failure) return;
    match(
        node.value, [&](const sdfg::State& s) { state(s); },
        [&](const sdfg::Loop& l) {
          if (differs(l.begin) || differs(l.end)) {
            return fail("the bounds of the loop over " + l.symbol + " differ from lane to lane");
          }
          const auto* unroll = std::get_if<sdfg::Unroll>(&l.schedule);
          if (unroll != nullptr) {
            printer_.unrolled(l, unroll->factor);
          } else {
            printer_.plain_loop(l);
          }
        },
        [&](const sdfg::If& i) { branch(i); },
        [&](const sdfg::While&) { fail("a while loop runs a different number of times in each lane"); },
        [&](const sdfg::Return&) { fail("a return leaves the loop"); });
  }
}

void VectorLoop::branch(const sdfg::If& branch) {
  std::vector<Value> inputs;
  for (const sdfg::Memlet& memlet : branch.condition.inputs) inputs.push_back(load(memlet));
  const Value condition = evaluate(branch.condition.code, inputs);
  if (failure) return;
  Lines& out = printer_.out;
  ++nesting_;
  if (condition.kind == Value::Kind::Uniform) {
    out.open("if (" + condition.text.text + ")");
    region(branch.then_body);
    if (!branch.else_body.nodes.empty()) {
      out.close(" else {");
      out.set_depth(out.depth() + 1);
      region(branch.else_body);
    }
    out.close();
    --nesting_;
    return;
  }
  const std::string d = mask_tag();
  const std::string holds = names_.fresh("holds");
  out.line("const auto " + holds + " = " + mask(condition, mask_type()) + ";");
  const std::string outer_mask = mask_;
  const bool outer_conditional = conditional_;
  conditional_ = true;
  const auto arm = [&](const sdfg::Region& body, const std::string& active) {
    if (body.nodes.empty()) return;
    const std::string name = names_.fresh("active");
    out.line("const auto " + name + " = " + active + ";");
    // Without an active lane, what all lanes share must not be loaded either.
    out.open("if (!hn::AllFalse(" + d + ", " + name + "))");
    mask_ = name;
    region(body);
    out.close();
    mask_ = outer_mask;
  };
  arm(branch.then_body, outer_mask.empty() ? holds : "hn::And(" + outer_mask + ", " + holds + ")");
  arm(branch.else_body,
      outer_mask.empty() ? "hn::Not(" + holds + ")" : "hn::AndNot(" + holds + ", " + outer_mask + ")");
  conditional_ = outer_conditional;
  --nesting_;
}

void VectorLoop::state(const sdfg::State& state) {
  for (const int k : sdfg::execution_order(state)) {
    const auto& node = state.nodes[static_cast<std::size_t>(k)];
    if (std::holds_alternative<sdfg::LibraryNode>(node)) return fail("a library node");
    if (std::holds_alternative<sdfg::Tasklet>(node)) statement(sdfg::tasklet_view(state, k));
    if (failure) return;
  }
}

void VectorLoop::statement(const sdfg::TaskletView& tasklet) {
  if (reduce_store(tasklet)) return;
  std::vector<Value> inputs;
  for (const sdfg::Memlet* memlet : tasklet.inputs) {
    inputs.push_back(load(*memlet));
    if (failure) return;
  }
  sdfg::ScalarExpr code = tasklet.tasklet->code;
  const bool single = tasklet.outputs.size() == 1;
  sdfg::Memlet first = *tasklet.outputs[0];
  // C += x is C = C + x where every lane has an element of its own.
  if (single && first.combine && (variables_.contains(first.container) || distinct(first))) {
    const sdfg::ReductionOp op = *first.combine;
    first.combine.reset();
    inputs.push_back(load(first));
    if (failure) return;
    code = combination(op, sdfg::ScalarExpr::make_input(static_cast<int>(inputs.size()) - 1, code.type), code);
  }
  Value value = evaluate(code, inputs);
  if (failure) return;
  if (!single && value.kind == Value::Kind::Vector) value.text = {named(value, "value")};
  for (const sdfg::Memlet* memlet : tasklet.outputs) {
    store(single ? first : *memlet, value);
    if (failure) return;
  }
}

// --- Reductions into one element: a vector of partial results
// ----------------------------------------------------------

std::string VectorLoop::prepare_accumulators() {
  Lines lines;
  lines.set_depth(printer_.out.depth() - 1);
  for (const auto& [container, op] : reductions_) {
    const auto place = single_place(loop_, container);
    if (!place || variables_.contains(container)) continue;
    const sdfg::Container& c = expressions_.container(container);
    if (c.type == ElementType::boolean) {
      fail("a reduction of booleans");
      continue;
    }
    const std::string d = tag(c.type);
    const std::string name = names_.fresh(names_.of(container) + "_v");
    std::string start;
    switch (op) {
      case sdfg::ReductionOp::sum:
        // -0.0 is the number that changes nothing when it is added, +0.0 turns -0.0 into itself.
        start = sdfg::is_float(c.type) ? "hn::Set(" + d + ", -0.0" + (c.type == ElementType::f32 ? "f" : "") + ")"
                                       : "hn::Zero(" + d + ")";
        break;
      case sdfg::ReductionOp::product:
        start = "hn::Set(" + d + ", static_cast<" + value_type(c.type) + ">(1))";
        break;
      case sdfg::ReductionOp::bit_xor:
        start = "hn::Zero(" + d + ")";
        break;
      case sdfg::ReductionOp::min:
      case sdfg::ReductionOp::max:
      case sdfg::ReductionOp::bit_and:
      case sdfg::ReductionOp::bit_or:
        start = "hn::Set(" + d + ", " + expressions_.element(*place).text + ")";
        break;
    }
    lines.line("auto " + name + " = " + start + ";");
    needs_guard_ = true;
    variables_[container] = {.name = name, .type = c.type, .array = false, .accumulator = true};
    accumulators_.push_back({*place, op, name});
  }
  return lines.text();
}

void VectorLoop::finish_accumulators() {
  for (const Accumulator& a : accumulators_) {
    const ElementType type = expressions_.container(a.place.container).type;
    const std::string cpp = value_type(type);
    const std::string reduced = "sous::reduce(" + tag(type) + ", " + a.name + ", [](" + cpp + " x, " + cpp +
                                " y) { return " + expressions_.combined(a.op, type, {"x"}, {"y"}).text + "; })";
    const Text element = expressions_.element(a.place);
    printer_.out.line(element.text + " = " + expressions_.combined(a.op, type, element, {reduced}).text + ";");
  }
}

std::optional<std::string> print_vector_loop(Printer& printer, const sdfg::Loop& loop) {
  if (std::get<sdfg::Simd>(loop.schedule).lanes == 1) return "one lane";
  // First for the types that it needs, then for good: names come out the same as if there had been one pass.
  const Names names = printer.expressions.names();
  const Lines out = printer.out;
  VectorLoop first(printer, loop, std::nullopt);
  first.print();
  printer.expressions.names() = names;
  printer.out = out;
  if (first.failure) return first.failure;
  if (first.types.empty()) return "nothing in it differs from lane to lane";
  ElementType widest = *first.types.begin();
  for (const ElementType type : first.types) {
    if (sdfg::info(type).bytes >= sdfg::info(widest).bytes) widest = type;
  }
  VectorLoop second(printer, loop, widest);
  second.print();
  // Its names live in its own block: the next loop may have them again.
  printer.expressions.names() = names;
  if (second.failure) printer.out = out;
  return second.failure;
}

}  // namespace sous::targets
