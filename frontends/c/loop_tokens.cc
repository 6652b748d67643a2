#include "frontends/c/loop_tokens.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>

namespace sous::frontends::c {
namespace {

using std::string;
using std::string_view;

constexpr int most_nested_includes = 100;
constexpr std::size_t most_tokens = 8'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v'; }

string_view trimmed(string_view text) {
  while (!text.empty() && (is_blank(text.front()) || text.front() == '\\' || text.front() == '\n')) {
    text.remove_prefix(1);
  }
  return text;
}

string_view word_at_start(string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_word_character(text[end])) ++end;
  return text.substr(0, end);
}

// Headers of the C library and the system: none gives a type of floating point another name that programs use.
bool is_plain_header(string_view name) {
  static constexpr string_view plain[] = {
      "assert.h",      "ctype.h",     "dirent.h",   "errno.h",      "fcntl.h",  "float.h", "getopt.h",  "inttypes.h",
      "limits.h",      "locale.h",    "malloc.h",   "math.h",       "memory.h", "poll.h",  "pthread.h", "setjmp.h",
      "signal.h",      "stdarg.h",    "stddef.h",   "stdbool.h",    "stdint.h", "stdio.h", "stdlib.h",  "string.h",
      "strings.h",     "syslog.h",    "termios.h",  "time.h",       "unistd.h", "utime.h", "wchar.h",   "wctype.h",
      "stdc-predef.h", "stdatomic.h", "stdalign.h", "stdnoreturn.h"};
  return std::ranges::find(plain, name) != std::end(plain) || name.starts_with("sys/") || name.starts_with("linux/");
}

// "sys/types.h" of "/usr/include/x86_64-linux-gnu/sys/types.h": as a program names the header.
string_view as_included(string_view path) {
  static constexpr string_view folder = "/include/";
  const auto at = path.rfind(folder);
  if (at == string_view::npos) return path;
  path.remove_prefix(at + folder.size());
  const auto first = path.find('/');
  if (first != string_view::npos && path.substr(0, first).find("-linux-") != string_view::npos) {
    path.remove_prefix(first + 1);
  }
  return path;
}

// Up to the line break that no backslash hides and no comment holds.
std::size_t end_of_directive(string_view text, std::size_t at) {
  for (; at < text.size(); ++at) {
    if (text[at] == '\n' && text[at - 1] != '\\' && !(at > 1 && text[at - 1] == '\r' && text[at - 2] == '\\')) break;
    if (text[at] == '/' && at + 1 < text.size() && text[at + 1] == '*') {
      const auto end = text.find("*/", at + 2);
      if (end == string_view::npos) return text.size();
      at = end + 1;
    }
  }
  return at;
}

bool is_file(const string& path) {
  struct stat s{};
  return ::stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode);
}

std::optional<string> contents(const string& path) {
  struct stat s{};
  if (::stat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) return std::nullopt;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return std::nullopt;
  string text(static_cast<std::size_t>(s.st_size), '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

}  // namespace

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         static_cast<unsigned char>(c) >= 0x80;
}

bool is_loop_keyword(const LoopToken& t) { return t.text == "for" || t.text == "while" || t.text == "do"; }

bool LoopTokenizer::next(string_view text, std::size_t& at, LoopToken& token) {
  const char c = text[at];
  if (is_blank(c) || c == '\n' || c == '\\') {
    ++at;
    return false;
  }
  if (c == '/' && at + 1 < text.size() && (text[at + 1] == '/' || text[at + 1] == '*')) {
    const auto end = text[at + 1] == '/' ? text.find('\n', at) : text.find("*/", at + 2);
    at = end == string_view::npos ? text.size() : end + (text[at + 1] == '/' ? 0 : 2);
    return false;
  }
  const std::size_t start = at;
  if (c == '"' || c == '\'') {
    for (++at; at < text.size() && text[at] != c && text[at] != '\n'; ++at) {
      if (text[at] == '\\') ++at;
    }
    at = std::min(at + 1, text.size());
    token = {"\"", false};
    return true;
  }
  if (is_word_character(c)) {
    while (at < text.size() && is_word_character(text[at])) ++at;
    token = {text.substr(start, at - start), !is_digit(c)};
    return true;
  }
  token = {text.substr(at++, 1), false};
  return true;
}

LoopTokens LoopTokenizer::tokens_of(string_view text) {
  LoopTokens tokens;
  for (std::size_t at = 0; at < text.size();) {
    LoopToken token;
    if (next(text, at, token)) tokens.push_back(token);
  }
  return tokens;
}

bool LoopTokenizer::add_file(const string& path) {
  auto text = contents(path);
  if (!text) return false;
  seen_.insert(path);
  texts_.push_back(std::move(*text));
  const auto slash = path.rfind('/');
  return add_text(texts_.back(), slash == string::npos ? "." : path.substr(0, slash));
}

bool LoopTokenizer::add_text(string_view text, const string& folder) {
  const std::size_t outer = conditions_.size();
  bool line_start = true;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '#' && line_start) {
      const auto end = end_of_directive(text, at + 1);
      if (!directive(trimmed(text.substr(at + 1, end - at - 1)), folder)) return false;
      at = end;
      continue;
    }
    if (system_ || skipping_ > 0) {
      at = std::min(text.find('\n', at), text.size() - 1) + 1;
      line_start = true;
      continue;
    }
    line_start = c == '\n' || (line_start && is_blank(c));
    LoopToken token;
    if (!next(text, at, token)) continue;
    if (token.is('{')) ++braces_;
    if (token.is('}')) --braces_;
    // <% and %> are braces, too.
    if (token.is('%') && !code_.empty() && at < text.size() && (code_.back().is('<') || text[at] == '>')) return false;
    if (code_.size() == most_tokens) return false;
    code_.push_back(token);
  }
  return conditions_.size() == outer;
}

