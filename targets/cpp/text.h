// C++ text under construction: expressions with their precedence, and indented lines.
#pragma once

#include <string>
#include <string_view>

namespace sous::targets {

// How tightly an expression binds. Other: anything that needs parentheses inside a larger expression.
enum class Binding { Other, Sum, Product, Primary };

struct Text {
  std::string text;
  Binding binding = Binding::Primary;

  // The text, in parentheses if it binds less tightly than `at_least`.
  std::string in(Binding at_least) const { return binding < at_least ? "(" + text + ")" : text; }
};

class Lines {
 public:
  void line(std::string_view text) {
    const std::size_t indent = text.empty() ? 0 : 2 * static_cast<std::size_t>(depth_);
    lines(std::string(indent, ' ').append(text) + "\n");
  }
  // As many as the text has, as they are.
  void lines(std::string_view text) {
    while (!text.empty()) {
      const std::string_view one = text.substr(0, text.find('\n') + 1);
      if (source_line > 0 && one != "\n") out_ += "#line " + std::to_string(source_line) + "\n";
      out_ += one;
      text.remove_prefix(one.size());
    }
  }
  void open(std::string_view text) {
    line(text.empty() ? "{" : std::string(text) + " {");
    ++depth_;
  }
  void close(std::string_view after = "") {
    --depth_;
    line("}" + std::string(after));
  }
  // Closes what a condition opened, and opens the other branch.
  void otherwise() {
    close(" else {");
    ++depth_;
  }
  const std::string& text() const { return out_; }
  int depth() const { return depth_; }
  void set_depth(int depth) { depth_ = depth; }
  void append(const std::string& finished) { out_ += finished; }
  // None yet, for text that is to be appended to what has the same source line.
  Lines elsewhere(int depth) const {
    Lines lines;
    lines.depth_ = depth;
    lines.source_line = source_line;
    return lines;
  }
  // A line with a gap in it, for what depends on what comes behind it: to be filled once that is there, before anything
  // in front of it changes.
  struct Gap {
    std::size_t at = 0;
  };
  Gap line_with_gap(std::string_view before, std::string_view after) {
    line(std::string(before) + std::string(after));
    return {out_.size() - after.size() - 1};
  }
  void fill(Gap gap, std::string_view text) { out_.insert(gap.at, text); }

  // The line of the user's text that the lines stand for, as a directive in front of each; 0: they have none.
  int source_line = 0;

 private:
  std::string out_;
  int depth_ = 0;
};

// From here on, lines are those of the user's file.
inline std::string line_directive(std::string_view name, int line) {
  std::string file;
  for (const char c : name) {
    if (c == '"' || c == '\\') file += '\\';
    file += static_cast<unsigned char>(c) < ' ' ? '?' : c;
  }
  return "#line " + std::to_string(line) + " \"" + file + "\"\n";
}

// `text` as lines of comments. It may come from anyone (names of files, recipes), and must not end its comment: control
// characters (a carriage return ends a line, too) become spaces, and no line ends in what would join the next one to
// it.
inline std::string comment_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string line(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    for (char& c : line)
      if (static_cast<unsigned char>(c) < ' ' || c == 127) c = ' ';
    while (line.ends_with('\\') || line.ends_with(' ') || line.ends_with("?\?/")) line.pop_back();
    out += line.empty() ? "//\n" : "// " + line + "\n";
  }
  return out;
}

}  // namespace sous::targets
