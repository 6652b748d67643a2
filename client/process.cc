#include "client/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace sous::client {
namespace {

using std::string;

std::vector<char*> pointers(const std::vector<string>& words) {
  std::vector<char*> out;
  out.reserve(words.size() + 1);
  for (const auto& word : words) out.push_back(const_cast<char*>(word.c_str()));
  out.push_back(nullptr);
  return out;
}

// This environment with `added` in place of what it says about the same names.
std::vector<string> environment_with(const std::vector<std::pair<string, string>>& added) {
  std::vector<string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const bool replaced = std::any_of(added.begin(), added.end(), [&](const auto& a) {
      return text.starts_with(a.first) && text.substr(a.first.size()).starts_with('=');
    });
    if (!replaced) out.emplace_back(text);
  }
  for (const auto& [name, value] : added) out.push_back(name + "=" + value);
  return out;
}

struct Pipe {
  int ends[2] = {-1, -1};
  ~Pipe() {
    for (int end : ends) {
      if (end >= 0) ::close(end);
    }
  }
  bool open() { return ::pipe2(ends, O_CLOEXEC) == 0; }
  void close_write() {
    ::close(ends[1]);
    ends[1] = -1;
  }
};

// Why a running program is to be killed, if it is.
class Watch {
 public:
  explicit Watch(const RunOptions& options) : options_(options), start_(now()) {}
  bool needed() const { return options_.limit_seconds > 0 || options_.stop != nullptr; }
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }
  bool late() const { return options_.limit_seconds > 0 && now() - start_ > options_.limit_seconds; }
  bool over() const { return stopped() || late(); }

 private:
  const RunOptions& options_;
  double start_;
};
constexpr int milliseconds_between_looks = 20;
constexpr int milliseconds_until_the_end = 1;  // a program that has closed its pipes ends soon

// Reads both pipes to their ends, or until the watch is over.
void drain(Pipe& first, string& first_text, Pipe& second, string& second_text, const Watch& watch) {
  struct Source {
    int fd;
    string* text;
  };
  Source sources[2] = {{first.ends[0], &first_text}, {second.ends[0], &second_text}};
  static thread_local char buffer[1 << 16];
  while (sources[0].fd >= 0 || sources[1].fd >= 0) {
    pollfd polls[2] = {{sources[0].fd, POLLIN, 0}, {sources[1].fd, POLLIN, 0}};
    const int ready = ::poll(polls, 2, watch.needed() ? milliseconds_between_looks : -1);
    if ((ready < 0 && errno != EINTR) || watch.over()) return;
    if (ready <= 0) continue;
    for (int k = 0; k < 2; ++k) {
      if (sources[k].fd < 0 || polls[k].revents == 0) continue;
      const auto n = ::read(sources[k].fd, buffer, sizeof buffer);
      if (n > 0) sources[k].text->append(buffer, static_cast<std::size_t>(n));
      if (n == 0 || (n < 0 && errno != EINTR)) sources[k].fd = -1;
    }
  }
}

// Waits for the child's end, or kills its group when the watch is over. Returns whether it was killed.
bool wait_for(pid_t child, int& status, rusage& usage, const Watch& watch) {
  while (watch.needed()) {
    const pid_t ended = ::wait4(child, &status, WNOHANG, &usage);
    if (ended == child) return false;
    if (watch.over()) {
      ::kill(-child, SIGKILL);
      break;
    }
    ::poll(nullptr, 0, milliseconds_until_the_end);
  }
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  return watch.needed();
}

}  // namespace

