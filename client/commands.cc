#include "client/commands.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "client/compile_command.h"
#include "client/pipeline.h"
#include "client/places.h"
#include "client/process.h"
#include "client/stats.h"
#include "transforms/step.h"

namespace sous::client {
namespace {

using std::string;

BenchMain bench_main = nullptr;

void print(const string& text) { std::fputs(text.c_str(), stdout); }

Result<int> become_server(const Invocation& invocation, const std::vector<string>& words) {
  const string beside = program_beside("sous-serve");
  std::vector<string> command{std::filesystem::exists(beside) ? beside : "sous-serve"};
  command.insert(command.end(), words.begin(), words.end());
  command.insert(command.end(), invocation.words.begin(), invocation.words.end());
  return std::unexpected(become(command));
}

Result<int> command_serve(const Invocation& invocation) { return become_server(invocation, {}); }

Result<int> command_token(const Invocation& invocation) { return become_server(invocation, {"token"}); }

Result<int> command_bench(const Invocation& invocation) {
  SOUS_ASSERT(bench_main != nullptr);
  return bench_main(invocation.words);
}

Result<int> command_stats(const Invocation& invocation) {
  if (invocation.words.size() > 1) return fail("cli.value", "sous stats takes one folder");
  TRY(const auto entries, read_log(invocation.options.log, invocation.words.empty() ? "." : invocation.words[0]));
  print(stats_text(entries));
  return 0;
}

Result<int> command_help(const Invocation& invocation);

constexpr auto table = std::to_array<Command>({
    {"opt", "opt FILE.c [-o DIR] [options] [-- compiler flags]", "rewrite a C file: source to source",
     "Writes into DIR (default: sous-out) the rewritten C with #line for debuggers, the generated C++ beside it\n"
     "(FILE.sous.cpp), and the report. With --emit it prints to standard output instead. The compiler's flags decide\n"
     "what the code means (-I, -D, -std=, -ffast-math, -ffp-contract=).\n",
     command_opt},
    {"query", "query FILE.c [options] [-- compiler flags]", "the nests of a file and their nearest neighbours",
     "For each nest and each of its units: what would be used, and the nearest recipes that would not, at what "
     "distance\n"
     "and why. --explain=all: everything that the sources know, with recipes and steps.\n",
     command_query},
    {"nests", "nests FILE.c [--nest F] [--size n=2000,…] [-- compiler flags]",
     "the nests of a file in normal form, as JSON",
     "One line: for each nest its function, its line and its units; for each loop that is in none, why; and, as a "
     "text, "
     "the\n"
     "body of the POST /v1/query that asks a server about all units, in this order.\n",
     command_nests},
    {"db", "db add|list|show|remove|import|export|send|backup|restore|migrate|stats|verify|rebuild-index …",
     "look into and fill the tuning database",
     "db add FILE.c --recipe R.json [-- compiler flags]   measure a recipe in a program of yours, and store it\n"
     "db list                                             all entries, one per line\n"
     "db show ID                                          one entry: recipe, evidence, nest\n"
     "db remove ID                                        take an entry out\n"
     "db import FILE.jsonl…                               add entries (all of a file or none)\n"
     "db export                                           all entries as JSON lines, on standard output\n"
     "db send [ID…] --server URL                          to a server: these, or all that were measured here\n"
     "db backup FILE                                      all of it as one file, also while it is written\n"
     "db restore FILE                                     what such a file holds, also while it is served\n"
     "db migrate [SCHEMA]                                 to the newest schema, or back to an older one\n"
     "db stats                                            how many entries, machines, targets\n"
     "db verify                                           check every entry and the file itself\n"
     "db rebuild-index                                    make the derived vectors anew\n",
     command_db},
    {"cache", "cache [show|clear]", "results of earlier compiles",
     "A file that is compiled again with the same text, compiler, options and database gets the same result without\n"
     "being looked at. The folder is SOUS_CACHE_DIR (off: none), at most SOUS_CACHE_MB large (default: 512).\n",
     command_cache},
    {"fingerprint", "fingerprint [options] [FILE.c…]", "what objects depend on besides source and compiler",
     "One line that changes when the database, this program, the machine or Sous's options do; with files, their lock\n"
     "files too. For ccache in front of Sous: CCACHE_COMPILERCHECK=\"sous fingerprint\".\n",
     command_fingerprint},
    {"hw", "hw [measure]", "what this machine is to recipes",
     "Cores, vector width, caches; fma peak and triad bandwidth, measured once and kept. --emit=json for programs.\n"
     "GPUs: multiprocessors, memory, peaks by their clocks; what a launch and a transfer cost, measured once and "
     "kept.\n",
     command_hw},
    {"setup", "setup [--only NAMES] [--budget TIME] [--again] [-- compiler flags]",
     "measure the known recipes on this machine, once",
     "What the database knows from other machines is believed only in part here (docs/tuning-db.md). This measures "
     "it:\n"
     "each recipe in the program that it came from, where Sous brings that program along, otherwise on its nest in "
     "normal\n"
     "form, in turns with the original, and stores what came of it, faster or not. Worth most first; in at most ten\n"
     "minutes, or --budget. Ctrl-C keeps what is done; a second call goes on. With flags (sous setup -- gcc -O2) it\n"
     "measures for builds with these flags; without, as each entry was measured elsewhere.\n",
     command_setup},
    {"tune", "tune FILE.c|--build DIR [--nest F] [--profile P] [--size n=2000,…] [--budget TIME] [-- compiler flags]",
     "search recipes for a file's nests, and keep what is faster",
     "For each nest, in a minute or --budget: what strategies and recipes of similar nests propose, measured against "
     "the\n"
     "nest as it is written, in a program of its own with random data, and the values that they leave open, one after "
     "the\n"
     "other. What is faster beyond doubt, with the same bits, goes into the database and serves the next build. Sizes\n"
     "that the source does not say: --size, or one that takes seconds. Ctrl-C keeps what is done.\n"
     "With --build, the nests of a folder that got nothing when it was last built through Sous, the hottest first, "
     "each\n"
     "with the flags that its file was compiled with: sous stats shows them. With --profile the hottest is what took "
     "most\n"
     "time in a run (what perf record, gprof or llvm-profdata merge wrote), and what took less than a hundredth is "
     "left "
     "out.\n",
     command_tune},
    {"strategies", "strategies [FILE.c] [--nest F] [-- compiler flags]",
     "what recipes the strategies write for a file's nests",
     "For each nest and each strategy: its recipes, what they leave open, and how many of their steps apply; or why "
     "it\n"
     "has none. Without a file: the strategies.\n",
     command_strategies},
    {"serve",
     "serve [--db PATH] [--listen HOST:PORT] [--read-only] [--private] [--lease SECONDS] [--log WHAT] [--tls-cert FILE "
     "--tls-key FILE]",
     "the recipe server",
     "Answers over HTTP what the database knows (docs/server.md); runs the program sous-serve. With --read-only "
     "nobody\n"
     "writes through it; with --private who asks shows a token (SOUS_TOKEN), too. --lease: how long a worker (sous "
     "work)\n"
     "holds a job without a word (default: 60 s). With a certificate and its key (PEM; read again on SIGHUP) it speaks "
     "TLS:\n"
     "clients ask as https://. --limit-requests, --limit-bytes, --limit-nests N: what a token's name, or else an "
     "address,\n"
     "may ask for in a minute; 0: as much as it likes. --log none, events (default) or requests: what is said on "
     "standard\n"
     "error, in lines of JSON.\n",
     command_serve, true},
    {"share", "share FILE.c [--show] [-- compiler flags]", "tell a server what a file's nests lack",
     "The nests that are left as they are, for which nothing was measured on this class of machine: their normal "
     "forms\n"
     "and sizes, never source text. Builds do so with SOUS_SHARE=wanted, for each file, within the server's deadline.\n"
     "--show prints what would be sent, and sends nothing.\n",
     command_share},
    {"token", "token add|list|revoke|log …", "who may do what on a server over this database",
     "token add NAME [--scopes read,upload,work,admin]    make a token and print it; only its hash is kept\n"
     "token list                                          all tokens, revoked ones too\n"
     "token revoke NAME|ID                                from now on it is worth nothing\n"
     "token log [--last N]                                what was written through servers, and by whom\n"
     "All take --db PATH. A client shows its token as SOUS_TOKEN; docs/server.md says what scopes are.\n",
     command_token, true},
    {"work",
     "work --server URL [--once] [--idle-exit SECONDS] [--budget TIME] [--threads N] [--isa NAME] [-- COMPILER]",
     "tune what the clients of a server lack",
     "Takes jobs from a server, one after the other: searches recipes for nests that builds of its clients want\n"
     "(SOUS_SHARE=wanted), a minute or --budget for each, measures again what one client alone claims, and measures\n"
     "what gains on other machines and is not known on this class. What it finds it sends there. SOUS_TOKEN has the\n"
     "scopes work and upload. Ctrl-C gives the job back. docs/server.md has more.\n",
     command_work},
    {"bench", "bench [suite] …", "the benchmark harness", "`sous bench` alone lists what it can do.\n", command_bench,
     true},
    {"stats", "stats [FOLDER] [--log FILE]", "what the last builds of a project got",
     "Of each object below the folder (default: this one) the last compilation: files, nests lifted and served, the\n"
     "gain that is promised, the time that it took, the most frequent reasons why not, and the hottest nests that got\n"
     "nothing. From the log that all compilers append to: $SOUS_LOG, or sous/build.log in the user's cache folder.\n",
     command_stats},
    {"help", "help [command|step]", "this, or about one command or one transformation step",
     "`sous help steps` lists the steps.\n", command_help},
});

std::vector<string> command_names() {
  std::vector<string> names;
  for (const auto& command : table) names.emplace_back(command.name);
  return names;
}

const Command* find_command(std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Command& c) { return c.name == name; });
  return found == table.end() ? nullptr : &*found;
}

