#include "tuning-db/job_choice.h"

#include <algorithm>
#include <map>
#include <utility>

#include "tuning-db/belief.h"
#include "tuning-db/build_isa.h"
#include "tuning-db/hash.h"
#include "tuning-db/json_reader.h"
#include "tuning-db/rows.h"

namespace sous::tuning_db {
namespace {

constexpr JobTime hour = 3600, day = 24 * hour;
constexpr int most_looked_at = 4096;
constexpr int most_calibrations = 512;  // of a class
// A measurement makes that many runs of both sides.
constexpr double measured_runs = 10;

// What a measurement says, as a question to a class of machine: whoever sent it, and whatever times it names.
std::string question(const Summary& claim, const std::string& hardware_class) {
  return content_hash(dump(Json{claim.structural_hash, claim.recipe_json, claim.size_class, hardware_class}));
}

// Whether some party's claim settles, or may settle, what becomes of a wanted nest: one that the worker's party sees,
// or one that is still to be measured by another party, by a worker such as this.
Result<bool> is_known(Connection& db, const Worker& worker, const std::string& structural_hash,
                      const std::string& hardware_class, const std::string& size_class) {
  Statement rows(db, summary_rows(db, "WHERE n.structural_hash = ? AND e.size_class = ?"));
  TRY(const auto entries, read_summaries(rows.bind(structural_hash).bind(size_class)));
  for (const Summary& entry : entries) {
    if (entry.hardware_class != hardware_class || !(entry.ratio() > least_gain)) continue;
    if (entry.is_for(worker.party)) return true;
    if (!worker.measures || std::ranges::find(worker.targets, entry.target) == worker.targets.end()) continue;
    TRY(const auto tried, tried_jobs(db, question(entry, entry.hardware_class)));
    const bool answered =
        std::ranges::any_of(tried, [](const TriedJob& t) { return t.state == "found" || t.state == "failed"; });
    if (!answered) return true;
  }
  return false;
}

// Of the parties that have a job waiting: how many jobs were begun for each in a day.
#define SOUS_RECENT \
  "WITH RECURSIVE recent(name, turns) AS (SELECT whose, count(subject) FROM jobs WHERE since > ?1 GROUP BY whose) "

struct WantedRow {
  std::string id, hardware_class;
};

// The class is a part of what the id is the hash of.
Result<std::vector<WantedRow>> wanted_in_order(Connection& db, JobTime now) {
  Statement rows(db, SOUS_RECENT
                 "SELECT w.id, min(w.class), min(coalesce(r.turns, 0)) AS turns, count(w.name) AS parties, "
                 "max(w.work) AS heat FROM wanted w LEFT JOIN recent r ON r.name = w.name "
                 "GROUP BY w.id ORDER BY parties DESC, turns, heat DESC, w.id LIMIT ?2");
  rows.bind(now - day).bind(most_looked_at);
  std::vector<WantedRow> all;
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return all;
    all.push_back({rows.text(0), rows.text(1)});
  }
}

using Turns = std::map<std::string, std::int64_t>;

Result<Turns> recent_turns(Connection& db, JobTime now) {
  Statement rows(db, SOUS_RECENT "SELECT name, turns FROM recent");
  rows.bind(now - day);
  Turns turns;
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return turns;
    turns[rows.text(0)] = rows.integer(1);
  }
}

// As the party wants it for which the least was done; nullopt: nobody wants it any more.
struct Asked {
  std::string whose, nest, structural_hash, sizes, size_class;
  bool reassociate = false;
};
Result<std::optional<Asked>> as_asked(Connection& db, const std::string& id, const Turns& turns) {
  Statement rows(db,
                 "SELECT name, nest, structural_hash, sizes, size_class, reassociate FROM wanted WHERE id = ? "
                 "ORDER BY rowid");
  rows.bind(id);
  std::optional<Asked> asked;
  std::int64_t least = 0;
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return asked;
    const auto done = turns.find(rows.text(0));
    const std::int64_t own = done == turns.end() ? 0 : done->second;
    if (asked && own >= least) continue;
    least = own;
    asked = Asked{.whose = rows.text(0),
                  .nest = rows.text(1),
                  .structural_hash = rows.text(2),
                  .sizes = rows.text(3),
                  .size_class = rows.text(4),
                  .reassociate = rows.integer(5) != 0};
  }
}