Result<Finished> run(const std::vector<string>& argv, const RunOptions& options) {
  SOUS_ASSERT(!argv.empty());
  Finished finished;
  Pipe output, errors;
  if ((options.capture_output && !output.open()) || (options.capture_errors && !errors.open())) {
    return fail("client.run", std::strerror(errno), argv[0]);
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (options.capture_output) posix_spawn_file_actions_adddup2(&actions, output.ends[1], 1);
  if (options.capture_errors) posix_spawn_file_actions_adddup2(&actions, errors.ends[1], 2);
  if (!options.folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, options.folder.c_str());
  const Watch watch(options);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  if (watch.needed()) posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // group 0: one of its own
  const auto environment = environment_with(options.environment);
  pid_t child = 0;
  const double start = now();
  const int error = ::posix_spawnp(&child, argv[0].c_str(), &actions, &attributes, pointers(argv).data(),
                                   pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail("client.run", std::strerror(error), argv[0]);
  if (options.capture_output) output.close_write();
  if (options.capture_errors) errors.close_write();
  drain(output, finished.output, errors, finished.errors, watch);
  int status = 0;
  rusage usage{};
  if (wait_for(child, status, usage, watch)) {
    if (watch.stopped()) return fail("client.stopped", "it was stopped", argv[0]);
    return fail("client.limit", "it took longer than " + std::to_string(static_cast<int>(options.limit_seconds)) + " s",
                argv[0]);
  }
  finished.seconds = now() - start;
  finished.user_seconds =
      static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
  finished.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

Error become(const std::vector<string>& argv) {
  SOUS_ASSERT(!argv.empty());
  std::fflush(nullptr);
  ::execvp(argv[0].c_str(), pointers(argv).data());
  return {"client.run", std::strerror(errno), argv[0]};
}

namespace {

// A folder that is there, for the handler, which may only call what is safe in one.
struct FolderThere {
  enum State : int { Free, Written, There };
  std::atomic<int> state = Free;
  char path[512];
};
static_assert(std::atomic<int>::is_always_lock_free);
// More than there are places for are left behind by a signal. They are of one process: what it forks has none.
std::array<FolderThere, 16> folders_there;
std::atomic<pid_t> owner_of_folders;

void remove_and_end(int signal) {
  const bool own = owner_of_folders == ::getpid();
  for (FolderThere& place : folders_there) {
    if (!own || place.state.exchange(FolderThere::Free) != FolderThere::There) continue;
    const pid_t child = ::_Fork();  // fork takes locks, which whom the signal interrupted may hold
    if (child == 0) {
      ::execl("/bin/rm", "rm", "-rf", "--", place.path, static_cast<char*>(nullptr));
      ::_exit(127);
    }
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  ::signal(signal, SIG_DFL);
  ::raise(signal);
}

// Where nobody else handles it, and nobody asked for it to be ignored.
void handle_ends() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction now{};
    if (::sigaction(signal, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction action{};
    action.sa_handler = remove_and_end;
    ::sigaction(signal, &action, nullptr);
  }
}

// Where the folder is noted; -1: nowhere.
int note_folder(const string& path) {
  if (owner_of_folders.exchange(::getpid()) != ::getpid())
    for (FolderThere& place : folders_there) place.state = FolderThere::Free;
  if (path.size() >= sizeof FolderThere::path) return -1;
  for (std::size_t k = 0; k < folders_there.size(); ++k) {
    int none = FolderThere::Free;
    if (!folders_there[k].state.compare_exchange_strong(none, FolderThere::Written)) continue;
    std::memcpy(folders_there[k].path, path.c_str(), path.size() + 1);
    folders_there[k].state = FolderThere::There;
    return static_cast<int>(k);
  }
  return -1;
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::make() {
  const char* base = std::getenv("TMPDIR");
  string pattern = string(base != nullptr && *base != 0 ? base : "/tmp") + "/sous-XXXXXX";
  handle_ends();
  if (::mkdtemp(pattern.data()) == nullptr) return fail("client.write", std::strerror(errno), pattern);
  return TemporaryFolder(pattern, note_folder(pattern));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (path_.empty()) return;
  std::filesystem::remove_all(path_, ignored);
  if (noted_ >= 0) folders_there[static_cast<std::size_t>(noted_)].state = FolderThere::Free;
}

Result<string> read_file(const string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fail("client.read", std::strerror(errno), path);
  string text;
  static thread_local char buffer[1 << 16];
  while (true) {
    const auto n = ::read(fd, buffer, sizeof buffer);
    if (n > 0) text.append(buffer, static_cast<std::size_t>(n));
    if (n == 0) break;
    if (n < 0 && errno != EINTR) {
      const int error = errno;
      ::close(fd);
      return fail("client.read", std::strerror(error), path);
    }
  }
  ::close(fd);
  return text;
}

Result<void> write_file(const string& path, std::string_view text, mode_t mode) {
  const string temporary = path + ".tmp" + std::to_string(::getpid());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (fd < 0) return fail("client.write", std::strerror(errno), path);
  const auto refuse = [&](int error) -> Result<void> {
    ::unlink(temporary.c_str());
    return fail("client.write", std::strerror(error), path);
  };
  std::size_t done = 0;
  while (done < text.size()) {
    const auto n = ::write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      const int error = errno;
      ::close(fd);
      return refuse(error);
    }
    done += static_cast<std::size_t>(n);
  }
  if (::close(fd) != 0) return refuse(errno);  // a full disk may show only here
  if (::rename(temporary.c_str(), path.c_str()) != 0) return refuse(errno);
  return {};
}

string folder_of(const string& path) {
  const auto slash = path.rfind('/');
  return slash == string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

string name_of(const string& path) {
  const auto slash = path.rfind('/');
  return slash == string::npos ? path : path.substr(slash + 1);
}

string own_path() {
  std::error_code error;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "" : path.string();
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::vector<string> program_folders() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "/usr/bin:/bin" : path;
  std::vector<string> folders;
  while (true) {
    const auto colon = rest.find(':');
    folders.emplace_back(rest.substr(0, colon));
    if (colon == std::string_view::npos) return folders;
    rest.remove_prefix(colon + 1);
  }
}

std::optional<string> find_program(const string& name) {
  const auto runs = [](const string& file) { return ::access(file.c_str(), X_OK) == 0; };
  if (name.find('/') != string::npos) return runs(name) ? std::optional(name) : std::nullopt;
  for (const string& folder : program_folders())
    if (string file = folder.empty() ? name : folder + "/" + name; runs(file)) return file;
  return std::nullopt;
}
string program_path(const string& name) { return find_program(name).value_or(name); }

}  // namespace sous::client
