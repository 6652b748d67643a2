#include "tuning-db/evidence.h"

namespace sous::tuning_db {

Json evidence_json(const transforms::Evidence& e) {
  return Json{{"size_class", e.size_class},
              {"baseline_seconds", e.baseline_seconds},
              {"tuned_seconds", e.tuned_seconds},
              {"baseline_spread", e.baseline_spread},
              {"tuned_spread", e.tuned_spread},
              {"work", e.work},
              {"threads", e.threads},
              {"hardware", e.hardware},
              {"compiler", e.compiler}};
}

Result<transforms::Evidence> evidence_from_json(const Json& json, const std::string& area, const std::string& where) {
  TRY(auto in, ObjectReader::of(json, area, where));
  transforms::Evidence e;
  TRY(e.size_class, in.line("size_class", 64));
  TRY(e.baseline_seconds, in.number("baseline_seconds", 0, 1e9));
  TRY(e.tuned_seconds, in.number("tuned_seconds", 0, 1e9));
  TRY(e.baseline_spread, in.number("baseline_spread", 0, 1e9));
  TRY(e.tuned_spread, in.number("tuned_spread", 0, 1e9));
  TRY(e.work, in.number("work", 0, 1e300));
  TRY(const std::int64_t threads, in.integer("threads", 1, 1 << 16));
  e.threads = static_cast<int>(threads);
  TRY(e.hardware, in.line("hardware", 256));
  TRY(e.compiler, in.line("compiler", 8192));
  TRY_VOID(in.done());
  return e;
}

}  // namespace sous::tuning_db
