// What code that is generated for a GPU includes: CUDA, or its names on the CPU (gpu_emulated.h); arithmetic that gives
// the bits of the CPU; and a Run, which moves arrays to the device and results back.
//
// Whatever fails, nothing of the program's memory has changed until all results are on the host: the entry then returns
// 0, and the original nest runs.
#pragma once

#include "targets/runtime/sous.h"

#ifdef __CUDACC__
#include <cuda_runtime.h>
#else
#include "targets/runtime/gpu_emulated.h"
#endif

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

// Ahead of a loop: all of its iterations are written out where their number is known.
#if defined(__CUDACC__) || defined(__clang__)
#define SOUS_UNROLLED _Pragma("unroll")
#else
#define SOUS_UNROLLED
#endif

// Memory that the threads of a block share. (A vector access takes 16 bytes.)
#ifdef __CUDACC__
#define SOUS_SHARED(type, name, elements) __shared__ __align__(16) type name[elements]
#else
#define SOUS_SHARED(type, name, elements)  \
  static thread_local type name[elements]; \
  ::sous::gpu::emulated_shared(name, sizeof(name))
#endif

namespace sous {

// --- Arithmetic -----------------------------------------------------------------------------------------------------

// a*b + c as the processor that the program is compiled for computes it where contraction is allowed: with one rounding
// if it has such an instruction. (Device code is compiled with --fmad=false: it contracts nothing else.)
template <class T>
SOUS_EVERYWHERE T mul_add(T a, T b, T c) {
#if defined(SOUS_HOST_FMA) || (defined(__FMA__) && !defined(__CUDACC__))
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}

// Integers wrap; no option makes device compilers believe it.
template <class T>
using Unsigned = Chosen<sizeof(T) == 8, uint64_t, uint32_t>;
template <class T>
SOUS_EVERYWHERE T wrap_add(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
}
template <class T>
SOUS_EVERYWHERE T wrap_sub(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
}
template <class T>
SOUS_EVERYWHERE T wrap_mul(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
}

namespace gpu {

// --- Launches -------------------------------------------------------------------------------------------------------

// A grid for so many iterations in each dimension, as far as a launch takes them: kernels stride by the size of the
// grid that they get. Empty where there is nothing to do.
inline dim3 blocks(int64_t x, int64_t y, int64_t z) {
  constexpr int64_t most_x = INT32_MAX, most = 65535;
  if (x <= 0 || y <= 0 || z <= 0) return dim3{0, 0, 0};
  return dim3{static_cast<unsigned>(imin(x, most_x)), static_cast<unsigned>(imin(y, most)),
              static_cast<unsigned>(imin(z, most))};
}
// Iterations of a loop.
inline int64_t trips(int64_t begin, int64_t end, int64_t step) {
  const int64_t distance = step > 0 ? end - begin : begin - end, by = step > 0 ? step : -step;
  return distance > 0 ? (distance - 1) / by + 1 : 0;
}

template <class T>
struct SameType {
  using type = T;
};
// For parameters whose types others decide.
template <class T>
using Same = typename SameType<T>::type;

template <class... P>
cudaError_t start(void (*kernel)(P...), dim3 grid, dim3 block, P... arguments) {
#ifdef __CUDACC__
  void* addresses[] = {const_cast<void*>(static_cast<const volatile void*>(&arguments))..., nullptr};
  return cudaLaunchKernel(reinterpret_cast<const void*>(kernel), grid, block, addresses, 0, nullptr);
#else
  return emulated_launch(kernel, grid, block, arguments...);
#endif
}

// --- Host memory ----------------------------------------------------------------------------------------------------

// Whether all pages can be read. Between two elements that a nest touches there may be pages that it does not.
inline bool readable(uintptr_t begin, uintptr_t end) {
  constexpr uintptr_t page = 4096;
  constexpr int populate_read = 22;  // MADV_POPULATE_READ, Linux 5.14
  begin = begin / page * page;
  end = (end + page - 1) / page * page;
  if (madvise(reinterpret_cast<void*>(begin), end - begin, populate_read) == 0) return true;
  // An older system, or a mapping that cannot be populated: asked for one byte of each page.
  constexpr int most = 512;
  char bytes[most];
  while (begin < end) {
    iovec remote[most];
    int count = 0;
    for (; count < most && begin < end; ++count, begin += page) remote[count] = {reinterpret_cast<void*>(begin), 1};
    iovec local{bytes, static_cast<size_t>(count)};
    if (process_vm_readv(getpid(), &local, 1, remote, static_cast<unsigned long>(count), 0) != count) return false;
  }
  return true;
}

// host[k] = now[k] where that is not what it was. What a nest has not written is not written: others may be about it.
template <class T>
inline void write_changes(void* host, const void* before, const void* now, int64_t bytes) {
  for (int64_t at = 0; at < bytes; at += static_cast<int64_t>(sizeof(T))) {
    T was, is;
    memcpy(&was, static_cast<const char*>(before) + at, sizeof(T));
    memcpy(&is, static_cast<const char*>(now) + at, sizeof(T));
    if (is != was) memcpy(static_cast<char*>(host) + at, &is, sizeof(T));
  }
}

// --- Runs -----------------------------------------------------------------------------------------------------------

// How a nest uses an array.
constexpr int reads = 1;   // elements that it has not written before, perhaps
constexpr int writes = 2;  // elements that somebody looks at afterwards
constexpr int whole = 4;   // it writes every element

struct Array {
  void* host;  // null: a temporary
  void* device;
  void* before;  // what the host had, where only a part is written
  void* after;   // what the device has, until everything is there
  int64_t bytes;
  int element_bytes;
  int use;
};

// A signal handler that interrupts a run does not enter the runtime again. (Of this file: its object has a runtime of
// its own.)
static thread_local volatile int busy = 0;

// One execution of a nest on the device. After a failure all functions do nothing.
class Run {
 public:
  // `arrays`: room for all that are added.
  Run(const char* name, Array* arrays) : name_(name), arrays_(arrays), errno_(errno) {
    const char* wish = getenv("SOUS_GPU_TRACE");
    trace_ = wish != nullptr && *wish != 0 && *wish != '0';
    failed_ = busy != 0;
    if (failed_) {
      why_ = "it interrupted another one";
      return;
    }
    busy = 1;
    owns_ = true;
    // The first call starts threads of the runtime: signals are for those of the program.
    const double begun = now();
    sigset_t all, before;
    sigfillset(&all);
    constexpr int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
    for (const int signal : own) sigdelset(&all, signal);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    check(cudaFree(nullptr));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    started_ = now();
    start_seconds_ = started_ - begun;
  }
  ~Run() {
    if (trace_) say();
    for (int k = 0; k < count_; ++k) {
      free(arrays_[k].before);
      free(arrays_[k].after);
      if (arrays_[k].device != nullptr) cudaFree(arrays_[k].device);
    }
    if (owns_) busy = 0;
    errno = errno_;
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  bool ok() const { return !failed_; }

  // The array on the device, from which its elements lie as far as on the host.
  template <class T>
  T* array(T* host, const Footprint& covered, int use) {
    if (failed_ || covered.empty()) return nullptr;
    const int64_t bytes = static_cast<int64_t>(covered.end() - covered.begin());
    Array* const a = add(bytes, sizeof(T), use);
    if (a == nullptr) return nullptr;
    a->host = reinterpret_cast<void*>(covered.begin());
    if ((use & reads) != 0 || (use & (writes | whole)) == writes) bring(*a);
    const uintptr_t offset = reinterpret_cast<uintptr_t>(host) - covered.begin();
    return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(a->device) + offset);
  }

