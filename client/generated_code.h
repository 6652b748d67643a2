// Compiling and linking what targets give: the one place that does, for the launcher, for measurements and for
// functions that are called in this process.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "client/command_line.h"
#include "client/floating_point.h"
#include "client/process.h"
#include "targets/target.h"

namespace sous::client {

struct GeneratedBuild {
  std::string compiler;
  std::vector<std::string> flags = {};  // the user's, as far as generated code takes them
  Contraction contraction = Contraction::InExpressions;
  std::string_view refusal;  // the code of the error where the compiler refuses a file
};

// What compiles the file, behind the compiler and the user's flags.
std::vector<std::string> generated_options(const GeneratedBuild& build, const targets::File& file);
// Of the program's macros, those of the runtime's headers: -DSOUS_….
std::vector<std::string> runtime_macros(const CommandLine& line);
// Writes each file into the folder (stem.cpp, …) and compiles it; the objects, in order. Errors: build.refusal with the
// first error of the compiler, client.write, client.run.
Result<std::vector<std::string>> compile_generated(const std::vector<targets::File>& files, const GeneratedBuild& build,
                                                   const TemporaryFolder& folder, const std::string& stem);
// The libraries that the files' code calls, each once.
std::vector<const targets::Runtime*> runtimes_of(const std::vector<targets::File>& files);
// In the objects of these files, makes the symbols of libraries weak that the user's command does not ask for: where
// the program is linked without us the library may be missing, and the entries have a team of their own, or return 0.
// Errors: `refusal`, client.run.
Result<void> weaken_runtimes(const std::vector<targets::File>& files, const std::vector<std::string>& objects,
                             const CommandLine& line, std::string_view refusal);
// What links objects of these files.
std::vector<std::string> link_options(const std::vector<targets::File>& files);
// Links them to `output`. `what`: what stands behind the compiler: options, sources, other objects. Errors:
// build.refusal with the first error of the compiler, client.run.
Result<void> link_generated(const std::vector<targets::File>& files, const std::vector<std::string>& objects,
                            const GeneratedBuild& build, std::vector<std::string> what, const std::string& output);

}  // namespace sous::client
