#include "targets/cpp/cpp.h"

#include "targets/cpp/printer.h"

namespace sous::targets {

Result<std::string> emit_cpp(const sdfg::Sdfg& sdfg, const EmitOptions& options) {
  return print_function(sdfg, options, Dialect{});
}

}  // namespace sous::targets
