// Other programs and files: running a compiler, temporary folders, writing a file whole or not at all.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"

namespace sous::client {

struct RunOptions {
  bool capture_output = false;                                        // into Finished::output; otherwise inherited
  bool capture_errors = false;                                        // into Finished::errors; otherwise inherited
  std::vector<std::pair<std::string, std::string>> environment = {};  // added
  std::string folder = {};                                            // run there; empty: here
  // With either of these the program has a process group of its own, which is killed as a whole: what it started
  // dies with it, and a terminal's Ctrl-C reaches this program alone.
  double limit_seconds = 0;                 // longer, and it is killed; 0: as long as it takes
  const std::atomic<bool>* stop = nullptr;  // it is killed when this becomes true
};
struct Finished {
  int status = 0;  // exit status, or 128 + the signal that ended it
  std::string output, errors;
  double seconds = 0;       // from start to end
  double user_seconds = 0;  // of the processor, in user mode, over all its threads
};

// Runs argv[0] (looked up in PATH) and waits. Errors: client.run (it could not be started), client.limit,
// client.stopped.
Result<Finished> run(const std::vector<std::string>& argv, const RunOptions& options = {});

// Becomes argv[0]. Returns only on failure: client.run.
Error become(const std::vector<std::string>& argv);

// A folder that is gone when the value is, or when SIGINT, SIGTERM or SIGHUP end the process. Its name is unique;
// nothing made from it may appear in an output.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)), noted_(other.noted_) {
    other.path_.clear();
  }
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();
  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  TemporaryFolder(std::string path, int noted) : path_(std::move(path)), noted_(noted) {}
  std::string path_;
  int noted_;  // for signals; -1: not
};

// Error: client.read.
Result<std::string> read_file(const std::string& path);
// All of it or nothing: written beside the target, then renamed. Error: client.write.
Result<void> write_file(const std::string& path, std::string_view text, mode_t mode = 0666);

// The folder part of a path ("." if it has none) and the last part.
std::string folder_of(const std::string& path);
std::string name_of(const std::string& path);
// Where programs lie, in the order of PATH; "" is the folder at hand.
std::vector<std::string> program_folders();
// What the shell finds under this name, if it may be run; and the name itself where it is nowhere.
std::optional<std::string> find_program(const std::string& name);
std::string program_path(const std::string& name);
// The file that this program runs from.
std::string own_path();
// Seconds on a steady clock.
double now();

}  // namespace sous::client
