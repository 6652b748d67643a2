#include "benchmarks/suite.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <set>

#include "client/options.h"
#include "client/process.h"
#include "tuning-db/json_reader.h"

namespace sous::benchmarks {
namespace {

using std::string;
using std::string_view;
using tuning_db::Json;
using tuning_db::ObjectReader;

constexpr std::size_t longest_list = 10'000;

Result<Words> words(const Json& json, const string& where) {
  if (!json.is_array() || json.size() > longest_list) return fail("suite.field", "a list of words is wanted", where);
  Words out;
  for (const Json& word : json) {
    if (!word.is_string()) return fail("suite.field", "a list of words is wanted", where);
    out.push_back(word.get<string>());
  }
  return out;
}

Result<Words> words(ObjectReader& reader, const char* key, const string& where) {
  TRY(const Json* list, reader.array(key, longest_list));
  return words(*list, where + "." + key);
}

Result<Words> optional_words(ObjectReader& reader, const char* key, const string& where) {
  if (!reader.has(key)) return Words{};
  return words(reader, key, where);
}

Result<std::map<string, Words>> named_words(const Json& json, const string& where) {
  std::map<string, Words> out;
  for (const auto& [name, list] : json.items()) {
    TRY(out[name], words(list, where + "." + name));
  }
  return out;
}

Result<void> read_types(Suite& suite, const Json& json) {
  for (const auto& [name, row] : json.items()) {
    const string where = "types." + name;
    TRY(auto reader, ObjectReader::of(row, "suite", where));
    TRY(const string text, reader.string("element"));
    const auto element = parse_element(text);
    if (!element) return reader.refuse("there is no element " + text);
    TRY(auto flags, words(reader, "flags", where));
    TRY_VOID(reader.done());
    suite.types[name] = {*element, std::move(flags)};
  }
  return {};
}

Result<void> read_time(Suite& suite, const Json& json) {
  TRY(auto reader, ObjectReader::of(json, "suite", "time"));
  TRY(const string stream, reader.string("stream"));
  if (stream != "stdout" && stream != "stderr") return reader.refuse("stream is stdout or stderr, not " + stream);
  suite.time_stream = stream == "stdout" ? Stream::Output : Stream::Errors;
  TRY(suite.time_prefix, reader.string("prefix"));
  if (suite.time_prefix.empty()) return reader.refuse("the prefix is empty");
  return reader.done();
}

Result<void> read_programs(Suite& suite, const Json& json) {
  std::set<string> names;
  for (const Json& row : json) {
    const string where = "programs[" + std::to_string(suite.programs.size()) + "]";
    TRY(auto reader, ObjectReader::of(row, "suite", where));
    Program program;
    TRY(program.name, reader.string("name"));
    TRY(program.sources, words(reader, "sources", where));
    TRY(program.flags, optional_words(reader, "flags", where));
    TRY(program.types, words(reader, "types", where));
    if (reader.has("tolerance")) {
      TRY(program.tolerance, reader.number("tolerance"));
    }
    if (reader.has("alternatives")) {
      TRY(const Json* alternatives, reader.object("alternatives"));
      TRY(program.alternatives, named_words(*alternatives, where + ".alternatives"));
    }
    if (reader.has("arguments")) {
      TRY(const Json* arguments, reader.object("arguments"));
      TRY(program.arguments, named_words(*arguments, where + ".arguments"));
    }
    if (reader.has("work")) {
      TRY(const Json* work, reader.object("work"));
      TRY(auto formulas, ObjectReader::of(*work, "suite", where + ".work"));
      TRY(program.operations, formulas.string("operations"));
      TRY(program.elements, formulas.string("elements"));
      TRY_VOID(formulas.done());
    }
    TRY_VOID(reader.done());
    if (program.name.empty() || program.name.find_first_of("/, ") != string::npos) {
      return reader.refuse("a name has no slash, comma or blank");  // it becomes a file name
    }
    if (program.sources.empty() || program.types.empty()) return reader.refuse("sources and types must not be empty");
    if (!names.insert(program.name).second) return fail("suite.name", program.name + " stands twice", where);
    for (const auto& type : program.types) {
      if (!suite.types.contains(type)) return fail("suite.name", "there is no type " + type, where);
    }
    for (const auto& [size, list] : program.arguments) {
      if (!suite.sizes.contains(size)) return fail("suite.name", "there is no size " + size, where);
    }
    suite.programs.push_back(std::move(program));
  }
  return {};
}

}  // namespace

const Program* Suite::find(string_view program) const {
  const auto found =
      std::find_if(programs.begin(), programs.end(), [&](const Program& p) { return p.name == program; });
  return found == programs.end() ? nullptr : &*found;
}

Result<Suite> parse_suite(string_view json, const string& folder) {
  TRY(const Json document, tuning_db::parse_json(json, "suite"));
  TRY(auto reader, ObjectReader::of(document, "suite", "suite"));
  TRY(const auto version, reader.integer("version", 0, 1'000'000));
  if (version != 1) return fail("suite.version", "version 1 is read, not " + std::to_string(version));
  Suite suite;
  suite.folder = folder;
  TRY(suite.name, reader.string("name"));
  if (reader.has("about")) {
    TRY(suite.about, reader.string("about"));
  }
  if (reader.has("kernel")) {
    TRY(suite.kernel, reader.string("kernel"));
  }
  TRY(suite.flags, optional_words(reader, "flags", "suite"));
  TRY(suite.link, optional_words(reader, "link", "suite"));
  if (reader.has("compilers")) {
    TRY(suite.compilers, reader.string("compilers"));
  }
  if (reader.has("dump") != reader.has("time")) return reader.refuse("dump and time stand together, or neither does");
  TRY(suite.dump, optional_words(reader, "dump", "suite"));
  TRY(suite.arguments, optional_words(reader, "arguments", "suite"));
  TRY(const Json* sizes, reader.object("sizes"));
  TRY(suite.sizes, named_words(*sizes, "sizes"));
  TRY(const Json* types, reader.object("types"));
  TRY_VOID(read_types(suite, *types));
  const bool times_itself = reader.has("time");
  if (times_itself) {
    TRY(const Json* time, reader.object("time"));
    TRY_VOID(read_time(suite, *time));
  }
  TRY(const Json* programs, reader.array("programs", longest_list));
  TRY_VOID(read_programs(suite, *programs));
  if (reader.has("groups")) {
    TRY(const Json* groups, reader.object("groups"));
    TRY(suite.groups, named_words(*groups, "groups"));
  }
  TRY_VOID(reader.done());
  for (const auto& [group, members] : suite.groups) {
    for (const auto& member : members) {
      if (suite.find(member) == nullptr) return fail("suite.name", "there is no program " + member, "groups." + group);
    }
  }
  const auto names_file = [](const string& word) { return word.find("{file}") != string::npos; };
  if (times_itself && std::none_of(suite.dump.begin(), suite.dump.end(), names_file)) {
    return fail("suite.field", "no word has {file} in it", "dump");
  }
  return suite;
}

Result<Suite> read_suite(const string& name) {
  string path = name;
  if (!name.ends_with(".json")) {
    const char* folder = std::getenv("SOUS_SUITE_DIR");
    path = string(folder != nullptr ? folder : SOUS_DEFAULT_SUITE_DIR) + "/" + name + "/suite.json";
  }
  auto text = client::read_file(path);
  if (!text && path != name) return fail("suite.unknown", "there is no suite " + name + " (no file " + path + ")");
  if (!text) return std::unexpected(text.error());
  auto suite = parse_suite(*text, client::folder_of(path));
  if (!suite) suite.error().where = path + (suite.error().where.empty() ? "" : ": " + suite.error().where);
  return suite;
}

Result<std::vector<Program>> select(const Suite& suite, string_view names) {
  if (names.empty()) return suite.programs;
  std::set<string> chosen;
  while (!names.empty()) {
    const auto comma = names.find(',');
    const string name(names.substr(0, comma));
    names = comma == string_view::npos ? string_view{} : names.substr(comma + 1);
    if (const auto group = suite.groups.find(name); group != suite.groups.end()) {
      chosen.insert(group->second.begin(), group->second.end());
    } else if (suite.find(name) != nullptr) {
      chosen.insert(name);
    } else {
      Words known;
      for (const auto& program : suite.programs) known.push_back(program.name);
      for (const auto& [known_group, members] : suite.groups) known.push_back(known_group);
      return fail("suite.name", "there is no program " + name + client::did_you_mean(name, known), suite.name);
    }
  }
  std::vector<Program> out;
  for (const auto& program : suite.programs) {
    if (chosen.contains(program.name)) out.push_back(program);
  }
  return out;
}

Words dump_arguments(const Suite& suite, const string& file) {
  Words out = suite.dump;
  for (auto& word : out) {
    if (const auto at = word.find("{file}"); at != string::npos) word.replace(at, 6, file);
  }
  return out;
}

Result<double> parse_time(const Suite& suite, string_view printed) {
  while (!printed.empty()) {
    const auto end = printed.find('\n');
    string_view line = printed.substr(0, end);
    printed = end == string_view::npos ? string_view{} : printed.substr(end + 1);
    if (!line.starts_with(suite.time_prefix)) continue;
    line.remove_prefix(suite.time_prefix.size());
    double seconds = 0;
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), seconds);
    if (error == std::errc() && std::isfinite(seconds) && seconds >= 0) return seconds;
  }
  return fail("bench.no-time", "no line \"" + suite.time_prefix + "…\" with a number of seconds");
}

}  // namespace sous::benchmarks
