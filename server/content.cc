#include "server/content.h"

#include <brotli/decode.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <memory>
#include <utility>

#include "server/gzip.h"

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

Result<std::string> by_zlib(const std::string& body, std::string_view encoding, std::size_t most, Container container) {
  auto out = inflated(body, most, container);
  if (out) return std::move(*out);
  if (out.error() == NotInflated::too_long) return too_long(most);
  return out.error() == NotInflated::broken ? broken(encoding) : fail("server.internal", "out of memory");
}

// Whether what a list says of an encoding is more than "q=0".
bool is_wanted(std::string_view parameters) {
  const std::size_t q = parameters.find("q=");
  return q == std::string_view::npos || parameters.substr(q + 2).find_first_of("123456789") != std::string_view::npos;
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
  if (name == "gzip" || name == "x-gzip") return by_zlib(body, name, most_bytes, Container::any);
  if (name == "deflate") {  // some clients send it without zlib's container
    auto with_container = by_zlib(body, name, most_bytes, Container::any);
    if (with_container || with_container.error().code != "request.http") return with_container;
    return by_zlib(body, name, most_bytes, Container::none);
  }
  if (name == "br") return brotli(body, most_bytes);
  return fail("request.encoding", "bodies may come as they are or in gzip, deflate or br");
}

bool accepts_gzip(std::string_view accepted) {
  std::string list(accepted);
  std::ranges::transform(list, list.begin(), [](unsigned char c) { return std::tolower(c); });
  bool gzip = false, any = false, gzip_named = false;
  for (std::string_view rest = list; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    std::string_view name = one.substr(0, one.find(';'));
    while (name.starts_with(' ')) name.remove_prefix(1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    const bool wanted = is_wanted(one.substr(std::min(one.find(';'), one.size())));
    if (name == "*") any = wanted;
    if (name == "gzip" || name == "x-gzip") gzip_named = true, gzip = gzip || wanted;
  }
  return gzip_named ? gzip : any;
}

Result<std::string> path_of(std::string_view target) {
  if (target.starts_with("http://") || target.starts_with("https://")) {
    const std::size_t slash = target.find('/', 8);
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
