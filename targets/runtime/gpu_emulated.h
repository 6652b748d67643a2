// CUDA's names for an ordinary C++ compiler: the text that is generated for a GPU runs on the CPU, block by block and
// thread by thread, so that it can be held against the interpreter where there is no GPU. It is no way to run programs.
//
// The threads of a launch run one after another, the last one first: what depends on their order differs from a loop.
// Where they wait for each other, each has a stack of its own and runs up to the barrier; a barrier that some of them
// never reach is a failure. Device memory is poisoned when it is taken, and what threads share when a block begins, so
// that a copy or a barrier that was forgotten is seen; device memory ends where a page ends that cannot be touched.
#pragma once

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define __global__
#define __launch_bounds__(...)

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

inline int64_t emulated_count(int64_t& counter, int64_t more) {
  return __atomic_add_fetch(&counter, more, __ATOMIC_SEQ_CST);  // several threads copy
}
inline bool emulated_failure() { return emulated_count(emulated.calls, 1) >= emulated.fail_at && emulated.fail_at > 0; }

// A copy that has been started and that nobody has waited for yet. It is made when somebody does: what looks earlier
// finds what was there, and what is overwritten meanwhile is not copied.
struct EmulatedStream {
  bool waits;
  void* to;
  const void* from;
  size_t bytes;
  cudaMemcpyKind kind;
};

struct EmulatedBlock {
  void* pages;
  size_t mapped;
};

inline thread_local dim3 emulated_block, emulated_thread, emulated_grid_size, emulated_block_size;

// --- Threads that wait for each other

constexpr unsigned emulated_most_threads = 1024;
constexpr int emulated_most_arrays = 64;
constexpr size_t emulated_stack_bytes = 256 * 1024;

// Copies that a thread has begun and not waited for. They are made when it does, and by others' barriers are not.
struct EmulatedCopy {
  void* to;
  const void* from;
  size_t bytes;
};
struct EmulatedCopies {
  EmulatedCopy* all = nullptr;
  size_t count = 0, room = 0;
};

struct EmulatedTeam {
  ucontext_t scheduler, threads[emulated_most_threads];
  dim3 places[emulated_most_threads];
  bool waits[emulated_most_threads];
  unsigned now = 0;
  void (*run)(void*) = nullptr;
  void* what = nullptr;
  EmulatedCopies copies[emulated_most_threads];
  void* poisoned[emulated_most_arrays];           // in this block
  const void* brought[emulated_most_threads][2];  // to products that a warp computes together (gpu_matrix.h)
  int arrays = 0;
};
inline thread_local EmulatedTeam* emulated_team = nullptr;
inline thread_local bool emulated_meeting = false;

// While one lives, launches are of threads that wait for each other.
struct EmulatedMeeting {
  EmulatedMeeting() { emulated_meeting = true; }
  ~EmulatedMeeting() { emulated_meeting = false; }
  EmulatedMeeting(const EmulatedMeeting&) = delete;
  EmulatedMeeting& operator=(const EmulatedMeeting&) = delete;
};

inline void emulated_barrier() {
  EmulatedTeam& team = *emulated_team;
  const unsigned own = team.now;
  team.waits[own] = true;
  swapcontext(&team.threads[own], &team.scheduler);
  emulated_thread = team.places[own];
}

inline void emulated_shared(void* at, size_t bytes) {
  EmulatedTeam& team = *emulated_team;
  for (int k = 0; k < team.arrays; ++k)
    if (team.poisoned[k] == at) return;
  if (team.arrays < emulated_most_arrays) team.poisoned[team.arrays++] = at;
  memset(at, 0xA5, bytes);
}

inline void emulated_copy_begins(void* to, const void* from, size_t bytes) {
  EmulatedCopies& copies = emulated_team->copies[emulated_team->now];
  if (copies.count == copies.room) {
    copies.room = 2 * copies.room + 16;
    copies.all = static_cast<EmulatedCopy*>(realloc(copies.all, copies.room * sizeof(EmulatedCopy)));
    if (copies.all == nullptr) abort();
  }
  copies.all[copies.count++] = {to, from, bytes};
}
// Of 16 bytes that begin at a multiple of that, as a GPU takes them.
inline void emulated_access_copy_begins(void* to, const void* from) {
  if ((reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from)) % 16 != 0) abort();
  emulated_copy_begins(to, from, 16);
}
inline void emulated_copies_end() {
  EmulatedCopies& copies = emulated_team->copies[emulated_team->now];
  for (size_t k = 0; k < copies.count; ++k) memcpy(copies.all[k].to, copies.all[k].from, copies.all[k].bytes);
  copies.count = 0;
}

inline void emulated_thread_begins() { emulated_team->run(emulated_team->what); }

