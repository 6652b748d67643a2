#include "tuning-db/wanted.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sdfg/json.h"
#include "transforms/normal_form.h"
#include "tuning-db/connection.h"
#include "tuning-db/hash.h"
#include "tuning-db/json_reader.h"
#include "tuning-db/nest_facts.h"
#include "tuning-db/proof.h"
#include "tuning-db/rows.h"
#include "tuning-db/size_class.h"
#include "tuning-db/utc.h"

namespace sous::tuning_db {
namespace {

constexpr std::size_t longest_nest = std::size_t{64} << 10;
constexpr int most_looked_at = 4096;

// Whether an entry that `asker` sees says what becomes of it: measured on its class of machine, at its size.
Result<bool> is_known(Connection& db, const std::string& structural_hash, const std::string& hardware_class,
                      const std::string& size_class_text, std::string_view asker) {
  Statement rows(db, summary_rows(db, "WHERE n.structural_hash = ? AND e.size_class = ?"));
  TRY(const auto entries, read_summaries(rows.bind(structural_hash).bind(size_class_text)));
  return std::ranges::any_of(entries,
                             [&](const Summary& e) { return e.hardware_class == hardware_class && e.is_for(asker); });
}

// Sizes may be anything.
double work_of(const WantedNest& wanted) {
  const double work = facts(wanted.nest, wanted.sizes).work();
  return std::isfinite(work) ? std::max(0.0, work) : 0;
}

}  // namespace

Result<void> check(const WantedNest& wanted) {
  if (!is_small(wanted.nest)) return fail("wanted.nest", "the nest is larger than a server takes");
  if (sdfg::to_json(wanted.nest).size() > longest_nest)
    return fail("wanted.nest", "the nest takes more than " + std::to_string(longest_nest) + " bytes");
  if (transforms::structural_hash(wanted.nest) != wanted.structural_hash)
    return fail("wanted.nest", "the structural hash is not that of the nest");
  return {};
}

Result<int> keep_wanted(Connection& db, const std::vector<WantedNest>& nests, const Hardware& hardware,
                        const std::string& who) {
  const std::string machine = to_json(hardware), machine_class = hardware_class(hardware);
  TRY(const std::int64_t now, db.clock());
  int added = 0;
  for (const WantedNest& one : nests) {
    const std::string json = sdfg::to_json(one.nest), size = to_string(size_class(one.nest, one.sizes));
    const std::string id = content_hash(dump(Json{json, machine_class, size, one.reassociate}));
    TRY(const std::int64_t known,
        Statement(db, "DELETE FROM wanted WHERE id = ? AND name = ?").bind(id).bind(who).change());
    added += known == 0 ? 1 : 0;
    TRY_VOID(Statement(db,
                       "INSERT INTO wanted(id, name, nest, structural_hash, sizes, size_class, hardware, class, "
                       "reassociate, work, time) VALUES(?,?,?,?,?,?,?,?,?,?,?)")
                 .bind(id)
                 .bind(who)
                 .bind(json)
                 .bind(one.structural_hash)
                 .bind(dump(Json(one.sizes)))
                 .bind(size)
                 .bind(machine)
                 .bind(machine_class)
                 .bind(one.reassociate ? 1 : 0)
                 .bind(work_of(one))
                 .bind(utc_text(now))
                 .run());
  }
  TRY_VOID(Statement(db, "DELETE FROM wanted WHERE time < ?").bind(utc_text(now - wanted_days * 86'400)).run());
  TRY_VOID(Statement(db,
                     "DELETE FROM wanted WHERE name = ?1 AND rowid NOT IN (SELECT rowid FROM wanted WHERE name = ?1 "
                     "ORDER BY rowid DESC LIMIT ?2)")
               .bind(who)
               .bind(most_wanted)
               .run());
  return added;
}

Result<std::vector<Wanted>> read_wanted(Connection& db, std::string_view asker) {
  // Of several parties' rows for one nest the last is told.
  TRY(const auto all, [&]() -> Result<std::vector<std::pair<std::int64_t, int>>> {
    Statement rows(db,
                   "SELECT max(rowid), count(name) AS parties, max(work) AS heat FROM wanted GROUP BY id "
                   "ORDER BY parties DESC, heat DESC, id LIMIT ?");
    rows.bind(most_looked_at);
    std::vector<std::pair<std::int64_t, int>> found;
    while (true) {
      TRY(const bool row, rows.step());
      if (!row) return found;
      found.emplace_back(rows.integer(0), static_cast<int>(rows.integer(1)));
    }
  }());
  std::vector<Wanted> told;
  for (const auto& [rowid, parties] : all) {
    if (told.size() == most_told) break;
    Statement row(db,
                  "SELECT id, nest, structural_hash, sizes, hardware, time, reassociate, work, class, size_class "
                  "FROM wanted WHERE rowid = ?");
    TRY(const bool there, row.bind(rowid).step());
    if (!there) continue;
    TRY(const bool known, is_known(db, row.text(2), row.text(8), row.text(9), asker));
    if (known) continue;
    told.push_back({.id = row.text(0),
                    .nest_json = row.text(1),
                    .structural_hash = row.text(2),
                    .sizes_json = row.text(3),
                    .hardware_json = row.text(4),
                    .time = row.text(5),
                    .reassociate = row.integer(6) != 0,
                    .work = row.real(7),
                    .parties = parties});
  }
  return told;
}

}  // namespace sous::tuning_db
