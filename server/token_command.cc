#include "server/token_command.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "sdfg/suggest.h"
#include "server/access.h"
#include "server/arguments.h"
#include "tuning-db/json_reader.h"
#include "tuning-db/ledger.h"
#include "tuning-db/places.h"
#include "tuning-db/store.h"

namespace sous::server {
namespace {

using tuning_db::as_one_line;

constexpr auto options =
    std::to_array<OptionName>({{"--db"}, {"--scopes"}, {"--last"}, {"--help", false}, {"-h", false}});

Result<void> add(tuning_db::Ledger& ledger, const std::string& name, const Arguments& arguments) {
  TRY(const auto scopes, tuning_db::parse_scopes(arguments.get("--scopes", "read,upload")));
  TRY(const NewToken made, new_token(name, scopes));
  TRY_VOID(ledger.add(made.token));
  std::printf("%s\n", made.text.c_str());
  std::fprintf(stderr, "sous: this is told once; clients show it as SOUS_TOKEN\n");
  return {};
}

Result<void> list(tuning_db::Ledger& ledger) {
  TRY(const auto tokens, ledger.tokens());
  for (const auto& token : tokens) {
    const std::string revoked = token.revoked.empty() ? "" : "  revoked " + token.revoked;
    std::puts(as_one_line(token.id + "  " + token.name + "  " + to_string(token.scopes) + "  since " + token.created +
                          revoked)
                  .c_str());
  }
  return {};
}

Result<void> log(tuning_db::Ledger& ledger, const Arguments& arguments) {
  const std::string text = arguments.get("--last", "100");
  int last = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), last);
  if (error != std::errc() || end != text.data() + text.size() || last < 1)
    return fail("cli.value", "--last takes a number of lines, not " + text);
  TRY(const auto writes, ledger.writes(last));
  for (const auto& write : writes) std::puts(as_one_line(write.time + "  " + write.who + "  " + write.what).c_str());
  return {};
}

}  // namespace

Result<void> token_command(std::span<const std::string> words) {
  TRY(const Arguments arguments, read_arguments(words, options));
  if (arguments.has("--help") || arguments.has("-h")) {
    std::fputs(token_usage, stdout);
    return {};
  }
  const auto& said = arguments.words;
  const std::string verb = said.empty() ? "" : said[0];
  const std::size_t wanted = verb == "add" || verb == "revoke" ? 2 : 1;
  if (verb != "add" && verb != "revoke" && verb != "list" && verb != "log")
    return fail("cli.unknown-command",
                verb.empty() ? "sous token wants a command: add, list, revoke or log"
                             : "there is no sous token " + verb + did_you_mean(verb, {"add", "list", "revoke", "log"}));
  if (said.size() != wanted)
    return fail("cli.value", "sous token " + verb + (wanted == 2 ? " takes one name" : " takes no words"));
  const std::filesystem::path path = arguments.get("--db", tuning_db::default_database_path());
  if (path.empty()) return fail("cli.value", "no home to keep a database in; name one with --db");
  // Makes the file, and brings it to this version.
  TRY_VOID(tuning_db::Store::open({.path = path, .seeds = tuning_db::seed_files()}));
  tuning_db::Ledger ledger(path);
  if (verb == "add") return add(ledger, said[1], arguments);
  if (verb == "list") return list(ledger);
  if (verb == "log") return log(ledger, arguments);
  TRY(const int revoked, ledger.revoke(said[1]));
  std::printf("revoked %d\n", revoked);
  return {};
}

}  // namespace sous::server
