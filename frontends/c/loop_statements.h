// Statements as a tree of loops, for loop_bound.h.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "frontends/c/loop_tokens.h"

namespace sous::frontends::c {

using LoopNames = std::unordered_set<std::string_view>;

// A loop, or all of a function's or a macro's body.
struct LoopPart {
  bool is_loop = false;
  std::string_view head;                 // a macro that is the loop, or several
  bool calls_unknown = false;            // by a pointer, or assembly
  std::vector<std::string_view> names;   // words: those of macros count
  std::vector<std::string_view> called;  // words with an argument list behind them
  std::vector<std::unique_ptr<LoopPart>> loops;
};

// The tokens [begin, end), statements. `loop_macros`: names that may be the head of a loop. Nullopt: nested too deeply
// to be a person's. `any_loop` becomes true where there is one.
std::optional<LoopPart> read_statements(const LoopTokens& tokens, std::size_t begin, std::size_t end,
                                        const LoopNames& loop_macros, bool& any_loop);
// Words before a bracket that call nothing which is not known.
bool is_no_call(std::string_view word);

}  // namespace sous::frontends::c
