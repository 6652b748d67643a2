// What `sous work` does with a job that a server leased to it: tunes a nest that somebody wants, or measures again what
// somebody claims. Of the programs nothing is known but nests in normal form, which stand in for the originals, as in
// `sous setup`; the normal form may be slower than the program was, so a gain counts only if it is `least_worked`.
//
// A server may be hostile. Its nests run only where they stay inside of their arrays (client/contained.h), recipes are
// proven as everywhere, of an entry's flags those are taken that `setup_flags` lets through, and all of it is done in a
// process with limits (client/work_process.h).
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "sdfg/result.h"
#include "server/job_protocol.h"
#include "transforms/source.h"
#include "tuning-db/entry.h"

namespace sous::client {

// What a recipe must gain over the normal form to be sent. Of PolyBench's 30 kernels (MEDIUM, one thread) the normal
// form is at most 3 % slower than the program in 28, 1.51 times in adi and 2.29 in syrk.
inline constexpr double least_worked = 1.5;

struct WorkOptions {
  double seconds = 60;  // of searching, for a nest
  std::string compiler = "clang-19";
  const std::atomic<bool>* stop = nullptr;
};

struct Worked {
  tuning_db::JobOutcome outcome = tuning_db::JobOutcome::failed;
  std::vector<tuning_db::Entry> entries;  // found: to be sent
  Error error = {"", ""};                 // failed: why
  std::string said;                       // for people
};
std::string to_json(const Worked& worked);
// Errors: work.result, those of entries.
Result<Worked> worked_from_json(std::string_view json);

// The compiler's options that make it build for an instruction set on this machine.
std::vector<std::string> flags_for(tuning_db::Isa isa, const tuning_db::Hardware& machine);

// What the server knows of similar nests; whatever fails is none.
using AskKnown =
    std::function<std::vector<transforms::Match>(const transforms::NestQuery&, const tuning_db::Hardware&)>;

// Errors of either are outcomes. This process has the cores and threads that the job asks for (client/work_process.h).
Worked work_on(const server::LeasedJob& job, const WorkOptions& options, const AskKnown& ask);

// "tune 1a2b3c4d for x86-64:avx2:8c:l2=1M:l3=32M"
std::string in_words(const server::LeasedJob& job);

}  // namespace sous::client
