// Which functions of a program take its time, as profilers say it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sdfg/result.h"

namespace sous::client {

class Profile {
 public:
  // What a function took, from 0 to 1 of the whole; nullopt: the profile does not have it, as where it was inlined.
  std::optional<double> share(const std::string& function) const;
  // Less than a hundredth: not worth a search.
  bool cold(const std::string& function) const { return share(function).value_or(1) < 0.01; }

  // The text of `perf report --stdio` (with the symbol's column), of gprof's flat profile, or of
  // `llvm-profdata show --all-functions --counts`, where time is what the counters add up to. Of functions of one name
  // (static ones, copies that a compiler specialized) the sum. Error: profile.form.
  static Result<Profile> of_text(std::string_view text);
  // The same of a file, or of what `perf record` or clang's instrumentation wrote, read by perf and llvm-profdata (of
  // clang 19 where it is there). Errors: client.read, client.run, profile.form.
  static Result<Profile> read(const std::string& path);

 private:
  std::map<std::string, double> shares_;
};

}  // namespace sous::client