bool LoopTokenizer::directive(string_view line, const string& folder) {
  const string_view name = word_at_start(line);
  if (name.empty()) return true;
  if (is_digit(name[0])) {
    line_marker(line);
    return true;
  }
  if (system_ || skipped(name)) return true;
  const string_view rest = trimmed(line.substr(name.size()));
  if (name == "define") return define(rest);
  if (name == "include" || name == "include_next" || name == "import") return include(rest, folder);
  if (name == "if" || name == "ifdef" || name == "ifndef" || name.starts_with("el") || name == "endif") {
    return condition(name, rest);
  }
  return true;  // undef, pragma, line, error
}

// "12 "file" 3": who the following lines belong to; 3 is a system header. What such a header includes is its own
// matter.
void LoopTokenizer::line_marker(string_view line) {
  const auto open = line.find('"'), close = line.rfind('"');
  const bool was_system = system_;
  system_ = close != string_view::npos && line.substr(close).find(" 3") != string_view::npos;
  if (!system_ || was_system) return;
  const string_view path = line.substr(open + 1, close - open - 1);
  has_foreign_types_ = has_foreign_types_ || !(path.starts_with('<') || is_plain_header(as_included(path)));
}

// Whether the line stands in a branch that is passed over; keeps count of where that ends.
bool LoopTokenizer::skipped(string_view name) {
  if (skipping_ == 0) return false;
  if (name.starts_with("if")) ++skipping_;
  if (name == "endif" || (skipping_ == 1 && name.starts_with("el"))) --skipping_;
  if (name == "endif" && skipping_ == 0) conditions_.pop_back();
  return true;
}

// Branches that open or close braces leave a text that has no one structure. C++'s alone may, as in extern "C" {.
bool LoopTokenizer::condition(string_view name, string_view rest) {
  if (name.starts_with("if")) {
    conditions_.push_back(braces_);
    static constexpr string_view of_cplusplus[]{"__cplusplus", "defined(__cplusplus)", "defined __cplusplus",
                                                "defined (__cplusplus)"};
    while (!rest.empty() && is_blank(rest.back())) rest.remove_suffix(1);
    const bool cplusplus = std::ranges::find(of_cplusplus, rest) != std::end(of_cplusplus);
    if (name != "ifndef" && (cplusplus || (name == "if" && rest == "0"))) skipping_ = 1;
    return true;
  }
  if (conditions_.empty() || conditions_.back() != braces_) return false;
  if (name == "endif") conditions_.pop_back();
  return true;
}

bool LoopTokenizer::define(string_view rest) {
  const string_view name = word_at_start(rest);
  rest.remove_prefix(name.size());
  LoopMacro macro;
  if (rest.starts_with('(')) {
    const auto close = std::min(rest.find(')'), rest.size() - 1);
    for (const LoopToken& token : tokens_of(rest.substr(0, close))) {
      if (token.is_word) macro.parameters.push_back(token.text);
    }
    rest.remove_prefix(close + 1);
  }
  macro.body = tokens_of(rest);
  const auto braces = [&](char c) { return std::ranges::count_if(macro.body, [c](const auto& t) { return t.is(c); }); };
  if (braces('{') != braces('}') || is_loop_keyword({name, true})) return false;
  macros_[name].push_back(std::move(macro));
  return true;
}

std::optional<string> LoopTokenizer::found(const string& name, bool is_quoted, const string& folder) const {
  if (name.starts_with('/')) return is_file(name) ? std::optional(name) : std::nullopt;
  if (is_quoted) {
    if (const string path = folder + "/" + name; is_file(path)) return path;
    for (const auto& other : search_.quoted) {
      if (const string path = other + "/" + name; is_file(path)) return path;
    }
  }
  for (const auto& other : search_.folders) {
    if (const string path = other + "/" + name; is_file(path)) return path;
  }
  return std::nullopt;
}

// What is nowhere is another system's, under a condition that does not hold here.
bool LoopTokenizer::may_be_of_system(const string& name) const {
  return name.starts_with('/') || search_.system.empty() ||
         std::ranges::any_of(search_.system, [&](const string& folder) { return is_file(folder + "/" + name); });
}

bool LoopTokenizer::include(string_view rest, const string& folder) {
  // By a macro that nobody defines: under a condition that does not hold.
  if (rest.empty() || (rest[0] != '"' && rest[0] != '<')) return !macros_.contains(word_at_start(rest));
  const auto end = rest.find(rest[0] == '"' ? '"' : '>', 1);
  if (end == string_view::npos) return false;
  const string name(rest.substr(1, end - 1));
  const auto path = found(name, rest[0] == '"', folder);
  if (!path) {
    has_foreign_types_ = has_foreign_types_ || (!is_plain_header(name) && may_be_of_system(name));
    return true;
  }
  // Between functions once is enough; in the middle of one it is a part of that.
  if (braces_ == 0 && seen_.contains(*path)) return true;
  if (including_ == most_nested_includes) return false;
  ++including_;
  const bool told = add_file(*path);
  --including_;
  return told;
}

}  // namespace sous::frontends::c
