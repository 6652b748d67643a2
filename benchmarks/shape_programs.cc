#include "benchmarks/shape_programs.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "client/choose.h"
#include "client/generated_code.h"
#include "client/process.h"
#include "client/promise.h"
#include "frontends/c/lift.h"
#include "sdfg/interp.h"
#include "transforms/apply.h"
#include "tuning-db/database.h"
#include "tuning-db/json_reader.h"
#include "tuning-db/shape.h"
#include "tuning-db/size_class.h"

namespace sous::benchmarks {
namespace {

using sdfg::Sdfg;
using std::string;

// How the driver calls a function of the nest: symbols are n0 …, arrays b0 … (scalars among them: their one element).
struct Call {
  string prototype, arguments;
};
Call call_of(const Sdfg& sdfg) {
  const auto written = sdfg::touched(sdfg.root).written;
  Call call;
  int symbols = 0, arrays = 0;
  for (const string& argument : sdfg.arguments) {
    const string comma = call.prototype.empty() ? "" : ", ";
    const auto* container = sdfg.find(argument);
    if (container == nullptr) {
      call.prototype += comma + "int64_t";
      call.arguments += comma + "n" + std::to_string(symbols++);
      continue;
    }
    const bool by_value = container->shape.empty() && !written.contains(argument);
    call.prototype += comma + string(sdfg::info(container->type).cpp) + (by_value ? "" : "*");
    call.arguments += comma + "b" + std::to_string(arrays++) + (by_value ? "[0]" : "");
  }
  return call;
}

// Arguments that are arrays or scalars, in order.
std::vector<const sdfg::Container*> arrays_of(const Sdfg& sdfg) {
  std::vector<const sdfg::Container*> out;
  for (const string& argument : sdfg.arguments)
    if (const auto* container = sdfg.find(argument)) out.push_back(container);
  return out;
}

constexpr const char* driver_head = R"(#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static uint64_t state = 1;
static double tame(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) * 0x1p-53;
}
static void *memory(long bytes) { return aligned_alloc(64, ((size_t)bytes + 63) / 64 * 64); }
)";

// `original_i`, `guarded_i` … are the functions; the timed call is made of the pristine arrays each time.
constexpr const char* driver_main = R"(
static const char *const names[3] = {"original", "guarded", "recipe"};
static double timed(int which, int calls) {
  double sum = 0;
  for (int k = 0; k < calls; ++k) {
    reset();
    const double start = now();
    call(which);
    sum += now() - start;
  }
  return sum / calls;
}
static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}
static double times[3][25];
static double median(int which, int runs) {
  double sorted[25];
  memcpy(sorted, times[which], sizeof sorted);
  qsort(sorted, runs, sizeof(double), ascending);
  return sorted[runs / 2];
}
int main(int count, char **words) {
  if (count < 4) return 2;
  const char *label = words[1];
  const double seconds = atof(words[2]);
  const int most = atoi(words[3]) > 25 ? 25 : atoi(words[3]);
  if (!setup(words + 4, count - 4)) return 2;
  double first[2], begin = now();
  first[0] = timed(0, 1);
  keep();
  first[1] = timed(1, 1);
  double differs = difference();
  timed(2, 1);
  differs = fmin(fmax(differs, difference()), 1e9);
  timed(3, 1);
  const double own = fmin(difference(), 1e9);  /* a result that is no number at all is as far away as any */
  const double once = timed(0, 1) + 1e-9;
  const int calls = once > 2e-3 ? 1 : once < 1e-5 ? 200 : (int)(2e-3 / once) + 1;
  int runs = 0;
  // What looks slower is looked at longer: of many shapes some are disturbed in all of a few runs.
  for (int round = 1; round <= 3; ++round, begin = now()) {
    while (runs < most * round && runs < 25 && (runs < 3 * round || now() - begin < seconds)) {
      for (int k = 0; k < 3; ++k) times[k][runs] = timed(k, calls);
      ++runs;
    }
    if (median(1, runs) < 1.02 * median(0, runs)) break;
  }
  reset();
  const int path = guarded();
  printf("{%s,\"path\":%d,\"difference\":%g,\"own\":%g,\"runs\":%d,\"calls\":%d,\"first_original\":%.9g,\"first_guarded\":%.9g",
         label, path, differs, own, runs, calls, first[0], first[1]);
  for (int k = 0; k < 3; ++k) {
    qsort(times[k], runs, sizeof(double), ascending);
    printf(",\"%s\":%.9g,\"%s_spread\":%.4g", names[k], times[k][runs / 2], names[k],
           (times[k][runs * 3 / 4] - times[k][runs / 4]) / 2 / times[k][runs / 2]);
  }
  printf("}\n");
  return 0;
}
)";

