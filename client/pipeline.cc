#include "client/pipeline.h"

#include <algorithm>
#include <set>

#include "client/choose.h"
#include "client/measure.h"
#include "client/process.h"
#include "client/recipe_names.h"
#include "client/trial_sizes.h"
#include "client/unfollowed.h"
#include "sdfg/dot.h"
#include "sdfg/json.h"
#include "sdfg/text.h"
#include "targets/target.h"
#include "tuning-db/build_isa.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

using frontends::LiftedNest;
using sdfg::Sdfg;
using std::string;
using transforms::Match;

constexpr int matches_per_unit = 8;

// The target of the one function that the choices' units become.
Result<const targets::Target*> target_of(const std::vector<Choice>& choices, const string& wanted) {
  const targets::Target* target = targets::find_target(wanted.empty() ? choices.front().match.recipe.target : wanted);
  SOUS_ASSERT(target != nullptr);  // `fitted` and the recipe reader let no other through
  if (!wanted.empty()) return target;
  for (const auto& choice : choices) {
    const auto& name = choice.match.recipe.target;
    const auto* common = targets::common_target(*target, *targets::find_target(name));
    if (common == nullptr) {
      return fail("target.mixed",
                  "its recipes are for " + string(target->name) + " and " + name + ", which go into no one function");
    }
    target = common;
  }
  return target;
}

// "kernel", "12" or "kernel:12".
bool selected(const LiftedNest& nest, const string& selector) {
  if (selector.empty()) return true;
  const auto colon = selector.find(':');
  const string line = std::to_string(nest.line);
  if (colon == string::npos) return selector == nest.function || selector == line;
  return selector.substr(0, colon) == nest.function && selector.substr(colon + 1) == line;
}

string in_form(const Sdfg& sdfg, const string& form) {
  if (form == "json") return sdfg::to_json(sdfg) + "\n";
  if (form == "dot") return sdfg::to_dot(sdfg);
  return sdfg::print(sdfg);
}

class Pipeline {
 public:
  Pipeline(const string& path, const Meaning& meaning, const Options& options, const OpenSources& open_sources)
      : path_(path),
        meaning_(meaning),
        options_(options),
        open_sources_(open_sources),
        reassociate_(meaning.reassociate || options.reassociate),
        hardware_(tuning_db::as_built(tuning_db::local_hardware(), meaning.cpp_code)) {}

  Result<Outcome> run(const Lift& lift) {
    TRY_VOID(check_options());
    out_.report.file = path_;
    double start = now();
    TRY(const auto unit, lift());
    phase("lift", start);
    out_.report.reasons = unit.reasons;
    out_.report.functions_with_loops = unit.functions_with_loops;
    const bool graphs = options_.emit == "sdfg" || options_.emit == "json" || options_.emit == "dot";
    for (const auto& lifted : unit.nests) {
      if (selected(lifted, options_.nest)) lifted_.push_back(&lifted);
    }
    if (lifted_.empty()) return std::move(out_);
    if (options_.dump_after == "lift") {
      for (const auto* lifted : lifted_) out_.dump += sdfg::print(lifted->sdfg);
    }
    start = now();
    if (!forced_) open_source();
    const double opening = now() - start;
    normalize();
    start = now() - opening;
    if (!forced_) query();
    phase("query", start);
    std::vector<Sdfg> pictures;
    for (std::size_t k = 0; k < nests_.size(); ++k) {
      Sdfg final = nests_[k].normal.sdfg;
      serve(k, final);
      if (options_.emit == "svg") {
        pictures.push_back(std::move(final));
      } else if (graphs) {
        out_.dump += in_form(final, options_.emit);
        if (options_.emit == "sdfg") out_.dump += names_for_recipes(nests_[k]);
      }
    }
    if (!pictures.empty()) out_.dump += sdfg::to_svg(pictures);  // one file holds one picture
    out_.report.phases.insert(out_.report.phases.end(), {{"apply", apply_seconds_}, {"emit", emit_seconds_}});
    write_file_text();
    return std::move(out_);
  }

 private:
  void phase(const char* name, double start) { out_.report.phases.emplace_back(name, now() - start); }

  Result<void> check_options() {
    static const std::vector<string> passes{"lift", "normalize", "apply"};
    if (!options_.dump_after.empty() && std::find(passes.begin(), passes.end(), options_.dump_after) == passes.end()) {
      return fail("cli.value", "--dump-after takes lift, normalize or apply, not " + options_.dump_after +
                                   did_you_mean(options_.dump_after, passes));
    }
    if (!options_.target.empty() && targets::find_target(options_.target) == nullptr) {
      return fail("cli.value", "there is no target " + options_.target + did_you_mean(options_.target, target_names()));
    }
    if (options_.recipe == "normal-form") {
      forced_ = transforms::Recipe{};
    } else if (!options_.recipe.empty()) {
      TRY(const string text, read_file(options_.recipe));
      auto recipe = transforms::parse_recipe(text);
      if (!recipe) return fail(recipe.error().code, recipe.error().why, options_.recipe);
      forced_ = std::move(*recipe);
    }
    return {};
  }

