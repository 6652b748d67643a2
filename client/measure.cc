#include "client/measure.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <sstream>

#include "client/contained.h"
#include "client/generate.h"
#include "client/generated_code.h"
#include "client/process.h"
#include "sdfg/interp.h"
#include "sdfg/parallel_loop.h"
#include "sdfg/planted_fault.h"
#include "sdfg/unknown_extent.h"
#include "targets/target.h"
#include "tuning-db/hardware.h"
#include "tuning-db/nest_facts.h"
#include "tuning-db/shape.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

using frontends::Argument;
using std::string;

constexpr double most_bytes = 4.0 * (1 << 30);
// The runs of a side are within this of each other where nothing disturbed them: what spreads more is no evidence for
// anyone, however far apart the sides are (client/choose.h).
constexpr double agreed = 1.25;

struct Call {
  string prototype, setup, reset, arguments;
  string keep, compare;  // of what the nest leaves behind: kept at r0, r1, …; whether it is the same
  double bytes = 0;      // of the arrays, their pristine copies and the results
};

// How the driver calls a function with the nest's arguments. Buffers lie at fixed names: b0, b1, …; their pristine
// copies at o0, o1, ….
Result<Call> call_of(const PreparedNest& nest, const sdfg::Sdfg& emitted, Inputs inputs) {
  const auto& lifted = *nest.lifted;
  if (tuning_db::facts(lifted.sdfg, nest.sizes).work() < 1)
    return fail("measure.sizes", "at these sizes it does nothing");
  const auto limits = subscript_limits(lifted.sdfg, nest.sizes);
  const auto passed = arguments_for(lifted, emitted);
  Call call;
  int k = 0;
  for (const auto& argument : lifted.arguments) {
    const bool by_value = passed[static_cast<std::size_t>(k)].kind == Argument::Kind::ScalarIn;
    const string n = std::to_string(k++);
    if (!call.prototype.empty()) {
      call.prototype += ", ";
      call.arguments += ", ";
    }
    if (argument.kind == Argument::Kind::Symbol) {
      const auto size = nest.sizes.find(argument.name);
      if (size == nest.sizes.end())
        return fail("measure.sizes", "the value of " + argument.expression + " is not known: give --size");
      call.prototype += "int64_t";
      call.arguments += std::to_string(size->second) + "LL";
      continue;
    }
    const auto* container = lifted.sdfg.find(argument.name);
    SOUS_ASSERT(container != nullptr);
    const string type(sdfg::info(container->type).cpp);
    if (argument.kind == Argument::Kind::ScalarIn) {
      call.prototype += type;
      call.arguments += sdfg::is_float(container->type) ? "(" + type + ")1.25" : "(" + type + ")3";
      continue;
    }
    TRY(auto elements, sdfg::store_size(lifted.sdfg, argument.name, nest.sizes));
    if (inputs == Inputs::Drawn && elements >= sdfg::unknown_extent) elements = drawn_extent(nest.sizes);
    call.bytes += 3.0 * static_cast<double>(elements) * sdfg::info(container->type).bytes;
    if (call.bytes > most_bytes) return fail("measure.sizes", "its arrays take more memory than is spent on measuring");
    const string count = std::to_string(std::max<std::int64_t>(elements, 1));
    call.prototype += type + (by_value ? "" : "*");
    call.arguments += "b" + n + (by_value ? "[0]" : "");
    const string allocate = "(" + type + "*)aligned_alloc(64, (" + count + " * sizeof(" + type + ") + 63) / 64 * 64)";
    call.setup += "  " + type + "* b" + n + " = " + allocate + ";\n  " + type + "* o" + n + " = " + allocate + ";\n";
    const auto limit = limits.find(argument.name);
    call.setup += "  for (long i = 0; i < " + count + "; ++i) o" + n +
                  "[i] = " + drawn_element(container->type, inputs, limit == limits.end() ? 0 : limit->second) + ";\n";
    call.reset += "    memcpy(b" + n + ", o" + n + ", " + count + " * sizeof(" + type + "));\n";
    call.setup += "  " + type + "* r" + n + " = " + allocate + ";\n";
    call.keep += "      memcpy(r" + n + ", b" + n + ", " + count + " * sizeof(" + type + "));\n";
    if (container->dead || by_value) continue;
    call.compare += "      for (long i = 0; i < " + count + "; ++i) same &= !memcmp(&r" + n + "[i], &b" + n +
                    "[i], sizeof(" + type + ")) || (r" + n + "[i] != r" + n + "[i] && b" + n + "[i] != b" + n +
                    "[i]);\n";
  }
  return call;
}

