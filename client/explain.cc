#include "client/explain.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <numeric>
#include <utility>

#include "client/choose.h"
#include "client/offload.h"

namespace sous::client {
namespace {

using std::string;
using std::string_view;

// Lines for loops that are not lifted: nobody reads a hundred of them.
constexpr std::size_t most_unlifted = 8;
constexpr std::size_t most_unused = 2;

struct Advice {
  string_view prefix;  // of a candidate's why_not (client/choose.cc)
  int near;            // how near to being used
  string_view step;
};

// Ordered from far to near; what fits none of them was refused by a step.
constexpr auto candidate_advice = std::to_array<Advice>({
    {"one before it", 0, ""},
    {"no evidence: never measured", 1, "sous db add measures the recipe in your program"},
    {"no evidence: too far away", 2, "--measure tries it here; or sous tune searches a recipe"},
    {"too little of it is believed", 3, "sous setup measures the known recipes on this machine"},
    {"no evidence on like hardware", 3, "sous setup measures the known recipes on this machine"},
    {"no evidence for this shape", 4, "--measure tries it at this size"},
    {"no evidence at this size", 4, "--measure tries it at this size"},
    {"not faster beyond", 5, ""},
    {"not faster", 5, ""},
    {"measured here: not faster", 5, ""},
});
constexpr Advice refused{"", 6, "a recipe of its own: sous tune searches and keeps it"};

const Advice& advice_for(const CandidateReport& candidate) {
  const auto* found =
      std::ranges::find_if(candidate_advice, [&](const Advice& a) { return candidate.why_not.starts_with(a.prefix); });
  return found == candidate_advice.end() ? refused : *found;
}

bool got_something(const UnitReport& unit) {
  return std::any_of(unit.candidates.begin(), unit.candidates.end(), [](const auto& c) { return c.used; });
}

// Of the units that were asked and got nothing, the one with most work; the whole counts only if there is no other.
const UnitReport* hottest_unserved(const NestReport& nest) {
  const UnitReport* best = nullptr;
  for (std::size_t k = nest.units.size() > 1 ? 1 : 0; k < nest.units.size(); ++k) {
    const UnitReport& unit = nest.units[k];
    if (!unit.asked || got_something(unit)) continue;
    if (best == nullptr || unit.work > best->work) best = &unit;
  }
  return best;
}

const CandidateReport* nearest_to_use(const UnitReport& unit) {
  const auto near = [](const CandidateReport& a, const CandidateReport& b) {
    return advice_for(a).near < advice_for(b).near;
  };
  const auto best = std::max_element(unit.candidates.begin(), unit.candidates.end(), near);
  return best == unit.candidates.end() ? nullptr : &*best;
}

// What keeps the nest from a recipe is its candidates; not so where it failed before or after they were looked at.
const UnitReport* judged(const NestReport& nest) {
  return nest.served || !nest.why.starts_with("no recipe with evidence") ? nullptr : hottest_unserved(nest);
}

string three_digits(double value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.3g", value);
  return buffer.data();
}

string fate_of(const NestReport& nest) {
  string out = nest.served ? "served: " + nest.why : "left as it is: " + reason_of(nest);
  if (nest.served && nest.threads > 1) out += ", on " + std::to_string(nest.threads) + " threads";
  // What the generated code asks on entry; below it the program's own loops run.
  if (nest.served && nest.min_work > 0)
    out += ", from " + three_digits(nest.min_work) + " executions of its statements on";
  for (const auto& why : nest.unfollowed) out += "; but " + why;
  const string step = next_step(nest);
  return step.empty() ? out : out + ". Next: " + step;
}

// The nearest that the nest did not get, of those within reach of being used: two, of which a nest that got nothing has
// named one.
string unused_of(const NestReport& nest) {
  std::vector<const CandidateReport*> unused;
  const UnitReport* asked = judged(nest);
  const CandidateReport* named = asked == nullptr ? nullptr : nearest_to_use(*asked);
  for (const UnitReport& unit : nest.units) {
    if (nest.served ? !got_something(unit) : &unit != asked) continue;
    for (const auto* candidate : nearest_unused(unit, most_unused + 1)) {
      if (candidate != named && candidate->match.distance <= candidate->match.reach) unused.push_back(candidate);
    }
  }
  std::ranges::sort(unused, nearer);
  const std::size_t most = named == nullptr ? most_unused : most_unused - 1;
  string out;
  for (std::size_t k = 0; k < std::min(most, unused.size()); ++k) {
    out += "    not used: " + unused[k]->match.name + " (distance " + three_digits(unused[k]->match.distance) +
           "): " + unused[k]->why_not + "\n";
  }
  return out;
}

string place(const Report& report, const frontends::Reason& reason) {
  return report.file + ":" + std::to_string(reason.line) + ":" + std::to_string(reason.column) + ": ";
}

string next(const frontends::Reason& reason) { return reason.advice.empty() ? "" : ". Next: " + string(reason.advice); }

// One line for each function and code, at its first place; then how many others there are.
string unlifted(const Report& report) {
  std::vector<std::pair<const frontends::Reason*, int>> groups;
  for (const auto& reason : report.reasons) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& group) {
      return group.first->function == reason.function && group.first->code == reason.code;
    });
    if (same == groups.end()) {
      groups.emplace_back(&reason, 1);
    } else {
      ++same->second;
    }
  }
  string out;
  std::map<string, int> others;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    const auto& [reason, count] = groups[k];
    if (k >= most_unlifted) {
      others[reason->code] += count;
      continue;
    }
    out += place(report, *reason) + reason->function + ": not lifted: " + reason->why + " [" + reason->code + "]";
    if (count > 1) out += ", and " + std::to_string(count - 1) + " more of this kind";
    out += next(*reason) + "\n";
  }
  string rest;
  for (const auto& [code, count] : others) rest += (rest.empty() ? "" : ", ") + code + " " + std::to_string(count);
  return rest.empty() ? out : out + report.file + ": also not lifted: " + rest + "\n";
}

}  // namespace

