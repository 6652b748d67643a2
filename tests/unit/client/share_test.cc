#include "client/share.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

#include "client/say_once.h"
#include "client/server_rest.h"
#include "tests/unit/tuning_db/nests.h"

namespace sous::client {
namespace {

namespace nests = tuning_db::nests;
using namespace std::chrono_literals;

// A server that never answers, with a cache of its own for the client.
class ShareTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("XDG_CACHE_HOME", cache.path().c_str(), 1);
    listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(::listen(listener, 8), 0);
    ASSERT_EQ(::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size), 0);
    options.server = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    options.share_wanted = true;
    const auto e = nests::entry(nests::gemm, 500);
    request.hardware = nests::machine();
    request.nests.push_back({e.nest, e.structural_hash, e.sizes, false});
  }
  void TearDown() override {
    ::close(listener);
    ::unsetenv("XDG_CACHE_HOME");
  }
  // How often the server is asked to keep it.
  int told() {
    share_wanted(request, options, 200ms);
    int times = 0;
    for (pollfd look{listener, POLLIN, 0}; ::poll(&look, 1, 0) > 0; ++times)
      ::close(::accept(listener, nullptr, nullptr));
    return times;
  }

  nests::Folder cache;
  int listener = -1;
  Options options;
  server::WantedRequest request;
};

TEST_F(ShareTest, WhatASilentServerWasNotToldIsToldLater) {
  rest_of(options).failed();
  EXPECT_EQ(told(), 0) << "it rests";
  std::filesystem::remove_all(cache_folder() / "resting");
  EXPECT_EQ(told(), 1);
  EXPECT_EQ(told(), 0) << "it said nothing, and rests";
  std::filesystem::remove_all(cache_folder() / "resting");
  EXPECT_EQ(told(), 1);
}

}  // namespace
}  // namespace sous::client
