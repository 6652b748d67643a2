// Known faults that the tests have to catch: a check of the safety net itself (tools/faults.py, docs/trust.md).
//
// A fault is one line at the place where a mistake would be made: `if (planted(Fault::flow_dropped)) continue;`. In a
// build with SOUS_PLANTED_FAULTS the environment variable SOUS_FAULT names the one that is alive; in every other build
// `planted` is the constant false, and nothing of it is left in the program. Only the files that include this header
// are compiled with the option's definition, so such a build costs little beside an ordinary one (CMakeLists.txt).
#pragma once

#include <cstdlib>
#include <string_view>

namespace sous {

enum class Fault {
#define X(name, what) name,
#include "sdfg/planted_faults.list"
#undef X
};

#ifdef SOUS_PLANTED_FAULTS
inline bool planted(Fault fault) {
  static constexpr std::string_view names[] = {
#define X(name, what) #name,
#include "sdfg/planted_faults.list"
#undef X
  };
  const char* wanted = std::getenv("SOUS_FAULT");
  return wanted != nullptr && names[static_cast<int>(fault)] == std::string_view(wanted);
}
#else
constexpr bool planted(Fault) { return false; }
#endif

}  // namespace sous
