// The tokens of a C file for loop_bound.h: no expansion, no conditions.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontends/c/loop_bound.h"

namespace sous::frontends::c {

struct LoopToken {
  std::string_view text;  // a word, a number, one character of punctuation; string and character literals are '"'
  bool is_word = false;
  bool is(char c) const { return text.size() == 1 && text[0] == c; }
};
using LoopTokens = std::vector<LoopToken>;

bool is_loop_keyword(const LoopToken& token);
// Of an identifier or a number; gcc's and clang's have $ as well.
bool is_word_character(char c);

struct LoopMacro {
  std::vector<std::string_view> parameters;
  LoopTokens body;
};

// A file and what it includes, in one row, and the bodies of all macros that are defined anywhere in them.
class LoopTokenizer {
 public:
  explicit LoopTokenizer(const IncludeSearch& search) : search_(search) {}

  // False: the text does not tell.
  bool add_file(const std::string& path);
  bool add_text(std::string_view text, const std::string& folder);

  const LoopTokens& code() const { return code_; }
  const std::unordered_map<std::string_view, std::vector<LoopMacro>>& macros() const { return macros_; }
  // Types may come from a header that is not looked into and is none of the C library's: GLfloat, fftw_complex.
  bool has_foreign_types() const { return has_foreign_types_; }

 private:
  bool directive(std::string_view line, const std::string& folder);
  bool define(std::string_view rest);
  bool include(std::string_view rest, const std::string& folder);
  bool may_be_of_system(const std::string& name) const;
  bool condition(std::string_view name, std::string_view rest);
  bool skipped(std::string_view name);
  void line_marker(std::string_view line);
  std::optional<std::string> found(const std::string& name, bool is_quoted, const std::string& folder) const;
  // One token, or none where only blanks or a comment were left; `at` goes behind it.
  static bool next(std::string_view text, std::size_t& at, LoopToken& token);
  static LoopTokens tokens_of(std::string_view text);

  const IncludeSearch& search_;
  std::deque<std::string> texts_;  // what the tokens point into
  LoopTokens code_;
  std::unordered_map<std::string_view, std::vector<LoopMacro>> macros_;
  std::unordered_set<std::string> seen_;
  std::vector<int> conditions_;  // open braces at each #if
  int skipping_ = 0;             // #if within a branch that no C compiler sees
  int braces_ = 0;
  int including_ = 0;
  bool system_ = false;
  bool has_foreign_types_ = false;
};

}  // namespace sous::frontends::c
