#include "client/timed_program.h"

#include <cctype>
#include <sstream>
#include <string_view>

#include "client/measure.h"
#include "frontends/c/splice.h"

namespace sous::client {

using frontends::Replacement;
using frontends::c::call;
using frontends::c::prototype;
using frontends::c::replaced;
using frontends::c::types_of;
using std::string;

namespace {

void append(std::vector<string>& to, const std::vector<string>& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace

// Line by line: nest, calls, seconds in all, those with the clock stopped, calls that ran generated code, whether
// symbols varied, their values in the last call.
const char* const timed_recorder = R"(#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
enum { nests = 256, values = 32 };
static struct {
  long long calls, generated, value[values];
  double seconds, others;
  int count, varies;
} table[nests];
static double others, stopped_at;
static int stopped;
static void sous_write(void) {
  const char* path = getenv("SOUS_TIMES");
  FILE* file = path ? fopen(path, "w") : 0;
  if (!file) return;
  for (int k = 0; k < nests; ++k) {
    if (!table[k].calls) continue;
    fprintf(file, "%d %lld %.17g %.17g %lld %d", k, table[k].calls, table[k].seconds, table[k].others,
            table[k].generated, table[k].varies);
    for (int v = 0; v < table[k].count; ++v) fprintf(file, " %lld", table[k].value[v]);
    fprintf(file, "\n");
  }
  fclose(file);
}
double sous_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
/* Of targets/runtime/sous.h, where nothing is generated. */
__attribute__((weak)) int sous_apart(const void* a, unsigned long a_first, unsigned long a_last, const void* b,
                                     unsigned long b_first, unsigned long b_last) {
  const unsigned long from = (unsigned long)a, to = (unsigned long)b;
  return from + a_last <= to + b_first || to + b_last <= from + a_first;
}
void sous_clock_stop(void) {
  stopped = 1;
  stopped_at = sous_now();
}
void sous_clock_start(void) {
  others += sous_now() - stopped_at;
  stopped = 0;
}
void sous_record(int nest, double seconds, int generated, int count, const long long* value) {
  static int registered = 0;
  if (stopped) sous_clock_start();  /* it returned from what the clock is stopped for */
  const double without = others;
  others = 0;
  if (!registered) registered = atexit(sous_write) == 0;
  if (nest >= nests || count > values) return;
  if (table[nest].calls && memcmp(table[nest].value, value, (size_t)count * sizeof *value)) table[nest].varies = 1;
  memcpy(table[nest].value, value, (size_t)count * sizeof *value);
  table[nest].count = count;
  table[nest].calls += 1;
  table[nest].seconds += seconds;
  table[nest].others += without;
  table[nest].generated += generated;
}
)";

string timed_program(const string& text, const std::vector<TimedNest>& nests) {
  string prototypes =
      "extern double sous_now(void); extern void sous_record(int, double, int, int, const long long *); ";
  std::vector<Replacement> replacements;
  for (const auto& nest : nests) replacements.push_back(nest.replacement);
  prototypes += types_of(replacements);
  auto nest = nests.begin();
  const string out = replaced(text, replacements, [&](const Replacement& r, std::string_view original) {
    if (nest->generated) prototypes += "extern " + prototype(r) + "; ";
    string values;
    for (const auto& symbol : nest->symbols) {
      values += (r.guard.empty() ? "" : "!(" + r.guard + ") ? 0 : ") + "(long long)(" + symbol + "), ";
    }
    const string n = std::to_string(nest->number);
    string timed = "{ const long long sous_v" + n + "[] = {" + values + "0}; int sous_s" + n +
                   " = 0; const double sous_t" + n + " = sous_now(); ";
    if (nest->generated) {
      timed += "if (!" + call(r) + ") { " + frontends::c::forgotten(r) + string(original) + " } else { sous_s" + n +
               " = 1; " + r.epilogue + " }";
    } else {
      timed += "{ " + string(original) + " }";
    }
    timed += " sous_record(" + n + ", sous_now() - sous_t" + n + ", sous_s" + n + ", " +
             std::to_string(nest->symbols.size()) + ", sous_v" + n + "); }";
    ++nest;
    return timed;
  });
  return prototypes + "\n" + out;
}

void add_times(const string& text, std::map<int, NestTimes>& times) {
  std::istringstream lines(text);
  for (string line; std::getline(lines, line);) {
    std::istringstream words(line);
    int nest = 0, varies = 0;
    long long calls = 0, generated = 0;
    double seconds = 0, others = 0;
    if (!(words >> nest >> calls >> seconds >> others >> generated >> varies) || calls == 0) continue;
    auto& nest_times = times[nest];
    nest_times.calls = static_cast<double>(calls);
    nest_times.seconds.push_back((seconds - others) / nest_times.calls);
    nest_times.others.push_back(others / nest_times.calls);
    nest_times.generated = generated == calls;
    nest_times.varies = nest_times.varies || varies != 0;
    nest_times.values.clear();
    for (long long value = 0; words >> value;) nest_times.values.push_back(value);
  }
}

bool defines_main(const string& text) {
  const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  constexpr std::string_view word = "main";
  for (auto at = text.find(word); at != string::npos; at = text.find(word, at + 1)) {
    if (at > 0 && is_word(text[at - 1])) continue;
    const auto next = text.find_first_not_of(" \t\n", at + word.size());
    if (next != string::npos && text[next] == '(') return true;
  }
  return false;
}

Result<void> TimedBuild::command(const std::vector<string>& words) const {
  TRY(const auto finished, client::run(words, {.capture_output = true, .capture_errors = true}));
  if (finished.status == 0) return {};
  return fail("add.build", joined(words) + ": " + finished.errors.substr(0, 2000), file);
}

Result<void> TimedBuild::recorder() const {
  TRY_VOID(write_file(folder.file("record.c"), timed_recorder));
  return command({compiler, "-O2", "-c", folder.file("record.c"), "-o", folder.file("record.o")});
}

Result<std::vector<string>> TimedBuild::generated(const std::vector<targets::Function>& functions) const {
  const auto files = targets::files(functions, "measured by db add");
  const GeneratedBuild build{
      .compiler = compiler, .flags = line.cpp_code, .contraction = contraction, .refusal = "add.build"};
  TRY(auto out, compile_generated(files, build, folder, "nests"));
  // As builds link: with the user's OpenMP runtime, or none. A program's first call is measured, and starting one that
  // builds do not have took 1.5 ms of it.
  TRY_VOID(weaken_runtimes(files, out, line, "add.build"));
  return out;
}

Result<void> TimedBuild::program(const string& name, const string& text, const std::vector<string>& more) const {
  TRY_VOID(write_file(folder.file(name + ".i"), text));
  const string object = folder.file(name + ".o");
  std::vector<string> compile{compiler};
  append(compile, line.code);
  append(compile, {"-w", "-x", "cpp-output", "-c", folder.file(name + ".i"), "-o", object});
  TRY_VOID(command(compile));
  std::vector<string> link{compiler, object, folder.file("record.o")};
  append(link, more);
  append(link, {"-o", folder.file(name)});
  append(link, user_link);
  link.emplace_back("-lm");
  return command(link);
}

}  // namespace sous::client
