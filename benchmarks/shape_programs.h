// Programs that time one nest at any shape: the original, the generated code behind its guard, and the generated code
// alone, in turns. Each is a file of its own that needs the OpenMP runtime and nothing of Sous, so that a folder of
// them can be carried to another machine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sdfg/sdfg.h"
#include "targets/target.h"
#include "tuning-db/entry.h"

namespace sous::benchmarks {

struct ShapeProgram {
  std::string name;      // "gemm#2-1f3a", "sgemm-ikj"
  std::string entry_id;  // of the entry whose nest it is; empty: a C file
  sdfg::Sdfg original, transformed;
  std::string target;
  std::vector<targets::Guard> guards;
  int least_threads = 1;
  sdfg::CacheSets cache;                        // of the machine that it was measured on
  std::map<std::string, std::int64_t> largest;  // per symbol: what was measured
  double seconds_per_work = 0;                  // of the original there
};

// The nest of an entry with the extents of its arrays as parameters: a constant that is the value of a symbol becomes
// it (a program compiled for one size has constants where a library has parameters).
sdfg::Sdfg with_parameters(const sdfg::Sdfg& nest, const std::map<std::string, std::int64_t>& sizes);

// Errors: a step's refusal, db.*.
Result<ShapeProgram> program_of(const tuning_db::Entry& entry);
// The first nest of a C file, with the recipe that a build on the machine of `entries` would give it. Errors:
// bench.shapes (nothing is lifted or served), those of the front end.
Result<ShapeProgram> program_of(const std::string& c_file, const std::vector<std::filesystem::path>& seeds,
                                const std::vector<tuning_db::Entry>& entries);

// Compiles it into `folder`/<name>. Errors: bench.build.
Result<void> build(const ShapeProgram& program, const std::vector<std::string>& flags, const std::string& folder);

// One run of a program: a shape and a number of threads.
struct ShapeCase {
  std::map<std::string, std::int64_t> sizes;
  int threads = 1;
};
// From 1 to the measured extents, tiles with and without a rest, thin and flat; none that takes longer than
// `longest` seconds by what the evidence says. The same for the same program.
std::vector<ShapeCase> shape_cases(const ShapeProgram& program, const std::vector<int>& threads, double longest);
// What its line of measurements begins with; it names the case. `shapes`: how many the program has.
std::string label(const ShapeProgram& program, const ShapeCase& shape, std::size_t shapes);
// The words behind the program's name: symbols, then elements of each array. Errors: those of sdfg::store_size.
Result<std::string> arguments(const ShapeProgram& program, const ShapeCase& shape);

}  // namespace sous::benchmarks
