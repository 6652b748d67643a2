#include "targets/cpp/operators.h"

#include <string>

#include "sdfg/planted_fault.h"

namespace sous::targets {

Text integer(std::int64_t value) {
  if (value == INT64_MIN) return {"INT64_MIN"};
  return {std::to_string(value), value < 0 ? Binding::Other : Binding::Primary};
}

Text infix(const Text& a, std::string_view op, const Text& b, Binding binding) {
  // The right operand of the same strength keeps its parentheses: neither - nor float + is associative.
  Binding right = binding == Binding::Sum ? Binding::Product : Binding::Primary;
  if (planted(Fault::minus_reassociated) && binding == Binding::Sum) right = Binding::Sum;
  const Binding left = binding == Binding::Other ? Binding::Primary : binding;
  return {a.in(left) + " " + std::string(op) + " " + b.in(right), binding};
}

Text call(std::string_view function, const std::vector<Text>& args) {
  std::string text = "sous::" + std::string(function) + "(";
  for (std::size_t k = 0; k < args.size(); ++k) text += (k > 0 ? ", " : "") + args[k].text;
  return {text + ")"};
}

}  // namespace sous::targets
