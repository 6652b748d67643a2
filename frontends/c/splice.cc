#include "frontends/c/splice.h"

#include <algorithm>
#include <map>
#include <set>

#include "frontends/c/least_shape.h"
#include "frontends/c/loop_pragmas.h"
#include "frontends/c/loop_tokens.h"
#include "frontends/c/passing.h"
#include "frontends/c/processor.h"
#include "sdfg/planted_fault.h"
#include "sdfg/result.h"

namespace sous::frontends::c {
namespace {

using std::string;
using std::string_view;

template <class F>
string joined(const std::vector<Argument>& arguments, F&& one) {
  string out;
  for (const auto& argument : arguments) {
    if (!out.empty()) out += ", ";
    out += one(argument);
  }
  return out;
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

// Of a pure function: whether it ran, behind what it computed.
string result_type(const Replacement& r) { return r.pure ? "struct " + r.function + "_values" : "int"; }
constexpr const char* result_name = "sous_values";
// What was said of the call, where that is asked first.
constexpr const char* variant_name = "sous_variant";

// What has no value is another one each time that it is read: where one call asks and another one runs, both are passed
// what was read once, by assembly, of which nothing is known.
bool is_read_once(const Argument& argument, const Replacement& r) {
  return r.asked && is_unset(argument) &&
         std::ranges::find(r.asked->arguments, argument.name, &Argument::name) != r.asked->arguments.end();
}
string read_once(const Argument& argument) { return "sous_unset_" + in_identifier(argument.name); }
string passed_to_both(const Argument& argument, const Replacement& r) {
  return is_read_once(argument, r) ? read_once(argument) : passed(argument);
}
string asking(const Replacement& r) {
  string reads;
  for (const Argument& argument : r.arguments)
    if (const string once = read_once(argument); is_read_once(argument, r))
      reads += once + " = " + passed(argument) + "; __asm__(\"\" : \"+r\"(" + once + ".value)); ";
  const auto given = [&](const Argument& argument) { return passed_to_both(argument, r); };
  const string ask = string(variant_name) + " = " + r.asked->function + "(" + joined(r.asked->arguments, given) + ")";
  return reads.empty() ? "(" + ask + ")" : "__extension__({ " + reads + ask + "; })";
}
string result_declaration(const Replacement& r) {
  string out = r.asked ? string("int ") + variant_name + " = 0; " : "";
  for (const Argument& argument : r.arguments)
    if (is_read_once(argument, r)) out += unset_type(argument) + " " + read_once(argument) + " = {0}; ";
  return r.pure && !r.asked ? result_type(r) + " " + result_name + " = {0}; " : out;
}
// Variables of the function's own go and come back by another one: of those whose address is passed, a compiler keeps
// none in a register, wherever they are used.
bool by_another(const Argument& argument) {
  return argument.kind == Argument::Kind::ScalarInOut && argument.own && !argument.unset;
}
string entered(const Replacement& r) {
  string before, given, after;
  for (std::size_t k = 0; k < r.arguments.size(); ++k) {
    const Argument& argument = r.arguments[k];
    const string another = "sous_value" + std::to_string(k);
    if (by_another(argument)) {
      before += "__typeof__(" + argument.expression + ") " + another + " = " + argument.expression + "; ";
      after += argument.expression + " = " + another + "; ";
    }
    given += (by_another(argument) ? "&" + another : passed_to_both(argument, r)) + ", ";
  }
  return before + r.function + "(" + given + variant_name + "); " + after;
}
string narrowed(const Argument& result) { return member_type(result) == result.type ? "" : "(" + result.type + ")"; }
string results_taken(const Replacement& r) {
  string out;
  for (std::size_t k = 0; k < r.results.size(); ++k)
    out += r.results[k].expression + " = " + narrowed(r.results[k]) + result_name + ".value" + std::to_string(k) + "; ";
  return out;
}
string otherwise_branch(const Replacement& r) {
  string text = results_taken(r) + r.epilogue;
  if (r.asked) text = entered(r) + text;
  return text.empty() ? "" : " else { " + text + " }";
}

int occurrences(string_view text, string_view what) {
  int found = 0;
  for (auto at = text.find(what); at != string_view::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

// The guard, and what spares it and the call, as early as it may be asked: of variables first of all.
struct Conditions {
  string first, later;
};
Conditions conditions(const Replacement& r) {
  const string first = least_shape(r, Reads::Variables);
  if (!first.empty()) return {first, r.guard};
  const string later = least_shape(r, Reads::Members);
  if (r.guard.empty() || later.empty()) return {"", r.guard + later};
  const auto at = r.guard.find(kept_apart);
  if (at == string::npos) return {"", r.guard + " && " + later};
  return {"", r.guard.substr(0, at) + later + " && " + r.guard.substr(at)};
}
string both(const string& first, const string& later) {
  return first + (first.empty() || later.empty() ? "" : " && ") + later;
}

// Whether `taken`, an int, behind the conditions. What a compiler knows where one of these fails or holds it would use
// for the original, too: with a loop's own first test gone on one way to it, but not on the other, nothing says any
// more inside of the loop that it runs at all, and clang unrolls or vectorizes it otherwise than without the call. So
// they end in a value of which nothing is known; but for a shape that turns out to be constant, where the call goes.
string behind(const Conditions& conditions, const string& taken) {
  const auto& [first, later] = conditions;
  if (first.empty() && later.empty()) return taken;
  const string holds = first.empty() ? later : both("sous_shape", later);
  const string asked = "if (" + holds + ") sous_taken = " + taken + "; __asm__(\"\" : \"+r\"(sous_taken)); ";
  if (first.empty()) return "__extension__({ int sous_taken = 0; " + asked + "sous_taken; })";
  return "__extension__({ int sous_taken = 0, sous_shape = " + first +
         "; if (!(__builtin_constant_p(sous_shape) && !sous_shape)) { " + asked + "} sous_taken; })";
}

constexpr const char* residence_type = "unsigned long long";

// Ahead of what runs on the host instead: what it writes, no device has.
string forgotten(const Replacement& r, string_view end) {
  string out;
  for (const auto& variable : r.residences)
    if (!variable.name.empty() && !planted(Fault::residence_outlives_fallback))
      out += variable.name + " = 0" + string(end) + " ";
  return out;
}

// text[from, to), with the variables of residences that are declared behind braces there, and hints ahead of functions.
string with_insertions(string_view text, std::size_t from, std::size_t to, const std::vector<Replacement>& replacements,
                       const std::map<std::size_t, string>& more) {
  std::map<std::size_t, std::set<string>> inserted;
  for (const auto& r : replacements) {
    for (const auto& variable : r.residences)
      if (!variable.name.empty() && from < variable.at && variable.at <= to)
        inserted[variable.at].insert(string(" ") + residence_type + " " + variable.name + " = 0;");
    if (!r.hint.text.empty() && from <= r.hint.at && r.hint.at < to) inserted[r.hint.at].insert(r.hint.text);
  }
  for (const auto& [at, text_there] : more)
    if ((from < at || at == 0) && at <= to) inserted[at].insert(text_there);
  string out;
  for (const auto& [at, texts] : inserted) {
    out += text.substr(from, at - from);
    for (const string& one : texts) out += one;
    from = at;
  }
  return out += text.substr(from, to - from);
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

// Whether the original gets a function of its own. A block's variables of residences stay around it.
bool is_apart(const Replacement& r) { return r.whole && r.residences.empty(); }

string_view last_word(string_view text) {
  while (!text.empty() && !is_word_character(text.back())) text.remove_suffix(1);
  std::size_t at = text.size();
  while (at > 0 && is_word_character(text[at - 1])) --at;
  return text.substr(at);
}

}  // namespace

string forgotten(const Replacement& r) { return forgotten(r, ";"); }

string prototype(const Replacement& r, Attributes attributes) {
  const auto parameter = [&](const Argument& argument) {
    const string type = parameter_type(argument);
    return attributes == Attributes::Clangs && type.ends_with('*') ? "__attribute__((noescape)) " + type : type;
  };
  string parameters = joined(r.arguments, parameter);
  for (std::size_t k = 0; k < r.residences.size(); ++k)
    parameters += string(parameters.empty() ? "" : ", ") + residence_type + " *";
  if (r.asked) {
    const string looked_at = joined(r.asked->arguments, parameter);
    const string kind = r.asked->of_arguments_alone ? "__const__" : "__pure__";
    return "int " + r.asked->function + "(" + (looked_at.empty() ? "void" : looked_at) + ") __attribute__((" + kind +
           ", __nothrow__)); extern void " + r.function + "(" + parameters + (parameters.empty() ? "" : ", ") + "int)";
  }
  string out = result_type(r) + " " + r.function + "(" + (parameters.empty() ? "void" : parameters) + ")";
  if (r.pure) out += " __attribute__((__pure__, __nothrow__))";
  if (r.otherwise.empty()) return out;
  const string others = joined(r.otherwise_arguments, parameter);
  return out + "; extern int " + r.otherwise + "(" + (others.empty() ? "void" : others) + ")";
}

string call(const Replacement& r) {
  string given = joined(r.arguments, passed);
  for (const auto& variable : r.residences)
    given += (given.empty() ? "" : ", ") + (variable.name.empty() ? "0" : "&" + variable.name);
  string plain = r.function + "(" + given + ")";
  if (!r.otherwise.empty())
    plain =
        "(" + plain + " || (" + forgotten(r, ",") + r.otherwise + "(" + joined(r.otherwise_arguments, passed) + ")))";
  if (r.asked) plain = asking(r);
  if (r.pure) plain = "(" + string(result_name) + " = " + plain + ").ran";
  if (r.asked || r.pure) return behind(conditions(r), plain);
  const string all = both(conditions(r).first, conditions(r).later);
  return all.empty() ? plain : "(" + all + " && " + plain + ")";
}

int hinted_size(const std::vector<Replacement>& replacements) {
  // As clang's inliner counts, from above: 25 for a call and 5 for each instruction.
  constexpr int unasked = 250, of_call = 45, of_argument = 10, of_operator = 5, of_check = of_call + 6 * of_argument;
  std::map<std::size_t, int> sizes;
  for (const auto& r : replacements) {
    if (r.hint.text.empty() || is_apart(r)) continue;
    const string text = call(r);
    const auto operators = std::ranges::count_if(text, [](char c) { return string_view("+*/%<>|&?").contains(c); });
    if (r.asked) sizes[r.hint.at] += of_call + of_argument * static_cast<int>(r.asked->arguments.size());
    sizes[r.hint.at] += of_call + of_argument * static_cast<int>(r.arguments.size() + r.otherwise_arguments.size()) +
                        of_operator * static_cast<int>(operators) + of_check * occurrences(text, "sous_apart(");
  }
  int most = 0;
  for (const auto& [at, size] : sizes) most = std::max(most, size);
  return sizes.empty() ? 0 : unasked + most;
}

string types_of(const std::vector<Replacement>& replacements, Attributes attributes) {
  std::set<string> types;
  for (const auto& r : replacements) {
    for (const auto& argument : r.arguments)
      if (is_unset(argument)) types.insert(unset_type(argument) + " { " + member_type(argument) + " value; }; ");
  }
  string out;
  for (const auto& type : types) out += type;
  if (std::ranges::any_of(replacements, [](const Replacement& r) { return r.guard.contains("sous_apart("); })) {
    const string pointer = attributes == Attributes::Clangs ? "__attribute__((noescape)) const void *" : "const void *";
    const string span = pointer + ", unsigned long, unsigned long";
    out += "extern int sous_apart(" + span + ", " + span + ") __attribute__((__const__, __nothrow__)); ";
  }
  if (std::ranges::any_of(replacements, [](const Replacement& r) { return r.guard.contains("sous_processor("); }))
    out += processor_function();
  for (const auto& r : replacements) {
    if (!r.pure) continue;
    out += result_type(r) + " { ";
    for (std::size_t k = 0; k < r.results.size(); ++k)
      out += member_type(r.results[k]) + " value" + std::to_string(k) + "; ";
    out += "int ran; }; ";
  }
  return out;
}

string replaced(string_view text, const std::vector<Replacement>& replacements,
                const std::function<string(const Replacement&, string_view)>& call_of,
                const std::map<std::size_t, string>& inserted) {
  string out;
  std::size_t done = 0;
  for (const auto& r : replacements) {
    const std::size_t begin = with_loop_pragmas(text, r.begin);
    SOUS_ASSERT(done <= begin && r.begin <= r.end && r.end <= text.size());
    out += with_insertions(text, done, begin, replacements, inserted);
    out += call_of(r, text.substr(begin, r.end - begin));
    done = r.end;
  }
  return out += with_insertions(text, done, text.size(), replacements, inserted);
}

string splice_preprocessed(string_view text, const std::vector<Replacement>& replacements, Attributes attributes) {
  string declarations = types_of(replacements, attributes);
  for (const auto& r : replacements) declarations += "extern " + prototype(r, attributes) + "; ";
  const std::size_t top = first_token(text);
  const auto with_call = [](const Replacement& r, string_view original) {
    return "{ " + result_declaration(r) + "if (!" + call(r) + ") { " + forgotten(r) + string(original) + " }" +
           otherwise_branch(r) + " }";
  };
  // The function becomes the original's own, and stands again, on the line of its end, with the call.
  std::vector<Replacement> calling;
  std::map<std::size_t, string> inserted;
  for (const Replacement& r : replacements) {
    if (!is_apart(r)) {
      calling.push_back(r);
      continue;
    }
    const WholeFunction& f = *r.whole;
    const string own = "_" + r.function + "_original", name(last_word(text.substr(f.begin, f.name_end - f.begin)));
    inserted[f.begin] = "static __attribute__((__noinline__)) ";
    inserted[f.name_end] = own;
    string head(text.substr(f.begin, with_loop_pragmas(text, r.begin) - f.begin));
    std::ranges::replace(head, '\n', ' ');
    inserted[f.end] = " " + head + f.unused + with_call(r, name + own + "(" + f.passed + ");") + " }";
  }
  return replaced(text, calling, with_call, inserted).insert(top, declarations);
}

string splice_readable(string_view text, string_view path, const std::vector<Replacement>& replacements) {
  const string file = quoted(path);
  const auto marker = [&](std::size_t offset) {
    const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n');
    return "\n#line " + std::to_string(line) + " " + file + "\n";
  };
  const auto call_of = [&](const Replacement& r, string_view original) {
    const auto line_start = text.rfind('\n', r.begin == 0 ? 0 : r.begin - 1);
    const string_view before = text.substr(line_start == string_view::npos ? 0 : line_start + 1, r.begin);
    const string indent(before.substr(0, before.find_first_not_of(" \t")));
    const string note = r.note.empty() ? "" : "  /* " + in_comment(r.note) + " */";
    const string otherwise = otherwise_branch(r);
    string open = ") { " + forgotten(r);
    open.pop_back();  // a line ends here
    const string declared = result_declaration(r), declaration = declared.empty() ? "" : indent + declared + "\n";
    return "{" + note + "\n" + declaration + indent + "if (!" + call(r) + open + marker(r.end - original.size()) +
           indent + string(original) + "\n" + indent + "}" + otherwise + "\n" + indent + "}" + marker(r.end);
  };
  string head = "/* " + in_comment(path) + " with nests served by generated code (sous). */";
  if (const string types = types_of(replacements); !types.empty()) head += "\n" + types;
  for (const auto& r : replacements) head += "\nextern " + prototype(r) + ";";
  constexpr string_view mark = "\xEF\xBB\xBF";  // a byte order mark is one at the very start alone
  return replaced(text, replacements, call_of)
      .insert(text.starts_with(mark) ? mark.size() : 0, head + "\n#line 1 " + file + "\n");
}

}  // namespace sous::frontends::c
