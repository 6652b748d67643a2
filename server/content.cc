#include "server/content.h"

#include <brotli/decode.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <memory>
#include <utility>

namespace sous::server {
namespace {

constexpr std::size_t step = std::size_t{64} << 10;

std::unexpected<Error> too_long(std::size_t most) {
  return fail("request.budget", "the body has more than " + std::to_string(most) + " bytes when decompressed");
}
std::unexpected<Error> broken(std::string_view encoding) {
  return fail("request.http", "the body is not what its Content-Encoding says (" + std::string(encoding) + ")");
}

Result<std::string> brotli(const std::string& body, std::size_t most) {
  const std::unique_ptr<BrotliDecoderState, decltype(&BrotliDecoderDestroyInstance)> decoder(
      BrotliDecoderCreateInstance(nullptr, nullptr, nullptr), BrotliDecoderDestroyInstance);
  if (!decoder) return fail("server.internal", "out of memory");
  std::string out;
  const auto* next = reinterpret_cast<const std::uint8_t*>(body.data());
  std::size_t left = body.size();
  while (true) {
    std::array<std::uint8_t, step> piece;
    std::uint8_t* to = piece.data();
    std::size_t room = piece.size();
    const auto result = BrotliDecoderDecompressStream(decoder.get(), &left, &next, &room, &to, nullptr);
    out.append(reinterpret_cast<const char*>(piece.data()), piece.size() - room);
    if (out.size() > most) return too_long(most);
    if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) continue;
    if (result != BROTLI_DECODER_RESULT_SUCCESS || left != 0) return broken("br");
    return out;
  }
}

// zlib's own container or gzip's, as the body begins; deflate without one is what some clients send.
Result<std::string> inflated(const std::string& body, std::string_view encoding, std::size_t most, int bits) {
  z_stream stream{};
  if (inflateInit2(&stream, bits) != Z_OK) return fail("server.internal", "out of memory");
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> owner(&stream, inflateEnd);
  std::string out;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));  // zlib does not write there
  stream.avail_in = static_cast<uInt>(body.size());
  while (true) {
    std::array<char, step> piece;
    stream.next_out = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_out = static_cast<uInt>(piece.size());
    const int code = inflate(&stream, Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - stream.avail_out);
    if (out.size() > most) return too_long(most);
    if (code == Z_STREAM_END && stream.avail_in == 0) return out;
    if (code != Z_OK) return broken(encoding);
  }
}

Result<std::string> without_percents(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    unsigned value = 0;
    const std::string_view digits = text.substr(i + 1, 2);
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 2 || error != std::errc() || stop != digits.data() + 2)
      return fail("request.http", "a percent sign in the path is followed by no two hexadecimal digits");
    result += static_cast<char>(value);
    i += 2;
  }
  return result;
}

}  // namespace

Result<std::string> decoded(std::string body, std::string_view encoding, std::size_t most_bytes) {
  std::string name(encoding);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name.empty() || name == "identity") return body;
  constexpr int any_container = 15 + 32, none = -15;
  if (name == "gzip" || name == "x-gzip") return inflated(body, name, most_bytes, any_container);
  if (name == "deflate") {
    auto with_container = inflated(body, name, most_bytes, any_container);
    if (with_container || with_container.error().code != "request.http") return with_container;
    return inflated(body, name, most_bytes, none);
  }
  if (name == "br") return brotli(body, most_bytes);
  return fail("request.encoding", "bodies may come as they are or in gzip, deflate or br");
}

Result<std::string> path_of(std::string_view target) {
  if (target.starts_with("http://")) {
    const std::size_t slash = target.find('/', 7);
    target = slash == std::string_view::npos ? "/" : target.substr(slash);
  }
  return without_percents(target.substr(0, target.find_first_of("?#")));
}

std::string_view query_of(std::string_view target) {
  target = target.substr(0, target.find('#'));
  const std::size_t mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

Result<std::map<std::string, std::string, std::less<>>> parameters_of(std::string_view query) {
  std::map<std::string, std::string, std::less<>> result;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    std::string one(query.substr(0, end));
    std::ranges::replace(one, '+', ' ');
    const std::size_t equal = std::min(one.find('='), one.size());
    TRY(std::string name, without_percents(std::string_view(one).substr(0, equal)));
    TRY(std::string value, without_percents(std::string_view(one).substr(std::min(equal + 1, one.size()))));
    if (!name.empty()) result[std::move(name)] = std::move(value);
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return result;
}

}  // namespace sous::server
