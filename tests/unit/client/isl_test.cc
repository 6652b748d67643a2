// libLLVM exports isl functions too (Polly's copy, another version): the program must use Debian's libisl, whose
// headers it was compiled with.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <isl/ctx.h>

#include <string>

TEST(Isl, IsDebiansAndNotLlvms) {
  Dl_info info{};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&isl_ctx_alloc), &info), 0);
  EXPECT_NE(std::string(info.dli_fname).find("libisl"), std::string::npos) << info.dli_fname;
}
