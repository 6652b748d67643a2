// TLS in front of an echo: who gets through, which certificate they see, and what those who do not can do to others.
#include "server/tls.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <vector>

#include "server/protocol.h"
#include "tests/unit/server/certificates.h"
#include "tests/unit/server/raw_client.h"

namespace sous::server {
namespace {

Response echo(const Request& request) { return {.body = request.method + " " + request.path + " " + request.body}; }

class Tls : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("sous-tls-" + std::to_string(::getpid()));
  CertificateFiles files = (std::filesystem::create_directories(folder), write(self_signed(1), folder));
};

TEST_F(Tls, AnswersGoOnWhenTheCertificateIsReadAgain) {
  Served served({echo});
  ASSERT_TRUE(served.server().speak_tls(files));
  served.server().on_hangup([&] { static_cast<void>(served.server().speak_tls(files)); });
  const Client first = served.client();
  TlsClient old(first.fd());
  ASSERT_TRUE(old.connected);
  EXPECT_EQ(old.serial(), 1);
  write(self_signed(2), folder);
  ::raise(SIGHUP);
  long serial = 1;
  for (int times = 0; serial == 1 && times < 1000; ++times) {
    const Client next = served.client();
    serial = TlsClient(next.fd()).serial();
  }
  EXPECT_EQ(serial, 2);
  // Who was there before is still answered, also what does not fit into one record.
  const std::string body(100'000, 'x');
  old.say(post(body));
  EXPECT_EQ(body_of(old.answer()), "POST /v1/query " + body);
  old.say(get("/x", "Connection: close\r\n"));
  EXPECT_EQ(status(old.answer()), 200);
  EXPECT_TRUE(old.is_ended());
}

TEST_F(Tls, APairThatIsNoneLeavesTheOldOne) {
  Served served({echo});
  ASSERT_TRUE(served.server().speak_tls(files));
  std::filesystem::create_directories(folder / "other");
  const CertificateFiles other = write(self_signed(3), folder / "other", "secret");
  EXPECT_EQ(served.server().speak_tls({files.chain, folder / "none"}).error().code, "file.read");
  EXPECT_EQ(served.server().speak_tls({files.chain, files.chain}).error().code, "server.tls");
  EXPECT_EQ(served.server().speak_tls({files.key, files.key}).error().code, "server.tls");
  EXPECT_EQ(served.server().speak_tls(other).error().code, "server.tls") << "its key wants a password";
  write(self_signed(4), folder / "other");
  EXPECT_EQ(served.server().speak_tls({files.chain, other.key}).error().code, "server.tls") << "another's key";
  const Client client = served.client();
  EXPECT_EQ(TlsClient(client.fd()).serial(), 1);
}

TEST_F(Tls, WhoSpeaksSomethingElseIsToldSo) {
  Served served({echo});
  const Client before = served.client();
  EXPECT_FALSE(TlsClient(before.fd()).connected) << "there is no TLS yet";
  ASSERT_TRUE(served.server().speak_tls(files));
  while (status(served.ask(get("/x"))) == 200) std::this_thread::sleep_for(1ms);
  const std::string answer = served.ask(get("/x"));
  EXPECT_EQ(status(answer), 400);
  EXPECT_EQ(error_from_json(body_of(answer)).code, "request.tls");
  const Client old = served.client(), now = served.client();
  EXPECT_FALSE(TlsClient(old.fd(), TLS1_1_VERSION).connected);
  EXPECT_TRUE(TlsClient(now.fd(), TLS1_2_VERSION).connected);
}

TEST_F(Tls, ARefusalIsReadByWhoIsStillSending) {
  HttpLimits limits;
  limits.body_bytes = 100'000;
  Served served({echo}, limits);
  ASSERT_TRUE(served.server().speak_tls(files));
  const Client client = served.client();
  TlsClient tls(client.fd());
  tls.say(post(std::string(100'001, 'x')));
  EXPECT_EQ(status(tls.answer()), 413);
}

TEST_F(Tls, AThousandHalfHandshakesSilenceNobody) {
  Served served({echo}, {.idle = 3s, .head = 1s});
  ASSERT_TRUE(served.server().speak_tls(files));
  std::vector<Client> half;
  // Nothing, a byte, a record that does not end; and a ClientHello that waits for an answer which it does not read.
  const std::string record("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
  for (int i = 0; i < 1000; ++i) {
    half.push_back(served.client());
    if (i % 3 > 0) half.back().say(record.substr(0, i % 3 == 1 ? 1 : record.size()));
  }
  const auto begun = std::chrono::steady_clock::now();
  const Client good = served.client();
  TlsClient tls(good.fd());
  tls.say(get("/x"));
  EXPECT_EQ(status(tls.answer()), 200);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 3s);
  for (Client& one : half) EXPECT_TRUE(one.is_closed());
  EXPECT_NE(served.metrics.text(0).find("sous_shed_total{reason=\"handshake\"} 666"), std::string::npos);
}

}  // namespace
}  // namespace sous::server
