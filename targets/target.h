// Targets: an Sdfg with schedules becomes text of another language. Each declares what of the IR its code can do and
// how the code is built; whoever compiles, links or chooses reads that here. One folder a target, one line in
// sdfg/targets.list.
//
// Generated code includes only targets/runtime/ headers, needs no C++ runtime library (no exceptions, no static
// constructors), compiles without warnings with clang-19 and g++-12 at -Wall -Wextra, and is the same bytes for the
// same input.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sdfg/cache_sets.h"
#include "sdfg/sdfg.h"

namespace sous::targets {

// What a run must bring for a recipe to be known to gain; where it brings less, the entry leaves the work to the
// original. It counts the nest as it was before the recipe.
struct Guard {
  sdfg::Region original;                   // in the names of the Sdfg that is emitted
  std::vector<double> least_extents = {};  // iterations, per loop of it in preorder; 0 or absent: any
  double least_work = 0;                   // executions of its statements
  double gain = 0;                         // seconds per execution of a statement; 0: not known
  double saves = 0;                        // of the time that its nest takes, the share that its recipe saves
};

// Where some guards hold and others do not: the Sdfg has both versions of each nest, and runs the one or the other
// (targets/cpp/extents.h, `condition`).
struct Partly {
  double least_saved = 0;  // of the work of all nests, what those whose guards hold must save more than, a share
  sdfg::Region others;     // nests without a guard, as they were before the recipes
};

// A loop whose schedule the code does not have.
struct Unfollowed {
  std::string loop;      // its symbol
  bool threads = false;  // it was to run on threads and runs on one; otherwise: it was to run as vectors
  std::string why;
  bool operator==(const Unfollowed&) const = default;
};

// Where in the user's text the code comes from, for debuggers and profilers.
struct SourceLines {
  std::string file;
  int line = 0;                      // of what is in no loop; 0: the code has lines of its own
  std::map<std::string, int> loops;  // by symbol; a loop that is not here has the line of what is around it
};

// Some of the nodes that an Sdfg's root region holds, [first, last).
struct Part {
  std::size_t first = 0, last = 0;
};

// Of a target with a GPU: arrays among the arguments that may stay there (targets/runtime/gpu_device.h).
struct Residences {
  std::vector<std::string> arguments;
  std::set<std::string>
      interleaved;  // of these: what lies between the elements that the nest touches, others may write
};

// What is known of the time that a nest takes here and there, from end to end: with it, the entry of a target with a
// GPU decides on each call, for the sizes that it has, and declines where the GPU does not clearly gain
// (targets/runtime/gpu_offer.h). Seconds; "each": for each execution of a statement of `original`.
struct Offer {
  sdfg::Region original;      // the nest as it was before the recipe, in the names of the Sdfg that is emitted
  double core_each = 0;       // of the best that is known for the CPU, one core
  double memory_each = 0;     // ... its memory, however many cores
  bool threads = false;       // cores share what core_each is of
  double kernels_each = 0;    // of the GPU, the data there
  double launch = 0;          // each launch
  double run = 0, first = 0;  // each run; the first one, besides
  double to_byte = 0, from_byte = 0;
  double start = 0;  // of the GPU's runtime, once in a process
};

// What is asked ahead of a function (EmitOptions::asked_first).
struct Asking {
  std::string function;                // FUNCTION_takes
  std::vector<std::string> arguments;  // that it looks at, in the Sdfg's order: the others it does not take
  bool of_more = false;                // with them alone it may say something else: of threads, of what memory holds
};

struct EmitOptions {
  // Name of the extern "C" function. It takes the Sdfg's arguments in order: symbols as int64_t (or as `symbol_types`
  // says, where it is not `local`), scalars that are never written by value, other containers as pointers to their
  // elements; it returns int: 1 when it ran, 0 when a condition (guards, assumptions, disjoint footprints, threads,
  // memory for large temporaries) does not hold, with nothing changed.
  std::string function = "kernel";
  // Another such function with the same arguments, emitted ahead of this one: where the guards do not hold, or rows
  // share too few sets of the cache, it is called, and its result returned. Empty: none.
  std::string otherwise = {};
  bool otherwise_on_one_thread = false;  // it starts none, and runs as well where no team can be had
  // Scalars that it writes, which are all that it writes: they are passed by value, and come back with what it says, as
  // members of a struct FUNCTION_values { …; int ran; } in this order, those that are dead left out.
  std::vector<std::string> values = {};
  bool local = false;  // only functions of the same file call it
  // Not null: the function is two. `int FUNCTION_takes(…)` says whether a call is for it, by the same conditions, and
  // changes nothing that a program could see: a compiler knows that memory is as before where the original runs
  // instead. It returns 0, or the number of the variant: `variant` for this one, or what `otherwise` says. The function
  // itself then has one more argument behind all others, that number, returns nothing, and runs whatever has happened
  // since: on one thread where no team is to be had any more, as in `as_written` where there is no memory. What it
  // points to lives as long as the options. (Not with `values`, nor for a GPU.)
  struct AskedFirst {
    int variant = 1;
    Asking otherwise = {};  // of EmitOptions::otherwise, which is such a function too
    // The nest as the program has it, with the same arguments; its code takes no memory from the heap.
    const sdfg::Sdfg* as_written = nullptr;
  };
  const AskedFirst* asked_first = nullptr;
  bool contract = true;           // a*b+c inside one expression may become one fma (the user's -ffp-contract)
  bool reassociate = false;       // -fassociative-math: reductions may be split
  bool approximate_math = false;  // -fapprox-func / -ffast-math: vector exp, log, … instead of the C library's
  bool math_errno = false;  // functions of the C library set errno (-fmath-errno): so do their vectors and threads
  std::vector<Guard> guards = {};     // of nests whose sizes are not known at build time
  std::optional<Partly> partly = {};  // none: all guards must hold
  // With guards: the original runs where rows share too few sets of this cache (sdfg/cache_sets.h); none: not asked.
  sdfg::CacheSets cache = {};
  int least_threads = 1;     // run only where parallel regions get so many
  std::string comment = {};  // put above the function: where the nest came from, which recipe
  SourceLines lines = {};
  std::vector<Unfollowed>* unfollowed = nullptr;  // where given: gets the loops that do not run as scheduled
  bool restrict_arguments = true;                 // arguments in different alias classes are declared restrict
  // For measuring a part by itself: the code calls sous_clock_stop() ahead of what is not of it and sous_clock_start()
  // behind that (C functions of whoever measures).
  std::optional<Part> timed = {};
  std::map<std::string, sdfg::ElementType> symbol_types = {};
  // Of arguments that are members in an array of structures: which array, and the bytes from there to where the
  // argument points.
  std::map<std::string, std::pair<std::string, std::int64_t>> members = {};
  // What symbols surely are, whenever the function is called.
  std::map<std::string, std::int64_t> known = {};
  // Arguments that are tables of constants: their elements, row by row, with a comma behind each. They are numbers in
  // the code, as they are in the program.
  std::map<std::string, std::string> tables = {};
  // The nest before its recipe: what it reads and fills is easier to tell there. Null: it is not at hand.
  const sdfg::Sdfg* original = nullptr;
  // The nest as the program has it, with the same arguments: what data have to be looked at for it (sdfg/inspection.h)
  // is told there, for the normal form may bring what is read in any case under a condition. Null: the Sdfg itself is.
  const sdfg::Sdfg* in_program = nullptr;
  // Null: it takes every call. What it points to lives as long as the options.
  const Offer* offer = nullptr;
  // For each of its arguments, the function takes one more behind all others, an uint64_t* that may be null.
  Residences residences = {};
};

// Kinds of schedules, as a set: any schedule of a kind stands for it.
class ScheduleKinds {
 public:
  constexpr ScheduleKinds(std::initializer_list<sdfg::Schedule> kinds) {
    for (const sdfg::Schedule& kind : kinds) bits_ |= 1U << kind.index();
  }
  constexpr bool contains(const sdfg::Schedule& schedule) const { return (bits_ >> schedule.index() & 1U) != 0; }

