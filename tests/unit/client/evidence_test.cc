// What evidence promises here, and what it is refused for.
#include <gtest/gtest.h>

#include "client/promise.h"
#include "tests/unit/client/measured.h"

namespace sous::client {
namespace {

TEST(Evidence, FasterHereAtThisSize) {
  EXPECT_EQ(not_evidence(measured(2, 1), "4^11:8", here), "");
  EXPECT_EQ(not_evidence(measured(2, 1), "unknown:8", here), "");  // guarded at run time
}

TEST(Evidence, RefusedWithAReason) {
  const auto why = [](const transforms::Match& m, const char* size = "4^11:8") { return not_evidence(m, size, here); };
  EXPECT_NE(why(measured(0, 0)).find("never measured"), std::string::npos);
  EXPECT_NE(why(measured(1.04, 1)).find("not faster"), std::string::npos);
  EXPECT_NE(why(measured(1.2, 1, 0.2)).find("spread"), std::string::npos);
  EXPECT_NE(why(measured(2, 1), "4^15:8").find("size"), std::string::npos);
  auto elsewhere = measured(2, 1);
  elsewhere.evidence.hardware = "aarch64:neon:64c:l2=1M:l3=32M";
  EXPECT_NE(why(elsewhere).find("like hardware"), std::string::npos);
  auto far = measured(2, 1);
  far.distance = 100;
  EXPECT_NE(why(far).find("too far"), std::string::npos);
}

TEST(Evidence, OfANeighbourHasToPromiseMore) {
  const auto at = [](double ratio, double distance) {
    auto match = measured(ratio, 1);
    match.distance = distance;
    return not_evidence(match, "4^11:8", here);
  };
  EXPECT_EQ(at(1.1, 0), "");
  EXPECT_EQ(at(1.7, 0.3), "");
  EXPECT_EQ(at(2.49, 2.3), "too little is promised so far away: 1.35 times as fast");
  EXPECT_EQ(at(4, 2.3), "");
  EXPECT_NE(at(30, 2.96), "");
}

TEST(Evidence, FromElsewhereAsFarAsItIsBelieved) {
  const std::string plain = "x86-64:sse:2c:l2=1M:l3=32M";  // a build for less than this machine
  EXPECT_EQ(not_evidence(measured(9, 1), "4^11:8", plain), "");
  const auto why = not_evidence(measured(1.84, 1), "4^11:8", plain);
  EXPECT_NE(why.find("believed at 1.10 of 1.84"), std::string::npos) << why;
  // Beyond the spread by what is believed, not by what was measured there.
  EXPECT_NE(not_evidence(measured(3, 1, 0.15), "4^11:8", plain), "");
  EXPECT_EQ(not_evidence(measured(3, 1, 0.15), "4^11:8", here), "");
}

}  // namespace
}  // namespace sous::client