  // Memory for elements (as from `padded`) that only the device sees.
  template <class T>
  T* temporary(int64_t elements) {
    Array* const a = add(elements < 0 ? -1 : elements * static_cast<int64_t>(sizeof(T)), sizeof(T), 0);
    return a == nullptr ? nullptr : static_cast<T*>(a->device);
  }

  template <class... P>
  void launch(void (*kernel)(P...), dim3 grid, dim3 block, Same<P>... arguments) {
    if (failed_ || grid.x == 0) return;
    if (launches_++ == 0) launched_ = now();
    check(start<P...>(kernel, grid, block, arguments...));
  }

  // Of a kernel in which the threads of a block wait for each other.
  template <class... P>
  void launch_meeting(void (*kernel)(P...), dim3 grid, dim3 block, Same<P>... arguments) {
#ifndef __CUDACC__
    const EmulatedMeeting meeting;
#endif
    launch<P...>(kernel, grid, block, arguments...);
  }

  // For clocks.
  void wait() {
    if (!failed_) check(cudaDeviceSynchronize());
  }

  // 1: the results are in the program's memory; 0: nothing has changed.
  int finish() {
    if (failed_) return 0;
    check(cudaGetLastError());
    check(cudaDeviceSynchronize());
    ended_ = now();
    for (int k = 0; k < count_; ++k)
      if ((arrays_[k].use & writes) != 0 && !may_break_off(arrays_[k])) fetch(arrays_[k]);
    for (int k = 0; k < count_; ++k)
      if ((arrays_[k].use & writes) != 0 && may_break_off(arrays_[k])) copy_back(arrays_[k], arrays_[k].host);
    if (failed_) return 0;
    for (int k = 0; k < count_; ++k) commit(arrays_[k]);
    finished_ = now();
    return 1;
  }