// Whether no worker is at it, and what was tried on this class rests no longer. What was found for another class that
// is believed here is left to a worker of the very class.
std::optional<int> tries_if_due(const std::vector<TriedJob>& tried, const JobFit& fit, JobTime now) {
  int tries = 0;
  for (const TriedJob& one : tried) {
    if (is_held(one, now)) return std::nullopt;
    const bool same = one.hardware_class == fit.hardware_class;
    if (same) tries = one.tries;
    if ((same || (one.state == "found" && !fit.exact)) && !is_due(one, now)) return std::nullopt;
  }
  return tries;
}

Result<std::optional<ChosenJob>> next_tune(Connection& db, const Worker& worker, JobTime now) {
  TRY(const auto wanted, wanted_in_order(db, now));
  TRY(const Turns turns, recent_turns(db, now));
  std::map<std::string, std::optional<JobFit>> fits;
  for (const WantedRow& one : wanted) {
    const auto [fit, is_new] = fits.try_emplace(one.hardware_class);
    if (is_new) fit->second = job_fit(worker.hardware, one.hardware_class);
    if (!fit->second) continue;
    const auto due = [&]() -> Result<std::optional<int>> {
      TRY(const auto tried, tried_jobs(db, one.id));
      return tries_if_due(tried, *fit->second, now);
    };
    TRY(auto tries, due());
    if (!tries) continue;
    TRY(auto asked, as_asked(db, one.id, turns));
    if (!asked) continue;
    TRY(const bool known, is_known(db, worker, asked->structural_hash, one.hardware_class, asked->size_class));
    if (known) continue;
    TRY(const bool held, hold_subject(db, JobKind::tune, one.id, asked->structural_hash, Others::skip));
    if (!held) continue;
    TRY(tries, due());  // until it was held, another server may have handed it out
    if (!tries) continue;
    return ChosenJob{.job = {.lease = {},
                             .kind = JobKind::tune,
                             .build = fit->second->build,
                             .hardware_class = fit->second->hardware_class,
                             .nest_json = std::move(asked->nest),
                             .structural_hash = std::move(asked->structural_hash),
                             .sizes_json = std::move(asked->sizes),
                             .reassociate = asked->reassociate,
                             .entry = {}},
                     .subject = one.id,
                     .entry = {},
                     .whose = std::move(asked->whose),
                     .tries = *tries};
  }
  return std::nullopt;
}

// Those that sent something, the one for which the least was done first. (The names of an index, one jump for each.)
Result<std::vector<std::string>> senders_in_turn(Connection& db, const Worker& worker, JobTime now) {
  Statement rows(db, SOUS_RECENT
                 ", sender(name) AS (SELECT min(name) FROM senders UNION ALL SELECT (SELECT min(s.name) FROM senders s "
                 "WHERE s.name > sender.name) FROM sender WHERE sender.name IS NOT NULL) "
                 "SELECT sender.name FROM sender LEFT JOIN recent r ON r.name = sender.name "
                 "WHERE sender.name IS NOT NULL AND sender.name <> ?2 ORDER BY coalesce(r.turns, 0), sender.name");
  return read_texts(rows.bind(now - day).bind(worker.party));
}

// How a worker does what a claim asks for; one answer for each class and flags.
class Fits {
 public:
  explicit Fits(const Worker& worker) : worker_(worker) {}

  std::optional<JobFit> of(const std::string& machine, const std::string& flags) {
    const auto [fit, is_new] = known_.try_emplace({machine, flags});
    if (is_new) fit->second = job_fit(worker_.hardware, class_as_built(machine, flags));
    return fit->second;
  }

 private:
  const Worker& worker_;
  std::map<std::pair<std::string, std::string>, std::optional<JobFit>> known_;
};

Result<std::optional<Summary>> summary_of(Connection& db, const std::string& id) {
  Statement row(db, summary_rows(db, "WHERE e.id = ?"));
  TRY(auto found, read_summaries(row.bind(id)));
  return found.empty() ? std::nullopt : std::optional(std::move(found.front()));
}

