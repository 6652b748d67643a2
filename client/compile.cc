#include "client/compile.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <regex>
#include <thread>

#include "client/compiler.h"
#include "client/explain.h"
#include "client/floating_point.h"
#include "client/generated_code.h"
#include "client/header_states.h"
#include "client/places.h"
#include "client/preprocess.h"
#include "client/process.h"
#include "client/stats.h"
#include "client/team_object.h"
#include "client/verdicts.h"
#include "frontends/c/lift.h"
#include "frontends/c/loop_bound.h"
#include "frontends/c/own_clang.h"
#include "frontends/c/preprocess.h"
#include "frontends/c/splice.h"
#include "tuning-db/build_isa.h"
#include "tuning-db/database.h"
#include "tuning-db/places.h"

namespace sous::client {
namespace {

using std::string;
using Words = std::vector<string>;

void append(Words& to, const Words& more) { to.insert(to.end(), more.begin(), more.end()); }

// No path of the temporary folder and no random name gets into an object.
Words reproducible(const string& folder, const string& compiler) {
  Words out{"-ffile-prefix-map=" + folder + "/=sous/"};
  if (is_gcc(compiler)) out.emplace_back("-frandom-seed=sous");
  return out;
}

// Of one function or those behind: #pragma GCC optimize, __attribute__((optimize("no-fast-math"))), of a target that
// clang does not know. The front end's parser, which is clang's, passes them over.
bool has_options_in_text(const string& text) {
  static const std::regex attribute(R"re(\b(__)?(optimize|target|target_clones)(__)?\s*\(\s*["0-9])re");
  if (text.contains("GCC optimize") || text.contains("GCC target")) return true;
  return (text.contains("optimize") || text.contains("target")) && std::regex_search(text, attribute);
}

bool reads_files_when_assembled(const string& text) { return text.contains(".incbin") || text.contains(".include"); }

// Options with which warnings stay warnings: of the rewritten file, some are about what was written into it. Where
// there are any, the compiler looks at its own input with its own options (compile_command.cc).
Words without_errors(const Words& options) {
  constexpr std::string_view one = "-Werror=";
  Words kept;
  for (const string& option : options) {
    if (option == "-Werror") continue;
    if (option == "-pedantic-errors" || option == "--pedantic-errors")
      kept.emplace_back("-pedantic");
    else
      kept.push_back(option.starts_with(one) ? "-W" + option.substr(one.size()) : option);
  }
  return kept;
}

}  // namespace

Meaning meaning_of(const CommandLine& line, const string& compiler) {
  const FloatingPoint allowed = floating_point(line.arguments, is_gcc(compiler));
  Meaning meaning;
  meaning.contraction = allowed.contraction;
  meaning.reassociate = allowed.reassociate;
  meaning.no_nans = allowed.no_nans;
  meaning.approximate_math = allowed.approximate_math;
  meaning.math_errno = allowed.math_errno;
  meaning.compiler = compiler;
  meaning.cpp_code = line.cpp_code;
  return meaning;
}

Result<Meaning> meaning_of(const string& compiler, Words flags, bool reassociate) {
  append(flags, {"-c", "nest.c"});
  const CommandLine line = classify(flags, [](const string&) { return std::nullopt; });
  if (line.action != Action::Compile) return fail("add.flags", line.why);
  Meaning meaning = meaning_of(line, compiler);
  meaning.reassociate = meaning.reassociate || reassociate;
  meaning.no_nans = meaning.no_nans || reassociate;
  return meaning;
}

