// What happened to each nest, for --explain (text) and --report (JSON).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "frontends/c/lift.h"
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
  std::vector<CandidateReport> candidates;
  std::vector<std::string> steps;  // "tile(loops=[i0,i1], sizes=[32,32]): applied"
};
struct NestReport {
  std::string file, function;
  int line = 0, end_line = 0;
  bool served = false;
  std::string why;        // one line: why not, or what was gained by what
  std::string generated;  // the function, if served
  std::string target;
  double expected_ratio = 0;  // 0: unknown (a forced recipe)
  double min_work = 0;
  int threads = 0;
  std::vector<std::string> dead;  // arrays that nobody looks at after the nest, as the program calls them
  std::vector<UnitReport> units;
  std::vector<std::string> normal_form;  // what normalization did
};
struct Report {
  std::string file;
  int functions_with_loops = 0;
  std::vector<NestReport> nests;
  std::vector<frontends::c::Reason> reasons;
  std::vector<std::string> notes;                      // a source that did not answer, a fallback
  std::vector<std::pair<std::string, double>> phases;  // seconds, in order
};

std::string to_text(const Report& report);
std::string to_json(const Report& report);

}  // namespace sous::client
