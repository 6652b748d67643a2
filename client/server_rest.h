// A server that does not answer costs a build one deadline, not one for each file: who waited for it in vain leaves a
// stamp in the user's cache folder, and for a while nobody else asks. When that is over one process tries again; the
// rest doubles with each vain try, from half a minute to ten.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "client/http.h"
#include "client/options.h"
#include "transforms/source.h"

namespace sous::client {

class ServerRest {
 public:
  static constexpr int first_seconds = 30, longest_seconds = 600;

  // `server`: its address, and what else decides whether it can answer (the deadline). No folder: nobody rests.
  ServerRest(const std::filesystem::path& folder, const std::string& server);

  // False: it was asked in vain a short while ago.
  bool may_ask();
  // What came of it. Null: it answered. What a server refuses, or says wrongly, it says at once: that is an answer,
  // too.
  void tell(const Error* error);
  void failed();
  void answered();

 private:
  std::filesystem::path stamp_;
  int failures_ = 0;  // in a row, when it was last looked at
};

// Of the server that the options name.
ServerRest rest_of(const Options& options);

// `server`, asked only when it does not rest. Error: http.resting, besides its own. `spent`: what asking took is added.
std::shared_ptr<transforms::RecipeSource> resting(std::shared_ptr<transforms::RecipeSource> server, ServerRest rest,
                                                  std::string name,
                                                  std::shared_ptr<std::chrono::milliseconds> spent = nullptr);

}  // namespace sous::client
