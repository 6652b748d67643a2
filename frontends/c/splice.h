// The rewritten C: each served nest becomes a guarded call of generated code, with the original nest in the other
// branch. What says which of them runs is a function that changes nothing: ahead of the original nothing is called that
// may have, and to the compiler it is what it was.
//
//   { int sous_variant = 0;
//     if (!(sous_variant = sous_kernel_12_takes((long long)(n)))) { …original… }
//     else { sous_kernel_12((long long)(n), (double *)(A), sous_variant); …epilogue… } }
//
// Code for a GPU says by itself whether it ran, for it may fail:
//
//   { if (!sous_kernel_12((long long)(n), (double *)(A))) { …original… } else { …epilogue… } }
//
// Where the nest writes nothing but a few variables of the function's own, the call is declared pure, and hands them
// back as values: what the compiler may do with a function that only reads, it may do with the rewritten one.
//
//   { struct sous_sum_12_values sous_values = {0};
//     if (!(sous_values = sous_sum_12(n, (double *)(A), s)).ran) { …original… } else { s = sous_values.value0; } }
//
// A function that is nothing but the nest (frontends/c/whole_function.h) is written twice, the original by itself:
//
//   static __attribute__((__noinline__)) void f_sous_f_12_original(int n, double *A) { …original… }
//   void f(int n, double *A) { { … if (…) { f_sous_f_12_original(n, A); } else { sous_f_12(…); } } }
//
// Replacements are disjoint and ascending everywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/lifted.h"

namespace sous::frontends::c {

// What the compiler understands of attributes.
enum class Attributes : std::uint8_t { None, Clangs };
// "int sous_f(long long, double *)"; behind it, perhaps, the declaration of what is asked where that one declines.
// Generated code keeps no pointer: with clang's attributes the prototype says so, and what the compiler knows of the
// memory stays true for the original.
std::string prototype(const Replacement& replacement, Attributes attributes = Attributes::None);
// Whether generated code runs, or has run: "(sous_variant = sous_f_takes(…))", "sous_f((long long)(n), (double *)(A))",
// "(sous_f(…) || sous_g(…))", or one of these as "(guard && …)".
std::string call(const Replacement& replacement);
// What goes ahead of the original where neither takes the call: "sous_residence_1 = 0; ", or nothing.
std::string forgotten(const Replacement& replacement);

// Declarations that the prototypes and the calls need, or nothing.
std::string types_of(const std::vector<Replacement>& replacements, Attributes attributes = Attributes::None);

// The text with each stretch replaced by what `call_of` makes of it and of its text. `inserted`: what stands ahead of
// bytes of the text that are in no stretch.
std::string replaced(
    std::string_view text, const std::vector<Replacement>& replacements,
    const std::function<std::string(const Replacement& replacement, std::string_view original)>& call_of,
    const std::map<std::size_t, std::string>& inserted = {});

// How large a function with a hint may become by the calls that stand in it, beside what a compiler puts in the place
// of a call unasked: for clang's -inlinehint-threshold. 0: no function has a hint.
int hinted_size(const std::vector<Replacement>& replacements);

// For preprocessed text: adds no line break, so that every line keeps its number without further markers.
std::string splice_preprocessed(std::string_view text, const std::vector<Replacement>& replacements,
                                Attributes attributes = Attributes::None);

// For a person: one part per line, and #line where the user's lines go on.
std::string splice_readable(std::string_view text, std::string_view path, const std::vector<Replacement>& replacements);

}  // namespace sous::frontends::c
