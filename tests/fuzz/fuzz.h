// Fuzz targets: one small file each, one function that takes any bytes. What must not happen aborts (SOUS_ASSERT), as
// does running past the time budget; the sanitizers add their own.
//
// Each builds twice: with libFuzzer (SOUS_FUZZ, what `./x fuzz` runs), and as a plain program with any compiler
// (replay.cc), which repeats inputs and runs a fixed number of seeded mutations of the corpus, as in every ctest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "sdfg/result.h"

namespace sous::fuzz {

// While one lives, the process aborts after so many seconds of its own processor time: a hang is told from a machine
// that is busy with other things. libFuzzer's own limit counts wall-clock seconds.
class TimeBudget {
 public:
  TimeBudget();
  ~TimeBudget();
  TimeBudget(const TimeBudget&) = delete;
  TimeBudget& operator=(const TimeBudget&) = delete;
};

// A folder of this process under /dev/shm or the temporary folder, emptied and removed when the process ends.
const std::string& scratch_folder();

}  // namespace sous::fuzz

// SOUS_FUZZ_TARGET(input) { … }: the body runs once per input, a std::string_view.
#define SOUS_FUZZ_TARGET(input)                                                       \
  static void fuzz_one(std::string_view input);                                       \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);  \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    const sous::fuzz::TimeBudget budget;                                              \
    fuzz_one(std::string_view(reinterpret_cast<const char*>(data), size));            \
    return 0;                                                                         \
  }                                                                                   \
  static void fuzz_one(std::string_view input)
