#include "client/least_shape.h"

#include <algorithm>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "client/windows.h"
#include "sdfg/planted_fault.h"
#include "tuning-db/shape.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

// Sizes are made smaller by this in search of the least that is still predicted to gain; loops have to be so much
// longer than that, since the model has seen few thin shapes.
constexpr double step_down = 1.5, finer_step_down = 1.15, longer = 2;
// Operations (binary logarithm) below which a gain by the shape is not felt: a call costs some microseconds.
constexpr double least_of_shape = 17;
// Tried of a loop that need not be long, where the shape alone is looked at.
constexpr std::int64_t fewer_iterations[] = {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 48, 64};
constexpr double parts_of_work[] = {1.0 / 16, 1.0 / 4, 1};
// How much more than the least work all corners of a shape may need.
constexpr double more_work[] = {1, 1.5, 2.5, 4};
// Programs have few loops that are shorter, but for windows.
constexpr std::int64_t small_size = 16;
// Of the program's loops that one of a nest may take together: of those that exchange pointers.
constexpr std::int64_t most_steps = 3;
// How often the size that makes up for the others is looked for more closely.
constexpr int halvings = 3;

using Holds = std::function<bool(const Sizes&)>;
using Windows = std::map<std::string, std::int64_t>;

// The open symbols of which less is less to do; the sizes of windows first, for which the others make up. What is none,
// a stride or how far something is shifted, makes up for no other.
std::vector<std::string> that_bring_work(const sdfg::Sdfg& nest, const Sized& sized, std::int64_t value,
                                         const Windows& windows) {
  const Sizes usual = sized.at(value);
  const double work = tuning_db::work(nest, usual).value_or(0);
  std::vector<std::string> found, others;
  for (const std::string& symbol : sized.open_symbols()) {
    Sizes less = usual;
    less[symbol] /= 2;
    if (tuning_db::work(nest, less).value_or(0) < work) (windows.contains(symbol) ? found : others).push_back(symbol);
  }
  found.insert(found.end(), others.begin(), others.end());
  return found;
}

// Where work is what a gain needs, whichever loops do it: the least of each open size, and of the work.
//
// What may be one, as much as there is to do, is; of what is left, all as large, the least is looked for that gains,
// and then of each by itself. A shape is let in by its work and by each of its sizes, so what has to gain are the
// corners of that: all sizes as small as they may be, but for one that makes up for the others.
class LeastWork {
 public:
  LeastWork(const sdfg::Sdfg& nest, const Sized& sized, const Holds& holds)
      : nest_(nest), sized_(sized), holds_(holds), windows_(window_sizes(nest)) {}

  // From the open sizes' `usual` value on, or for other shapes with as much work. False: there is no such box.
  bool find(std::int64_t usual) {
    least_ = sized_.at(usual);
    work_ = work_at(least_);
    found_ = holds_(least_);
    in_order_ = that_bring_work(nest_, sized_, usual, windows_);
    for (const std::string& symbol : sized_.open_symbols())
      if (std::ranges::find(in_order_, symbol) == in_order_.end()) in_order_.push_back(symbol);
    consider({}, usual);
    Sizes single;
    for (const std::string& symbol : in_order_) {
      if (single.size() + 1 == in_order_.size()) break;
      const std::int64_t one = smallest(symbol, usual);
      consider({{symbol, one}}, usual);
      Sizes more = single;
      more.emplace(symbol, one);
      const auto sizes = sized_.thin(more, usual, 1);
      if (sizes && holds_(*sizes)) single = std::move(more);
    }
    if (single.size() > 1) consider(single, usual);
    // Others cannot be large enough to make up for a single iteration.
    for (std::size_t k = 0; k < in_order_.size() && !found_; ++k) consider({{in_order_[k], small_size}}, usual);
    return found_;
  }
  const Sizes& least() const { return least_; }
  double work() const { return work_; }

 private:
  // With which there is something to do: one, but of loops that take several steps of the program's in one.
  std::int64_t smallest(const std::string& symbol, std::int64_t usual) const {
    Sizes sizes = sized_.at(usual);
    for (std::int64_t size = 1; size <= most_steps; ++size) {
      sizes[symbol] = size;
      if (work_at(sizes) > 0) return size;
    }
    return 1;
  }
  // Boxes share most of their corners.
  double work_at(const Sizes& sizes) const {
    const auto [known, is_new] = works_.try_emplace(sizes);
    if (is_new) known->second = tuning_db::work(nest_, sizes).value_or(0);
    return known->second;
  }
  bool gains(const Sizes& sizes) const {
    const auto [known, is_new] = gains_.try_emplace(sizes);
    if (is_new) known->second = sized_.operations(sizes) >= least_of_shape && holds_(sizes);
    return known->second;
  }

