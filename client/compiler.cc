#include "client/compiler.h"

#include "client/process.h"

namespace sous::client {

using std::string;

bool is_gcc(const string& compiler) {
  const string name = name_of(compiler);
  return name.find("clang") == string::npos &&
         (name.find("gcc") != string::npos || name.find("g++") != string::npos || name == "cc" || name == "c99");
}

std::string first_error(const std::string& diagnostics) {
  const auto error = diagnostics.find("error");
  const auto start = error == std::string::npos ? 0 : diagnostics.rfind('\n', error) + 1;
  return diagnostics.substr(start, diagnostics.find('\n', start) - start);
}

}  // namespace sous::client
