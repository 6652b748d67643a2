#include "tuning-db/evidence.h"

#include "tuning-db/database.h"

namespace sous::tuning_db {

Json least_json(const std::vector<double>& extents, double work) { return Json{{"extents", extents}, {"work", work}}; }

Result<void> read_least(ObjectReader& in, const std::string& area, std::vector<double>& extents, double& work) {
  if (!in.has("least")) return {};
  TRY(const Json* json, in.object("least"));
  TRY(auto least, ObjectReader::of(*json, area, "least"));
  TRY(extents, least.numbers("extents", most_loops, 0, 1e300));
  TRY(work, least.number("work", 0, 1e300));
  return least.done();
}

Json evidence_json(const transforms::Evidence& e) {
  Json json{{"size_class", e.size_class},
            {"baseline_seconds", e.baseline_seconds},
            {"tuned_seconds", e.tuned_seconds},
            {"baseline_spread", e.baseline_spread},
            {"tuned_spread", e.tuned_spread},
            {"work", e.work},
            {"threads", e.threads},
            {"hardware", e.hardware},
            {"compiler", e.compiler}};
  if (!e.extents.empty()) json["extents"] = e.extents;
  if (!e.least_extents.empty()) json["least"] = least_json(e.least_extents, e.least_work);
  return json;
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
  if (in.has("extents")) {
    TRY(e.extents, in.numbers("extents", most_loops, 0, 1e300));
  }
  TRY_VOID(read_least(in, area, e.least_extents, e.least_work));
  TRY_VOID(in.done());
  return e;
}

transforms::Match match_of(const Entry& entry, double distance, transforms::Origin origin) {
  return {.recipe = entry.recipe,
          .distance = distance,
          .evidence = evidence(entry),
          .id = entry_id(entry),
          .name = entry.name,
          .origin = origin,
          .nest = entry.nest};
}

}  // namespace sous::tuning_db
