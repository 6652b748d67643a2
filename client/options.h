// Sous's own options: one table gives parsing, help and the documentation page.
//
// They come before the compiler's name (launcher) or anywhere after a command's name. What a build system cannot pass
// comes from the environment: SOUS_OPTIONS (words as the shell splits them, read first), SOUS_DB, SOUS_SERVER,
// SOUS_SHARE, SOUS_DISABLE, SOUS_REMARKS.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"
#include "sdfg/suggest.h"

namespace sous::client {

enum class Explain { No, Short, All };

struct Options {
  Explain explain = Explain::No;
  bool remarks = false;  // -Rsous, SOUS_REMARKS=1
  bool frozen = false;
  bool lock = false;
  bool measure = false;
  bool disable = false;
  bool share_wanted = false;  // SOUS_SHARE
  bool show = false;          // sous share
  bool reassociate = false;
  std::string database;  // empty: the default place
  std::string server;
  std::string target;
  bool offload_all = false;  // --offload=all
  std::string recipe;        // a file, or "normal-form"
  std::string dump_after;
  std::string emit;
  std::string report;
  std::string output;
  std::string log;      // sous stats, sous tune --build
  std::string build;    // sous tune: a folder
  std::string profile;  // sous tune: a file
  std::map<std::string, std::int64_t> sizes;
  double deadline = 2;  // seconds for the server
  int answers = 600;    // seconds for which one of its answers is used again
  // sous db, sous query
  std::string name;
  std::string nest;
  std::string unit;
  int runs = 7;
  int neighbours = 2;
  // sous setup
  std::string only;
  std::string samples;        // of tune: a file for every measurement
  double budget_minutes = 0;  // of tune, too; 0: the command's default
  bool again = false;
  // sous work
  bool once = false;
  double idle_exit = 0;  // seconds without a job; 0: it waits for ever
  int threads = 0;       // 0: all
  std::string isa;
  bool markdown = false;
};

struct OptionRow {
  std::string_view name;   // "--db"
  std::string_view value;  // "PATH"; empty: a flag; "[=all]": joined by "=", or nothing
  std::string_view help;
  Result<void> (*set)(Options&, std::string_view value);
};
std::span<const OptionRow> option_rows();

struct Parsed {
  Options options;
  std::vector<std::string> words;  // from the first word that is no option on (see parse_options)
  std::vector<std::string> after;  // behind "--"
};

// `interleaved`: options may also stand between and behind words, up to "--" (commands); otherwise the first word ends
// them (launcher). Errors: cli.unknown-option (with "did you mean"), cli.value.
Result<Parsed> parse_options(const std::vector<std::string>& arguments, bool interleaved, Options start = {});

// From SOUS_OPTIONS, SOUS_DB, SOUS_SERVER, SOUS_SHARE, SOUS_DISABLE and SOUS_REMARKS.
Result<Options> options_from_environment();

using sous::did_you_mean;
using sous::nearest_word;

}  // namespace sous::client
