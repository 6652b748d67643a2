#include "benchmarks/outputs.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

namespace sous::benchmarks {
namespace {

struct Row {
  Element element;
  std::string_view text;
  std::size_t bytes;
};
constexpr auto rows = std::to_array<Row>({
#define X(e, text, bytes) {Element::e, text, bytes},
    SOUS_BENCH_ELEMENTS(X)
#undef X
});

template <class T>
double value_at(std::string_view bytes, std::size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return static_cast<double>(value);
}

// Of the largest magnitude, the part below which an element is taken for zero: some bits above what rounding leaves.
template <class T>
constexpr int bits_of_zero = std::is_same_v<T, float> ? -10 : -20;

template <class T>
Comparison compare(std::string_view reference, std::string_view output) {
  Comparison result;
  result.elements = reference.size() / sizeof(T);
  double largest = 0;
  for (std::size_t i = 0; i < result.elements; ++i) {
    const double a = std::fabs(value_at<T>(reference, i));
    if (std::isfinite(a)) largest = std::max(largest, a);
  }
  const double least = std::ldexp(largest, bits_of_zero<T>);
  for (std::size_t i = 0; i < result.elements; ++i) {
    if (std::memcmp(reference.data() + i * sizeof(T), output.data() + i * sizeof(T), sizeof(T)) == 0) continue;
    if (result.bit_equal) result.first = i;
    result.bit_equal = false;
    const double a = value_at<T>(reference, i), b = value_at<T>(output, i);
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;  // signs of zeros, payloads of NaNs
    const double difference = std::fabs(a - b) / std::max({std::fabs(a), std::fabs(b), least});
    result.difference =
        std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(result.difference, difference);
  }
  return result;
}

std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  std::vector<std::string_view> out;
  for (auto at = text.find_first_not_of(blanks); at != std::string_view::npos; at = text.find_first_not_of(blanks)) {
    text.remove_prefix(at);
    out.push_back(text.substr(0, text.find_first_of(blanks)));
    text.remove_prefix(out.back().size());
  }
  return out;
}

// Infinite where they are not both numbers.
double difference_of(std::string_view a, std::string_view b) {
  const auto number = [](std::string_view word) -> std::optional<double> {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return value;
  };
  const auto x = number(a), y = number(b);
  if (!x || !y) return std::numeric_limits<double>::infinity();
  if (*x == *y || (std::isnan(*x) && std::isnan(*y))) return 0;
  const double difference = std::fabs(*x - *y) / std::max(std::fabs(*x), std::fabs(*y));
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

Comparison compare_text(std::string_view reference, std::string_view output) {
  const auto a = words_of(reference), b = words_of(output);
  Comparison result;
  result.bit_equal = reference == output;
  result.elements = a.size();
  result.first = std::min(a.size(), b.size());
  for (std::size_t i = std::min(a.size(), b.size()); i-- > 0;) {
    if (a[i] == b[i]) continue;
    result.first = i;
    result.difference = std::max(result.difference, difference_of(a[i], b[i]));
  }
  if (result.bit_equal) result.first = 0;
  if (a.size() != b.size()) result.difference = std::numeric_limits<double>::infinity();
  return result;
}

}  // namespace

std::string_view to_string(Element element) { return rows[static_cast<std::size_t>(element)].text; }

std::optional<Element> parse_element(std::string_view text) {
  for (const Row& row : rows) {
    if (row.text == text) return row.element;
  }
  return std::nullopt;
}

std::size_t size_of(Element element) { return rows[static_cast<std::size_t>(element)].bytes; }

Result<Comparison> compare_outputs(std::string_view reference, std::string_view output, Element element) {
  if (element == Element::text) {
    if (reference.empty()) return fail("bench.outputs", "nothing was put out");
    return compare_text(reference, output);
  }
  if (reference.size() != output.size()) {
    return fail("bench.outputs", "the outputs have " + std::to_string(output.size()) + " bytes, the reference has " +
                                     std::to_string(reference.size()));
  }
  if (reference.empty() || reference.size() % size_of(element) != 0) {
    return fail("bench.outputs",
                std::to_string(reference.size()) + " bytes are no array of " + std::string(to_string(element)));
  }
  switch (element) {
    case Element::f64:
      return compare<double>(reference, output);
    case Element::f32:
      return compare<float>(reference, output);
    case Element::i64:
      return compare<std::int64_t>(reference, output);
    case Element::i32:
      return compare<std::int32_t>(reference, output);
    case Element::text:
      break;  // above
  }
  SOUS_ASSERT(false);
}

}  // namespace sous::benchmarks
