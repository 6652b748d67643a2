#include "frontends/c/loop_statements.h"

#include <algorithm>
#include <utility>

#include "sdfg/scalar_expr.h"

namespace sous::frontends::c {
namespace {

using std::string_view;

constexpr int most_nested = 500;  // statements in statements

// And what else stands before brackets and calls nothing.
bool is_keyword(string_view word) {
  static constexpr string_view words[] = {"if",
                                          "for",
                                          "while",
                                          "switch",
                                          "return",
                                          "sizeof",
                                          "typeof",
                                          "_Generic",
                                          "__typeof__",
                                          "_Alignof",
                                          "case",
                                          "__extension__",
                                          "__builtin_expect",
                                          "__restrict",
                                          "restrict",
                                          "__attribute__",
                                          "__attribute",
                                          "_Pragma",
                                          "else",
                                          "do",
                                          "assert",
                                          "static_assert",
                                          "_Static_assert"};
  return std::ranges::find(words, word) != std::end(words);
}

// Reads statements into a tree of loops. `loop_macros`: names that may be the head of a loop.
class Statements {
 public:
  Statements(const LoopTokens& tokens, std::size_t begin, std::size_t end, const LoopNames& loop_macros)
      : tokens_(tokens), at_(begin), end_(end), loop_macros_(loop_macros) {}

  // Nullopt: nested too deeply to be a person's.
  std::optional<LoopPart> all() {
    while (at_ < end_ && !failed_) {
      if (is('}')) ++at_;
      statement();
    }
    if (failed_) return std::nullopt;
    return std::move(whole_);
  }
  bool any_loop() const { return any_loop_; }

 private:
  bool is(char c) const { return at_ < end_ && tokens_[at_].is(c); }
  bool is_next(char c) const { return at_ + 1 < end_ && tokens_[at_ + 1].is(c); }
  bool is(string_view word) const { return at_ < end_ && tokens_[at_].text == word; }

  // `read` with a new loop to put into.
  template <class Read>
  void in_loop(const Read& read) {
    any_loop_ = true;
    auto loop = std::make_unique<LoopPart>();
    loop->is_loop = true;
    LoopPart* outer = std::exchange(part_, loop.get());
    read();
    part_ = outer;
    part_->loops.push_back(std::move(loop));
  }

  void statement() {
    if (++nested_ > most_nested) failed_ = true;
    if (!failed_ && at_ < end_ && !is('}')) one();
    --nested_;
  }

  void one() {
    if (is('{')) {
      ++at_;
      while (at_ < end_ && !is('}') && !failed_) statement();
      ++at_;
    } else if (is("for") || is("while")) {
      ++at_;
      in_loop([&] {
        parentheses();
        statement();
      });
    } else if (is("do")) {
      do_while();
    } else if (is("if") || is("switch")) {
      ++at_;
      parentheses();
      statement();
      if (is("else")) {
        ++at_;
        statement();
      }
    } else if (is("else") || (tokens_[at_].is_word && is_next(':'))) {  // of an #if; a label
      at_ += is("else") ? 1 : 2;
      statement();
    } else if (is("case")) {
      while (at_ < end_ && !is(':') && !is(';') && !is('}')) ++at_;
      if (is(':')) ++at_;
      statement();
    } else if (tokens_[at_].is_word) {
      named();
    } else {
      expression();
    }
  }

  // `do … while (0)` is no loop.
  void do_while() {
    ++at_;
    const bool outer = any_loop_;
    in_loop([&] {
      statement();
      if (!is("while")) return;
      ++at_;
      part_->is_loop = !(is('(') && at_ + 2 < end_ && tokens_[at_ + 1].text == "0" && tokens_[at_ + 2].is(')'));
      parentheses();
    });
    const LoopPart& loop = *part_->loops.back();
    any_loop_ = outer || loop.is_loop || !loop.loops.empty();
    if (is(';')) ++at_;
  }

  // A word that begins a statement: the head of a loop by a macro, or an expression.
  void named() {
    const string_view name = tokens_[at_].text;
    const bool macro = loop_macros_.contains(name);
    if (!macro && !(is_next('(') && has_block())) return expression();
    // How many loops a macro is, its own body says; one of the system's is one.
    in_loop([&] {
      part_->is_loop = !macro;
      part_->head = macro ? name : string_view();
      ++at_;
      parentheses();
      statement();
    });
  }