 private:
  static double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  // The original writes all of it and reads nothing: it does not matter what is left there when it runs instead.
  static bool may_break_off(const Array& a) { return (a.use & (reads | whole)) == whole; }

  void check(cudaError_t error) {
    if (error == cudaSuccess || failed_) return;
    failed_ = true;
    why_ = cudaGetErrorString(error);
  }
  void fail(const char* why) {
    if (!failed_) why_ = why;
    failed_ = true;
  }

  Array* add(int64_t bytes, size_t element_bytes, int use) {
    if (bytes < 0) fail("an array is too large");
    if (failed_) return nullptr;
    Array& a = arrays_[count_++];
    a = {nullptr, nullptr, nullptr, nullptr, bytes, static_cast<int>(element_bytes), use};
    check(cudaMalloc(&a.device, static_cast<size_t>(bytes)));
    if (failed_) a.device = nullptr;
    return failed_ ? nullptr : &a;
  }

  void bring(Array& a) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(a.host);
    if (!readable(begin, begin + static_cast<uintptr_t>(a.bytes)))
      return fail("an array lies in pages that are not there");
    const void* from = a.host;
    if ((a.use & (writes | whole)) == writes) {
      // The device gets this copy: what others write meanwhile is in both or in none.
      a.before = malloc(static_cast<size_t>(a.bytes));
      if (a.before == nullptr) return fail("no memory");
      memcpy(a.before, a.host, static_cast<size_t>(a.bytes));
      from = a.before;
    }
    check(cudaMemcpy(a.device, from, static_cast<size_t>(a.bytes), cudaMemcpyHostToDevice));
    to_ += a.bytes;
  }

  void copy_back(const Array& a, void* to) {
    if (failed_) return;
    check(cudaMemcpy(to, a.device, static_cast<size_t>(a.bytes), cudaMemcpyDeviceToHost));
    from_ += a.bytes;
  }

  void fetch(Array& a) {
    if (failed_) return;
    a.after = malloc(static_cast<size_t>(a.bytes));
    if (a.after == nullptr) return fail("no memory");
    copy_back(a, a.after);
  }

  static void commit(const Array& a) {
    if (a.after == nullptr) return;
    if (a.before == nullptr) {
      memcpy(a.host, a.after, static_cast<size_t>(a.bytes));
    } else if (a.element_bytes == 8) {
      write_changes<uint64_t>(a.host, a.before, a.after, a.bytes);
    } else if (a.element_bytes == 4) {
      write_changes<uint32_t>(a.host, a.before, a.after, a.bytes);
    } else if (a.element_bytes == 2) {
      write_changes<uint16_t>(a.host, a.before, a.after, a.bytes);
    } else {
      write_changes<uint8_t>(a.host, a.before, a.after, a.bytes);
    }
  }

  void say() const {
    if (finished_ == 0) {
      dprintf(2, "sous: %s: the original runs: %s\n", name_, why_);
      return;
    }
    const double launched = launches_ > 0 ? launched_ : ended_;
    dprintf(2,
            "sous: %s: on the GPU: start %.3f ms, %lld bytes in %.3f ms to it, %lld launches in %.3f ms, %lld bytes in "
            "%.3f ms from it\n",
            name_, 1e3 * start_seconds_, static_cast<long long>(to_), 1e3 * (launched - started_),
            static_cast<long long>(launches_), 1e3 * (ended_ - launched), static_cast<long long>(from_),
            1e3 * (finished_ - ended_));
  }

  const char* const name_;
  Array* const arrays_;
  const int errno_;  // the original allocates and calls nothing
  int count_ = 0;
  int64_t launches_ = 0, to_ = 0, from_ = 0;
  double start_seconds_ = 0, started_ = 0, launched_ = 0, ended_ = 0, finished_ = 0;
  const char* why_ = "";
  bool trace_ = false, failed_ = false, owns_ = false;
};

}  // namespace gpu
}  // namespace sous
