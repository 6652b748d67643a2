#include "frontends/c/passing.h"

#include <algorithm>
#include <array>

namespace sous::frontends::c {

using std::string;

namespace {

string value_type(const Argument& argument) {
  return argument.kind == Argument::Kind::Array ? argument.type + " *" : argument.type;
}

}  // namespace

string in_identifier(string text) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); };
  std::replace_if(text.begin(), text.end(), [&](char c) { return !fits(c); }, '_');
  return text;
}

// What the struct holds: promoted, since who is called takes a narrow argument as extended, and a struct's member is
// not.
string member_type(const Argument& argument) {
  static constexpr std::array wide{"int",   "long",  "long long", "unsigned int", "unsigned long", "unsigned long long",
                                   "float", "double"};
  if (argument.kind == Argument::Kind::Array || std::ranges::find(wide, argument.type) != wide.end())
    return value_type(argument);
  return "__typeof__(+(" + argument.type + ")0)";
}
string unset_type(const Argument& argument) {
  return "struct sous_unset_" + in_identifier(argument.type) +
         (argument.kind == Argument::Kind::Array ? "_pointer" : "");
}
bool is_unset(const Argument& argument) { return argument.unset && argument.kind != Argument::Kind::ScalarInOut; }
string parameter_type(const Argument& argument) {
  if (is_unset(argument)) return unset_type(argument);
  switch (argument.kind) {
    case Argument::Kind::Symbol:
    case Argument::Kind::ScalarIn:
      return argument.type;
    case Argument::Kind::ScalarInOut:
    case Argument::Kind::Array:
      return argument.type + " *";
  }
  __builtin_unreachable();
}

string passed(const Argument& argument) {
  if (is_unset(argument))
    return "(" + unset_type(argument) + "){(" + value_type(argument) + ")(" + argument.expression + ")}";
  switch (argument.kind) {
    case Argument::Kind::Symbol:
      return "(" + argument.type + ")(" + argument.expression + ")";
    case Argument::Kind::ScalarIn:
      return argument.expression;
    case Argument::Kind::ScalarInOut:
      return "&(" + argument.expression + ")";
    case Argument::Kind::Array:
      return "(" + argument.type + " *)(" + argument.expression + ")";
  }
  __builtin_unreachable();
}

}  // namespace sous::frontends::c
