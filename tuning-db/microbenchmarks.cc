// Peak fma rate and memory bandwidth, by timing. Written with vector extensions and function-level targets, so that one
// portable build measures what the processor at hand can do, and notes whether others used the machine meanwhile.
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tuning-db/files.h"
#include "tuning-db/hardware.h"
#include "tuning-db/machine_load.h"

namespace sous::tuning_db {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Sixteen independent chains: latency (4 or 5 cycles) times two units per cycle, with room; they fit the registers of
// AVX-512 and, at 12 or more in flight, still saturate with 16 registers.
constexpr int chains = 12;

// Returns a value that depends on every chain, so that none is removed. The factor and the addend keep values finite.
#define SOUS_FMA_LOOP(name, target, T, bytes)                                          \
  target __attribute__((noinline)) double name(long rounds) {                          \
    typedef T Vector __attribute__((vector_size(bytes)));                              \
    constexpr int lanes = bytes / static_cast<int>(sizeof(T));                         \
    Vector x[chains], factor, addend;                                                  \
    for (int lane = 0; lane < lanes; ++lane) {                                         \
      factor[lane] = T(0.999);                                                         \
      addend[lane] = T(0.001);                                                         \
    }                                                                                  \
    for (int c = 0; c < chains; ++c) x[c] = factor * static_cast<T>(c + 1);            \
    for (long round = 0; round < rounds; ++round)                                      \
      for (int c = 0; c < chains; ++c) x[c] = x[c] * factor + addend;                  \
    double sum = 0;                                                                    \
    for (int c = 0; c < chains; ++c)                                                   \
      for (int lane = 0; lane < lanes; ++lane) sum += static_cast<double>(x[c][lane]); \
    return sum;                                                                        \
  }

#if defined(__x86_64__)
#define SOUS_TARGET(isa) __attribute__((target(isa)))
SOUS_FMA_LOOP(fma_f64_avx512, SOUS_TARGET("avx512f,avx512dq,avx512vl,fma"), double, 64)
SOUS_FMA_LOOP(fma_f32_avx512, SOUS_TARGET("avx512f,avx512dq,avx512vl,fma"), float, 64)
SOUS_FMA_LOOP(fma_f64_avx2, SOUS_TARGET("avx2,fma"), double, 32)
SOUS_FMA_LOOP(fma_f32_avx2, SOUS_TARGET("avx2,fma"), float, 32)
#undef SOUS_TARGET
#endif
SOUS_FMA_LOOP(fma_f64_base, , double, 16)
SOUS_FMA_LOOP(fma_f32_base, , float, 16)
#undef SOUS_FMA_LOOP

struct FmaLoop {
  double (*run)(long rounds);
  double operations_per_round;
};

FmaLoop fma_loop(Isa isa, bool single) {
  const double per_byte = 2.0 * chains / (single ? 4 : 8);
  switch (isa) {
#if defined(__x86_64__)
    case Isa::avx512:
      return {single ? fma_f32_avx512 : fma_f64_avx512, per_byte * 64};
    case Isa::avx2:
      return {single ? fma_f32_avx2 : fma_f64_avx2, per_byte * 32};
#else
    case Isa::avx512:
    case Isa::avx2:
#endif
    case Isa::scalar:
    case Isa::sse:
    case Isa::neon:
      return {single ? fma_f32_base : fma_f64_base, per_byte * 16};
  }
  __builtin_unreachable();
}

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double process_seconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// Notes what the machine does from its beginning on.
class Watch {
 public:
  Watch() : start_(Clock::now()), own_(process_seconds()), machine_(machine_time()) {}
  void add(double wall, double cpu) {
    const std::lock_guard lock(mutex_);
    occupancy_.wall += wall;
    occupancy_.own += cpu;
  }
  Occupancy occupancy() const {
    Occupancy out = occupancy_;
    out.elapsed = seconds_since(start_);
    if (const auto now = machine_time(); now && machine_) {
      out.others = std::max(0.0, now->busy - machine_->busy - (process_seconds() - own_));
      out.processors = now->processors;
    }
    return out;
  }

 private:
  static std::optional<MachineTime> machine_time() {
    const auto text = read_file("/proc/stat", std::size_t{4} << 20);
    if (!text) return std::nullopt;
    return parse_machine_time(*text, static_cast<double>(::sysconf(_SC_CLK_TCK)));
  }

