// A suite file: programs that can be built with different compilers, say how long they took, and write what they
// computed. JSON; users write their own for their programs. Every field is required but those marked optional:
//
//   {
//     "version": 1,
//     "name": "polybench",
//     "about": "one line",                                     optional
//     "kernel": "kernel_",                                     optional; functions whose names start so are timed
//     "flags": ["-Iinclude"],                                  optional; for every compile
//     "link": ["-lm"],                                         optional; behind the sources
//     "sizes": {"SMALL": ["-DSMALL"], "LARGE": ["-DLARGE"]},   flags that select a size
//     "types": {"double": {"element": "f64", "flags": ["-DDATA_TYPE=double"]}},
//     "time": {"stream": "stderr", "prefix": "seconds: "},     the line that starts so; a number of seconds follows
//     "dump": ["--dump", "{file}"],                            arguments that make it write its outputs to {file}
//     "compilers": "clang,gcc,sous",                           optional; those measured where none are asked for
//     "arguments": [],                                         optional; for every run
//     "groups": {"demo": ["gemm"]},                            optional; names for several programs
//     "programs": [{"name": "gemm", "sources": ["gemm.c"], "flags": [], "types": ["double", "float"]}]
//   }                                              sources and the working folder of compiles: the suite file's folder
//
// A program's `types` are what it can be built for, its own default first; its `flags` are optional. So are:
//     "alternatives": {"blas": ["blas/gemm.c"]}   other sources of the same program, for compilers that ask for them
//     "work": {"operations": "2*NI*NJ*NK", "elements": "NI*NK + NK*NJ + 2*NI*NJ"}
//     "arguments": {"SMALL": ["60"], "LARGE": ["2000"]}        behind the suite's, in runs at that size
// `work` is what a program must do at least, for rooflines: operations, and elements moved between memory and the
// processor. They are formulas over the sizes that its first source defines ("#define NI SIZE(20, 60, …)").
//
// A suite with neither `time` nor `dump` is one of whole programs: each is timed from start to end, and what it prints
// on stdout is its outputs.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/outputs.h"
#include "sdfg/result.h"

namespace sous::benchmarks {

using Words = std::vector<std::string>;

struct TypeRow {
  Element element = Element::f64;
  Words flags;
};
struct Program {
  std::string name;
  Words sources;
  Words flags;
  Words types;
  std::map<std::string, Words> alternatives = {};
  std::map<std::string, Words> arguments = {};  // of runs, by size
  std::string operations = {}, elements = {};   // formulas; empty: not known
  double tolerance = 0;                         // where it magnifies rounding: what may differ; 0: as harness.h says
};
enum class Stream : std::uint8_t { Output, Errors };

struct Suite {
  std::string name;
  std::string about;
  std::string kernel;  // what the names of timed functions start with; empty: all may be
  std::string folder;  // that sources are relative to
  Words flags;
  Words link;
  std::map<std::string, Words> sizes;
  std::map<std::string, TypeRow> types;
  Stream time_stream = Stream::Errors;
  std::string time_prefix;
  Words dump;
  Words arguments;
  std::string compilers;  // empty: the command's default
  std::map<std::string, Words> groups;
  std::vector<Program> programs;

  const Program* find(std::string_view program) const;
  bool whole_programs() const { return dump.empty(); }
};

// Errors: suite.json, suite.budget, suite.field, suite.version, suite.name (twice, or one that nothing defines).
Result<Suite> parse_suite(std::string_view json, const std::string& folder);

// `name` is a path that ends in .json, or the name of a suite that comes with Sous ("polybench"). Errors: as above and
// suite.unknown, client.read.
Result<Suite> read_suite(const std::string& name);

// The programs of a comma-separated list of names and groups, in the suite's order; all of them for "".
// Errors: suite.name.
Result<std::vector<Program>> select(const Suite& suite, std::string_view names);

// The arguments that make a program write its outputs to `file`.
Words dump_arguments(const Suite& suite, const std::string& file);

// The seconds in what a program printed. Error: bench.no-time.
Result<double> parse_time(const Suite& suite, std::string_view printed);

}  // namespace sous::benchmarks
