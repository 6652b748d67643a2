// Copies between the memory of the program, which the device cannot reach by itself, and the device: in pieces, through
// buffers that it can (pinned ones). Each of several threads has two: while one is on the bus, the thread copies from
// or into the other. One thread copies 10 GB/s, less where the pages are new; the bus takes 50.
#pragma once

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "targets/runtime/gpu_device.h"

namespace sous::gpu {

// Of pinned memory, there are two pieces for each of eight threads: 32 MB altogether, made when first needed, in a few
// milliseconds for the four threads of a group. More threads only wait for each other in the driver, where each piece
// costs 7 us. 134 MB: 3.5 ms each way in pieces of 2 MB, 4.4 of 1 MB, 5.8 of 512 KB; the bus takes 2.5.
#ifndef SOUS_GPU_PIECE_BYTES
#define SOUS_GPU_PIECE_BYTES (2 << 20)
#endif
constexpr int64_t piece_bytes = SOUS_GPU_PIECE_BYTES;
constexpr int most_lanes = 8, lanes_in_group = 4;
constexpr int most_threads = 16;  // where nothing is on the bus
// What a thread is worth starting for (20 us).
constexpr int64_t least_of_thread = 2 * piece_bytes;

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

// Large memory in pages of 2 MB, where the system has them: touched for the first time in half of the time. Null: none.
inline void* map_memory(int64_t bytes) {
  constexpr uintptr_t huge = 2 << 20;
  constexpr int advise_huge = 14;  // MADV_HUGEPAGE
  const size_t all = static_cast<size_t>(bytes) + huge;
  void* const pages = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  // Aligned: what is in front and behind goes back.
  const uintptr_t first = reinterpret_cast<uintptr_t>(pages), begin = (first + huge - 1) / huge * huge;
  const uintptr_t end = (begin + static_cast<uintptr_t>(bytes) + 4095) / 4096 * 4096;
  if (begin > first) munmap(pages, begin - first);
  if (end < first + all) munmap(reinterpret_cast<void*>(end), (first + all) / 4096 * 4096 - end);
  madvise(reinterpret_cast<void*>(begin), end - begin, advise_huge);
  return reinterpret_cast<void*>(begin);
}

// Memory of the host for copies. That of the last run is kept for the next one, where it is not too large: its pages
// are there.
constexpr int64_t most_spare = int64_t{256} << 20;
constexpr int64_t least_mapped = 4 << 20;
struct Memory {
  void* at;
  int64_t bytes;
};
struct Spare {
  pthread_mutex_t lock;
  Memory memory[2];  // a run takes two at most
};
static Spare spare = {PTHREAD_MUTEX_INITIALIZER, {}};

inline Memory take_memory(int64_t bytes) {
  {
    const Locked locked(spare.lock);
    for (Memory& m : spare.memory) {
      if (m.bytes < bytes) continue;
      const Memory taken = m;
      m = {};
      return taken;
    }
  }
  return {bytes < least_mapped ? malloc(static_cast<size_t>(bytes)) : map_memory(bytes), bytes};
}

inline void give_memory(Memory memory) {
  {
    const Locked locked(spare.lock);
    Memory& smaller = spare.memory[0].bytes < spare.memory[1].bytes ? spare.memory[0] : spare.memory[1];
    if (memory.bytes > smaller.bytes && memory.bytes <= most_spare) {
      const Memory kept = memory;
      memory = smaller;
      smaller = kept;
    }
  }
  if (memory.bytes < least_mapped) {
    free(memory.at);
  } else {
    munmap(memory.at, static_cast<size_t>(memory.bytes));
  }
}

// --- Threads and their buffers --------------------------------------------------------------------------------------

struct Slot {
  void* memory;
  cudaStream_t stream;
  bool waits;  // for a copy that is under way
};
struct Lane {
  Slot slots[2];
};
struct Lanes {
  pthread_mutex_t lock;  // one transfer at a time: the bus is one, too
  int made;
  bool failed;
  Lane lanes[most_lanes];
};
static Lanes lanes = {PTHREAD_MUTEX_INITIALIZER, 0, false, {}};

// Those of one group. What has been pinned stays so for as long as the process runs.
inline bool make_group(Lane* group) {
  constexpr int64_t bytes = 2 * lanes_in_group * piece_bytes;
  char* const memory = static_cast<char*>(map_memory(bytes));
  if (memory == nullptr) return false;
  memset(memory, 0, bytes);
  bool well = cudaHostRegister(memory, bytes, cudaHostRegisterDefault) == cudaSuccess;
  for (int k = 0; k < 2 * lanes_in_group && well; ++k) {
    Slot& slot = group[k / 2].slots[k % 2];
    slot.memory = memory + k * piece_bytes;
    well = slot.stream != nullptr || cudaStreamCreateWithFlags(&slot.stream, cudaStreamNonBlocking) == cudaSuccess;
  }
  return well;
}

// As many as have something to do, and as this thread may use processors.
inline int threads_for(int64_t useful) {
  cpu_set_t allowed;
  const int cpus = sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 1;
  return static_cast<int>(imin(imin(useful, most_threads), imax(cpus, 1)));
}

// The same of those that have buffers; 0: there are none.
inline int lanes_for(int64_t useful) {
  const int most = static_cast<int>(imin(threads_for(useful), most_lanes));
  while (lanes.made < most && !lanes.failed) {
    lanes.failed = !make_group(lanes.lanes + lanes.made);
    if (lanes.failed) cudaGetLastError();
    lanes.made += lanes.failed ? 0 : lanes_in_group;
  }
  return static_cast<int>(imin(most, lanes.made));
}

struct Worker {
  void (*run)(void* what, int number);
  void* what;
  int number;
};
inline void* start_worker(void* worker) {
  const Worker& w = *static_cast<const Worker*>(worker);
  w.run(w.what, w.number);
  return nullptr;
}

// run(what, k) for k in [0, count), each in a thread of its own that ends with it; in this one what gets no thread.
inline void in_threads(int count, void (*run)(void*, int), void* what) {
  Worker workers[most_threads];
  pthread_t threads[most_threads];
  bool started[most_threads];
  sigset_t all, before;
  sigfillset(&all);  // signals are for the threads of the program
  pthread_sigmask(SIG_BLOCK, &all, &before);
  for (int k = 1; k < count; ++k) {
    workers[k] = {run, what, k};
    started[k] = pthread_create(&threads[k], nullptr, start_worker, &workers[k]) == 0;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  run(what, 0);
  for (int k = 1; k < count; ++k) {
    if (started[k]) {
      pthread_join(threads[k], nullptr);
    } else {
      run(what, k);
    }
  }
}

// --- Transfers ------------------------------------------------------------------------------------------------------

struct Copy {
  void* device;
  char* host;
  char* before;  // to the device: where a copy of what is brought is kept, perhaps; for a commit: that copy
  char* after;   // for a commit: what the device had
  int64_t bytes;
  int element_bytes;
};

enum class Direction { To, From, Commit };

// Several arrays, in pieces that whoever is free takes.
class Transfer {
 public:
  Transfer(Direction direction, const Copy* copies, int count) : direction_(direction), copies_(copies) {
    for (int k = 0; k < count; ++k) {
      pieces_ += pieces_of(copies[k]);
      bytes_ += copies[k].bytes;
    }
  }

  // Errors: see error() and unreadable().
  void run() {
    if (pieces_ == 0) return;
    if (direction_ == Direction::Commit)
      return in_threads(static_cast<int>(imax(1, threads_for(bytes_ / least_of_thread))), commits, this);
    const Locked locked(lanes.lock);
    const int workers = lanes_for(bytes_ / least_of_thread);
    if (workers > 0) return in_threads(workers, work, this);
    for (int64_t k = 0; k < pieces_ && !stopped(); ++k) directly(piece(k));
  }

  cudaError_t error() const { return error_; }
  bool unreadable() const { return unreadable_ != 0; }

 private:
  struct Piece {
    const Copy* copy = nullptr;
    int64_t at = 0, bytes = 0;
    char* device() const { return static_cast<char*>(copy->device) + at; }
    char* host() const { return copy->host + at; }
  };

  static int64_t pieces_of(const Copy& copy) { return (copy.bytes + piece_bytes - 1) / piece_bytes; }

  Piece piece(int64_t number) const {
    int k = 0;
    while (number >= pieces_of(copies_[k])) number -= pieces_of(copies_[k++]);
    const int64_t at = number * piece_bytes;
    return {copies_ + k, at, imin(piece_bytes, copies_[k].bytes - at)};
  }

  void check(cudaError_t error) {
    cudaError_t none = cudaSuccess;
    if (error != cudaSuccess)
      __atomic_compare_exchange_n(&error_, &none, error, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  }
  bool stopped() const {
    return __atomic_load_n(&error_, __ATOMIC_SEQ_CST) != cudaSuccess ||
           __atomic_load_n(&unreadable_, __ATOMIC_SEQ_CST) != 0;
  }
  bool next(Piece* p) {
    const int64_t number = stopped() ? pieces_ : __atomic_fetch_add(&next_, 1, __ATOMIC_SEQ_CST);
    if (number < pieces_) *p = piece(number);
    return number < pieces_;
  }

  void wait(Slot& slot) {
    if (slot.waits) check(cudaStreamSynchronize(slot.stream));
    slot.waits = false;
  }

  // What the device gets where it is not the host's own memory: a copy that others do not write to meanwhile.
  const char* fetched(const Piece& p, char* buffer) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(p.host());
    if (!readable(begin, begin + static_cast<uintptr_t>(p.bytes))) {
      __atomic_store_n(&unreadable_, 1, __ATOMIC_SEQ_CST);
      return nullptr;
    }
    const char* from = p.host();
    if (p.copy->before != nullptr) {
      memcpy(p.copy->before + p.at, from, static_cast<size_t>(p.bytes));
      from = p.copy->before + p.at;
    }
    if (buffer == nullptr) return from;
    memcpy(buffer, from, static_cast<size_t>(p.bytes));
    return buffer;
  }

  static void commit(const Piece& p) {
    const Copy& c = *p.copy;
    if (c.before == nullptr) {
      memcpy(p.host(), c.after + p.at, static_cast<size_t>(p.bytes));
    } else if (c.element_bytes == 8) {
      write_changes<uint64_t>(p.host(), c.before + p.at, c.after + p.at, p.bytes);
    } else if (c.element_bytes == 4) {
      write_changes<uint32_t>(p.host(), c.before + p.at, c.after + p.at, p.bytes);
    } else if (c.element_bytes == 2) {
      write_changes<uint16_t>(p.host(), c.before + p.at, c.after + p.at, p.bytes);
    } else {
      write_changes<uint8_t>(p.host(), c.before + p.at, c.after + p.at, p.bytes);
    }
  }

  void directly(const Piece& p) {
    const auto bytes = static_cast<size_t>(p.bytes);
    if (direction_ == Direction::From) return check(cudaMemcpy(p.host(), p.device(), bytes, cudaMemcpyDeviceToHost));
    if (const char* const from = fetched(p, nullptr); from != nullptr)
      check(cudaMemcpy(p.device(), from, bytes, cudaMemcpyHostToDevice));
  }

  static void work(void* transfer, int lane) {
    Transfer& t = *static_cast<Transfer*>(transfer);
    Lane& own = lanes.lanes[lane];
    if (t.direction_ == Direction::To) {
      t.bring(own);
    } else {
      t.take_back(own);
    }
    for (Slot& slot : own.slots) t.wait(slot);
  }

  static void commits(void* transfer, int) {
    Transfer& t = *static_cast<Transfer*>(transfer);
    for (Piece p; t.next(&p);) commit(p);
  }

  void bring(Lane& lane) {
    Piece p;
    for (int turn = 0; next(&p); turn ^= 1) {
      Slot& slot = lane.slots[turn];
      wait(slot);
      if (fetched(p, static_cast<char*>(slot.memory)) == nullptr) return;
      start(slot, p.device(), slot.memory, p, cudaMemcpyHostToDevice);
    }
  }

  void take_back(Lane& lane) {
    Piece pieces[2];
    bool more = next(&pieces[0]);
    if (more) start(lane.slots[0], lane.slots[0].memory, pieces[0].device(), pieces[0], cudaMemcpyDeviceToHost);
    for (int turn = 0; more; turn ^= 1) {
      const Piece& p = pieces[turn];
      Piece& coming = pieces[turn ^ 1];
      Slot &slot = lane.slots[turn], &other = lane.slots[turn ^ 1];
      more = next(&coming);
      if (more) start(other, other.memory, coming.device(), coming, cudaMemcpyDeviceToHost);
      wait(slot);
      if (stopped()) return;
      memcpy(p.host(), slot.memory, static_cast<size_t>(p.bytes));
    }
  }

  void start(Slot& slot, void* to, const void* from, const Piece& p, cudaMemcpyKind kind) {
    check(cudaMemcpyAsync(to, from, static_cast<size_t>(p.bytes), kind, slot.stream));
    slot.waits = true;
  }

  const Direction direction_;
  const Copy* const copies_;
  int64_t pieces_ = 0, bytes_ = 0, next_ = 0;
  cudaError_t error_ = cudaSuccess;
  int unreadable_ = 0;
};

}  // namespace sous::gpu
