#include "client/number_pool.h"

#include <gmp.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>

namespace sous::client {
namespace {

struct Free {
  Free* next;
};

// Numbers of up to so many words of eight bytes; larger ones are seldom.
constexpr std::size_t word = 8, most_words = 8;
constexpr std::size_t block_bytes = std::size_t{64} << 10;

// What is freed by another thread than took it goes to that thread's list. Blocks are never given back: they hold the
// most numbers that there were at a time.
struct Pool {
  std::array<Free*, most_words + 1> free{};
  char* at = nullptr;
  std::size_t left = 0;
  std::uint64_t taken = 0;
};
constinit thread_local Pool pool;

std::size_t words_of(std::size_t bytes) { return (bytes + word - 1) / word; }

void* of_allocator(void* memory) {
  if (memory == nullptr) std::abort();  // as GMP itself does
  return memory;
}

void* take(std::size_t bytes) {
  const std::size_t words = words_of(bytes);
  ++pool.taken;
  if (words > most_words) return of_allocator(std::malloc(bytes));
  if (Free* first = pool.free[words]; first != nullptr) {
    pool.free[words] = first->next;
    return first;
  }
  if (pool.left < words * word) {
    pool.at = static_cast<char*>(of_allocator(std::malloc(block_bytes)));
    pool.left = block_bytes;
  }
  void* memory = pool.at;
  pool.at += words * word;
  pool.left -= words * word;
  return memory;
}

void give(void* memory, std::size_t bytes) {
  const std::size_t words = words_of(bytes);
  if (words > most_words) return std::free(memory);
  pool.free[words] = new (memory) Free{pool.free[words]};
}

void* take_again(void* memory, std::size_t before, std::size_t now) {
  const std::size_t words = words_of(before);
  if (words > most_words && words_of(now) > most_words) return of_allocator(std::realloc(memory, now));
  if (words == words_of(now)) return memory;
  void* other = take(now);
  std::memcpy(other, memory, std::min(before, now));
  give(memory, before);
  return other;
}

}  // namespace

void pool_numbers() { mp_set_memory_functions(take, take_again, give); }

std::uint64_t numbers_taken() { return pool.taken; }

}  // namespace sous::client
