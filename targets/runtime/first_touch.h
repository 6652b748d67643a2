// Whether threads lose more than they gain by touching memory for the first time.
//
// Memory that nobody wrote has no pages. Where it is read first, Linux lets it see a page of zeros that all share; the
// write behind that gets a page of its own, and every processor that the process runs on is interrupted to forget the
// other one. Of `a[i] += b[i]` on fresh memory, a Zen 4 in a virtual machine takes 3.3 us for each page on one thread
// and 7.5 to 12 on two, where the sum takes 0.2; what is written first (`a[i] = b[i]`) gains from threads: 1.9 and 1.0.
// docs/decisions/050.
#pragma once

#ifdef _OPENMP
extern "C" int mincore(void* from, size_t length, unsigned char* there) noexcept;

namespace sous {
namespace {  // targets/runtime/sous.h says why

// Of a page, in seconds.
inline constexpr double first_touch_by_threads = 5e-6;
inline constexpr uintptr_t page_bytes = 4096;

// Whether most of some rows that lie evenly in the footprint have no page where they begin.
inline bool is_untouched(const Footprint& of) {
  constexpr int64_t looked_at = 8;
  int64_t untouched = 0;
  for (int64_t k = 0; k < looked_at; ++k) {
    unsigned char there = 1;
    const uintptr_t page = of.row(2 * k + 1, 2 * looked_at) / page_bytes * page_bytes;
    if (mincore(reinterpret_cast<void*>(page), 1, &there) == 0 && (there & 1) == 0) ++untouched;
  }
  return 2 * untouched > looked_at;
}

// `gain`: of this call by its threads, in seconds; `footprints`: of what it reads and then writes. Not twice in a row
// for the same arrays: what is never touched, the rows of a triangle, stays so. Of calls that are short beside the
// question it is asked once. `asked`: for 64 sets of arrays, whether it was so the last time.
template <class... Footprints>
#ifdef __clang__
__attribute__((noinline, cold, optnone))
#else
__attribute__((noinline, cold))
#endif
bool first_touch_outweighs(uint64_t* asked, double gain, const Footprints&... footprints) {
  constexpr double short_gain = 100e-6;
  const int errno_before = errno;
  uint64_t where = 0;
  const Footprint* const all[] = {&footprints...};
  for (const Footprint* of : all)
    if (!of->empty()) where = (where + of->begin()) * 0x9e3779b97f4a7c15;
  const uint64_t set = uint64_t{1} << (where >> 58);
  const bool before = (__atomic_load_n(asked, __ATOMIC_RELAXED) & set) != 0;
  if (before && gain < short_gain) return false;
  double cost = 0;
  for (const Footprint* of : all) {
    if (of->empty()) continue;
    const double pages = static_cast<double>((of->end() - of->begin()) / page_bytes);
    if (gain < pages * first_touch_by_threads && is_untouched(*of)) cost += pages * first_touch_by_threads;
  }
  errno = errno_before;
  const bool outweighs = gain < cost && !before;
  if (outweighs)
    __atomic_fetch_or(asked, set, __ATOMIC_RELAXED);
  else
    __atomic_fetch_and(asked, ~set, __ATOMIC_RELAXED);
  return outweighs;
}

}  // namespace
}  // namespace sous
#endif
