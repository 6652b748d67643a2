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

bool is_among(std::string_view name, std::string_view names) {
  if (name.empty()) return false;
  while (!names.empty()) {
    const std::size_t comma = std::min(names.find(','), names.size());
    if (names.substr(0, comma) == name) return true;
    names.remove_prefix(std::min(comma + 1, names.size()));
  }
  return false;
}

std::string summary_rows(Connection& db, const std::string& rest) {
  const bool has_senders = has_schema(db, 5);
  const char* least = has_schema(db, 3) ? "e.least, " : "'', ";
  return std::string(
             "SELECT e.id, e.name, n.structural_hash, e.size_class, e.recipe, e.target, h.class, e.compiler, e.time, "
             "e.baseline_seconds, e.tuned_seconds, e.threads, e.flags, ") +
         least + (has_schema(db, 8) ? "n.sizeless, " : "'', ") +
         (has_senders ? "e.sent, CASE e.sent WHEN 1 THEN (SELECT " + db.joined("s.name") +
                            " FROM (SELECT name FROM senders WHERE entry = e.id ORDER BY name) AS s) ELSE '' END"
                      : "0, ''") +
         ", n.id, e.sizes, e.baseline_spread, e.tuned_spread " + from + rest;
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
    std::string least = rows.text(13);
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
                      .has_thresholds = !least.empty(),
                      .only_for = rows.integer(15) == 1 ? std::optional(rows.text(16)) : std::nullopt,
                      .nest = rows.text(17),
                      .sizes = rows.text(18),
                      .least = std::move(least),
                      .baseline_spread = rows.real(19),
                      .tuned_spread = rows.real(20)});
  }
}

Result<std::vector<std::string>> read_texts(Statement& rows) {
  std::vector<std::string> result;
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return result;
    result.push_back(rows.text(0));
  }
}

std::string entry_rows(Connection& db, const std::string& rest) {
  return std::string(
             "SELECT e.id, e.name, n.json, n.structural_hash, e.sizes, e.recipe, h.json, e.baseline_seconds, ") +
         "e.baseline_spread, e.tuned_seconds, e.tuned_spread, e.threads, e.compiler, e.flags, e.provenance, e.time, " +
         (has_schema(db, 3) ? "e.least " : "'' ") + from + rest;
}

namespace {

// Fields that are JSON; `least` may be empty.
Result<void> read_fields(Entry& e, const std::string& sizes, const std::string& recipe, const std::string& least) {
  TRY(const Json json, parse_json("{\"sizes\":" + sizes + "}", "entry"));
  TRY(auto reader, ObjectReader::of(json, "entry", ""));
  TRY(e.sizes, reader.integers("sizes"));
  TRY_VOID(reader.done());
  TRY(e.recipe, transforms::recipe_from_json(recipe));
  if (least.empty()) return {};
  TRY(const Json thresholds, parse_json("{\"least\":" + least + "}", "entry"));
  TRY(auto field, ObjectReader::of(thresholds, "entry", ""));
  return read_least(field, "entry", e.least_extents, e.least_work);
}

std::unexpected<Error> broken(const Error& error, const std::string& id) {
  return std::unexpected(as_one_line(Error{"db.entry", error.to_string(), "entry " + id}));
}

}  // namespace

// A stored row can be anything that a person with an SQLite shell made of it: read as input.
Result<Entry> read_entry(const Statement& row) {
  Entry e;
  const auto read = [&]() -> Result<void> {
    e.name = row.text(1);
    TRY(e.nest, sdfg::from_json(row.text(2)));
    TRY_VOID(sdfg::check_foreign(e.nest));
    e.structural_hash = row.text(3);
    TRY(e.hardware, hardware_from_json(row.text(6)));
    e.baseline_seconds = row.real(7);
    e.baseline_spread = row.real(8);
    e.tuned_seconds = row.real(9);
    e.tuned_spread = row.real(10);
    e.threads = static_cast<int>(std::clamp<std::int64_t>(row.integer(11), 0, INT_MAX));
    e.compiler = row.text(12);
    e.flags = row.text(13);
    e.provenance = row.text(14);
    e.time = row.text(15);
    TRY_VOID(read_fields(e, row.text(4), row.text(5), row.text(16)));
    return check(e);
  }();
  if (!read) return broken(read.error(), row.text(0));
  return e;
}

Result<Entry> entry_of(const Summary& summary, sdfg::Sdfg nest) {
  Entry e{.name = summary.name,
          .nest = std::move(nest),
          .structural_hash = summary.structural_hash,
          .sizes = {},
          .recipe = {},
          .hardware = parse_hardware_class(summary.hardware_class).value_or(Hardware{}),
          .baseline_seconds = summary.baseline_seconds,
          .baseline_spread = summary.baseline_spread,
          .tuned_seconds = summary.tuned_seconds,
          .tuned_spread = summary.tuned_spread,
          .threads = summary.threads,
          .least_extents = {},
          .compiler = summary.compiler,
          .flags = summary.flags,
          .provenance = {},
          .time = summary.time};
  if (auto read = read_fields(e, summary.sizes, summary.recipe_json, summary.least); !read)
    return broken(read.error(), summary.id);
  if (auto checked = check(e); !checked) return broken(checked.error(), summary.id);
  return e;
}

}  // namespace sous::tuning_db
