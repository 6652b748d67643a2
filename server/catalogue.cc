#include "server/catalogue.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "sdfg/text.h"
#include "tuning-db/hardware.h"
#include "tuning-db/json_reader.h"
#include "tuning-db/utc.h"

namespace sous::server {
namespace {

using tuning_db::Json;
using tuning_db::Summary;
using tuning_db::View;

constexpr std::size_t most_told_of_a_machine = 10;

std::string answer(Json json) {
  json["protocol"] = protocol_version;
  return tuning_db::dump(json) + "\n";
}

std::vector<const Summary*> visible(const std::vector<const Summary*>& entries, std::string_view asker) {
  std::vector<const Summary*> result;
  std::ranges::copy_if(entries, std::back_inserter(result), [&](const Summary* e) { return e->is_for(asker); });
  return result;
}

const Summary& best(const std::vector<const Summary*>& entries) {
  return **std::ranges::max_element(entries, {}, &Summary::ratio);
}

Json family_json(const tuning_db::FamilyInfo& family) {
  return {{"name", family.name}, {"title", family.title}, {"summary", family.summary}};
}

// A nest in a list: its best measurement stands for it. `entries`: not none.
Json brief(const std::vector<const Summary*>& entries) {
  const Summary& first = best(entries);
  return {{"hash", first.structural_hash}, {"name", first.name}, {"gain", first.ratio()}, {"entries", entries.size()}};
}

void add_kind(Json& nest, tuning_db::Family family, const tuning_db::NestKey& key) {
  nest["family"] = info(family).name;
  nest["type"] = sdfg::info(key.type).name;
  nest["depth"] = key.depth;
}

void add_kind(Json& nest, const View& view, const std::vector<const Summary*>& entries) {
  for (const Summary* entry : entries) {
    const auto vector = view.recipes()->vector(*entry);
    if (!vector || vector->size() != tuning_db::feature_count) continue;
    return add_kind(nest, tuning_db::family_of(*vector), view.recipes()->key(*entry).value_or(tuning_db::NestKey{}));
  }
}

bool contains(std::string_view text, std::string_view words) {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::ranges::search(text, words, same).begin() != text.end() || words.empty();
}

Json measurement(const Summary& entry) {
  return {{"id", entry.id},
          {"name", entry.name},
          {"machine", entry.hardware_class},
          {"size_class", entry.size_class},
          {"baseline_seconds", entry.baseline_seconds},
          {"tuned_seconds", entry.tuned_seconds},
          {"gain", entry.ratio()},
          {"threads", entry.threads},
          {"target", entry.target},
          {"compiler", entry.compiler},
          {"flags", entry.flags},
          {"time", entry.time}};
}

struct Machine {
  std::size_t entries = 0, gains = 0, nests = 0;
  std::string_view last_nest;
  const Summary* best = nullptr;
  std::string_view last;
  Json wanted = Json::array(), at_work = Json::array();
  std::size_t lacks = 0;
};

}  // namespace

std::string map_json(const tuning_db::Atlas& atlas, std::string_view asker) {
  Json nests = Json::array(), axes = Json::array(), kinds = Json::array();
  for (const tuning_db::Atlas::Place& place : atlas.places) {
    const auto entries = entries_of(*atlas.view, place.hash, asker);
    if (entries.empty()) continue;
    Json nest = brief(entries);
    nest["x"] = place.x;
    nest["y"] = place.y;
    add_kind(nest, place.family, place.key);
    nests.push_back(std::move(nest));
  }
  for (const auto& axis : atlas.axes) axes.push_back({{"share", axis.share}, {"features", axis.features}});
  for (const auto& family : tuning_db::families()) kinds.push_back(family_json(family));
  return answer({{"nests", std::move(nests)},
                 {"axes", std::move(axes)},
                 {"families", std::move(kinds)},
                 {"complete", atlas.view->recipes()->by_hash().size() <= tuning_db::most_mapped}});
}

std::string nests_json(const View& view, std::string_view words, std::string_view after, std::string_view asker,
                       std::size_t most) {
  Json nests = Json::array();
  const auto& all = view.recipes()->by_hash();
  std::string lower(words);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return std::tolower(c); });
  std::size_t looked = 0;
  std::string_view last;  // of those that the asker may see: of the others an answer says nothing
  for (auto at = all.upper_bound(after); at != all.end(); ++at) {
    if (std::ranges::none_of(at->second, [&](const Summary* entry) { return entry->is_for(asker); })) continue;
    const auto entries = visible(at->second, asker);
    if (++looked > most || nests.size() == most_listed) return answer({{"nests", std::move(nests)}, {"next", last}});
    last = at->first;
    const bool found = std::ranges::any_of(entries, [&](const Summary* entry) {
      return entry->structural_hash.starts_with(lower) || entry->id.starts_with(lower) || contains(entry->name, words);
    });
    if (!found) continue;
    Json nest = brief(entries);
    add_kind(nest, view, entries);
    nests.push_back(std::move(nest));
  }
  return answer({{"nests", std::move(nests)}});
}

std::vector<const Summary*> entries_of(const View& view, std::string_view hash, std::string_view asker) {
  return visible(view.recipes()->with_hash(hash), asker);
}

