// Which path each shape takes, original or generated: counted, not timed. The entries of the seeds, and a product as
// people write it, each as an entry that does nothing but check its guard.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>

#include "client/choose.h"
#include "client/promise.h"
#include "frontends/c/lift.h"
#include "sdfg/text.h"
#include "tests/support/generated.h"
#include "tests/unit/client/choosing.h"
#include "tuning-db/database.h"
#include "tuning-db/shape.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

using Sizes = std::map<std::string, std::int64_t>;

const std::filesystem::path seed = SOUS_SOURCE_DIR "/tuning-db/seed/polybench.jsonl";

std::vector<tuning_db::Entry> seeds() {
  std::vector<tuning_db::Entry> entries;
  std::ifstream lines(seed);
  for (std::string line; std::getline(lines, line);) {
    auto entry = tuning_db::entry_from_json(line);
    if (!entry) ADD_FAILURE() << entry.error().to_string();
    if (entry) entries.push_back(std::move(*entry));
  }
  return entries;
}

// Entries over the symbols of nests, one for each guard, compiled together.
class Paths {
 public:
  void add(const std::vector<std::string>& symbols, const targets::Guard& guard) {
    sdfg::Sdfg empty;
    empty.name = "path" + std::to_string(nests_.size());
    empty.symbols = empty.arguments = symbols;
    nests_.push_back(std::move(empty));
    targets::EmitOptions options;
    options.function = nests_.back().name;
    options.guards = {guard};
    functions_.push_back(targets::find_target("cpp")->emit(nests_.back(), options).value());
  }
  bool compile() {
    std::vector<tests::Generated> generated;
    for (const sdfg::Sdfg& nest : nests_) generated.push_back({&nest, nest.name});
    auto code =
        tests::GeneratedCode::compile(tests::source_file(functions_, ""), generated, {.include_root = SOUS_SOURCE_DIR});
    EXPECT_TRUE(code) << code.error().why;
    if (code) code_ = std::make_unique<tests::GeneratedCode>(std::move(*code));
    return code_ != nullptr;
  }
  bool runs(std::size_t k, const Sizes& sizes) const {
    sdfg::Memory memory{.symbols = sizes, .buffers = {}};
    return code_->run(k, memory) == 1;
  }
  const std::string& text(std::size_t k) const { return functions_[k].code; }

 private:
  std::deque<sdfg::Sdfg> nests_;  // whose addresses are kept
  std::vector<targets::Function> functions_;
  std::unique_ptr<tests::GeneratedCode> code_;
};

// The same decision in numbers.
bool enough(const tuning_db::Entry& entry, const targets::Guard& guard, const Sizes& sizes) {
  const auto here = tuning_db::extents(entry.nest, sizes);
  for (std::size_t k = 0; k < here.size(); ++k)
    if (here[k] < guard.least_extents[k]) return false;
  return tuning_db::work(entry.nest, sizes).value_or(0) >= guard.least_work;
}

TEST(Shapes, SeedsRunWhereTheyWereMeasuredAndNotWhereALoopIsThin) {
  const auto entries = seeds();
  ASSERT_GT(entries.size(), 50u);
  Paths paths;
  std::vector<targets::Guard> guards;
  for (const auto& entry : entries) {
    guards.push_back(
        guard_of(entry.nest, entry.nest.root, tuning_db::match_of(entry, 0, transforms::Origin::Database)));
    paths.add(entry.nest.symbols, guards.back());
  }
  ASSERT_TRUE(paths.compile());
  std::mt19937 random(7);
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const auto& measured = entries[k].sizes;
    EXPECT_TRUE(paths.runs(k, measured)) << entries[k].name << "\n" << paths.text(k);
    for (const auto& [symbol, size] : measured) {
      Sizes thin;  // as much work, or more
      for (const auto& [name, value] : measured) thin[name] = name == symbol ? 1 : value * 50;
      EXPECT_FALSE(paths.runs(k, thin)) << entries[k].name << " " << symbol << "\n" << paths.text(k);
    }
    for (int sample = 0; sample < 20; ++sample) {
      Sizes sizes;
      for (const auto& [symbol, size] : measured)
        sizes[symbol] = std::uniform_int_distribution<std::int64_t>(-2, 2 * size)(random);
      EXPECT_EQ(paths.runs(k, sizes), enough(entries[k], guards[k], sizes)) << entries[k].name << "\n" << paths.text(k);
    }
  }
}

// What a build on the machine of the seeds gives the nest.
Chosen chosen_for(const PreparedNest& nest) {
  const auto entries = seeds();
  const auto folder = std::filesystem::temp_directory_path() / ("sous-shapes-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  Chosen chosen;
  {
    const auto database = tuning_db::Database::open({.path = folder / "t.db", .seeds = {seed}}, entries[0].hardware);
    EXPECT_TRUE(database) << database.error().to_string();
    if (database) {
      PreparedNest asked = nest;
      asked.hardware = entries[0].hardware;
      for (Unit& unit : asked.units) unit.matches = (*database)->query({unit.query()}, 8).value().at(0);
      chosen = choose({.nest = asked});
    }
  }
  std::filesystem::remove_all(folder);
  return chosen;
}

constexpr const char* sgemm = R"(void sgemm(int m, int n, int k, const float *restrict a, const float *restrict b,
                                           float *restrict c) {
  for (int i = 0; i < m; i++)
    for (int l = 0; l < k; l++)
      for (int j = 0; j < n; j++) c[i * n + j] += a[i * k + l] * b[l * n + j];
})";

