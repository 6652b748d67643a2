#include "frontends/lifted.h"

namespace sous::frontends {

std::vector<Argument> arguments_for(const LiftedNest& lifted, const sdfg::Sdfg& emitted) {
  using Kind = Argument::Kind;
  const sdfg::Touched touched = sdfg::touched(emitted.root);
  std::vector<Argument> arguments = lifted.arguments;
  for (auto& argument : arguments) {
    if (argument.kind == Kind::ScalarInOut && !touched.written.contains(argument.name)) argument.kind = Kind::ScalarIn;
  }
  return arguments;
}

Replacement replacement(const LiftedNest& lifted, const std::string& function, const sdfg::Sdfg& emitted,
                        const std::string& note) {
  return {.begin = lifted.begin,
          .end = lifted.end,
          .function = function,
          .arguments = arguments_for(lifted, emitted),
          .epilogue = lifted.epilogue,
          .note = note,
          .guard = lifted.guard,
          .hint = lifted.hint};
}

std::map<std::string, sdfg::ElementType> symbol_types(const LiftedNest& lifted) {
  std::map<std::string, sdfg::ElementType> result;
  for (const Argument& argument : lifted.arguments)
    if (argument.kind == Argument::Kind::Symbol && argument.symbol_type != sdfg::ElementType::i64)
      result.emplace(argument.name, argument.symbol_type);
  return result;
}

LiftedNest lifted_from(const sdfg::Sdfg& sdfg, const std::map<std::string, std::int64_t>& sizes) {
  using Kind = Argument::Kind;
  LiftedNest lifted;
  lifted.function = "nest";
  lifted.sdfg = sdfg;
  lifted.known = sizes;
  for (const auto& name : sdfg.arguments) {
    const auto* container = sdfg.find(name);
    const Kind kind = container == nullptr ? Kind::Symbol : container->shape.empty() ? Kind::ScalarInOut : Kind::Array;
    lifted.arguments.push_back({.kind = kind, .name = name, .type = {}, .expression = name});
  }
  return lifted;
}

}  // namespace sous::frontends
