// A lock file: what is read is written and read to the same text, and answers queries.
#include "client/lock_source.h"
#include "sdfg/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/nests.h"

using namespace sous;

SOUS_FUZZ_TARGET(input) {
  auto lock = client::LockSource::from_text(input);
  if (!lock) return;
  const std::string written = lock->text();
  const auto again = client::LockSource::from_text(written);
  SOUS_ASSERT(again && again->text() == written);
  const auto nest = sdfg::parse(fuzz::product);
  SOUS_ASSERT(lock->query({{*nest, "0123456789abcdef0123456789abcdef", {}}}, 3));
}
