// The threads that generated code brings, where the program has no OpenMP (this one has none, though it is compiled for
// it), and the shares of loops.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cfenv>
#include <set>
#include <thread>
#include <vector>

#include "targets/runtime/sous.h"

namespace sous {
namespace {

// How often each value of a loop was met, by whom first, in a region of so many threads.
struct Met {
  std::vector<int> times;
  std::set<int64_t> threads;
};
template <class Loop>
Met met_by(int size, int64_t values, const Loop& loop) {
  Met met{std::vector<int>(static_cast<std::size_t>(values)), {}};
  const Threads team(size);
  EXPECT_TRUE(team.usable());
  parallel(true, size, [&] {
    const auto meet = [&](int64_t value) {
      __atomic_fetch_add(&met.times[static_cast<std::size_t>(value)], 1, __ATOMIC_RELAXED);
    };
    loop(meet);
    one_at_a_time([&] { met.threads.insert(thread()); });
  });
  return met;
}

TEST(Team, SharesHaveEachIterationOnce) {
  constexpr int64_t step = 3;
  for (const int size : {1, 2, 3, 7}) {
    for (const int64_t n : {0, 1, 2, 6, 7, 100}) {
      for (const int64_t chunk : {0, 1, 4, 200}) {
        for (const int kind : {0, 1, 2, 3}) {
          int64_t taken = 0;
          Pieces pieces;
          pieces.reset();
          const auto all = [&](const auto& share, const auto& meet) {
            for (int64_t i = share.begin; i < share.end; i += step) meet(i);
          };
          const Met met = met_by(size, n + 1, [&](const auto& meet) {
            if (chunk == 0) return all(even_share<step>(0, n), meet);
            if (kind == 3) {
              EvenShares<step> even(0, n, pieces);
              while (even.next()) all(even.share, meet);
            } else if (kind == 0) {
              TurnShares<step> turns(0, n, chunk);
              while (turns.next()) all(turns.share, meet);
            } else {
              QueuedShares<step> queued(0, n, chunk, taken, kind == 2);
              while (queued.next()) all(queued.share, meet);
            }
          });
          for (int64_t i = 0; i <= n; ++i)
            EXPECT_EQ(met.times[static_cast<std::size_t>(i)], i < n && i % step == 0 ? 1 : 0)
                << i << " of " << n << ", " << size << " threads, " << chunk << " at a time, kind " << kind;
          EXPECT_EQ(met.threads.size(), static_cast<std::size_t>(size));
        }
      }
    }
  }
}

TEST(Team, WhoIsReadyRunsWhatOthersHaveNotBegun) {
  constexpr int64_t n = 160, own_first = 40;  // of 80 each the first piece is half
  const Threads team(2);
  Pieces pieces;
  std::array<int64_t, n> by{};
  int64_t left = n - own_first, begun = 0;
  parallel(true, 2, pieces, [&] {
    while (thread() == 1 && __atomic_load_n(&begun, __ATOMIC_RELAXED) == 0) usleep(100);
    EvenShares<1> even(0, n, pieces);
    while (even.next()) {
      // The first thread is kept at its first iteration until all is done that it has not begun.
      for (int64_t i = even.share.begin; i < even.share.end; ++i) {
        by[static_cast<std::size_t>(i)] += 1 + thread();
        if (i == 0) __atomic_store_n(&begun, 1, __ATOMIC_RELAXED);
        while (i == 0 && __atomic_load_n(&left, __ATOMIC_RELAXED) > 0) usleep(100);
        if (i >= own_first) __atomic_fetch_sub(&left, 1, __ATOMIC_RELAXED);
      }
    }
  });
  for (int64_t i = 0; i < n; ++i) EXPECT_EQ(by[static_cast<std::size_t>(i)], i < own_first ? 1 : 2) << i;
}

TEST(Team, LoopsRunDown) {
  const Met met = met_by(3, 50, [](const auto& meet) {
    const auto share = even_share<-2>(49, -1);
    for (int64_t i = share.begin; i > share.end; i -= 2) meet(i);
  });
  for (int i = 0; i < 50; ++i) EXPECT_EQ(met.times[static_cast<std::size_t>(i)], i % 2) << i;
}

TEST(Team, RegionsFollowEachOtherAndSleep) {
  const Threads team(4);
  int64_t sum = 0;
  for (int k = 0; k < 500; ++k) {
    if (k % 100 == 99) usleep(3000);  // longer than threads wait at work
    parallel(true, 1 + k % 4, [&] { one_at_a_time([&] { sum += team_size(); }); });
  }
  EXPECT_EQ(sum, 125 * (1 + 4 + 9 + 16));
  // Whoever says nothing gets as many as there are copies of what each has.
  parallel(true, 0, [&] { EXPECT_EQ(team_size(), std::min(threads(0), Team::size())); });
  parallel(false, 4, [&] { EXPECT_EQ(team_size(), 1); });
}

// A thread that a region has no use for may be asleep, or kept from running: nobody waits for it.
TEST(Team, ARegionOfFewWaitsForNoOther) {
  const Threads team(4);
  parallel(true, 4, [] {});
  int64_t runs = 0;
  usleep(5000);  // all sleep
  const uint32_t first = Team::called(1), second = Team::called(2);
  for (int k = 0; k < 200; ++k) parallel(true, 2, [&] { one_at_a_time([&] { runs += 1 + thread(); }); });
  EXPECT_EQ(runs, 200 * (1 + 2));
  EXPECT_EQ(Team::called(1) - first, 200U);
  EXPECT_EQ(Team::called(2) - second, 0U);
  parallel(true, 4, [&] { one_at_a_time([&] { runs += 1; }); });
  EXPECT_EQ(runs, 200 * (1 + 2) + 4);
}

TEST(Team, MemoryThatNobodyTouchedIsLeftToOneThread) {
  constexpr std::size_t rows = 256, row = 1024;  // two pages each
  const auto mapped = [] {
    return static_cast<double*>(
        mmap(nullptr, rows * row * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  };
  const auto footprint = [](const double* base) {
    Footprint result(base, 0);
    result.dimension(rows, row);
    result.dimension(10, 1);
    return result;
  };
  double *fresh = mapped(), *used = mapped();
  for (std::size_t k = 0; k < rows; ++k) used[k * row] = 1;
  constexpr double little = 1e-6, much = 1;
  uint64_t asked = 0;
  errno = 7;
  EXPECT_FALSE(first_touch_outweighs(&asked, much, footprint(fresh)));
  EXPECT_FALSE(first_touch_outweighs(&asked, little, footprint(used))) << "rows have pages, if not all that is between";
  EXPECT_TRUE(first_touch_outweighs(&asked, little, footprint(used), footprint(fresh)));
  EXPECT_FALSE(first_touch_outweighs(&asked, little, footprint(used), footprint(fresh))) << "the same again";
  for (std::size_t k = 0; k < rows / 3; ++k) fresh[k * row] = 1;
  EXPECT_TRUE(first_touch_outweighs(&(asked = 0), little, footprint(fresh)));
  for (std::size_t k = 0; k < rows / 2; ++k) fresh[k * row] = 1;
  EXPECT_FALSE(first_touch_outweighs(&(asked = 0), little, footprint(fresh))) << "half of an array is not used";
  // Where that is worth asking again: memory that comes anew at the same place.
  constexpr double some = 150e-6;
  EXPECT_FALSE(first_touch_outweighs(&(asked = 0), some, footprint(used)));
  madvise(used, rows * row * sizeof(double), MADV_DONTNEED);
  for (const bool declines : {true, false, true})
    EXPECT_EQ(first_touch_outweighs(&asked, some, footprint(used)), declines)
        << "what stays so counts every second time";
  for (std::size_t k = 0; k < rows; ++k) used[k * row] = 1;
  EXPECT_FALSE(first_touch_outweighs(&asked, some, footprint(used)));
  madvise(used, rows * row * sizeof(double), MADV_DONTNEED);
  EXPECT_TRUE(first_touch_outweighs(&asked, some, footprint(used)));
  for (std::size_t k = 0; k < rows; ++k) used[k * row] = 1;
  EXPECT_EQ(errno, 7);
  munmap(fresh, rows * row * sizeof(double));
  EXPECT_FALSE(first_touch_outweighs(&asked, little, footprint(used), footprint(fresh))) << "no memory at all";
  EXPECT_EQ(errno, 7);
  munmap(used, rows * row * sizeof(double));
}

// Sets of arrays share 64 answers by where they lie: one in 64 is taken for another.
TEST(Team, WhatWasAskedOfSomeArraysSaysNothingOfOthers) {
  constexpr std::size_t rows = 64, row = 512;
  double* const fresh = static_cast<double*>(
      mmap(nullptr, rows * row * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  uint64_t asked = 0;
  int64_t first = 0, second = 0;
  for (std::size_t k = 0; k < rows / 2; ++k) {
    Footprint part(fresh + k * row, 0);
    part.dimension(rows / 2, row);
    first += first_touch_outweighs(&asked, 1e-6, part);
    second += first_touch_outweighs(&asked, 1e-6, part);
  }
  EXPECT_GT(first, 16);
  EXPECT_EQ(second, 0);
  munmap(fresh, rows * row * sizeof(double));
}

TEST(Team, OneThreadHasItAtATime) {
  const Threads team(3);
  ASSERT_TRUE(team.usable());
  EXPECT_FALSE(Threads(3).usable());  // as from a signal handler
  std::thread([] {
    EXPECT_FALSE(Threads(3, 2).usable());
    const Threads alone(3);
    EXPECT_TRUE(alone.usable());
    int64_t runs = 0;
    parallel(true, 3, [&] { runs += team_size(); });
    EXPECT_EQ(runs, 1);
  }).join();
  int64_t runs = 0;
  parallel(true, 3, [&] { one_at_a_time([&] { ++runs; }); });
  EXPECT_EQ(runs, 3);
}

// Who asks first takes and starts nothing, and what is gained counts once.
TEST(Team, WhetherItPaysIsAskedFirst) {
  std::thread([] {
    const int before = Team::size();
    const double start = 0.05e-3 + 0.03e-3 * 3;
    EXPECT_FALSE(Threads::pay(3, 1, 0.6 * start));
    EXPECT_FALSE(Threads::pay(3, 4, 0.6 * start));  // that pays, but they are too few
    EXPECT_TRUE(Threads::pay(3, 2, 0));
    EXPECT_EQ(Team::size(), before);
    EXPECT_FALSE(Team::taken());
    const Threads team(3, 1, 0);
    EXPECT_TRUE(team.usable() && Team::taken());
    EXPECT_FALSE(Threads::pay(3));  // as from a signal handler
    std::thread([] {
      EXPECT_FALSE(Threads::pay(3, 2));
      EXPECT_TRUE(Threads::pay(3, 1));
    }).join();
  }).join();
}

// Who was told that there are threads, and finds none, runs on one.
TEST(Team, WithoutATeamARegionRunsOnOneThread) {
  int64_t runs = 0;
  parallel(true, 3, [&] { runs += team_size(); });
  EXPECT_EQ(runs, 1);
}

TEST(Team, AChildStartsItsOwn) {
  {
    const Threads team(3);
  }
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    const Threads team(3);
    int runs = 0;
    parallel(true, 3, [&] { one_at_a_time([&] { ++runs; }); });
    _exit(runs);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

// What the program told its thread about rounding holds for those that work for it, also if they were started before.
TEST(Team, RoundsAsWhoEntersDoes) {
  const Threads team(3);
  const volatile double one = 1, three = 3;
  for (const int mode : {FE_TONEAREST, FE_UPWARD, FE_TONEAREST}) {
    fesetround(mode);
    const double expected = one / three;
    int64_t same = 0;
    parallel(true, 3, [&] {
      const double own = one / three;
      one_at_a_time([&] { same += own == expected; });
    });
    EXPECT_EQ(same, 3) << mode;
  }
}

// A process ends with the last thread of the program, where its first one has left by pthread_exit: those of the team
// are none, and go with the last thread that had it.
TEST(Team, EndsWithItsLastUser) {
  int status = 0;
  std::thread([&] {  // which has not had it
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);
      int there = 0;
      std::thread([&] {
        const Threads team(3);
        parallel(true, 3, [] {});
        there = Team::size();
      }).join();
      _exit(there == 3 ? Team::size() : 0);
    }
    waitpid(child, &status, 0);
  })
      .join();
  EXPECT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST(Team, ReductionsStartFromWhatChangesNothing) {
  EXPECT_EQ(neutral_min<int8_t>, 127);
  EXPECT_EQ(neutral_max<int64_t>, INT64_MIN);
  EXPECT_EQ(neutral_min<uint16_t>, 65535);
  EXPECT_EQ(neutral_max<uint8_t>, 0);
  EXPECT_EQ(neutral_max<bool>, false);
  EXPECT_EQ(neutral_min<bool>, true);
  EXPECT_EQ(neutral_and<uint32_t>, UINT32_MAX);
  EXPECT_EQ(neutral_min<float>, __builtin_inff());
  EXPECT_EQ(neutral_max<double>, -__builtin_inf());
}

}  // namespace
}  // namespace sous