// Arrays are filled with numbers from 0.5 to 1.5, square ones with a heavy diagonal, so that factorizations stay tame.
string driver(const ShapeProgram& program) {
  const Call original = call_of(program.original), changed = call_of(program.transformed);
  std::ostringstream globals, setup, reset, keep, difference;
  const auto arrays = arrays_of(program.original);
  for (std::size_t k = 0; k < program.original.symbols.size(); ++k) {
    globals << "static int64_t n" << k << ";\n";
    setup << "  n" << k << " = atoll(words[" << k << "]);\n";
  }
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    const auto& c = *arrays[k];
    const string type(sdfg::info(c.type).cpp);
    const bool real = sdfg::is_float(c.type);
    globals << "static " << type << " *b" << k << ", *o" << k << ", *r" << k << ";\nstatic int64_t e" << k << ";\n";
    setup << "  e" << k << " = atoll(words[" << program.original.symbols.size() + k << "]);\n";
    for (const char* kind : {"b", "o", "r"})
      setup << "  if (!(" << kind << k << " = memory(e" << k << " * (long)sizeof *b" << k << "))) return 0;\n";
    setup << "  for (int64_t i = 0; i < e" << k << "; ++i) o" << k << "[i] = (" << type << ")"
          << (real ? "(0.5 + tame())" : "(1 + (int)(tame() * 2))") << ";\n";
    if (real && c.shape.size() == 2)
      setup << "  {\n    const int64_t side = (int64_t)sqrt((double)e" << k << " + 0.5);\n    if (side * side == e" << k
            << ")\n      for (int64_t i = 0; i < side; ++i) o" << k << "[i * side + i] += (" << type << ")side;\n  }\n";
    reset << "  memcpy(b" << k << ", o" << k << ", (size_t)e" << k << " * sizeof *b" << k << ");\n";
    if (c.constant || c.dead) continue;
    keep << "  memcpy(r" << k << ", b" << k << ", (size_t)e" << k << " * sizeof *b" << k << ");\n";
    // Against the largest element: one that is zero but for rounding says nothing.
    difference << "  most = 1e-300;\n  for (int64_t i = 0; i < e" << k << "; ++i) most = fmax(most, fabs((double)r" << k
               << "[i]));\n  for (int64_t i = 0; i < e" << k << "; ++i)\n    if (!(isnan((double)b" << k
               << "[i]) && isnan((double)r" << k << "[i])) && b" << k << "[i] != r" << k
               << "[i]) worst = fmax(worst, fabs((double)b" << k << "[i] - (double)r" << k << "[i]) / most);\n";
  }
  std::ostringstream out;
  out << driver_head << "int shape_original(" << original.prototype << ");\nint shape_apart(" << original.prototype
      << ");\nint shape_guarded(" << changed.prototype << ");\nint shape_recipe(" << changed.prototype << ");\n"
      << globals.str() << "static int setup(char **words, int count) {\n  if (count != "
      << program.original.symbols.size() + arrays.size() << ") return 0;\n"
      << setup.str() << "  return 1;\n}\nstatic void reset(void) {\n"
      << reset.str() << "}\nstatic void keep(void) {\n"
      << keep.str() << "}\nstatic double difference(void) {\n  double worst = 0, most;\n  (void)most;\n"
      << difference.str() << "  return worst;\n}\nstatic int guarded(void) { return shape_guarded(" << changed.arguments
      << "); }\nstatic void call(int which) {\n  if (which == 1 && guarded()) return;\n  if (which == 2 && "
         "shape_recipe("
      << changed.arguments << ")) return;\n  if (which == 3) {\n    shape_apart(" << original.arguments
      << ");\n    return;\n  }\n  shape_original(" << original.arguments << ");\n}\n"
      << driver_main;
  return out.str();
}

