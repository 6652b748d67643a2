// While loops in the lanes of a vector loop: all lanes go round together, and what a lane that has ended does counts no
// more. What remains when few go on is finished lane by lane, so that loops of very different lengths take hardly
// longer than they did.
#include <algorithm>
#include <tuple>
#include <utility>

#include "sdfg/planted_fault.h"
#include "targets/highway/vector_loop.h"

namespace sous::targets {

using sdfg::ElementType;

Value VectorLoop::evaluate(const sdfg::Condition& condition) {
  std::vector<Value> inputs;
  for (const sdfg::Memlet& memlet : condition.inputs) inputs.push_back(load(memlet));
  return failure ? Value{} : evaluate(condition.code, inputs);
}

// Lanes that have ended compute on what they hold, so that those that go on wait for nothing but their own values: of
// what is looked at afterwards, the value is kept that a lane had when it ended.
void VectorLoop::repeat(const sdfg::While& loop) {
  Lines& out = printer_.out;
  ++nesting_;
  const auto outer = std::tuple(mask_, conditional_, free_, free_mask_, transposed_);
  const std::string running = names_.fresh("running");
  out.line("auto " + running + " = " + (mask_.empty() ? "sous::mask_of(" + mask_tag() + ", true)" : mask_) + ";");
  mask_ = running;
  conditional_ = true;
  const auto held = held_in_lanes(loop);
  Round round{.go_on = loop.condition, .kept = free_lanes(loop), .changed = {}};
  if (loop.test_first) narrow(round);
  load_ahead(loop);
  if (held) {
    const std::string left = names_.fresh("rounds_left");
    out.line("int " + left + " = sous::rounds_of_few;");
    out.open("while (sous::go_round(" + mask_tag() + ", " + running + ", " + left + "))");
  } else {
    out.open("while (!hn::AllFalse(" + mask_tag() + ", " + running + "))");
  }
  once_round(loop.body, round);
  narrow(round);
  out.close();
  for (const auto& [container, name] : round.kept) variables_.at(container).name = name;
  if (held && !failure && !planted(Fault::last_lanes_unfinished)) finish_lanes(loop, *held, running);
  std::tie(mask_, conditional_, free_, free_mask_, transposed_) = outer;
  --nesting_;
}

// Keeps what lanes held that have gone on so far; those go on for which the condition holds.
void VectorLoop::narrow(Round& round) {
  Lines& out = printer_.out;
  for (const auto& [container, name] : round.kept) {
    if (!round.changed.contains(container)) continue;
    const Variable& on = variables_.at(container);
    if (planted(Fault::ended_lanes_go_on))
      out.line(name + " = " + on.name + ";");
    else if (on.type == ElementType::boolean)
      out.line(name + " = sous::blend_mask<decltype(" + mask_tag() + ")>(" + mask_ + ", " + on.name + ", " + name +
               ");");
    else
      out.line(name + " = hn::IfThenElse(" + active(on.type) + ", " + on.name + ", " + name + ");");
  }
  round.changed.clear();
  if (failure) return;
  const Value again = evaluate(round.go_on);
  if (!failure) out.line(mask_ + " = hn::And(" + mask_ + ", " + mask(again, mask_type()) + ");");
}

namespace {

// Whether the region does nothing but clear the flag.
bool clears(const sdfg::Region& region, const std::string& flag) {
  const auto* state = region.nodes.size() == 1 ? std::get_if<sdfg::State>(&region.nodes[0].value) : nullptr;
  if (state == nullptr) return false;
  const auto tasklets = sdfg::tasklets(*state);
  if (tasklets.size() != 1 || tasklets[0].outputs.size() != 1) return false;
  const sdfg::ScalarExpr& value = tasklets[0].tasklet->code;
  return tasklets[0].outputs[0]->container == flag && !tasklets[0].outputs[0]->combine &&
         value.op == sdfg::ScalarOp::constant && value.integer_value() == 0;
}

}  // namespace

// The body, or the end of it. Where nothing follows but what the flag of the loop's condition guards, lanes that have
// cleared it end there: what follows needs no mask of theirs, for which it would have to wait.
void VectorLoop::once_round(const sdfg::Region& body, Round& round) {
  const bool is_flag = round.go_on.inputs.size() == 1 && round.go_on.code.op == sdfg::ScalarOp::input &&
                       free_.contains(round.go_on.inputs[0].container);
  const auto is_guarded = [&](std::size_t at) {
    const auto* branch = std::get_if<sdfg::If>(&body.nodes[at].value);
    return is_flag && branch != nullptr && branch->else_body.nodes.empty() && branch->condition == round.go_on;
  };
  const auto end_lanes = [&] {
    narrow(round);
    printer_.out.line("if (hn::AllFalse(" + mask_tag() + ", " + mask_ + ")) break;");
  };
  for (std::size_t k = 0; k < body.nodes.size() && !failure; ++k) {
    const std::size_t behind = body.nodes.size() - k - 1;
    const bool guarded = is_flag && (behind == 0 || (behind == 1 && is_guarded(k + 1)));
    const auto* branch = std::get_if<sdfg::If>(&body.nodes[k].value);
    if (behind == 0 && is_guarded(k)) {
      end_lanes();
      once_round(branch->then_body, round);
    } else if (guarded && branch != nullptr && !branch->else_body.nodes.empty() &&
               clears(branch->then_body, round.go_on.inputs[0].container)) {
      this->branch({.condition = branch->condition, .then_body = branch->then_body, .else_body = {}});
      round.changed.merge(sdfg::touched(branch->then_body).written);
      end_lanes();
      once_round(branch->else_body, round);
    } else {
      node(body.nodes[k]);
      round.changed.merge(sdfg::touched(body.nodes[k]).written);
    }
  }
}

namespace {

// Adds what the region reads outside of the while loop; whether that is there, and runs once.
bool add_reads_outside(const sdfg::Region& region, const sdfg::While& loop, std::set<std::string>& reads) {
  bool found = false;
  for (const sdfg::Node& node : region.nodes) {
    const auto* branch = std::get_if<sdfg::If>(&node.value);
    if (std::get_if<sdfg::While>(&node.value) == &loop) {
      found = true;
      continue;
    }
    reads.merge(branch != nullptr ? sdfg::touched_itself(node).read : sdfg::touched(node).read);
    if (branch == nullptr) continue;
    found = add_reads_outside(branch->then_body, loop, reads) || found;
    found = add_reads_outside(branch->else_body, loop, reads) || found;
  }
  return found;
}

}  // namespace

// Makes the scalars that the loop writes such that all lanes go on to compute, in variables of their own where the
// value is looked at afterwards: which are those, and in what variable that is kept.
std::map<std::string, std::string> VectorLoop::free_lanes(const sdfg::While& loop) {
  std::set<std::string> reads;
  const bool once = add_reads_outside(loop_.body, loop, reads);
  const std::set<std::string> written = sdfg::touched(loop.body).written;
  std::map<std::string, std::string> kept;
  free_.clear();
  free_mask_.clear();
  for (auto& [container, variable] : variables_) {
    if (!written.contains(container) || variable.array || variable.accumulator) continue;
    free_.insert(container);
    if (once && !reads.contains(container)) continue;
    kept[container] = variable.name;
    variable.name = names_.fresh(names_.of(container) + "_on");
    printer_.out.line("auto " + variable.name + " = " + kept[container] + ";");
  }
  return kept;
}

// Loads what each round reads in any case, and never changes: masked by the lanes of that round, it would have to wait
// for them.
void VectorLoop::load_ahead(const sdfg::While& loop) {
  const auto ahead = [&](const sdfg::Memlet& memlet) {
    const auto is_inner = [&](const std::string& symbol) { return symbol != loop_.symbol && inner_.contains(symbol); };
    const auto kind = access(memlet).kind;
    if (failure || variables_.contains(memlet.container) || is_written(memlet.container) ||
        kind == Access::Kind::Uniform || kind == Access::Kind::Any ||
        std::ranges::any_of(expressions_.offset(memlet).symbols(), is_inner))
      return;
    if (const Value value = load(memlet); value.kind == Value::Kind::Vector)
      transposed_[expressions_.element(memlet).text] = value.text.text;
  };
  std::ranges::for_each(loop.condition.inputs, ahead);
  for (const sdfg::Node& node : loop.body.nodes)
    if (const auto* state = std::get_if<sdfg::State>(&node.value))
      for (const sdfg::TaskletView& tasklet : sdfg::tasklets(*state))
        for (const sdfg::Memlet* memlet : tasklet.inputs) ahead(*memlet);
}

// The temporaries of a lane that the loop uses, if all of them are scalars.
std::optional<std::vector<std::string>> VectorLoop::held_in_lanes(const sdfg::While& loop) const {
  sdfg::Touched used = sdfg::touched(sdfg::Node{loop});
  used.read.merge(used.written);
  std::vector<std::string> held;
  for (const auto& [container, variable] : variables_) {
    if (!used.read.contains(container)) continue;
    if (variable.array || variable.accumulator) return std::nullopt;
    held.push_back(container);
  }
  return held;
}

// The lanes that go on, one by one, as a program without vectors: `held` are variables of their own meanwhile.
void VectorLoop::finish_lanes(const sdfg::While& loop, const std::vector<std::string>& held,
                              const std::string& running) {
  Lines& out = printer_.out;
  const Names names = names_;
  const auto is_mask = [&](const std::string& c) { return variables_.at(c).type == ElementType::boolean; };
  const auto tag_of = [&](const std::string& c) { return is_mask(c) ? mask_tag() : tag(variables_.at(c).type); };
  out.open("if (!hn::AllFalse(" + mask_tag() + ", " + running + "))");
  std::map<std::string, std::string> lanes;
  for (const std::string& c : held) {
    lanes[c] = names_.fresh(names_.of(c) + "_lanes");
    out.line(std::string(is_mask(c) ? "sous::MaskLanes" : "sous::Lanes") + "<decltype(" + tag_of(c) + ")> " + lanes[c] +
             "(" + tag_of(c) + ", " + variables_.at(c).name + ");");
  }
  const std::string left = names_.fresh("left");
  out.line("const sous::MaskLanes<decltype(" + mask_tag() + ")> " + left + "(" + mask_tag() + ", " + running + ");");
  out.line("SOUS_AS_ONE_LOOP");
  out.open("for (int64_t " + lane_ + " = 0; " + lane_ + " < static_cast<int64_t>(hn::Lanes(" + mask_tag() + ")); ++" +
           lane_ + ")");
  const std::string at = "static_cast<size_t>(" + lane_ + ")";
  out.line("if (!" + left + "[" + at + "]) continue;");
  const auto outer_locals = expressions_.locals;
  const auto outer_body = std::exchange(printer_.body_instead, nullptr);
  for (const std::string& c : held) {
    const std::string name = expressions_.locals[c] = names_.fresh(names_.of(c));
    out.line(value_type(variables_.at(c).type) + " " + name + " = " + lanes[c] + "[" + at + "];");
  }
  // The place in a loop without vectors: subscripts are computed from it.
  expressions_.symbols[loop_.symbol] = lane_index();
  sdfg::While rest = loop;
  rest.test_first = false;  // it was asked
  printer_.node({std::move(rest)});
  set_first(first_);
  for (const std::string& c : held) {
    const std::string& value = expressions_.locals.at(c);
    out.line(is_mask(c) ? lanes[c] + ".set(" + at + ", " + value + ");" : lanes[c] + "[" + at + "] = " + value + ";");
  }
  expressions_.locals = outer_locals;
  printer_.body_instead = outer_body;
  out.close();
  for (const std::string& c : held)
    out.line(variables_.at(c).name + " = " + lanes[c] + (is_mask(c) ? ".mask(" : ".vector(") + tag_of(c) + ");");
  out.close();
  names_ = names;
}

}  // namespace sous::targets
