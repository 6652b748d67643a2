// sous db: the tuning database from the command line.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>

#include "client/commands.h"
#include "client/db_add.h"
#include "client/places.h"
#include "client/process.h"
#include "client/report.h"
#include "client/send.h"
#include "client/sources.h"
#include "sdfg/text.h"
#include "tuning-db/backup.h"
#include "tuning-db/database.h"
#include "tuning-db/migrations.h"
#include "tuning-db/places.h"
#include "tuning-db/schema.h"

namespace sous::client {
namespace {

using std::string;
using tuning_db::Store;
using Words = std::vector<string>;

Result<Store> open_store(const Options& options) {
  const string path = database_path(options);
  if (path.empty()) return fail("cli.value", "no database: give --db PATH");
  return Store::open({.path = path, .seeds = tuning_db::seed_files()});
}

Result<tuning_db::Entry> entry_of(const Store& store, const Words& words, const char* command) {
  if (words.size() != 1) return fail("cli.value", string("sous db ") + command + " takes one id");
  TRY(auto entry, store.get(words[0]));
  if (!entry) return fail("db.no-entry", "there is no entry " + words[0] + "; sous db list shows all");
  return std::move(*entry);
}

Result<int> add(const Invocation& invocation, const Words& words) {
  if (words.size() != 1) return fail("cli.value", "sous db add takes one C file");
  TRY(auto store, open_store(invocation.options));  // first: measuring for nothing would be a pity
  TRY(const auto entries,
      measure_entries(words[0], invocation.after, invocation.options, {.pace = {.most = invocation.options.runs}}));
  for (const auto& entry : entries) {
    TRY(const bool added, store.add(entry));
    std::printf("%s %s: %.4g s, %.4g s with the recipe (%s, spread %.1f %% and %.1f %%)%s\n",
                tuning_db::entry_id(entry).substr(0, 12).c_str(), entry.name.c_str(), entry.baseline_seconds,
                entry.tuned_seconds, speed(entry.baseline_seconds / entry.tuned_seconds).c_str(),
                entry.baseline_spread * 100, entry.tuned_spread * 100, added ? "" : " (known already)");
  }
  return 0;
}

Result<int> list(const Invocation& invocation, const Words&) {
  TRY(const auto store, open_store(invocation.options));
  TRY(const auto all, store.list());
  for (const auto& s : all) {
    std::printf("%s  %-22s %6.2fx  %-8s %2d threads  %-10s %s%s\n", s.id.substr(0, 12).c_str(), s.name.c_str(),
                s.ratio(), s.target.c_str(), s.threads, s.size_class.c_str(), s.hardware_class.c_str(),
                s.only_for ? ("  only for " + *s.only_for).c_str() : "");
  }
  return 0;
}

Result<int> show(const Invocation& invocation, const Words& words) {
  TRY(const auto store, open_store(invocation.options));
  TRY(const auto entry, entry_of(store, words, "show"));
  if (invocation.options.emit == "json") {
    std::printf("%s\n", tuning_db::to_json(entry).c_str());
    return 0;
  }
  const auto evidence = tuning_db::evidence(entry);
  std::printf("id        %s\nname      %s\nhash      %s\nrecipe    %s\n", tuning_db::entry_id(entry).c_str(),
              entry.name.c_str(), entry.structural_hash.c_str(), transforms::to_text(entry.recipe).c_str());
  std::printf("baseline  %.6g s, spread %.1f %%\nrecipe    %.6g s, spread %.1f %%, %s, %d threads\n",
              entry.baseline_seconds, entry.baseline_spread * 100, entry.tuned_seconds, entry.tuned_spread * 100,
              speed(evidence.ratio()).c_str(), entry.threads);
  std::printf("size      %s, work %.4g\nhardware  %s, %s\ncompiler  %s %s\nfrom      %s, %s\n\n%s",
              evidence.size_class.c_str(), evidence.work, evidence.hardware.c_str(), entry.hardware.model.c_str(),
              entry.compiler.c_str(), entry.flags.c_str(), entry.provenance.c_str(), entry.time.c_str(),
              sdfg::print(entry.nest).c_str());
  return 0;
}

Result<int> remove(const Invocation& invocation, const Words& words) {
  TRY(auto store, open_store(invocation.options));
  TRY(const auto entry, entry_of(store, words, "remove"));
  TRY_VOID(store.remove(tuning_db::entry_id(entry)));
  std::printf("removed %s %s\n", tuning_db::entry_id(entry).substr(0, 12).c_str(), entry.name.c_str());
  return 0;
}

Result<int> import(const Invocation& invocation, const Words& words) {
  if (words.empty()) return fail("cli.value", "sous db import takes files of JSON lines");
  TRY(auto store, open_store(invocation.options));
  for (const auto& file : words) {
    TRY(const string lines, read_file(file));
    TRY(const auto result, store.import_lines(lines, file));
    std::printf("%s: %d added, %d known already\n", file.c_str(), result.added, result.known);
  }
  return 0;
}

Result<int> export_(const Invocation& invocation, const Words&) {
  TRY(const auto store, open_store(invocation.options));
  TRY(const string lines, store.export_lines());
  if (!invocation.options.output.empty()) {
    TRY_VOID(write_file(invocation.options.output, lines));
  } else {
    std::fputs(lines.c_str(), stdout);
  }
  return 0;
}

Result<int> send(const Invocation& invocation, const Words& words) {
  if (invocation.options.server.empty()) return fail("cli.value", "no server to send to: give --server URL");
  TRY(const auto store, open_store(invocation.options));
  Words ids = words;
  if (ids.empty()) {
    TRY(ids, store.own());
  }
  std::vector<tuning_db::Entry> entries;
  for (const auto& id : ids) {
    TRY(auto entry, entry_of(store, {id}, "send"));
    entries.push_back(std::move(entry));
  }
  TRY(const auto taken, send_entries(entries, invocation.options.server));
  int refused = 0;
  for (std::size_t i = 0; i < taken.size(); ++i) {
    const bool no = taken[i].taken == server::Taken::refused || taken[i].taken == server::Taken::later;
    refused += no ? 1 : 0;
    std::printf("%s %s: %s%s\n", tuning_db::entry_id(entries[i]).substr(0, 12).c_str(), entries[i].name.c_str(),
                string(to_string(taken[i].taken)).c_str(),
                taken[i].error.code.empty() ? "" : (": " + taken[i].error.to_string()).c_str());
  }
  return refused == 0 ? 0 : 1;
}

Result<string> path_to_copy(const Invocation& invocation, const Words& words, const char* verb) {
  if (words.size() != 1) return fail("cli.value", string("sous db ") + verb + " takes one file");
  string path = database_path(invocation.options);
  if (path.empty()) return fail("cli.value", "no database: give --db PATH");
  return path;
}

Result<int> backup(const Invocation& invocation, const Words& words) {
  TRY(const string path, path_to_copy(invocation, words, "backup"));
  TRY_VOID(tuning_db::back_up(path, words[0]));
  std::printf("%s: all of %s, as it was at one moment\n", words[0].c_str(), tuning_db::shown(path).c_str());
  return 0;
}

Result<int> restore(const Invocation& invocation, const Words& words) {
  TRY(const string path, path_to_copy(invocation, words, "restore"));
  TRY(const auto kept, tuning_db::restore(words[0], path));
  std::printf("%s: what %s holds%s\n", tuning_db::shown(path).c_str(), words[0].c_str(),
              kept.empty() ? "" : ("; what was there is kept as " + kept.string()).c_str());
  return 0;
}

Result<int> migrate(const Invocation& invocation, const Words& words) {
  const string path = database_path(invocation.options);
  if (path.empty()) return fail("cli.value", "no database: give --db PATH");
  int to = tuning_db::newest_schema;
  const string text = words.empty() ? std::to_string(to) : words[0];
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), to);
  if (words.size() > 1 || wrong != std::errc() || end != text.data() + text.size() || to < 1 ||
      to > tuning_db::newest_schema)
    return fail("cli.value", "sous db migrate takes a schema from 1 to " + std::to_string(tuning_db::newest_schema));
  TRY_VOID(tuning_db::migrate_database(path, to));
  std::printf("%s: schema %d\n", tuning_db::shown(path).c_str(), to);
  return 0;
}

