// What happened to each nest, for --explain=all (text) and --report (JSON). explain.h has the short form.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontends/lifted.h"
#include "transforms/source.h"

namespace sous::client {

struct CandidateReport {
  transforms::Match match;  // without its nest
  bool used = false;
  std::string why_not;  // "no-evidence: …"
};
struct UnitReport {
  std::string label;  // "whole", "nest 2 of 3"
  std::string structural_hash;
  std::string size_class;
  double work = 0;     // executions of its statements; what is not known counts 1024 (unit_work)
  bool asked = false;  // its candidates were looked at; not where the whole has a recipe
  std::vector<CandidateReport> candidates;
  std::vector<std::string> steps;  // "tile(loops=[i0,i1], sizes=[32,32]): applied"
};
struct NestReport {
  std::string file, function;
  int line = 0, column = 0, end_line = 0;
  bool served = false;
  std::string why;        // one line: why not, or what was gained by what
  std::string generated;  // the function, if served
  std::string target;
  double expected_ratio = 0;  // 0: unknown (a forced recipe)
  double min_work = 0;
  int threads = 0;                      // that the evidence was measured on; 1 where the code has none
  double work = 0;                      // of all its units
  bool sizes_known = false;             // `work` is a number and no guess
  std::vector<std::string> unfollowed;  // "i0 runs on one thread: …"
  std::vector<std::string> dead;        // arrays that nobody looks at after the nest, as the program calls them
  std::vector<UnitReport> units;
  std::vector<std::string> normal_form;  // what normalization did
};
struct Report {
  std::string file;
  int functions_with_loops = 0;
  std::vector<NestReport> nests;
  std::vector<frontends::Reason> reasons;
  std::vector<std::string> notes;                      // a source that did not answer, a fallback
  std::vector<std::pair<std::string, double>> phases;  // seconds, in order
};

// "gemm.c: kernel": what a lock file calls it.
std::string place_of(const NestReport& nest);
// "7.43 times as fast"
std::string speed(double ratio);

bool nearer(const CandidateReport* a, const CandidateReport* b);
// The candidates of a unit that were not used, nearest first, at most so many.
std::vector<const CandidateReport*> nearest_unused(const UnitReport& unit, std::size_t most);

// Everything; or, for each unit, what was used, and so many of the nearest that were not, in a line each.
std::string to_text(const Report& report, std::optional<std::size_t> most_unused = {});
std::string to_json(const Report& report);

}  // namespace sous::client
