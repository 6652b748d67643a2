#include "server/metrics.h"

#include <algorithm>
#include <sstream>

namespace sous::server {

void Metrics::count_request(std::string_view route, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{std::string(route), status}];
  ++buckets_[static_cast<std::size_t>(std::ranges::lower_bound(bounds, seconds) - bounds.begin())];
  seconds_ += seconds;
}

void Metrics::count_shed(const char* reason) {
  const std::lock_guard lock(mutex_);
  ++shed_[reason];
}

void Metrics::count_nests(std::uint64_t exact, std::uint64_t neighbours, std::uint64_t nothing) {
  const std::lock_guard lock(mutex_);
  exact_ += exact;
  neighbours_ += neighbours;
  nothing_ += nothing;
}

void Metrics::count_entry(std::string_view taken) {
  const std::lock_guard lock(mutex_);
  ++sent_[std::string(taken)];
}

void Metrics::count_wanted(std::uint64_t added) {
  const std::lock_guard lock(mutex_);
  wanted_ += added;
}

void Metrics::count_job(std::string_view outcome) {
  const std::lock_guard lock(mutex_);
  ++finished_[std::string(outcome)];
}

void Metrics::count_limited(std::string_view kind, std::string_view by) {
  const std::lock_guard lock(mutex_);
  ++limited_[{std::string(kind), std::string(by)}];
}

std::string Metrics::text(std::int64_t entries, bool sound, const std::map<std::string, std::int64_t>& jobs) const {
  const std::lock_guard lock(mutex_);
  std::ostringstream out;
  const auto head = [&](const char* name, const char* type, const char* help) {
    out << "# HELP " << name << ' ' << help << "\n# TYPE " << name << ' ' << type << '\n';
  };
  head("sous_database_entries", "gauge", "Measured recipes in the database.");
  out << "sous_database_entries " << entries << '\n';
  head("sous_database_sound", "gauge", "Whether the database is there and answers: what /healthz says.");
  out << "sous_database_sound " << (sound ? 1 : 0) << '\n';
  head("sous_nests_total", "counter", "Nests asked for, by what was found.");
  out << "sous_nests_total{found=\"exact\"} " << exact_ << '\n'
      << "sous_nests_total{found=\"neighbours\"} " << neighbours_ << '\n'
      << "sous_nests_total{found=\"nothing\"} " << nothing_ << '\n';
  head("sous_requests_total", "counter", "HTTP requests, by route and status.");
  for (const auto& [key, count] : requests_)
    out << "sous_requests_total{route=\"" << key.first << "\",status=\"" << key.second << "\"} " << count << '\n';
  head("sous_sent_entries_total", "counter", "Entries that clients sent, by what became of them.");
  for (const auto& [taken, count] : sent_)
    out << "sous_sent_entries_total{taken=\"" << taken << "\"} " << count << '\n';
  head("sous_wanted_nests_total", "counter", "Nests that clients want and nobody of their name wanted before.");
  out << "sous_wanted_nests_total " << wanted_ << '\n';
  head("sous_jobs", "gauge", "Jobs for workers, by state.");
  for (const auto& [state, count] : jobs) out << "sous_jobs{state=\"" << state << "\"} " << count << '\n';
  head("sous_finished_jobs_total", "counter", "Jobs that workers reported, by what became of them.");
  for (const auto& [outcome, count] : finished_)
    out << "sous_finished_jobs_total{outcome=\"" << outcome << "\"} " << count << '\n';
  head("sous_shed_total", "counter", "Requests that were shed, by reason.");
  for (const auto& [reason, count] : shed_) out << "sous_shed_total{reason=\"" << reason << "\"} " << count << '\n';
  head("sous_limited_total", "counter", "Requests beyond what a party may ask for in a minute, by what and whose.");
  for (const auto& [key, count] : limited_)
    out << "sous_limited_total{limit=\"" << key.first << "\",party=\"" << key.second << "\"} " << count << '\n';
  head("sous_request_seconds", "histogram", "Time to answer a request.");
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    below += buckets_[i];
    out << "sous_request_seconds_bucket{le=\"" << bounds[i] << "\"} " << below << '\n';
  }
  below += buckets_.back();
  out << "sous_request_seconds_bucket{le=\"+Inf\"} " << below << '\n'
      << "sous_request_seconds_sum " << seconds_ << '\n'
      << "sous_request_seconds_count " << below << '\n';
  return out.str();
}

}  // namespace sous::server