  Clock::time_point start_;
  double own_;
  std::optional<MachineTime> machine_;
  Occupancy occupancy_;
  std::mutex mutex_;
};

// Runs `body(thread)` on `threads` threads, all started before any begins, and returns the seconds of the slowest.
double time_on(int threads, const std::function<void(int)>& body, Watch& watch) {
  std::atomic<int> ready{0};
  std::vector<double> seconds(static_cast<std::size_t>(threads));
  std::vector<std::jthread> pool;
  for (int t = 0; t < threads; ++t)
    pool.emplace_back([&, t] {
      ++ready;
      while (ready.load() < threads) std::this_thread::yield();
      const auto start = Clock::now();
      const double cpu = thread_seconds();
      body(t);
      const double wall = seconds_since(start);
      watch.add(wall, thread_seconds() - cpu);
      seconds[static_cast<std::size_t>(t)] = wall;
    });
  for (auto& thread : pool) thread.join();
  return *std::max_element(seconds.begin(), seconds.end());
}

// The best of five runs of about 8 ms: a peak is a maximum, and other load only lowers it.
double peak(const FmaLoop& loop, int threads, Watch& watch) {
  std::atomic<double> sink{0};
  long rounds = 10'000;
  for (double seconds = 0; seconds < 0.004; rounds *= 2)
    seconds = time_on(1, [&](int) { sink = loop.run(rounds); }, watch);
  double best = 0;
  for (int run = 0; run < 5; ++run) {
    const double seconds = time_on(threads, [&](int) { sink = loop.run(rounds); }, watch);
    best = std::max(best, loop.operations_per_round * static_cast<double>(rounds) * threads / seconds);
  }
  return best;
}

// Arrays several times the last cache, as McCalpin's STREAM asks; capped so that it stays quick on large machines.
double triad(const Hardware& hardware, Watch& watch) {
  const std::int64_t cache = std::max(hardware.l3_bytes, hardware.l2_bytes);
  const std::int64_t bytes = std::clamp<std::int64_t>(4 * cache, 32 << 20, 256 << 20);
  const auto elements = static_cast<std::size_t>(bytes) / sizeof(double);
  const auto a = std::make_unique_for_overwrite<double[]>(elements);
  const auto b = std::make_unique_for_overwrite<double[]>(elements);
  const auto c = std::make_unique_for_overwrite<double[]>(elements);
  const int threads = hardware.cores;
  const auto share = [&](int t) { return elements * static_cast<std::size_t>(t) / static_cast<std::size_t>(threads); };
  // First touch by the thread that uses it, so that pages lie on its own memory node.
  const auto touch = [&](int t) {
    for (std::size_t i = share(t); i < share(t + 1); ++i) a[i] = 0, b[i] = 1, c[i] = 2;
  };
  time_on(threads, touch, watch);
  const auto run_triad = [&](int t) {
    double* x = a.get();
    const double *y = b.get(), *z = c.get();
    for (std::size_t i = share(t), end = share(t + 1); i < end; ++i) x[i] = y[i] + 3.0 * z[i];
  };
  double best = 0;
  for (int run = 0; run < 4; ++run) {
    const double seconds = time_on(threads, run_triad, watch);
    best = std::max(best, 3.0 * static_cast<double>(elements * sizeof(double)) / seconds);
  }
  return best;
}

Pass measure_once(const Hardware& hardware) {
  const FmaLoop f64 = fma_loop(hardware.isa, false), f32 = fma_loop(hardware.isa, true);
  Watch watch;
  Pass out;
  out.figures = {peak(f64, 1, watch), peak(f64, hardware.cores, watch), peak(f32, 1, watch),
                 peak(f32, hardware.cores, watch), triad(hardware, watch)};
  out.disturbed = disturbed(watch.occupancy());
  return out;
}

Hardware with_figures(Hardware hardware, const std::array<double, figure_count>& figures, bool loaded) {
  hardware.fma_f64_core = figures[0];
  hardware.fma_f64_all = figures[1];
  hardware.fma_f32_core = figures[2];
  hardware.fma_f32_all = figures[3];
  hardware.triad_bytes = figures[4];
  hardware.loaded = loaded;
  return hardware;
}

}  // namespace

Hardware run_microbenchmarks(Hardware hardware) {
  const Pass pass = measure_once(hardware);
  return with_figures(std::move(hardware), pass.figures, pass.disturbed);
}

Hardware run_microbenchmarks_until_settled(Hardware hardware) {
  constexpr std::size_t most_passes = 6;
  std::vector<Pass> passes;
  Judgement judgement;
  while (passes.size() < most_passes && !judgement.settled) {
    passes.push_back(measure_once(hardware));
    judgement = judge(passes);
  }
  return with_figures(std::move(hardware), judgement.figures, !judgement.settled);
}

}  // namespace sous::tuning_db