constexpr const char* introduction =
    "sous: a source-to-source optimizing compiler that remembers\n\n"
    "  sous [options] clang-19 -O3 -c a.c -o a.o   compile with hot loop nests served by recipes (also: gcc, "
    "linking)\n";

// Of UTF-8: bytes that go on with a character take no column.
std::size_t columns(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

string padded(std::string_view text, std::size_t width) {
  string out(text);
  out.append(std::max<std::size_t>(width, columns(text) + 1) - columns(text), ' ');
  return out;
}

// "--db PATH", "--explain[=all]"
string head_of(const OptionRow& row) {
  const bool joined = row.value.empty() || row.value[0] == '[';
  return string(row.name) + (joined ? "" : " ") + string(row.value);
}

string overview() {
  std::size_t width = 0;
  for (const auto& row : option_rows()) width = std::max(width, columns(head_of(row)));
  string out = introduction;
  for (const auto& command : table) out += "  sous " + padded(command.name, 9) + string(command.summary) + "\n";
  out += "\nOptions:\n";
  for (const auto& row : option_rows()) {
    out += "  " + padded(head_of(row), width + 2) + string(row.help) + "\n";
  }
  out +=
      "\nEnvironment: SOUS_OPTIONS (options, read first), SOUS_DB, SOUS_SERVER, SOUS_TOKEN, SOUS_SHARE=wanted (tell "
      "the server\n"
      "what found no recipe), SOUS_DISABLE=1 (run the compiler as it is), SOUS_REMARKS=1 (say what became of each nest "
      "as a compiler's remarks; also -Rsous among the "
      "compiler's\n"
      "options), SOUS_SUMMARY=1 (one line for each link), SOUS_LOG=FILE|none (what sous stats reads), "
      "SOUS_REPORT=FILE\n"
      "(append all that is done to each C file, as JSON lines).\n";
  return out;
}

string markdown() {
  string out =
      "# The command line\n\nGenerated by `sous help --markdown`. Change the tables in client/commands.cc and "
      "client/options.cc instead.\n\n"
      "    sous [options] COMPILER ARGUMENTS…\n\n"
      "runs the compiler with the hot loop nests of C inputs at `-O2` and above served by recipes. Whatever it does "
      "not\n"
      "understand passes through to the compiler untouched.\n";
  for (const auto& command : table) {
    out += "\n## sous " + string(command.name) + "\n\n    sous " + string(command.usage) + "\n\n" +
           string(command.summary) + "\n\n```\n" + string(command.details) + "```\n";
  }
  out += "\n## Options\n\n| option | meaning |\n|---|---|\n";
  for (const auto& row : option_rows()) {
    string head = head_of(row);
    for (std::size_t bar = head.find('|'); bar != string::npos; bar = head.find('|', bar + 2)) head.insert(bar, "\\");
    out += "| `" + head + "` | " + string(row.help) + " |\n";
  }
  out +=
      "\n## Environment\n\n| variable | meaning |\n|---|---|\n"
      "| `SOUS_OPTIONS` | options, split as the shell splits words; read before those of the command line |\n"
      "| `SOUS_DB` | as `--db` |\n| `SOUS_SERVER` | as `--server` |\n"
      "| `SOUS_TOKEN` | the token that the server is shown (`sous token add`), over https or on this machine |\n"
      "| `SOUS_CA_FILE` | PEM: the authorities of an https server, instead of the system's |\n"
      "| `SOUS_SHARE` | `wanted`: builds tell the server which nests found no good recipe (`sous share --show` prints "
      "it) |\n"
      "| `SOUS_DISABLE` | `1`: run the compiler as it is |\n"
      "| `SOUS_SEED_DIR` | folder of the entries that a new database is made from |\n"
      "| `SOUS_REMARKS` | `1`: one remark for each nest and each loop that is not lifted, in the compiler's own form "
      "(`file:line:column: remark: … [-Rsous]`); `-Rsous` among the compiler's options does the same, and is not "
      "passed "
      "on |\n"
      "| `SOUS_SUMMARY` | `1`: a line for each link: its C files, nests, what is promised, the time that Sous took |\n"
      "| `SOUS_LOG` | the file that `sous stats` reads and every compilation appends a short line to, or `none` "
      "(default: "
      "`sous/build.log` in the user's cache folder, at most 8 MiB and as much again of older lines) |\n"
      "| `SOUS_REPORT` | a file: the launcher appends a JSON line for each C input, or command that passes through |\n"
      "| `SOUS_CACHE_DIR` | folder of the results of earlier compiles; `off`: none |\n"
      "| `SOUS_CACHE_MB` | how large that folder may get (default: 512) |\n"
      "| `SOUS_CUDA_ARCH` | GPUs that `--target cuda` compiles for: `80,90` (default: those of this machine, else "
      "both, and later ones) |\n"
      "| `CUDA_HOME` | where `nvcc` is looked for first: in `bin` there |\n"
      "| `SOUS_GPU_TRACE` | `1`, of the program that was built: a line for each run of a nest on the GPU, or why it "
      "was none |\n"
      "| `SOUS_GUARD` | `0`: where Sous itself faults or hangs, do not run the compiler as it is (for finding bugs) "
      "|\n";
  return out;
}

Result<int> command_help(const Invocation& invocation) {
  const auto& words = invocation.words;
  if (words.empty()) {
    print(invocation.options.markdown ? markdown() : overview());
    return 0;
  }
  if (words[0] == "steps") {
    if (invocation.options.markdown) {
      print(transforms::steps_markdown());
    } else {
      for (const auto* step : transforms::steps()) print(padded(step->name, 14) + string(step->summary) + "\n");
    }
    return 0;
  }
  if (const auto* command = find_command(words[0])) {
    print("sous " + string(command->usage) + "\n" + string(command->summary) + "\n\n" + string(command->details));
    return 0;
  }
  if (const auto* step = transforms::find_step(words[0])) {
    print(transforms::step_help(*step));
    return 0;
  }
  auto known = command_names();
  for (const auto* step : transforms::steps()) known.emplace_back(step->name);
  return fail("cli.unknown-command", "there is no command or step " + words[0] + did_you_mean(words[0], known));
}

int report(const Error& error) {
  std::fprintf(stderr, "sous: %s\n", error.to_string().c_str());
  return error.code.starts_with("cli.") ? 2 : 1;
}

int finish(const Result<int>& result) {
  const int status = result ? *result : report(result.error());
  // A full disk behind standard output must not look like success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return report({"client.write", "standard output could not be written"});
  }
  return status;
}

