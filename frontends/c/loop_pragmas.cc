#include "frontends/c/loop_pragmas.h"

#include <algorithm>
#include <array>

namespace sous::frontends::c {
namespace {

using std::string_view;

constexpr string_view blanks = " \t\r\f\v";

// The first word of the text, which is cut off.
string_view word(string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const string_view found = text.substr(0, text.find_first_of(blanks));
  text.remove_prefix(found.size());
  return found;
}

bool is_loop_pragma(string_view line) {
  static constexpr std::array<string_view, 3> names{"ivdep", "unroll", "novector"};
  string_view first = word(line);
  if (first == "#") first = word(line);
  if (first != "#pragma" && first != "pragma") return false;
  return word(line) == "GCC" && std::ranges::find(names, word(line)) != names.end();
}

// Nothing, or where the preprocessor says that the text is from.
bool is_passed_over(string_view line) {
  string_view rest = line;
  const string_view first = word(rest), second = word(rest);
  return first.empty() || (first == "#" && !second.empty() && second[0] >= '0' && second[0] <= '9');
}

}  // namespace

std::size_t with_loop_pragmas(string_view text, std::size_t begin) {
  const string_view ahead = text.substr(0, begin);
  const auto last = ahead.find_last_not_of(blanks);
  if (last == string_view::npos || ahead[last] != '\n') return begin;
  std::size_t result = begin, end = last;  // of the line that is looked at
  while (end > 0) {
    const auto newline = ahead.rfind('\n', end - 1);
    if (newline == string_view::npos) break;
    const string_view line = ahead.substr(newline + 1, end - newline - 1);
    if (is_loop_pragma(line)) {
      result = newline;
    } else if (!is_passed_over(line)) {
      break;
    }
    end = newline;
  }
  return result;
}

}  // namespace sous::frontends::c
