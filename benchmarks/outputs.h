// Comparing what two builds of one program computed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sdfg/result.h"

namespace sous::benchmarks {

// What a dump consists of: raw little-endian elements, or words of text, some of which are numbers.
//   enumerator, text, bytes
#define SOUS_BENCH_ELEMENTS(X) \
  X(f64, "f64", 8)             \
  X(f32, "f32", 4)             \
  X(i64, "i64", 8)             \
  X(i32, "i32", 4)             \
  X(text, "text", 1)

enum class Element : std::uint8_t {
#define X(e, ...) e,
  SOUS_BENCH_ELEMENTS(X)
#undef X
};
std::string_view to_string(Element element);
std::optional<Element> parse_element(std::string_view text);
std::size_t size_of(Element element);

struct Comparison {
  bool bit_equal = true;
  // The largest |a - b| / max(|a|, |b|, m), where m is the largest magnitude of the reference times 2^-20, for f32
  // 2^-10: an element that is zero but for rounding is held against its array, not against itself. Infinite where only
  // one is NaN. In text each number is held against itself, as neighbours may be different things; infinite where other
  // words differ.
  double difference = 0;
  std::size_t first = 0;  // the first element (word) whose bits differ, if any
  std::size_t elements = 0;

  bool operator==(const Comparison&) const = default;
};

// Errors: bench.outputs (sizes differ, or are no multiple of the element; of text: it is empty).
Result<Comparison> compare_outputs(std::string_view reference, std::string_view output, Element element);

}  // namespace sous::benchmarks
