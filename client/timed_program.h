// A user's program that takes the time of its nests: some of them stand between two looks at the clock, as they are or
// as calls of generated code, and a recorder that is linked in writes what they took to the file $SOUS_TIMES.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/command_line.h"
#include "client/generated_code.h"
#include "client/process.h"
#include "frontends/lifted.h"
#include "targets/target.h"

namespace sous::client {

struct TimedNest {
  int number = 0;  // in the times
  frontends::Replacement replacement;
  bool generated = false;            // runs the replacement's function
  std::vector<std::string> symbols;  // C expressions whose values are written down
};

// The recorder: C of its own. Its sous_clock_stop and sous_clock_start (targets/target.h, `timed`) take time out.
extern const char* const timed_recorder;

// `nests`: disjoint, ascending.
std::string timed_program(const std::string& text, const std::vector<TimedNest>& nests);

// What a nest took, per call, one number for each run.
struct NestTimes {
  std::vector<double> seconds;  // while the clock ran
  std::vector<double> others;   // while it was stopped
  double calls = 0;             // of the last run
  bool generated = false;       // each call ran generated code
  bool varies = false;          // called with several values of its symbols
  std::vector<std::int64_t> values;
};
// Adds a run's file.
void add_times(const std::string& text, std::map<int, NestTimes>& times);

// Whether C text defines main, by a scan: what it takes for a main that is none is the linker's to say.
bool defines_main(const std::string& text);

// Compiles and links timed programs, as the user's compiler and options say. Errors: add.build (command and message),
// client.*.
struct TimedBuild {
  const TemporaryFolder& folder;
  const std::string& file;      // the user's
  const std::string& compiler;  // for C and for generated code
  const CommandLine& line;
  const std::vector<std::string>& user_link;  // options
  Contraction contraction;

  Result<void> recorder() const;  // record.o
  // The objects, and what linking with them takes.
  Result<std::vector<std::string>> generated(const std::vector<targets::Function>& functions) const;
  // `text`: preprocessed; `more`: what is linked besides the recorder.
  Result<void> program(const std::string& name, const std::string& text, const std::vector<std::string>& more) const;

 private:
  Result<void> command(const std::vector<std::string>& words) const;
};

}  // namespace sous::client