// One side of the comparison: a generated function and how it is called. They differ in what they pass, not in the
// buffers.
struct Side {
  const char* function;
  Call call;
};

// Runs the sides in turns and prints for each run what the nest took before and with the recipe. `same_bits`: the first
// results of all sides are held against the original's; the program ends with status 2 where they differ. Where
// `plain`, the second of three sides, is there: before is the measured part in normal form, and no more than the nest
// as lifted leaves for it when the others take what they take in normal form. All of a nest is such a part, too:
// whoever asks for a recipe of this normal form may have written it in better order than the program at hand.
string driver(const std::vector<Side>& sides, const Pace& pace, bool same_bits) {
  std::ostringstream out;
  out << "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n";
  for (const Side& side : sides) out << "int " << side.function << "(" << side.call.prototype << ");\n";
  out << "static double now(void) {\n  struct timespec t;\n  clock_gettime(CLOCK_MONOTONIC, &t);\n"
      << "  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;\n}\n"
      << "static uint64_t state = 1;\nstatic double tame(void) {\n"
      << "  state = state * 6364136223846793005u + 1442695040888963407u;\n"
      << "  return (double)(state >> 11) * 0x1p-53;\n}\n"
      << "static double stopped_at, others;\nvoid sous_clock_stop(void) { stopped_at = now(); }\n"
      << "void sous_clock_start(void) { others += now() - stopped_at; }\n"
      << "int main(void) {\n"
      << "  double least0 = 1e30, most0 = 0, least1 = 1e30, most1 = 0;\n"
      << sides[0].call.setup << "  for (int run = -1; run < " << pace.most << "; ++run) {  /* the first warms up */\n"
      << "    double seconds[3], rest[3];\n    int ok = 1, same = 1;\n";
  for (std::size_t k = 0; k < sides.size(); ++k) {
    out << sides[k].call.reset
        << "    {\n      others = 0;\n      const double start = now();\n      ok &= " << sides[k].function << "("
        << sides[k].call.arguments << ");\n      seconds[" << k << "] = now() - start"
        << (planted(Fault::others_timed) ? "" : " - others") << ";\n      rest[" << k << "] = others;\n    }\n";
    if (same_bits) out << "    if (run < 0) {\n" << (k == 0 ? sides[0].call.keep : sides[k].call.compare) << "    }\n";
  }
  out << "    if (!ok) return 1;\n    if (!same) return 2;\n    if (run < 0) continue;\n";
  if (sides.size() == 3) {
    out << "    const double left = seconds[0] - rest[1], a0 = seconds[1] < left ? seconds[1] : left;\n"
        << "    const double a = a0 > 0 ? a0 : 0, b = seconds[2];\n";
  } else if (sides.size() == 1) {
    out << "    const double a = 0, b = seconds[0];\n";
  } else {
    out << "    const double a = seconds[0], b = seconds[1];\n";
  }
  out << "    printf(\"%.17g %.17g\\n\", a, b);\n    fflush(stdout);\n";
  if (pace.until_decided && sides.size() > 1) {  // as `decided` does
    out << "    const double agreed = " << agreed
        << ";\n    least0 = a < least0 ? a : least0;\n    most0 = a > most0 ? a : most0;\n"
        << "    least1 = b < least1 ? b : least1;\n    most1 = b > most1 ? b : most1;\n"
        << "    const double apart = run >= 2 ? 1.3 : 2;\n"
        << "    if (run >= 1 && most0 <= agreed * least0 && most1 <= agreed * least1 && (least0 > apart * most1 || "
           "least1 > apart * most0)) break;\n";
  }
  out << "  }\n  return 0;\n}\n";
  return out.str();
}

// The sides of a measurement and their code, original first, recipe last; or the recipe alone.
struct Sides {
  std::vector<Side> sides;
  std::vector<targets::Function> code;
};

