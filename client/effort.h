// How much isl may do for the predictions of one nest. Its work grows with a power of what a nest has: a loop around a
// whole program, its functions inlined, would take half a minute. What was not looked at by then is not used.
//
// Counted in numbers that isl takes (client/number_pool.h), and so the same in each run.
#pragma once

#include "client/number_pool.h"

namespace sous::client {

class Effort {
 public:
  // Some one and a half seconds. Of the 650 nests of 140 programs few take more.
  static constexpr std::uint64_t usual = 3'500'000;

  explicit Effort(std::uint64_t most = usual) : end_(numbers_taken() + most) {}

  // Asked between one recipe and the next; each ends by its own budget (sdfg::Budget).
  bool spent() const { return numbers_taken() >= end_; }

 private:
  const std::uint64_t end_;
};

}  // namespace sous::client
