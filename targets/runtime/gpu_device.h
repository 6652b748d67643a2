// Memory of the device. Taking it from CUDA and giving it back costs a millisecond, so blocks are kept for the next
// run, up to a quarter of the device's memory.
//
// A block may be known to hold what a stretch of the program's memory holds (the host always has all results). That
// knowledge belongs to a region: one execution of a block of statements in which nobody but nests that name the region
// writes that memory, as the front end has proven (frontends/c/residence.h). A region is a variable of the program's
// function, 0 until its first nest runs here, then a number that is never used again: what one execution knew, no other
// believes. The program sets it to 0 wherever the original statements of a nest run instead, which write to the host's
// memory alone.
#pragma once

#include <pthread.h>
#include <unistd.h>

namespace sous::gpu {

// Whether blocks that hold nothing are kept. On the CPU each is a new one, poisoned and fenced.
#ifndef SOUS_GPU_KEEPS_BLOCKS
#ifdef __CUDACC__
#define SOUS_GPU_KEEPS_BLOCKS 1
#else
#define SOUS_GPU_KEEPS_BLOCKS 0
#endif
#endif

struct Block {
  void* device;
  int64_t bytes;
  int users;        // runs that use it now
  uint64_t region;  // 0: it holds nothing that somebody may ask for
  uintptr_t begin;  // of what it holds of the host
  int64_t held;     // bytes
  uint64_t used;    // when: a count of blocks that were taken
};

constexpr int most_blocks = 256;

// Of this file: its object has a runtime of its own.
struct Device {
  pthread_mutex_t lock;
  pid_t owner;  // 0: nobody has used it yet
  uint64_t regions, clock;
  int64_t kept, most_kept;  // bytes in all blocks
  Block blocks[most_blocks];
};
static Device device = {PTHREAD_MUTEX_INITIALIZER, 0, 0, 0, 0, 0, {}};

class Locked {
 public:
  explicit Locked(pthread_mutex_t& lock) : lock_(lock) { pthread_mutex_lock(&lock_); }
  ~Locked() { pthread_mutex_unlock(&lock_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  pthread_mutex_t& lock_;
};

// False in a child of the process that began: the driver does not work there, and locks may be held by nobody.
inline bool owns_device() {
  pid_t nobody = 0;
  const pid_t own = getpid();
  return __atomic_compare_exchange_n(&device.owner, &nobody, own, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) ||
         nobody == own;
}

// The following are called with the lock held.

inline void drop(Block& block) {
  cudaFree(block.device);
  device.kept -= block.bytes;
  block = {};
}

inline bool overlaps(const Block& block, uintptr_t begin, int64_t bytes) {
  return block.region != 0 && block.begin < begin + static_cast<uintptr_t>(bytes) &&
         begin < block.begin + static_cast<uintptr_t>(block.held);
}

// The unused block that has not been used for longest, if any.
inline Block* oldest_unused() {
  Block* oldest = nullptr;
  for (Block& b : device.blocks)
    if (b.device != nullptr && b.users == 0 && (oldest == nullptr || b.used < oldest->used)) oldest = &b;
  return oldest;
}

inline void trim(int64_t wanted) {
  while (device.kept + wanted > device.most_kept) {
    Block* const oldest = oldest_unused();
    if (oldest == nullptr) return;
    drop(*oldest);
  }
}

// The block that holds these bytes of the host, for another user; null: none does.
inline Block* holding(uint64_t region, uintptr_t begin, int64_t bytes) {
  if (region == 0) return nullptr;
  for (Block& b : device.blocks) {
    if (b.region != region || b.begin > begin ||
        begin + static_cast<uintptr_t>(bytes) > b.begin + static_cast<uintptr_t>(b.held))
      continue;
    ++b.users;
    b.used = ++device.clock;
    return &b;
  }
  return nullptr;
}

// A block that is not much too large: one that holds nothing, or what an execution that is over by now knew of the same
// memory.
inline Block* unused(int64_t bytes, uintptr_t begin) {
  Block* best = nullptr;
  for (Block& b : device.blocks) {
    if (b.device == nullptr || b.users != 0 || b.bytes < bytes || b.bytes / 2 > bytes) continue;
    if (b.region != 0 && (begin == 0 || b.begin != begin)) continue;
    if (best == nullptr || b.bytes < best->bytes) best = &b;
  }
  return best;
}

// Memory for an array that begins at `begin` on the host (0: nowhere).
inline cudaError_t take(int64_t bytes, uintptr_t begin, Block** taken) {
  Block* found = SOUS_GPU_KEEPS_BLOCKS ? unused(bytes, begin) : nullptr;
  if (found == nullptr) {
    trim(bytes);
    for (Block& b : device.blocks)
      if (b.device == nullptr) found = &b;
    if (found == nullptr) {
      found = oldest_unused();
      if (found == nullptr) return cudaErrorMemoryAllocation;
      drop(*found);
    }
    cudaError_t error = cudaMalloc(&found->device, static_cast<size_t>(bytes));
    if (error != cudaSuccess && oldest_unused() != nullptr) {
      cudaGetLastError();
      while (Block* const oldest = oldest_unused()) drop(*oldest);
      error = cudaMalloc(&found->device, static_cast<size_t>(bytes));
    }
    if (error != cudaSuccess) {
      found->device = nullptr;
      return error;
    }
    found->bytes = bytes;
    device.kept += bytes;
  }
  found->region = 0;
  found->users = 1;
  found->used = ++device.clock;
  *taken = found;
  return cudaSuccess;
}

// No longer used by a run. `usable`: nothing is going on with it.
inline void give(Block& block, bool usable) {
  if (--block.users > 0) {
    if (!usable) block.region = 0;
    return;
  }
  if (!usable || (block.region == 0 && !SOUS_GPU_KEEPS_BLOCKS)) {
    drop(block);
  } else {
    trim(0);
  }
}

}  // namespace sous::gpu
