// One C input through the pipeline and back to one object file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/build_log.h"
#include "client/command_line.h"
#include "client/options.h"
#include "client/pipeline.h"
#include "client/preprocess.h"
#include "client/process.h"
#include "client/result_cache.h"
#include "client/sources.h"
#include "frontends/c/loop_bound.h"
#include "transforms/source.h"

namespace sous::client {

class CompileOne {
 public:
  CompileOne(const Options& options, const CommandLine& line, const Input& input, const std::string& compiler)
      : options_(options), line_(line), input_(input), compiler_(compiler), sources_(input.path, options) {}

  // True: `object` holds the user's code joined with generated code. False: nothing is served, or something failed:
  // the original command is to run.
  bool run(const std::string& object);
  // The compiler said something about the user's code: its own command must say it.
  bool had_diagnostics() const { return diagnostics_; }
  // The options of warnings that it said when it compiled what is served, one after the other.
  const std::string& warnings() const { return warnings_; }

 private:
  bool leave(const std::string& why);
  void log(Fate fate, const std::string& why, const Report* report = nullptr) const;
  bool quick_exit() const;
  Result<Preprocessed> preprocess_here() const;
  Result<void> preprocess_input();
  Result<Outcome> pipeline();
  // The result of an earlier compile of the same, in the object where something is served; nullopt if there is none.
  std::optional<bool> from_cache(const std::string& object);
  // Why no source of recipes knows a nest of the file; nullopt: one may.
  std::optional<std::string> beyond_reach();
  void keep(const Report& report, bool served, const std::string& object) const;
  // Objects, and what they were compiled with.
  struct Compiled {
    std::vector<std::string> objects;
    std::string headers;
  };
  Result<Compiled> compile_files(const std::vector<targets::File>& files, const TemporaryFolder& folder) const;
  Result<void> build(const Outcome& outcome, const std::string& object);
  void finish(const Outcome& outcome, bool served, double build_seconds);

  const Options& options_;
  const CommandLine& line_;
  const Input& input_;
  const std::string& compiler_;
  BuildSources sources_;
  std::string preprocessed_;
  std::optional<frontends::c::LoopBound> bound_;
  double preprocess_seconds_ = 0;
  Meaning meaning_ = {};  // of what is generated
  std::optional<ResultCache> cache_;
  std::string key_;                                   // in the cache; empty: nothing is to be kept
  std::vector<std::string> notes_;                    // of opening source_
  std::unique_ptr<transforms::RecipeSource> source_;  // null: not opened yet, or handed on
  bool diagnostics_ = false;
  std::string warnings_;
  std::string headers_;  // that generated code was compiled with
};

// What the compiler's command line says, for the pipeline.
Meaning meaning_of(const CommandLine& line, const std::string& compiler);
// The same of options, without a file, that compile one; `reassociate`: leave besides. Errors: add.flags.
Result<Meaning> meaning_of(const std::string& compiler, std::vector<std::string> flags, bool reassociate);
// And for the front end that reads a file as it was written, or the text that `compiler` has preprocessed: there what
// the C library's headers say to gcc alone is given a meaning (types of its own, an attribute with arguments).
enum class Text { Written, Preprocessed };
std::vector<std::string> front_end_options(const CommandLine& line, const std::string& compiler, Text text);
// Puts what was measured on the spot into the database, so that the next build is served by it; builds in parallel take
// turns. What cannot be written (a database that is read-only) is said in a line.
void keep_measured(const Outcome& outcome, const Options& options);

}  // namespace sous::client
