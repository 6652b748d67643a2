// A nest at sizes that nobody said: what it would do if its open sizes were so or so.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "frontends/lifted.h"
#include "tuning-db/gain_model.h"
#include "tuning-db/schedule_features.h"

namespace sous::client {

using Sizes = std::map<std::string, std::int64_t>;

// Operations (binary logarithm): below these nothing is looked at.
constexpr double least_operations = 20;
constexpr std::int64_t least_size = 16, largest_size = std::int64_t{1} << 24;

// Who asks: the model, which was trained on long loops where data says how long they are, or the rule for threads,
// which counts on short ones.
enum class For : std::uint8_t { Model, Threads };

// How large sizes that nobody said can be at most, as far as the parameters of the function go that are arrays: by
// symbol of the nest as it was lifted.
Sizes greatest_declared(const frontends::LiftedNest& lifted);

// A nest at sizes: those that are known, and one value for all others; a part of it for what makes loops shorter, and
// no more than the arrays that it uses have elements for, or than `greatest`. The nest and the hardware must outlive
// it.
class Sized {
 public:
  Sized(const sdfg::Sdfg& nest, Sizes known, const tuning_db::Hardware& hardware, int most_threads, For who,
        tuning_db::Vectors of_compiler = tuning_db::Vectors::Perhaps, const Sizes& greatest = {});

  bool open() const { return !open_.empty(); }
  const std::vector<std::string>& open_symbols() const { return open_; }
  // The least value of the open sizes, and these sizes, at which there is much to do: for tenths of a second.
  std::int64_t value() const { return value_; }
  const Sizes& usual() const { return usual_; }
  Sizes at(std::int64_t value) const;
  // With these values, or less, for some of what is open, and the others so large that there is at least `factor` times
  // as much to do as at `value`. Nullopt: no size is large enough.
  std::optional<Sizes> thin(const Sizes& few, std::int64_t value, double factor) const;
  // As much to do as at `value`, where the loops around the parallel ones of `scheduled` (the nest with a recipe) run a
  // few times, and those are so much longer. Nullopt: nothing that is open says how often they run.
  std::optional<Sizes> few_regions(const sdfg::Sdfg& scheduled, std::int64_t value) const;

  // As the model was trained: on no more threads than it has seen.
  tuning_db::ScheduleFeatures terms(const sdfg::Sdfg& nest, const Sizes& sizes) const {
    return tuning_db::schedule_features(nest, sizes, hardware_, threads_);
  }
  tuning_db::ScheduleFeatures terms(const Sizes& sizes) const { return terms(nest_, sizes); }
  tuning_db::CoreLoad load(const sdfg::Sdfg& nest, const Sizes& sizes,
                           tuning_db::Vectors vectors = tuning_db::Vectors::Perhaps) const {
    return tuning_db::core_load(nest, sizes, hardware_, threads_,
                                vectors == tuning_db::Vectors::Perhaps ? of_compiler_ : vectors);
  }
  double operations(const Sizes& sizes) const;  // binary logarithm

  // Whether some recipe may gain so much, at the usual sizes.
  bool promising(const tuning_db::GainModel& model, double least) const {
    return operations(usual_) >= least_operations && (may_be_freed() || model.potential(terms(usual_)) >= least);
  }
  bool computes() const { return threads_ > 1 && tuning_db::computes(load(nest_, usual_)); }
  // Single loops over streams are everywhere, and gain little: they are not worth what serving them costs a build.
  bool promises_threads() const {
    return computes() || (threads_ > 1 && deep() && tuning_db::streams(load(nest_, usual_)));
  }
  bool deep() const;  // a loop stands inside of another
  int threads() const { return threads_; }

 private:
  bool may_be_freed() const;
  // What stands for `value`.
  std::int64_t size(const std::string& symbol, std::int64_t value) const;

  const sdfg::Sdfg& nest_;
  const Sizes known_;
  const tuning_db::Hardware& hardware_;
  const int threads_;
  const For who_;
  const tuning_db::Vectors of_compiler_;
  const std::map<std::string, std::int64_t> divisors_;
  const std::map<std::string, std::int64_t> windows_;
  Sizes greatest_;
  std::vector<std::string> open_;
  Sizes usual_;
  std::int64_t value_ = 0;
};

}  // namespace sous::client
