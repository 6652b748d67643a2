#include "sdfg/lexer.h"

#include <algorithm>
#include <array>

namespace sous::sdfg {
namespace {

// Own classification: the C library's depends on the locale and is undefined for negative char.
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_letter(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

constexpr std::array<std::string_view, 15> long_punctuation = {
    "..", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "*=", "&=", "|=", "^="};
constexpr std::string_view short_punctuation = "+-*/%&|^~!<>=()[]{},:.";

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Length of the word that starts with a digit at the front of `text`.
std::size_t number_length(std::string_view text) {
  auto digit_at = [&](std::size_t k) { return k < text.size() && is_digit(text[k]); };
  std::size_t n = 0;
  const bool hex = text.starts_with("0x");
  while (digit_at(n)) ++n;
  if (!hex && n < text.size() && text[n] == '.' && digit_at(n + 1)) {
    ++n;
    while (digit_at(n)) ++n;
  }
  if (!hex && n < text.size() && (text[n] == 'e' || text[n] == 'E')) {
    const bool sign = n + 1 < text.size() && (text[n + 1] == '+' || text[n + 1] == '-');
    if (digit_at(n + (sign ? 2 : 1))) n += sign ? 2 : 1;
  }
  while (n < text.size() && is_word(text[n])) ++n;
  return n;
}

// Length of the quoted name at the front of `text`; 0 if it does not end on its line or has a bad escape.
std::size_t quoted_length(std::string_view text) {
  for (std::size_t n = 1; n < text.size() && text[n] != '\n'; ++n) {
    if (text[n] == '"') return n + 1;
    if (text[n] != '\\') continue;
    const bool hex =
        n + 3 < text.size() && text[n + 1] == 'x' && hex_digit(text[n + 2]) >= 0 && hex_digit(text[n + 3]) >= 0;
    if (!hex) return 0;
    n += 3;
  }
  return 0;
}

}  // namespace

std::unexpected<Error> Source::error(std::string_view code, const std::string& why, std::size_t offset) const {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  const std::size_t column = offset - start;
  // Of a very long line only the part around the place is shown.
  constexpr std::size_t reach = 100;
  const std::size_t from = column > reach ? column - reach : 0;
  std::string shown(text.substr(start, text.find('\n', start) - start).substr(from, 2 * reach));
  for (char& c : shown)
    if (c < ' ' || c > '~') c = c == '\t' ? ' ' : '?';
  while (shown.ends_with(' ')) shown.pop_back();
  return fail(std::string(code), why + "\n  " + shown + "\n  " + std::string(column - from, ' ') + "^",
              std::string(file) + ":" + std::to_string(line) + ":" + std::to_string(column + 1));
}

Result<std::vector<Token>> tokenize(const Source& source) {
  std::vector<Token> tokens;
  const std::string_view text = source.text;
  std::size_t at = 0;
  auto take = [&](TokenKind kind, std::size_t length) {
    tokens.push_back({kind, text.substr(at, length), at});
    at += length;
  };
  while (at < text.size()) {
    const std::string_view rest = text.substr(at);
    const char c = rest[0];
    if (is_space(c)) {
      ++at;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (is_letter(c)) {
      take(TokenKind::Name, std::find_if_not(rest.begin(), rest.end(), is_word) - rest.begin());
    } else if (is_digit(c)) {
      take(TokenKind::Number, number_length(rest));
    } else if (c == '"') {
      const std::size_t length = quoted_length(rest);
      if (length == 0)
        return source.error("sdfg.text.character", "quoted name without an end, or with an escape other than \\xNN",
                            at);
      take(TokenKind::Quoted, length);
    } else if (std::ranges::any_of(long_punctuation, [&](auto p) { return rest.starts_with(p); })) {
      take(TokenKind::Punctuation, 2);
    } else if (short_punctuation.find(c) != short_punctuation.npos) {
      take(TokenKind::Punctuation, 1);
    } else {
      return source.error("sdfg.text.character", "a character that has no meaning here", at);
    }
  }
  tokens.push_back({TokenKind::End, text.substr(text.size()), text.size()});
  return tokens;
}

std::string name_of(const Token& token) {
  if (token.kind != TokenKind::Quoted) return std::string(token.text);
  std::string name;
  const std::string_view body = token.text.substr(1, token.text.size() - 2);
  for (std::size_t k = 0; k < body.size(); ++k) {
    if (body[k] != '\\') {
      name += body[k];
      continue;
    }
    name += static_cast<char>(hex_digit(body[k + 2]) * 16 + hex_digit(body[k + 3]));
    k += 3;
  }
  return name;
}

std::string quote_name(std::string_view name) {
  if (is_identifier(name)) return std::string(name);
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "\"";
  for (const char c : name) {
    if (c >= ' ' && c <= '~' && c != '"' && c != '\\') {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += "\\x";
      text += digits[byte / 16];
      text += digits[byte % 16];
    }
  }
  return text + '"';
}

bool is_identifier(std::string_view name) {
  return !name.empty() && is_letter(name[0]) && std::ranges::all_of(name, is_word);
}

}  // namespace sous::sdfg
