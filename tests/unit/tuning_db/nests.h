// Nests in canonical names and entries over them, for the tests of the database and the server.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "sdfg/text.h"
#include "transforms/normal_form.h"
#include "tuning-db/entry.h"

namespace sous::tuning_db::nests {

inline constexpr std::string_view gemm = R"(sdfg 1 nest
symbols n0, n1, n2
array a0: f64[n0, n1] argument
array a1: f64[n0, n2] argument
array a2: f64[n2, n1] argument
arguments n0, n1, n2, a0, a1, a2

loop i0 = 0 .. n0 {
  loop i1 = 0 .. n2 {
    loop i2 = 0 .. n1 {
      s0: a0[i0, i2] = a0[i0, i2] + a1[i0, i1] * a2[i1, i2]
    }
  }
}
)";

inline constexpr std::string_view syrk = R"(sdfg 1 nest
symbols n0, n1
array a0: f64[n0, n0] argument
array a1: f64[n0, n1] argument
arguments n0, n1, a0, a1

loop i0 = 0 .. n0 {
  loop i1 = 0 .. n1 {
    loop i2 = 0 .. i0 + 1 {
      s0: a0[i0, i2] = a0[i0, i2] + a1[i0, i1] * a1[i2, i1]
    }
  }
}
)";

inline constexpr std::string_view jacobi = R"(sdfg 1 nest
symbols n0
array a0: f64[n0, n0] argument
array a1: f64[n0, n0] argument
arguments n0, a0, a1

loop i0 = 1 .. n0 - 1 {
  loop i1 = 1 .. n0 - 1 {
    s0: a0[i0, i1] = 0.2 * (a1[i0, i1] + a1[i0, i1 - 1] + a1[i0, i1 + 1] + a1[i0 - 1, i1] + a1[i0 + 1, i1])
  }
}
)";

// gemm over `double a0[700][700]` and the like, whose sizes the program says.
inline constexpr std::string_view gemm_of_700 = R"(sdfg 1 nest
array a0: f64[700, 700] argument
array a1: f64[700, 700] argument
array a2: f64[700, 700] argument
arguments a0, a1, a2

loop i0 = 0 .. 700 {
  loop i1 = 0 .. 700 {
    loop i2 = 0 .. 700 {
      s0: a0[i0, i2] = a0[i0, i2] + a1[i0, i1] * a2[i1, i2]
    }
  }
}
)";

// The same where arrays alone say how large it is.
inline constexpr std::string_view gemm_in_arrays_of_100 = R"(sdfg 1 nest
symbols n0, n1, n2
array a0: f64[n0, 100] argument
array a1: f64[n0, 100] argument
array a2: f64[n2, 100] argument
arguments n0, n1, n2, a0, a1, a2

loop i0 = 0 .. n0 {
  loop i1 = 0 .. n2 {
    loop i2 = 0 .. n1 {
      s0: a0[i0, i2] = a0[i0, i2] + a1[i0, i1] * a2[i1, i2]
    }
  }
}
)";

inline sdfg::Sdfg parsed(std::string_view text) {
  auto result = sdfg::parse(text);
  if (!result) ADD_FAILURE() << result.error().to_string();
  return result.value_or(sdfg::Sdfg{});
}

inline Hardware machine(int cores = 8) {
  Hardware h;
  h.architecture = "x86-64";
  h.vendor = "Vendor";
  h.model = "Model";
  h.isa = Isa::avx2;
  h.cores = cores;
  h.l1_bytes = 32 << 10;
  h.l2_bytes = 1 << 20;
  h.l3_bytes = 32 << 20;
  return h;
}

inline transforms::Recipe recipe(const std::string& text) {
  auto result = transforms::recipe_from_text(text);
  if (!result) ADD_FAILURE() << result.error().to_string();
  return result.value_or(transforms::Recipe{});
}

// All sizes are `n`.
inline Entry entry(std::string_view nest, std::int64_t n, const std::string& recipe_text = "reverse(loop=i0) -> cpp",
                   double ratio = 2) {
  Entry e;
  e.name = "test#1";
  e.nest = parsed(nest);
  e.structural_hash = transforms::structural_hash(e.nest);
  for (const std::string& symbol : e.nest.symbols) e.sizes[symbol] = n;
  e.recipe = recipe(recipe_text);
  e.hardware = machine();
  e.baseline_seconds = 0.1;
  e.baseline_spread = 0.01;
  e.tuned_seconds = 0.1 / ratio;
  e.tuned_spread = 0.02;
  e.threads = 2;
  e.compiler = "clang-19";
  e.flags = "-O3 -march=native";
  e.provenance = "test";
  e.time = "2026-01-31T12:00:00Z";
  return e;
}

// The same of the nest's normal form.
inline Entry normal_entry(std::string_view nest, std::int64_t n,
                          const std::string& recipe_text = "reverse(loop=i0) -> cpp", double ratio = 2) {
  Entry e = entry(nest, n, recipe_text, ratio);
  const auto form = transforms::normalize(e.nest);
  if (!form || form->units.empty()) ADD_FAILURE() << "no normal form";
  e.nest = form->units.front().nest;
  e.structural_hash = form->units.front().structural_hash;
  e.sizes.clear();
  for (const std::string& symbol : e.nest.symbols) e.sizes[symbol] = n;
  return e;
}

inline transforms::NestQuery asks(std::string_view nest, std::int64_t n) {
  const Entry e = entry(nest, n);
  return {.nest = e.nest, .structural_hash = e.structural_hash, .sizes = e.sizes};
}

// A folder of the test's own, removed behind it.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "sous-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace sous::tuning_db::nests
