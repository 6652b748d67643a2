// The rewritten C: each served nest becomes a guarded call of generated code, with the original nest in the other
// branch:
//
//   { if (!sous_kernel_12((long long)(n), (double *)(A))) { …original… } else { …epilogue… } }
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/c/lift.h"

namespace sous::client {

struct Replacement {
  std::size_t begin = 0, end = 0;  // bytes of the text
  std::string function;            // generated
  std::vector<frontends::c::Argument> arguments;
  std::string epilogue;
  std::string note;   // for the readable form: one line about the recipe
  std::string guard;  // C: the arguments may be read where it is not zero; empty: always
};

// "int sous_f(long long, double *)"
std::string prototype(const Replacement& replacement);
// "sous_f((long long)(n), (double *)(A))", or "(guard && sous_f(…))"
std::string call(const Replacement& replacement);

// Declarations that the prototypes need, or nothing.
std::string unset_types(const std::vector<Replacement>& replacements);

// For preprocessed text: adds no line break, so that every line keeps its number without further markers.
// `replacements`: disjoint, ascending.
std::string splice_preprocessed(std::string_view text, const std::vector<Replacement>& replacements);

// For a person: one part per line, and #line where the user's lines go on.
std::string splice_readable(std::string_view text, std::string_view path, const std::vector<Replacement>& replacements);

}  // namespace sous::client
