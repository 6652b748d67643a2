// The body of a vector loop: its temporaries, inner loops, conditions and statements.
#include <algorithm>

#include "sdfg/planted_fault.h"
#include "targets/highway/vector_loop.h"

namespace sous::targets {

using sdfg::ElementType;

namespace {

// Arrays of vectors, for temporaries of a lane: more than the registers hold is not faster than memory.
constexpr std::int64_t max_vector_array = 64;

}  // namespace

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
  for (const sdfg::Node& n : region.nodes)
    if (!failure) node(n);
}

void VectorLoop::node(const sdfg::Node& node) {
  match(
      node.value, [&](const sdfg::State& s) { state(s); },
      [&](const sdfg::Loop& l) {
        if (differs(l.begin) || differs(l.end)) {
          return fail("the bounds of the loop over " + l.symbol + " differ from lane to lane");
        }
        const auto* unroll = std::get_if<sdfg::Unroll>(&l.schedule);
        if (const auto reads = transposable(l); !reads.empty()) {
          transposed_loop(l, reads);
        } else if (unroll != nullptr) {
          printer_.unrolled(l, unroll->factor);
        } else {
          printer_.plain_loop(l);
        }
      },
      [&](const sdfg::If& i) { branch(i); }, [&](const sdfg::While& w) { repeat(w); });
}

void VectorLoop::branch(const sdfg::If& branch) {
  const Value condition = evaluate(branch.condition);
  if (failure) return;
  Lines& out = printer_.out;
  ++nesting_;
  if (condition.kind == Value::Kind::Uniform) {
    out.open("if (" + condition.text.text + ")");
    region(branch.then_body);
    if (!branch.else_body.nodes.empty()) {
      out.otherwise();
      region(branch.else_body);
    }
    out.close();
    --nesting_;
    return;
  }
  const std::string d = mask_tag();
  const std::string holds = names_.fresh("holds");
  out.line("const auto " + holds + " = " + mask(condition, mask_type()) + ";");
  const std::string outer_mask = mask_, outer_free = free_mask_;
  const bool outer_conditional = conditional_;
  conditional_ = true;
  const auto within = [&](const std::string& outer, bool otherwise) {
    if (!otherwise || planted(Fault::else_mask_swapped))
      return outer.empty() ? holds : "hn::And(" + outer + ", " + holds + ")";
    return outer.empty() ? "hn::Not(" + holds + ")" : "hn::AndNot(" + holds + ", " + outer + ")";
  };
  const auto arm = [&](const sdfg::Region& body, bool otherwise) {
    if (body.nodes.empty()) return;
    mask_ = names_.fresh("active");
    out.line("const auto " + mask_ + " = " + within(outer_mask, otherwise) + ";");
    // Without an active lane, what all lanes share must not be loaded either.
    out.open("if (!hn::AllFalse(" + d + ", " + mask_ + "))");
    if (!free_.empty()) {
      free_mask_ = names_.fresh("chosen");
      out.line("[[maybe_unused]] const auto " + free_mask_ + " = " + within(outer_free, otherwise) + ";");
    }
    region(body);
    out.close();
    mask_ = outer_mask;
    free_mask_ = outer_free;
  };
  arm(branch.then_body, false);
  arm(branch.else_body, true);
  conditional_ = outer_conditional;
  --nesting_;
}

void VectorLoop::state(const sdfg::State& state) {
  for (const sdfg::TaskletView& tasklet : sdfg::tasklets(state)) {
    statement(tasklet);
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

}  // namespace sous::targets