Words front_end_options(const CommandLine& line, const string& compiler, Text text) {
  Words out;
  // What gcc only warns of and clang 16 and later refuse; an option of the user's comes later and counts.
  if (is_gcc(compiler)) {
    out = {"-Wno-implicit-int", "-Wno-implicit-function-declaration", "-Wno-int-conversion",
           "-Wno-incompatible-function-pointer-types", "-Wno-return-mismatch"};
  }
  append(out, line.parse);
  if (text == Text::Written) {
    append(out, line.preprocess);
  } else if (is_gcc(compiler)) {
    append(out, {"-D__malloc__(...)=", "-D_Float128=__float128", "-D_Float32=float", "-D_Float64=double",
                 "-D_Float32x=double", "-D_Float64x=long double"});
  }
  append(out, clang_options(floating_point(line.arguments, is_gcc(compiler))));
  // gcc's own way. What it is told otherwise, it does not keep to in the parts of complex products.
  if (is_gcc(compiler)) out.emplace_back("-ffp-contract=fast");
  return out;
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

bool CompileOne::leave(const string& why) {
  if (options_.explain != Explain::No) std::fprintf(stderr, "sous: %s: %s\n", input_.path.c_str(), why.c_str());
  log(Fate::Left, why);
  return false;
}

void CompileOne::log(Fate fate, const string& why, const Report* report) const {
  append_to_build_log({.fate = fate,
                       .why = why,
                       .compiler = compiler_,
                       .options = line_.compile,
                       .file = input_.path,
                       .object = object_path(line_, input_),
                       .report = report == nullptr ? "" : to_json(*report),
                       .facts = report == nullptr ? "" : stats_facts(*report)});
}

// No loop in the file itself, and none in what the project gives it: not worth the preprocessor. `sous` has looked
// at a single input where results are kept.
bool CompileOne::quick_exit() const {
  if (cache_ && line_.inputs.size() == 1) return false;
  const auto search = include_search(line_, compiler_);
  const auto bound = search ? frontends::c::loop_bound(input_.path, *search) : std::nullopt;
  return bound && !bound->any_loop;
}

bool CompileOne::run(const string& object) {
  // clang writes the command down, with the names of our temporary files; gcc leaves such names out.
  if (!is_gcc(compiler_) && line_.gives("-grecord-gcc-switches")) return leave("the command is a part of the object");
  if (may_keep(options_, input_.path)) cache_ = ResultCache::open();
  if (cache_) sources_.keep_answers_in(*cache_);
  if (quick_exit()) return leave("no loop in it");
  if (const auto preprocessed = preprocess_input(); !preprocessed) return leave(preprocessed.error().to_string());
  if (is_gcc(compiler_) && has_options_in_text(preprocessed_)) return leave("it has options for gcc in its text");
  // What the assembler reads is a part of the object, and not of the text.
  if (reads_files_when_assembled(preprocessed_)) cache_.reset();
  if (const auto kept = from_cache(object)) return *kept;
  meaning_ = beyond_the_build(meaning_of(line_, compiler_), options_, cache_ ? &*cache_ : nullptr);
  meaning_.user_lines = true;
  if (const auto why = beyond_reach()) return leave(*why);
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
  sources_.warn_of_stale_lock(outcome->report.nests);
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
    } else if (const auto pinned = sources_.pin(*outcome); !pinned) {
      const string why = pinned.error().to_string();
      const auto& notes = outcome->report.notes;  // what was said on reading is not said again
      if (std::find(notes.begin(), notes.end(), why) == notes.end()) std::fprintf(stderr, "sous: %s\n", why.c_str());
    }
  }
  // A failure of what was to be served may be the moment's: a full disk. What is wanted is told by each build.
  if ((served || outcome->served.empty()) && outcome->wanted.nests.empty()) keep(outcome->report, served, object);
  finish(*outcome, served, now() - start);
  sources_.share(*outcome);
  return served;
}

Result<Preprocessed> CompileOne::preprocess_here() const {
  const string path = program_path(compiler_);
  if (!frontends::c::is_own_clang(path)) return preprocess(line_, input_, compiler_);
  auto done = frontends::c::preprocess(preprocess_command(line_, input_, compiler_), path);
  if (!done) return fail("launcher.preprocess", first_error(done.error().why), input_.path);
  return Preprocessed{std::move(done->text), !done->messages.empty()};
}

Result<void> CompileOne::preprocess_input() {
  // `sous` has looked into what it hands over, and knows what the sources have.
  auto handed = line_.inputs.size() == 1 ? handed_over() : std::nullopt;
  const bool looked = handed.has_value();
  const double start = now();
  if (!handed) {
    TRY(handed, preprocess_here());
  }
  preprocess_seconds_ = now() - start;
  preprocessed_ = std::move(handed->text);
  diagnostics_ = handed->diagnostics;
  if (looked) return {};
  bound_ = frontends::c::loop_bound(preprocessed_);
  if (bound_ && !bound_->any_loop) return fail("launcher.no-loop", "no loop in it", input_.path);
  return {};
}

