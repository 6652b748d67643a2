// Building and running one program of a suite with one compiler.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "benchmarks/compilers.h"
#include "benchmarks/suite.h"
#include "sdfg/result.h"

namespace sous::benchmarks {

// What is built: one program at one size and type.
struct Case {
  Program program;
  std::string size, type;

  std::string label() const { return program.name + " " + size + " " + type; }
};
// For each program each size and type. A program that cannot be built for a type takes its own default instead; nothing
// stands twice. No types: each program's default. Errors: suite.name.
Result<std::vector<Case>> cases(const Suite& suite, const std::vector<Program>& programs, const Words& sizes,
                                const Words& types);

// Whether the compiler can build it: one that wants other sources needs a program that has them.
bool applies(const Compiler& compiler, const Program& program);

// What the suite itself says about compiling a case: paths, size, type.
Words compile_flags(const Suite& suite, const Case& test);

// The command lines that build `test` into `output`, one after the other; a relative path of the suite is under its
// folder. `scratch` is a folder of this build's own.
std::vector<Words> build_commands(const Suite& suite, const Case& test, const Compiler& compiler, const Words& flags,
                                  const std::string& output, const std::string& scratch);

struct Built {
  std::string binary;
  double seconds = 0;       // of the commands
  std::string diagnostics;  // what they wrote on stderr
};
constexpr double longest_build_seconds = 300;
// Errors: bench.build with the command's message, client.run, client.limit, client.stopped.
Result<Built> build(const Suite& suite, const Case& test, const Compiler& compiler, const Words& flags,
                    const std::string& output);

// The arguments of its runs.
Words run_arguments(const Case& test);

struct RunRequest {
  Words arguments = {};      // of the program at its size
  std::string dump = {};     // file for the outputs; empty: none wanted
  int threads = 0;           // OMP_NUM_THREADS and the like; 0: as the environment says
  bool timed = true;         // false: nobody looks at the time, so the cache is not flushed and idle threads sleep
  double limit_seconds = 0;  // 0: as long as it takes
  std::map<std::string, std::string> environment = {};
};
struct Ran {
  double seconds = 0;   // that the program printed; of a suite of whole programs the same as `wall`
  double wall = 0;      // of the whole process
  double user = 0;      // its threads' time in user mode together
  std::string output;   // what it printed on stdout
  std::string library;  // what it said that it calls: the line "library: …" on stderr
};
// Errors: bench.run (it failed), bench.no-time, client.run, client.limit, client.stopped.
Result<Ran> run_program(const Suite& suite, const std::string& binary, const RunRequest& request);

// Same, with the outputs: runs with a dump into `file`, reads and removes it; or takes what it printed, where the suite
// is one of whole programs. Errors: as run_program, client.read.
struct Dumped {
  Ran ran;
  std::string outputs;
};
Result<Dumped> run_and_dump(const Suite& suite, const std::string& binary, const std::string& file, RunRequest request);

}  // namespace sous::benchmarks
