#include "client/sized.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "client/windows.h"
#include "tuning-db/greatest_sizes.h"
#include "tuning-db/nest_facts.h"

namespace sous::client {
namespace {

using std::string;

// Operations (binary logarithm) of a nest that is worth threads and vectors, which the sizes that are not known are
// taken to bring: tenths of a second.
constexpr double usual_operations = 27;
// How often a size is taken from a loop's length that is looked at.
constexpr std::int64_t most_taken_away = 16;
// The size of a window of several loops where nobody says it, or how far it reaches. Filters of one may be long.
constexpr std::int64_t usual_window = 8;
// How often loops run around parallel ones that are looked at where these are long.
constexpr std::int64_t few_times = 16;

// By what the symbols are smaller than others of which some loop has the fewer iterations the larger they are (where it
// begins, how far it stays from both ends): so that all of them together leave it some.
std::map<string, std::int64_t> shortening(const sdfg::Sdfg& nest) {
  std::map<string, std::int64_t> divisors;
  sdfg::visit(nest.root, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    if (loop == nullptr) return;
    const sdfg::Expr length = loop->step > 0 ? loop->end - loop->begin : loop->begin - loop->end;
    std::vector<string> here;
    std::int64_t fewer = 0;
    for (const string& symbol : nest.symbols) {
      const auto more = (length.substitute({{symbol, sdfg::Expr::symbol(symbol) + 1}}) - length).constant();
      if (!more || *more >= 0) continue;
      here.push_back(symbol);
      fewer -= std::max(*more, -most_taken_away);
    }
    for (const string& symbol : here) divisors[symbol] = std::max(divisors[symbol], 1 + fewer);
  });
  return divisors;
}

// What the bounds of loops use.
struct Bounds {
  std::set<string> around_parallel, in_parallel;
};
Bounds bounds_of(const sdfg::Sdfg& scheduled) {
  Bounds found;
  const auto add = [](std::set<string>& to, const sdfg::Loop& loop) {
    to.merge(loop.begin.symbols());
    to.merge(loop.end.symbols());
  };
  const auto is_parallel = [](const sdfg::Loop& loop) { return std::holds_alternative<sdfg::Parallel>(loop.schedule); };
  sdfg::visit(scheduled.root, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    if (loop == nullptr) return;
    if (is_parallel(*loop)) add(found.in_parallel, *loop);
    sdfg::visit(loop->body, [&](const sdfg::Node& inner) {
      const auto* one = std::get_if<sdfg::Loop>(&inner.value);
      if (one == nullptr) return;
      if (is_parallel(*loop)) add(found.in_parallel, *one);
      if (is_parallel(*one)) add(found.around_parallel, *loop);
    });
  });
  return found;
}

}  // namespace

Sizes greatest_declared(const frontends::LiftedNest& lifted) {
  if (lifted.declared_rows.empty()) return {};
  sdfg::Sdfg as_declared = lifted.sdfg;
  for (sdfg::Container& container : as_declared.containers)
    if (const auto rows = lifted.declared_rows.find(container.name); rows != lifted.declared_rows.end())
      container.shape.at(0) = sdfg::Expr(rows->second);
  return tuning_db::greatest_sizes(as_declared, lifted.known, largest_size);
}

Sized::Sized(const sdfg::Sdfg& nest, Sizes known, const tuning_db::Hardware& hardware, int most_threads, For who,
             tuning_db::Vectors of_compiler, const Sizes& greatest)
    : nest_(nest),
      known_(std::move(known)),
      hardware_(hardware),
      threads_(std::min(hardware.cores, most_threads)),
      who_(who),
      of_compiler_(of_compiler),
      divisors_(shortening(nest)),
      windows_(window_sizes(nest, 2)),
      greatest_(tuning_db::greatest_sizes(nest, known_, largest_size)) {
  for (const auto& [symbol, most] : greatest) {
    const auto [own, is_new] = greatest_.try_emplace(symbol, most);
    if (!is_new) own->second = std::min(own->second, most);
  }
  for (const string& symbol : nest.symbols)
    if (!known_.contains(symbol)) open_.push_back(symbol);
  usual_ = known_;
  if (open_.empty()) return;
  std::vector<std::int64_t> values;
  for (std::int64_t value = least_size; value <= largest_size; value += value / 4) values.push_back(value);
  // The more, the more there is to do.
  const auto enough = std::ranges::partition_point(
      values, [&](std::int64_t value) { return operations(at(value)) < usual_operations; });
  value_ = enough == values.end() ? values.back() : *enough;
  usual_ = at(value_);
}

std::int64_t Sized::size(const string& symbol, std::int64_t value) const {
  const auto greatest = greatest_.find(symbol);
  const auto divisor = divisors_.find(symbol);
  std::int64_t wanted = divisor == divisors_.end() ? value : value / divisor->second;
  if (windows_.contains(symbol)) wanted = std::min(wanted, usual_window);
  return greatest == greatest_.end() ? wanted : std::min(wanted, greatest->second);
}

Sizes Sized::at(std::int64_t value) const {
  Sizes sizes = known_;
  for (const string& symbol : open_) sizes[symbol] = size(symbol, value);
  return sizes;
}

std::optional<Sizes> Sized::thin(const Sizes& few, std::int64_t value, double factor) const {
  const double wanted = operations(at(value)) + std::log2(factor);
  for (std::int64_t large = value; large <= largest_size; large *= 2) {
    Sizes sizes = at(large);
    for (const auto& [symbol, least] : few) sizes[symbol] = std::min(least, size(symbol, large));
    if (operations(sizes) >= wanted) return sizes;
  }
  return std::nullopt;
}

std::optional<Sizes> Sized::few_regions(const sdfg::Sdfg& scheduled, std::int64_t value) const {
  const Bounds bounds = bounds_of(scheduled);
  Sizes few;
  for (const string& symbol : open_)
    if (bounds.around_parallel.contains(symbol) && !bounds.in_parallel.contains(symbol)) few[symbol] = few_times;
  return few.empty() ? std::nullopt : thin(few, value, 1);
}

double Sized::operations(const Sizes& sizes) const {
  return std::log2(
      1 + (who_ == For::Threads ? tuning_db::operations_of_load(nest_, sizes) : tuning_db::operations(nest_, sizes)));
}

bool Sized::deep() const {
  return std::ranges::any_of(tuning_db::facts(nest_, usual_).loops, [](const auto& l) { return !l.around.empty(); });
}

// Whether three loops in each other read elsewhere what they write: strategies may find loops there that are parallel
// but for some iterations.
bool Sized::may_be_freed() const {
  const auto facts = tuning_db::facts(nest_, usual_);
  const auto deep = [&](const tuning_db::AccessFact& access) {
    return facts.statements[static_cast<std::size_t>(access.statement)].loops.size() >= 3;
  };
  return std::ranges::any_of(facts.accesses, [&](const auto& w) {
    return w.write && deep(w) && std::ranges::any_of(facts.accesses, [&](const auto& r) {
             return !r.write && deep(r) && r.container == w.container && r.memlet->subset != w.memlet->subset;
           });
  });
}

}  // namespace sous::client
