#include "tests/property/judges.h"

#include "sdfg/check.h"
#include "sdfg/interp.h"
#include "sdfg/json.h"
#include "sdfg/text.h"
#include "tests/support/random_nest.h"
#include "tests/support/random_recipe.h"
#include "tests/support/run_compiled.h"
#include "transforms/apply.h"
#include "transforms/normal_form.h"

namespace sous::tests {
namespace {

using sdfg::Memory;
using sdfg::Sdfg;
using Verdicts = std::vector<std::optional<Verdict>>;

// Inputs and the results that the interpreter gives for them.
struct Expected {
  std::vector<Memory> inputs, outputs;
};
Result<Expected> expected_of(const Sdfg& sdfg) {
  TRY_VOID(sdfg::check(sdfg));
  Expected result;
  for (const std::uint64_t seed : memory_seeds) {
    Memory memory = random_memory(sdfg, seed);
    result.inputs.push_back(memory);
    TRY_VOID(sdfg::interpret(sdfg, memory));
    result.outputs.push_back(std::move(memory));
  }
  return result;
}

// Why `changed` is not what `expected` is, by the interpreter.
std::optional<std::string> interpreted_difference(const Sdfg& changed, const Expected& expected, double tolerance) {
  if (const auto valid = sdfg::check(changed); !valid) return "check refuses it: " + valid.error().to_string();
  for (std::size_t k = 0; k < expected.inputs.size(); ++k) {
    Memory memory = expected.inputs[k];
    if (const auto done = sdfg::interpret(changed, memory); !done) return "interpreted: " + done.error().to_string();
    if (const auto found = difference(expected.outputs[k], memory, tolerance)) return "interpreted: " + *found;
  }
  return std::nullopt;
}

std::optional<std::string> compiled_difference(const CompiledBatch& batch, std::size_t k, const Expected& expected,
                                               double tolerance) {
  for (std::size_t m = 0; m < expected.inputs.size(); ++m) {
    const auto memory = batch.run(k, expected.inputs[m]);
    if (!memory) return memory.error().to_string();
    if (const auto found = difference(expected.outputs[m], *memory, tolerance)) return found;
  }
  return std::nullopt;
}

Verdict invalid(const Error& error) { return {"not a valid case: " + error.to_string(), true}; }

// Of each case; of one that is not valid none, which its verdict says.
std::vector<std::optional<Expected>> expected_of(const std::vector<Case>& cases, Verdicts& verdicts) {
  std::vector<std::optional<Expected>> all(cases.size());
  for (std::size_t k = 0; k < cases.size(); ++k) {
    auto one = expected_of(cases[k].sdfg);
    if (one) {
      all[k] = std::move(*one);
    } else {
      verdicts[k] = invalid(one.error());
    }
  }
  return all;
}

// Compiles what is to be compared and puts the differences into `verdicts`.
struct Comparison {
  std::size_t of;  // index of the case
  Sdfg sdfg;
  std::string target;
};
// A GPU does not do all that C++ does, nor C++ what lies in a GPU's memory: what a target refuses is no failure.
// (OffloadedNestsRun holds that a GPU does most.)
bool target_refuses(const Comparison& c) {
  const auto* target = targets::find_target(c.target);
  const auto code = target->emit(c.sdfg, exact_options(c.target));
  if (code) return false;
  const std::string& why = code.error().code;
  return why == "target.storage" || (target->has_gpu() && (why == "target.unsupported" || why == "target.math"));
}

void compare_compiled(const std::vector<Comparison>& comparisons, const std::vector<Case>& cases,
                      const std::vector<std::optional<Expected>>& expected, Verdicts& verdicts) {
  std::vector<CompiledCase> compiled;
  for (const Comparison& c : comparisons) {
    CompiledCase one{c.sdfg, c.target};
    one.options.reassociate = may_reassociate(cases[c.of]);
    compiled.push_back(std::move(one));
  }
  const CompiledBatch batch(compiled);
  for (std::size_t k = 0; k < comparisons.size(); ++k) {
    const std::size_t of = comparisons[k].of;
    if (verdicts[of] || target_refuses(comparisons[k])) continue;
    if (const auto found = compiled_difference(batch, k, *expected[of], cases[of].tolerance)) {
      verdicts[of] = Verdict{comparisons[k].target + ": " + *found};
    }
  }
}

// Each on its recipe's target, or on every one.
Verdicts judge_on_targets(const std::vector<Case>& cases, bool every) {
  Verdicts verdicts(cases.size());
  const auto expected = expected_of(cases, verdicts);
  std::vector<Comparison> comparisons;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    if (!expected[k]) continue;
    for (const auto* target : targets::targets())
      if (every || target->name == cases[k].recipe.target)
        comparisons.push_back({k, cases[k].sdfg, std::string(target->name)});
  }
  compare_compiled(comparisons, cases, expected, verdicts);
  return verdicts;
}

}  // namespace