  void normalize() {
    const double start = now();
    for (const auto* lifted : lifted_) {
      NestReport report;
      report.file = lifted->file;
      report.function = lifted->function;
      report.line = lifted->line;
      report.column = lifted->column;
      report.end_line = lifted->end_line;
      for (const auto& argument : lifted->arguments) {
        const auto* container = lifted->sdfg.find(argument.name);
        if (container != nullptr && container->dead) report.dead.push_back(argument.expression);
      }
      if (!worth_normalizing(*lifted)) {
        report.why = "no recipe known for nests of its depth and types";
        out_.report.nests.push_back(std::move(report));
        continue;
      }
      auto nest = prepare(*lifted, reassociate_, options_, hardware_);
      if (!nest) {
        report.why = nest.error().to_string();
        out_.report.nests.push_back(std::move(report));
        continue;
      }
      report.normal_form = nest->normal.log;
      for (const auto& symbol : nest->normal.sdfg.symbols) {
        if (!lifted->known.contains(symbol)) out_.unknown_sizes.insert(symbol);
      }
      report.sizes_known = true;
      for (std::size_t u = has_whole(*nest) ? 1 : 0; u < nest->normal.units.size(); ++u) {
        report.work += unit_work(*nest, u);
        report.sizes_known = report.sizes_known && sizes_known(*nest, u);
      }
      if (options_.dump_after == "normalize") out_.dump += names_for_recipes(*nest, true);
      reports_.push_back(out_.report.nests.size());
      out_.report.nests.push_back(std::move(report));
      nests_.push_back(std::move(*nest));
    }
    phase("normalize", start);
  }

  void open_source() {
    auto source = open_sources_(hardware_, out_.report.notes);
    if (source) {
      source_ = std::move(*source);
    } else {
      out_.report.notes.push_back(source.error().to_string());
    }
  }

  // Normal form and dependences cost more than all else of a file that is left as it is: not where no source can know
  // a recipe, and nobody wants to see them.
  bool worth_normalizing(const LiftedNest& lifted) const {
    const bool says = options_.explain != Explain::No || options_.remarks || !options_.report.empty() ||
                      !options_.dump_after.empty() || !options_.emit.empty();
    if (forced_ || says || !options_.sizes.empty()) return true;  // what --size names is held against the normal form
    return source_ != nullptr && source_->may_know(lifted.sdfg);
  }

  // One query for all units of all nests. What goes wrong is a note, never an error: the build goes on.
  void query() {
    std::vector<transforms::NestQuery> all;
    for (const auto& nest : nests_) all.insert(all.end(), nest.queries.begin(), nest.queries.end());
    std::vector<std::vector<Match>> found(all.size());
    if (!all.empty() && source_ != nullptr) {
      if (auto answer = source_->query(all, matches_per_unit); answer) {
        found = std::move(*answer);
      } else {
        out_.report.notes.push_back(answer.error().to_string());
      }
    }
    auto next = found.begin();
    for (const auto& nest : nests_) {
      const auto end = next + static_cast<std::ptrdiff_t>(nest.queries.size());
      matches_.emplace_back(next, end);
      keep_pinned(matches_.back());
      next = end;
    }
  }

  // A nest of which the lock file names a unit is what the lock file says: the database may have learned since.
  static void keep_pinned(std::vector<std::vector<Match>>& units) {
    const auto pinned = [](const Match& match) { return match.origin == transforms::Origin::Lock; };
    const bool any = std::any_of(units.begin(), units.end(), [&](const auto& matches) {
      return std::any_of(matches.begin(), matches.end(), pinned);
    });
    if (!any) return;
    for (auto& matches : units) std::erase_if(matches, [&](const Match& match) { return !pinned(match); });
  }

  Chosen choose_for(std::size_t k, NestReport& report) {
    const bool leave = reassociate_;
    if (forced_) return force(nests_[k], *forced_, leave, options_, report.units);
    Measure measure;
    if (options_.measure && !options_.frozen) {
      measure = [&](const Nest& nest, const Choice& choice) { return this->measure(nest, choice); };
    }
    return choose(nests_[k], matches_[k], leave, options_, tuning_db::hardware_class(hardware_), measure, report.units);
  }

  Result<transforms::Evidence> measure(const Nest& nest, const Choice& choice) {
    TRY(const Nest sized, at_trial_sizes(nest, choice.unit, choice.match.evidence.size_class));
    Meaning meaning = meaning_;
    meaning.reassociate = reassociate_;
    TRY(auto evidence, measure_on_the_spot(sized, choice, meaning, {.most = options_.runs}));
    const string stem = name_of(path_).substr(0, name_of(path_).rfind('.'));
    out_.measured.push_back(
        entry_of(sized, choice, evidence, meaning_, stem + "#" + std::to_string(choice.unit), "sous --measure"));
    return evidence;
  }

