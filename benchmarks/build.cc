#include "benchmarks/build.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>
#include <utility>

#include "client/command_line.h"
#include "client/options.h"
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

Result<Compiler> parse_compiler(const string& text) {
  if (const auto equals = text.find('='); equals != string::npos && equals > 0) {
    Compiler compiler{text.substr(0, equals), client::split_words(text.substr(equals + 1))};
    if (compiler.command.empty()) return fail("bench.compiler", "the command of " + compiler.name + " is empty");
    return compiler;
  }
  if (text == "clang") return Compiler{"clang", {"clang-19"}};
  if (text == "gcc") return Compiler{"gcc", {"gcc-12"}};
  if (text == "sous") return sous_over_clang();
  if (text == "sous-gcc") return Compiler{"sous-gcc", {client::own_path(), "gcc-12"}};
  return fail("bench.compiler", "there is no compiler " + text +
                                    client::did_you_mean(text, {"clang", "gcc", "sous", "sous-gcc"}) +
                                    " (others: NAME=COMMAND)");
}

}  // namespace

Compiler sous_over_clang(const Words& options) {
  Compiler compiler{"sous", {client::own_path()}};
  append(compiler.command, options);
  compiler.command.push_back("clang-19");
  return compiler;
}

Result<std::vector<Compiler>> parse_compilers(string_view text) {
  std::vector<Compiler> out;
  while (!text.empty()) {
    const auto comma = text.find(',');
    TRY(auto compiler, parse_compiler(string(text.substr(0, comma))));
    if (std::any_of(out.begin(), out.end(), [&](const Compiler& c) { return c.name == compiler.name; })) {
      return fail("bench.compiler", compiler.name + " stands twice");
    }
    out.push_back(std::move(compiler));
    text = comma == string_view::npos ? string_view{} : text.substr(comma + 1);
  }
  if (out.empty()) return fail("bench.compiler", "no compiler is named");
  return out;
}

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

Words build_command(const Suite& suite, const Case& test, const Compiler& compiler, const Words& flags,
                    const string& output) {
  Words command = compiler.command;
  append(command, flags);
  append(command, compiler.flags);
  append(command, suite.flags);
  append(command, test.program.flags);
  append(command, suite.sizes.at(test.size));
  append(command, suite.types.at(test.type).flags);
  append(command, test.program.sources);
  append(command, {"-o", output});
  append(command, suite.link);
  return command;
}

Result<Built> build(const Suite& suite, const Case& test, const Compiler& compiler, const Words& flags,
                    const string& output) {
  client::RunOptions options;
  options.capture_output = options.capture_errors = true;
  options.folder = suite.folder;
  TRY(auto finished, client::run(build_command(suite, test, compiler, flags, output), options));
  if (finished.status != 0) {
    return fail(
        "bench.build",
        compiler.name + " ended with status " + std::to_string(finished.status) + ": " + head(finished.errors, 6),
        test.label());
  }
  return Built{output, finished.seconds, std::move(finished.errors)};
}

Result<double> run_program(const Suite& suite, const string& binary, const RunRequest& request) {
  client::RunOptions options;
  options.capture_output = options.capture_errors = true;
  if (request.threads > 0) options.environment.emplace_back("OMP_NUM_THREADS", std::to_string(request.threads));
  if (!request.timed)
    options.environment.insert(options.environment.end(),
                               {{"POLYBENCH_FLUSH_KB", "0"}, {"OMP_WAIT_POLICY", "passive"}});
  Words command{binary};
  append(command, suite.arguments);
  if (!request.dump.empty()) append(command, dump_arguments(suite, request.dump));
  TRY(const auto finished, client::run(command, options));
  if (finished.status != 0) {
    return fail("bench.run",
                "it ended with status " + std::to_string(finished.status) + ": " + head(finished.errors, 3),
                client::name_of(binary));
  }
  return parse_time(suite, suite.time_stream == Stream::Output ? finished.output : finished.errors);
}

Result<Dumped> run_and_dump(const Suite& suite, const string& binary, const string& file, RunRequest request) {
  request.dump = file;
  TRY(const double seconds, run_program(suite, binary, request));
  TRY(auto outputs, client::read_file(file));
  std::remove(file.c_str());
  return Dumped{seconds, std::move(outputs)};
}

}  // namespace sous::benchmarks
