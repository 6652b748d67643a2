#include "client/compiler.h"

#include "client/process.h"

namespace sous::client {

using std::string;

bool is_gcc(const string& compiler) {
  const string name = name_of(compiler);
  return name.find("clang") == string::npos &&
         (name.find("gcc") != string::npos || name.find("g++") != string::npos || name == "cc" || name == "c99");
}

}  // namespace sous::client