 private:
  unsigned bits_ = 0;
};

struct Target;

// What code uses of the runtime's vectors; each has what those before it have. Reading all of Highway takes two
// seconds.
enum class Vectors { None, Common, All, Mathematics };

// A function as emitted.
struct Function {
  const Target* target = nullptr;
  std::string code;
  Vectors vectors = Vectors::None;
  // By its guards: where in each of these something is negative, it declines, or calls EmitOptions::otherwise.
  std::vector<std::vector<sdfg::Expr>> needs = {};
  std::optional<Asking> asking = {};  // of what is asked ahead of it
};

// What compiles a file: the compiler of the user's program, or one of the language's own.
enum class LanguageCompiler { Users, Nvcc };

// What functions are written in: those of targets with one language share a file.
struct Language {
  std::string_view name;
  std::string_view suffix;                    // of a file
  std::span<const std::string_view> options;  // that compile one; with clang and gcc, behind the user's own
  std::string (*file)(std::span<const Function> functions, std::string_view comment);  // a whole one
  // An exported function `int name(void* const* arguments)`, which calls `function` with what lies at the addresses of
  // the Sdfg's arguments, in their order: behind the function in its file.
  std::string (*caller)(const sdfg::Sdfg& sdfg, const std::string& function, const std::string& name) = nullptr;
  LanguageCompiler compiler = LanguageCompiler::Users;
};

// A library that generated code calls.
struct Runtime {
  std::string_view name;
  std::string_view option;  // of clang and gcc: compiles for it, and links it
  // Patterns of the symbols that objects refer to. Where a link may lack the library they are made weak; the entries
  // then return 0.
  std::span<const std::string_view> symbols;
};

struct Target {
  std::string_view name;
  std::string_view summary;
  const Language* language = nullptr;
  const Runtime* runtime = nullptr;  // null: none but the C library and libm
  // It can do all that this one does: a nest whose recipes name both is emitted by it. Null: it stands alone.
  const Target* extends = nullptr;
  ScheduleKinds follows;   // loops run as these say, where nothing in the loop is in the way (EmitOptions::unfollowed)
  ScheduleKinds in_order;  // loops run in order instead, and `unfollowed` says so; every other kind is refused
  std::span<const sdfg::Storage> storages;  // all others are refused
  Result<Function> (*print)(const sdfg::Sdfg& sdfg, const EmitOptions& options) = nullptr;

  // One function. Errors: target.schedule, target.storage (the target has none such), target.unsupported (why).
  Result<Function> emit(const sdfg::Sdfg& sdfg, const EmitOptions& options) const;
  // Whether Parallel loops run on threads.
  bool has_threads() const { return follows.contains(sdfg::Parallel{}); }
  // Whether loops over blocks and threads run on a GPU.
  bool has_gpu() const { return follows.contains(sdfg::GpuGrid{}); }
};

// Sorted by name.
std::span<const Target* const> targets();
const Target* find_target(std::string_view name);
// The one of the two that does all that the other does; null: neither does.
const Target* common_target(const Target& a, const Target& b);

// A generated file and what its build needs.
struct File {
  const Language* language = nullptr;
  std::string text;
  std::vector<const Runtime*> runtimes;  // each once
};
// The functions in as many files as they have languages, in order.
std::vector<File> files(const std::vector<Function>& functions, std::string_view comment);

#define X(name) extern const Target name##_target;
#include "sdfg/targets.list"
#undef X

}  // namespace sous::targets
