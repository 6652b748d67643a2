#include "client/compile.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <thread>

#include "client/explain.h"
#include "client/launcher.h"
#include "client/lock_source.h"
#include "client/process.h"
#include "client/sources.h"
#include "client/splice.h"
#include "client/stats.h"
#include "tuning-db/database.h"

namespace sous::client {
namespace {

using std::string;
using Words = std::vector<string>;

string first_line(const string& text) {
  const auto error = text.find("error");
  const auto start = error == string::npos ? 0 : text.rfind('\n', error) + 1;
  return text.substr(start, text.find('\n', start) - start);
}

void append(Words& to, const Words& more) { to.insert(to.end(), more.begin(), more.end()); }

// No path of the temporary folder and no random name gets into an object.
Words reproducible(const string& folder, const string& compiler) {
  Words out{"-ffile-prefix-map=" + folder + "/=sous/"};
  if (is_gcc(compiler)) out.emplace_back("-frandom-seed=sous");
  return out;
}

}  // namespace

bool is_gcc(const string& compiler) {
  const string name = name_of(compiler);
  return name.find("clang") == string::npos &&
         (name.find("gcc") != string::npos || name.find("g++") != string::npos || name == "cc" || name == "c99");
}

string runtime_include_path() {
  const string installed = folder_of(own_path()) + "/../include/sous";
  std::error_code error;
  if (std::filesystem::exists(installed + "/targets/runtime", error)) {
    return std::filesystem::weakly_canonical(installed, error).string();
  }
  return SOUS_RUNTIME_INCLUDE;
}

Words generated_options(const string& compiler, bool contract, bool openmp) {
  Words out{"-x",
            "c++",
            "-std=c++20",
            "-fno-exceptions",
            "-fno-rtti",
            "-fwrapv",
            "-fno-threadsafe-statics",
            "-fno-asynchronous-unwind-tables",
            "-w",
            "-I" + runtime_include_path()};
  // gcc contracts across expressions ("fast") where it contracts at all: the same as it does to the user's C.
  out.emplace_back(!contract ? "-ffp-contract=off" : is_gcc(compiler) ? "-ffp-contract=fast" : "-ffp-contract=on");
  if (openmp) out.emplace_back("-fopenmp");
  if (is_gcc(compiler)) out.emplace_back("-fno-gnu-unique");  // a shared library with it can be unloaded
  return out;
}

Meaning meaning_of(const CommandLine& line, const string& compiler) {
  Meaning meaning;
  meaning.parse = line.parse;
  // What gcc only warns of and clang 16 and later refuse; an option of the user's comes later and counts.
  if (is_gcc(compiler))
    meaning.parse.insert(meaning.parse.begin(),
                         {"-Wno-implicit-int", "-Wno-implicit-function-declaration", "-Wno-int-conversion",
                          "-Wno-incompatible-function-pointer-types", "-Wno-return-mismatch"});
  meaning.contract = line.contract && (line.contract_given || !(line.iso && is_gcc(compiler)));
  meaning.reassociate = line.reassociate;
  meaning.approximate_math = line.approximate_math;
  meaning.math_errno = line.math_errno;
  meaning.compiler = compiler;
  meaning.cpp_code = line.cpp_code;
  return meaning;
}

Meaning meaning_of_preprocessed(const CommandLine& line, const string& compiler) {
  Meaning meaning = meaning_of(line, compiler);
  if (is_gcc(compiler)) {
    append(meaning.parse, {"-D__malloc__(...)=", "-D_Float128=__float128", "-D_Float32=float", "-D_Float64=double",
                           "-D_Float32x=double", "-D_Float64x=long double"});
  }
  return meaning;
}

Result<string> preprocess(const CommandLine& line, const Input& input, const string& compiler, bool* diagnostics) {
  Words command{compiler};
  append(command, line.preprocess);
  append(command, dependency_options(line, input));
  append(command, {"-E", "-x", "c", input.path});
  TRY(auto finished, run(command, {.capture_output = true, .capture_errors = true}));
  if (finished.status != 0) return fail("launcher.preprocess", first_line(finished.errors), input.path);
  if (diagnostics != nullptr) *diagnostics = !finished.errors.empty();
  return std::move(finished.output);
}

void keep_measured(const Outcome& outcome, const Options& options) {
  const string path = database_path(options);
  if (outcome.measured.empty() || path.empty()) return;
  const auto kept = [&]() -> Result<void> {
    TRY(auto store, tuning_db::Store::open({.path = path, .seeds = tuning_db::seed_files()}));
    for (const auto& entry : outcome.measured) TRY_VOID(store.add(entry));
    return {};
  }();
  if (!kept) std::fprintf(stderr, "sous: what was measured is not kept: %s\n", kept.error().to_string().c_str());
}

Result<void> pin(const Outcome& outcome, const string& source, const Options& options) {
  const string path = lock_path(source);
  if (options.frozen || (!options.lock && !std::filesystem::exists(path))) return {};
  TRY(auto lock, LockSource::open(path));
  for (const auto& served : outcome.served) {
    const string place = place_of(outcome.report.nests[served.nest]);
    for (const auto& pin : served.pins) lock.put(pin.structural_hash, pin.size_class, pin.match, place);
  }
  return lock.save();
}

bool CompileOne::leave(const string& why) {
  if (options_.explain != Explain::No) std::fprintf(stderr, "sous: %s: %s\n", input_.path.c_str(), why.c_str());
  log(Fate::Left, why);
  return false;
}

void CompileOne::log(Fate fate, const string& why, std::optional<Report> report) const {
  append_to_build_log({.fate = fate,
                       .why = why,
                       .compiler = compiler_,
                       .file = input_.path,
                       .object = object_path(line_, input_),
                       .report = std::move(report)});
}

// No loop in the file itself and no file of the project included: not worth the preprocessor.
bool CompileOne::quick_exit() const {
  const auto source = read_file(input_.path);
  return !source || (!may_have_loop(*source) && source->find("#include \"") == string::npos);
}

bool CompileOne::run(const string& object) {
  if (quick_exit()) return leave("no loop in it");
  if (const auto preprocessed = preprocess_input(); !preprocessed) return leave(preprocessed.error().to_string());
  if (const auto kept = from_cache(object)) return *kept;
  auto outcome = pipeline();
  if (!outcome) {
    // A malformed recipe, an unknown target or a corrupt lock file is the user's to mend: say it, and build.
    const string& code = outcome.error().code;
    if (code.starts_with("recipe.") || code.starts_with("cli.") || code.starts_with("lock.") || code == "client.read") {
      std::fprintf(stderr, "sous: %s\n", outcome.error().to_string().c_str());
      log(Fate::Left, outcome.error().to_string());
      return false;
    }
    return leave(outcome.error().to_string());
  }
  std::fputs(outcome->dump.c_str(), stdout);
  warn_of_stale_lock(outcome->report.nests, input_.path, options_);
  warn_of_options(*outcome, options_);
  for (const auto& note : outcome->report.notes) std::fprintf(stderr, "sous: %s\n", note.c_str());
  keep_measured(*outcome, options_);
  const double start = now();
  bool served = !outcome->served.empty();
  if (served) {
    if (const auto built = build(*outcome, object); !built) {
      for (auto& nest : outcome->report.nests) {
        if (nest.served) nest.why = built.error().to_string();
        nest.served = false;
      }
      served = false;
    } else if (const auto pinned = pin(*outcome, input_.path, options_); !pinned) {
      const string why = pinned.error().to_string();
      const auto& notes = outcome->report.notes;  // what was said on reading is not said again
      if (std::find(notes.begin(), notes.end(), why) == notes.end()) std::fprintf(stderr, "sous: %s\n", why.c_str());
    }
  }
  // A failure of what was to be served may be the moment's: a full disk.
  if (served || outcome->served.empty()) keep(outcome->report, served, object);
  finish(*outcome, served, now() - start);
  return served;
}

Result<void> CompileOne::preprocess_input() {
  const double start = now();
  TRY(preprocessed_, preprocess(line_, input_, compiler_, &diagnostics_));
  preprocess_seconds_ = now() - start;
  if (!may_have_loop(preprocessed_)) return fail("launcher.no-loop", "no loop in it", input_.path);
  return {};
}

std::optional<bool> CompileOne::from_cache(const string& object) {
  if (!may_keep(options_, input_.path)) return std::nullopt;
  cache_ = ResultCache::open();
  if (!cache_) return std::nullopt;
  std::vector<string> pieces = recipe_state(options_);
  pieces.insert(pieces.end(), {file_state(program_path(compiler_)), compiler_, input_.path, options_.target,
                               options_.nest, options_.reassociate ? "1" : "0"});
  for (const auto& [name, value] : options_.sizes) pieces.push_back(name + "=" + std::to_string(value));
  std::error_code error;
  pieces.push_back(line_.debug ? std::filesystem::current_path(error).string() : "");
  for (const Words* words : {&line_.compile, &line_.link, &line_.cpp_code, &line_.parse}) {
    pieces.push_back(std::to_string(words->size()));
    append(pieces, *words);
  }
  pieces.push_back(preprocessed_);
  key_ = result_key(pieces);
  const auto kept = cache_->find(key_);
  if (!kept || (kept->served && !write_file(object, kept->object))) return std::nullopt;
  diagnostics_ = diagnostics_ || kept->diagnostics;
  append_to_build_log({.fate = kept->served ? Fate::Served : Fate::Left,
                       .why = kept->served ? "" : "nothing is served",
                       .compiler = compiler_,
                       .file = input_.path,
                       .object = object_path(line_, input_),
                       .kept_report = kept->report,
                       .kept_facts = kept->facts});
  return kept->served;
}

void CompileOne::keep(const Report& report, bool served, const string& object) const {
  // What is told to the user is not lost by a hit: it is told, and found out, again.
  if (key_.empty() || !report.notes.empty()) return;
  KeptResult result{served, diagnostics_, to_json(report), stats_facts(report), ""};
  if (served) {
    auto bytes = read_file(object);
    if (!bytes) return;
    result.object = std::move(*bytes);
  }
  cache_->keep(key_, result);
}

Result<Outcome> CompileOne::pipeline() {
  Meaning meaning = meaning_of_preprocessed(line_, compiler_);
  meaning.user_lines = true;
  return optimize(preprocessed_, input_.path, meaning, options_, sources_for(input_.path, options_));
}

Result<void> CompileOne::build(const Outcome& outcome, const string& object) {
  TRY(const auto folder, TemporaryFolder::make());
  std::vector<Replacement> replacements;
  for (const auto& served : outcome.served) replacements.push_back(served.replacement);
  TRY_VOID(write_file(folder.file("user.i"), splice_preprocessed(preprocessed_, replacements)));
  // The #line: with -g, clang puts the presumed path of an OpenMP construct into the object's data, and no prefix map
  // changes that.
  TRY_VOID(write_file(folder.file("generated.cpp"), "#line 1 \"sous/generated.cpp\"\n" + outcome.cpp));

  Words user{compiler_};
  append(user, line_.code);
  if (line_.action == Action::Compile) append(user, line_.link);  // for the warning that they are not used
  append(user, reproducible(folder.path(), compiler_));
  append(user, {"-x", "cpp-output", "-c", folder.file("user.i"), "-o", folder.file("user.o")});
  Words generated{compiler_};
  append(generated, line_.cpp_code);
  // Of the program's macros, those of the runtime's headers.
  for (std::size_t k = 0; k < line_.preprocess.size(); ++k) {
    const bool apart = line_.preprocess[k] == "-D" && k + 1 < line_.preprocess.size();
    const string macro = apart ? "-D" + line_.preprocess[++k] : line_.preprocess[k];
    if (macro.starts_with("-DSOUS_")) generated.push_back(macro);
  }
  append(generated, reproducible(folder.path(), compiler_));
  append(generated, generated_options(compiler_, meaning_of(line_, compiler_).contract, outcome.needs_openmp));
  append(generated, {"-c", folder.file("generated.cpp"), "-o", folder.file("generated.o")});

  const RunOptions quiet{.capture_output = true, .capture_errors = true, .environment = {}, .folder = {}};
  Result<Finished> generated_finished = Finished{};
  std::thread other([&] { generated_finished = client::run(generated, quiet); });
  const auto user_finished = client::run(user, quiet);
  other.join();
  if (!generated_finished) return std::unexpected(generated_finished.error());
  if (generated_finished->status != 0) {
    return fail("launcher.generated", "the generated code does not compile: " + first_line(generated_finished->errors));
  }
  if (!user_finished) return std::unexpected(user_finished.error());
  if (user_finished->status != 0) {
    return fail("launcher.rewritten", "the rewritten C does not compile: " + first_line(user_finished->errors));
  }
  diagnostics_ = diagnostics_ || !user_finished->errors.empty();

  // Where the program is linked without us, there may be no OpenMP runtime: the entries then return 0.
  if (outcome.needs_openmp && !line_.openmp) {
    TRY(const auto weak, client::run({"objcopy", "--wildcard", "--weaken-symbol=__kmpc_*", "--weaken-symbol=GOMP_*",
                                      "--weaken-symbol=omp_*", folder.file("generated.o")},
                                     quiet));
    if (weak.status != 0) return fail("launcher.join", "objcopy: " + first_line(weak.errors));
  }
  TRY(const auto joined,
      client::run({"ld", "-r", "-o", folder.file("joined.o"), folder.file("user.o"), folder.file("generated.o")},
                  quiet));
  if (joined.status != 0) return fail("launcher.join", "ld: " + first_line(joined.errors));
  Words localize{"objcopy"};
  for (const auto& r : replacements) localize.push_back("--localize-symbol=" + r.function);
  append(localize, {folder.file("joined.o"), object});
  TRY(const auto localized, client::run(localize, quiet));
  if (localized.status != 0) return fail("launcher.join", "objcopy: " + first_line(localized.errors));
  return {};
}

void CompileOne::finish(const Outcome& outcome, bool served, double build_seconds) {
  Report report = outcome.report;
  report.phases.insert(report.phases.begin(), {"preprocess", preprocess_seconds_});
  report.phases.emplace_back("compile", build_seconds);
  explain(report, options_);
  if (!options_.report.empty()) {
    if (const auto written = write_file(options_.report, to_json(report)); !written) {
      std::fprintf(stderr, "sous: %s\n", written.error().to_string().c_str());
    }
  }
  log(served ? Fate::Served : Fate::Left, served ? "" : "nothing is served", std::move(report));
}

}  // namespace sous::client
