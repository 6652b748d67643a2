// The compilers that Sous stands in front of.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/result_cache.h"

namespace sous::client {

// Whether the compiler is of gcc's kind (by its name).
bool is_gcc(const std::string& compiler);
// Whether the processors that it compiles for with these options multiply and add with one rounding. No table says
// what a compiler's own default is, or a configuration file's: it is asked, or what is kept of that in the cache
// (perhaps null). Nullopt: it does not say.
std::optional<bool> has_fma(const std::string& compiler, const std::vector<std::string>& options,
                            const ResultCache* cache);
// What makes loops begin where lines of the processor's cache of decoded instructions do. clang has them begin at any
// 16 bytes, so it is chance whether a short one lies in one line or in two, which is up to half of its speed; and code
// beside which a call was written lies elsewhere than it did. Not at the price of more padding than is run through
// unnoticed in front of short inner loops (docs/decisions/045). Nothing for gcc, and where `flags` say where loops
// begin.
std::vector<std::string> aligned_loops(const std::string& compiler, const std::vector<std::string>& flags);
// Of what a compiler said: the first line that says "error", or the first of all.
std::string first_error(const std::string& diagnostics);
// The options by which warnings can be had or not, which a compiler says behind each: "-Wunused-variable". "?" stands
// for one that has none, and for whatever else is said.
std::set<std::string> warning_options(const std::string& diagnostics);
// Whether it may warn so ("-Wframe-larger-than") only where it makes code, and not where it parses.
bool is_said_of_code(const std::string& compiler, const std::string& option);

}  // namespace sous::client
