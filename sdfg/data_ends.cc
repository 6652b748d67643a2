#include "sdfg/data_ends.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "sdfg/atoms.h"
#include "sdfg/carried_columns.h"
#include "sdfg/one_sided.h"
#include "sdfg/planted_fault.h"

namespace sous::sdfg {
namespace {

// Whether what the part writes may change the container.
bool is_changed(const Sdfg& sdfg, const Region& part, const Container& container) {
  const std::set<std::string> written = touched(part).written;
  return std::ranges::any_of(written,
                             [&](const std::string& name) { return may_overlap(sdfg, container, *sdfg.find(name)); });
}

// Where the loop would end if the one element that its end has less were 0, and that element.
struct Opened {
  Expr end;
  Memlet element;
};
std::optional<Opened> opened(const Sdfg& sdfg, const Loop& loop) {
  const std::set<std::string> ahead = loop.end.reads().size() == 1 ? distances_ahead(loop) : std::set<std::string>();
  const auto natural = [&](const std::string& name) { return is_natural(*sdfg.find(name)); };
  if (ahead.empty() || !std::ranges::all_of(ahead, natural)) return std::nullopt;
  Expr end = loop.end.constant_term();
  std::optional<Memlet> element;
  for (const Term& term : loop.end.terms()) {
    const Atom& atom = term.atoms[0];
    const std::int64_t less = loop.step > 0 ? -1 : 1;
    if (atom.kind == AtomKind::Read && term.atoms.size() == 1 && term.coefficient == less && !element)
      element = Memlet{.container = atom.name, .subset = atom.args, .combine = std::nullopt};
    else
      end = end + term_value(term);
  }
  const bool known = element && end.is_valid() && end.reads().empty() && natural(element->container);
  if (!known || is_changed(sdfg, loop.body, *sdfg.find(element->container))) return std::nullopt;
  return Opened{end, *element};
}

// The element that the body of the loop has to be less than the loop has iterations left, if that is all that it asks.
struct Closed {
  Expr end;  // reads the element
  const If* branch;
};
std::optional<Closed> closed(const Sdfg& sdfg, const Loop& loop) {
  const auto* branch = loop.body.nodes.size() == 1 ? std::get_if<If>(&loop.body.nodes[0].value) : nullptr;
  if (branch == nullptr || loop.step != 1 || !branch->else_body.nodes.empty()) return std::nullopt;
  const ScalarExpr& code = branch->condition.code;
  if (code.op != ScalarOp::lt || branch->condition.inputs.size() != 1 || code.args[0].type != ElementType::i64 ||
      code.args[1].op != ScalarOp::symbolic)
    return std::nullopt;
  const ScalarExpr& value = code.args[0].op == ScalarOp::cast ? code.args[0].args[0] : code.args[0];
  const Memlet& element = branch->condition.inputs[0];
  const Container& container = *sdfg.find(element.container);
  const Expr end = code.args[1].symbolic + Expr::symbol(loop.symbol);
  const bool moves = std::ranges::any_of(element.subset, [&](const Expr& e) { return e.uses(loop.symbol); });
  if (value.op != ScalarOp::input || !is_natural(container) || container.transient || moves || end.uses(loop.symbol) ||
      is_changed(sdfg, loop.body, container))
    return std::nullopt;
  return Closed{end - Expr::read(element.container, element.subset), branch};
}

// The If whose condition is the same in all iterations of the loop, and which has no other branch: null if it is not.
const If* same_throughout(const Sdfg& sdfg, const Node& node, const Loop& loop) {
  const auto* branch = std::get_if<If>(&node.value);
  if (branch == nullptr || !branch->else_body.nodes.empty()) return nullptr;
  const Touched asks = touched_itself(node);
  bool moves = false;
  map_exprs({{If{.condition = branch->condition, .then_body = {}, .else_body = {}}}}, [&](const Expr& e) {
    moves = moves || e.uses(loop.symbol);
    return e;
  });
  const bool changes = std::ranges::any_of(
      asks.read, [&](const std::string& name) { return is_changed(sdfg, loop.body, *sdfg.find(name)); });
  return moves || changes ? nullptr : branch;
}

// A loop that is all that a condition stands before, and opens: the condition goes into it, and its end may.
void take_in(const Sdfg& sdfg, Node& node) {
  const auto* branch = std::get_if<If>(&node.value);
  const bool one = branch != nullptr && branch->then_body.nodes.size() == 1;
  const auto* loop = one ? std::get_if<Loop>(&branch->then_body.nodes[0].value) : nullptr;
  if (loop == nullptr || !opened(sdfg, *loop) || same_throughout(sdfg, node, *loop) == nullptr) return;
  Loop around = *loop;
  If inside{.condition = branch->condition, .then_body = loop->body, .else_body = {}};
  around.body.nodes = {std::move(inside)};
  node = std::move(around);
}

}  // namespace

Sdfg open_ends(Sdfg sdfg) {
  const Sdfg& whole = sdfg;
  visit(sdfg.root, [&](Node& node) {
    take_in(whole, node);
    auto* loop = std::get_if<Loop>(&node.value);
    const bool counts = loop != nullptr && loop->step == 1 && loop->begin.reads().empty();
    const auto open = counts ? opened(whole, *loop) : std::nullopt;
    if (!open) return;
    const ElementType type = whole.find(open->element.container)->type;
    If guard{.condition = {}, .then_body = std::move(loop->body), .else_body = {}};
    guard.condition.code =
        ScalarExpr::binary(ScalarOp::lt, ScalarExpr::cast(ScalarExpr::make_input(0, type), ElementType::i64),
                           ScalarExpr::make_symbolic(open->end - Expr::symbol(loop->symbol), ElementType::i64));
    guard.condition.inputs = {open->element};
    loop->end = open->end;
    loop->body.nodes = {std::move(guard)};
  });
  return sdfg;
}

Sdfg closed_ends(Sdfg sdfg) {
  const Sdfg& whole = sdfg;
  visit(sdfg.root, [&](Node& node) {
    auto* loop = std::get_if<Loop>(&node.value);
    const auto close = loop != nullptr ? closed(whole, *loop) : std::nullopt;
    if (!close) return;
    const ScalarExpr some = ScalarExpr::binary(ScalarOp::lt, ScalarExpr::make_symbolic(loop->begin, ElementType::i64),
                                               ScalarExpr::make_symbolic(loop->end, ElementType::i64));
    std::vector<Node> around = {If{.condition = {.code = some, .inputs = {}}, .then_body = {}, .else_body = {}}};
    Region body = close->branch->then_body;
    if (const If* same = body.nodes.size() == 1 ? same_throughout(whole, body.nodes[0], *loop) : nullptr) {
      // It is asked only where the first iteration would ask it.
      const If first{.condition = close->branch->condition, .then_body = {}, .else_body = {}};
      around.push_back(substitute(Node(first), {{loop->symbol, loop->begin}}));
      around.emplace_back(If{.condition = same->condition, .then_body = {}, .else_body = {}});
      Region inside = same->then_body;
      body = std::move(inside);
    }
    loop->end = planted(Fault::data_end_late) ? loop->end : Expr::min(loop->end, close->end);
    loop->body = std::move(body);
    Node inside = std::move(*loop);
    for (; !around.empty(); around.pop_back()) {
      std::get<If>(around.back().value).then_body.nodes = {std::move(inside)};
      inside = std::move(around.back());
    }
    node = std::move(inside);
  });
  return sdfg;
}

Sdfg without_ends(Sdfg sdfg) {
  const Sdfg& whole = sdfg;
  visit(sdfg.root, [&](Node& node) {
    auto* loop = std::get_if<Loop>(&node.value);
    if (loop == nullptr) return;
    if (const auto open = opened(whole, *loop)) loop->end = open->end;
    if (const auto close = closed(whole, *loop)) {
      Region body = close->branch->then_body;
      loop->body = std::move(body);
    }
  });
  return sdfg;
}

}  // namespace sous::sdfg