  struct SizeBox {
    Sizes least;
    double work;
  };

  // The box that is found from there is kept if it lets in more.
  void consider(const Sizes& single, std::int64_t usual) {
    const auto sizes = sized_.thin(single, usual, 1);
    if (!sizes || !gains(*sizes)) return;
    auto box = box_below(*sizes, single);
    if (!box) return;
    const double most_work = more_work[std::size(more_work) - 1] * box->work;
    for (const std::string& symbol : in_order_)
      if (!single.contains(symbol)) lower(*box, symbol, most_work);
    // The box begins with so much work, whatever else is asked for.
    const double begins = work_at(box->least);
    for (SizeBox less = *box; box->work > begins; box->work = less.work) {
      less.work = std::max(begins, box->work / 2);
      if (!corners_gain(less)) break;
    }
    const SizeBox before{least_, work_};
    if (std::exchange(found_, true) && !lets_in_more(*box, before)) return;
    least_ = std::move(box->least);
    work_ = box->work;
  }

  // By the sizes that have to be large; where these are of any program, by how much there has to be to do.
  bool lets_in_more(const SizeBox& box, const SizeBox& other) const {
    const auto rank = [&](const SizeBox& of) {
      std::int64_t window = 0, largest = small_size;
      for (const std::string& symbol : sized_.open_symbols()) {
        const std::int64_t least = of.least.at(symbol);
        const auto known = windows_.find(symbol);
        if (known == windows_.end())
          largest = std::max(largest, least);
        else if (least > known->second)
          window = std::max(window, least);
      }
      return std::tuple(std::max(window, largest), window, of.work);
    };
    return rank(box) < rank(other);
  }

  // The sizes but for `single`, all made smaller together as long as that gains; nullopt: corners of that do not.
  std::optional<SizeBox> box_below(Sizes sizes, const Sizes& single) const {
    for (const double step : {step_down, finer_step_down}) {
      for (;;) {
        Sizes less = sizes;
        for (const std::string& symbol : sized_.open_symbols()) {
          if (single.contains(symbol)) continue;
          const auto shorter = static_cast<std::int64_t>(static_cast<double>(less[symbol]) / step);
          less[symbol] = std::max<std::int64_t>(1, shorter);
        }
        if (less == sizes || !gains(less)) break;
        sizes = std::move(less);
      }
    }
    const double there = work_at(sizes);
    for (const double more : more_work) {
      SizeBox box{sizes, more * there};
      if (corners_gain(box)) return box;
    }
    return std::nullopt;
  }

  // For fewer of one size there may have to be more work.
  void lower(SizeBox& box, const std::string& symbol, double most_work) const {
    // No multiples of the threads, for these would share out evenly.
    const std::int64_t threads = sized_.threads(), now = box.least[symbol];
    const auto window = windows_.find(symbol);
    const std::int64_t fewest = window == windows_.end() ? 1 : window->second;
    for (std::int64_t few = fewest; few < now; few = few == 1 ? threads + 1 : 2 * few - 1) {
      for (const double more : more_work) {
        SizeBox tried{box.least, more * box.work};
        tried.least[symbol] = few;
        if (tried.work > most_work || !corners_gain(tried)) continue;
        box = std::move(tried);
        return;
      }
    }
  }

  bool corners_gain(const SizeBox& box) const {
    return sized_.operations(box.least) > 0 &&
           std::ranges::all_of(sized_.open_symbols(), [&](const std::string& large) {
             const std::int64_t most = sized_.at(largest_size).at(large);
             const auto sizes = with_work(box, large, most);
             // An array ends before, or what it says is no work.
             if (!sizes) return most < largest_size / 2 || !is_work(box, large, most) || !is_let_in(box, large, most);
             return gains(*sizes) || !is_let_in(box, large, sizes->at(large));
           });
  }
  bool is_work(const SizeBox& box, const std::string& symbol, std::int64_t value) const {
    Sizes sizes = box.least;
    sizes[symbol] = value;
    return work_at(sizes) > 2 * work_at(box.least);
  }

  // The more of the one size, the shorter may other loops be, until the shape is none that is let in.
  bool is_let_in(const SizeBox& box, const std::string& symbol, std::int64_t value) const {
    Sizes sizes = box.least;
    sizes[symbol] = value;
    return std::ranges::equal(tuning_db::extents(nest_, sizes), tuning_db::extents(nest_, box.least),
                              std::ranges::greater_equal());
  }

