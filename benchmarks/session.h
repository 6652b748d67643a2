// One session of measuring a suite: which cases are left, how the time is shared, what is written when.
#pragma once

#include <string>
#include <vector>

#include "benchmarks/harness.h"
#include "benchmarks/results.h"
#include "tuning-db/hardware.h"

namespace sous::benchmarks {

struct SessionFacts {
  std::string session;                  // when it began
  std::vector<std::string> identities;  // of the plan's compilers
};

// The lines of a case: one for each compiler that applies.
std::vector<Line> lines_of(const Suite& suite, const Plan& plan, const CaseResult& result,
                           const tuning_db::Hardware& machine, const SessionFacts& facts);

// The commands as they are written and compared: as JSON, without the session's folder; last, where the program has
// arguments for the size, its run.
std::string written_commands(const Suite& suite, const Case& test, const Compiler& compiler, const Words& flags);

// Whether `lines` have the whole case: every compiler that applies, built by the same commands, run with as many
// threads and as often, in one session, completely. A case is measured whole or not at all, as its builds take turns.
bool is_done(const Suite& suite, const Plan& plan, const Case& test, const std::vector<Line>& lines);

// Error: bench.resume, where the lines were measured on a machine of another class or model.
Result<void> check_machine(const std::vector<Line>& lines, const tuning_db::Hardware& here);

}  // namespace sous::benchmarks
