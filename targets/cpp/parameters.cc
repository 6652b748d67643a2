#include "targets/cpp/parameters.h"

#include <algorithm>

namespace sous::targets {

std::string join(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string parameter_list(const std::string& head, const std::vector<std::string>& parameters) {
  std::string one = head + "(" + join(parameters) + ")";
  if (one.size() <= 118) return one;
  std::string text = head + "(";
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    text += "\n    " + parameters[k] + (k + 1 < parameters.size() ? "," : ")");
  }
  return text;
}

void print_entry_by_value(Lines& out, const sdfg::Sdfg& sdfg, const EmitOptions& options, Names& names,
                          const std::string& by_memory, std::vector<std::string> parameters) {
  const std::string result = options.function + "_values";
  const auto type = [&](const std::string& name) { return std::string(sdfg::info(sdfg.find(name)->type).cpp); };
  std::vector<std::string> passed;
  for (std::size_t k = 0; k < parameters.size(); ++k) {
    const std::string& argument = sdfg.arguments[k];
    const bool value = std::ranges::find(options.values, argument) != options.values.end();
    if (value) parameters[k] = type(argument) + " " + names.of(argument);
    passed.push_back((value ? "&" : "") + parameters[k].substr(parameters[k].find_last_of(" *") + 1));
  }
  std::string members, values;
  for (const std::string& name : options.values) {
    if (sdfg.find(name)->dead) continue;
    const bool narrow = sdfg::info(sdfg.find(name)->type).bytes < 4;
    members += (narrow ? "int" : type(name)) + " " + names.of(name) + "; ";
    values += names.of(name) + ", ";
  }
  const std::string ran = names.fresh("ran");
  out.line("");
  out.line("struct " + result + " { " + members + "int " + ran + "; };");
  out.open(parameter_list("extern \"C\" __attribute__((visibility(\"hidden\"))) " + result + " " + options.function,
                          parameters));
  out.line("const int " + ran + " = " + by_memory + "(" + join(passed) + ");");
  out.line("return {" + values + ran + "};");
  out.close();
}

}  // namespace sous::targets
