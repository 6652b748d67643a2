// Bodies between client and server in gzip.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace sous::server {

// Smaller ones stay as they are: a packet holds more.
inline constexpr std::size_t worth_compressing = 600;

enum class NotInflated { too_long, broken, no_memory };
enum class Container { any, none };  // gzip's or zlib's, as the bytes begin; neither

// `most`: bytes that come out, and not one more is made: 809 bytes can stand for gigabytes.
std::expected<std::string, NotInflated> inflated(std::string_view bytes, std::size_t most,
                                                 Container container = Container::any);
// Quickly rather than well. Nullopt: out of memory.
std::optional<std::string> gzipped(std::string_view text);

}  // namespace sous::server
