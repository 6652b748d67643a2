#include "frontends/lifted.h"

#include <algorithm>
#include <utility>

#include "sdfg/mathematics.h"
#include "sdfg/planted_fault.h"

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

namespace {

// Of a result in registers, in bytes, and what it says besides: whether the code ran.
constexpr int most_in_registers = 16, of_ran = 4;

// It may run forever, or set errno.
bool may_be_seen(const sdfg::Region& region, bool math_errno) {
  bool seen = false;
  sdfg::visit(region, [&](const sdfg::Node& node) { seen = seen || std::holds_alternative<sdfg::While>(node.value); });
  if (math_errno && !planted(Fault::errno_taken_as_unseen)) {
    sdfg::for_each_code(region, [&](const sdfg::ScalarExpr& code) { seen = seen || sdfg::sets_errno(code); });
  }
  return seen;
}

}  // namespace

std::vector<std::string> values_of(const LiftedNest& lifted, const sdfg::Sdfg& emitted, bool math_errno) {
  const sdfg::Touched touched = sdfg::touched(emitted.root);
  // As a member: no narrower than an int, so that none has padding ahead of it, which a program may have packed away.
  const auto size = [&](const std::string& name) {
    return std::max(sdfg::info(emitted.find(name)->type).bytes, of_ran);
  };
  std::vector<std::string> values;
  int bytes = of_ran;
  for (const Argument& argument : lifted.arguments) {
    if (!touched.written.contains(argument.name)) continue;
    if (argument.kind != Argument::Kind::ScalarInOut || !argument.own) return {};
    if (!emitted.find(argument.name)->dead) bytes += size(argument.name);
    values.push_back(argument.name);
  }
  if (bytes > most_in_registers || may_be_seen(emitted.root, math_errno)) return {};
  std::ranges::sort(values, {}, [&](const std::string& name) { return std::pair(-size(name), name); });
  return values;
}

Replacement replacement(const LiftedNest& lifted, const std::string& function, const sdfg::Sdfg& emitted,
                        const std::string& note, const std::vector<std::string>& values) {
  Replacement out{.begin = lifted.begin,
                  .end = lifted.end,
                  .function = function,
                  .arguments = arguments_for(lifted, emitted),
                  .pure = !values.empty(),
                  .epilogue = lifted.epilogue,
                  .note = note,
                  .guard = lifted.guard,
                  .hint = lifted.hint,
                  .whole = lifted.whole};
  for (const std::string& name : values) {
    Argument& argument = *std::ranges::find(out.arguments, name, &Argument::name);
    argument.kind = Argument::Kind::ScalarIn;
    if (!emitted.find(name)->dead) out.results.push_back(argument);
  }
  return out;
}

void ask_first(Replacement& replacement, const std::string& function, const std::vector<std::string>& arguments,
               bool of_arguments_alone) {
  replacement.asked = {.function = function, .arguments = {}, .of_arguments_alone = of_arguments_alone};
  for (const std::string& name : arguments)
    replacement.asked->arguments.push_back(*std::ranges::find(replacement.arguments, name, &Argument::name));
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