// Asks the sources of recipes where nobody did yet: the answer spares the builds that follow the preprocessor and more.
std::optional<string> CompileOne::beyond_reach() {
  if (!cache_ || !bound_) return std::nullopt;
  auto reach = known_reach(*cache_, options_);
  if (!reach) {
    auto source = sources_.open(tuning_db::as_built(tuning_db::local_hardware(), meaning_.cpp_code), notes_);
    if (!source) return std::nullopt;
    source_ = std::move(*source);
    reach = source_->reach();
    if (notes_.empty()) keep_reach(*cache_, options_, *reach);
  }
  auto why = beyond(*reach, *bound_);
  if (!why) return why;
  if (notes_.empty()) keep_unchanged(*cache_, options_, line_, input_, compiler_, preprocessed_, {*why, "", ""});
  for (const auto& note : notes_) std::fprintf(stderr, "sous: %s\n", note.c_str());
  return why;
}

std::optional<bool> CompileOne::from_cache(const string& object) {
  if (!cache_) return std::nullopt;
  auto pieces = compile_state(options_, line_, input_, compiler_);
  pieces.push_back(preprocessed_);
  key_ = result_key(pieces);
  const auto kept = cache_->find(key_);
  if (!kept || !headers_unchanged(kept->headers) || !sources_.still_said(kept->asked)) return std::nullopt;
  if (kept->served && !write_file(object, kept->object)) return std::nullopt;
  if (!kept->served) {
    keep_unchanged(*cache_, options_, line_, input_, compiler_, preprocessed_,
                   {nothing_served, kept->report, kept->facts, kept->asked});
  }
  diagnostics_ = diagnostics_ || kept->diagnostics;
  warnings_ = kept->warnings;
  append_to_build_log({.fate = kept->served ? Fate::Served : Fate::Left,
                       .why = kept->served ? "" : nothing_served,
                       .compiler = compiler_,
                       .options = line_.compile,
                       .file = input_.path,
                       .object = object_path(line_, input_),
                       .report = kept->report,
                       .facts = kept->facts,
                       .cached = true});
  return kept->served;
}

void CompileOne::keep(const Report& report, bool served, const string& object) const {
  // What is told to the user is not lost by a hit: it is told, and found out, again.
  auto asked = sources_.asked();
  if (key_.empty() || !report.notes.empty() || !asked) return;
  KeptResult result{served, diagnostics_, warnings_,        to_json(report), stats_facts(report),
                    "",     headers_,     std::move(*asked)};
  if (served) {
    auto bytes = read_file(object);
    if (!bytes) return;
    result.object = std::move(*bytes);
  }
  cache_->keep(key_, result);
  if (!served) {
    keep_unchanged(*cache_, options_, line_, input_, compiler_, preprocessed_,
                   {nothing_served, result.report, result.facts, result.asked});
  }
}

Result<Outcome> CompileOne::pipeline() {
  // Sources that were opened for their reach are asked, not opened again: what opening had to say is said once.
  const OpenSources open = [this](const tuning_db::Hardware& hardware, std::vector<string>& notes) {
    if (source_) return Result<std::unique_ptr<transforms::RecipeSource>>(std::move(source_));
    return sources_.open(hardware, notes);
  };
  const Lift lift = [this] {
    const auto options = front_end_options(line_, compiler_, Text::Preprocessed);
    return frontends::c::lift(preprocessed_, input_.path, options);
  };
  TRY(auto outcome, optimize(lift, input_.path, meaning_, options_, open, &tuning_db::shipped_gain_model));
  outcome.report.notes.insert(outcome.report.notes.begin(), notes_.begin(), notes_.end());
  return outcome;
}

