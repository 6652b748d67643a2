// Unrolling multiplies: what it comes to is counted before it is written.
#include <gtest/gtest.h>

#include "tests/unit/targets/emitting.h"

namespace sous::targets {
namespace {

std::string unrolled(int factor) {
  std::string loops, ends;
  for (const char* symbol : {"i", "j", "k", "l"}) {
    loops += std::string("loop ") + symbol + " = 0 .. n unroll(factor=" + std::to_string(factor) + ") {\n";
    ends += "}\n";
  }
  return "sdfg 1 f\nsymbols n\narray A: f64[n, n, n, n] argument\narguments n, A\n\n" + loops +
         "s: A[i, j, k, l] = 1.0\n" + ends;
}

TEST(Budget, UnrolledLoopsInUnrolledLoops) {
  for (const std::string& target : target_names()) {
    EXPECT_LT(emitted(target, parsed(unrolled(2))).size(), 100'000u);
    const auto refused = find_target(target)->emit(parsed(unrolled(64)), {});
    ASSERT_FALSE(refused) << target;
    EXPECT_EQ(refused.error().code, "target.unsupported");
  }
}

}  // namespace
}  // namespace sous::targets
