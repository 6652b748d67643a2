#include "server/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>

namespace sous::server {
namespace {

Bytef* bytes_of(std::string_view text) {
  return reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib does not write there
}

}  // namespace

std::expected<std::string, NotInflated> inflated(std::string_view bytes, std::size_t most, Container container) {
  constexpr int window = 15, any_container = 32;
  z_stream stream{};
  if (inflateInit2(&stream, container == Container::any ? window + any_container : -window) != Z_OK)
    return std::unexpected(NotInflated::no_memory);
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> owner(&stream, inflateEnd);
  std::string out;
  stream.next_in = bytes_of(bytes);
  stream.avail_in = static_cast<uInt>(bytes.size());
  while (true) {
    std::array<char, std::size_t{64} << 10> piece;
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int code = inflate(&stream, Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
    if (out.size() > most) return std::unexpected(NotInflated::too_long);
    if (code == Z_STREAM_END && stream.avail_in == 0) return out;
    if (code != Z_OK) return std::unexpected(NotInflated::broken);
  }
}

std::optional<std::string> gzipped(std::string_view text) {
  constexpr int gzip_window = 15 + 16, usual_memory = 8, fastest = 1;
  z_stream stream{};
  if (deflateInit2(&stream, fastest, Z_DEFLATED, gzip_window, usual_memory, Z_DEFAULT_STRATEGY) != Z_OK)
    return std::nullopt;
  const std::unique_ptr<z_stream, decltype(&deflateEnd)> owner(&stream, deflateEnd);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = bytes_of(text);
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) return std::nullopt;
  out.resize(stream.total_out);
  return out;
}

}  // namespace sous::server
