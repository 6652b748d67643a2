// Building and running one program of a suite with one compiler.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/suite.h"
#include "sdfg/result.h"

namespace sous::benchmarks {

struct Compiler {
  std::string name;  // the column's head
  Words command;     // "sous", "clang-19"
  Words flags = {};  // of this compiler alone, behind the common ones
};

// A comma-separated list of the names below, or NAME=COMMAND for any other ("polly=clang-19 -mllvm -polly"; a command
// has no comma): clang, gcc, sous (over clang), sous-gcc. Errors: bench.compiler.
Result<std::vector<Compiler>> parse_compilers(std::string_view text);
// This program as a launcher over clang-19, with Sous's own options before the compiler.
Compiler sous_over_clang(const Words& options = {});

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

// The whole command line that builds `test` into `output`; a relative path of the suite is under its folder.
Words build_command(const Suite& suite, const Case& test, const Compiler& compiler, const Words& flags,
                    const std::string& output);

struct Built {
  std::string binary;
  double seconds = 0;       // of the command
  std::string diagnostics;  // what it wrote on stderr
};
// Errors: bench.build with the command's message, client.run.
Result<Built> build(const Suite& suite, const Case& test, const Compiler& compiler, const Words& flags,
                    const std::string& output);

struct RunRequest {
  std::string dump;   // file for the outputs; empty: none wanted
  int threads = 0;    // OMP_NUM_THREADS; 0: as the environment says
  bool timed = true;  // false: nobody looks at the time, so the cache is not flushed and idle threads sleep
};
// Runs and returns the seconds that the program printed. Errors: bench.run (it failed), bench.no-time, client.run.
Result<double> run_program(const Suite& suite, const std::string& binary, const RunRequest& request);

// Same, with the outputs: runs with a dump into `file`, reads and removes it. Errors: as run_program, client.read.
struct Dumped {
  double seconds = 0;
  std::string outputs;
};
Result<Dumped> run_and_dump(const Suite& suite, const std::string& binary, const std::string& file, RunRequest request);

}  // namespace sous::benchmarks