TEST(Shapes, AProductWithOneRowIsNotACube) {
  const auto unit = frontends::c::lift(sgemm, "sgemm.c", {});
  ASSERT_TRUE(unit && unit->nests.size() == 1);
  const auto nest = prepare(unit->nests[0], {}, {});
  ASSERT_TRUE(nest);
  const Chosen chosen = chosen_for(*nest);
  ASSERT_EQ(chosen.guards.size(), 1u) << chosen.why;
  Paths paths;
  paths.add(nest->normal.symbols, chosen.guards[0]);
  ASSERT_TRUE(paths.compile());
  const auto runs = [&](int m, int n, int k) { return paths.runs(0, {{"m", m}, {"n", n}, {"k", k}}); };
  for (const auto& [m, n, k] : {std::array{1, 2000, 2000},
                                {2000, 2000, 1},
                                {2000, 1, 2000},
                                {1, 1, 1},
                                {20, 8000, 8000},
                                {8000, 8000, 20},
                                {8000, 20, 8000},
                                {40, 40, 40},
                                {0, 2000, 2000},
                                {-1, 2000, 2000}})
    EXPECT_FALSE(runs(m, n, k)) << m << " " << n << " " << k << paths.text(0);
  for (const auto& [m, n, k] :
       {std::array{1000, 1100, 1200}, {129, 129, 129}, {2000, 2000, 2000}, {1001, 1103, 1201}, {400, 2000, 2000}})
    EXPECT_TRUE(runs(m, n, k)) << m << " " << n << " " << k << paths.text(0);
}

// The same where the build knows the sizes: no guard, and no recipe for a thin shape.
TEST(Shapes, KnownSizesAreHeldAgainstTheSameExtents) {
  const auto unit = frontends::c::lift(sgemm, "sgemm.c", {});
  ASSERT_TRUE(unit && unit->nests.size() == 1);
  const auto served = [&](int m, int n, int k) {
    const auto nest = prepare(unit->nests[0], {}, {{"m", m}, {"n", n}, {"k", k}});
    if (!nest) return false;
    const Chosen chosen = chosen_for(*nest);
    EXPECT_TRUE(chosen.guards.empty());
    return !chosen.choices.empty();
  };
  EXPECT_TRUE(served(1000, 1100, 1200));
  EXPECT_FALSE(served(1, 2600, 2600));  // as many bytes
  EXPECT_FALSE(served(2600, 2600, 1));
}

// Rows that share cache sets count against a gain as far as it survives them.
TEST(Shapes, HowFullASetMayBeDependsOnWhatIsLost) {
  tuning_db::Hardware machine;
  machine.architecture = "x86-64";
  machine.l1_bytes = 48 << 10;
  const auto ways = [&](double ratio, int threads) {
    transforms::Evidence e;
    e.baseline_seconds = ratio;
    e.tuned_seconds = 1;
    e.threads = threads;
    const auto cache = tuning_db::cache_for(e, machine);
    return cache.sets == 0 ? std::int64_t{0} : cache.ways;
  };
  EXPECT_EQ(ways(3, 1), 12);
  EXPECT_EQ(ways(3, 2), 6);
  EXPECT_EQ(ways(30, 2), 0);
  EXPECT_EQ(tuning_db::strictest({64, 12, 64}, {64, 6, 64}).ways, 6);
  EXPECT_EQ(tuning_db::strictest({}, {64, 12, 64}).ways, 12);
}

// Where the build knows the distance of the rows it asks no entry: 2048 columns are left alone, 2040 are not.
TEST(Shapes, RowsThatShareCacheSetsAreKnownToTheBuild) {
  const auto nest = [](const std::string& columns, bool tiled) {
    const std::string rows = tiled ? "loop t = 0 .. n step 16 { loop j = 1 .. " + columns +
                                         " { loop i = t .. min(n, t + 16) { s: A[i, j] = A[i, j - 1] } } }"
                                   : "loop i = 0 .. n { loop j = 1 .. " + columns + " { s: A[i, j] = A[i, j - 1] } }";
    return sdfg::parse("sdfg 1 t symbols n\narray A: f64[n, " + columns + "] argument  arguments n, A\n" + rows)
        .value();
  };
  const sdfg::CacheSets cache{.sets = 64, .ways = 12, .vector_bytes = 64};
  EXPECT_NE(tuning_db::crowded(nest("2048", false), nest("2048", true), {}, cache), "");
  EXPECT_EQ(tuning_db::crowded(nest("2040", false), nest("2040", true), {}, cache), "");
}

TEST(Shapes, RowsWhoseLengthsAreDataNeedWorkNotRows) {
  const Chosen chosen = without_expectations(R"(void f(int n, const int *restrict at, const int *restrict col,
      const double *restrict a, const double *restrict x, double *restrict y) {
    for (int i = 0; i < n; i++) {
      double s = 0;
      for (int k = at[i]; k < at[i + 1]; k++) s += a[k] * x[col[k]];
      y[i] = s;
    }
  })");
  ASSERT_EQ(chosen.guards.size(), 1u) << chosen.why;
  EXPECT_LT(chosen.guards[0].least_extents.at(0), 20);
  EXPECT_GT(chosen.guards[0].least_work, 100'000);
  EXPECT_GT(chosen.guards[0].gain, 0);
}

}  // namespace
}  // namespace sous::client
