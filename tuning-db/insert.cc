#include "tuning-db/insert.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sdfg/json.h"
#include "transforms/sizeless.h"
#include "tuning-db/confirm.h"
#include "tuning-db/evidence.h"
#include "tuning-db/hash.h"
#include "tuning-db/json_reader.h"
#include "tuning-db/rows.h"
#include "tuning-db/size_class.h"

namespace sous::tuning_db {

std::optional<Embedded> embedded(const Entry& entry, const Embedding& embedding) {
  auto vector = embedding.embed(entry.nest, entry.sizes);
  if (!vector) return std::nullopt;
  return Embedded{
      .key = nest_key(entry.nest), .isa = std::string(to_string(entry.hardware.isa)), .vector = std::move(*vector)};
}

Prepared prepare(const Entry& entry, const Embedding& embedding) {
  std::string nest = sdfg::to_json(entry.nest), hardware = to_json(entry.hardware);
  std::string nest_id = content_hash(nest), hardware_id = content_hash(hardware);
  return {.id = entry_id(entry),
          .name = entry.name,
          .nest_id = std::move(nest_id),
          .structural_hash = entry.structural_hash,
          .sizeless = kept_sizeless(entry.nest),
          .nest = std::move(nest),
          .hardware_id = std::move(hardware_id),
          .hardware_class = hardware_class(entry.hardware),
          .hardware = std::move(hardware),
          .size_class = to_string(size_class(entry.nest, entry.sizes)),
          .sizes = dump(Json(entry.sizes)),
          .recipe = transforms::to_json(entry.recipe),
          .target = entry.recipe.target,
          .compiler = entry.compiler,
          .flags = entry.flags,
          .provenance = entry.provenance,
          .time = entry.time,
          .least = entry.least_extents.empty() ? "" : dump(least_json(entry.least_extents, entry.least_work)),
          .baseline_seconds = entry.baseline_seconds,
          .baseline_spread = entry.baseline_spread,
          .tuned_seconds = entry.tuned_seconds,
          .tuned_spread = entry.tuned_spread,
          .threads = entry.threads,
          .embedded = embedded(entry, embedding)};
}

Result<std::vector<Prepared>> prepare_lines(std::string_view lines, const std::string& origin,
                                            const Embedding& embedding) {
  std::vector<Prepared> result;
  int number = 0;
  while (!lines.empty()) {
    ++number;
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 1, lines.size()));
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto entry = entry_from_json(line);
    if (!entry) return fail("db.import", as_one_line(entry.error().to_string()), origin + ":" + std::to_string(number));
    result.push_back(prepare(*entry, embedding));
  }
  return result;
}

Result<void> insert_vector(Connection& db, const std::string& id, const Embedded& embedded,
                           const Embedding& embedding) {
  return Statement(db,
                   "INSERT INTO embeddings(entry, version, type, depth, isa, vector) VALUES(?,?,?,?,?,?) ON "
                   "CONFLICT(entry) DO "
                   "UPDATE SET version = excluded.version, type = excluded.type, depth = excluded.depth, isa = "
                   "excluded.isa, vector = excluded.vector")
      .bind(id)
      .bind(embedding.version())
      .bind(info(embedded.key.type).name)
      .bind(embedded.key.depth)
      .bind(embedded.isa)
      .bind(embedded.vector)
      .run();
}

namespace {

constexpr std::string_view sizeless_version = "1:";
// In order: the first text with that version, and the first behind all of them.
constexpr const char* not_of_this_version =
    "SELECT id, json FROM nests WHERE sizeless < '1:' OR sizeless >= '1;' LIMIT 1000";

Result<std::map<std::string, std::string>> some_without_sizeless(Connection& db) {
  std::map<std::string, std::string> found;
  Statement rows(db, not_of_this_version);
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return found;
    const auto nest = sdfg::from_json(rows.text(1));
    // One that cannot be read is like no other; `verify` reports it.
    found[rows.text(0)] = nest ? kept_sizeless(*nest) : std::string(sizeless_version);
  }
}

}  // namespace

