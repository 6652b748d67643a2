// Nests and what recipes make of them, held against the interpreter: what the tests of single steps share.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::tests {

using Sizes = std::map<std::string, std::int64_t>;

// The graph behind the steps, or why one is refused.
Result<sdfg::Sdfg> applied(const sdfg::Sdfg& before, const std::string& steps, const std::string& target = "highway");
// The code of the refusal; where the steps apply, what they make.
std::string refusal(const sdfg::Sdfg& before, const std::string& steps);
// What is left of the graph's text behind the declarations.
std::string nodes(const sdfg::Sdfg& sdfg);

struct Rewritten {
  sdfg::Sdfg before;
  std::string steps;
  sdfg::Sdfg after;
};

// Expects that the steps apply.
Rewritten rewritten(const sdfg::Sdfg& before, const std::string& steps, const std::string& target = "highway");

// Sizes with which the nest itself is an error (a subscript out of its array): there are none, or they are left out and
// more than ten others must remain.
enum class Undefined : std::uint8_t { Never, LeftOut };

// Expects that the result is valid and, interpreted, leaves the same bits in random memory of these sizes.
void expect_same_interpreted(const Rewritten& nest, const std::vector<Sizes>& sizes,
                             Undefined undefined = Undefined::Never);
// The same of the code that the target makes of the results, between guard pages. Returns the functions' texts.
std::vector<std::string> expect_same_compiled(const std::vector<Rewritten>& nests, const std::vector<Sizes>& sizes,
                                              const std::string& target, Undefined undefined = Undefined::Never);

}  // namespace sous::tests
