// sous opt, sous query, sous share: source to source, and what is known about a file's nests.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "client/commands.h"
#include "client/compile.h"
#include "client/explain.h"
#include "client/generated_code.h"
#include "client/measure.h"
#include "client/process.h"
#include "client/request.h"
#include "client/share.h"
#include "client/sources.h"
#include "frontends/c/splice.h"

namespace sous::client {
namespace {

using std::string;

Result<Outcome> run_pipeline(const Request& request, const Options& options, BuildSources& sources) {
  TRY(auto outcome, optimize([&] { return lift(request); }, request.file, request.meaning, options, sources.opener(),
                             &tuning_db::shipped_gain_model));
  if (!options.nest.empty() && outcome.report.nests.empty()) {
    return fail("cli.value", "no nest is at " + options.nest + "; without --nest, all of them are listed",
                request.file);
  }
  return outcome;
}

string build_hint(const Request& request, const string& rewritten, const std::vector<targets::File>& files,
                  const std::vector<string>& generated) {
  const GeneratedBuild build{.compiler = request.compiler, .contraction = request.meaning.contraction, .refusal = {}};
  string out = "Build: " + request.compiler + " -O3 -march=native -c " + rewritten;
  for (std::size_t k = 0; k < files.size(); ++k) {
    out += " && " + request.compiler;
    for (const auto& option : generated_options(build, files[k])) out += " " + option;
    out += " -O3 -march=native -c " + generated[k];
  }
  const auto link = link_options(files);
  return out + (link.empty() ? "" : "; link with " + joined(link)) + "\n";
}

Result<void> write_outputs(const Request& request, const Outcome& outcome, const Options& options) {
  const string folder = options.output.empty() ? "sous-out" : options.output;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail("client.write", error.message(), folder);
  std::vector<frontends::Replacement> replacements;
  for (const auto& served : outcome.served) replacements.push_back(served.replacement);
  const string name = name_of(request.file), stem = name.substr(0, name.rfind('.'));
  const string rewritten = folder + "/" + name;
  if (std::filesystem::equivalent(rewritten, request.file, error)) {
    return fail("cli.value", "-o would overwrite the source itself", rewritten);
  }
  TRY_VOID(write_file(rewritten, replacements.empty()
                                     ? request.text
                                     : frontends::c::splice_readable(request.text, request.file, replacements)));
  std::vector<string> generated;
  for (const auto& file : outcome.files) {
    generated.push_back(folder + "/" + stem + ".sous." + string(file.language->suffix));
    TRY_VOID(write_file(generated.back(), file.text));
  }
  TRY_VOID(write_file(folder + "/" + stem + ".report.txt", to_text(outcome.report)));
  std::printf("%zu of %zu nests served; %s\n", outcome.served.size(), outcome.report.nests.size(), rewritten.c_str());
  for (const auto& served : outcome.served) {
    const NestReport& nest = outcome.report.nests[served.nest];
    std::printf("%s:%d: %s: %s\n", nest.file.c_str(), nest.line, nest.function.c_str(), nest.why.c_str());
  }
  if (!outcome.files.empty()) {
    std::fputs(build_hint(request, rewritten, outcome.files, generated).c_str(), stdout);
  }
  return {};
}

}  // namespace

Result<int> command_opt(const Invocation& invocation) {
  TRY(const Request request, read_request(invocation.words, invocation.after, "opt"));
  const Options& options = invocation.options;
  BuildSources sources(request.file, options);
  TRY(const Outcome outcome, run_pipeline(request, options, sources));
  sources.warn_of_stale_lock(outcome.report.nests);
  warn_of_options(outcome, options);
  for (const auto& note : outcome.report.notes) std::fprintf(stderr, "sous: %s\n", note.c_str());
  explain(outcome.report, options);
  if (!options.report.empty()) TRY_VOID(write_file(options.report, to_json(outcome.report)));
  std::fputs(outcome.dump.c_str(), stdout);
  if (options.emit == "cpp") {
    for (const auto& file : outcome.files) std::fputs(file.text.c_str(), stdout);
  } else if (options.emit == "report") {
    std::fputs(to_json(outcome.report).c_str(), stdout);
  } else if (options.emit.empty()) {
    TRY_VOID(write_outputs(request, outcome, options));
  }
  keep_measured(outcome, options);
  TRY_VOID(sources.pin(outcome));
  return 0;
}

Result<int> command_query(const Invocation& invocation) {
  TRY(const Request request, read_request(invocation.words, invocation.after, "query"));
  BuildSources sources(request.file, invocation.options);
  TRY(const Outcome outcome, run_pipeline(request, invocation.options, sources));
  keep_measured(outcome, invocation.options);
  std::optional<std::size_t> most_unused = static_cast<std::size_t>(invocation.options.neighbours);
  if (invocation.options.explain == Explain::All) most_unused.reset();
  const Report& report = outcome.report;
  std::fputs((invocation.options.emit == "json" ? to_json(report) : to_text(report, most_unused)).c_str(), stdout);
  return 0;
}

Result<int> command_share(const Invocation& invocation) {
  TRY(const Request request, read_request(invocation.words, invocation.after, "share"));
  Options options = invocation.options;
  options.share_wanted = true;
  if (!options.show && options.server.empty()) return fail("cli.value", "no server to tell: give --server URL");
  BuildSources sources(request.file, options);
  TRY(const Outcome outcome, run_pipeline(request, options, sources));
  for (const auto& note : outcome.report.notes) std::fprintf(stderr, "sous: %s\n", note.c_str());
  if (options.show) {
    std::printf("%s\n", server::to_json(outcome.wanted).c_str());
    return 0;
  }
  const std::chrono::milliseconds deadline(static_cast<long>(options.deadline * 1000));
  if (!outcome.wanted.nests.empty()) TRY_VOID(send_wanted(outcome.wanted, options.server, deadline));
  std::printf("%zu nests\n", outcome.wanted.nests.size());
  return 0;
}

}  // namespace sous::client
