#include "client/program_load.h"

#include <algorithm>

#include "sdfg/planted_fault.h"
#include "transforms/strategies/thread_levels.h"
#include "tuning-db/chains.h"

namespace sous::client {
namespace {

// A result that is set to zero first is written once more: that is paid for in the model's samples.
constexpr double most_apart = 1.6, most_left_apart = 1.25;
// Of the work, what a recipe makes of a program's variables (stores under conditions) or of its order (chains), and
// nobody feels.
constexpr double few_updates = 0.1;
// Bytes from beyond a core's caches in each nanosecond that it computes, which nobody feels.
constexpr double next_to_none = 0.25;
// Of what the program does, conditions among it, those that are asked again.
constexpr double felt_again = 0.2;
// What each byte of arrays costs that the program does not have, in nanoseconds: pages that are touched for the first
// time, and the way there and back.
constexpr double first_touch = 0.4;
// Of what the program does, the part that stands for it; and the least that somebody feels.
constexpr double most_of_program = 0.9, felt_of_program = 0.1;
// More than any vector has: what a nest takes without vectors, over what it takes with them.
constexpr double most_lanes = 64;

// Loops of one line, each of which begins where the one before has ended.
bool seams_in(const frontends::LiftedNest& nest, const sdfg::Region& region) {
  const auto line = [&](const sdfg::Loop& l) {
    const auto at = nest.loop_lines.find(l.symbol);
    return at == nest.loop_lines.end() ? 0 : at->second;
  };
  const sdfg::Loop* before = nullptr;
  for (const sdfg::Node& node : region.nodes) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    if (loop == nullptr) continue;
    if (before != nullptr && line(*loop) != 0 && line(*loop) == line(*before) && loop->begin == before->end)
      return true;
    if (seams_in(nest, loop->body)) return true;
    before = loop;
  }
  return false;
}

}  // namespace

bool has_seams(const PreparedNest& nest) { return seams_in(*nest.lifted, nest.lifted->sdfg.root); }

tuning_db::Vectors compilers_vectors(const PreparedNest& nest) {
  if (has_seams(nest)) return tuning_db::Vectors::None;
  return nest.meaning.reassociate ? tuning_db::Vectors::OfSums : tuning_db::Vectors::Perhaps;
}

const Sized& ProgramLoad::whole() const {
  if (!whole_)
    whole_.emplace(nest_.normal, nest_.sizes, nest_.hardware, threads_, For::Threads, compilers_vectors(nest_),
                   nest_.greatest);
  return *whole_;
}
const tuning_db::CoreLoad& ProgramLoad::together() const {
  if (!together_) together_ = whole().load(program(), usual());
  return *together_;
}
const tuning_db::CoreLoad& ProgramLoad::apart() const {
  if (!apart_) apart_ = whole().load(nest_.normal, usual());
  return *apart_;
}

bool ProgramLoad::apart_reads_more() const {
  return apart().bytes > most_apart * together().bytes && !tuning_db::computes({.nanoseconds = together().nanoseconds,
                                                                                .bytes = apart().bytes,
                                                                                .touched = together().touched,
                                                                                .threads = threads_});
}

bool ProgramLoad::apart_waits_more() const { return apart().nanoseconds > most_left_apart * together().nanoseconds; }

bool ProgramLoad::brings_little_more(const tuning_db::CoreLoad& applied) const {
  const double more = std::max(0.0, applied.touched - together().touched);
  return (applied.bytes <= most_left_apart * together().bytes || applied.bytes <= next_to_none * applied.nanoseconds) &&
         applied.nanoseconds + first_touch * more <= most_left_apart * together().nanoseconds;
}

bool ProgramLoad::may_be_long(bool in_waves) const {
  tuning_db::CoreLoad most{.threads = threads_};
  most.nanoseconds = most_left_apart * together().nanoseconds;
  most.bytes = std::max(most_left_apart * together().bytes, next_to_none * most.nanoseconds);
  if (in_waves) most.nanoseconds *= most_lanes;
  return tuning_db::computes(most) || tuning_db::streams(most);
}

