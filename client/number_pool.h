// The memory of isl's numbers. isl makes and drops millions of integers of one machine word each, through GMP: a list
// of free ones is much cheaper than the allocator for all sizes.
#pragma once

#include <cstdint>

namespace sous::client {

// From now on GMP's numbers come from a list of each thread's. Before the first number of the process is made, and for
// a program of our own alone: GMP has one allocator for a process, so that a library must leave it to its host.
void pool_numbers();

// How many numbers this thread has taken from its list: what isl has done so far, in a unit that, unlike time, is the
// same in each run. 0 without a pool.
std::uint64_t numbers_taken();

}  // namespace sous::client
