#include "tuning-db/belief.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "sdfg/planted_fault.h"

namespace sous::tuning_db {
namespace {

// What a discounted belief must promise beyond a measurement. durbin, measured with AVX-512 at 1.84, runs at 0.88 in a
// build for SSE2: believed at 1.10, it must stay out.
constexpr double margin = 0.1;

std::string fixed(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.2f", value);
  return buffer;
}

bool has_fma(Isa isa) { return isa == Isa::avx2 || isa == Isa::avx512 || isa == Isa::neon; }

// The share of the gain that is left of one cache level.
double share_of_cache(std::int64_t there, std::int64_t here) {
  if (there <= 0 || here <= 0 || (here <= 2 * there && there <= 2 * here)) return 1;
  if (here > there) return 0.5;
  return static_cast<double>(here) / static_cast<double>(there);
}

std::string_view nothing_said(const std::optional<Hardware>& there, const std::optional<Hardware>& here) {
  if (!there || !here) return "the machine is not known";
  return there->architecture != here->architecture ? "another architecture" : "";
}

class Judgement {
 public:
  Judgement(const Hardware& there, const Hardware& here) : there_(there), here_(here) {}

  Discount run(int threads) {
    fewer_cores(threads);
    narrower();
    caches();
    return discount_;
  }
  std::string doubts() && { return std::move(doubts_); }

 private:
  void doubt(const std::string& what) { doubts_ += (doubts_.empty() ? "" : "; ") + what; }

  void fewer_cores(int threads) {
    if (here_.cores >= threads || planted(Fault::lost_threads_ignored)) return;
    discount_.threads = static_cast<double>(here_.cores) / threads;
    doubt(std::to_string(threads) + " threads there, " + std::to_string(here_.cores) + " cores here");
  }

  void narrower() {
    const int bits_there = simd_bits(there_.isa), bits_here = simd_bits(here_.isa);
    const bool fma_lost = has_fma(there_.isa) && !has_fma(here_.isa);
    if ((bits_here >= bits_there && !fma_lost) || planted(Fault::narrower_isa_believed)) return;
    discount_.gain *= std::min(1.0, static_cast<double>(bits_here) / bits_there) * (fma_lost ? 0.5 : 1);
    doubt("built for " + std::string(to_string(there_.isa)) + " there, for " + std::string(to_string(here_.isa)) +
          " here");
  }

  void caches() {
    const auto last = [](const Hardware& h) { return h.l3_bytes > 0 ? h.l3_bytes : h.l2_bytes; };
    const double l2 = share_of_cache(there_.l2_bytes, here_.l2_bytes), l3 = share_of_cache(last(there_), last(here_));
    if (std::min(l2, l3) == 1 || planted(Fault::other_caches_believed)) return;
    discount_.gain *= std::min(l2, l3);
    doubt("other caches");
  }

  const Hardware& there_;
  const Hardware& here_;
  Discount discount_{.known = true};
  std::string doubts_;
};

}  // namespace

Beliefs::Machine Beliefs::machine(std::string_view name) {
  auto read = parse_hardware_class(name);
  std::string written = read ? hardware_class(*read) : "";
  return {std::move(read), std::move(written)};
}

Beliefs::Beliefs(std::string here) : here_name_(std::move(here)), here_(machine(here_name_)) {}

double Discount::of(double ratio) const {
  if (!known) return 0;
  ratio *= threads;
  // A loss stays one.
  return ratio > 1 ? 1 + (ratio - 1) * gain : ratio;
}

const Beliefs::Machine& Beliefs::known(std::string_view there) {
  const auto known = known_.find(there);
  return known != known_.end() ? known->second : known_.emplace(there, machine(there)).first->second;
}

Belief Beliefs::of(double ratio, int threads, std::string_view there) {
  const Machine& measured = known(there);
  if (const auto why = nothing_said(measured.read, here_.read); !why.empty())
    return {.ratio = 0, .in_full = false, .doubts = std::string(why)};
  if (measured.name == here_.name) return {.ratio = ratio, .own_class = true, .doubts = ""};
  Judgement judgement(*measured.read, *here_.read);
  const double believed = judgement.run(threads).of(ratio);
  std::string doubts = std::move(judgement).doubts();
  return {.ratio = believed, .in_full = doubts.empty(), .doubts = std::move(doubts)};
}

Discount Beliefs::discount(int threads, std::string_view there) {
  const Machine& measured = known(there);
  if (!nothing_said(measured.read, here_.read).empty()) return {};
  if (measured.name == here_.name) return {.known = true, .own_class = true};
  return Judgement(*measured.read, *here_.read).run(threads);
}

Belief believe(double ratio, int threads, std::string_view there, std::string_view here) {
  return Beliefs(std::string(here)).of(ratio, threads, there);
}

Belief believe(const transforms::Evidence& evidence, std::string_view here) {
  return believe(evidence.ratio(), evidence.threads, evidence.hardware, here);
}

double least_believed(const Belief& belief, double least) { return belief.in_full ? least : least + margin; }

namespace {

// 1 for the same nest, 0 at the end of the reach.
double nearness(double distance, double reach) {
  return distance == 0 ? 1 : reach > 0 ? std::max(0.0, 1 - distance / reach) : 0;
}

}  // namespace

double promised(double believed, double distance, double reach) {
  return std::max(1.0, 1 + (believed - 1) * nearness(distance, reach));
}

double least_promised(double distance, double reach) {
  if (planted(Fault::distance_ignored)) return least_gain;
  return least_gain + 0.5 * std::min(1.0, 3 * (1 - nearness(distance, reach)));
}

std::string in_words(const Belief& belief, const transforms::Evidence& evidence) {
  if (belief.in_full) return "";
  return "measured on " + evidence.hardware + ", believed at " + fixed(belief.ratio) + " of " +
         fixed(evidence.ratio()) + " (" + belief.doubts + ")";
}

}  // namespace sous::tuning_db