Result<int> stats(const Invocation& invocation, const Words&) {
  TRY(const auto store, open_store(invocation.options));
  TRY(const auto s, store.stats());
  std::printf("entries %lld, nests %lld, machines %lld, %lld KiB, schema %d, embedding %s\n",
              static_cast<long long>(s.entries), static_cast<long long>(s.nests), static_cast<long long>(s.machines),
              static_cast<long long>(s.bytes >> 10), s.schema, s.embedding.c_str());
  for (const auto& [target, count] : s.by_target)
    std::printf("  %-10s %lld\n", target.c_str(), static_cast<long long>(count));
  for (const auto& [hw, count] : s.by_hardware)
    std::printf("  %-36s %lld\n", hw.c_str(), static_cast<long long>(count));
  return 0;
}

Result<int> verify(const Invocation& invocation, const Words&) {
  TRY(const auto store, open_store(invocation.options));
  TRY(const auto problems, store.verify());
  for (const auto& problem : problems) std::fprintf(stderr, "sous: %s\n", problem.to_string().c_str());
  if (problems.empty()) std::puts("every entry is sound");
  return problems.empty() ? 0 : 1;
}

Result<int> rebuild_index(const Invocation& invocation, const Words&) {
  TRY(auto store, open_store(invocation.options));
  TRY_VOID(store.rebuild_embeddings());
  TRY(const auto s, store.stats());
  std::printf("vectors of %lld entries made anew with %s\n", static_cast<long long>(s.entries), s.embedding.c_str());
  return 0;
}

struct Verb {
  std::string_view name;
  Result<int> (*run)(const Invocation&, const Words&);
};
constexpr auto verbs = std::to_array<Verb>({
    {"add", add},
    {"list", list},
    {"show", show},
    {"remove", remove},
    {"import", import},
    {"export", export_},
    {"send", send},
    {"backup", backup},
    {"restore", restore},
    {"migrate", migrate},
    {"stats", stats},
    {"verify", verify},
    {"rebuild-index", rebuild_index},
});

}  // namespace

Result<int> command_db(const Invocation& invocation) {
  const string verb = invocation.words.empty() ? "" : invocation.words[0];
  const auto found = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& v) { return v.name == verb; });
  if (found == verbs.end()) {
    Words known;
    for (const auto& v : verbs) known.emplace_back(v.name);
    return fail("cli.unknown-command", verb.empty() ? "sous db wants a command; see sous help db"
                                                    : "there is no sous db " + verb + did_you_mean(verb, known));
  }
  return found->run(invocation, Words(invocation.words.begin() + 1, invocation.words.end()));
}

}  // namespace sous::client