Result<Sides> sides_of(const PreparedNest& nest, const Choice& choice, const sdfg::Sdfg& transformed,
                       const targets::Target& target, Inputs inputs, bool alone) {
  Sides out;
  targets::EmitOptions options = emit_options(nest.meaning);
  const auto add = [&](const char* function, const sdfg::Sdfg& sdfg, const targets::Target& by) -> Result<void> {
    TRY(Call call, call_of(nest, sdfg, inputs));
    options.function = function;
    TRY(auto code, by.emit(sdfg, options));
    out.sides.push_back({function, std::move(call)});
    out.code.push_back(std::move(code));
    return {};
  };
  if (!alone) TRY_VOID(add("sous_original", nest.lifted->sdfg, *targets::find_target("cpp")));
  const Unit& unit = nest.unit(choice.unit);
  if (unit.one_of_several()) options.timed = targets::Part{unit.first, unit.last};
  if (!alone) TRY_VOID(add("sous_plain", nest.normal, target));
  if (unit.one_of_several()) options.timed->last = unit.first + choice.applied.root.nodes.size();
  TRY_VOID(add("sous_recipe", transformed, target));
  return out;
}

// What runs take before and with the recipe, in turns; `alone`: with the recipe only.
struct Runs {
  std::vector<double> before, after;
  int threads = 1;
};

// `transformed`: the nest with the choice.
Result<Runs> runs_of(const PreparedNest& nest, const Choice& choice, const sdfg::Sdfg& transformed, const Pace& pace,
                     bool alone) {
  TRY_VOID(takes(nest.lifted->sdfg, pace.inputs));
  if (pace.inputs == Inputs::Strangers) TRY_VOID(contained(nest.lifted->sdfg, nest.sizes));
  const auto* target = targets::find_target(choice.match.recipe.target);
  SOUS_ASSERT(target != nullptr);
  const bool reassociate = nest.meaning.reassociate || nest.meaning.approximate_math;
  TRY(const Sides sides, sides_of(nest, choice, transformed, *target, pace.inputs, alone));
  TRY(const auto folder, TemporaryFolder::make());
  TRY_VOID(write_file(folder.file("main.c"),
                      driver(sides.sides, pace, !reassociate && !planted(Fault::results_not_compared))));
  const auto files = targets::files(sides.code, "measured on the spot");
  const GeneratedBuild build{.compiler = nest.meaning.compiler,
                             .flags = nest.meaning.cpp_code,
                             .contraction = nest.meaning.contraction,
                             .refusal = "measure.build"};
  TRY(const auto objects, compile_generated(files, build, folder, "nests"));
  TRY_VOID(
      link_generated(files, objects, build,
                     {"-O2", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-x", "c", folder.file("main.c"), "-x", "none"},
                     folder.file("main")));
  // The program makes all the runs of all sides: the limit is for all of them, and for filling the arrays.
  const double runs = static_cast<double>(sides.sides.size()) * (pace.most + 1);
  const double filling = 2 + 2e-8 * sides.sides[0].call.bytes;
  const double limit = pace.limit_seconds > 0 ? pace.limit_seconds * runs + filling : 0;
  TRY(const auto finished,
      run({folder.file("main")}, {.capture_output = true, .limit_seconds = limit, .stop = pace.stop}));
  if (finished.status == 2) return fail("measure.differs", "with the recipe, random data gave other results");
  if (finished.status != 0 && !planted(Fault::failed_run_measured))
    return fail("measure.run", "the measuring program failed");
  Runs out;
  out.threads = threads_of(transformed, *target);
  std::istringstream lines(finished.output);
  for (double a = 0, b = 0; lines >> a >> b;) {
    out.before.push_back(a);
    out.after.push_back(b);
  }
  return out;
}

}  // namespace

bool decided(const std::vector<double>& baseline, const std::vector<double>& tuned) {
  if (baseline.size() < 2 || tuned.size() < 2) return false;
  const double apart = baseline.size() >= 3 ? 1.3 : 2;
  const auto [least0, most0] = std::minmax_element(baseline.begin(), baseline.end());
  const auto [least1, most1] = std::minmax_element(tuned.begin(), tuned.end());
  const bool agree = *most0 <= agreed * *least0 && *most1 <= agreed * *least1;
  if (!agree && !planted(Fault::disturbed_runs_decide)) return false;
  return *least0 > apart * *most1 || *least1 > apart * *most0;
}

