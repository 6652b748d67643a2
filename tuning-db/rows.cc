#include "tuning-db/rows.h"

#include <algorithm>
#include <climits>
#include <string_view>
#include <utility>

#include "sdfg/check.h"
#include "sdfg/json.h"
#include "tuning-db/build_isa.h"
#include "tuning-db/evidence.h"
#include "tuning-db/json_reader.h"

namespace sous::tuning_db {

namespace {

constexpr const char* from = "FROM entries e JOIN nests n ON n.id = e.nest JOIN hardware h ON h.id = e.hardware ";

}  // namespace

bool has_schema(Connection& db, std::int64_t least) { return db.schema_version().value_or(0) >= least; }

bool Summary::is_for(std::string_view name) const {
  if (!only_for) return true;
  if (name.empty()) return false;
  for (std::string_view rest = *only_for; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    if (rest.substr(0, comma) == name) return true;
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return false;
}

std::string summary_rows(Connection& db, const std::string& rest) {
  const bool has_senders = has_schema(db, 5);
  const char* least = has_schema(db, 3) ? "CASE e.least WHEN '' THEN 0 ELSE 1 END, " : "0, ";
  return std::string(
             "SELECT e.id, e.name, n.structural_hash, e.size_class, e.recipe, e.target, h.class, e.compiler, e.time, "
             "e.baseline_seconds, e.tuned_seconds, e.threads, e.flags, ") +
         least + (has_schema(db, 8) ? "n.sizeless, " : "'', ") +
         (has_senders ? "e.sent, CASE e.sent WHEN 1 THEN (SELECT " + db.joined("s.name") +
                            " FROM (SELECT name FROM senders WHERE entry = e.id ORDER BY name) AS s) ELSE '' END "
                      : "0, '' ") +
         from + rest;
}

std::string summaries_with_sizeless(Connection& db) {
  return summary_rows(db, has_schema(db, 8) ? "WHERE n.sizeless = ? ORDER BY e.id" : "WHERE ? = '' AND false");
}

std::string for_everyone(Connection& db) { return has_schema(db, 5) ? "e.sent <> 1 " : "true "; }

Result<std::vector<Summary>> read_summaries(Statement& rows) {
  std::vector<Summary> result;
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return result;
    result.push_back({.id = rows.text(0),
                      .name = rows.text(1),
                      .structural_hash = rows.text(2),
                      .size_class = rows.text(3),
                      .recipe_json = rows.text(4),
                      .target = rows.text(5),
                      .hardware_class = class_as_built(rows.text(6), rows.text(12)),
                      .compiler = rows.text(7),
                      .flags = rows.text(12),
                      .time = rows.text(8),
                      .baseline_seconds = rows.real(9),
                      .tuned_seconds = rows.real(10),
                      .threads = static_cast<int>(std::clamp<std::int64_t>(rows.integer(11), 0, INT_MAX)),
                      .sizeless = rows.text(14),
                      .has_thresholds = rows.integer(13) == 1,
                      .only_for = rows.integer(15) == 1 ? std::optional(rows.text(16)) : std::nullopt});
  }
}

std::string entry_rows(Connection& db, const std::string& rest) {
  return std::string(
             "SELECT e.id, e.name, n.json, n.structural_hash, e.sizes, e.recipe, h.json, e.baseline_seconds, ") +
         "e.baseline_spread, e.tuned_seconds, e.tuned_spread, e.threads, e.compiler, e.flags, e.provenance, e.time, " +
         (has_schema(db, 3) ? "e.least " : "'' ") + from + rest;
}

// A stored row can be anything that a person with an SQLite shell made of it: read as input.
Result<Entry> read_entry(const Statement& row) {
  const auto broken = [&](const Error& error) {
    return std::unexpected(as_one_line(Error{"db.entry", error.to_string(), "entry " + row.text(0)}));
  };
  Entry e;
  e.name = row.text(1);
  auto nest = sdfg::from_json(row.text(2));
  if (!nest) return broken(nest.error());
  if (auto checked = sdfg::check_foreign(*nest); !checked) return broken(checked.error());
  e.nest = std::move(*nest);
  e.structural_hash = row.text(3);
  const auto sizes = parse_json("{\"sizes\":" + row.text(4) + "}", "entry");
  if (!sizes) return broken(sizes.error());
  auto reader = ObjectReader::of(*sizes, "entry", "");
  if (!reader) return broken(reader.error());
  auto values = reader->integers("sizes");
  if (!values) return broken(values.error());
  if (auto done = reader->done(); !done) return broken(done.error());
  e.sizes = std::move(*values);
  auto recipe = transforms::recipe_from_json(row.text(5));
  if (!recipe) return broken(recipe.error());
  e.recipe = std::move(*recipe);
  auto hardware = hardware_from_json(row.text(6));
  if (!hardware) return broken(hardware.error());
  e.hardware = std::move(*hardware);
  e.baseline_seconds = row.real(7);
  e.baseline_spread = row.real(8);
  e.tuned_seconds = row.real(9);
  e.tuned_spread = row.real(10);
  e.threads = static_cast<int>(std::clamp<std::int64_t>(row.integer(11), 0, INT_MAX));
  e.compiler = row.text(12);
  e.flags = row.text(13);
  e.provenance = row.text(14);
  e.time = row.text(15);
  if (const std::string least = row.text(16); !least.empty()) {
    const auto json = parse_json("{\"least\":" + least + "}", "entry");
    if (!json) return broken(json.error());
    auto field = ObjectReader::of(*json, "entry", "");
    if (!field) return broken(field.error());
    if (auto read = read_least(*field, "entry", e.least_extents, e.least_work); !read) return broken(read.error());
  }
  if (auto checked = check(e); !checked) return broken(checked.error());
  return e;
}

}  // namespace sous::tuning_db
