// .sdfg text: what parses is printed and parsed to the same graph, and so is its JSON form.
#include "sdfg/check.h"
#include "sdfg/dot.h"
#include "sdfg/json.h"
#include "sdfg/text.h"
#include "tests/fuzz/fuzz.h"

using namespace sous;

SOUS_FUZZ_TARGET(input) {
  const auto graph = sdfg::parse(input);
  if (!graph) return;
  const std::string printed = sdfg::print(*graph);
  const auto again = sdfg::parse(printed);
  SOUS_ASSERT(again && sdfg::print(*again) == printed);
  if (!sdfg::check(*graph)) return;
  SOUS_ASSERT(*again == *graph);
  const auto read = sdfg::from_json(sdfg::to_json(*graph));
  SOUS_ASSERT(read && *read == *graph);
  SOUS_ASSERT(!sdfg::to_dot(*graph).empty() && !sdfg::to_svg({*graph}).empty());
}