bool may_reassociate(const Case& c) { return c.tolerance > 0; }

Verdicts judge_round_trip(const std::vector<Case>& cases) {
  Verdicts verdicts;
  for (const Case& c : cases) {
    std::optional<Verdict> verdict;
    const std::string text = sdfg::print(c.sdfg);
    const auto parsed = sdfg::parse(text);
    const auto read = sdfg::from_json(sdfg::to_json(c.sdfg));
    if (const auto valid = sdfg::check(c.sdfg); !valid) {
      verdict = Verdict{"check refuses it: " + valid.error().to_string()};
    } else if (!parsed) {
      verdict = Verdict{"its text does not parse: " + parsed.error().to_string()};
    } else if (*parsed != c.sdfg || sdfg::print(*parsed) != text) {
      verdict = Verdict{"its text is not lossless: " + sdfg::print(*parsed)};
    } else if (!read) {
      verdict = Verdict{"its JSON is not read: " + read.error().to_string()};
    } else if (*read != c.sdfg) {
      verdict = Verdict{"its JSON is not lossless"};
    }
    verdicts.push_back(std::move(verdict));
  }
  return verdicts;
}

Verdicts judge_compiled(const std::vector<Case>& cases) { return judge_on_targets(cases, true); }

Verdicts judge_compiled_for_target(const std::vector<Case>& cases) { return judge_on_targets(cases, false); }

Verdicts judge_recipe(const std::vector<Case>& cases) {
  Verdicts verdicts(cases.size());
  const auto expected = expected_of(cases, verdicts);
  std::vector<Comparison> comparisons;
  for (std::size_t k = 0; k < cases.size(); ++k) {
    if (!expected[k]) continue;
    transforms::ApplyOptions options;
    options.context.reassociate = may_reassociate(cases[k]);
    options.context.hardware = small_hardware();
    options.budget = small_budget;
    auto changed = transforms::apply(cases[k].sdfg, cases[k].recipe, options);
    if (!changed) {
      if (changed.error().code != "isl.budget")
        verdicts[k] = Verdict{"refused: " + changed.error().to_string(), false, true};
      continue;
    }
    if (const auto found = interpreted_difference(*changed, *expected[k], cases[k].tolerance)) {
      verdicts[k] = Verdict{*found + "\n" + sdfg::print(*changed)};
      continue;
    }
    comparisons.push_back({k, std::move(*changed), cases[k].recipe.target});
  }
  compare_compiled(comparisons, cases, expected, verdicts);
  return verdicts;
}

Verdicts judge_normal_form(const std::vector<Case>& cases) {
  Verdicts verdicts(cases.size());
  for (std::size_t k = 0; k < cases.size(); ++k) {
    const auto expected = expected_of(cases[k].sdfg);
    if (!expected) {
      verdicts[k] = invalid(expected.error());
      continue;
    }
    const auto normal =
        transforms::normalize(cases[k].sdfg, {.reassociate = may_reassociate(cases[k]), .budget = small_budget});
    if (!normal) {
      verdicts[k] = Verdict{"normalize fails: " + normal.error().to_string()};
    } else if (const auto found = interpreted_difference(normal->sdfg, *expected, cases[k].tolerance)) {
      verdicts[k] = Verdict{*found + "\n" + sdfg::print(normal->sdfg)};
    }
  }
  return verdicts;
}

}  // namespace sous::tests
