#include "tuning-db/confirm.h"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "tuning-db/belief.h"
#include "tuning-db/build_isa.h"
#include "tuning-db/json_reader.h"

namespace sous::tuning_db {
namespace {

constexpr int most_witnesses = 1000;

struct Claim {
  std::string id, hardware_class, least;
  std::map<std::string, std::int64_t> sizes;
  double ratio = 0;
  int threads = 1;
  bool unconfirmed = false;
};

constexpr const char* columns =
    "SELECT e.id, h.class, e.flags, e.least, e.sizes, e.baseline_seconds, e.tuned_seconds, e.threads, e.sent "
    "FROM entries e JOIN nests n ON n.id = e.nest JOIN hardware h ON h.id = e.hardware ";

// Nullopt: a row that cannot be read says nothing.
std::optional<Claim> read_claim(const Statement& row) {
  const auto json = parse_json("{\"sizes\":" + row.text(4) + "}", "entry");
  if (!json) return std::nullopt;
  auto reader = ObjectReader::of(*json, "entry", "");
  auto sizes = reader ? reader->integers("sizes") : std::unexpected(reader.error());
  if (!sizes || !(row.real(6) > 0)) return std::nullopt;
  return Claim{.id = row.text(0),
               .hardware_class = class_as_built(row.text(1), row.text(2)),
               .least = row.text(3),
               .sizes = std::move(*sizes),
               .ratio = row.real(5) / row.real(6),
               .threads = static_cast<int>(row.integer(7)),
               .unconfirmed = row.integer(8) == 1};
}

bool says_no_more(const Claim& claim, const Claim& other) {
  if ((claim.ratio > 1) != (other.ratio > 1)) return false;
  if (claim.ratio <= 1) return claim.hardware_class == other.hardware_class;
  const Belief belief = believe(other.ratio, other.threads, other.hardware_class, claim.hardware_class);
  if (claim.ratio - 1 > 2 * (belief.ratio - 1) || claim.threads < other.threads) return false;
  if (!claim.least.empty() && claim.least != other.least) return false;
  for (const auto& [name, size] : other.sizes) {
    const auto own = claim.sizes.find(name);
    if (own == claim.sizes.end() || own->second < size / 2) return false;
  }
  return claim.sizes.size() == other.sizes.size();
}

// Those of other parties about the same nest, recipe and size class. What the sender sent, too, is not of others,
// whoever sends a copy of it.
Result<std::vector<Claim>> of_others(Connection& db, const std::string& id, const std::string& sender) {
  Statement rows(db, std::string(columns) +
                         "WHERE n.structural_hash = (SELECT structural_hash FROM nests JOIN entries ON nests.id = "
                         "entries.nest WHERE entries.id = ?1) "
                         "AND e.recipe = (SELECT recipe FROM entries WHERE id = ?1) "
                         "AND e.size_class = (SELECT size_class FROM entries WHERE id = ?1) AND e.id <> ?1 "
                         "AND (e.sent = 0 OR (EXISTS(SELECT 1 FROM senders s WHERE s.entry = e.id) AND NOT "
                         "EXISTS(SELECT 1 FROM senders s WHERE s.entry = e.id AND s.name = ?2))) "
                         "ORDER BY e.sent, e.id LIMIT ?3");
  rows.bind(id).bind(sender).bind(most_witnesses);
  std::vector<Claim> claims;
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return claims;
    if (auto claim = read_claim(rows)) claims.push_back(std::move(*claim));
  }
}

Result<void> set_confirmed(Connection& db, const std::string& id) {
  return Statement(db, "UPDATE entries SET sent = 2 WHERE id = ? AND sent = 1").bind(id).run();
}

}  // namespace

Result<void> confirm(Connection& db, const std::string& id, const std::string& sender) {
  if (sender.empty()) {
    // The file's own confirms what was sent; where nothing was, there is nothing to ask.
    TRY(const std::int64_t waiting, number(db, "SELECT EXISTS(SELECT 1 FROM entries WHERE sent = 1)"));
    if (waiting == 0) return {};
  }
  Statement row(db, std::string(columns) + "WHERE e.id = ?");
  TRY(const bool there, row.bind(id).step());
  const auto claim = there ? read_claim(row) : std::nullopt;
  if (!claim) return {};
  TRY(const auto others, of_others(db, id, sender));
  for (const Claim& other : others) {
    if (claim->unconfirmed && says_no_more(*claim, other)) TRY_VOID(set_confirmed(db, id));
    if (other.unconfirmed && says_no_more(other, *claim)) TRY_VOID(set_confirmed(db, other.id));
  }
  return {};
}

}  // namespace sous::tuning_db
