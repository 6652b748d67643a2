// The recursive-descent parser of .sdfg text: text_parser.cc holds declarations and control flow, text_parser_state.cc
// states, text_parser_expr.cc expressions. Used by text.cc alone (and by json.cc, whose symbolic expressions are text).
//
// Budgets, since the text may come from anyone: nesting of regions and of expressions (nesting_limit), depth of scalar
// trees, and the work and size of symbolic expressions (whose products can grow exponentially).
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "sdfg/lexer.h"
#include "sdfg/sdfg.h"

namespace sous::sdfg {

inline constexpr int nesting_limit = 200;

class Parser {
 public:
  Parser(Source source, std::vector<Token> tokens) : source_(source), tokens_(std::move(tokens)) {}

  Result<Sdfg> whole();
  Result<Expr> whole_expr(std::size_t& work);  // adds what the expression cost

 private:
  // A scalar expression and the height of its tree.
  struct Scalar {
    ScalarExpr expr;
    int height = 1;
  };
  // Where the inputs of the scalar expression at hand come from: connectors of a tasklet, or memlets in the text.
  struct Inputs {
    bool inlined = true;
    std::map<std::string, std::pair<int, ElementType>> connectors;
    std::vector<Memlet> memlets;
    std::map<std::string, int> known;  // index by text of the memlet
    bool raw = false;                  // input(k, type) occurred
  };

  // --- Tokens (text_parser.cc)
  const Token& peek(std::size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool is(std::string_view punctuation, std::size_t ahead = 0) const;
  bool is_word(std::string_view word, std::size_t ahead = 0) const;  // an unquoted name
  bool accept(std::string_view punctuation);
  bool accept_word(std::string_view word);
  Result<void> expect(std::string_view punctuation);
  Result<std::string> name(std::string_view what);
  bool at_name() const { return peek().kind == TokenKind::Name || peek().kind == TokenKind::Quoted; }
  std::unexpected<Error> error(std::string_view code, const std::string& why) const;
  std::unexpected<Error> syntax(const std::string& expected) const;

  // --- Declarations and control flow (text_parser.cc)
  Result<void> header(Sdfg& sdfg);
  Result<Container> container();
  Result<std::vector<std::string>> names();
  Result<Region> braces();
  Result<Node> node();
  Result<Node> loop();
  Result<Schedule> schedule(std::string_view kind);
  Result<Node> conditional();
  Result<Node> while_loop();
  Result<Node> do_loop();
  Result<Condition> condition();

  // --- States (text_parser_state.cc)
  Result<State> state();
  Result<State> block(std::string name);
  Result<DataflowNode> dataflow_node();
  Result<Tasklet> tasklet();
  Result<Edge> edge();
  Result<int> node_reference();
  Result<ReductionOp> reduction_op();
  Result<ElementType> type();
  Result<std::int64_t> integer();
  Result<int> small_integer();

  // --- Expressions (text_parser_expr.cc)
  Result<Memlet> memlet();
  Result<std::vector<Expr>> expr_list(std::string_view close);
  Result<Expr> expr();
  Result<Expr> product(bool negative);
  Result<Expr> factor(bool negative);
  Result<Expr> pay(const Expr& a, const Expr& b, bool multiply);
  Result<ScalarExpr> scalar(Inputs& inputs);
  Result<Scalar> infix(Inputs& inputs, int least);
  Result<Scalar> prefix(Inputs& inputs);
  Result<Scalar> primary(Inputs& inputs);
  Result<Scalar> call(Inputs& inputs);
  Result<Scalar> bits_call();
  Result<Scalar> inline_input(Inputs& inputs);
  Result<Scalar> raw_input(Inputs& inputs);
  Result<Scalar> make(ScalarOp op, std::vector<Scalar> args);
  Result<Scalar> number(bool negative);
  Result<std::vector<Memlet>> input_list(Inputs& inputs);

  // Counts one level of nesting while it lives.
  class Level {
   public:
    explicit Level(int& depth) : depth_(depth) { ++depth_; }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };
  Result<void> within(int depth, int limit) const;

  Source source_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int region_depth_ = 0, expr_depth_ = 0;
  std::size_t work_ = 0;
  std::map<std::string, ElementType> types_;  // of the containers declared so far
};

}  // namespace sous::sdfg
