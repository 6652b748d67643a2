// The `sous` program: one table of commands drives dispatch, help and docs/cli.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "client/options.h"

namespace sous::client {

// What a command gets: options parsed, its words, and what stood behind "--".
struct Invocation {
  Options options;
  std::vector<std::string> words;
  std::vector<std::string> after;
};

struct Command {
  std::string_view name;
  std::string_view usage;    // behind "sous "
  std::string_view summary;  // one line
  std::string_view details;
  // An int is an exit status; an error is printed as one line, status 2 for codes "cli.*", else 1.
  Result<int> (*run)(const Invocation&);
  bool verbatim = false;  // words are passed on as they are: options behind the name are not ours
};
std::span<const Command> commands();

Result<int> command_hw(const Invocation& invocation);
Result<int> command_opt(const Invocation& invocation);
Result<int> command_nests(const Invocation& invocation);
Result<int> command_query(const Invocation& invocation);
Result<int> command_db(const Invocation& invocation);
Result<int> command_cache(const Invocation& invocation);
Result<int> command_fingerprint(const Invocation& invocation);
Result<int> command_setup(const Invocation& invocation);
Result<int> command_share(const Invocation& invocation);
Result<int> command_strategies(const Invocation& invocation);
Result<int> command_tune(const Invocation& invocation);
Result<int> command_work(const Invocation& invocation);

// `bench`: the benchmarks' own main, which this library cannot know.
using BenchMain = int (*)(const std::vector<std::string>& arguments);

// The whole program; the compiler launcher where the first word is no command.
int run_program(const std::vector<std::string>& arguments, BenchMain bench);

}  // namespace sous::client