// The measurement to be made again, if that rests no longer and can be read: a row can be anything.
Result<std::optional<ChosenJob>> if_due(Connection& db, JobKind kind, const Summary& claim, const JobFit& fit,
                                        JobTime now) {
  const std::string subject = question(claim, kind == JobKind::measure ? claim.hardware_class : fit.hardware_class);
  const auto due = [&]() -> Result<std::optional<int>> {
    TRY(const auto tried, tried_jobs(db, subject));
    int tries = 0;
    for (const TriedJob& one : tried) {
      if (!is_due(one, now)) return std::nullopt;
      tries = std::max(tries, one.tries);
    }
    return tries;
  };
  TRY(auto tries, due());
  if (!tries) return std::nullopt;
  TRY(const bool held, hold_subject(db, kind, subject, claim.structural_hash, Others::skip));
  if (!held) return std::nullopt;
  TRY(tries, due());  // until it was held, another server may have handed it out
  if (!tries) return std::nullopt;
  Statement whole(db, entry_rows(db, "WHERE e.id = ?"));
  TRY(const bool there, whole.bind(claim.id).step());
  auto entry = there ? read_entry(whole) : Result<Entry>(fail("db.entry", "it is gone", claim.id));
  if (!entry) return std::nullopt;
  // A claim is confirmed on as many threads at most.
  JobBuild build = fit.build;
  build.threads = std::min(build.cores, claim.threads);
  return ChosenJob{.job = {.lease = {},
                           .kind = kind,
                           .build = build,
                           .hardware_class = fit.hardware_class,
                           .nest_json = {},
                           .structural_hash = claim.structural_hash,
                           .sizes_json = {},
                           .reassociate = false,
                           .entry = std::move(*entry)},
                   .subject = subject,
                   .entry = claim.id,
                   .whose = {},
                   .tries = *tries};
}

// One statement for each party: so it stays within its budget, however many there are.
Result<std::optional<ChosenJob>> next_measure(Connection& db, const Worker& worker, JobTime now) {
  TRY(const auto senders, senders_in_turn(db, worker, now));
  Fits fits(worker);
  for (const std::string& sender : senders) {
    Statement rows(db,
                   "SELECT e.id, h.class, e.flags, e.target, e.threads, e.baseline_seconds + e.tuned_seconds "
                   "FROM senders s JOIN entries e ON e.id = s.entry JOIN hardware h ON h.id = e.hardware "
                   "WHERE s.name = ?1 AND e.sent = 1 AND e.baseline_seconds > ?2 * e.tuned_seconds "
                   "AND NOT EXISTS(SELECT 1 FROM senders x WHERE x.entry = e.id AND x.name = ?3) "
                   "AND NOT EXISTS(SELECT 1 FROM jobs j WHERE j.entry = e.id AND j.until > ?4) "
                   "ORDER BY e.baseline_seconds / nullif(e.tuned_seconds, 0) DESC NULLS LAST, e.id");
    rows.bind(sender).bind(least_gain).bind(worker.party).bind(now);
    while (true) {
      TRY(const bool row, rows.step());
      if (!row) break;
      const bool can = std::ranges::find(worker.targets, rows.text(3)) != worker.targets.end() &&
                       rows.integer(4) <= worker.hardware.cores && measured_runs * rows.real(5) <= worker.seconds;
      const auto fit = can ? fits.of(rows.text(1), rows.text(2)) : std::nullopt;
      if (!fit) continue;
      TRY(const auto claim, summary_of(db, rows.text(0)));
      if (!claim) continue;
      TRY(auto chosen, if_due(db, JobKind::measure, *claim, *fit, now));
      if (!chosen) continue;
      chosen->whose = sender;
      return chosen;
    }
  }
  return std::nullopt;
}

// The worker's classes from which something is wanted: builds are made there.
Result<std::vector<JobFit>> own_classes(Connection& db, const Worker& worker) {
  Statement rows(db, "SELECT DISTINCT class FROM wanted ORDER BY class");
  std::vector<JobFit> own;
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return own;
    const auto fit = job_fit(worker.hardware, rows.text(0));
    if (fit && fit->exact) own.push_back(*fit);
  }
}

// Whether somebody measured it on the class, with or without a gain.
Result<bool> is_answered(Connection& db, const Summary& known, const std::string& hardware_class) {
  Statement rows(db, summary_rows(db, "WHERE n.structural_hash = ? AND e.size_class = ? AND e.recipe = ?"));
  TRY(const auto all, read_summaries(rows.bind(known.structural_hash).bind(known.size_class).bind(known.recipe_json)));
  return std::ranges::any_of(all, [&](const Summary& one) { return one.hardware_class == hardware_class; });
}

