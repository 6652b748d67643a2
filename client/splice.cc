#include "client/splice.h"

#include <algorithm>
#include <set>

#include "sdfg/result.h"

namespace sous::client {
namespace {

using frontends::c::Argument;
using std::string;
using std::string_view;

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

string in_identifier(string text) {
  std::replace_if(text.begin(), text.end(), [](char c) { return !is_word(c); }, '_');
  return text;
}

template <class F>
string joined(const std::vector<Argument>& arguments, F&& one) {
  string out;
  for (const auto& argument : arguments) {
    if (!out.empty()) out += ", ";
    out += one(argument);
  }
  return out;
}

// An argument that may have no value yet is passed as a struct of one member, which is passed in the same register: to
// clang, a scalar argument without a value is undefined behaviour that it draws conclusions from.
string value_type(const Argument& argument) {
  return argument.kind == Argument::Kind::Array ? argument.c_type + " *" : argument.c_type;
}
string unset_type(const Argument& argument) {
  return "struct sous_unset_" + in_identifier(argument.c_type) +
         (argument.kind == Argument::Kind::Array ? "_pointer" : "");
}
string parameter_type(const Argument& argument) {
  if (argument.unset) return unset_type(argument);
  switch (argument.kind) {
    case Argument::Kind::Symbol:
      return "long long";
    case Argument::Kind::ScalarIn:
      return argument.c_type;
    case Argument::Kind::ScalarInOut:
    case Argument::Kind::Array:
      return argument.c_type + " *";
  }
  __builtin_unreachable();
}

string passed(const Argument& argument) {
  if (argument.unset) return "(" + unset_type(argument) + "){(" + value_type(argument) + ")(" + argument.c_expr + ")}";
  switch (argument.kind) {
    case Argument::Kind::Symbol:
      return "(long long)(" + argument.c_expr + ")";
    case Argument::Kind::ScalarIn:
      return argument.c_expr;
    case Argument::Kind::ScalarInOut:
      return "&(" + argument.c_expr + ")";
    case Argument::Kind::Array:
      return "(" + argument.c_type + " *)(" + argument.c_expr + ")";
  }
  __builtin_unreachable();
}

// Where the first token stands: no directive and no blank line before it. Comments are gone in preprocessed text.
std::size_t first_token(string_view text) {
  std::size_t line = 0;
  while (line < text.size()) {
    const auto end = std::min(text.find('\n', line), text.size());
    const auto first = text.find_first_not_of(" \t\r", line);
    if (first < end && text[first] != '#') return line;
    line = end + 1;
  }
  return text.size();
}

string quoted(string_view path) {
  string out = "\"";
  for (char c : path) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// Names of files and of entries come from outside: none may end the comment that it stands in.
string in_comment(string_view text) {
  string out;
  for (const char c : text) {
    if (c == '/' && out.ends_with('*')) out += ' ';
    out += c == '\n' || c == '\r' ? ' ' : c;
  }
  return out;
}

}  // namespace

string prototype(const Replacement& r) {
  const string parameters = joined(r.arguments, parameter_type);
  return "int " + r.function + "(" + (parameters.empty() ? "void" : parameters) + ")";
}

string call(const Replacement& r) {
  const string plain = r.function + "(" + joined(r.arguments, passed) + ")";
  return r.guard.empty() ? plain : "(" + r.guard + " && " + plain + ")";
}

string unset_types(const std::vector<Replacement>& replacements) {
  std::set<string> types;
  for (const auto& r : replacements) {
    for (const auto& argument : r.arguments) {
      if (argument.unset) types.insert(unset_type(argument) + " { " + value_type(argument) + " value; }; ");
    }
  }
  string out;
  for (const auto& type : types) out += type;
  return out;
}

string splice_preprocessed(string_view text, const std::vector<Replacement>& replacements) {
  const std::size_t top = first_token(text);
  string out(text.substr(0, top));
  out += unset_types(replacements);
  for (const auto& r : replacements) out += "extern " + prototype(r) + "; ";
  std::size_t done = top;
  for (const auto& r : replacements) {
    SOUS_ASSERT(done <= r.begin && r.begin <= r.end && r.end <= text.size());
    out += text.substr(done, r.begin - done);
    out += "{ if (!" + call(r) + ") { ";
    out += text.substr(r.begin, r.end - r.begin);
    out += " }";
    if (!r.epilogue.empty()) out += " else { " + r.epilogue + " }";
    out += " }";
    done = r.end;
  }
  out += text.substr(done);
  return out;
}

string splice_readable(string_view text, string_view path, const std::vector<Replacement>& replacements) {
  const string file = quoted(path);
  const auto line_of = [&](std::size_t offset) {
    return 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
  };
  const auto marker = [&](std::size_t offset) {
    return "\n#line " + std::to_string(line_of(offset)) + " " + file + "\n";
  };
  constexpr string_view mark = "\xEF\xBB\xBF";  // a byte order mark is one at the very start alone
  const std::size_t start = text.starts_with(mark) ? mark.size() : 0;
  string out =
      string(text.substr(0, start)) + "/* " + in_comment(path) + " with nests served by generated code (sous). */";
  if (const string types = unset_types(replacements); !types.empty()) out += "\n" + types;
  for (const auto& r : replacements) out += "\nextern " + prototype(r) + ";";
  out += "\n#line 1 " + file + "\n";
  std::size_t done = start;
  for (const auto& r : replacements) {
    out += text.substr(done, r.begin - done);
    const auto line_start = text.rfind('\n', r.begin == 0 ? 0 : r.begin - 1);
    const string_view before = text.substr(line_start == string_view::npos ? 0 : line_start + 1, r.begin);
    const string indent(before.substr(0, before.find_first_not_of(" \t")));
    out +=
        "{" + (r.note.empty() ? "" : "  /* " + in_comment(r.note) + " */") + "\n" + indent + "if (!" + call(r) + ") {";
    out += marker(r.begin) + indent;
    out += text.substr(r.begin, r.end - r.begin);
    out += "\n" + indent + "}" + (r.epilogue.empty() ? "" : " else { " + r.epilogue + " }") + "\n" + indent + "}";
    out += marker(r.end);
    done = r.end;
  }
  out += text.substr(done);
  return out;
}

}  // namespace sous::client