std::string kept_sizeless(const sdfg::Sdfg& nest) {
  return std::string(sizeless_version) + transforms::sizeless_hash(nest);
}

Result<void> derive_sizeless(Connection& db) {
  if (!has_schema(db, 8)) return {};
  std::set<std::string> done;
  while (true) {
    TRY(const auto some, some_without_sizeless(db));
    // In a damaged file, or beside another version that derives its own, what was changed is found again for ever.
    const bool new_ones = std::ranges::any_of(some, [&](const auto& one) { return !done.contains(one.first); });
    if (!new_ones || db.is_read_only()) return {};
    TRY(auto transaction, Transaction::begin(db, Turn::write));
    for (const auto& [id, sizeless] : some) {
      TRY_VOID(Statement(db, "UPDATE nests SET sizeless = ? WHERE id = ?").bind(sizeless).bind(id).run());
      done.insert(id);
    }
    TRY_VOID(note_change(db));
    TRY_VOID(transaction.commit());
  }
}

Result<void> note_change(Connection& db) {
  TRY_VOID(db.execute("UPDATE changes SET entries = entries + 1"));
  return db.announce_change();
}

Result<bool> insert(Connection& db, const Prepared& entry, const Embedding& embedding, Standing standing) {
  Statement known(db, "SELECT 1 FROM entries WHERE id = ?");
  TRY(const bool there, known.bind(entry.id).step());
  if (there &&
      standing == Standing::own)  // what a seed or a client brought, and someone measured just so, is theirs too
    TRY_VOID(Statement(db, "UPDATE entries SET seeded = 0, sent = 0 WHERE id = ?").bind(entry.id).run());
  if (there) return false;
  TRY_VOID(
      Statement(db, "INSERT INTO nests(id, structural_hash, sizeless, json) VALUES(?,?,?,?) ON CONFLICT DO NOTHING")
          .bind(entry.nest_id)
          .bind(entry.structural_hash)
          .bind(entry.sizeless)
          .bind(entry.nest)
          .run());
  TRY_VOID(Statement(db, "INSERT INTO hardware(id, class, json) VALUES(?,?,?) ON CONFLICT DO NOTHING")
               .bind(entry.hardware_id)
               .bind(entry.hardware_class)
               .bind(entry.hardware)
               .run());
  TRY_VOID(Statement(db,
                     "INSERT INTO entries(id, nest, hardware, name, size_class, sizes, recipe, target, "
                     "baseline_seconds, baseline_spread, tuned_seconds, tuned_spread, threads, compiler, flags, "
                     "provenance, time, seeded, sent, least) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)")
               .bind(entry.id)
               .bind(entry.nest_id)
               .bind(entry.hardware_id)
               .bind(entry.name)
               .bind(entry.size_class)
               .bind(entry.sizes)
               .bind(entry.recipe)
               .bind(entry.target)
               .bind(entry.baseline_seconds)
               .bind(entry.baseline_spread)
               .bind(entry.tuned_seconds)
               .bind(entry.tuned_spread)
               .bind(entry.threads)
               .bind(entry.compiler)
               .bind(entry.flags)
               .bind(entry.provenance)
               .bind(entry.time)
               .bind(standing == Standing::seeded ? 1 : 0)
               .bind(standing == Standing::sent ? 1 : 0)
               .bind(entry.least)
               .run());
  if (entry.embedded) TRY_VOID(insert_vector(db, entry.id, *entry.embedded, embedding));
  if (standing == Standing::own) TRY_VOID(confirm(db, entry.id, ""));
  return true;
}

Result<ImportResult> insert(Connection& db, const std::vector<Prepared>& entries, const Embedding& embedding,
                            Standing standing) {
  ImportResult result;
  for (const Prepared& entry : entries) {
    TRY(const bool added, insert(db, entry, embedding, standing));
    ++(added ? result.added : result.known);
  }
  return result;
}

}  // namespace sous::tuning_db
