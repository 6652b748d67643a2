// The one printer of C++ from an Sdfg. The targets that print C++ differ in what they declare and in a Dialect: what
// becomes of SIMD loops.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "targets/cpp/expressions.h"
#include "targets/cpp/members.h"
#include "targets/cpp/transients.h"
#include "targets/target.h"

namespace sous::targets {

class Printer;

struct Dialect {
  const Target& target;  // with threads: the outermost Parallel loops run on OpenMP
  // Simd loops, where the target follows them: prints the loop and returns nothing, or prints nothing and says why not;
  // it is then printed as a plain loop, with that reason as a comment.
  std::optional<std::string> (*simd)(Printer& printer, const sdfg::Loop& loop) = nullptr;
  // Sequential loops that hold nothing but a Simd loop: prints both and returns true, or prints nothing.
  bool (*around_simd)(Printer& printer, const sdfg::Loop& loop) = nullptr;
  // Loops over grids and blocks, where the target follows them.
  void (*gpu)(Printer& printer, const sdfg::Loop& loop) = nullptr;
  // Prints the region and returns true, or prints nothing: it is then printed node by node.
  bool (*region)(Printer& printer, const sdfg::Region& region) = nullptr;
  // Not null: the arrays are in the memory of a device while the nest runs (targets/runtime/gpu.h). Of each array of
  // the program that it touches: how it is used, in the runtime's words.
  std::map<std::string, std::string> (*device_arrays)(const sdfg::Sdfg& sdfg, const EmitOptions& options) = nullptr;
  // Where temporaries live, if not where plan_transients says.
  Result<std::vector<Transient>> (*transients)(const sdfg::Sdfg& sdfg) = nullptr;
};

// The whole function: kernel and entry.
Result<Function> print_function(const sdfg::Sdfg& sdfg, const EmitOptions& options, const Dialect& dialect);

class Printer {
 public:
  Printer(const sdfg::Sdfg& sdfg, const EmitOptions& options, const Dialect& dialect,
          const std::vector<Transient>& transients, Names& names);

  void region(const sdfg::Region& region);
  void node(const sdfg::Node& node);
  // A plain `for` (its schedule is not looked at) with `pragma` above it, if any.
  void plain_loop(const sdfg::Loop& loop, const std::string& pragma = "");
  // The body of a loop, between its braces: privates, then nodes.
  void body(const sdfg::Loop& loop);
  // As Unroll: `factor` copies of the body.
  void unrolled(const sdfg::Loop& loop, std::int64_t factor);
  // Declarations of the temporaries that `owner` (a loop's symbol; empty: the function) owns, but for those in
  // `except`.
  void declare(const std::string& owner, const std::set<std::string>& except = {});
  // Asks for what the read meets some iterations later, if a loop around prefetches.
  void prefetch(const sdfg::Memlet& read);
  // The bound as an expression that may stand in a loop's condition: evaluated into a constant first where it is costly
  // or could change.
  std::string bound(const sdfg::Expr& e, const std::string& name);
  // "i < n" and "i += 2".
  static std::string condition(const std::string& variable, const sdfg::Loop& loop, const std::string& end);
  static std::string advance(const std::string& variable, std::int64_t step);

  Text condition(const sdfg::Condition& condition);

  // Says that the loop does not run as its schedule says: once for each loop and reason.
  void not_followed(const sdfg::Loop& loop, const std::string& why) const;

  const EmitOptions& options() const { return options_; }
  const std::vector<Transient>& transients() const { return transients_; }

  Lines out;
  Expressions expressions;
  bool in_parallel = false;
  bool starts_team = false;  // a loop of what is printed runs on threads
  // Declarations of the function's pointers, by name; and of those that are members of structures, where they lie.
  std::map<std::string, std::string> pointers;
  std::map<std::string, MemberPointer> members;
  Vectors vectors = Vectors::None;
  // Of a device: functions that what is printed launches, to stand ahead of it; the variable that launches them.
  std::string kernels = {}, run = {};
  std::string run_with = {};  // more of what it is made with
  // While set: prints the bodies of loops instead.
  std::function<void(const sdfg::Loop&)> body_instead;
  // While set: prints the loop and returns true, or prints nothing.
  std::function<bool(const sdfg::Loop&)> loop_instead;

 private:
  void state(const sdfg::State& state);
  void assign(const sdfg::TaskletView& tasklet);
  void loop(const sdfg::Loop& loop);
  void scheduled(const sdfg::Loop& loop);

  const EmitOptions& options_;
  const Dialect& dialect_;
  const std::vector<Transient>& transients_;
  const std::set<std::string> used_;
  std::set<const sdfg::State*> exits_;  // of the innermost while loop around what is printed (early_exits.h)
};

}  // namespace sous::targets
