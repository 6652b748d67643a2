#include "client/floating_point.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace sous::client {
namespace {

using std::string;
using std::string_view;

// As the compilers keep it while they read their options.
struct State {
  explicit State(bool of_gcc) : gcc(of_gcc), traps(of_gcc) {}

  bool gcc;
  Contraction contraction = Contraction::InExpressions;
  std::optional<Contraction> contraction_given;
  bool associative = false, signed_zeros = true, traps;
  bool unsafe = false;
  bool nans = true, approximate = false, math_errno = true, limited_range = false, fortran_rules = false, iso = false;

  // gcc's contraction is no part of these, and what it says of zeros and traps is.
  void allow_unsafe(bool yes) {
    unsafe = associative = yes;
    signed_zeros = !yes;
    traps = gcc && !yes;
    if (!gcc) contraction = yes ? Contraction::Everywhere : contraction_given.value_or(Contraction::InExpressions);
    approximate = approximate && yes;
  }
  void allow_all(bool yes) {
    allow_unsafe(yes);
    nans = !yes;
    approximate = yes;
    math_errno = !yes;
    limited_range = limited_range || yes;
  }

  void read(string_view option) {
    const auto is = [&](string_view name, bool& what, bool value = true) {
      if (option.starts_with("-fno-") && option.substr(5) == name) what = !value;
      if (option.starts_with("-f") && option.substr(2) == name) what = value;
    };
    is("associative-math", associative);
    is("signed-zeros", signed_zeros);
    is("trapping-math", traps);
    is("finite-math-only", nans, false);
    is("honor-nans", nans);
    is("approx-func", approximate);
    is("math-errno", math_errno);
    is("cx-limited-range", limited_range);
    is("cx-fortran-rules", gcc ? fortran_rules : limited_range);
    if (option == "-funsafe-math-optimizations" || option == "-fno-unsafe-math-optimizations")
      allow_unsafe(option.starts_with("-fun"));
    if (option == "-ffast-math" || option == "-fno-fast-math") allow_all(option == "-ffast-math");
    if (option.starts_with("-fcomplex-arithmetic=")) limited_range = !option.ends_with("=full");
    if (option.starts_with("-ffp-model=")) model(option.substr(option.find('=') + 1));
    if (option.starts_with("-ffp-contract=")) contract(option.substr(option.find('=') + 1));
    if (option.starts_with("-std=") || option == "-ansi") iso = !option.starts_with("-std=gnu");
  }

 private:
  // clang's alone. From clang 20 on, the fast one keeps NaNs.
  void model(string_view name) {
    contraction_given.reset();
    allow_all(name == "fast" || name == "aggressive");
    nans = name != "aggressive";
    if (name == "strict") contraction = Contraction::Off;
  }
  // gcc's "on" is "off" to it.
  void contract(string_view how) {
    contraction = how.starts_with("fast") ? Contraction::Everywhere
                  : how == "on" && !gcc   ? Contraction::InExpressions
                                          : Contraction::Off;
    contraction_given = contraction;
  }
};

bool is_level(const string& option) { return option.starts_with("-O"); }

// "-fX" and "-fno-X" are "X"; nothing, if it is no such option.
string_view switch_name(string_view option) {
  if (!option.starts_with("-f") || option.contains('=')) return {};
  return option.substr(option.starts_with("-fno-") ? 5 : 2);
}

}  // namespace

FloatingPoint floating_point(const std::vector<string>& arguments, bool gcc) {
  State state(gcc);
  const auto level = std::find_if(arguments.rbegin(), arguments.rend(), is_level);
  const bool fastest = level != arguments.rend() && *level == "-Ofast";
  // To gcc, -Ofast is what all options start from.
  if (gcc && fastest) state.allow_all(true);
  for (auto option = arguments.begin(); option != arguments.end(); ++option) {
    if (!gcc && fastest && *option == "-Ofast") state.allow_all(true);
    // gcc's driver forgets what is said again behind it, or taken back.
    const auto same = [&](const string& later) { return switch_name(later) == switch_name(*option); };
    if (gcc && !switch_name(*option).empty() && std::any_of(option + 1, arguments.end(), same)) continue;
    state.read(*option);
  }
  if (gcc && !state.contraction_given)
    state.contraction = state.iso && !state.unsafe ? Contraction::Off : Contraction::Everywhere;
  return {.contraction = state.contraction,
          .reassociate = state.associative && !state.signed_zeros && !state.traps,
          .no_nans = !state.nans,
          .approximate_math = state.approximate,
          .math_errno = state.math_errno,
          .limited_range = state.limited_range || state.fortran_rules};
}

std::vector<string> clang_options(const FloatingPoint& allowed) {
  std::vector<string> out{allowed.contraction == Contraction::Off          ? "-ffp-contract=off"
                          : allowed.contraction == Contraction::Everywhere ? "-ffp-contract=fast"
                                                                           : "-ffp-contract=on",
                          allowed.limited_range ? "-fcx-limited-range" : "-fno-cx-limited-range"};
  if (allowed.reassociate) out.insert(out.end(), {"-fassociative-math", "-fno-signed-zeros"});
  return out;
}

}  // namespace sous::client