// One block: `run(what)` in each thread. False: some wait for others that have ended.
inline bool emulated_team_runs(EmulatedTeam& team, char* stacks, dim3 size, void (*run)(void*), void* what) {
  const unsigned count = size.x * size.y * size.z;
  team.run = run;
  team.what = what;
  team.arrays = 0;
  for (unsigned k = 0; k < count; ++k) {
    team.copies[k].count = 0;
    team.places[k] = dim3{k % size.x, k / size.x % size.y, k / size.x / size.y};
    getcontext(&team.threads[k]);
    team.threads[k].uc_stack.ss_sp = stacks + k * emulated_stack_bytes;
    team.threads[k].uc_stack.ss_size = emulated_stack_bytes;
    team.threads[k].uc_link = &team.scheduler;
    makecontext(&team.threads[k], emulated_thread_begins, 0);
  }
  emulated_team = &team;
  unsigned waiting = 0;
  do {
    waiting = 0;
    for (unsigned k = count; k-- > 0;) {
      team.now = k;
      team.waits[k] = false;
      emulated_thread = team.places[k];
      swapcontext(&team.scheduler, &team.threads[k]);
      waiting += team.waits[k] ? 1U : 0U;
    }
  } while (waiting == count);
  return waiting == 0;
}

template <class F>
cudaError_t emulated_meetings(dim3 grid, dim3 block, F f) {
  const size_t bytes = sizeof(EmulatedTeam) + block.x * block.y * block.z * emulated_stack_bytes;
  if (block.x * block.y * block.z > emulated_most_threads) return cudaErrorLaunchFailure;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return cudaErrorLaunchFailure;
  EmulatedTeam& team = *static_cast<EmulatedTeam*>(memory);
  char* const stacks = static_cast<char*>(memory) + sizeof(EmulatedTeam);
  bool well = true;
  for (unsigned z = grid.z; z-- > 0;)
    for (unsigned y = grid.y; y-- > 0;)
      for (unsigned x = grid.x; x-- > 0;) {
        emulated_block = dim3{x, y, z};
        well = well && emulated_team_runs(team, stacks, block, [](void* what) { (*static_cast<F*>(what))(); }, &f);
      }
  for (EmulatedCopies& copies : team.copies) free(copies.all);
  munmap(memory, bytes);
  return well ? cudaSuccess : cudaErrorLaunchFailure;
}

template <class... P>
cudaError_t emulated_launch(void (*kernel)(P...), dim3 grid, dim3 block, P... arguments) {
  emulated_count(emulated.launches, 1);
  if (emulated_failure()) return cudaErrorLaunchFailure;
  emulated_grid_size = grid;
  emulated_block_size = block;
  if (emulated_meeting) return emulated_meetings(grid, block, [&] { kernel(arguments...); });
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
#define __syncthreads() ::sous::gpu::emulated_barrier()

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
  emulated_count(emulated.allocated, 1);
  return cudaSuccess;
}

inline cudaError_t cudaFree(void* at) {
  using namespace sous::gpu;
  if (at == nullptr) return emulated_failure() ? cudaErrorLaunchFailure : cudaSuccess;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(at) / 4096 * 4096;
  const EmulatedBlock block = *reinterpret_cast<EmulatedBlock*>(begin - 4096);
  munmap(block.pages, block.mapped);
  emulated_count(emulated.allocated, -1);
  return cudaSuccess;
}

inline cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  using namespace sous::gpu;
  const bool in = kind == cudaMemcpyHostToDevice;
  emulated_count(in ? emulated.copies_to : emulated.copies_from, 1);
  emulated_count(in ? emulated.bytes_to : emulated.bytes_from, static_cast<int64_t>(bytes));
  if (emulated_failure()) {
    memset(to, 0x5A, bytes / 2);  // one that breaks off in the middle
    return cudaErrorLaunchFailure;
  }
  memcpy(to, from, bytes);
  return cudaSuccess;
}

using cudaStream_t = sous::gpu::EmulatedStream*;
constexpr unsigned cudaStreamNonBlocking = 1, cudaHostRegisterDefault = 0;

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  if (sous::gpu::emulated_failure()) return cudaErrorMemoryAllocation;
  *stream = static_cast<cudaStream_t>(calloc(1, sizeof(sous::gpu::EmulatedStream)));
  return *stream == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (!stream->waits) return sous::gpu::emulated_failure() ? cudaErrorLaunchFailure : cudaSuccess;
  stream->waits = false;
  return cudaMemcpy(stream->to, stream->from, stream->bytes, stream->kind);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (stream->waits)
    if (const cudaError_t error = cudaStreamSynchronize(stream); error != cudaSuccess) return error;
  if (sous::gpu::emulated_failure()) return cudaErrorLaunchFailure;
  *stream = {true, to, from, bytes, kind};
  return cudaSuccess;
}
inline cudaError_t cudaHostRegister(void*, size_t, unsigned) {
  return sous::gpu::emulated_failure() ? cudaErrorMemoryAllocation : cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(size_t* unused_bytes, size_t* all) {
  *unused_bytes = *all = size_t{1} << 40;
  return sous::gpu::emulated_failure() ? cudaErrorLaunchFailure : cudaSuccess;
}

inline cudaError_t cudaGetLastError() { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() {
  return sous::gpu::emulated_failure() ? cudaErrorLaunchFailure : cudaSuccess;
}
inline const char* cudaGetErrorString(cudaError_t) { return "an error that was asked for"; }