  // The least with the work that is so small but for one. Nullopt: none up to `most` has it.
  std::optional<Sizes> with_work(const SizeBox& box, const std::string& large, std::int64_t most) const {
    Sizes sizes = box.least;
    std::int64_t value = sizes[large], below = value;
    const auto enough = [&](std::int64_t at) {
      sizes[large] = at;
      return work_at(sizes) >= box.work;
    };
    while (!enough(value)) {
      if (value > most / 2) return std::nullopt;
      below = value;
      value *= 2;
    }
    for (int k = 0; k < halvings && value - below > 1; ++k) {
      const std::int64_t middle = below + (value - below) / 2;
      (enough(middle) ? value : below) = middle;
    }
    sizes[large] = value;
    return sizes;
  }

  const sdfg::Sdfg& nest_;
  const Sized& sized_;
  const Holds& holds_;
  const Windows windows_;
  mutable std::map<Sizes, double> works_;
  mutable std::map<Sizes, bool> gains_;
  std::vector<std::string> in_order_;  // the open sizes, those first that should be few
  bool found_ = false;
  Sizes least_;
  double work_ = 0;
};

// The open symbols that may be few, and how few, all of them at the same time, and for which part of the work at
// `value` on, that with larger parts, too.
struct Together {
  Sizes few;
  double part = 1;
};

Together few_together(const sdfg::Sdfg& nest, const Sized& sized, std::int64_t value, const Holds& holds) {
  Together found;
  const std::vector<std::string> symbols = that_bring_work(nest, sized, value, window_sizes(nest));
  for (std::span<const double> parts = parts_of_work; !parts.empty() && found.few.empty(); parts = parts.subspan(1)) {
    const auto pays = [&](const Sizes& few) {
      return std::ranges::all_of(parts, [&](double part) {
        const auto sizes = sized.thin(few, value, part);
        return sizes && sized.operations(*sizes) >= least_of_shape && holds(*sizes);
      });
    };
    for (const std::string& symbol : symbols) {
      // One makes up for the others.
      if (found.few.size() + 1 == symbols.size()) break;
      for (const std::int64_t few : fewer_iterations) {
        Sizes tried = found.few;
        tried.emplace(symbol, few);
        if (!pays(tried)) continue;
        found = {std::move(tried), parts.front()};
        break;
      }
    }
    if (found.few.empty() || found.few.size() + 1 != symbols.size()) continue;
    // That one may be few, too, where each of the others makes up for it.
    const auto last = *std::ranges::find_if(symbols, [&](const std::string& s) { return !found.few.contains(s); });
    const auto any_makes_up = [&](std::int64_t few) {
      return std::ranges::all_of(found.few, [&](const auto& large) {
        Sizes tried = found.few;
        tried.erase(large.first);
        tried.emplace(last, few);
        return pays(tried);
      });
    };
    const auto* few = std::ranges::find_if(fewer_iterations, any_makes_up);
    if (few != std::end(fewer_iterations)) found.few.emplace(last, *few);
  }
  return found;
}

}  // namespace

void set_shape(transforms::Evidence& e, const sdfg::Sdfg& nest, const Sizes& sizes, double seconds, double gain) {
  e.work = tuning_db::work(nest, sizes).value_or(0);
  e.extents = tuning_db::extents(nest, sizes);
  e.baseline_seconds = seconds;
  e.tuned_seconds = seconds / gain;
}

bool set_least_shape(transforms::Evidence& e, const sdfg::Sdfg& nest, const Sized& sized, std::int64_t lowest,
                     Needs needs, const Holds& holds) {
  if (!sized.open() || planted(Fault::predicted_at_any_size)) return true;
  if (needs == Needs::Work) {
    LeastWork found(nest, sized, holds);
    if (!found.find(lowest)) return false;
    e.least_extents = tuning_db::extents(nest, found.least());
    e.least_work = found.work();
    return true;
  }
  for (std::int64_t value = lowest; value >= least_size;
       value = static_cast<std::int64_t>(static_cast<double>(value) / step_down)) {
    const Sizes sizes = sized.at(value);
    const double least = needs == Needs::Shape ? least_of_shape : least_operations;
    if (sized.operations(sizes) < least || !holds(sizes)) break;
    lowest = value;
  }
  const Sizes sizes = sized.at(lowest);
  const Together together = needs == Needs::Shape ? few_together(nest, sized, lowest, holds) : Together{};
  const Sizes& thin = together.few;
  Sizes least = sizes;
  for (const auto& [symbol, few] : thin) least[symbol] = std::min(few, sizes.at(symbol));
  e.least_extents = tuning_db::extents(nest, least);
  for (std::size_t k = 0; k < e.least_extents.size() && k < e.extents.size(); ++k)
    e.least_extents[k] = std::min((needs == Needs::LongLoops ? longer : 1) * e.least_extents[k], e.extents[k]);
  const double factor = needs == Needs::LongLoops ? longer : together.part;
  e.least_work = std::min(factor * tuning_db::work(nest, sizes).value_or(0), e.work);
  return true;
}

}  // namespace sous::client
