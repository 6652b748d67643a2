// One execution of a nest on the device.
//
// Whatever fails, nothing of the program's memory has changed until all results are on the host: the entry then returns
// 0, and the original nest runs.
#pragma once

#include <stdio.h>
#include <time.h>

#include "targets/runtime/gpu_handlers.h"
#include "targets/runtime/gpu_matrix.h"
#include "targets/runtime/gpu_transfer.h"

// Seconds that runs were slower by without the GPU than they would have been with it (gpu_offer.h); infinite once it is
// used, minus infinite where there is none. Objects of a program share it.
extern "C" {
__attribute__((weak, visibility("hidden"))) double sous_gpu_missed = 0;
}

namespace sous::gpu {

inline void set_missed(double seconds) { __atomic_store(&sous_gpu_missed, &seconds, __ATOMIC_RELAXED); }

// How a nest uses an array.
constexpr int reads = 1;    // elements that it has not written before, perhaps
constexpr int writes = 2;   // elements that somebody looks at afterwards
constexpr int whole = 4;    // it writes every element
constexpr int changes = 8;  // elements that nobody looks at afterwards: the host's stay as they are
// What lies between the elements that it touches, others may write, even while the array stays on the device.
constexpr int interleaved = 16;

struct Array {
  Block* block;
  void* host;        // null: a temporary
  void* device;      // where the first byte is
  void* before;      // what the host had, where only a part is written
  void* after;       // what the device has, until everything is there
  uint64_t* region;  // of the program, in which the device's copy stays (gpu_device.h); null: none
  int64_t bytes;
  int element_bytes;
  int use;
  bool there;  // the device has the host's bytes already

  bool is_brought() const { return host != nullptr && !there && ((use & reads) != 0 || is_part()); }
  bool is_changed() const { return (use & (writes | whole | changes)) != 0; }
  bool is_part() const { return (use & (writes | whole)) == writes; }
  // The original writes all of it and reads nothing: it does not matter what is left there when it runs instead.
  bool may_break_off() const { return (use & (reads | whole)) == whole; }
};

// A handler of a fault that interrupts a run does not enter the runtime again. (Of this file, like the device's
// blocks.)
static thread_local volatile int busy = 0;

// Whether this thread rounds as the device does: to nearest, and with traps off; and, where they are `kept`, whether it
// keeps denormal numbers as well.
inline bool rounds_as_device([[maybe_unused]] bool kept) {
#if defined(__x86_64__)
  constexpr unsigned flags = 0x3f, denormals = 0x8040, usual = 0x1f80;
  return (__builtin_ia32_stmxcsr() & ~flags & ~(kept ? 0U : denormals)) == usual;
#elif defined(__aarch64__)
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  constexpr uint64_t denormals = 1U << 24, others = 0xc09f00;  // rounding, traps
  return (control & (others | (kept ? denormals : 0))) == 0;
#else
  return true;
#endif
}

// After a failure all functions do nothing.
class Run {
 public:
  // `arrays`: room for all that are added, and `copies` for as many.
  Run(const char* name, Array* arrays, Copy* copies) : name_(name), arrays_(arrays), copies_(copies), errno_(errno) {
    const char* wish = getenv("SOUS_GPU_TRACE");
    trace_ = wish != nullptr && *wish != 0 && *wish != '0';
    if (busy != 0) {
      fail("it interrupted another one");
      return;
    }
    busy = 1;
    owns_ = true;
    const double begun = now();
    if (owns_device()) {
      start_runtime();
    } else {
      fail("this process was forked from one that uses the GPU");
    }
    started_ = now();
    start_seconds_ = started_ - begun;
  }
  // Of a nest that leaves products to the matrix unit: its sums are to be those of the program. Asked once, when the
  // process begins to use the GPU.
  template <class Unit>
  Run(const char* name, Array* arrays, Copy* copies, Unit unit) : Run(name, arrays, copies) {
    if (failed_) return;
    static int known = 0;  // 1: it sums in order; 2: it does not
    int answer = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (answer == 0) {
      bool differs = false;
      check(unit.differs(&differs));
      if (failed_) return;
      answer = differs ? 2 : 1;
      __atomic_store_n(&known, answer, __ATOMIC_RELAXED);
    }
    if (answer == 2) fail("its matrix unit sums in another order");
    start_seconds_ += now() - started_;
    started_ = now();
  }
  ~Run() {
    if (trace_) say();
    if (owns_ && count_ > 0) release();
    for (const Memory& memory : memory_)
      if (memory.at != nullptr) give_memory(memory);
    if (owns_) busy = 0;
    errno = errno_;
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  // The array on the device, from which its elements lie as far as on the host.
  template <class T>
  T* array(T* host, const Footprint& covered, int use, uint64_t* region = nullptr) {
    if (failed_ || covered.empty()) return nullptr;
    Array* const a =
        add(static_cast<int64_t>(covered.end() - covered.begin()), sizeof(T), use, covered.begin(), region);
    if (a == nullptr) return nullptr;
    const uintptr_t offset = reinterpret_cast<uintptr_t>(host) - covered.begin();
    return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(a->device) + offset);
  }

