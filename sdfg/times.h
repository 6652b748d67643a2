// When the instances of a nest's statements run, as isl relations. Internal to sdfg/.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "sdfg/dependence_data.h"

namespace sous::sdfg {

// A tree as maps from statement instances to time: the position in each sequence and the value of each loop on the way
// (negated where it counts down), padded with zeros (Kelly and Pugh's 2d+1 form). A loop with another step than one
// counts its iterations instead: with the start of a tile as begin + size * number, isl sees the number as a quotient
// of the point in it, where a congruence over the starts would have to be solved again in every question.
class Times {
 public:
  struct LoopTime {
    std::size_t index = 0;                                       // of its dimension in the time vector
    bool counted = false;                                        // iterations, not values
    std::vector<std::pair<std::size_t, std::size_t>> positions;  // (dimension, value) of the sequences above it
    const ScheduleLoop* loop = nullptr;
    std::map<int, int> leaves;  // statement -> how many of its leaves are in the loop
  };

  Times(const Dependences::Data& data, const Scop& scop, const ScheduleTree& tree);

  // For statements that `data` looks at.
  const IslMap& of(int statement) const { return maps_[static_cast<std::size_t>(statement)]; }
  // Whether no instance of the statement is in the loop, or every one: what the tree shows, isl need not be asked.
  bool all_outside(int statement, const LoopTime& l) const { return !l.leaves.contains(statement); }
  bool runs(int statement) const { return leaves_[static_cast<std::size_t>(statement)] > 0; }
  bool all_inside(int statement, const LoopTime& l) const {
    const auto here = l.leaves.find(statement);
    return here != l.leaves.end() && here->second == leaves_[static_cast<std::size_t>(statement)];
  }
  const std::map<std::string, LoopTime>& loops() const { return loops_; }
  std::size_t length() const { return length_; }

  // Pairs of times, built, since reading such a relation from text costs more than most questions that use it:
  // those that agree in the first `count` dimensions,
  IslMap agree(std::size_t count) const;
  // of two times inside the loop,
  IslMap both_inside(const LoopTime& l) const;
  // which besides agree on everything before its own dimension,
  IslMap same_before(const LoopTime& l) const { return intersect(agree(l.index), both_inside(l)); }
  // on that too,
  IslMap same_iteration(const LoopTime& l) const { return intersect(agree(l.index + 1), both_inside(l)); }
  // or of which the first is in an earlier iteration, by less than `within` in time (0: any).
  IslMap carried(const LoopTime& l, std::int64_t within = 0) const;
  // Whether the first of each of these pairs that agree in the first `count` dimensions is before the second.
  bool in_order(const IslMap& pairs, std::size_t count) const;
  // The second is not after the first in the dimensions behind the loop's own; equal ones only count with `or_equal`.
  IslMap not_after_inside(const LoopTime& l, bool or_equal) const;

  // Pairs of instances of s and t whose times are so related.
  IslMap related(int s, int t, const IslMap& times) const {
    return IslMap(isl_map_apply_range(isl_map_apply_range(of(s).copy(), times.copy()), isl_map_reverse(of(t).copy())));
  }
  // A relation between instances as one between their times. Most questions are asked there: each is then a conjunction
  // over the time dimensions instead of a composition with the schedule.
  IslMap on_time(const IslMap& pairs, int s, int t) const {
    return IslMap(isl_map_apply_range(isl_map_apply_domain(pairs.copy(), of(s).copy()), of(t).copy()));
  }
  // The same for a dependence's relation, which several questions ask of.
  const IslMap& dependence_on_time(std::size_t k) const;
  // s strictly before t.
  IslMap before(int s, int t) const { return IslMap(isl_map_lex_lt_map(of(s).copy(), of(t).copy())); }

 private:
  struct Place {
    IslNames names;
    std::vector<std::string> constraints;
    std::vector<std::string> time;  // texts of the dimensions so far
    std::vector<std::pair<std::size_t, std::size_t>> positions;
  };

  isl_space* space() const { return isl_map_get_space(all_pairs_.get()); }
  IslMap carried_within(const LoopTime& l, std::int64_t within) const;
  void walk(const ScheduleTree& tree, const Place& place);
  void enter(const ScheduleLoop& loop, Place& here);
  void add(const ScheduleLeaf& leaf, Place& here);

  const Dependences::Data& data_;
  std::size_t length_ = 0;
  IslMap all_pairs_;
  std::vector<IslMap> maps_;
  std::vector<int> leaves_;  // of each statement
  std::map<std::string, LoopTime> loops_;
  mutable std::map<std::size_t, IslMap> dependences_;  // on time, by Data::same_relation
  mutable std::map<std::string, IslMap> carried_;      // by the loop's symbol, within any time
};

}  // namespace sous::sdfg
