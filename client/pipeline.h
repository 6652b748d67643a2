// From a program to generated code: lift, normalize, query, choose, apply, emit. Touches no file but the recipe
// sources, and knows of the program's language only what its front end gives.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/meaning.h"
#include "client/options.h"
#include "client/report.h"
#include "frontends/lifted.h"
#include "server/protocol.h"
#include "targets/target.h"
#include "transforms/source.h"
#include "tuning-db/entry.h"
#include "tuning-db/gain_model.h"
#include "tuning-db/hardware.h"

namespace sous::client {

// Opened when the first nest asks, so that a file without nests costs no database. `note` gets what did not answer.
// `hardware`: this machine as the build uses it.
using OpenSources = std::function<Result<std::unique_ptr<transforms::RecipeSource>>(const tuning_db::Hardware& hardware,
                                                                                    std::vector<std::string>& notes)>;

struct Served {
  std::size_t nest = 0;  // index into the report's nests
  frontends::Replacement replacement;
  targets::Function code;
  std::optional<targets::Function> otherwise = {};  // Replacement::otherwise
  sdfg::Sdfg sdfg;                                  // that it runs
  std::vector<std::string> residences;  // arguments of which the code takes whether they are on the device already
  // What was used, for the lock file.
  struct Pin {
    std::string structural_hash, size_class;
    transforms::Match match;  // recipe as applied
  };
  std::vector<Pin> pins;
};

struct Outcome {
  Report report;
  std::vector<Served> served;              // in order of place in the text
  std::vector<targets::File> files;        // generated; none if nothing is served
  std::vector<tuning_db::Entry> measured;  // on the spot (--measure), faster or not: for the database
  server::WantedRequest wanted;            // what found no recipe, where that is to be shared
  std::string dump;                        // for --dump-after and --emit
  std::set<std::string> unknown_sizes;     // symbols that the nests have, and whose values the source does not give
};

// The front end at work. Called once, when the options are known to be sound.
using Lift = std::function<Result<frontends::TranslationUnit>()>;

// `path`: the program's, for reports. Errors: those of the front end, of a forced recipe that cannot be read, and of
// --target (cli.value). A nest that cannot be served is no error: the report says why.
Result<Outcome> optimize(const Lift& lift, const std::string& path, const Meaning& meaning, const Options& options,
                         const OpenSources& open_sources, tuning_db::FindGainModel gain_model = nullptr);

// Errors: cli.value, where an option names what there is not.
Result<void> check_names(const Options& options);
// What --recipe and --size were to do and did not, on standard error.
void warn_of_options(const Outcome& outcome, const Options& options);

// Names that --target knows, for messages.
std::vector<std::string> target_names();

}  // namespace sous::client
