// One order for the operands of commutative operations: see order_operands in passes.h.
//
// Operands are compared by a text that shows their structure but no names: a loop symbol by its depth, a container by
// its type, rank and subscripts. Operands that look the same stay as they are.
#include <algorithm>

#include "sdfg/contraction.h"
#include "transforms/normal/passes.h"
#include "transforms/normal/util.h"

namespace sous::transforms::normal {

using namespace sdfg;

namespace {

bool is_commutative(ScalarOp op) {
  switch (op) {
    case ScalarOp::add:
    case ScalarOp::mul:
    case ScalarOp::min:
    case ScalarOp::max:
    case ScalarOp::bit_and:
    case ScalarOp::bit_or:
    case ScalarOp::bit_xor:
    case ScalarOp::eq:
    case ScalarOp::ne:
      return true;
    default:  // also logical_and and logical_or: the left side decides whether the right one is evaluated
      return false;
  }
}

class Orderer {
 public:
  Region region(Region r) {
    for (Node& node : r.nodes) {
      const auto* loop = std::get_if<Loop>(&node.value);
      const std::string symbol = loop ? loop->symbol : "";
      if (loop) depth_.emplace(symbol, Expr::symbol("L" + std::to_string(depth_.size())));
      change_code(node, [&](ScalarExpr& code, const std::vector<Memlet>& inputs, const Memlet* out) {
        code = order(std::move(code), inputs, out);
        return true;
      });
      node = with_bodies(std::move(node), [&](const Region& body) { return region(body); });
      if (loop) depth_.erase(symbol);
    }
    return r;
  }

 private:
  ScalarExpr order(ScalarExpr e, const std::vector<Memlet>& inputs, const Memlet* out) const {
    for (ScalarExpr& arg : e.args) arg = order(std::move(arg), inputs, out);
    // a > b is b < a.
    if (e.op == ScalarOp::gt || e.op == ScalarOp::ge) {
      e.op = e.op == ScalarOp::gt ? ScalarOp::lt : ScalarOp::le;
      std::swap(e.args[0], e.args[1]);
    }
    // Of two products compilers contract the first.
    if (e.op == ScalarOp::add && is_product(e.args[0])) e.args[1] = kept_apart(std::move(e.args[1]));
    if (is_commutative(e.op) && key(e.args[1], inputs, out) < key(e.args[0], inputs, out))
      std::swap(e.args[0], e.args[1]);
    return e;
  }

  std::string key(const Expr& e) const {
    std::map<std::string, Expr> with = depth_;
    for (const std::string& s : e.symbols()) with.emplace(s, Expr::symbol("P"));
    std::map<std::string, std::string> containers;
    for (const std::string& c : e.reads()) containers.emplace(c, "R");
    return e.substitute(with).rename_containers(containers).to_string();
  }

  std::string key(const ScalarExpr& e, const std::vector<Memlet>& inputs, const Memlet* out) const {
    std::string text;
    switch (e.op) {
      case ScalarOp::input: {
        // The element that is written comes first (x = x + …), then arrays by their subscripts, scalars last.
        const Memlet& m = inputs[static_cast<std::size_t>(e.input)];
        text = out && m == *out ? "0" : m.subset.empty() ? "2" : "1";
        for (const Expr& d : m.subset) text += "[" + key(d) + "]";
        return text + std::string(info(e.type).name);
      }
      case ScalarOp::symbolic:
        return "3" + key(e.symbolic) + std::string(info(e.type).name);
      case ScalarOp::constant:
        return "4" + std::to_string(e.bits);
      default:
        break;
    }
    text = "1(" + std::string(info(e.op).name);
    for (const ScalarExpr& arg : e.args) text += " " + key(arg, inputs, out);
    return text + ")";
  }

  std::map<std::string, Expr> depth_;  // of the loops around
};

}  // namespace

Sdfg order_operands(const Sdfg& sdfg) {
  Sdfg result = sdfg;
  result.root = Orderer().region(sdfg.root);
  return result;
}

}  // namespace sous::transforms::normal