std::vector<std::size_t> hottest_first(const Report& report) {
  std::vector<std::size_t> order(report.nests.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t k) { return std::pair(-report.nests[k].work, k); });
  return order;
}

string reason_of(const NestReport& nest) {
  const UnitReport* unit = judged(nest);
  if (unit == nullptr) return nest.why;
  const string where = nest.units.size() > 1 ? unit->label + ": " : "";
  const auto offer = nest.why.find(not_offered);
  const string of_gpu = offer == string::npos ? "" : nest.why.substr(offer);
  const CandidateReport* candidate = nearest_to_use(*unit);
  if (candidate == nullptr) return where + "no recipe known for anything near it" + of_gpu;
  return where + candidate->match.name + " (distance " + three_digits(candidate->match.distance) + " of at most " +
         three_digits(candidate->match.reach) + "): " + candidate->why_not + of_gpu;
}

string kind_of(const NestReport& nest) {
  const UnitReport* unit = judged(nest);
  const CandidateReport* candidate = unit == nullptr ? nullptr : nearest_to_use(*unit);
  if (unit != nullptr && candidate == nullptr) return "no recipe known for anything near it";
  if (candidate != nullptr && &advice_for(*candidate) != &refused) return string(advice_for(*candidate).prefix);
  const string& why = candidate == nullptr ? nest.why : candidate->why_not;
  const auto open = why.rfind('[');
  return why.ends_with(']') && open != string::npos ? why.substr(open + 1, why.size() - open - 2) : why;
}

string next_step(const NestReport& nest) {
  const UnitReport* unit = judged(nest);
  if (unit == nullptr) return "";
  const CandidateReport* candidate = nearest_to_use(*unit);
  string step(candidate == nullptr ? refused.step : advice_for(*candidate).step);
  if (step.starts_with("--measure") && !nest.sizes_known) step.insert(9, " with --size");
  return step;
}

string short_text(const Report& report) {
  string out;
  std::size_t served = 0;
  for (const std::size_t k : hottest_first(report)) {
    const NestReport& nest = report.nests[k];
    out += nest.file + ":" + std::to_string(nest.line) + ": " + nest.function + ": " + fate_of(nest) + "\n" +
           unused_of(nest);
    served += nest.served ? 1 : 0;
  }
  out += unlifted(report);
  const auto count = std::to_string(report.nests.size());
  return out + report.file + ": " +
         (report.nests.empty() ? "no loop nest found" : std::to_string(served) + " of " + count + " nests served") +
         "; all there is to know: --explain=all\n";
}

string remarks(const Report& report) {
  string out;
  for (const std::size_t k : hottest_first(report)) {
    const NestReport& nest = report.nests[k];
    out += nest.file + ":" + std::to_string(nest.line) + ":" + std::to_string(std::max(nest.column, 1)) +
           ": remark: " + fate_of(nest) + " [-Rsous]\n";
  }
  for (const auto& reason : report.reasons) {
    out += place(report, reason) + "remark: not lifted: " + reason.why + " (" + reason.code + ")" + next(reason) +
           " [-Rsous]\n";
  }
  return out;
}

void explain(const Report& report, const Options& options) {
  if (options.explain == Explain::All) std::fputs(to_text(report).c_str(), stderr);
  if (options.explain == Explain::Short) std::fputs(short_text(report).c_str(), stderr);
  if (options.remarks) std::fputs(remarks(report).c_str(), stderr);
}

}  // namespace sous::client
