// `sous setup`: measures here, once, what the database knows from other machines.
//
// An entry is measured again in the program that it came from, where that is one of the programs that Sous brings
// along: the original is then what the user's compiler makes of C as it was written, the only honest thing to be faster
// than. Of any other entry (a user's own, a server's) only the nest in normal form is known. It stands in for the
// original, and since the normal form may be slower than the program was (a loop split in two reads its arrays twice),
// such a measurement claims at most the gain that was measured in the program itself.
//
// What is done is what the database says: each result is stored at once, so that a second call goes on where the first
// was stopped, and whatever was too slow is an entry too, which keeps the recipe from being used here.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "client/inputs.h"
#include "client/options.h"
#include "client/pipeline.h"
#include "tuning-db/store.h"

namespace sous::client {

struct SetupTask {
  tuning_db::Entry entry;  // as measured elsewhere
  double seconds = 0;      // that measuring it here may take
  double worth = 0;        // what it gains (the logarithm of the ratio) per second of measuring
  std::vector<std::string>
      replaces;  // ids of earlier measurements of this class (`again`): the new one is put in their place
};

// What is to be measured, and how.
struct SetupPlan {
  std::string only;                // names of entries ("gemm", "gemm#0"), separated by commas; empty: all
  bool again = false;              // also what was measured on this class already
  std::vector<std::string> flags;  // of the compiler, its name first or clang-19; empty: as each entry was measured
};

// The entries that this class of machine has no measurement of, worth most first. Errors: those of the store.
Result<std::vector<SetupTask>> setup_tasks(const tuning_db::Store& store, const tuning_db::Hardware& machine,
                                           const SetupPlan& plan);
// The compiler and the flags to measure an entry with. An entry can come from anyone: of its own, only those words are
// taken that choose instructions and the meaning of floating point, and a compiler by a usual name.
std::vector<std::string> setup_flags(const std::string& compiler, const std::string& flags, const SetupPlan& plan);

struct SetupRun {
  int measured = 0, failed = 0, left = 0;  // tasks; left: the budget or a signal ended it
  int faster = 0;                          // of the measured
};

// Measures an entry here: the entries to store (at least one unless it fails).
using SetupMeasure = std::function<Result<std::vector<tuning_db::Entry>>(const tuning_db::Entry&)>;
// Before each task and behind it: what it is, and what came of it (null before).
using SetupProgress =
    std::function<void(std::size_t task, const SetupTask&, const Result<std::vector<tuning_db::Entry>>* outcome)>;

// Task by task, as long as `budget_seconds` (0: no end) have not passed and `stop` is false. A task that does not fit
// into what is left of the budget is passed over for one that does. Errors: those of the store; a task that fails is no
// error.
Result<SetupRun> run_setup(tuning_db::Store& store, const std::vector<SetupTask>& tasks, double budget_seconds,
                           const std::atomic<bool>& stop, const SetupMeasure& measure, const SetupProgress& progress,
                           const std::function<double()>& clock);

// The measurement itself. Errors: those of db add and of measuring on the spot; setup.nest.
Result<std::vector<tuning_db::Entry>> measure_here(const tuning_db::Entry& entry, const std::vector<std::string>& flags,
                                                   const std::atomic<bool>& stop);
// The same of its nest in normal form alone, whatever program it came from.
struct NestTrial {
  Inputs inputs = Inputs::Tame;
  bool reassociate = false;  // its flags do not say so, but the program did
  std::string by = "sous setup";
};
Result<std::vector<tuning_db::Entry>> measure_nest(const tuning_db::Entry& entry, const std::vector<std::string>& flags,
                                                   const std::atomic<bool>& stop, const NestTrial& trial);
// The program among those that Sous brings along that an entry of this name was measured in: the file, its flags, the
// function with the nest. Empty file: none.
struct SetupProgram {
  std::string file, function;
  std::vector<std::string> flags;
};
SetupProgram setup_program(const std::string& entry_name);

}  // namespace sous::client
