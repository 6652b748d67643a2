// Tokens of the .sdfg text language, and errors that show the place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/result.h"

namespace sous::sdfg {

enum class TokenKind : unsigned char { End, Name, Quoted, Number, Punctuation };

// `text` points into the source: of a Number with its suffix ("1.5f32"), of a Quoted one with quotes and escapes.
struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  std::size_t offset = 0;
};

// The file under the parser: makes errors out of offsets.
struct Source {
  std::string_view text;
  std::string_view file;
  // Error at `offset`: where is "file:line:column"; why ends with the source line and a caret.
  std::unexpected<Error> error(std::string_view code, const std::string& why, std::size_t offset) const;
};

// The last token is End. Errors: sdfg.text.character.
Result<std::vector<Token>> tokenize(const Source& source);

// The name that a Name or Quoted token stands for.
std::string name_of(const Token& token);
// How a name is written: bare where it is an identifier, otherwise quoted.
std::string quote_name(std::string_view name);
// [A-Za-z_][A-Za-z0-9_]*
bool is_identifier(std::string_view name);

}  // namespace sous::sdfg