// Our commands, and what in PATH is called like a compiler.
std::vector<string> commands_and_compilers() {
  auto names = command_names();
  for (const string& folder : program_folders()) {
    std::error_code error;
    for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      const string name = it->path().filename().string();
      const bool compiler =
          name == "cc" || name == "c99" || name.find("gcc") != string::npos || name.find("clang") != string::npos;
      if (compiler) names.push_back(name);
    }
  }
  std::ranges::sort(names);
  return names;
}

Result<int> dispatch(const std::vector<string>& arguments) {
  if (arguments.empty()) {
    print(overview());
    return 2;
  }
  if (arguments[0] == "--version") {
    print("sous " SOUS_VERSION "\n");
    return 0;
  }
  if (arguments[0] == "-h" || arguments[0] == "--help") {
    print(overview());
    return 0;
  }
  TRY(auto start, options_from_environment());
  TRY(auto parsed, parse_options(arguments, false, std::move(start)));
  auto words = parsed.words.empty() ? parsed.after : parsed.words;  // "sous -- cc …" is a launcher too
  if (words.empty()) return fail("cli.unknown-command", "a command or a compiler is missing; see sous help");
  const auto* command = parsed.words.empty() ? nullptr : find_command(words[0]);
  if (command == nullptr) {
    if (!find_program(words[0])) {
      return fail("cli.unknown-command",
                  "there is no command and no compiler " + words[0] + did_you_mean(words[0], commands_and_compilers()));
    }
    return launch(parsed.options, words, compile_command);
  }
  words.erase(words.begin());
  const auto asks = [](const string& word) { return word == "-h" || word == "--help"; };
  if (!command->verbatim && std::ranges::any_of(words, asks)) return command_help({{}, {string(command->name)}, {}});
  if (command->verbatim) return command->run({std::move(parsed.options), words, {}});
  TRY(auto inner, parse_options(words, true, std::move(parsed.options)));
  return command->run({std::move(inner.options), std::move(inner.words), std::move(inner.after)});
}

}  // namespace

std::span<const Command> commands() { return table; }

int run_program(const std::vector<string>& arguments, BenchMain bench) {
  bench_main = bench;
  return finish(dispatch(arguments));
}

}  // namespace sous::client