string utc_now() {
  const std::time_t t = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&t, &parts);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return buffer;
}

string by_itself(const Unit& unit) { return unit.one_of_several() ? ", the unit by itself" : ""; }

string joined(const std::vector<string>& words) {
  string out;
  for (const auto& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

Timing summarize(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const auto at = [&](double q) {
    const double place = q * static_cast<double>(values.size() - 1);
    const auto low = static_cast<std::size_t>(place);
    const auto high = std::min(low + 1, values.size() - 1);
    return values[low] + (values[high] - values[low]) * (place - static_cast<double>(low));
  };
  const double median = at(0.5);
  return {median, median > 0 ? (at(0.75) - at(0.25)) / 2 / median : 0};
}

int threads_of(const sdfg::Sdfg& sdfg, const targets::Target& target) {
  if (!target.has_threads() || !sdfg::has_parallel_loop(sdfg)) return 1;
  if (const char* given = std::getenv("OMP_NUM_THREADS")) {
    int n = 0;
    const std::string_view text = given;
    if (std::from_chars(text.data(), text.data() + text.size(), n).ec == std::errc() && n > 0) return n;
  }
  return tuning_db::local_hardware().cores;
}

Result<double> time_on_the_spot(const PreparedNest& nest, const Choice& choice, const Pace& pace) {
  TRY(const auto transformed, assemble(nest, {choice}));
  TRY(Runs runs, runs_of(nest, choice, transformed, pace, true));
  return summarize(std::move(runs.after)).median;
}

Result<Timing> time_together(const PreparedNest& nest, const std::vector<Choice>& choices, const Pace& pace) {
  TRY(const auto* target, target_of(choices, ""));
  TRY(const auto transformed, assemble(nest, choices));
  Choice whole;  // of which every unit has its recipe
  whole.match.recipe.target = target->name;
  TRY(Runs runs, runs_of(nest, whole, transformed, pace, true));
  return summarize(std::move(runs.after));
}

Result<transforms::Evidence> measure_on_the_spot(const PreparedNest& nest, const Choice& choice, const Pace& pace) {
  TRY(const auto transformed, assemble(nest, {choice}));
  TRY(const Runs runs, runs_of(nest, choice, transformed, pace, false));
  const Timing before_times = summarize(runs.before), after_times = summarize(runs.after);
  if (!(before_times.median > 0))
    return fail("measure.rest", "as lifted, the nest takes less than what is not of the unit takes in normal form");
  transforms::Evidence evidence;
  const Unit& unit = nest.unit(choice.unit);
  evidence.size_class = size_class_of(unit);
  evidence.baseline_seconds = before_times.median;
  evidence.baseline_spread = before_times.spread;
  evidence.tuned_seconds = after_times.median;
  evidence.tuned_spread = after_times.spread;
  evidence.work = tuning_db::work(unit.nest, unit.sizes).value_or(0);
  evidence.extents = tuning_db::extents(unit.nest, unit.sizes);
  evidence.threads = runs.threads;
  evidence.hardware = tuning_db::hardware_class(nest.hardware);
  evidence.compiler = name_of(nest.meaning.compiler) + " " + joined(nest.meaning.cpp_code);
  return evidence;
}

tuning_db::Entry entry_of(const PreparedNest& nest, const Choice& choice, const transforms::Evidence& evidence,
                          const string& name, const string& provenance) {
  const Unit& unit = nest.unit(choice.unit);
  tuning_db::Entry entry;
  entry.name = name;
  entry.nest = unit.nest;
  entry.structural_hash = unit.structural_hash;
  entry.sizes = unit.sizes;
  entry.recipe = choice.match.recipe;
  entry.hardware = tuning_db::local_hardware();
  entry.baseline_seconds = evidence.baseline_seconds;
  entry.baseline_spread = evidence.baseline_spread;
  entry.tuned_seconds = evidence.tuned_seconds;
  entry.tuned_spread = evidence.tuned_spread;
  entry.threads = evidence.threads;
  entry.least_extents = evidence.least_extents;
  entry.least_work = evidence.least_work;
  entry.compiler = name_of(nest.meaning.compiler);
  entry.flags = joined(nest.meaning.cpp_code);
  entry.provenance = provenance + by_itself(unit);
  entry.time = utc_now();
  return entry;
}

}  // namespace sous::client
