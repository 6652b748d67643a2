// Targets: an Sdfg with schedules becomes C++ text.
//
// Generated code includes only targets/runtime/ headers, needs no C++ runtime library (no exceptions, no static
// constructors), compiles without warnings with clang-19 and g++-12 at -Wall -Wextra, and is the same bytes for the
// same input.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::targets {

// What a run must bring for a recipe to be known to gain; where it brings less, the entry leaves the work to the
// original. It counts the nest as it was before the recipe.
struct Guard {
  sdfg::Region original;                   // in the names of the Sdfg that is emitted
  std::vector<double> least_extents = {};  // iterations, per loop of it in preorder; 0 or absent: any
  double least_work = 0;                   // executions of its statements
  double gain = 0;                         // seconds per execution of a statement; 0: not known
};

// A loop whose schedule the code does not have.
struct Unfollowed {
  std::string loop;      // its symbol
  bool threads = false;  // it was to run on threads and runs on one; otherwise: it was to run as vectors
  std::string why;
  bool operator==(const Unfollowed&) const = default;
};

// Where in the user's text the code comes from, for debuggers and profilers.
struct SourceLines {
  std::string file;
  int line = 0;                      // of what is in no loop; 0: the code has lines of its own
  std::map<std::string, int> loops;  // by symbol; a loop that is not here has the line of what is around it
};

// Some of the nodes that an Sdfg's root region holds, [first, last).
struct Part {
  std::size_t first = 0, last = 0;
};

struct EmitOptions {
  // Name of the extern "C" function. It takes the Sdfg's arguments in order: symbols as int64_t, scalars that are never
  // written by value, other containers as pointers to their elements; it returns int: 1 when it ran, 0 when a condition
  // (guards, assumptions, disjoint footprints, threads, memory for large temporaries) does not hold, with nothing
  // changed.
  std::string function = "kernel";
  bool contract = true;           // a*b+c inside one expression may become one fma (the user's -ffp-contract)
  bool reassociate = false;       // -fassociative-math: reductions may be split
  bool approximate_math = false;  // -fapprox-func / -ffast-math: vector exp, log, … instead of the C library's
  bool math_errno = false;  // functions of the C library set errno (-fmath-errno): so do their vectors and threads
  std::vector<Guard> guards = {};  // of nests whose sizes are not known at build time; all of them must hold
  int least_threads = 1;           // run only where parallel regions get so many
  std::string comment = {};        // put above the function: where the nest came from, which recipe
  SourceLines lines = {};
  std::vector<Unfollowed>* unfollowed = nullptr;  // where given: gets the loops that do not run as scheduled
  bool restrict_arguments = true;                 // arguments in different alias classes are declared restrict
  // For measuring a part by itself: the code calls sous_clock_stop() ahead of what is not of it and sous_clock_start()
  // behind that (C functions of whoever measures).
  std::optional<Part> timed = {};
};

struct Target {
  std::string_view name;
  std::string_view summary;
  // One function. Errors: target.unsupported (why).
  Result<std::string> (*emit)(const sdfg::Sdfg& sdfg, const EmitOptions& options);
  bool needs_openmp;  // compile and link with -fopenmp
};

// Sorted by name.
std::span<const Target> targets();
const Target* find_target(std::string_view name);

// A whole file: the includes that `names` need and the functions (as emitted), in order.
std::string source_file(const std::vector<std::string_view>& target_names, const std::vector<std::string>& functions,
                        std::string_view comment);

}  // namespace sous::targets