// The entry without its guard, over the same nest: from the text of the function without it.
Result<targets::Function> unguarded_entry(const ShapeProgram& program, targets::EmitOptions options) {
  options.guards.clear();
  options.least_threads = 1;
  TRY(auto function, targets::find_target(program.target)->emit(program.transformed, options));
  string& text = function.code;
  const auto entry = text.find("extern \"C\"");
  const auto name = text.find("shape_guarded(", entry);
  if (entry == string::npos || name == string::npos) return fail("bench.build", "no entry in " + program.name);
  text.replace(name, string("shape_guarded").size(), "shape_recipe");
  text.erase(0, entry);
  return function;
}

}  // namespace

Sdfg with_parameters(const Sdfg& nest, const std::map<string, std::int64_t>& sizes) {
  Sdfg out = nest;
  for (sdfg::Container& container : out.containers) {
    const bool dense = container.strides == sdfg::row_major(container.shape);
    for (sdfg::Expr& extent : container.shape) {
      const auto same = std::ranges::find_if(sizes, [&](const auto& s) { return extent.constant() == s.second; });
      if (same != sizes.end() && out.has_symbol(same->first)) extent = sdfg::Expr::symbol(same->first);
    }
    if (dense) container.strides = sdfg::row_major(container.shape);
  }
  return out;
}

Result<ShapeProgram> program_of(const tuning_db::Entry& entry) {
  ShapeProgram program;
  program.entry_id = tuning_db::entry_id(entry);
  program.name = entry.name + "-" + program.entry_id.substr(0, 6);
  program.original = with_parameters(entry.nest, entry.sizes);
  program.target = entry.recipe.target;
  program.largest = entry.sizes;
  transforms::ApplyOptions options;
  options.context.hardware = tuning_db::size_values(entry.hardware);
  options.context.reassociate = entry.flags.find("-ffast-math") != string::npos;
  TRY(program.transformed, transforms::apply(program.original, entry.recipe, options));
  const auto match = tuning_db::match_of(entry, 0, transforms::Origin::Database);
  program.guards = {client::guard_of(program.original, program.original.root, match)};
  program.least_threads = tuning_db::least_threads(match.evidence);
  program.cache = tuning_db::cache_for(match.evidence, entry.hardware);
  if (match.evidence.work > 0) program.seconds_per_work = entry.baseline_seconds / match.evidence.work;
  return program;
}

Result<ShapeProgram> program_of(const string& c_file, const std::vector<std::filesystem::path>& seeds,
                                const std::vector<tuning_db::Entry>& entries) {
  TRY(const string text, client::read_file(c_file));
  TRY(const auto unit, frontends::c::lift(text, c_file, {}));
  if (unit.nests.empty() || entries.empty()) return fail("bench.shapes", "no nest was found", c_file);
  const auto& machine = entries.front().hardware;
  TRY(client::PreparedNest nest, client::prepare(unit.nests[0], {}, {}, machine));
  TRY(const auto folder, client::TemporaryFolder::make());
  TRY(const auto database, tuning_db::Database::open({.path = folder.file("shapes.db"), .seeds = seeds}, machine));
  for (client::Unit& one : nest.units) {
    TRY(auto matches, database->query({one.query()}, 8));
    one.matches = std::move(matches[0]);
  }
  const auto chosen = client::choose({.nest = nest});
  if (chosen.choices.empty()) return fail("bench.shapes", chosen.why, c_file);
  ShapeProgram program;
  program.name = client::name_of(c_file).substr(0, client::name_of(c_file).rfind('.'));
  program.original = unit.nests[0].sdfg;
  TRY(program.transformed, client::assemble(nest, chosen.choices));
  program.target = chosen.choices[0].match.recipe.target;
  program.guards = chosen.guards;
  program.least_threads = chosen.least_threads;
  for (const auto& choice : chosen.choices)
    program.cache = tuning_db::strictest(program.cache, tuning_db::cache_for(choice.match.evidence, machine));
  // Of what it was measured on nothing is known here but the extents: the loops' own symbols reach as far.
  for (const string& symbol : program.original.symbols) program.largest[symbol] = 1000;
  const auto& evidence = chosen.choices[0].match.evidence;
  if (evidence.work > 0) program.seconds_per_work = evidence.baseline_seconds / evidence.work;
  return program;
}

