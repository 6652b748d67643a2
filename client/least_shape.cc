#include "client/least_shape.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "sdfg/planted_fault.h"
#include "tuning-db/shape.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

// Sizes are made smaller by this in search of the least that is still predicted to gain; loops have to be so much
// longer than that, since the model has seen few thin shapes.
constexpr double step_down = 1.5, longer = 2;
// Operations (binary logarithm) below which a gain by the shape is not felt: a call costs some microseconds.
constexpr double least_of_shape = 17;
// Tried of a loop that need not be long: no even number, so that it is noticed if threads share it out.
constexpr std::int64_t few_iterations = 5;
// The same where the shape alone is looked at.
constexpr std::int64_t fewer_iterations[] = {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64};
constexpr double parts_of_work[] = {1.0 / 16, 1.0 / 4, 1};

using Holds = std::function<bool(const Sizes&)>;

// The open symbols that may be few, all of them but one at a time: what threads pay for is work, whichever loops do it,
// as long as they are not the ones that are shared out.
Sizes few_at_a_time(const Sized& sized, std::int64_t value, const Holds& holds) {
  const auto pays = [&](const Sizes& few) {
    const auto sizes = sized.thin(few, value, more_work);
    return sizes && holds(*sizes);
  };
  Sizes thin;
  if (sized.open_symbols().size() == 1) return thin;
  for (const std::string& symbol : sized.open_symbols())
    if (pays({{symbol, few_iterations}})) thin.emplace(symbol, 1);
  const bool together = std::ranges::all_of(sized.open_symbols(), [&](const std::string& large) {
    Sizes few;
    for (const auto& [symbol, least] : thin)
      if (symbol != large) few.emplace(symbol, few_iterations);
    return pays(few);
  });
  return together ? thin : Sizes{};
}

// The open symbols that may be few, and how few, all of them at the same time, and for which part of the work at
// `value` on, that with larger parts, too.
struct Together {
  Sizes few;
  double part = 1;
};

Together few_together(const Sized& sized, std::int64_t value, const Holds& holds) {
  Together found;
  for (std::span<const double> parts = parts_of_work; !parts.empty() && found.few.empty(); parts = parts.subspan(1)) {
    const auto pays = [&](const Sizes& few) {
      return std::ranges::all_of(parts, [&](double part) {
        const auto sizes = sized.thin(few, value, part);
        return sizes && sized.operations(*sizes) >= least_of_shape && holds(*sizes);
      });
    };
    for (const std::string& symbol : sized.open_symbols()) {
      // One makes up for the others.
      if (found.few.size() + 1 == sized.open_symbols().size()) break;
      for (const std::int64_t few : fewer_iterations) {
        Sizes tried = found.few;
        tried.emplace(symbol, few);
        if (!pays(tried)) continue;
        found = {std::move(tried), parts.front()};
        break;
      }
    }
  }
  return found;
}

}  // namespace

void set_least_shape(transforms::Evidence& e, const sdfg::Sdfg& nest, const Sized& sized, std::int64_t lowest,
                     Needs needs, const Holds& holds) {
  if (!sized.open() || planted(Fault::predicted_at_any_size)) return;
  for (std::int64_t value = lowest; value >= least_size;
       value = static_cast<std::int64_t>(static_cast<double>(value) / step_down)) {
    const Sizes sizes = sized.at(value);
    const double least = needs == Needs::Shape ? least_of_shape : least_operations;
    if (sized.operations(sizes) < least || !holds(sizes)) break;
    lowest = value;
  }
  const Sizes sizes = sized.at(lowest);
  const Together together = needs == Needs::Shape
                                ? few_together(sized, lowest, holds)
                                : Together{needs == Needs::Work ? few_at_a_time(sized, lowest, holds) : Sizes{}};
  const Sizes& thin = together.few;
  Sizes least = sizes;
  for (const auto& [symbol, few] : thin) least[symbol] = std::min(few, sizes.at(symbol));
  e.least_extents = tuning_db::extents(nest, least);
  for (std::size_t k = 0; k < e.least_extents.size() && k < e.extents.size(); ++k)
    e.least_extents[k] = std::min((needs == Needs::LongLoops ? longer : 1) * e.least_extents[k], e.extents[k]);
  const double factor = needs == Needs::LongLoops ? longer
                        : needs == Needs::Shape   ? together.part
                        : thin.empty()            ? 1
                                                  : more_work;
  e.least_work = std::min(factor * tuning_db::work(nest, sizes).value_or(0), e.work);
}

}  // namespace sous::client
