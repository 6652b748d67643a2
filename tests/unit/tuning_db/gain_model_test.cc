#include "tuning-db/gain_model.h"

#include <gtest/gtest.h>

#include <random>

#include "sdfg/text.h"
#include "tuning-db/chains.h"
#include "tuning-db/places.h"

namespace sous::tuning_db {
namespace {

double at(const ScheduleFeatures& features, ScheduleFeature feature) {
  return features[static_cast<std::size_t>(feature)];
}

Hardware machine(int cores) {
  Hardware h;
  h.architecture = "x86-64";
  h.isa = Isa::avx2;
  h.cores = cores;
  h.l1_bytes = 32 << 10;
  h.l2_bytes = 512 << 10;
  return h;
}

ScheduleFeatures of(const std::string& loops, std::int64_t n, int threads = 2) {
  const auto nest =
      sdfg::parse("sdfg 1 t symbols n array A: f64[n, n] argument array y: f64[n] argument arguments n, A, y " + loops);
  EXPECT_TRUE(nest) << nest.error().to_string();
  return schedule_features(*nest, {{"n", n}}, machine(threads), threads);
}

const std::string row_sums = "loop i = 0 .. n { loop j = 0 .. n { s: y[i] = y[i] + A[i, j] } }";
const std::string column_sums = "loop j = 0 .. n { loop i = 0 .. n { s: y[i] = y[i] + A[j, i] } }";

TEST(ScheduleFeatures, SumsAreChainsAndColumnsAreFar) {
  const auto rows = of(row_sums, 100), columns = of(column_sums, 100);
  EXPECT_EQ(at(rows, ScheduleFeature::chained), 1);
  EXPECT_EQ(at(columns, ScheduleFeature::chained), 0);
  const auto far = of("loop i = 0 .. n { loop j = 0 .. n { s: y[i] = y[i] + A[j, i] } }", 100);
  EXPECT_NEAR(at(rows, ScheduleFeature::far), 0, 1e-9);
  EXPECT_NEAR(at(far, ScheduleFeature::far), 1.0 / 3, 1e-9);
  EXPECT_EQ(at(rows, ScheduleFeature::special), 0);
}

TEST(ScheduleFeatures, LanesAcrossRowsAreScattered) {
  const auto along = of("loop i = 0 .. n { loop j = 0 .. n simd { s: A[i, j] = y[i] } }", 100);
  const auto across = of("loop i = 0 .. n simd { loop j = 0 .. n { s: A[i, j] = y[i] } }", 100);
  EXPECT_EQ(at(along, ScheduleFeature::scattered), 0);
  EXPECT_EQ(at(across, ScheduleFeature::scattered), 0.5);
}

TEST(ScheduleFeatures, SumsOfIntegersAreNoChains) {
  const auto sums = sdfg::parse(
      "sdfg 1 t symbols n array A: i32[n, n] argument array y: i32[n] argument arguments n, A, y "
      "loop i = 0 .. n { loop j = 0 .. n { s: y[i] = y[i] + A[i, j] } }");
  ASSERT_TRUE(sums) << sums.error().to_string();
  EXPECT_EQ(at(schedule_features(*sums, {{"n", 100}}, machine(2), 2), ScheduleFeature::chained), 0);
}

TEST(ScheduleFeatures, RunningExtremaInMemoryAreUpdatesUnderConditions) {
  const auto share = [](const std::string& loops) {
    const auto nest = sdfg::parse(
        "sdfg 1 t symbols n array A: f64[n, n] argument array y: f64[n] argument arguments n, A, y " + loops);
    EXPECT_TRUE(nest) << nest.error().to_string();
    return updated_under_conditions(*nest, {{"n", 100}});
  };
  const std::string update = "if (A[i, j] < y[i]) { s: y[i] = A[i, j] }";
  EXPECT_EQ(share("loop i = 0 .. n { loop j = 0 .. n { " + update + " } }"), 1);
  EXPECT_EQ(share("loop j = 0 .. n { loop i = 0 .. n { " + update + " } }"), 0);       // another one each time
  EXPECT_EQ(share("loop i = 0 .. n simd { loop j = 0 .. n { " + update + " } }"), 0);  // in lanes
  // A compiler may store where the program does in any case, and keeps it in a register meanwhile.
  EXPECT_EQ(share("loop i = 0 .. n { s0: y[i] = 9.0 loop j = 0 .. n { " + update + " } }"), 0);
  EXPECT_GT(share("loop i = 0 .. n { s0: y[0] = 9.0 loop j = 0 .. n { " + update + " } }"), 0.9);
  EXPECT_EQ(share(row_sums), 0);
  EXPECT_EQ(share("loop i = 0 .. n { if (y[i] < 0.0) { loop j = 0 .. n { s: y[i] = y[i] + A[i, j] } } }"), 0);
}

const std::string head =
    "sdfg 1 t symbols n array A: f64[n, n] argument array y: f64[n] argument array at: i32[n] argument arguments n, A, "
    "y, at ";

TEST(FreedLoops, ChoicesThatNoCompilerMakesVectorsOf) {
  const auto wait = [](const std::string& loops, bool reassociate = false) {
    const auto nest = sdfg::parse(head + loops);
    EXPECT_TRUE(nest) << nest.error().to_string();
    return waits(*nest, {{"n", 100}}, reassociate);
  };
  const auto keep = [](const std::string& kept, const std::string& end = "n") {
    return "loop i = 0 .. n { loop j = 0 .. " + end + " { if (A[i, j] + 1.0 < y[i]) { " + kept + " } } }";
  };
  const std::string value = "s0: y[i] = A[i, j] + 1.0 ", place = "s1: at[i] = {j}i32 + 1";
  EXPECT_EQ(wait(keep(value)), Waits::ForChoices);
  EXPECT_EQ(wait(keep(value + place)), Waits::ForChoices);
  EXPECT_EQ(wait(keep(value), true), Waits::No);  // a reduction
  EXPECT_EQ(wait(keep(place), true), Waits::No);  // so is an integer by itself
  EXPECT_EQ(wait(keep(value + place), true), Waits::ForChoices);
  EXPECT_EQ(wait("loop i = 0 .. n { loop j = 0 .. n { if (A[i, j] < 0.5) { s0: at[i] = {j}i32 + 1 } } }"), Waits::No);
  EXPECT_EQ(wait("loop i = 0 .. n { loop j = 0 .. n { s0: at[i] = {j}i32 if (at[i] < 9) { s1: at[i] = {i}i32 s2: y[0] "
                 "= 1.0 } } }"),
            Waits::No);                          // set anew in each iteration
  EXPECT_EQ(wait(keep(value, "9")), Waits::No);  // unrolled
}

TEST(FreedLoops, SumsOfIntegersAreVectorsAlready) {
  const auto share = [](const std::string& loops) {
    const auto nest = sdfg::parse(head + loops);
    EXPECT_TRUE(nest) << nest.error().to_string();
    return integer_sums(*nest, {{"n", 100}});
  };
  const auto in_rows = [](const std::string& body) { return "loop i = 0 .. n { loop j = 0 .. n { " + body + " } }"; };
  EXPECT_EQ(share(in_rows("s0: at[i] = at[i] + i32(A[i, j] < 0.5)")), 1);
  EXPECT_EQ(share(in_rows("if (A[i, j] < 0.5) { s0: at[i] = at[i] + 1 }")), 1);
  EXPECT_EQ(share(in_rows("s0: at[i] = at[i] + i32(A[j, i] < 0.5)")), 0);  // gathered
  EXPECT_EQ(share(in_rows("s0: at[i] = at[i] - i32(A[i, j])")), 0);
  EXPECT_EQ(share(in_rows("s0: y[i] = y[i] + A[i, j]")), 0);
}

TEST(FreedLoops, LanesThatAreFilledOneByOne) {
  const auto neighbours = [](const std::string& loops) {
    const auto nest = sdfg::parse(head + loops);
    EXPECT_TRUE(nest) << nest.error().to_string();
    return lanes_are_neighbours(*nest, {{"n", 100}});
  };
  EXPECT_TRUE(neighbours("loop j = 0 .. n { loop i = 0 .. n simd { s0: y[i] = y[i] * A[j, i] } }"));
  EXPECT_FALSE(neighbours("loop j = 0 .. n { loop i = 0 .. n simd { s0: y[i] = y[i] * A[i, j] } }"));
  // Once for each row, then again and again.
  EXPECT_TRUE(neighbours("loop i = 0 .. n simd { loop j = 0 .. n { s0: y[i] = y[i] * A[i, 3] } }"));
}

TEST(FreedLoops, SumsBeginAnewInEachIterationThatSetsThem) {
  const auto wait = [](const std::string& begin, const std::string& end) {
    const auto nest = sdfg::parse(head + "loop i = 0 .. n { loop j = 0 .. n { " + begin + " loop k = 0 .. " + end +
                                  " { s1: y[0] = y[0] + A[i, k] } } }");
    EXPECT_TRUE(nest) << nest.error().to_string();
    return waits(*nest, {{"n", 100}}, false);
  };
  EXPECT_EQ(wait("s0: y[0] = A[i, j]", "3"), Waits::No);  // a window, which a compiler writes out
  EXPECT_EQ(wait("s0: y[0] = A[i, j]", "n"), Waits::ForSums);
  EXPECT_EQ(wait("s0: y[0] = y[0] + 1.0", "3"), Waits::ForSums);
  EXPECT_EQ(wait("", "3"), Waits::ForSums);
}

// A sixteenth of it does not wait: of all of it most does, of a half that may be an eighth.
TEST(FreedLoops, OfAPartAllThatDoesNotWaitMayBeInIt) {
  const auto nest =
      sdfg::parse(head +
                  "loop i = 0 .. n { loop k = 0 .. 15 { s0: y[i] = A[i, k] * 2.0 } loop j = 0 .. n { loop k = 0 .. "
                  "9 { s1: y[i] = y[i] + A[j, k] } } }");
  ASSERT_TRUE(nest) << nest.error().to_string();
  const auto part_that_waits = [&](std::int64_t n) {
    for (const double part : {1.0, 0.5, 0.25})
      if (waits(*nest, {{"n", n}}, false, part) == Waits::No) return part;
    return 0.0;
  };
  EXPECT_EQ(part_that_waits(10), 1);
  EXPECT_EQ(part_that_waits(25), 0.5);
  EXPECT_EQ(part_that_waits(60), 0.25);
  EXPECT_EQ(part_that_waits(1000), 0);
}

TEST(FreedLoops, WhatCallsTheLibraryDoesNotWaitForItsSum) {
  const auto wait = [](const std::string& value) {
    const auto nest = sdfg::parse(head + "loop i = 0 .. n { loop j = 0 .. n { s0: y[i] = y[i] + " + value + " } }");
    EXPECT_TRUE(nest) << nest.error().to_string();
    return waits(*nest, {{"n", 400}}, false);
  };
  EXPECT_EQ(wait("A[i, j] * 2.0"), Waits::ForSums);
  EXPECT_EQ(wait("sqrt(A[i, j])"), Waits::ForSums);
  EXPECT_EQ(wait("cos(A[i, j])"), Waits::No);
  EXPECT_EQ(wait("exp(A[i, j])"), Waits::No);
}

// One computation, however many temporaries it is written with.
TEST(FreedLoops, WhatOnlyAChainTakesWaitsWithIt) {
  const std::string temporaries = "array t: f64 transient array u: f64 transient ";
  const auto in_loop = [&](const std::string& body) {
    const auto nest = sdfg::parse(
        "sdfg 1 t symbols n array A: f64[n, n] argument array y: f64[n] argument array z: f64[n] argument " +
        temporaries + "arguments n, A, y, z loop i = 0 .. n { loop j = 0 .. n { " + body + " } }");
    EXPECT_TRUE(nest) << nest.error().to_string();
    return std::pair(waits(*nest, {{"n", 400}}, false), chained(*nest, {{"n", 400}}));
  };
  const std::string t = "s0: t[] = A[i, j] - A[0, j] ", u = "s1: u[] = t[] * t[] ";
  EXPECT_EQ(in_loop("s2: y[i] = y[i] + (A[i, j] - A[0, j]) * (A[i, j] - A[0, j])"), std::pair(Waits::ForSums, 1.0));
  EXPECT_EQ(in_loop(t + "s2: y[i] = y[i] + t[] * t[]"), std::pair(Waits::ForSums, 1.0));
  EXPECT_EQ(in_loop(t + u + "s2: y[i] = y[i] + u[]"), std::pair(Waits::ForSums, 1.0));
  EXPECT_LT(in_loop(t + u + "s2: y[i] = y[i] + t[] s3: z[j] = u[]").second, 0.8);  // others take it, too
  EXPECT_LT(in_loop(t + "s2: y[i] = y[i] + t[] if (t[] < 0.5) { s3: z[j] = 1.0 }").second, 0.8);
  const auto spelled =
      sdfg::parse("sdfg 1 t symbols n array A: f64[n, n] argument array y: f64[n] argument " + temporaries +
                  "arguments n, A, y loop i = 0 .. n { loop j = 0 .. n { " + t + "s2: y[i] = y[i] + t[] } }");
  ASSERT_TRUE(spelled) << spelled.error().to_string();
  EXPECT_LT(chained_without_temporaries(*spelled, {{"n", 400}}), 0.8);
  EXPECT_EQ(in_loop("s0: t[] = exp(A[i, j]) s2: y[i] = y[i] + t[]").first, Waits::No);  // longer than it waits
}

TEST(FreedLoops, LanesThatRunForDifferentTimesAreNoVectors) {
  const auto gain = [](const std::string& begin, const std::string& end) {
    const auto nest = sdfg::parse(head + "loop i = 0 .. n simd { loop j = " + begin + " .. " + end +
                                  " { if (A[j, i] < y[i]) { s0: y[i] = A[j, i] + 1.0 } } }");
    EXPECT_TRUE(nest) << nest.error().to_string();
    Hardware hardware = machine(2);
    return reordered_vectors_gain(*nest, {{"n", 400}}, hardware, Waits::ForChoices, {});
  };
  EXPECT_EQ(gain("0", "n"), 1.5);
  EXPECT_EQ(gain("i", "n"), 0);
  EXPECT_EQ(gain("0", "i"), 0);
}

TEST(FreedLoops, LanesOfWhileLoopsCountAQuarter) {
  const auto gain = [](const std::string& type, const std::string& work, Isa isa = Isa::avx512) {
    const auto nest = sdfg::parse("sdfg 1 t symbols n array y: " + type + "[n] argument array x: " + type +
                                  " stack transient array k: i32 stack transient arguments n, y "
                                  "loop i = 0 .. n simd private(x, k) { s0: x[] = y[i] s1: k[] = 0 "
                                  "while (k[] < 100) { " +
                                  work + " s3: k[] = k[] + 1 } s4: y[i] = x[] }");
    EXPECT_TRUE(nest) << nest.error().to_string();
    Hardware hardware = machine(2);
    hardware.isa = isa;
    return reordered_vectors_gain(*nest, {{"n", 400}}, hardware, Waits::ForEnds, {});
  };
  const std::string narrow = "s2: x[] = x[] * x[] + 0.5f32 * x[]", wide = "s2: x[] = x[] * x[] + 0.5 * x[]";
  EXPECT_EQ(gain("f64", wide), 2);
  EXPECT_EQ(gain("f32", narrow), 4);
  EXPECT_EQ(gain("f64", wide, Isa::avx2), 1.5);
  EXPECT_EQ(gain("f64", wide, Isa::sse), 0);
  EXPECT_EQ(gain("f64", "s2: x[] = exp(x[])"), 0);
  EXPECT_EQ(gain("i64", "s2: x[] = x[] / 3i64"), 0);
  EXPECT_EQ(gain("i64", "s2: x[] = x[] / 4i64"), 2);
  // Elements by places that are data are fetched one by one.
  EXPECT_GT(gain("f64", "s2: x[] = x[] * x[] * x[] * x[] + 0.5 * x[] * y[k[]]"), 1.5);
  EXPECT_LT(gain("f64", "s2: x[] = x[] * x[] * x[] * x[] + 0.5 * x[] * y[k[]]"), 2);
  EXPECT_EQ(gain("f64", "s2: x[] = x[] + y[k[]] * y[k[] + 1]"), 0);
  EXPECT_EQ(gain("f64", "if (y[k[]] < x[]) { " + wide + " }"), 0);
}

TEST(FreedLoops, WhatWaitsForSeveralThings) {
  const auto wait = [](const std::string& steps, const std::string& beside = "") {
    const auto nest = sdfg::parse(
        "sdfg 1 t symbols n array A: f64[n, n] argument array y: f64[n] argument array x: f64 stack transient "
        "array k: i32 stack transient arguments n, A, y "
        "loop i = 0 .. n { loop j = 0 .. n { a: y[i] = y[i] + A[j, i] * A[i, j] } loop l = 0 .. n private(x, k) { b: "
        "x[] = "
        "y[l] c: k[] = 0 while (k[] < 100) { " +
        steps + " d: k[] = k[] + 1 } e: y[l] = x[] } " + beside + " }");
    EXPECT_TRUE(nest) << nest.error().to_string();
    return waits(*nest, {{"n", 400}}, false);
  };
  const std::string floats = "s: x[] = x[] * x[] * x[] * x[] + 0.5 * x[] * x[] * x[] * x[]";
  EXPECT_EQ(wait(floats), Waits::ForEnds);
  EXPECT_EQ(wait("s: x[] = x[] + 1.0"), Waits::No);  // such rounds are short, and sums a third
  // A loop that any compiler makes vectors of is as much work.
  EXPECT_EQ(wait(floats, "loop m = 0 .. n { loop o = 0 .. n { f: A[m, o] = A[m, o] * 0.5 + 1.0 } }"), Waits::No);
}

TEST(CoreLoad, WhatMemoryBoundsAndWhatCoresDo) {
  const auto load = [](const std::string& loops) {
    const auto nest = sdfg::parse(
        "sdfg 1 t symbols n array A: f64[n, n] argument array y: f64[n] argument array at: i32[n] argument "
        "arguments n, A, at, y " +
        loops);
    EXPECT_TRUE(nest) << nest.error().to_string();
    return core_load(*nest, {{"n", 2000}}, machine(2), 2);
  };
  const CoreLoad sums = load("loop i = 0 .. n parallel { loop j = 0 .. n { s: y[i] = y[i] + A[i, j] } }");
  EXPECT_GT(sums.bytes, 2 * sums.nanoseconds);
  EXPECT_EQ(sums.regions, 1);
  EXPECT_NEAR(sums.shares, 2, 1e-9);
  const CoreLoad waves = load("loop i = 0 .. n parallel { loop j = 0 .. n { s: y[i] = y[i] + sin(y[j] * y[i]) } }");
  EXPECT_LT(100 * waves.bytes, waves.nanoseconds);
  // Where data says which, each place counts, unless a core's cache holds all of them.
  const CoreLoad gathered = load("loop i = 0 .. n parallel { loop j = 0 .. n { s: y[i] = y[i] + A[at[i], at[j]] } }");
  EXPECT_GT(gathered.bytes, 8.0 * 2000 * 2000 - 1);
  EXPECT_LT(load("loop i = 0 .. n parallel { loop j = 0 .. n { s: y[i] = y[i] + y[at[j]] } }").bytes, 100000);
  // Of two rows far from each other, what is between them is not brought.
  const CoreLoad rows = load("loop i = 1 .. n parallel { loop j = 0 .. n { s: A[i, j] = A[i, j] - A[0, j] * y[i] } }");
  EXPECT_LT(rows.bytes, 3 * 8.0 * 2000 * 2000);
  // Sums wait for themselves, where others do not run beside them.
  EXPECT_GT(sums.nanoseconds, 2000 * 2000);
  EXPECT_LT(load("loop i = 0 .. n parallel { loop j = 0 .. n { s: A[i, j] = A[i, j] + y[j] } }").nanoseconds, 1e6);
  EXPECT_LT(load("loop i = 0 .. n parallel { loop j = 0 .. 8 { s: y[i] = y[i] + A[i, j] } }").nanoseconds, 4000);
}

// Sums in order are no vectors, be they too short to be waited for; with leave to reorder them they are, however long.
TEST(CoreLoad, SumsAreVectorsWhereTheirOrderIsFree) {
  const auto sums = sdfg::parse(
      "sdfg 1 t symbols n, m array A: f64[n, m] argument array y: f64[n] argument arguments n, m, A, y "
      "loop i = 0 .. n parallel { loop j = 0 .. m { s: y[i] = y[i] + A[i, j] * A[i, j] } }");
  ASSERT_TRUE(sums) << sums.error().to_string();
  for (const std::int64_t m : {20, 2000}) {
    const auto takes = [&](Vectors vectors) {
      return core_load(*sums, {{"n", 100}, {"m", m}}, machine(2), 2, vectors).nanoseconds;
    };
    EXPECT_NEAR(takes(Vectors::Perhaps) / takes(Vectors::OfSums), m < 64 ? 8 : 12.8, 1e-6) << m;
  }
}

TEST(CoreLoad, LoopsThatAreHandedOutTogetherHaveSharesTogether) {
  const auto load = [](const std::string& rows) {
    const auto nest = sdfg::parse(
        "sdfg 1 t symbols n array A: f64[2, n, n] argument arguments n, A loop i = 0 .. 2 parallel { loop j = 0 .. n " +
        rows + " { loop k = 0 .. n { s: A[i, j, k] = A[i, j, k] * 3.0 } } }");
    EXPECT_TRUE(nest);
    return core_load(*nest, {{"n", 800}}, machine(16), 16);
  };
  EXPECT_NEAR(load("").shares, 2, 0.01);
  EXPECT_NEAR(load("parallel").shares, 16, 0.01);
  EXPECT_EQ(load("parallel").regions, 1);
}

// Samples of several channels, in turns: with few of them, each thread writes to the lines that the other one needs.
TEST(CoreLoad, ThreadsThatWriteSideBySideGainNothing) {
  const auto load = [](const std::string& loops, std::int64_t channels) {
    const auto nest = sdfg::parse(
        "sdfg 1 t symbols n, c array x: f32[n, c] argument array y: f32[c] argument arguments n, c, x, y " + loops);
    EXPECT_TRUE(nest) << nest.error().to_string();
    return core_load(*nest, {{"n", 200000}, {"c", channels}}, machine(2), 2, Vectors::None);
  };
  const std::string channels = "loop k = 0 .. c parallel { loop i = 0 .. n { s: x[i, k] = sin(x[i, k]) } }";
  EXPECT_EQ(load(channels, 8).contended, 8 * 200000);
  EXPECT_EQ(threads_gain(load(channels, 8), 2), 0);
  EXPECT_EQ(load(channels, 32).contended, 0);
  EXPECT_GT(threads_gain(load(channels, 32), 2), 1);
  // Each sample to one thread; one sum for each channel.
  EXPECT_EQ(load("loop i = 0 .. n parallel { loop k = 0 .. c { s: x[i, k] = sin(x[i, k]) } }", 8).contended, 0);
  EXPECT_EQ(load("loop k = 0 .. c parallel { loop i = 0 .. n { s: y[k] = y[k] + x[i, k] } }", 8).contended, 0);
}

TEST(CoreLoad, WhatThreadsGain) {
  const CoreLoad computing{.nanoseconds = 1e8, .bytes = 1e7, .regions = 1, .shares = 2};
  EXPECT_EQ(threads_gain(computing, 2), 1.5);
  CoreLoad other = computing;
  other.bytes = 1e10;
  const double streaming = threads_gain(other, 2);
  EXPECT_GT(streaming, 1.05);
  EXPECT_LT(streaming, 1.5);
  EXPECT_EQ(threads_gain(other, 1), 0);
  // Too short, too many regions, no threads, shares that differ.
  other.nanoseconds = 1e3;
  other.bytes = 1e6;
  EXPECT_EQ(threads_gain(other, 2), 0);
  for (const auto& [member, value] : {std::pair{&CoreLoad::regions, 1e4}, std::pair{&CoreLoad::shares, 1.3}}) {
    other = computing;
    other.*member = value;
    EXPECT_EQ(threads_gain(other, 2), 0);
  }
  // Two hundred microseconds are enough for two threads, not for sixteen, which take longer to wake, and not where most
  // of them would go by until the other core has the data.
  CoreLoad brief{.nanoseconds = 2e5, .touched = 1e5, .regions = 1, .shares = 2, .threads = 2};
  EXPECT_EQ(threads_gain(brief, 2), 1.5);
  brief.threads = 16;
  EXPECT_EQ(threads_gain(brief, 16), 0);
  brief.threads = 2;
  brief.touched = 1e6;
  EXPECT_EQ(threads_gain(brief, 2), 0);
  // Shares that are nearly even, and work of which a tenth is on one thread.
  other = computing;
  other.shares = 1.8;
  EXPECT_NEAR(threads_gain(other, 2), 1.4, 1e-9);
  other.shares = 1 / (0.1 + 0.9 / 16);
  EXPECT_LT(threads_gain(other, 16), 4);
}

// A parallel loop inside of one over diagonals: shares are even where diagonals are long.
TEST(CoreLoad, Diagonals) {
  const auto load = [](int tiles, int threads, Vectors vectors) {
    const std::string n = std::to_string(tiles);
    const auto nest = sdfg::parse("sdfg 1 t symbols n array A: i32[n, n] argument arguments n, A loop w = 0 .. " + n +
                                  " + " + n + " - 1 { loop i = max(0, w - " + n + " + 1) .. min(" + n +
                                  ", w + 1) parallel { loop j = 0 .. n { s: A[i, j] = A[i, j] + A[j, w] } } }");
    EXPECT_TRUE(nest) << nest.error().to_string();
    return core_load(*nest, {{"n", 2000}}, machine(threads), threads, vectors);
  };
  EXPECT_GT(load(16, 2, Vectors::None).shares, 1.85);
  EXPECT_LT(load(4, 2, Vectors::None).shares, 1.7);
  EXPECT_LT(load(16, 16, Vectors::None).shares, 9);
  EXPECT_GT(load(200, 16, Vectors::None).shares, 14);
  CoreLoad waves{.nanoseconds = 1e8, .bytes = 1e7, .regions = 500, .shares = 2};
  EXPECT_GT(threads_gain(waves, 2), 1.2);
  waves.in_waves = true;
  EXPECT_EQ(threads_gain(waves, 2), 0) << "what one core made the other one needs";
  EXPECT_GT(load(16, 2, Vectors::None).nanoseconds, 4 * load(16, 2, Vectors::Perhaps).nanoseconds);
}

// What the loops inside leave in the cache is not brought again in the next iteration.
TEST(CoreLoad, RowsThatStay) {
  const auto nest = sdfg::parse(
      "sdfg 1 t symbols n array A: f64[n, n] argument array B: f64[n, n] argument array y: f64[n] argument "
      "arguments n, A, B, y "
      "loop i = 1 .. n - 1 { loop j = 0 .. n { s: B[i, j] = A[i - 1, j] + A[i + 1, j] + y[j] } }");
  ASSERT_TRUE(nest) << nest.error().to_string();
  EXPECT_NEAR(core_load(*nest, {{"n", 4000}}, machine(2), 2).bytes / (2 * 8 * 4000.0 * 4000.0), 1, 0.01);
}

TEST(ScheduleFeatures, ThreadsAndRegions) {
  const auto outer = of("loop i = 0 .. n parallel { loop j = 0 .. n { s: y[i] = y[i] + A[i, j] } }", 1000);
  const auto inner = of("loop j = 0 .. n { loop i = 0 .. n parallel { s: y[i] = y[i] + A[j, i] } }", 1000);
  EXPECT_EQ(at(outer, ScheduleFeature::threads), 2);
  EXPECT_EQ(at(of(row_sums, 1000), ScheduleFeature::threads), 1);
  EXPECT_GT(at(inner, ScheduleFeature::regions), at(outer, ScheduleFeature::regions) + 5);
  EXPECT_NEAR(at(of("loop i = 0 .. n parallel { s: y[i] = A[i, 0] }", 3), ScheduleFeature::imbalance), 1.0 / 3, 1e-9);
}

// In even shares one thread has most of a triangle.
TEST(ScheduleFeatures, TrianglesInShares) {
  const std::string inner = " { loop j = 0 .. i + 1 { s: y[i] = y[i] + A[i, j] } }";
  EXPECT_NEAR(at(of("loop i = 0 .. n parallel" + inner, 1000), ScheduleFeature::imbalance), 0.5, 1e-9);
  EXPECT_EQ(at(of("loop i = 0 .. n parallel(dynamic)" + inner, 1000), ScheduleFeature::imbalance), 0);
}

TEST(ScheduleFeatures, TrafficGrowsBeyondEachCache) {
  // 80 kB: beyond the first level, not the second.
  const auto matrix =
      of("loop t = 0 .. 50 { loop i = 0 .. n { loop j = 0 .. n { s: A[i, j] = A[i, j] * 2.0 } } }", 100);
  EXPECT_GT(at(matrix, ScheduleFeature::beyond_l1), at(matrix, ScheduleFeature::beyond_l2) + 4);
  // All of it in each of the 50 sweeps: 8 bytes for two operations.
  EXPECT_NEAR(at(matrix, ScheduleFeature::beyond_l1), std::log2(1 + 1000 * 8 / 2.0), 0.1);
}

const GainMachine here{"x86-64:avx2:2", 2};

std::vector<GainSample> samples(int count) {
  std::mt19937 random(3);
  std::vector<GainSample> result;
  for (int k = 0; k < count; ++k) {
    GainSample sample;
    for (double& feature : sample.features) feature = static_cast<double>(random() % 1000) / 100;
    sample.gain = sample.features[3] > 5 ? 4 : sample.features[7] > 2 ? 1 : 0.5;
    sample.group = std::to_string(k % 50);
    result.push_back(sample);
  }
  return result;
}

TEST(GainModel, LearnsWhatDecides) {
  const auto model = GainModel::train(samples(2000), here);
  double worst = 0;
  for (auto sample : samples(200))
    worst = std::max(worst, std::abs(std::log2(model.predict(sample.features) / sample.gain)));
  EXPECT_LT(worst, 0.5);
}

// Half of the gains are 4 and half 1, whatever the terms: four of ten exceed 1, nine of ten reach it.
TEST(GainModel, ThePercentileIsBelowTheMean) {
  auto drawn = samples(2000);
  std::mt19937 random(4);
  for (auto& sample : drawn) sample.gain = random() % 2 == 0 ? 4 : 1;
  const auto model = GainModel::train(drawn, here);
  double mean = 0, low = 0;
  for (const auto& sample : drawn) {
    mean += std::log2(model.predict(sample.features)) / 2000;
    low += std::log2(model.surely(sample.features)) / 2000;
  }
  EXPECT_NEAR(mean, 1, 0.1);
  EXPECT_NEAR(low, 0, 0.1);
}

TEST(GainModel, SurvivesBeingWritten) {
  const auto model = GainModel::train(samples(500), here);
  const auto read = GainModel::from_json(model.to_json());
  ASSERT_TRUE(read) << read.error().to_string();
  EXPECT_EQ(read->machine(), here);
  for (const auto& sample : samples(100)) {
    EXPECT_EQ(read->predict(sample.features), model.predict(sample.features));
    EXPECT_EQ(read->surely(sample.features), model.surely(sample.features));
  }
}

// A space in front takes the general reader.
TEST(GainModel, ReadsWhatItWrites) {
  auto drawn = samples(500);
  for (std::size_t k = 0; k < drawn.size(); ++k) {
    drawn[k].features[0] *= std::pow(10.0, static_cast<double>(k % 40) - 20);
    drawn[k].features[1] = -drawn[k].features[1] / 3;
  }
  const std::string text = GainModel::train(drawn, here).to_json();
  const auto read = GainModel::from_json(text), slowly = GainModel::from_json(" " + text);
  ASSERT_TRUE(read && slowly);
  EXPECT_EQ(read->machine(), slowly->machine());
  EXPECT_EQ(read->to_json(), text);
  EXPECT_EQ(slowly->to_json(), text);
  for (const auto& sample : drawn) {
    EXPECT_EQ(read->predict(sample.features), slowly->predict(sample.features));
    EXPECT_EQ(read->surely(sample.features), slowly->surely(sample.features));
  }
}

TEST(GainModel, RefusesWhatIsNone) {
  const std::string good = GainModel::train(samples(100), here).to_json();
  const auto code = [](const std::string& text) {
    const auto model = GainModel::from_json(text);
    return model ? std::string("none") : model.error().code;
  };
  EXPECT_EQ(code(good), "none");
  EXPECT_EQ(code("{"), "model.json");
  EXPECT_EQ(code(R"({"version":"x","base":0,"trees":[]})"), "model.version");
  const std::string head = good.substr(0, good.find("\"trees\":")) + "\"trees\":";
  const std::string tail = good.substr(good.find("},\"mean\""));
  EXPECT_EQ(code(head + "[[[0,1,1,2],[1],[2]]]" + tail), "none");
  for (const std::string tree :
       {"[1]", "[]", "[[]]", "[[1,2]]", "[[0,1,0,0]]", "[[0,1,1,2],[1],[99,1,1,1]]", "[[0,1,1,7],[1],[2]]"})
    EXPECT_EQ(code(head + "[" + tree + "]" + tail), "model.field") << tree;
}

TEST(GainModel, TheShippedOneIsOfThisVersion) {
  const auto* model = shipped_gain_model();
  ASSERT_NE(model, nullptr) << gain_model_file();
  const auto before = of(row_sums, 2000),
             worse = of("loop i = 0 .. n { loop j = 0 .. n parallel { s: y[i] = y[i] + A[i, j] } }", 2000);
  EXPECT_LT(model->predict(gain_features(before, worse)), 1.25);
}

}  // namespace
}  // namespace sous::tuning_db
