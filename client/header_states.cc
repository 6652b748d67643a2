#include "client/header_states.h"

#include <algorithm>
#include <set>

#include "client/result_cache.h"

namespace sous::client {

using std::string;
using std::string_view;

std::vector<string> prerequisites(string_view rule) {
  std::vector<string> files;
  const auto target = rule.find(": ");
  if (target == string_view::npos) return files;
  string file;
  const auto end_file = [&] {
    if (!file.empty()) files.push_back(std::move(file));
    file.clear();
  };
  for (std::size_t k = target + 2; k < rule.size(); ++k) {
    const char c = rule[k], next = k + 1 < rule.size() ? rule[k + 1] : '\0';
    if (c == ' ' || c == '\n' || (c == '\\' && next == '\n')) {
      end_file();
    } else if ((c == '\\' && (next == ' ' || next == '#')) || (c == '$' && next == '$')) {
      file += next;
      ++k;
    } else {
      file += c;
    }
  }
  end_file();
  return files;
}

string header_states(const std::vector<string>& objects, const TemporaryFolder& folder) {
  std::set<string> states;
  for (const string& object : objects) {
    const auto rule = read_file(object.substr(0, object.size() - 1) + "d");
    if (!rule) continue;
    for (const string& file : prerequisites(*rule))
      if (!file.starts_with(folder.path() + "/")) states.insert(file_state(file));
  }
  string lines;
  for (const string& state : states) lines += state + "\n";
  return lines;
}

bool headers_unchanged(string_view states) {
  while (!states.empty()) {
    const auto end = std::min(states.find('\n'), states.size());
    if (!state_holds(string(states.substr(0, end)))) return false;
    states.remove_prefix(std::min(end + 1, states.size()));
  }
  return true;
}

}  // namespace sous::client