Result<CompileOne::Compiled> CompileOne::compile_files(const std::vector<targets::File>& files,
                                                       const TemporaryFolder& folder) const {
  GeneratedBuild build{.compiler = compiler_,
                       .flags = line_.cpp_code,
                       .contraction = meaning_.contraction,
                       .refusal = "launcher.generated"};
  const Words more = runtime_macros(line_);
  append(build.flags, more);
  const auto kept = ResultCache::open();  // whatever else is said of this file
  TRY(const auto team, team_object(files, build, kept ? &*kept : nullptr, folder));
  build.flags = meaning_.cpp_code;
  append(build.flags, more);
  if (team) build.flags.emplace_back(team_apart_option);
  const bool alike = std::ranges::none_of(
      files, [](const auto& file) { return file.language->compiler == targets::LanguageCompiler::Nvcc; });
  if (alike) build.flags.emplace_back(header_option);
  append(build.flags, reproducible(folder.path(), compiler_));
  // The #line: with -g, clang puts the presumed path of an OpenMP construct into the object's data, and no prefix map
  // changes that.
  std::vector<targets::File> named = files;
  for (auto& file : named) file.text = "#line 1 \"sous/generated." + string(file.language->suffix) + "\"\n" + file.text;
  TRY(auto objects, compile_generated(named, build, folder, "generated"));
  string headers = header_states(objects, folder);
  if (team) {
    objects.push_back(team->path);
    headers += team->headers;
  }
  return Compiled{std::move(objects), std::move(headers)};
}

// Of functions that are declared inline, by clang's own choice.
constexpr int clangs_hinted_size = 325;

Result<void> CompileOne::build(const Outcome& outcome, const string& object) {
  TRY(const auto folder, TemporaryFolder::make());
  std::vector<frontends::Replacement> replacements;
  for (const auto& served : outcome.served) replacements.push_back(served.replacement);
  const auto attributes = is_gcc(compiler_) ? frontends::c::Attributes::None : frontends::c::Attributes::Clangs;
  TRY_VOID(
      write_file(folder.file("user.i"), frontends::c::splice_preprocessed(preprocessed_, replacements, attributes)));
  Words user{compiler_};
  append(user, without_errors(line_.code));
  append(user, aligned_loops(compiler_, line_.code));
  if (const int size = frontends::c::hinted_size(replacements); size > 0 && !is_gcc(compiler_)) {
    // Warnings about functions that the program did not declare inline.
    append(user, {"-Wno-static-in-inline", "-Wno-static-local-in-inline"});
    if (size > clangs_hinted_size) append(user, {"-mllvm", "-inlinehint-threshold=" + std::to_string(size)});
  }
  if (line_.action == Action::Compile) append(user, line_.link);  // for the warning that they are not used
  append(user, reproducible(folder.path(), compiler_));
  append(user, {"-x", "cpp-output", "-c", folder.file("user.i"), "-o", folder.file("user.o")});
  const RunOptions quiet{.capture_output = true, .capture_errors = true, .environment = {}, .folder = {}};
  Result<Compiled> generated;
  std::thread other([&] { generated = compile_files(outcome.files, folder); });
  const auto user_finished = client::run(user, quiet);
  other.join();
  if (!generated) return std::unexpected(generated.error());
  if (!user_finished) return std::unexpected(user_finished.error());
  if (user_finished->status != 0) {
    return fail("launcher.rewritten", "the rewritten C does not compile: " + first_error(user_finished->errors));
  }
  diagnostics_ = diagnostics_ || !user_finished->errors.empty();
  for (const string& option : warning_options(user_finished->errors)) warnings_ += option + " ";

  TRY_VOID(weaken_runtimes(outcome.files, generated->objects, line_, "launcher.join"));
  Words join{"ld", "-r", "-o", folder.file("joined.o"), folder.file("user.o")};
  append(join, generated->objects);
  headers_ = generated->headers;
  TRY(const auto joined, client::run(join, quiet));
  if (joined.status != 0) return fail("launcher.join", "ld: " + first_error(joined.errors));
  Words localize{"objcopy", "--localize-symbol=sous_apart", "--localize-symbol=sous_processor"};
  for (const char* function : team_functions) localize.push_back(string("--localize-symbol=") + function);
  for (const auto& r : replacements)
    for (const string& function : {r.function, r.otherwise, r.asked ? r.asked->function : ""})
      if (!function.empty()) localize.push_back("--localize-symbol=" + function);
  append(localize, {folder.file("joined.o"), object});
  TRY(const auto localized, client::run(localize, quiet));
  if (localized.status != 0) return fail("launcher.join", "objcopy: " + first_error(localized.errors));
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
  log(served ? Fate::Served : Fate::Left, served ? "" : nothing_served, &report);
}

}  // namespace sous::client
