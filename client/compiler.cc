#include "client/compiler.h"

#include "client/places.h"
#include "client/process.h"

namespace sous::client {

using std::string;
using Words = std::vector<string>;

bool is_gcc(const string& compiler) {
  const string name = name_of(compiler);
  return name.find("clang") == string::npos &&
         (name.find("gcc") != string::npos || name.find("g++") != string::npos || name == "cc" || name == "c99");
}

Words generated_options(const string& compiler, bool contract, bool openmp) {
  Words out{"-x",
            "c++",
            "-std=c++20",
            "-fno-exceptions",
            "-fno-rtti",
            "-fwrapv",
            "-fno-threadsafe-statics",
            "-fno-asynchronous-unwind-tables",
            "-w",
            "-I" + runtime_include_path()};
  // gcc contracts across expressions ("fast") where it contracts at all: the same as it does to the user's C.
  out.emplace_back(!contract ? "-ffp-contract=off" : is_gcc(compiler) ? "-ffp-contract=fast" : "-ffp-contract=on");
  if (openmp) out.emplace_back("-fopenmp");
  if (is_gcc(compiler)) out.emplace_back("-fno-gnu-unique");  // a shared library with it can be unloaded
  return out;
}

}  // namespace sous::client