  // Memory for elements (as from `padded`) that only the device sees.
  template <class T>
  T* temporary(int64_t elements) {
    Array* const a = add(elements < 0 ? -1 : elements * static_cast<int64_t>(sizeof(T)), sizeof(T), 0, 0, nullptr);
    return a == nullptr ? nullptr : static_cast<T*>(a->device);
  }

  // Brings what kernels read: after all arrays have been added. False: something has failed.
  bool ready() {
    int64_t bytes = 0;
    for (int k = 0; k < count_; ++k) bytes += arrays_[k].is_part() ? arrays_[k].bytes : 0;
    char* memory = part_of(memory_[0], bytes);
    int count = 0;
    for (int k = 0; k < count_ && !failed_; ++k) {
      Array& a = arrays_[k];
      if (a.is_part()) {
        a.before = memory;
        memory += a.bytes;
      }
      there_ += a.there ? a.bytes : 0;
      if (!a.is_brought()) continue;
      to_ += a.bytes;
      copies_[count++] = copy(a, static_cast<char*>(a.host), static_cast<char*>(a.before));
    }
    move(Direction::To, count);
    // What is there was not copied on its way.
    count = 0;
    for (int k = 0; k < count_; ++k)
      if (const Array& a = arrays_[k]; a.before != nullptr && a.there)
        copies_[count++] = {nullptr, static_cast<char*>(a.before), nullptr, static_cast<char*>(a.host), a.bytes, 1};
    move(Direction::Commit, count);
    return !failed_;
  }

  template <class... P>
  void launch(void (*kernel)(First, P...), Blocks blocks, dim3 block, Same<P>... arguments) {
    const auto part = [](int64_t all, int64_t from) {
      return static_cast<unsigned>(imin(all - from, most_of_a_launch));
    };
    if (blocks.x > most_of_a_launch_x) fail("more blocks than a launch takes");
    for (First first{0, 0}; first.z < blocks.z; first.z += most_of_a_launch)
      for (first.y = 0; first.y < blocks.y; first.y += most_of_a_launch) {
        if (failed_) return;
        if (launches_++ == 0) launched_ = now();
        const dim3 grid{static_cast<unsigned>(blocks.x), part(blocks.y, first.y), part(blocks.z, first.z)};
        check(start<First, P...>(kernel, grid, block, first, arguments...));
      }
  }

  // Of a kernel in which the threads of a block wait for each other.
  template <class... P>
  void launch_meeting(void (*kernel)(First, P...), Blocks blocks, dim3 block, Same<P>... arguments) {
#ifndef __CUDACC__
    const EmulatedMeeting meeting;
#endif
    launch<P...>(kernel, blocks, block, arguments...);
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
    fetch();
    if (failed_) return 0;
    int count = 0;
    for (int k = 0; k < count_; ++k) {
      const Array& a = arrays_[k];
      if (a.after == nullptr) continue;
      copies_[count] = copy(a, static_cast<char*>(a.host), static_cast<char*>(a.before));
      copies_[count++].after = static_cast<char*>(a.after);
    }
    move(Direction::Commit, count);
    finished_ = now();
    return 1;
  }

 private:
  static double now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  void check(cudaError_t error) {
    if (error == cudaSuccess) return;
    fail(cudaGetErrorString(error));
    cudaGetLastError();  // it would be the next run's
  }
  void fail(const char* why) {
    if (!failed_) why_ = why;
    failed_ = true;
  }

  // The first call starts threads of the runtime: signals are for those of the program.
  void start_runtime() {
    sigset_t all, before;
    sigfillset(&all);
    for (const int signal : of_faults) sigdelset(&all, signal);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    check(cudaFree(nullptr));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (failed_) set_missed(-__builtin_inf());
    const Locked locked(device.lock);
    if (failed_ || device.most_kept > 0) return;
    size_t unused_bytes = 0, all_bytes = 0;
    check(cudaMemGetInfo(&unused_bytes, &all_bytes));
    device.most_kept = failed_ ? 0 : static_cast<int64_t>(all_bytes / 4);
  }

