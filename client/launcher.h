// The compiler launcher: `sous [options] clang-19 -O3 -c a.c -o a.o`.
//
// What is not understood completely is executed untouched. Where no nest is served, the very original command runs, so
// that the object is the same bytes. Whatever of ours fails, the original command runs instead; exit codes and
// diagnostics are always the compiler's own.
//
// What compiles C is given to it: the program that is started decides what needs no front end (front.h), and starts the
// other one for the rest (compile_command.h).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/build_log.h"
#include "client/command_line.h"
#include "client/options.h"

namespace sous::client {

struct Launch {
  Options options;                    // -Rsous taken in
  std::vector<std::string> original;  // the command with the compiler caches in front of it
  std::vector<std::string> command;   // the compiler and its arguments
  CommandLine line;

  const std::string& compiler() const { return command[0]; }
};

// `command`: the compiler and its arguments. Returns the exit status. `compile` gets the commands that compile C.
int launch(const Options& options, const std::vector<std::string>& command,
           const std::function<int(const Launch&)>& compile);

// Whether the input can be read once only (a pipe, a terminal): it is the compiler's to read.
bool read_once(const std::string& path);
// On standard error, where --explain asks for it.
void say(const Launch& launch, const std::string& text);
// Says why, where that is asked for, and becomes the original command. Returns only if that cannot be started.
int become_original(const Launch& launch, Fate fate, const std::string& why);
// The same behind the log's back.
int become_original(const Launch& launch);
// SOUS_SUMMARY=1: what the files of this link got.
void summarize_link(const Launch& launch, const std::vector<std::string>& inputs);

}  // namespace sous::client
