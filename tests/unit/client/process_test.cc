#include "client/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>

namespace sous::client {
namespace {

TEST(Process, WhatItPrintsAndHowItEnds) {
  const auto done =
      run({"sh", "-c", "echo out; echo err >&2; exit 3"}, {.capture_output = true, .capture_errors = true});
  ASSERT_TRUE(done.has_value()) << done.error().to_string();
  EXPECT_EQ(done->output, "out\n");
  EXPECT_EQ(done->errors, "err\n");
  EXPECT_EQ(done->status, 3);
  EXPECT_EQ(run({"no-program-of-this-name"}).error().code, "client.run");
}

TEST(Process, APastLimitKillsWhatItStartedToo) {
  // The inner sleep holds the pipe: were only the shell killed, reading would last as long as it does.
  const double start = now();
  const auto late = run({"sh", "-c", "sleep 60; true"}, {.capture_output = true, .limit_seconds = 0.1});
  ASSERT_FALSE(late.has_value());
  EXPECT_EQ(late.error().code, "client.limit");
  EXPECT_LT(now() - start, 30);
  const auto quick = run({"sh", "-c", "echo x"}, {.capture_output = true, .limit_seconds = 60});
  ASSERT_TRUE(quick.has_value()) << quick.error().to_string();
  EXPECT_EQ(quick->output, "x\n");
}

TEST(Process, StopEndsIt) {
  std::atomic<bool> stop = false;
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
  });
  EXPECT_EQ(run({"sleep", "60"}, {.stop = &stop}).error().code, "client.stopped");
}

TEST(Process, ASignalLeavesNoFolderBehind) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
      ::signal(signal, SIG_DFL);  // a shell's background commands ignore SIGINT
      const auto gone = std::make_unique<TemporaryFolder>(*TemporaryFolder::make());
      const auto folder = TemporaryFolder::make();
      if (!write_file(folder->file("left"), "text")) ::_exit(1);
      if (::write(ends[1], folder->path().data(), folder->path().size()) < 0) ::_exit(1);
      ::raise(signal);
      ::_exit(2);
    }
    ::close(ends[1]);
    char path[4096];
    const auto length = ::read(ends[0], path, sizeof path);
    ::close(ends[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal) << status;
    ASSERT_GT(length, 0);
    EXPECT_FALSE(std::filesystem::exists(std::string(path, static_cast<std::size_t>(length))));
  }
}

}  // namespace
}  // namespace sous::client
