// What became of each nest in one line: --explain and compiler-style remarks (-Rsous, SOUS_REMARKS=1).
//
// A line says what the nest got, or one reason why not and one next step; --explain names the nearest two recipes that
// it did not get, too. Nests come hottest first, by their estimated work. report.h has everything there is to know
// (--explain=all).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/options.h"
#include "client/report.h"

namespace sous::client {

// Indices of the nests, most work first; equal ones in the order of the text.
std::vector<std::size_t> hottest_first(const Report& report);

// One reason: of the hottest unit that got nothing, the candidate that came nearest to being used.
std::string reason_of(const NestReport& nest);
// The reason without names and numbers, so that those of many nests can be counted: "no evidence: too far", or the
// code.
std::string kind_of(const NestReport& nest);
// What its reader may do about it; "" if there is nothing.
std::string next_step(const NestReport& nest);

// "gemm.c:6: kernel: served: …\n" for each nest, then the loops that were not lifted, then a line that says where the
// rest is.
std::string short_text(const Report& report);
// "gemm.c:6:3: remark: served: … [-Rsous]\n"; loops that are not lifted have their code too.
std::string remarks(const Report& report);

// On standard error, as the options say.
void explain(const Report& report, const Options& options);

}  // namespace sous::client