std::string nest_json(const View& view, const std::vector<const Summary*>& entries, const tuning_db::Entry& one) {
  Json nest = brief(entries), measurements = Json::array(), recipes = Json::array();
  add_kind(nest, view, entries);
  std::vector<const Summary*> sorted = entries;
  std::ranges::sort(sorted, {}, [](const Summary* e) {
    return std::tuple(-e->ratio(), std::string_view(e->hardware_class), std::string_view(e->id));
  });
  sorted.resize(std::min(sorted.size(), most_measurements));
  std::map<std::string_view, std::size_t> places;  // each recipe once
  for (const Summary* entry : sorted) {
    const auto [place, added] = places.try_emplace(entry->recipe_json, places.size());
    if (added) recipes.push_back(Json::parse(entry->recipe_json, nullptr, false));
    measurements.push_back(measurement(*entry));
    measurements.back()["recipe"] = place->second;
  }
  nest["measurements"] = std::move(measurements);
  nest["recipes"] = std::move(recipes);
  nest["text"] = sdfg::print(one.nest);
  return answer(std::move(nest));
}

std::string machines_json(const View& view, const Work* work, std::string_view asker) {
  std::map<std::string, Machine, std::less<>> machines;
  for (const auto& [hash, entries] : view.recipes()->by_hash())
    for (const Summary* entry : entries) {
      if (!entry->is_for(asker)) continue;
      Machine& machine = machines[entry->hardware_class];
      ++machine.entries;
      machine.gains += entry->ratio() > 1 ? 1 : 0;
      machine.nests += std::exchange(machine.last_nest, hash) != hash ? 1 : 0;
      if (machine.best == nullptr || entry->ratio() > machine.best->ratio()) machine.best = entry;
      machine.last = std::max(machine.last, std::string_view(entry->time));
    }
  for (const tuning_db::JobState& job : work ? work->jobs : std::vector<tuning_db::JobState>{})
    if (job.state == "leased")
      machines[job.hardware_class].at_work.push_back({{"hash", job.structural_hash},
                                                      {"kind", to_string(job.kind)},
                                                      {"worker", job.worker},
                                                      {"since", tuning_db::utc_text(job.since)}});
  for (const tuning_db::Wanted& one : work ? work->wanted : std::vector<tuning_db::Wanted>{}) {
    const auto hardware = tuning_db::hardware_from_json(one.hardware_json);
    Machine& machine = machines[hardware ? hardware_class(*hardware) : "?"];
    if (++machine.lacks > most_told_of_a_machine) continue;
    machine.wanted.push_back(
        {{"hash", one.structural_hash}, {"work", one.work}, {"parties", one.parties}, {"time", one.time}});
  }
  Json all = Json::array();
  for (auto& [name, machine] : machines) {
    Json json{{"class", name}, {"entries", machine.entries}, {"nests", machine.nests}, {"gains", machine.gains}};
    if (machine.best) {
      json["best"] = brief({machine.best});
      json["last"] = machine.last;
    }
    if (work) {
      json["lacks"] = {{"nests", machine.lacks}, {"first", std::move(machine.wanted)}};
      json["at_work"] = std::move(machine.at_work);
    }
    all.push_back(std::move(json));
  }
  return answer({{"machines", std::move(all)}});
}

std::string KeptAnswers::of(const std::shared_ptr<const View>& view, const std::string& asker,
                            const std::function<std::string()>& make) {
  constexpr std::size_t most = 256;  // askers
  const std::lock_guard lock(mutex_);
  if (std::exchange(view_, view) != view || answers_.size() >= most) answers_.clear();
  const auto known = answers_.find(asker);
  return known != answers_.end() ? known->second : answers_.emplace(asker, make()).first->second;
}

std::string lifted_json(const View& view, const LiftedSource& lifted,
                        const std::vector<std::vector<transforms::Match>>& matches) {
  Json nests = Json::array(), reasons = Json::array();
  const auto& entries = view.recipes()->entries();
  std::size_t at = 0;
  for (const auto& nest : lifted.nests) {
    Json units = Json::array();
    for (const std::string& label : nest.units) {
      const transforms::NestQuery& query = lifted.request.nests[at];
      Json near = Json::array();
      for (const transforms::Match& match : matches[at]) {
        const auto entry = std::ranges::lower_bound(entries, match.id, {}, &Summary::id);
        if (entry == entries.end() || entry->id != match.id) continue;
        Json one = measurement(*entry);
        one["hash"] = entry->structural_hash;
        one["distance"] = match.distance;
        one["embedding"] = match.embedding;
        one["reach"] = match.reach;
        near.push_back(std::move(one));
      }
      Json unit{{"label", label},
                {"hash", query.structural_hash},
                {"text", sdfg::print(query.nest)},
                {"near", std::move(near)}};
      add_kind(unit, tuning_db::family_of(tuning_db::features(query.nest, query.sizes)),
               tuning_db::nest_key(query.nest));
      units.push_back(std::move(unit));
      ++at;
    }
    Json one{{"function", nest.function}, {"line", nest.line}, {"units", std::move(units)}};
    if (!nest.why.empty()) one["why"] = nest.why;
    nests.push_back(std::move(one));
  }
  for (const auto& reason : lifted.reasons)
    reasons.push_back(
        {{"code", reason.code}, {"why", reason.why}, {"function", reason.function}, {"line", reason.line}});
  return answer({{"nests", std::move(nests)}, {"reasons", std::move(reasons)}});
}

}  // namespace sous::server
