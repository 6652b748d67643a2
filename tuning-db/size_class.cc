#include "tuning-db/size_class.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "sdfg/planted_fault.h"
#include "tuning-db/nest_facts.h"

namespace sous::tuning_db {

SizeClass size_class(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  const NestFacts f = facts(nest, sizes);
  SizeClass result{.power = std::nullopt, .element_bytes = 1};
  for (const AccessFact& access : f.accesses)
    result.element_bytes = std::max(result.element_bytes, info(access.container->type).bytes);
  // 2^64 bytes are as good as more: sizes come from outside.
  if (f.sizes_known) result.power = static_cast<int>(std::log2(std::clamp(f.footprint(), 1.0, 0x1p64)) / 2);
  return result;
}

std::string to_string(const SizeClass& size) {
  return (size.power ? "4^" + std::to_string(*size.power) : "unknown") + ":" + std::to_string(size.element_bytes);
}

std::optional<SizeClass> parse_size_class(std::string_view text) {
  const auto number = [](std::string_view digits) -> std::optional<int> {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0) return std::nullopt;
    return value;
  };
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto width = number(text.substr(colon + 1));
  if (!width || *width < 1 || *width > 8) return std::nullopt;
  if (text.substr(0, colon) == "unknown") return SizeClass{std::nullopt, *width};
  if (!text.starts_with("4^")) return std::nullopt;
  const auto power = number(text.substr(2, colon - 2));
  if (!power || *power > 32) return std::nullopt;
  return SizeClass{*power, *width};
}

bool like_size(const SizeClass& measured, const SizeClass& asked) {
  if (planted(Fault::any_size_class)) return true;
  return measured.power && asked.power && measured.element_bytes == asked.element_bytes &&
         std::abs(*measured.power - *asked.power) <= 1;
}

bool like_size(std::string_view measured, std::string_view asked) {
  const auto a = parse_size_class(measured), b = parse_size_class(asked);
  return a && b && like_size(*a, *b);
}

bool speaks_for(const SizeClass& measured, bool has_thresholds, const SizeClass& asked) {
  const bool below =
      measured.power && asked.power && measured.element_bytes == asked.element_bytes && *asked.power <= *measured.power;
  return (has_thresholds && below) || like_size(measured, asked);
}

std::optional<double> footprint_bytes(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  const NestFacts f = facts(nest, sizes);
  return f.sizes_known ? std::optional(std::min(f.footprint(), 1e300)) : std::nullopt;
}

std::optional<double> work(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes) {
  const NestFacts f = facts_without_accesses(nest, sizes);
  return f.sizes_known ? std::optional(std::min(f.work(), 1e300)) : std::nullopt;
}

}  // namespace sous::tuning_db