Result<std::optional<ChosenJob>> next_calibration(Connection& db, const Worker& worker, JobTime now) {
  TRY(const auto own, own_classes(db, worker));
  for (const JobFit& fit : own) {
    // So many that a look stays cheap where all of it is done.
    Statement rows(
        db,
        "SELECT best.id, best.seconds FROM (SELECT e.id AS id, e.baseline_seconds + e.tuned_seconds AS "
        "seconds, e.baseline_seconds / nullif(e.tuned_seconds, 0) AS gain FROM entries e WHERE " +
            for_everyone(db) +
            "AND e.tuned_seconds > 0 AND e.baseline_seconds > ?1 * e.tuned_seconds "
            "ORDER BY e.baseline_seconds / nullif(e.tuned_seconds, 0) DESC LIMIT ?2) AS best "
            "WHERE NOT EXISTS(SELECT 1 FROM jobs j WHERE j.entry = best.id AND j.class = ?3 AND j.until > ?4) "
            "ORDER BY best.gain DESC, best.id");
    rows.bind(least_gain).bind(most_calibrations).bind(fit.hardware_class).bind(now);
    while (true) {
      TRY(const bool row, rows.step());
      if (!row) break;
      if (measured_runs * rows.real(1) > worker.seconds) continue;
      TRY(const auto known, summary_of(db, rows.text(0)));
      if (!known || std::ranges::find(worker.targets, known->target) == worker.targets.end()) continue;
      const auto there = parse_hardware_class(known->hardware_class);
      if (!there || there->architecture != worker.hardware.architecture) continue;
      TRY(const bool answered, is_answered(db, *known, fit.hardware_class));
      if (answered) continue;
      TRY(auto chosen, if_due(db, JobKind::calibrate, *known, fit, now));
      if (chosen) return chosen;
    }
  }
  return std::nullopt;
}

}  // namespace

Result<std::int64_t> waiting_jobs(Connection& db) {
  Statement count(db,
                  "SELECT (SELECT count(DISTINCT id) FROM wanted WHERE id NOT IN (SELECT subject FROM jobs)) + "
                  "(SELECT count(id) FROM entries WHERE sent = 1 AND baseline_seconds > ? * tuned_seconds "
                  "AND id NOT IN (SELECT entry FROM jobs))");
  TRY([[maybe_unused]] const bool row, count.bind(least_gain).step());
  return count.integer(0);
}

// Rows that are there as long as anybody may ask for it, and that all who do look at: those of whoever wants a nest; of
// a claim, its nests'. (Whoever inserts entries of a nest does not wait for who has its row.) Rows that come meanwhile
// are counted, and not held: then it is left alone.
Result<bool> hold_subject(Connection& db, JobKind kind, const std::string& subject, const std::string& structural_hash,
                          Others others) {
  const bool tune = kind == JobKind::tune;
  const std::string rows = tune ? "FROM wanted WHERE id = ? " : "FROM nests WHERE structural_hash = ? ";
  const std::string& key = tune ? subject : structural_hash;
  Statement lock(db, "SELECT 1 " + rows + (tune ? "ORDER BY name " : "ORDER BY id ") +
                         (others == Others::skip ? db.lock_free_rows() : db.lock_rows()));
  lock.bind(key);
  std::int64_t held = 0;
  while (true) {
    TRY(const bool row, lock.step());
    if (!row) break;
    ++held;
  }
  Statement count(db, "SELECT count(id) " + rows);
  TRY([[maybe_unused]] const bool row, count.bind(key).step());
  return held == count.integer(0);
}

Result<std::vector<TriedJob>> tried_jobs(Connection& db, const std::string& subject) {
  Statement rows(db, "SELECT class, state, lease, until, tries FROM jobs WHERE subject = ?");
  rows.bind(subject);
  std::vector<TriedJob> all;
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return all;
    all.push_back({.hardware_class = rows.text(0),
                   .state = rows.text(1),
                   .lease = rows.text(2),
                   .until = rows.integer(3),
                   .tries = static_cast<int>(rows.integer(4))});
  }
}

Result<std::optional<ChosenJob>> choose_job(Connection& db, const Worker& worker, JobTime now) {
  TRY(const std::int64_t measured_last,
      number(db, "SELECT kind = 'measure' FROM jobs ORDER BY since DESC, rowid DESC LIMIT 1"));
  for (const bool measures : {measured_last == 0, measured_last != 0}) {
    if (!(measures ? worker.measures : worker.tunes)) continue;
    TRY(auto next, measures ? next_measure(db, worker, now) : next_tune(db, worker, now));
    if (next) return next;
  }
  return worker.measures ? next_calibration(db, worker, now) : std::nullopt;
}

}  // namespace sous::tuning_db
