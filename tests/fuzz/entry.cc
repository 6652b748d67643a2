// A line of an import: an entry that is accepted is written and read to the same one, and can be embedded, ranked and
// shown. A machine's description is read by the same rules.
#include "tuning-db/entry.h"

#include "tests/fuzz/fuzz.h"
#include "tuning-db/belief.h"
#include "tuning-db/features.h"
#include "tuning-db/size_class.h"

using namespace sous;

SOUS_FUZZ_TARGET(input) {
  if (const auto machine = tuning_db::hardware_from_json(input)) {
    const auto again = tuning_db::hardware_from_json(tuning_db::to_json(*machine));
    SOUS_ASSERT(again && *again == *machine);
    tuning_db::believe(2, 4, tuning_db::hardware_class(*machine), tuning_db::hardware_class(*machine));
  }
  // The class of a machine and of a size stand in evidence as text.
  tuning_db::believe(2, 4, input, input);
  tuning_db::like_size(input, input);
  const auto entry = tuning_db::entry_from_json(input);
  if (!entry) return;
  const auto again = tuning_db::entry_from_json(tuning_db::to_json(*entry));
  SOUS_ASSERT(again && *again == *entry);
  for (const float value : tuning_db::static_embedding()->embed(entry->nest, entry->sizes).value())
    SOUS_ASSERT(value == value);
  SOUS_ASSERT(!tuning_db::evidence(*entry).size_class.empty());
}
