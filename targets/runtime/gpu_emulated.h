// CUDA's names for an ordinary C++ compiler: the text that is generated for a GPU runs on the CPU, block by block and
// thread by thread, so that it can be held against the interpreter where there is no GPU. It is no way to run programs.
//
// The threads of a launch run one after another, the last one first: what depends on their order differs from a loop.
// Device memory is poisoned when it is taken, so that a copy that was forgotten is seen, and ends where a page ends
// that cannot be touched.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#define __global__

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};

enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorLaunchFailure = 719 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost = 2 };

namespace sous::gpu {

// What tests ask for and look at.
struct Emulated {
  int64_t calls = 0;    // of functions that can fail
  int64_t fail_at = 0;  // the call that does, and all after it; 0: none
  int64_t bytes_to = 0, bytes_from = 0, copies_to = 0, copies_from = 0, launches = 0;
  int64_t allocated = 0;  // that nobody has freed yet
};
inline Emulated emulated;

inline bool emulated_failure() { return ++emulated.calls >= emulated.fail_at && emulated.fail_at > 0; }

struct EmulatedBlock {
  void* pages;
  size_t mapped;
};

inline thread_local dim3 emulated_block, emulated_thread, emulated_grid_size, emulated_block_size;

template <class... P>
cudaError_t emulated_launch(void (*kernel)(P...), dim3 grid, dim3 block, P... arguments) {
  ++emulated.launches;
  if (emulated_failure()) return cudaErrorLaunchFailure;
  emulated_grid_size = grid;
  emulated_block_size = block;
  const auto each = [](dim3 size, auto f) {
    for (unsigned z = size.z; z-- > 0;)
      for (unsigned y = size.y; y-- > 0;)
        for (unsigned x = size.x; x-- > 0;) f(dim3{x, y, z});
  };
  each(grid, [&](dim3 at) {
    emulated_block = at;
    each(block, [&](dim3 thread) {
      emulated_thread = thread;
      kernel(arguments...);
    });
  });
  return cudaSuccess;
}

}  // namespace sous::gpu

#define blockIdx ::sous::gpu::emulated_block
#define threadIdx ::sous::gpu::emulated_thread
#define gridDim ::sous::gpu::emulated_grid_size
#define blockDim ::sous::gpu::emulated_block_size

inline cudaError_t cudaMalloc(void** to, size_t bytes) {
  using namespace sous::gpu;
  constexpr size_t page = 4096;
  if (emulated_failure()) return cudaErrorMemoryAllocation;
  const size_t payload = (bytes + page - 1) / page * page;
  // The first page says what was taken; the last one is the fence.
  void* const pages =
      mmap(nullptr, payload + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return cudaErrorMemoryAllocation;
  char* const begin = static_cast<char*>(pages) + page;
  mprotect(begin + payload, page, PROT_NONE);
  memset(begin, 0xA5, payload);
  *static_cast<EmulatedBlock*>(pages) = {pages, payload + 2 * page};
  *to = begin + payload - bytes;
  ++emulated.allocated;
  return cudaSuccess;
}

inline cudaError_t cudaFree(void* at) {
  using namespace sous::gpu;
  if (at == nullptr) return emulated_failure() ? cudaErrorLaunchFailure : cudaSuccess;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(at) / 4096 * 4096;
  const EmulatedBlock block = *reinterpret_cast<EmulatedBlock*>(begin - 4096);
  munmap(block.pages, block.mapped);
  --emulated.allocated;
  return cudaSuccess;
}

inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  using namespace sous::gpu;
  const bool in = kind == cudaMemcpyHostToDevice;
  ++(in ? emulated.copies_to : emulated.copies_from);
  (in ? emulated.bytes_to : emulated.bytes_from) += static_cast<int64_t>(bytes);
  if (emulated_failure()) {
    memset(to, 0x5A, bytes / 2);  // one that breaks off in the middle
    return cudaErrorLaunchFailure;
  }
  memcpy(to, from, bytes);
  return cudaSuccess;
}

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() {
  return sous::gpu::emulated_failure() ? cudaErrorLaunchFailure : cudaSuccess;
}
inline const char* cudaGetErrorString(cudaError_t) { return "an error that was asked for"; }
