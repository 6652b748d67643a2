#include "frontends/c/least_shape.h"

#include <algorithm>
#include <climits>
#include <optional>

#include "sdfg/planted_fault.h"

namespace sous::frontends::c {
namespace {

using sdfg::Expr;
using std::string;

// "n", or, of what may be a member, "g->n".
bool is_name(string text, Reads reads) {
  for (auto at = text.find("->"); at != string::npos; at = text.find("->")) text.replace(at, 2, ".");
  if (reads == Reads::Members) std::erase(text, '.');
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && std::ranges::all_of(text, is_word) && !(text[0] >= '0' && text[0] <= '9');
}

// What the symbol is in C, if it may be read there.
std::optional<string> variable(const string& symbol, const Replacement& r, Reads reads) {
  const auto at = std::ranges::find(r.arguments, symbol, &Argument::name);
  const bool readable = at != r.arguments.end() && at->kind == Argument::Kind::Symbol &&
                        is_name(at->expression, reads) && (reads == Reads::Members || !at->unset);
  return readable ? std::optional(at->expression) : std::nullopt;
}

// `e` without its constant, in double: it neither overflows nor wraps.
std::optional<string> in_double(const Expr& e, const Replacement& r, Reads reads) {
  string text;
  for (const sdfg::Term& term : e.terms()) {
    string product = term.coefficient == 1 ? "" : std::to_string(term.coefficient) + ".0";
    for (const sdfg::Atom& atom : term.atoms) {
      const auto name = atom.kind == sdfg::AtomKind::Symbol ? variable(atom.name, r, reads) : std::nullopt;
      if (!name) return std::nullopt;
      product += (product.empty() ? "" : " * ") + ("(double)(" + *name + ")");
    }
    text += (text.empty() ? "" : " + ") + product;
  }
  return text;
}

// That it is not negative.
std::optional<string> condition(const Expr& e, const Replacement& r, Reads reads) {
  if (e.terms().empty() || e.constant_term() == INT64_MIN) return std::nullopt;
  const std::int64_t least = -e.constant_term();
  if (const auto symbol = (e + Expr(least)).as_symbol()) {
    const auto name = variable(*symbol, r, reads);
    // Compared with what is not positive, an unsigned variable would not be what the nest takes it for.
    if (!name || least <= 0) return std::nullopt;
    return *name + " >= " + std::to_string(least) + (least > INT_MAX ? "LL" : "");
  }
  const auto value = in_double(e, r, reads);
  return value ? std::optional(*value + " >= " + std::to_string(least) + ".0") : std::nullopt;
}

// "(a && b)", "a", or nothing.
string joined(const std::vector<string>& conditions, const string& by) {
  string text;
  for (const string& one : conditions) text += (text.empty() ? "" : by) + one;
  return conditions.size() > 1 ? "(" + text + ")" : text;
}

}  // namespace

string least_shape(const Replacement& r, Reads reads) {
  // To clang, a branch on what has no value is undefined behaviour that it draws conclusions from: there is none but on
  // what assembly gives back.
  const bool may_be_unset = reads == Reads::Members;
  std::vector<string> any;
  for (const auto& needs : r.shapes) {
    std::vector<string> all;
    for (const Expr& e : needs) {
      const auto one = condition(e, r, reads);
      if (one) all.push_back(may_be_unset ? "(" + *one + ")" : *one);
    }
    if (all.empty()) return "";
    const string one = joined(all, may_be_unset ? " & " : " && ");
    if (std::ranges::find(any, one) == any.end()) any.push_back(one);
    if (planted(Fault::other_variants_forgotten)) break;
  }
  if (any.empty()) return "";
  const string text = joined(any, may_be_unset ? " | " : " || ");
  if (!may_be_unset) return text;
  return "__extension__({ int sous_shape = " + text + "; __asm__(\"\" : \"+r\"(sous_shape)); sous_shape; })";
}

}  // namespace sous::frontends::c
