#include "sdfg/text_parser.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "sdfg/scalar_text.h"

namespace sous::sdfg {
namespace {

std::optional<Storage> parse_storage(std::string_view word) {
#define X(e, text) \
  if (word == text) return Storage::e;
  SOUS_STORAGES(X)
#undef X
  return std::nullopt;
}

}  // namespace

// --- Tokens ---------------------------------------------------------------------------------------------------------

bool Parser::is(std::string_view punctuation, std::size_t ahead) const {
  return peek(ahead).kind == TokenKind::Punctuation && peek(ahead).text == punctuation;
}

bool Parser::is_word(std::string_view word, std::size_t ahead) const {
  return peek(ahead).kind == TokenKind::Name && peek(ahead).text == word;
}

bool Parser::accept(std::string_view punctuation) {
  const bool found = is(punctuation);
  at_ += found;
  return found;
}

bool Parser::accept_word(std::string_view word) {
  const bool found = is_word(word);
  at_ += found;
  return found;
}

Result<void> Parser::expect(std::string_view punctuation) {
  if (!accept(punctuation)) return syntax("'" + std::string(punctuation) + "'");
  return {};
}

Result<std::string> Parser::name(std::string_view what) {
  if (!at_name()) return syntax(std::string(what));
  return name_of(tokens_[at_++]);
}

std::unexpected<Error> Parser::error(std::string_view code, const std::string& why) const {
  return source_.error(code, why, peek().offset);
}

std::unexpected<Error> Parser::syntax(const std::string& expected) const {
  return error("sdfg.text.syntax", "expected " + expected);
}

Result<void> Parser::within(int depth, int limit) const {
  if (depth > limit) return error("sdfg.text.depth", "nested too deeply");
  return {};
}

Result<std::int64_t> Parser::integer() {
  const bool negative = accept("-");
  const auto magnitude = peek().kind == TokenKind::Number ? parse_unsigned(peek().text) : std::nullopt;
  if (!magnitude || *magnitude > (std::uint64_t{1} << 63) - (negative ? 0 : 1))
    return error("sdfg.text.number", "not a 64-bit integer");
  ++at_;
  return static_cast<std::int64_t>(negative ? 0 - *magnitude : *magnitude);
}

Result<int> Parser::small_integer() {
  const Token start = peek();
  TRY(const std::int64_t value, integer());
  if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
    return source_.error("sdfg.text.number", "not a 32-bit integer", start.offset);
  return static_cast<int>(value);
}

Result<ElementType> Parser::type() {
  const auto result = peek().kind == TokenKind::Name ? parse_type(peek().text) : std::nullopt;
  if (!result) return syntax("an element type (i8 … u64, f32, f64, bool)");
  ++at_;
  return *result;
}

Result<ReductionOp> Parser::reduction_op() {
#define X(e, text, ...) \
  if (accept(text) || accept_word(text)) return ReductionOp::e;
  SOUS_REDUCTION_OPS(X)
#undef X
  return syntax("a reduction operator (+ * min max & | ^)");
}

// --- Declarations ---------------------------------------------------------------------------------------------------

Result<Sdfg> Parser::whole() {
  if (!accept_word("sdfg") || peek().kind != TokenKind::Number || peek().text != "1")
    return error("sdfg.text.version", "expected 'sdfg 1', the version of the language, and a name");
  ++at_;
  Sdfg sdfg;
  TRY(sdfg.name, name("the name of the graph"));
  TRY_VOID(header(sdfg));
  while (peek().kind != TokenKind::End) {
    TRY(Node next, node());
    sdfg.root.nodes.push_back(std::move(next));
  }
  return sdfg;
}

Result<std::vector<std::string>> Parser::names() {
  std::vector<std::string> list;
  do {
    TRY(std::string next, name("a name"));
    list.push_back(std::move(next));
  } while (accept(","));
  return list;
}

Result<void> Parser::header(Sdfg& sdfg) {
  auto append = [](std::vector<std::string>& to, const std::vector<std::string>& list) {
    to.insert(to.end(), list.begin(), list.end());
  };
  while (!is(":", 1)) {  // otherwise it is a state of that name
    if (accept_word("symbols")) {
      TRY(const std::vector<std::string> list, names());
      append(sdfg.symbols, list);
    } else if (accept_word("arguments")) {
      TRY(const std::vector<std::string> list, names());
      append(sdfg.arguments, list);
    } else if (accept_word("array")) {
      TRY(Container next, container());
      types_.emplace(next.name, next.type);
      sdfg.containers.push_back(std::move(next));
    } else if (accept_word("assume")) {
      TRY(Expr e, expr());
      TRY_VOID(expect(">="));
      if (peek().kind != TokenKind::Number || peek().text != "0") return syntax("0");
      ++at_;
      sdfg.assumptions.push_back(std::move(e));
    } else if (accept_word("disjoint")) {
      std::pair<std::string, std::string> pair;
      TRY(pair.first, name("a container"));
      TRY_VOID(expect(","));
      TRY(pair.second, name("a container"));
      sdfg.disjoint.push_back(std::move(pair));
    } else {
      break;
    }
  }
  return {};
}

Result<Container> Parser::container() {
  Container c;
  TRY(c.name, name("a container"));
  TRY_VOID(expect(":"));
  TRY(c.type, type());
  if (accept("[")) {
    TRY(c.shape, expr_list("]"));
  }
  c.strides = row_major(c.shape);
  while (peek().kind == TokenKind::Name && !is(":", 1)) {
    if (is_word("strides") && is("[", 1)) {
      at_ += 2;
      TRY(c.strides, expr_list("]"));
    } else if (accept_word("offset")) {
      TRY(c.offset, expr());
    } else if (accept_word("transient")) {
      c.transient = true;
    } else if (accept_word("const")) {
      c.constant = true;
    } else if (accept_word("dead")) {
      c.dead = true;
    } else if (accept_word("natural")) {
      c.natural = true;
    } else if (accept_word("alias")) {
      TRY(c.alias_class, small_integer());
    } else if (const auto storage = parse_storage(peek().text)) {
      c.storage = *storage;
      ++at_;
    } else {
      break;
    }
  }
  return c;
}

// --- Control flow ---------------------------------------------------------------------------------------------------

Result<Region> Parser::braces() {
  const Level level(region_depth_);
  TRY_VOID(within(region_depth_, nesting_limit));
  TRY_VOID(expect("{"));
  Region region;
  while (!is("}")) {
    if (peek().kind == TokenKind::End) return syntax("'}'");
    TRY(Node next, node());
    region.nodes.push_back(std::move(next));
  }
  ++at_;
  return region;
}

Result<Node> Parser::node() {
  if (at_name() && is(":", 1)) {
    TRY(State s, state());
    return Node(std::move(s));
  }
  if (is_word("loop")) return loop();
  if (is_word("if")) return conditional();
  if (is_word("while")) return while_loop();
  if (is_word("do")) return do_loop();
  return syntax("a state (name: …), loop, if, while or do");
}

Result<Node> Parser::loop() {
  ++at_;
  Loop loop;
  TRY(loop.symbol, name("a loop symbol"));
  TRY_VOID(expect("="));
  TRY(loop.begin, expr());
  TRY_VOID(expect(".."));
  TRY(loop.end, expr());
  while (!is("{")) {
    if (accept_word("step")) {
      TRY(loop.step, integer());
    } else if (is_word("private") && is("(", 1)) {
      at_ += 2;
      TRY(loop.privates, names());
      TRY_VOID(expect(")"));
    } else if (is_word("prefetch") && is("(", 1)) {
      at_ += 2;
      TRY(loop.prefetch, integer());
      TRY_VOID(expect(")"));
    } else if (is_word("reduce") && is("(", 1)) {
      ++at_;
      do {
        ++at_;
        Reduction next;
        TRY(next.op, reduction_op());
        TRY_VOID(expect(":"));
        TRY(next.container, name("a container"));
        loop.reductions.push_back(std::move(next));
      } while (is(","));
      TRY_VOID(expect(")"));
    } else if (peek().kind == TokenKind::Name) {
      const std::string_view kind = peek().text;
      TRY(loop.schedule, schedule(kind));
    } else {
      return syntax("step, a schedule, private(…), reduce(…), prefetch(…) or '{'");
    }
  }
  TRY(loop.body, braces());
  return Node(std::move(loop));
}

Result<Schedule> Parser::schedule(std::string_view kind) {
  Parallel parallel;
  Simd simd;
  Unroll unroll;
  int dimension = 0;
  struct Parameter {
    std::string_view schedule, name;
    int* value;
  };
  const Parameter parameters[] = {
      {"parallel", "threads", &parallel.threads},
      {"parallel", "chunk", &parallel.chunk},
      {"simd", "lanes", &simd.lanes},
      {"unroll", "factor", &unroll.factor},
      {"gpu_grid", "dimension", &dimension},
      {"gpu_block", "dimension", &dimension},
  };
  const bool known =
      kind == "sequential" || std::ranges::any_of(parameters, [&](auto& p) { return p.schedule == kind; });
  if (!known) return syntax("a schedule (sequential, parallel, simd, unroll, gpu_grid, gpu_block)");
  ++at_;
  if (accept("(")) {
    while (!is(")")) {
      if (kind == "parallel" && accept_word("dynamic")) {
        parallel.kind = ParallelKind::Dynamic;
      } else {
        const auto* found =
            std::ranges::find_if(parameters, [&](auto& p) { return p.schedule == kind && is_word(p.name); });
        if (found == std::end(parameters)) return syntax("a parameter of " + std::string(kind));
        ++at_;
        TRY_VOID(expect("="));
        TRY(*found->value, small_integer());
      }
      if (!is(")")) TRY_VOID(expect(","));
    }
    ++at_;
  }
  if (kind == "parallel") return parallel;
  if (kind == "simd") return simd;
  if (kind == "unroll") return unroll;
  if (kind == "gpu_grid") return GpuGrid{dimension};
  if (kind == "gpu_block") return GpuBlock{dimension};
  return Sequential{};
}

Result<Condition> Parser::condition() {
  Condition result;
  Inputs inputs;
  TRY_VOID(expect("("));
  TRY(result.code, scalar(inputs));
  TRY(result.inputs, input_list(inputs));
  TRY_VOID(expect(")"));
  return result;
}

Result<Node> Parser::conditional() {
  ++at_;
  If result;
  TRY(result.condition, condition());
  TRY(result.then_body, braces());
  if (is_word("else") && is("{", 1)) {
    ++at_;
    TRY(result.else_body, braces());
  }
  return Node(std::move(result));
}

Result<Node> Parser::while_loop() {
  ++at_;
  While result;
  TRY(result.condition, condition());
  TRY(result.body, braces());
  return Node(std::move(result));
}

Result<Node> Parser::do_loop() {
  ++at_;
  While result;
  result.test_first = false;
  TRY(result.body, braces());
  if (!accept_word("while")) return syntax("'while'");
  TRY(result.condition, condition());
  return Node(std::move(result));
}

}  // namespace sous::sdfg
