// A server that does not answer, or takes the build's time with what it says, costs a build one deadline or two, not as
// much for each file: who waited for it in vain leaves a
// stamp in the user's cache folder, and for a while nobody else asks; so does who dies of its answer (client/guard.h),
// and who waited a little for nothing after many others did. When that is over one process tries again; the
// rest doubles with each vain try, from half a minute to ten.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "client/guard.h"
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
  static bool is_silence(const Error& error);
  void failed();
  void answered();
  // It answered, and had matches.
  void said_something();
  // It answered, and had none. What the time beyond a tenth of the deadline adds up to, of all files since it
  // last said something: more than one deadline is as good as no answer.
  void said_nothing(std::chrono::milliseconds asking, std::chrono::milliseconds deadline);
  // What is left of a process that dies of the answer: as `failed`.
  LeftBehind if_it_dies() const;

 private:
  std::filesystem::path wasted() const;
  std::filesystem::path stamp_;
  int failures_ = 0;  // in a row, when it was last looked at
};

// Of the server that the options name.
ServerRest rest_of(const Options& options);

// What asking costs a file.
struct ServerTime {
  explicit ServerTime(std::chrono::milliseconds deadline) : deadline(deadline), patience(deadline * 2) {}
  const std::chrono::milliseconds deadline;  // for an answer
  std::chrono::milliseconds asking{0};       // until there was one
  transforms::Patience patience;             // with asking, reading and trying what it said
};

// `server`, asked only when it does not rest. Error: http.resting, besides its own. Whether it rests from now on is
// known when nobody uses what it said any more: it does as well when an answer took more than half of the deadline, or
// what it said more than there was patience for.
std::shared_ptr<transforms::RecipeSource> resting(std::shared_ptr<transforms::RecipeSource> server, ServerRest rest,
                                                  std::string name, std::shared_ptr<ServerTime> time);

}  // namespace sous::client
