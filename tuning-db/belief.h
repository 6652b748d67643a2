// How far a measurement made elsewhere is believed here: one pure function of what was measured and where, and of the
// class of this build (tuning-db/build_isa.h). docs/decisions/012-belief-across-machines.md has the reasons and the
// numbers.
//
//   the same class                      in full: it settles the matter
//   another architecture                not at all
//   fewer cores than threads measured   the share of the threads that are not here is lost: x times cores over threads
//   narrower vectors                    the gain shrinks by the lanes lost, and by half again where fma is lost
//   wider vectors                       in full
//   L2 or L3 more than twice as large   half of the gain: there is less that blocking saves
//   L2 or L3 less than half as large    the gain shrinks as the cache does: blocks that fitted there do not fit here
//
// Cores and caches within a factor of two make no difference, and none of them is a veto: a virtual machine reports the
// caches of its host. A loss stays one: what did not gain there is not believed to gain here.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "transforms/source.h"
#include "tuning-db/hardware.h"

namespace sous::tuning_db {

// A measurement that promises no more is no evidence of a gain.
inline constexpr double least_gain = 1.05;

struct Belief {
  double ratio = 0;        // times faster, as believed; 0: nothing is said about this machine
  bool in_full = true;     // as measured
  bool own_class = false;  // measured on this very class
  std::string doubts;      // what takes from it: "vectors of 512 bits there, of 128 here"; empty if nothing does
};

Belief believe(const transforms::Evidence& evidence, std::string_view here);
// The same of a ratio measured with `threads` threads on the class `there`.
Belief believe(double ratio, int threads, std::string_view there, std::string_view here);

// What a class and a number of threads make of any ratio.
struct Discount {
  bool known = false;      // something is said about this machine
  bool own_class = false;  // measured on this very class
  double threads = 1;      // the share of the ratio that the threads lost here leave
  double gain = 1;         // the share of the gain that is left
  double of(double ratio) const;
};

// The same for many measurements: each class is read once.
class Beliefs {
 public:
  explicit Beliefs(std::string here);
  Belief of(double ratio, int threads, std::string_view there);
  Discount discount(int threads, std::string_view there);
  const std::string& here() const { return here_name_; }
  // As hardware_class writes it; empty, if it is none.
  const std::string& here_as_written() const { return here_.name; }

 private:
  struct Machine {
    std::optional<Hardware> read;  // nullopt: not known
    std::string name;              // as it is written
  };
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  static Machine machine(std::string_view name);
  const Machine& known(std::string_view there);
  std::string here_name_;
  Machine here_;
  std::unordered_map<std::string, Machine, Hash, std::equal_to<>> known_;
};

// The least ratio that such a belief must exceed, if `least` is that of a measurement made here.
double least_believed(const Belief& belief, double least);
// "measured on x86-64:…, believed at 3.10 of 4.20 (…)"; empty if it is believed in full.
std::string in_words(const Belief& belief, const transforms::Evidence& evidence);

// What evidence of a nest promises for another one at a distance (tuning-db/features.h): all of the gain for the same
// nest, none at the end of its reach.
double promised(double believed, double distance, double reach);
// What it must promise: the other nest's original may be better than that of the nest that was measured, the more the
// farther away it is, up to a third of the reach. `sous bench transfer` holds both against measurements.
double least_promised(double distance, double reach);

}  // namespace sous::tuning_db