  Array* add(int64_t bytes, size_t element_bytes, int use, uintptr_t begin, uint64_t* region) {
    if (bytes < 0) fail("an array is too large");
    if (failed_) return nullptr;
    Array a = {};
    a.bytes = bytes;
    a.element_bytes = static_cast<int>(element_bytes);
    a.use = use;
    a.host = reinterpret_cast<void*>(begin);
    a.region = region;
    const Locked locked(device.lock);
    if (region != nullptr && *region == 0) *region = ++device.regions;
    // What comes back is held against what the host had, and that against what was brought: of the bytes in between
    // the device would have old ones.
    const bool may_differ = a.is_part() && (use & interleaved) != 0;
    if (region != nullptr && !may_differ) a.block = holding(*region, begin, bytes);
    a.there = a.block != nullptr;
    if (a.there) {
      a.device = static_cast<char*>(a.block->device) + (begin - a.block->begin);
    } else {
      check(take(bytes, begin, &a.block));
      if (failed_) return nullptr;
      a.device = a.block->device;
    }
    arrays_[count_] = a;
    return &arrays_[count_++];
  }

  static Copy copy(const Array& a, char* host, char* before) {
    return {a.device, host, before, nullptr, a.bytes, a.element_bytes};
  }

  void move(Direction direction, int count) {
    if (failed_) return;
    Transfer transfer(direction, copies_, count);
    transfer.run();
    if (transfer.unreadable()) fail("an array lies in pages that are not there");
    check(transfer.error());
  }

  char* part_of(Memory& memory, int64_t bytes) {
    if (failed_ || bytes == 0) return nullptr;
    memory = take_memory(bytes);
    if (memory.at == nullptr) fail("no memory");
    return static_cast<char*>(memory.at);
  }

  // All into memory of its own first; what may break off then, right into the program's.
  void fetch() {
    int64_t bytes = 0;
    for (int k = 0; k < count_; ++k)
      bytes += (arrays_[k].use & writes) != 0 && !arrays_[k].may_break_off() ? arrays_[k].bytes : 0;
    char* memory = part_of(memory_[1], bytes);
    int count = 0;
    for (int k = 0; k < count_ && !failed_; ++k) {
      Array& a = arrays_[k];
      if ((a.use & writes) == 0 || a.may_break_off()) continue;
      a.after = memory;
      memory += a.bytes;
      from_ += a.bytes;
      copies_[count++] = copy(a, static_cast<char*>(a.after), nullptr);
    }
    move(Direction::From, count);
    count = 0;
    for (int k = 0; k < count_ && !failed_; ++k) {
      const Array& a = arrays_[k];
      if ((a.use & writes) == 0 || !a.may_break_off()) continue;
      from_ += a.bytes;
      copies_[count++] = copy(a, static_cast<char*>(a.host), nullptr);
    }
    move(Direction::From, count);
  }

  // What the device holds of the host from now on, and what it does not any more.
  void release() {
    const bool well = finished_ > 0;
    // Kernels may still be under way; CUDA waits for them where it frees what they use.
    const Locked locked(device.lock);
    for (int k = 0; k < count_; ++k) {
      const Array& a = arrays_[k];
      const uintptr_t begin = reinterpret_cast<uintptr_t>(a.host);
      if (a.host != nullptr && (a.is_changed() || !well))
        for (Block& b : device.blocks)
          if (overlaps(b, begin, a.bytes) && (&b != a.block || !well || (a.use & writes) == 0)) b.region = 0;
      if (well && !a.there && a.region != nullptr && ((a.use & writes) != 0 || !a.is_changed())) {
        a.block->region = *a.region;
        a.block->begin = begin;
        a.block->held = a.bytes;
      }
    }
    for (int k = 0; k < count_; ++k) give(*arrays_[k].block, well);
    if (SOUS_GPU_KEEPS_BLOCKS) return;
    for (Block& b : device.blocks)
      if (b.device != nullptr && b.users == 0 && b.region == 0) drop(b);
  }

  void say() const {
    if (finished_ == 0) {
      dprintf(2, "sous: %s: not on the GPU: %s\n", name_, why_);
      return;
    }
    const double launched = launches_ > 0 ? launched_ : ended_;
    dprintf(2,
            "sous: %s: on the GPU: start %.3f ms, %lld bytes in %.3f ms to it, %lld launches in %.3f ms, %lld bytes in "
            "%.3f ms from it, %lld bytes were there\n",
            name_, 1e3 * start_seconds_, static_cast<long long>(to_), 1e3 * (launched - started_),
            static_cast<long long>(launches_), 1e3 * (ended_ - launched), static_cast<long long>(from_),
            1e3 * (finished_ - ended_), static_cast<long long>(there_));
  }

  const HandlersWait handlers_;  // until all else is given back
  const char* const name_;
  Array* const arrays_;
  Copy* const copies_;
  const int errno_;        // the original allocates and calls nothing
  Memory memory_[2] = {};  // for `before` and for `after`
  int count_ = 0;
  int64_t launches_ = 0, to_ = 0, from_ = 0, there_ = 0;
  double start_seconds_ = 0, started_ = 0, launched_ = 0, ended_ = 0, finished_ = 0;
  const char* why_ = "";
  bool trace_ = false, failed_ = false, owns_ = false;
};

}  // namespace sous::gpu
