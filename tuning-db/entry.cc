#include "tuning-db/entry.h"

#include <climits>

#include "sdfg/check.h"
#include "sdfg/json.h"
#include "transforms/normal_form.h"
#include "tuning-db/build_isa.h"
#include "tuning-db/evidence.h"
#include "tuning-db/hash.h"
#include "tuning-db/json_reader.h"
#include "tuning-db/shape.h"
#include "tuning-db/size_class.h"

namespace sous::tuning_db {
namespace {

// Of text that we wrote ourselves.
Json parsed(const std::string& text) { return Json::parse(text, nullptr, false); }

Json content(const Entry& e) {
  Json json{{"schema", entry_schema},
            {"name", e.name},
            {"nest", parsed(sdfg::to_json(e.nest))},
            {"structural_hash", e.structural_hash},
            {"sizes", e.sizes},
            {"recipe", parsed(transforms::to_json(e.recipe))},
            {"hardware", parsed(to_json(e.hardware))},
            {"baseline_seconds", e.baseline_seconds},
            {"baseline_spread", e.baseline_spread},
            {"tuned_seconds", e.tuned_seconds},
            {"tuned_spread", e.tuned_spread},
            {"threads", e.threads},
            {"compiler", e.compiler},
            {"flags", e.flags},
            {"provenance", e.provenance},
            {"time", e.time}};
  // Without it the content, and so the id, is what it was before there were thresholds.
  if (!e.least_extents.empty()) json["least"] = least_json(e.least_extents, e.least_work);
  return json;
}

// "" or what is wrong with one field.
std::string fault(const Entry& e) {
  const auto text = [](const char* name, const std::string& value, std::size_t longest) -> std::string {
    if (value.size() > longest)
      return std::string("\"") + name + "\" is longer than " + std::to_string(longest) + " bytes";
    return is_one_line(value) ? "" : std::string("\"") + name + "\" holds a control character";
  };
  const auto number = [](const char* name, double value) -> std::string {
    return value >= 0 && value <= 1e9 ? "" : std::string("\"") + name + "\" is not a number from 0 to 1e9";
  };
  for (const std::string& why :
       {text("name", e.name, 256), text("compiler", e.compiler, 256), text("flags", e.flags, 4096),
        text("provenance", e.provenance, 4096), text("time", e.time, 64),
        text("structural_hash", e.structural_hash, 64), number("baseline_seconds", e.baseline_seconds),
        number("baseline_spread", e.baseline_spread), number("tuned_seconds", e.tuned_seconds),
        number("tuned_spread", e.tuned_spread)})
    if (!why.empty()) return why;
  return e.threads >= 1 && e.threads <= 1 << 16 ? "" : "\"threads\" is not a number from 1 to 65536";
}

}  // namespace

Result<void> check(const Entry& entry) {
  const std::string why = fault(entry);
  if (!why.empty()) return fail("entry.field", why);
  return {};
}

std::string entry_id(const Entry& entry) { return content_hash(dump(content(entry))); }

std::string to_json(const Entry& entry) {
  Json json = content(entry);
  json["id"] = content_hash(dump(json));
  return dump(json);
}

Result<Entry> entry_from_json(std::string_view text) {
  TRY(const Json json, parse_json(text, "entry"));
  TRY(auto in, ObjectReader::of(json, "entry", ""));
  TRY(const std::int64_t schema, in.integer("schema", 0, 1 << 20));
  if (schema != entry_schema)
    return fail("entry.schema", "entries of schema " + std::to_string(schema) + " are not known; this program reads " +
                                    std::to_string(entry_schema));
  Entry e;
  TRY(const std::string id, in.string("id", 64));
  TRY(e.name, in.string("name"));
  TRY(const Json* nest, in.object("nest"));
  TRY(e.nest, sdfg::from_json(dump(*nest)));
  TRY_VOID(sdfg::check_foreign(e.nest));
  TRY(e.structural_hash, in.string("structural_hash"));
  TRY(e.sizes, in.integers("sizes"));
  TRY(const Json* recipe, in.object("recipe"));
  TRY(e.recipe, transforms::recipe_from_json(dump(*recipe)));
  TRY(const Json* hardware, in.object("hardware"));
  TRY(e.hardware, hardware_from_json(dump(*hardware)));
  TRY(e.baseline_seconds, in.number("baseline_seconds"));
  TRY(e.baseline_spread, in.number("baseline_spread"));
  TRY(e.tuned_seconds, in.number("tuned_seconds"));
  TRY(e.tuned_spread, in.number("tuned_spread"));
  TRY(const std::int64_t threads, in.integer("threads", 0, INT_MAX));
  e.threads = static_cast<int>(threads);
  TRY_VOID(read_least(in, "entry", e.least_extents, e.least_work));
  TRY(e.compiler, in.string("compiler"));
  TRY(e.flags, in.string("flags"));
  TRY(e.provenance, in.string("provenance"));
  TRY(e.time, in.string("time"));
  TRY_VOID(in.done());
  TRY_VOID(check(e));
  if (transforms::structural_hash(e.nest) != e.structural_hash)
    return fail("entry.hash", "the structural hash is not that of the nest");
  if (entry_id(e) != id) return fail("entry.id", "the content does not hash to the id " + id);
  return e;
}

transforms::Evidence evidence(const Entry& e) {
  return {.size_class = to_string(size_class(e.nest, e.sizes)),
          .baseline_seconds = e.baseline_seconds,
          .tuned_seconds = e.tuned_seconds,
          .baseline_spread = e.baseline_spread,
          .tuned_spread = e.tuned_spread,
          .work = work(e.nest, e.sizes).value_or(0),
          .extents = extents(e.nest, e.sizes),
          .least_extents = e.least_extents,
          .least_work = e.least_work,
          .threads = e.threads,
          .hardware = class_as_built(hardware_class(e.hardware), e.flags),
          .compiler = e.flags.empty() ? e.compiler : e.compiler + " " + e.flags};
}

}  // namespace sous::tuning_db