bool ProgramLoad::updates_in_memory(const sdfg::Sdfg& recipes, const Sizes& sizes) const {
  if (planted(Fault::updates_in_memory_taken_for_free)) return false;
  return tuning_db::updated_under_conditions(recipes, sizes) >
         few_updates + tuning_db::updated_under_conditions(program(), usual());
}

bool ProgramLoad::asks_again(const sdfg::Sdfg& recipes, const Sizes& sizes) const {
  const double once = tuning_db::operations_of_conditions(program(), usual());
  return tuning_db::operations_of_conditions(recipes, sizes) - once >
         felt_again * (once + tuning_db::operations_of_load(program(), usual()));
}

double ProgramLoad::lanes_of_sums(const sdfg::Sdfg& unit) const {
  if (!nest_.meaning.reassociate) return 1;
  if (!fills_lanes_) {
    // Not with elements that lie in a line of memory each: those are gathered one by one.
    const auto in_order = tuning_db::waits(program(), usual(), /*reassociate=*/false);
    const auto reordered = tuning_db::waits(program(), usual(), /*reassociate=*/true);
    fills_lanes_ = in_order == tuning_db::Waits::ForSums && reordered != tuning_db::Waits::ForLines;
  }
  if (!*fills_lanes_) return 1;
  std::int64_t bytes = sizeof(float);
  for (const sdfg::Container& container : unit.containers)
    if (sdfg::is_float(container.type)) bytes = std::max<std::int64_t>(bytes, sdfg::info(container.type).bytes);
  const int bits = tuning_db::simd_bits(nest_.hardware.isa);
  return std::max<double>(1, static_cast<double>(bits / 8 / bytes));
}

bool ProgramLoad::adds_integers() const {
  if (!adds_integers_) adds_integers_ = tuning_db::integer_sums(program(), usual()) >= most_of_program;
  return *adds_integers_;
}

double ProgramLoad::part(const Unit& unit) const {
  double all = 0, operations = 0;
  for (const Unit& one : nest_.units) {
    if (!one.one_of_several() && nest_.units.size() > 1) continue;
    all += unit_work(one);
    operations += tuning_db::operations(one.nest, one.sizes);
  }
  if (unit_work(unit) >= most_of_program * all) return 1;
  return std::min(unit_work(unit) / all, tuning_db::operations(unit.nest, unit.sizes) / operations);
}

tuning_db::Waits ProgramLoad::waits(const Unit& unit) const {
  const double share = part(unit);
  const bool by_itself = share == 1 || has_seams(nest_) || (!apart_waits_more() && !apart_reads_more());
  return by_itself && share >= felt_of_program ? waits_at(unit, usual()) : tuning_db::Waits::No;
}

tuning_db::Waits ProgramLoad::waits(const Unit& unit, const Sizes& sizes) const {
  Sizes all = usual();
  for (const auto& [symbol, original] : unit.to_original.symbols)
    if (const auto known = sizes.find(symbol); known != sizes.end()) all[original] = known->second;
  return waits_at(unit, all);
}

tuning_db::Waits ProgramLoad::waits_at(const Unit& unit, const Sizes& sizes) const {
  if (has_seams(nest_)) return tuning_db::Waits::ForLines;  // a remainder says which, or a choice
  return tuning_db::waits(program(), sizes, nest_.meaning.reassociate, part(unit));
}

bool ProgramLoad::has_threads_as_written() const {
  if (!nest_.written) return false;
  if (!threads_as_written_) {
    const auto options = apply_options(nest_);
    const auto facts = transforms::NestFacts::of(nest_.written->nest, options.context, options.budget);
    threads_as_written_ = facts && !transforms::thread_levels(*facts, 1, /*workspaces=*/false).empty();
  }
  return *threads_as_written_;
}

bool ProgramLoad::makes_chains(const sdfg::Sdfg& recipes, const Sizes& sizes) const {
  if (planted(Fault::chains_taken_for_free)) return false;
  const auto more = [&](const auto& share) { return share(recipes, sizes) > few_updates + share(program(), usual()); };
  return more(tuning_db::chained_without_temporaries) && (more(tuning_db::chained) || has_threads_as_written());
}

}  // namespace sous::client
