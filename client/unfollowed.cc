#include "client/unfollowed.h"

#include <algorithm>

#include "client/recipe_names.h"

namespace sous::client {
namespace {

using sdfg::Sdfg;
using std::string;

// A step that gave the loop this schedule says what came of it instead of "applied". Whether there was one.
bool mark_steps(std::vector<string>& steps, const string& loop, bool threads, const string& what) {
  bool found = false;
  for (string& step : steps) {
    if (!step.starts_with(threads ? "parallelize(" : "vectorize(")) continue;
    const bool names =
        step.find("loop=" + loop + ",") != string::npos || step.find("loop=" + loop + ")") != string::npos;
    constexpr std::string_view applied = ": applied";
    if (!names || !step.ends_with(applied)) continue;
    step.replace(step.size() - applied.size(), applied.size(), ": no effect: the loop" + what);
    found = true;
  }
  return found;
}

bool has_thread_loop(const Sdfg& sdfg, const std::vector<targets::Unfollowed>& unfollowed) {
  bool found = false;
  sdfg::visit(sdfg.root, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    if (loop == nullptr || !std::holds_alternative<sdfg::Parallel>(loop->schedule)) return;
    found = found || std::none_of(unfollowed.begin(), unfollowed.end(),
                                  [&](const auto& item) { return item.threads && item.loop == loop->symbol; });
  });
  return found;
}

}  // namespace

bool follows(const PreparedNest& nest, const Chosen& chosen, const sdfg::Sdfg& sdfg, const targets::Target& target,
             const std::vector<targets::Unfollowed>& unfollowed, bool forced, NestReport& report) {
  for (const auto& item : unfollowed) {
    const string what = (item.threads ? " runs on one thread: " : " does not run as vectors: ") + item.why;
    string loop = item.loop;
    for (const auto& choice : chosen.choices) {
      const string name = name_in_recipe(nest.unit(choice.unit), item.loop);
      if (mark_steps(report.units[choice.unit].steps, name, item.threads, what)) loop = name;
    }
    report.unfollowed.push_back("loop " + loop + what);
  }
  const bool threads = target.has_threads() && has_thread_loop(sdfg, unfollowed);
  if (threads) return true;
  const bool lost = std::any_of(unfollowed.begin(), unfollowed.end(), [](const auto& item) { return item.threads; });
  report.threads = 1;
  if (forced || !lost) return true;
  for (const auto& choice : chosen.choices) {
    if (choice.match.distance == 0 || choice.match.evidence.threads < 2) continue;
    report.why = "no evidence on one thread: " + choice.match.name + " was measured on " +
                 std::to_string(choice.match.evidence.threads) + " threads, but " + report.unfollowed.front();
    return false;
  }
  return true;
}

}  // namespace sous::client