  // NAME(…) {
  bool has_block() const {
    int open = 0;
    for (std::size_t k = at_ + 1; k < end_; ++k) {
      if (tokens_[k].is('(')) ++open;
      if (tokens_[k].is(')') && --open == 0) return k + 1 < end_ && tokens_[k + 1].is('{');
    }
    return false;
  }

  void parentheses() {
    if (!is('(')) return;
    int open = 0;
    do {
      if (is('(')) ++open;
      if (is(')')) --open;
      note();
      ++at_;
    } while (at_ < end_ && open > 0);
  }

  // Up to the semicolon, or what closes the block around it. A loop in it (a statement in brackets, an unknown macro
  // before it) takes the rest along.
  void expression() {
    int open = 0;
    for (; at_ < end_; ++at_) {
      if (is('(') || is('[') || is('{')) ++open;
      if (is('}') && open == 0) return;
      if (is(')') || is(']') || is('}')) --open;
      if (is(';') && open <= 0) break;
      if (is_loop_keyword(tokens_[at_])) {
        ++at_;
        return in_loop([&] { expression(); });
      }
      note();
    }
    ++at_;
  }

  // What the word at hand is to the loops around it.
  void note() {
    const LoopToken& token = tokens_[at_];
    if (!token.is_word) {
      // (*f)(x), and table[k](x).
      const bool pointer = token.is('(') && is_next('*') && called_group();
      if (pointer || (token.is(']') && is_next('('))) part_->calls_unknown = true;
      return;
    }
    if (is_loop_keyword(token)) any_loop_ = true;
    if (token.text.starts_with("asm") || token.text.starts_with("__asm")) part_->calls_unknown = true;
    part_->names.push_back(token.text);
    if (!is_next('(')) return;
    const bool member =
        at_ > 0 && (tokens_[at_ - 1].is('.') || (at_ > 1 && tokens_[at_ - 1].is('>') && tokens_[at_ - 2].is('-')));
    if (member) part_->calls_unknown = true;
    part_->called.push_back(token.text);
    // NAME(a, b)(x): what the macro makes is called by its last part.
    ++at_;
    const std::size_t end = called_group();
    --at_;
    if (end == 0 || is_keyword(token.text)) return;
    std::size_t last = end;
    while (last > at_ && !tokens_[last].is_word) --last;
    part_->called.push_back(tokens_[last].text);
  }

  // The end of the group in brackets that opens here, where another opens behind it; else 0.
  std::size_t called_group() const {
    constexpr std::size_t longest = 64;
    int open = 0;
    for (std::size_t k = at_; k < std::min(end_, at_ + longest); ++k) {
      if (tokens_[k].is('(')) ++open;
      if (tokens_[k].is(')') && --open == 0) return k + 1 < end_ && tokens_[k + 1].is('(') ? k : 0;
    }
    return 0;
  }

  const LoopTokens& tokens_;
  std::size_t at_, end_;
  const LoopNames& loop_macros_;
  LoopPart whole_;
  LoopPart* part_ = &whole_;
  int nested_ = 0;
  bool failed_ = false, any_loop_ = false;
};

}  // namespace

// Keywords, constants of math.h, what may be a macro of a system header by its capitals, and the functions of math.h,
// complex.h and stdlib.h that are operators to the front end, and of string.h that are loops to it.
bool is_no_call(string_view word) {
  if (is_keyword(word)) return true;
  if (std::ranges::none_of(word, [](char c) { return c >= 'a' && c <= 'z'; })) return true;
  if (word.starts_with("__builtin_")) word.remove_prefix(10);
  static constexpr string_view others[] = {"inf", "inff", "huge_val", "huge_valf", "abs", "labs", "llabs"};
  if (std::ranges::find(others, word) != std::end(others)) return true;
  const auto is_operator = [](string_view name) {
    for (const string_view of_complex : {"creal", "cimag", "conj", "cabs", "carg"})
      if (name == of_complex) return true;
#define X(op, text, ...) \
  if (name == text) return true;
    SOUS_MATH_OPS(X)
#undef X
    return false;
  };
  for (const string_view of_memory : {"memset", "memcpy", "memmove"})
    if (word == of_memory) return true;
  return is_operator(word) || (word.ends_with('f') && is_operator(word.substr(0, word.size() - 1)));
}

std::optional<LoopPart> read_statements(const LoopTokens& tokens, std::size_t begin, std::size_t end,
                                        const LoopNames& loop_macros, bool& any_loop) {
  Statements statements(tokens, begin, end, loop_macros);
  auto part = statements.all();
  any_loop = any_loop || statements.any_loop();
  return part;
}

}  // namespace sous::frontends::c
