#include "targets/cpp/caller.h"

namespace sous::targets {

bool passed_by_value(const sdfg::Container& container, const std::set<std::string>& written) {
  return container.shape.empty() && !written.contains(container.name);
}

std::string cpp_caller(const sdfg::Sdfg& sdfg, const std::string& function, const std::string& name) {
  const std::set<std::string> written = sdfg::touched(sdfg.root).written;
  std::string passed;
  for (std::size_t k = 0; k < sdfg.arguments.size(); ++k) {
    const sdfg::Container* container = sdfg.find(sdfg.arguments[k]);
    const std::string type = container == nullptr ? "int64_t" : std::string(sdfg::info(container->type).cpp);
    const bool by_value = container == nullptr || passed_by_value(*container, written);
    passed += (k == 0 ? "" : ", ") + std::string(by_value ? "*" : "") + "static_cast<" + type + "*>(arguments[" +
              std::to_string(k) + "])";
  }
  return "extern \"C\" __attribute__((visibility(\"default\"))) int " + name +
         "([[maybe_unused]] void* const* arguments) {\n  return " + function + "(" + passed + ");\n}\n";
}

}  // namespace sous::targets
