#include "benchmarks/build.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "benchmarks/interrupt.h"
#include "client/options.h"
#include "client/places.h"
#include "client/process.h"

namespace sous::benchmarks {
namespace {

using std::string;
using std::string_view;

void append(Words& out, const Words& more) { out.insert(out.end(), more.begin(), more.end()); }

// The first lines of what a compiler said: enough to see what it is.
string head(string_view text, int lines) {
  std::size_t at = 0;
  for (int line = 0; line < lines && at != string_view::npos; ++line) at = text.find('\n', at + (line > 0 ? 1 : 0));
  return string(text.substr(0, at));
}

// `word` with each {name} replaced.
string filled(string word, const std::map<string, string>& values) {
  for (const auto& [name, value] : values) {
    for (auto at = word.find(name); at != string::npos; at = word.find(name, at + value.size())) {
      word.replace(at, name.size(), value);
    }
  }
  return word;
}

}  // namespace

Result<std::vector<Case>> cases(const Suite& suite, const std::vector<Program>& programs, const Words& sizes,
                                const Words& types) {
  Words known_sizes, known_types;
  for (const auto& [name, flags] : suite.sizes) known_sizes.push_back(name);
  for (const auto& [name, row] : suite.types) known_types.push_back(name);
  for (const auto& size : sizes) {
    if (suite.sizes.contains(size)) continue;
    return fail("suite.name", "there is no size " + size + client::did_you_mean(size, known_sizes), suite.name);
  }
  for (const auto& type : types) {
    if (suite.types.contains(type)) continue;
    return fail("suite.name", "there is no type " + type + client::did_you_mean(type, known_types), suite.name);
  }
  std::vector<Case> out;
  for (const auto& program : programs) {
    Words own;
    for (const auto& type : types) {
      const bool has = std::find(program.types.begin(), program.types.end(), type) != program.types.end();
      const string& taken = has ? type : program.types[0];
      if (std::find(own.begin(), own.end(), taken) == own.end()) own.push_back(taken);
    }
    if (own.empty()) own.push_back(program.types[0]);
    for (const auto& size : sizes) {
      for (const auto& type : own) out.push_back({program, size, type});
    }
  }
  return out;
}

bool applies(const Compiler& compiler, const Program& program) {
  return compiler.sources.empty() || program.alternatives.contains(compiler.sources);
}

Words compile_flags(const Suite& suite, const Case& test) {
  Words out = suite.flags;
  append(out, test.program.flags);
  append(out, suite.sizes.at(test.size));
  append(out, suite.types.at(test.type).flags);
  return out;
}

std::vector<Words> build_commands(const Suite& suite, const Case& test, const Compiler& compiler, const Words& flags,
                                  const string& output, const string& scratch) {
  SOUS_ASSERT(applies(compiler, test.program));
  std::map<string, Words> lists;
  lists["{flags}"] = flags;
  append(lists["{flags}"], compiler.flags);
  lists["{program}"] = compile_flags(suite, test);
  lists["{sources}"] = compiler.sources.empty() ? test.program.sources : test.program.alternatives.at(compiler.sources);
  lists["{link}"] = suite.link;
  lists["{link}"].insert(lists["{link}"].begin(), compiler.link.begin(), compiler.link.end());
  const std::map<string, string> values{{"{output}", output},
                                        {"{scratch}", scratch},
                                        {"{name}", test.program.name},
                                        {"{sous}", client::program_beside("sous")}};
  std::vector<Words> steps = compiler.steps;
  if (steps.empty()) {
    steps.push_back(compiler.command);
    append(steps[0], {"{flags}", "{program}", "{sources}", "-o", "{output}", "{link}"});
  }
  std::vector<Words> commands;
  for (const Words& step : steps) {
    Words command;
    for (const string& word : step) {
      if (const auto list = lists.find(word); list != lists.end()) {
        append(command, list->second);
      } else {
        command.push_back(filled(word, values));
      }
    }
    commands.push_back(std::move(command));
  }
  return commands;
}

Result<Built> build(const Suite& suite, const Case& test, const Compiler& compiler, const Words& flags,
                    const string& output) {
  client::RunOptions options;
  options.capture_output = options.capture_errors = true;
  options.folder = suite.folder;
  options.limit_seconds = longest_build_seconds;
  options.stop = &stop_requested();
  const string scratch = output + ".scratch";
  if (!compiler.steps.empty()) {
    std::error_code error;
    std::filesystem::create_directory(scratch, error);
    if (error) return fail("bench.build", error.message(), scratch);
  }
  Built built{output, 0, {}};
  for (const Words& command : build_commands(suite, test, compiler, flags, output, scratch)) {
    TRY(auto finished, client::run(command, options));
    if (finished.status != 0) {
      return fail("bench.build",
                  client::name_of(command[0]) + " ended with status " + std::to_string(finished.status) + ": " +
                      head(finished.errors, 6),
                  test.label());
    }
    built.seconds += finished.seconds;
    built.diagnostics += finished.errors;
  }
  return built;
}

Words run_arguments(const Case& test) {
  const auto own = test.program.arguments.find(test.size);
  return own == test.program.arguments.end() ? Words{} : own->second;
}

Result<Ran> run_program(const Suite& suite, const string& binary, const RunRequest& request) {
  client::RunOptions options;
  options.capture_output = options.capture_errors = true;
  options.limit_seconds = request.limit_seconds;
  options.stop = &stop_requested();
  if (request.threads > 0) {
    for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"}) {
      options.environment.emplace_back(name, std::to_string(request.threads));
    }
  }
  if (!request.timed)
    options.environment.insert(options.environment.end(),
                               {{"POLYBENCH_FLUSH_KB", "0"}, {"OMP_WAIT_POLICY", "passive"}});
  options.environment.insert(options.environment.end(), request.environment.begin(), request.environment.end());
  Words command{binary};
  append(command, suite.arguments);
  append(command, request.arguments);
  if (!request.dump.empty()) append(command, dump_arguments(suite, request.dump));
  TRY(auto finished, client::run(command, options));
  if (finished.status != 0) {
    return fail("bench.run",
                "it ended with status " + std::to_string(finished.status) + ": " + head(finished.errors, 3),
                client::name_of(binary));
  }
  Ran ran;
  ran.wall = ran.seconds = finished.seconds;
  ran.user = finished.user_seconds;
  if (!suite.whole_programs()) {
    TRY(ran.seconds, parse_time(suite, suite.time_stream == Stream::Output ? finished.output : finished.errors));
  }
  constexpr string_view label = "library: ";
  if (const auto at = finished.errors.find(label); at != string::npos) {
    const auto begin = at + label.size();
    ran.library = finished.errors.substr(begin, finished.errors.find('\n', begin) - begin);
  }
  ran.output = std::move(finished.output);
  return ran;
}

Result<Dumped> run_and_dump(const Suite& suite, const string& binary, const string& file, RunRequest request) {
  request.dump = file;
  TRY(auto ran, run_program(suite, binary, request));
  if (suite.whole_programs()) {
    string outputs = ran.output;
    return Dumped{std::move(ran), std::move(outputs)};
  }
  TRY(auto outputs, client::read_file(file));
  std::remove(file.c_str());
  return Dumped{std::move(ran), std::move(outputs)};
}

}  // namespace sous::benchmarks
