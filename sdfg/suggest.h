// "did you mean": the nearest known word, for every message about an unknown name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sous {

// The word of `known` nearest to `word` by edit distance (Levenshtein 1966); "" if none is near.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);
// ", did you mean …?" or "".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

}  // namespace sous