  void serve(std::size_t k, Sdfg& final) {
    const Nest& nest = nests_[k];
    NestReport& report = out_.report.nests[reports_[k]];
    double start = now();
    const Chosen chosen = choose_for(k, report);
    report.why = chosen.why;
    if (chosen.choices.empty()) {
      apply_seconds_ += now() - start;
      return;
    }
    auto applied = assemble(nest, chosen.choices);
    apply_seconds_ += now() - start;
    if (!applied) {
      report.why = applied.error().to_string();
      return;
    }
    final = std::move(*applied);
    if (options_.dump_after == "apply") out_.dump += sdfg::print(final);
    start = now();
    emit(k, chosen, final, report);
    emit_seconds_ += now() - start;
  }

  void emit(std::size_t k, const Chosen& chosen, const Sdfg& sdfg, NestReport& report) {
    const LiftedNest& lifted = *nests_[k].lifted;
    const auto found = target_of(chosen.choices, options_.target);
    if (!found) {
      report.why = found.error().to_string();
      return;
    }
    const targets::Target& target = **found;
    targets::EmitOptions emit_options = client::emit_options(meaning_, reassociate_ || lifted.reassociate);
    emit_options.function = function_name(lifted);
    emit_options.guards = chosen.guards;
    emit_options.least_threads = chosen.least_threads;
    if (meaning_.user_lines) {
      emit_options.lines = {lifted.file, lifted.line, {}};
      sdfg::visit(sdfg.root, [&](const sdfg::Node& node) {
        const auto* loop = std::get_if<sdfg::Loop>(&node.value);
        const auto line = loop == nullptr ? std::nullopt : line_of_loop(lifted, loop->symbol);
        if (line) emit_options.lines.loops[loop->symbol] = *line;
      });
    }
    std::vector<targets::Unfollowed> unfollowed;
    emit_options.unfollowed = &unfollowed;
    string recipes;
    for (const auto& choice : chosen.choices) {
      recipes += "\n" + unit_label(nests_[k], choice.unit) + ": " + transforms::to_text(choice.match.recipe);
    }
    emit_options.comment = name_of(lifted.file) + ":" + std::to_string(lifted.line) + ", " + lifted.function + recipes;
    auto code = target.emit(sdfg, emit_options);
    if (!code) {
      report.why = code.error().to_string();
      return;
    }
    report.threads = chosen.threads;
    if (!follows(nests_[k], chosen, sdfg, target, unfollowed, forced_.has_value(), report)) return;
    report.served = true;
    report.generated = emit_options.function;
    report.target = target.name;
    report.expected_ratio = chosen.expected_ratio;
    for (const auto& guard : chosen.guards) report.min_work = std::max(report.min_work, guard.least_work);
    Served served;
    served.nest = reports_[k];
    served.replacement = frontends::replacement(lifted, emit_options.function, sdfg, "sous: " + chosen.why);
    served.code = {&target, std::move(*code)};
    if (!forced_) {
      for (const auto& choice : chosen.choices) {
        const auto& unit = nests_[k].normal.units[choice.unit];
        served.pins.push_back({unit.structural_hash,
                               to_string(tuning_db::size_class(unit.nest, nests_[k].queries[choice.unit].sizes)),
                               choice.match});
      }
    }
    out_.served.push_back(std::move(served));
  }

  string function_name(const LiftedNest& lifted) {
    const string wish = "sous_" + lifted.function + "_" + std::to_string(lifted.line);
    string name = wish;
    for (int k = 2; !functions_.insert(name).second; ++k) name = wish + "_" + std::to_string(k);
    return name;
  }

  void write_file_text() {
    std::vector<targets::Function> functions;
    for (const auto& served : out_.served) functions.push_back(served.code);
    out_.files = targets::files(functions, "Generated by sous for " + name_of(path_) + ". Do not edit.");
  }

  const string& path_;
  const Meaning& meaning_;
  const Options& options_;
  const OpenSources& open_sources_;
  bool reassociate_;
  const tuning_db::Hardware hardware_;  // as the build uses it
  std::optional<transforms::Recipe> forced_;
  Outcome out_;
  std::unique_ptr<transforms::RecipeSource> source_;  // null: forced, or none could be opened
  std::vector<const LiftedNest*> lifted_;
  std::vector<Nest> nests_;
  std::vector<std::size_t> reports_;  // index of each nest's report
  std::vector<std::vector<std::vector<Match>>> matches_;
  std::set<string> functions_;
  double apply_seconds_ = 0, emit_seconds_ = 0;
};

}  // namespace

targets::EmitOptions emit_options(const Meaning& meaning, bool reassociate) {
  targets::EmitOptions options;
  options.contract = meaning.contract;
  options.reassociate = reassociate;
  options.approximate_math = meaning.approximate_math;
  options.math_errno = meaning.math_errno;
  return options;
}

Result<Outcome> optimize(const Lift& lift, const string& path, const Meaning& meaning, const Options& options,
                         const OpenSources& open_sources) {
  return Pipeline(path, meaning, options, open_sources).run(lift);
}

std::vector<string> target_names() {
  std::vector<string> names;
  for (const auto* target : targets::targets()) names.emplace_back(target->name);
  return names;
}

}  // namespace sous::client
