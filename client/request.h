// A C file to be looked into, as `sous opt FILE.c -- flags` and its like name it.
#pragma once

#include <string>
#include <vector>

#include "client/pipeline.h"
#include "frontends/lifted.h"

namespace sous::client {

struct Request {
  std::string file;
  std::string compiler = "clang-19";
  Meaning meaning;
  std::vector<std::string> parse;  // options of the front end
  std::string text;
};

// `words`: the command's, one file; `flags`: behind "--", of which the first may be the compiler. Errors: cli.value,
// client.read.
Result<Request> read_request(const std::vector<std::string>& words, std::vector<std::string> flags,
                             const char* command);

// Its nests. Errors: the front end's.
Result<frontends::TranslationUnit> lift(const Request& request);

}  // namespace sous::client