Result<void> build(const ShapeProgram& program, const std::vector<string>& flags, const string& folder) {
  const string compiler = "clang-19", base = folder + "/" + program.name;
  const auto* target = targets::find_target(program.target);
  const auto* plain = targets::find_target("cpp");
  if (target == nullptr || plain == nullptr) return fail("target.unknown", program.target);
  targets::EmitOptions options;
  options.function = "shape_original";
  TRY(const auto original, plain->emit(program.original, options));
  options.function = "shape_apart";
  options.contract = false;
  TRY(const auto apart, plain->emit(program.original, options));
  options.contract = true;
  options.function = "shape_guarded";
  options.guards = program.guards;
  options.least_threads = program.least_threads;
  options.cache = program.cache;
  TRY(const auto guarded, target->emit(program.transformed, options));
  TRY(const auto alone, unguarded_entry(program, options));
  TRY_VOID(client::write_file(base + ".c", driver(program)));
  TRY(const auto scratch, client::TemporaryFolder::make());
  const auto files = targets::files({original, guarded, alone}, "sous bench shapes");
  client::GeneratedBuild by{.compiler = compiler, .flags = flags, .refusal = "bench.build"};
  TRY(auto objects, client::compile_generated(files, by, scratch, "nests"));
  by.contraction = client::Contraction::Off;
  TRY(const auto apart_objects,
      client::compile_generated(targets::files({apart}, "sous bench shapes"), by, scratch, "apart"));
  objects.insert(objects.end(), apart_objects.begin(), apart_objects.end());
  std::vector<string> what{"-O2", "-D_POSIX_C_SOURCE=200809L", base + ".c"};
  // The runtime is looked for beside the program first: where there is none installed, a copy will do.
  if (!client::runtimes_of(files).empty()) what.emplace_back("-Wl,-rpath,$ORIGIN");
  TRY_VOID(client::link_generated(files, objects, by, std::move(what), base));
  std::error_code error;
  std::filesystem::remove(base + ".c", error);
  return {};
}

std::vector<ShapeCase> shape_cases(const ShapeProgram& program, const std::vector<int>& threads, double longest) {
  std::vector<std::map<string, std::int64_t>> shapes{{}};
  for (const string& symbol : program.original.symbols) {
    const auto most = program.largest.find(symbol);
    const std::int64_t largest = most == program.largest.end() ? 1000 : most->second;
    std::set<std::int64_t> values{largest};
    // Tiles of registers have 4 to 48 rows or columns, tiles for caches 48 to 300. Rows of 512 elements and more that
    // are a power of two, or one beside it, share cache sets.
    using Steps = std::vector<std::int64_t>;
    const std::size_t symbols = program.original.symbols.size();
    const Steps steps = symbols > 3    ? Steps{1, 129, 512}
                        : symbols == 3 ? Steps{1, 5, 33, 129, 400, 512, 1024}
                                       : Steps{1, 5, 17, 33, 64, 129, 257, 500, 512, 1000, 1024, 2047, 2048};
    for (const std::int64_t value : steps)
      if (value < largest) values.insert(value);
    std::vector<std::map<string, std::int64_t>> longer;
    for (const auto& shape : shapes)
      for (const std::int64_t value : values) {
        longer.push_back(shape);
        longer.back()[symbol] = value;
      }
    shapes = std::move(longer);
  }
  std::vector<ShapeCase> out;
  for (const auto& shape : shapes) {
    const auto work = tuning_db::work(program.original, shape);
    if (!work || *work * program.seconds_per_work > longest) continue;
    for (const int count : threads) out.push_back({shape, count});
  }
  return out;
}

string label(const ShapeProgram& program, const ShapeCase& shape, std::size_t shapes) {
  const tuning_db::Json json{{"nest", program.name},     {"entry", program.entry_id},
                             {"threads", shape.threads}, {"least_threads", program.least_threads},
                             {"shapes", shapes},         {"shape", shape.sizes}};
  const string text = tuning_db::dump(json);
  return text.substr(1, text.size() - 2);
}

Result<string> arguments(const ShapeProgram& program, const ShapeCase& shape) {
  string words;
  for (const string& symbol : program.original.symbols) words += " " + std::to_string(shape.sizes.at(symbol));
  for (const auto* array : arrays_of(program.original)) {
    TRY(const auto elements, sdfg::store_size(program.original, array->name, shape.sizes));
    words += " " + std::to_string(std::max<std::int64_t>(elements, 1));
  }
  return words.substr(std::min<std::size_t>(1, words.size()));
}

}  // namespace sous::benchmarks
