#include "tests/support/postgres_server.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

namespace sous::support {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "the tests' PostgreSQL: %s\n", why.c_str());
  std::exit(1);
}

// Debian keeps each version's programs in a folder of its own.
fs::path programs() {
  std::error_code error;
  fs::path newest;
  for (fs::directory_iterator it("/usr/lib/postgresql", error), end; !error && it != end; it.increment(error))
    if (fs::exists(it->path() / "bin/postgres") && it->path() > newest) newest = it->path();
  if (newest.empty()) give_up("/usr/lib/postgresql has no server (the package postgresql)");
  return newest / "bin";
}

fs::path folder_of_ours() {
  std::string name = (fs::temp_directory_path() / "sous-postgres-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) give_up("no temporary folder");
  if (::geteuid() == 0) {
    const passwd* const user = ::getpwnam("postgres");
    if (user == nullptr || ::chown(name.c_str(), user->pw_uid, user->pw_gid) != 0)
      give_up("there is no user postgres to be, and root may not run it");
  }
  return name;
}

// As the user that Debian's package makes, where this is root: PostgreSQL refuses to be.
pid_t run(const fs::path& folder, const std::vector<std::string>& words) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  if (::geteuid() == 0) {
    const passwd* const user = ::getpwnam("postgres");
    if (::setgroups(0, nullptr) != 0 || ::setgid(user->pw_gid) != 0 || ::setuid(user->pw_uid) != 0) ::_exit(126);
  }
  const int log = ::open((folder / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  if (::chdir(folder.c_str()) != 0) ::_exit(126);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

bool succeeds(const fs::path& folder, const std::vector<std::string>& words) {
  int status = 0;
  ::waitpid(run(folder, words), &status, 0);
  return status == 0;
}

}  // namespace

PostgresServer::PostgresServer() : folder_(folder_of_ours()) {
  if (!succeeds(folder_, {programs() / "initdb", "-D", folder_ / "data", "-U", "postgres", "-A", "trust", "-N", "-E",
                          "UTF8", "--locale=C.UTF-8"}))
    give_up("initdb failed: " + (folder_ / "log").string());
  start();
}

PostgresServer::~PostgresServer() {
  go_on();
  kill();
  std::error_code error;
  fs::remove_all(folder_, error);
}

// What is written reaches the kernel, which outlives it: what a test kills is a process. After that its processes for
// connections end when they notice, and before they have another one does not start.
void PostgresServer::start() {
  const auto begin = [&] {
    pid_ = run(folder_, {programs() / "postgres", "-D", folder_ / "data", "-k", folder_, "-c",
                         "listen_addresses=", "-c", "fsync=off", "-c", "max_connections=60"});
  };
  begin();
  for (int times = 0; times < 1200; ++times) {
    if (succeeds(folder_, {programs() / "pg_isready", "-q", "-h", folder_})) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) begin();
  }
  give_up("it does not start: " + (folder_ / "log").string());
}

void PostgresServer::kill() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void PostgresServer::stop() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGINT);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

// Each of its processes is a child of the first one, in a session of its own.
void PostgresServer::signal_all(int number) const {
  if (pid_ < 0) return;
  ::kill(pid_, number);
  std::error_code error;
  for (const auto& process : fs::directory_iterator("/proc", error)) {
    std::ifstream file(process.path() / "stat");
    std::string line;
    if (!std::getline(file, line)) continue;
    std::istringstream behind_the_name(line.substr(std::min(line.rfind(')') + 1, line.size())));
    std::string state;
    pid_t parent = 0;
    if (behind_the_name >> state >> parent && parent == pid_)
      ::kill(std::atoi(process.path().filename().c_str()), number);
  }
}

void PostgresServer::hang() { signal_all(SIGSTOP); }
void PostgresServer::go_on() { signal_all(SIGCONT); }

std::string PostgresServer::new_database() {
  const std::string name = "t" + std::to_string(++databases_);
  if (!succeeds(folder_, {programs() / "createdb", "-h", folder_, "-U", "postgres", "-T", "template0", name}))
    give_up("createdb failed: " + (folder_ / "log").string());
  return url(name);
}

std::string PostgresServer::url(const std::string& database) const {
  return "postgres://postgres@/" + database + "?host=" + folder_.string();
}

}  // namespace sous::support
