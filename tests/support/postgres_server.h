// A PostgreSQL server of the tests' own: in a temporary folder, on a Unix socket there, as a user without rights, and
// gone when this is.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace sous::support {

class PostgresServer {
 public:
  // Ends the program with a message where there is no PostgreSQL: what is to be tested on it cannot be left out.
  PostgresServer();
  PostgresServer(const PostgresServer&) = delete;
  PostgresServer& operator=(const PostgresServer&) = delete;
  ~PostgresServer();

  // The URL of a new database, in which there is nothing.
  std::string new_database();
  // Of that name; "postgres" is always there.
  std::string url(const std::string& database) const;
  void start();
  void kill();  // at once, as with kill -9
  void stop();  // those who are connected are sent away
  void hang();  // it answers nothing, and closes no connection
  void go_on();

 private:
  void signal_all(int number) const;
  const std::filesystem::path folder_;
  pid_t pid_ = -1;
  int databases_ = 0;
};

}  // namespace sous::support
