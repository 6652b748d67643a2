#include "tuning-db/gpu.h"

#include <gtest/gtest.h>

namespace sous::tuning_db {
namespace {

TEST(Gpu, JsonRoundTrip) {
  Gpu gpu{.name = "a GPU", .multiprocessors = 132, .major = 9, .minor = 0, .memory_bytes = 150'000'000'000};
  gpu.fma_f64 = 1e13 / 3;
  gpu.launch_seconds = 2.1e-6;
  const auto back = gpu_from_json(to_json(gpu));
  ASSERT_TRUE(back) << back.error().to_string();
  EXPECT_EQ(*back, gpu);
  EXPECT_EQ(to_json(gpu).find('\n'), std::string::npos);
}

TEST(Gpu, MalformedJsonIsRefusedWithItsField) {
  const auto code = [](const std::string& json) { return gpu_from_json(json).error().code; };
  EXPECT_EQ(code("{"), "hardware.json");
  EXPECT_EQ(code("[]"), "hardware.field");
  EXPECT_EQ(code(R"({"name": "a\nb"})"), "hardware.field");
  std::string more = to_json(Gpu{});
  more.insert(more.size() - 1, R"(,"colour":1)");
  EXPECT_EQ(code(more), "hardware.field");
}

}  // namespace
}  // namespace sous::tuning_db
