#include <limits>
#include <utility>

#include "sdfg/scalar_text.h"
#include "sdfg/text_parser.h"

namespace sous::sdfg {

Result<State> Parser::state() {
  TRY(std::string label, name("a state"));
  TRY_VOID(expect(":"));
  if (accept("{")) return block(std::move(label));
  Memlet out;
  TRY(out, memlet());
  if (!accept("=")) {
#define X(e, text, ...)                                          \
  if (!out.combine && (accept(text "=") || accept_word(text))) { \
    out.combine = ReductionOp::e;                                \
  }
    SOUS_REDUCTION_OPS(X)
#undef X
    if (!out.combine) return syntax("'=', or an operator with '='");
    if (out.combine == ReductionOp::min || out.combine == ReductionOp::max) TRY_VOID(expect("="));
  }
  Inputs inputs;
  TRY(ScalarExpr code, scalar(inputs));
  TRY(std::vector<Memlet> read, input_list(inputs));
  return assignment(std::move(label), std::move(out), std::move(code), std::move(read));
}

Result<State> Parser::block(std::string label) {
  State result{.name = std::move(label), .nodes = {}, .edges = {}};
  while (!is("}")) {
    if (is("=", 1)) {
      TRY(const std::string declared, name("a node"));
      if (declared != "n" + std::to_string(result.nodes.size())) {
        --at_;
        return syntax("n" + std::to_string(result.nodes.size()) + ", the next node's name");
      }
      ++at_;
      TRY(DataflowNode next, dataflow_node());
      result.nodes.push_back(std::move(next));
    } else {
      TRY(Edge next, edge());
      result.edges.push_back(std::move(next));
    }
  }
  ++at_;
  return result;
}

// n<k>
Result<int> Parser::node_reference() {
  const std::string_view text = peek().text;
  if (peek().kind == TokenKind::Name && text.starts_with("n")) {
    const auto index = parse_unsigned(text.substr(1));
    if (index && *index <= static_cast<std::uint64_t>(std::numeric_limits<int>::max())) {
      ++at_;
      return static_cast<int>(*index);
    }
  }
  return syntax("a node (n0, n1, …)");
}

// n0 -> n1 as connector: A[i]
Result<Edge> Parser::edge() {
  Edge result;
  TRY(result.source, node_reference());
  TRY_VOID(expect("->"));
  TRY(result.target, node_reference());
  if (!accept_word("as")) return syntax("'as' and a connector");
  TRY(result.connector, name("a connector"));
  TRY_VOID(expect(":"));
  TRY(result.memlet, memlet());
  return result;
}

Result<DataflowNode> Parser::dataflow_node() {
  if (accept_word("access")) {
    AccessNode access;
    TRY(access.container, name("a container"));
    return access;
  }
  if (accept_word("tasklet")) {
    TRY(Tasklet t, tasklet());
    return t;
  }
  return syntax("access or tasklet");
}

// tasklet (a: f64, b: f64) a * b
Result<Tasklet> Parser::tasklet() {
  Tasklet result;
  Inputs inputs;
  inputs.inlined = false;
  TRY_VOID(expect("("));
  while (!is(")")) {
    if (!result.inputs.empty()) TRY_VOID(expect(","));
    TRY(std::string connector, name("a connector"));
    if (accept(":")) {
      TRY(const ElementType t, type());
      inputs.connectors.emplace(connector, std::pair(static_cast<int>(result.inputs.size()), t));
    }
    result.inputs.push_back(std::move(connector));
  }
  ++at_;
  TRY(result.code, scalar(inputs));
  return result;
}

}  // namespace sous::sdfg
