#include "benchmarks/compilers.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <set>

#include "client/command_line.h"
#include "client/options.h"
#include "client/places.h"
#include "client/process.h"
#include "tuning-db/json_reader.h"

namespace sous::benchmarks {
namespace {

using std::string;
using std::string_view;
using tuning_db::Json;
using tuning_db::ObjectReader;

constexpr std::size_t longest_list = 1000;
constexpr int most_threads = 1 << 12;

Result<Words> words(const Json& json, const string& where) {
  Words out;
  if (!json.is_array() || json.size() > longest_list)
    return fail("compilers.field", "a list of words is wanted", where);
  for (const Json& word : json) {
    if (!word.is_string()) return fail("compilers.field", "a list of words is wanted", where);
    out.push_back(word.get<string>());
  }
  return out;
}

Result<Words> optional_words(ObjectReader& in, const char* key, const string& where, Words otherwise = {}) {
  if (!in.has(key)) return otherwise;
  TRY(const Json* list, in.array(key, longest_list));
  return words(*list, where + "." + key);
}

Result<void> read_steps(ObjectReader& in, Compiler& compiler, const string& where) {
  if (in.has("steps") == in.has("command")) return in.refuse("either command or steps");
  if (in.has("command")) {
    TRY(compiler.command, optional_words(in, "command", where));
    if (compiler.command.empty()) return in.refuse("the command is empty");
    return {};
  }
  TRY(const Json* steps, in.array("steps", longest_list));
  bool writes = false;
  for (const Json& step : *steps) {
    TRY(auto line, words(step, where + ".steps"));
    if (line.empty()) return in.refuse("a step is empty");
    writes |= std::any_of(line.begin(), line.end(), [](const string& w) { return w.find("{output}") != string::npos; });
    compiler.steps.push_back(std::move(line));
  }
  if (!writes) return in.refuse("no step has {output} in it");
  return {};
}

Result<void> read_threads(ObjectReader& in, const Json& json, CompilerRow& row) {
  row.compiler.threads = 1;
  if (!in.has("threads")) return {};
  if (json["threads"].is_string()) {
    TRY(const string text, in.string("threads"));
    if (text != "all") return in.refuse("threads is a number or \"all\"");
    row.all_threads = true;
    return {};
  }
  TRY(const auto threads, in.integer("threads", 1, most_threads));
  row.compiler.threads = static_cast<int>(threads);
  return {};
}

Result<CompilerRow> read_row(const Json& json, const string& where) {
  TRY(auto in, ObjectReader::of(json, "compilers", where));
  CompilerRow row;
  TRY(row.compiler.name, in.string("name", 64));
  if (row.compiler.name.empty() || row.compiler.name.find_first_of("+@=,/ ") != string::npos) {
    return in.refuse("a name has none of + @ = , / and no blank");
  }
  TRY_VOID(read_steps(in, row.compiler, where));
  TRY(row.compiler.flags, optional_words(in, "flags", where));
  TRY(row.fast_math, optional_words(in, "fast_math", where, {"-ffast-math"}));
  TRY(row.compiler.link, optional_words(in, "link", where));
  TRY(row.compiler.identify, optional_words(in, "identify", where));
  TRY_VOID(read_threads(in, json, row));
  if (in.has("sources")) {
    TRY(row.compiler.sources, in.string("sources", 64));
  }
  if (in.has("about")) {
    TRY_VOID(in.string("about"));
  }
  if (in.has("environment")) {
    TRY(const Json* environment, in.object("environment"));
    for (const auto& [name, value] : environment->items()) {
      if (!value.is_string()) return in.refuse("environment." + name + " is no text");
      row.compiler.environment[name] = value.get<string>();
    }
  }
  if (in.has("needs")) {
    TRY(const Json* needs, in.array("needs", longest_list));
    for (const Json& need : *needs) {
      TRY(auto item, ObjectReader::of(need, "compilers", where + ".needs"));
      Need out;
      TRY(out.file, item.string("file"));
      TRY(out.package, item.string("package"));
      TRY_VOID(item.done());
      row.compiler.needs.push_back(std::move(out));
    }
  }
  TRY_VOID(in.done());
  return row;
}

// NAME[+fast-math][@THREADS]
struct Asked {
  string name;
  bool fast_math = false;
  int threads = 0;  // 0: as its row says
};
Result<Asked> parse_asked(const string& text) {
  Asked out;
  string_view rest = text;
  if (const auto at = rest.find('@'); at != string_view::npos) {
    const string_view number = rest.substr(at + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), out.threads);
    if (error != std::errc() || end != number.data() + number.size() || out.threads < 1 || out.threads > most_threads) {
      return fail("bench.compiler", "behind @ stands a number of threads", text);
    }
    rest = rest.substr(0, at);
  }
  if (rest.ends_with("+fast-math")) {
    out.fast_math = true;
    rest.remove_suffix(string_view("+fast-math").size());
  }
  out.name = rest;
  return out;
}

Result<Compiler> compiler_of(const string& text, const std::vector<CompilerRow>& known, int all) {
  if (const auto equals = text.find('='); equals != string::npos && equals > 0) {
    Compiler compiler{text.substr(0, equals), client::split_words(text.substr(equals + 1))};
    if (compiler.command.empty()) return fail("bench.compiler", "the command of " + compiler.name + " is empty");
    return compiler;
  }
  TRY(const Asked asked, parse_asked(text));
  // The last of a name wins: a file of the user's stands behind those that come with Sous.
  const auto row =
      std::find_if(known.rbegin(), known.rend(), [&](const CompilerRow& r) { return r.compiler.name == asked.name; });
  if (row == known.rend()) {
    Words names;
    for (const auto& r : known) names.push_back(r.compiler.name);
    return fail("bench.compiler", "there is no compiler " + asked.name + client::did_you_mean(asked.name, names) +
                                      " (others: NAME=COMMAND, or --config FILE)");
  }
  Compiler compiler = row->compiler;
  compiler.name = text;
  compiler.threads = asked.threads > 0 ? asked.threads : row->all_threads ? all : compiler.threads;
  compiler.fast_math = asked.fast_math;
  if (asked.fast_math) compiler.flags.insert(compiler.flags.end(), row->fast_math.begin(), row->fast_math.end());
  return compiler;
}

bool exists(const string& file) {
  if (file.find('/') != string::npos) return ::access(file.c_str(), R_OK) == 0;
  return client::find_program(file).has_value();
}

}  // namespace

