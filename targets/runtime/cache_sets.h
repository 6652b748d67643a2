// Lines in the sets of a cache: whether rows that are walked side by side share too few of them (sdfg/cache_sets.h).
#pragma once

#include <stdint.h>

namespace sous {
namespace {  // targets/runtime/sous.h says why

// Of a cache of which each way has `sets` lines of 64 bytes; both are powers of two.
template <int sets>
class CacheSets {
 public:
  // Lines of one access: pairs of a distance in bytes and a number of lines, every combination of them. Arrays begin
  // alike: in the first line of a page, as large ones do.
  template <class... Strides>
  CacheSets& walk(Strides... strides) {
    lines(0, strides...);
    return *this;
  }
  bool holds_more_than(int ways) const {
    for (const int lines : used_)
      if (lines > ways) return true;
    return false;
  }

 private:
  void lines(uint64_t at) { ++used_[at / 64 % sets]; }
  template <class... More>
  void lines(uint64_t at, int64_t bytes, int64_t count, More... more) {
    for (int64_t k = 0; k < count; ++k) lines(at + static_cast<uint64_t>(k) * static_cast<uint64_t>(bytes), more...);
  }

  int used_[sets] = {};
};

}  // namespace
}  // namespace sous
