// SDFG JSON: what can be read and is valid is written and read to the same graph, and so is its text.
#include "sdfg/check.h"
#include "sdfg/dot.h"
#include "sdfg/json.h"
#include "sdfg/text.h"
#include "tests/fuzz/fuzz.h"

using namespace sous;

SOUS_FUZZ_TARGET(input) {
  const auto graph = sdfg::from_json(input);
  if (!graph) return;
  const bool valid = sdfg::check(*graph).has_value();
  const auto again = sdfg::from_json(sdfg::to_json(*graph));
  SOUS_ASSERT(again || !valid);
  const auto parsed = sdfg::parse(sdfg::print(*graph));
  SOUS_ASSERT(parsed || !valid);
  if (!valid) return;
  SOUS_ASSERT(*again == *graph && *parsed == *graph);
  SOUS_ASSERT(!sdfg::to_dot(*graph).empty() && !sdfg::to_svg({*graph}).empty());
}
