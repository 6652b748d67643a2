// A job is done in a process of its own, which has limits and may die: what a server sends can take this one along in
// no way.
#pragma once

#include <functional>

#include "client/work.h"

namespace sous::client {

struct ProcessLimits {
  double seconds = 600;  // then it is asked to end, and soon killed
  int cores = 1;         // of those that this process may use
  int threads = 1;       // OMP_NUM_THREADS
};

// Runs `work` in a copy of this process (which has one thread) and gives what it returned. Memory for data, processor
// time of each program, and core files are limited; temporary files lie in a folder that goes with it. It is asked to
// end (SIGTERM) when this process dies, when the limit is over, or when `go_on`, which is called some times a second,
// says false. Errors: work.process (it died; with its signal), work.result, those of files.
Result<Worked> in_process(const ProcessLimits& limits, const std::function<Worked()>& work,
                          const std::function<bool()>& go_on);

// This process, and what it starts, may use so many cores from now on. False: there are not as many.
bool use_cores(int cores);

}  // namespace sous::client
