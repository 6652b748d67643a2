// The compilers that programs are measured with: benchmarks/compilers.json has those that come with Sous, a file of the
// same form (--config) adds others. JSON:
//
//   {"version": 1, "compilers": [{
//     "name": "polly",                          the column's head
//     "command": ["clang-19"],                  or "steps", for a compiler that is more than one program
//     "steps": [["pl", "{sources}", "-o", "{scratch}/k.c"], ["gcc-12", "{flags}", "{program}", …]],
//     "flags": ["-mllvm", "-polly"],            optional; behind the common ones
//     "fast_math": ["-ffast-math"],             optional; what +fast-math adds (default: this)
//     "link": ["-lgomp"],                       optional; behind the program's own
//     "sources": "blas",                        optional; it builds these sources of a program (suite.h) instead
//     "threads": "all",                         optional; how many it runs with: a number, or all cores (default: 1)
//     "environment": {"OMP_PROC_BIND": "true"}, optional; of runs
//     "identify": ["clang-19", "--version"],    optional; the first line of this goes into the data
//     "needs": [{"file": "/usr/lib/…/libblis.so", "package": "libblis-openmp-dev"}],    optional; a file without / is
//     "about": "one line"                                                               looked up in PATH
//   }]}
//
// Words of commands and steps that are replaced by a list: {flags} (the common ones and the compiler's), {program} (the
// suite's, the program's, its size's and type's), {sources}, {link}. Inside a word: {output}, {scratch} (a folder of
// its own for each build), {name} (the program's), {sous} (this program). A command without steps is the step
// COMMAND… {flags} {program} {sources} -o {output} {link}.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/suite.h"
#include "sdfg/result.h"

namespace sous::benchmarks {

struct Need {
  std::string file, package;
};

struct Compiler {
  std::string name;  // the column's head: as it was asked for
  Words command;     // "sous", "clang-19"
  Words flags = {};  // of this compiler alone, behind the common ones
  Words link = {};
  std::vector<Words> steps = {};  // instead of the command
  std::string sources = {};       // builds a program's alternative of that name; empty: the program itself
  int threads = 0;                // 0: as the environment says
  bool fast_math = false;         // its flags are in `flags`
  std::map<std::string, std::string> environment = {};
  Words identify = {};
  std::vector<Need> needs = {};
};

// What a file of compilers says, before one of them is asked for.
struct CompilerRow {
  Compiler compiler;
  Words fast_math;
  bool all_threads = false;
};
// Errors: compilers.json, compilers.budget, compilers.field, compilers.version.
Result<std::vector<CompilerRow>> parse_compiler_file(std::string_view json);
// Those that come with Sous, and those of the file `path` unless it is empty; of one name the latter. Errors: as above,
// client.read.
Result<std::vector<CompilerRow>> known_compilers(const std::string& path);

// A comma-separated list of NAME[+fast-math][@THREADS], or NAME=COMMAND for any other ("mine=gcc -O2"; a command has no
// comma). `all` is the number of threads that stands for all. Errors: bench.compiler.
Result<std::vector<Compiler>> parse_compilers(std::string_view text, const std::vector<CompilerRow>& known, int all);

// What is missing for them, with the Debian packages that bring it; empty: nothing.
std::string missing(const std::vector<Compiler>& compilers);

// The first line of what the compiler says about itself; empty where it says nothing.
std::string identity(const Compiler& compiler);

// This program as a launcher over clang-19, with Sous's own options before the compiler.
Compiler sous_over_clang(const Words& options = {});
bool is_sous(const Compiler& compiler);
// The compiler with --report, where it is Sous.
Compiler reporting(Compiler compiler, const std::string& report_file);

}  // namespace sous::benchmarks
