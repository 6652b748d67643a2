// C that somebody pasted, as nests: by sous-core, which lies beside this program, in a process that may do nothing but
// that (server/limited_process.h). Nothing of the text is kept.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"
#include "server/limited_process.h"
#include "server/protocol.h"

namespace sous::server {

inline constexpr std::size_t longest_source = std::size_t{64} << 10;

struct LiftedSource {
  struct Nest {
    std::string function;
    int line = 0;
    std::vector<std::string> units;  // what each is called
    std::string why;                 // there are none
  };
  struct Reason {  // why a loop is in no nest
    std::string code, why, function;
    int line = 0;
  };
  std::vector<Nest> nests;
  std::vector<Reason> reasons;
  QueryRequest request;  // about all units, one nest after the other
};

class Lifter {
 public:
  // Without a program, none that is there or a kernel that confines, every text is refused: lift.off.
  explicit Lifter(std::filesystem::path program, ProcessLimits limits = {})
      : program_(std::move(program)), limits_(limits) {}

  // Errors: lift.off, lift.source (what the compiler says of the text), lift.limit, lift.failed.
  Result<LiftedSource> lift(std::string_view source) const;
  Result<void> ready() const;

 private:
  std::filesystem::path program_;
  ProcessLimits limits_;
};

// {"protocol": 1, "source": "…"}. Errors: request.*.
Result<std::string> source_from_json(std::string_view json);

}  // namespace sous::server