Result<std::vector<CompilerRow>> parse_compiler_file(string_view text) {
  TRY(const Json json, tuning_db::parse_json(text, "compilers", {.bytes = 1 << 20, .depth = 16}));
  TRY(auto in, ObjectReader::of(json, "compilers", "compilers"));
  TRY(const auto version, in.integer("version", 0, 1 << 20));
  if (version != 1) return fail("compilers.version", "version " + std::to_string(version) + " is not known");
  TRY(const Json* list, in.array("compilers", longest_list));
  TRY_VOID(in.done());
  std::vector<CompilerRow> out;
  for (std::size_t k = 0; k < list->size(); ++k) {
    TRY(auto row, read_row((*list)[k], "compilers[" + std::to_string(k) + "]"));
    for (const auto& other : out) {
      if (other.compiler.name == row.compiler.name) {
        return fail("compilers.field", row.compiler.name + " stands twice", "compilers[" + std::to_string(k) + "]");
      }
    }
    out.push_back(std::move(row));
  }
  return out;
}

Result<std::vector<CompilerRow>> known_compilers(const string& path) {
  const char* folder = std::getenv("SOUS_SUITE_DIR");
  const string own = string(folder != nullptr ? folder : SOUS_DEFAULT_SUITE_DIR) + "/compilers.json";
  std::vector<CompilerRow> out;
  for (const string& file : path.empty() ? Words{own} : Words{own, path}) {
    TRY(const string text, client::read_file(file));
    auto rows = parse_compiler_file(text);
    if (!rows) return fail(rows.error().code, rows.error().why, file + ": " + rows.error().where);
    out.insert(out.end(), rows->begin(), rows->end());
  }
  return out;
}

Result<std::vector<Compiler>> parse_compilers(string_view text, const std::vector<CompilerRow>& known, int all) {
  std::vector<Compiler> out;
  while (!text.empty()) {
    const auto comma = text.find(',');
    TRY(auto compiler, compiler_of(string(text.substr(0, comma)), known, all));
    if (std::any_of(out.begin(), out.end(), [&](const Compiler& c) { return c.name == compiler.name; })) {
      return fail("bench.compiler", compiler.name + " stands twice");
    }
    out.push_back(std::move(compiler));
    text = comma == string_view::npos ? string_view{} : text.substr(comma + 1);
  }
  if (out.empty()) return fail("bench.compiler", "no compiler is named");
  return out;
}

string missing(const std::vector<Compiler>& compilers) {
  string out;
  std::set<string> packages;
  for (const auto& compiler : compilers) {
    for (const auto& need : compiler.needs) {
      if (exists(need.file)) continue;
      out += compiler.name + " needs " + need.file + " (Debian package " + need.package + ")\n";
      packages.insert(need.package);
    }
  }
  if (packages.empty()) return out;
  out += "./x bench-setup installs what the compilers that come with Sous need. By hand: apt-get install";
  for (const auto& package : packages) out += " " + package;
  return out;
}

string identity(const Compiler& compiler) {
  if (compiler.identify.empty()) return "";
  const auto said =
      client::run(compiler.identify, {.capture_output = true, .capture_errors = true, .limit_seconds = 30});
  if (!said || said->status != 0) return "";
  return said->output.substr(0, said->output.find('\n'));
}

Compiler sous_over_clang(const Words& options) {
  Compiler compiler{"sous", {client::program_beside("sous")}};
  compiler.command.insert(compiler.command.end(), options.begin(), options.end());
  compiler.command.push_back("clang-19");
  return compiler;
}

bool is_sous(const Compiler& compiler) {
  return !compiler.command.empty() &&
         (compiler.command[0] == client::program_beside("sous") || compiler.command[0] == "{sous}");
}

Compiler reporting(Compiler compiler, const string& report_file) {
  if (is_sous(compiler)) compiler.command.insert(compiler.command.begin() + 1, "--report=" + report_file);
  return compiler;
}

}  // namespace sous::benchmarks
