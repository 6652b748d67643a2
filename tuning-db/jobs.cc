#include "tuning-db/jobs.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tuning-db/belief.h"
#include "tuning-db/connection.h"
#include "tuning-db/job_choice.h"

namespace sous::tuning_db {
namespace {

constexpr JobTime hour = 3600, day = 24 * hour;
constexpr JobTime longest_rest = 60 * day, after_found = 30 * day, after_nothing = 7 * day, after_failure = 30 * day;
constexpr int most_told = 64;
// Rows of jobs that nobody asks for any more.
constexpr JobTime forgotten = 90 * day;
constexpr auto kinds = std::to_array({JobKind::tune, JobKind::measure, JobKind::calibrate});
constexpr auto outcomes =
    std::to_array({JobOutcome::found, JobOutcome::nothing, JobOutcome::failed, JobOutcome::returned});

// `first` * factor^times, at most `most`.
JobTime grown(JobTime first, int factor, int times, JobTime most) {
  JobTime value = first;
  for (int i = 0; i < times && value < most; ++i) value *= factor;
  return std::min(value, most);
}

JobTime rest_after_failures(int tries) { return grown(hour, 4, tries - 1, after_failure); }

// A row that somebody else wrote can be anything.
JobKind kind_of(std::string_view text) {
  const auto found = std::ranges::find_if(kinds, [&](JobKind one) { return to_string(one) == text; });
  return found == kinds.end() ? JobKind::measure : *found;
}

struct Held {
  std::string subject, hardware_class, kind, structural_hash, entry;
  int tries = 0;
};

std::unexpected<Error> ended() {
  return fail("job.lease", "this lease has ended, and another worker may have the job");
}

// Until the transaction ends no other server hands out the job.
Result<void> hold(Connection& db, const Held& job) {
  TRY([[maybe_unused]] const bool all,
      hold_subject(db, kind_of(job.kind), job.subject, job.structural_hash, Others::wait));
  return {};
}

Result<Held> held_by(Connection& db, const std::string& lease, const std::string& party) {
  Statement row(db,
                "SELECT subject, class, kind, structural_hash, entry, tries FROM jobs "
                "WHERE lease = ? AND worker = ? AND state = 'leased'");
  TRY(const bool there, row.bind(lease).bind(party).step());
  if (!there) return ended();
  return Held{.subject = row.text(0),
              .hardware_class = row.text(1),
              .kind = row.text(2),
              .structural_hash = row.text(3),
              .entry = row.text(4),
              .tries = static_cast<int>(row.integer(5))};
}

// What is said to be found was sent by the party, and is about this job.
Result<void> check_found(Connection& db, const Held& job, const std::string& party,
                         const std::vector<std::string>& entries) {
  if (entries.empty()) return fail("job.entries", "what was found is not named");
  for (const std::string& id : entries) {
    Statement row(db,
                  "SELECT 1 FROM entries e JOIN nests n ON n.id = e.nest WHERE e.id = ?1 AND n.structural_hash = ?2 "
                  "AND (e.sent = 0 OR EXISTS(SELECT 1 FROM senders s WHERE s.entry = e.id AND s.name = ?3)) "
                  "AND (?4 = '' OR e.recipe = (SELECT recipe FROM entries WHERE id = ?4))");
    TRY(const bool there, row.bind(id).bind(job.structural_hash).bind(party).bind(job.entry).step());
    if (!there) return fail("job.entries", "this entry was not sent, or is not about the job", id.substr(0, 64));
  }
  return {};
}

}  // namespace

std::string_view to_string(JobKind kind) {
  switch (kind) {
    case JobKind::tune:
      return "tune";
    case JobKind::measure:
      return "measure";
    case JobKind::calibrate:
      return "calibrate";
  }
  __builtin_unreachable();
}

std::string_view to_string(JobOutcome outcome) {
  switch (outcome) {
    case JobOutcome::found:
      return "found";
    case JobOutcome::nothing:
      return "nothing";
    case JobOutcome::failed:
      return "failed";
    case JobOutcome::returned:
      return "returned";
  }
  __builtin_unreachable();
}

std::optional<JobOutcome> parse_job_outcome(std::string_view text) {
  const auto found = std::ranges::find_if(outcomes, [&](JobOutcome one) { return to_string(one) == text; });
  return found == outcomes.end() ? std::nullopt : std::optional(*found);
}

std::optional<JobFit> job_fit(const Hardware& worker, std::string_view hardware_class) {
  const auto asked = parse_hardware_class(hardware_class);
  if (!asked || asked->architecture != worker.architecture || asked->isa > worker.isa) return std::nullopt;
  Hardware built = worker;
  built.isa = asked->isa;
  built.cores = std::min(worker.cores, asked->cores);
  if (2 * built.cores < asked->cores) return std::nullopt;
  JobFit fit{.build = {.isa = built.isa, .cores = built.cores, .threads = built.cores},
             .hardware_class = tuning_db::hardware_class(built)};
  const Belief belief = believe(2, built.cores, fit.hardware_class, hardware_class);
  if (!(belief.ratio > 1) || !belief.in_full) return std::nullopt;
  fit.exact = belief.own_class;
  return fit;
}

// A clock that went back makes ends that lie too far ahead: they hold nobody up.
bool is_held(const TriedJob& job, JobTime now) {
  return job.state == "leased" && job.until > now && job.until <= now + longest_lease;
}

bool is_due(const TriedJob& job, JobTime now) {
  if (is_held(job, now)) return false;
  if (job.state == "returned" || job.until > now + longest_rest) return true;
  if (job.state != "leased") return job.until <= now;
  return job.until > now || job.tries <= 1 || job.until + rest_after_failures(job.tries - 1) <= now;
}

Result<std::optional<Job>> lease_job(Connection& db, const Worker& worker, const std::string& lease, JobTime now,
                                     JobTime seconds) {
  SOUS_ASSERT(!worker.party.empty() && !lease.empty());
  const JobTime until = now + std::clamp<JobTime>(seconds, 1, longest_lease);
  TRY(const std::int64_t held, [&]() -> Result<std::int64_t> {
    Statement count(db, "SELECT count(lease) FROM jobs WHERE worker = ? AND state = 'leased' AND until > ?");
    TRY([[maybe_unused]] const bool row, count.bind(worker.party).bind(now).step());
    return count.integer(0);
  }());
  if (held >= most_leases)
    return fail("job.quota", "one token's name holds at most " + std::to_string(most_leases) + " jobs at once");
  TRY(auto chosen, choose_job(db, worker, now));
  if (!chosen) return std::nullopt;
  TRY_VOID(Statement(db, "DELETE FROM jobs WHERE since < ? AND until < ?").bind(now - forgotten).bind(now).run());
  TRY_VOID(Statement(db, "DELETE FROM jobs WHERE subject = ? AND class = ?")
               .bind(chosen->subject)
               .bind(chosen->job.hardware_class)
               .run());
  TRY_VOID(Statement(db,
                     "INSERT INTO jobs(subject, class, kind, structural_hash, entry, whose, state, lease, "
                     "worker, since, until, tries, code) VALUES(?,?,?,?,?,?,'leased',?,?,?,?,?,'')")
               .bind(chosen->subject)
               .bind(chosen->job.hardware_class)
               .bind(to_string(chosen->job.kind))
               .bind(chosen->job.structural_hash)
               .bind(chosen->entry)
               .bind(chosen->whose)
               .bind(lease)
               .bind(worker.party)
               .bind(now)
               .bind(until)
               .bind(chosen->tries + 1)
               .run());
  chosen->job.lease = lease;
  return std::move(chosen->job);
}

Result<void> renew_job(Connection& db, const std::string& lease, const std::string& party, JobTime now,
                       JobTime seconds) {
  TRY(const Held job, held_by(db, lease, party));
  TRY_VOID(hold(db, job));
  // A lease that ended is as good as one that did not, as long as nobody else has the job.
  TRY(const auto tried, tried_jobs(db, job.subject));
  for (const TriedJob& other : tried)
    if (other.lease != lease && is_held(other, now))
      return fail("job.lease", "this lease has ended, and another worker has the job");
  TRY(const std::int64_t renewed, Statement(db, "UPDATE jobs SET until = ? WHERE lease = ? AND state = 'leased'")
                                      .bind(now + std::clamp<JobTime>(seconds, 1, longest_lease))
                                      .bind(lease)
                                      .change());
  return renewed == 1 ? Result<void>() : ended();
}

Result<void> finish_job(Connection& db, const std::string& lease, const std::string& party, JobOutcome outcome,
                        const std::vector<std::string>& entries, const std::string& code, JobTime now) {
  TRY(const Held job, held_by(db, lease, party));
  TRY_VOID(hold(db, job));
  if (outcome == JobOutcome::found) TRY_VOID(check_found(db, job, party, entries));
  int tries = job.tries;
  JobTime until = now;
  switch (outcome) {
    case JobOutcome::found:
      tries = 0;
      until += after_found;
      break;
    case JobOutcome::nothing:
      until += grown(after_nothing, 2, tries - 1, longest_rest);
      break;
    case JobOutcome::failed:
      until += rest_after_failures(tries);
      break;
    case JobOutcome::returned:
      --tries;
      break;
  }
  TRY(const std::int64_t finished,
      Statement(db, "UPDATE jobs SET state = ?, until = ?, tries = ?, code = ? WHERE lease = ? AND state = 'leased'")
          .bind(to_string(outcome))
          .bind(until)
          .bind(tries)
          .bind(code)
          .bind(lease)
          .change());
  return finished == 1 ? Result<void>() : ended();
}

Result<std::vector<JobState>> read_jobs(Connection& db, JobTime now) {
  Statement rows(db,
                 "SELECT kind, structural_hash, class, CASE WHEN state = 'leased' AND until <= ?1 THEN 'lost' ELSE "
                 "state END, worker, code, since, until, tries FROM jobs ORDER BY "
                 "CASE WHEN state = 'leased' AND until > ?1 THEN 0 ELSE 1 END, since DESC, subject, class LIMIT ?2");
  rows.bind(now).bind(most_told);
  std::vector<JobState> all;
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return all;
    all.push_back({.kind = kind_of(rows.text(0)),
                   .structural_hash = rows.text(1),
                   .hardware_class = rows.text(2),
                   .state = rows.text(3),
                   .worker = rows.text(4),
                   .code = rows.text(5),
                   .since = rows.integer(6),
                   .until = rows.integer(7),
                   .tries = static_cast<int>(rows.integer(8))});
  }
}

Result<std::map<std::string, std::int64_t>> count_jobs(Connection& db, JobTime now) {
  std::map<std::string, std::int64_t> counts{{"leased", 0}, {"lost", 0}};
  for (const JobOutcome outcome : outcomes) counts[std::string(to_string(outcome))] = 0;
  TRY(counts["waiting"], waiting_jobs(db));
  Statement rows(db,
                 "SELECT CASE WHEN state = 'leased' AND until <= ? THEN 'lost' ELSE state END AS now, count(subject) "
                 "FROM jobs GROUP BY now");
  rows.bind(now);
  while (true) {
    TRY(const bool row, rows.step());
    if (!row) return counts;
    if (const auto known = counts.find(rows.text(0)); known != counts.end()) known->second = rows.integer(1);
  }
}

}  // namespace sous::tuning_db
