// Vectors in a k-d tree of boxes: the box of a node is the least that holds all of its vectors, and nothing in it is
// nearer than the box is. A leaf keeps what its vectors have in common once. Those of one nest differ in its sizes
// alone, some 16 of 88 numbers, and lie farther apart than like nests do: so nests are told apart first, and what is
// of one nest by its sizes. Boxes that hold several nests at all sizes would be wide in all numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tuning-db/features.h"

namespace sous::tuning_db {

class VectorTree {
 public:
  static constexpr std::size_t most_in_leaf = 32;

  // All of one length, finite. They lie in rows of the tree's own order: `order()[row]` is the place among `vectors`.
  // `nests`: of each, a number.
  static VectorTree build(const std::vector<const FeatureVector*>& vectors, const std::vector<std::uint32_t>& nests);
  const std::vector<std::uint32_t>& order() const { return order_; }

  struct Node {
    std::uint32_t first = 0, end = 0;  // rows
    std::uint32_t children = 0;        // the first of two; 0: a leaf
    // Of a leaf: in how many numbers its vectors differ, and where they begin.
    std::uint32_t width = 0, varying = 0;
    std::size_t numbers = 0;
  };
  static constexpr std::uint32_t root = 0;
  const Node& node(std::uint32_t at) const { return nodes_[at]; }
  std::size_t nodes() const { return nodes_.size(); }  // a node's children lie behind it
  // Of the distance; nothing in the node is nearer.
  float least_square(const FeatureVector& query, std::uint32_t at) const;
  // Of the distances of a leaf's rows. Equal vectors are at equal distances, in whichever leaves they lie.
  void squares(const FeatureVector& query, std::uint32_t leaf, std::span<float, most_in_leaf> out) const;
  double distance(const FeatureVector& query, std::uint32_t row) const;
  FeatureVector vector(std::uint32_t row) const;

 private:
  std::uint32_t leaf_of(std::uint32_t row) const;

  struct Nest;
  void split_nests(std::span<const Nest*> nests, const std::vector<const FeatureVector*>& vectors, std::uint32_t at);
  // Two children of which the first has so many rows.
  std::uint32_t add_children(std::uint32_t at, std::uint32_t rows);
  void box_children(std::uint32_t at);
  void split(std::span<std::uint32_t> members, const std::vector<const FeatureVector*>& vectors, std::uint32_t at);
  void make_leaf(std::span<const std::uint32_t> members, const std::vector<const FeatureVector*>& vectors,
                 std::uint32_t at);
  const float* low(std::uint32_t at) const { return boxes_.data() + std::size_t{at} * 2 * dimension_; }
  const float* high(std::uint32_t at) const { return low(at) + dimension_; }

  std::size_t dimension_ = 0;
  std::vector<std::uint32_t> order_;
  std::vector<Node> nodes_;
  std::vector<float> boxes_;  // of each node the low ends, then the high ones
  std::vector<std::uint16_t> varying_;
  std::vector<float> numbers_;  // of each leaf: number by number, of all its rows
};

}  // namespace sous::tuning_db
