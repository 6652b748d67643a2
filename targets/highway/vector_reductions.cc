// Declared reductions of a vector loop.
#include "targets/highway/vector_loop.h"
#include "targets/openmp/reductions.h"

namespace sous::targets {

using sdfg::ElementType;

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

// Reductions into one element: vectors of partial results, combined after the loop.
void VectorLoop::prepare_accumulators() {
  const int copies = is_straight() && columns_ == nullptr ? wide_copies : 1;
  for (const auto& [container, op] : reductions_) {
    const auto place = single_place(loop_, container);
    if (!place || variables_.contains(container)) continue;
    const sdfg::Container& c = expressions_.container(container);
    if (c.type == ElementType::boolean) return fail("a reduction of booleans");
    if (sdfg::info(c.type).bytes < 4) need(Vectors::All);
    const std::string d = tag(c.type);
    const bool perhaps = !expressions_.locals.contains(container) && !always_writes(loop_.body, container);
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
        start =
            "hn::Set(" + d + ", " + (perhaps ? neutral_element(op, c.type) : expressions_.element(*place).text) + ")";
        break;
    }
    Accumulator accumulator{*place, op, {}, perhaps};
    for (int copy = 0; copy < copies; ++copy) {
      accumulator.names.push_back(names_.fresh(names_.of(container) + "_v"));
      printer_.out.line("auto " + accumulator.names.back() + " = " + start + ";");
    }
    needs_guard_ = true;
    variables_[container] = {.name = accumulator.names[0], .type = c.type, .array = false, .accumulator = true};
    accumulators_.push_back(std::move(accumulator));
  }
}

// The copies' partial results into the first one's, pairs before pairs of pairs.
void VectorLoop::join_accumulators() {
  for (const Accumulator& a : accumulators_) {
    const ElementType type = variables_.at(a.place.container).type;
    std::vector<Value> values;
    for (const std::string& name : a.names) values.push_back(vector_value(name, type));
    const auto code = combination(a.op, sdfg::ScalarExpr::make_input(0, type), sdfg::ScalarExpr::make_input(1, type));
    for (std::size_t half = values.size() / 2; half > 0; half /= 2) {
      for (std::size_t k = 0; k < half; ++k) {
        values[k].text = evaluate(code, {values[k], values[k + half]}).text;
        printer_.out.line(a.names[k] + " = " + values[k].text.text + ";");
        values[k].text = {a.names[k]};
      }
    }
  }
}

void VectorLoop::finish_accumulators() {
  for (const Accumulator& a : accumulators_) {
    const ElementType type = expressions_.container(a.place.container).type;
    const std::string cpp = value_type(type);
    const std::string reduced = "sous::reduce(" + tag(type) + ", " + a.names[0] + ", [](" + cpp + " x, " + cpp +
                                " y) { return " + cpp + "(" + expressions_.combined(a.op, type, {"x"}, {"y"}).text +
                                "); })";
    const Text element = expressions_.element(a.place);
    Text value{reduced};
    if (a.perhaps) {
      value.text = names_.fresh("reduced");
      printer_.out.line("const " + cpp + " " + value.text + " = " + reduced + ";");
      printer_.out.open("if (" + changes(a.op, type, value.text) + ")");
    }
    printer_.out.line(element.text + " = " + expressions_.combined(a.op, type, element, value).text + ";");
    if (a.perhaps) printer_.out.close();
  }
}

// A declared reduction into elements that change while the loop runs: the lanes are combined at once. Says whether it
// was one (or failed).
bool VectorLoop::reduce_store(const sdfg::TaskletView& tasklet) {
  const sdfg::Memlet& out = *tasklet.outputs[0];
  const auto reduction = reductions_.find(out.container);
  if (reduction == reductions_.end() || variables_.contains(out.container) || distinct(out)) return false;
  const sdfg::ScalarExpr& code = tasklet.tasklet->code;
  const sdfg::ReductionOp op = reduction->second;
  // What is combined into the element: the code itself, or the side of `element op side` that is not the element.
  std::optional<sdfg::ScalarExpr> added;
  if (out.combine == op) added = code;
  if (!out.combine && code.args.size() == 2) {
    const auto is_element = [&](const sdfg::ScalarExpr& e) {
      if (e.op != sdfg::ScalarOp::input) return false;
      const sdfg::Memlet& in = *tasklet.inputs[static_cast<std::size_t>(e.input)];
      return in.container == out.container && in.subset == out.subset;
    };
    const auto uses_element = [&](const sdfg::ScalarExpr& e) {
      bool found = false;
      e.visit([&](const sdfg::ScalarExpr& leaf) { found = found || is_element(leaf); });
      return found;
    };
    sdfg::ScalarOp wanted = sdfg::ScalarOp::add;
    switch (op) {
#define X(e, text, scalar)           \
  case sdfg::ReductionOp::e:         \
    wanted = sdfg::ScalarOp::scalar; \
    break;
      SOUS_REDUCTION_OPS(X)
#undef X
    }
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      const sdfg::ScalarExpr& other = code.args[1 - k];
      if (code.op == wanted && is_element(code.args[k]) && !uses_element(other)) added = other;
    }
  }
  if (!added || tasklet.outputs.size() != 1 || expressions_.container(out.container).type == ElementType::boolean) {
    fail("an update of " + out.container + " that is not a plain reduction");
    return true;
  }
  std::vector<Value> inputs;
  for (const sdfg::Memlet* memlet : tasklet.inputs) {
    const bool is_element = memlet->container == out.container && memlet->subset == out.subset;
    inputs.push_back(is_element ? Value{} : load(*memlet));
    if (failure) return true;
  }
  const Value value = evaluate(*added, inputs);
  if (failure) return true;
  const ElementType type = expressions_.container(out.container).type;
  const std::string d = tag(type), cpp = value_type(type);
  if (access(out).kind != Access::Kind::Uniform) {
    store({out.container, out.subset, op}, value);
    return true;
  }
  const Text element = expressions_.element(out);
  std::string text = vector(value, type);
  if (!mask_.empty()) {
    // Inactive lanes add nothing.
    std::string nothing = "hn::Zero(" + d + ")";
    if (op == sdfg::ReductionOp::sum && sdfg::is_float(type))
      nothing = "hn::Set(" + d + ", static_cast<" + cpp + ">(-0.0))";
    if (op == sdfg::ReductionOp::product) nothing = "hn::Set(" + d + ", static_cast<" + cpp + ">(1))";
    if (op == sdfg::ReductionOp::min || op == sdfg::ReductionOp::max || op == sdfg::ReductionOp::bit_and ||
        op == sdfg::ReductionOp::bit_or) {
      nothing = "hn::Set(" + d + ", " + element.text + ")";
    }
    text = "hn::IfThenElse(" + active(type) + ", " + text + ", " + nothing + ")";
  }
  const Text reduced{"sous::reduce(" + d + ", " + text + ", [](" + cpp + " x, " + cpp + " y) { return " +
                     value_type(type) + "(" + expressions_.combined(op, type, {"x"}, {"y"}).text + "); })"};
  printer_.out.line(element.text + " = " + expressions_.combined(op, type, element, reduced).text + ";");
  return true;
}

}  // namespace sous::targets
