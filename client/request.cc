#include "client/request.h"

#include <algorithm>
#include <optional>

#include "client/compile.h"
#include "client/process.h"
#include "frontends/c/lift.h"

namespace sous::client {

using std::string;

Result<Request> read_request(const std::vector<string>& words, std::vector<string> flags, const char* command) {
  Request request;
  if (words.size() != 1) {
    return fail("cli.value", string("one C file is wanted: sous ") + command + " FILE.c [options] [-- compiler flags]");
  }
  request.file = words[0];
  if (!flags.empty() && flags[0][0] != '-') {
    request.compiler = flags[0];
    flags.erase(flags.begin());
  }
  const bool optimized = std::any_of(flags.begin(), flags.end(), [](const string& f) { return f.starts_with("-O"); });
  if (!optimized) flags.insert(flags.begin(), {"-O3", "-march=native"});  // as db add, and as the hint says
  flags.insert(flags.end(), {"-c", request.file});
  TRY(request.text, read_file(request.file));
  const CommandLine line = classify(flags, [](const string& path) -> std::optional<string> {
    auto text = read_file(path);
    return text ? std::optional(std::move(*text)) : std::nullopt;
  });
  if (line.action != Action::Compile) return fail("cli.value", line.why, request.file);
  request.meaning = meaning_of(line, request.compiler);
  // The file itself is parsed, not its preprocessed text: so what comes out reads like what went in.
  request.parse = front_end_options(line, request.compiler, Text::Written);
  return request;
}

Result<frontends::TranslationUnit> lift(const Request& request) {
  return frontends::c::lift(request.text, request.file, request.parse);
}

}  // namespace sous::client
