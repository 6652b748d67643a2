#include "client/pipeline.h"

#include <algorithm>
#include <set>

#include "client/called.h"
#include "client/choose.h"
#include "client/generate.h"
#include "client/measure.h"
#include "client/offload.h"
#include "client/partly.h"
#include "client/predicted.h"
#include "client/process.h"
#include "client/recipe_names.h"
#include "client/residence.h"
#include "client/share.h"
#include "client/trial_sizes.h"
#include "client/unfollowed.h"
#include "client/worth.h"
#include "sdfg/dependence_memory.h"
#include "sdfg/dot.h"
#include "sdfg/text.h"
#include "targets/target.h"
#include "tuning-db/build_isa.h"
#include "tuning-db/shape.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

using frontends::LiftedNest;
using sdfg::Sdfg;
using std::string;
using transforms::Match;

constexpr int matches_per_unit = 8;

class Pipeline {
 public:
  Pipeline(const string& path, const Meaning& meaning, const Options& options, const OpenSources& open_sources,
           tuning_db::FindGainModel gain_model)
      : path_(path),
        meaning_(with_options(meaning, options)),
        options_(options),
        open_sources_(open_sources),
        gain_model_(gain_model),
        hardware_(tuning_db::as_built(tuning_db::local_hardware(), meaning.cpp_code)) {}

  Result<Outcome> run(const Lift& lift) {
    const sdfg::DependenceMemory memory;
    TRY_VOID(check_options());
    out_.report.file = path_;
    double start = now();
    TRY(const auto unit, lift());
    phase("lift", start);
    out_.report.reasons = unit.reasons;
    out_.report.functions_with_loops = unit.functions_with_loops;
    const bool graphs = options_.emit == "sdfg" || options_.emit == "json" || options_.emit == "dot";
    residences_ = unit.residences;
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
    std::vector<const LiftedNest*> lifted;
    std::vector<Chosen> chosen;
    start = now();
    for (const Item& item : items_) {
      lifted.push_back(item.nest.lifted);
      chosen.push_back(choose_for(item.nest));
    }
    apply_seconds_ += now() - start;
    leave_to_called(lifted, chosen);
    auto next = chosen.begin();
    for (const Item& item : items_) {
      Sdfg final = item.nest.normal;
      serve(item, std::move(*next++), final);
      if (options_.share_wanted && !out_.report.nests[item.report].served) add_wanted(item.nest, out_.wanted);
      if (options_.emit == "svg") {
        pictures.push_back(std::move(final));
      } else if (graphs) {
        out_.dump += in_form(item.nest, final, options_.emit);
      }
    }
    if (!pictures.empty()) out_.dump += sdfg::to_svg(pictures);  // one file holds one picture
    out_.report.phases.insert(out_.report.phases.end(), {{"apply", apply_seconds_}, {"emit", emit_seconds_}});
    assign_residences(residences_, out_.served);
    write_file_text();
    return std::move(out_);
  }

 private:
  struct Item {
    PreparedNest nest;
    std::size_t report = 0;  // its index
  };

  void phase(const char* name, double start) { out_.report.phases.emplace_back(name, now() - start); }

  Result<void> check_options() {
    TRY_VOID(check_names(options_));
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
      const bool list = !looked_at_anyway() && is_list_of_statements(*lifted);
      if (list || !worth_normalizing(*lifted)) {
        report.why = list ? "many statements that run a few times each: no loops for a recipe"
                          : "no recipe known for nests of its depth and types";
        out_.report.nests.push_back(std::move(report));
        continue;
      }
      auto nest = prepare(*lifted, meaning_, options_.sizes, hardware_);
      if (!nest) {
        report.why = nest.error().to_string();
        out_.report.nests.push_back(std::move(report));
        continue;
      }
      report.normal_form = nest->log;
      for (const auto& symbol : nest->normal.symbols) {
        if (!lifted->known.contains(symbol)) out_.unknown_sizes.insert(symbol);
      }
      report.sizes_known = true;
      for (const Unit& unit : nest->units) {
        if (unit.index == 0 && nest->units.size() > 1) continue;
        report.work += unit_work(unit);
        report.sizes_known = report.sizes_known && sizes_known(unit);
      }
      if (options_.dump_after == "normalize") out_.dump += names_for_recipes(*nest, true);
      items_.push_back({std::move(*nest), out_.report.nests.size()});
      out_.report.nests.push_back(std::move(report));
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

  // The target that is asked for is a GPU's: what no source knows is offloaded by strategy.
  bool for_gpu() const {
    const targets::Target* wanted = targets::find_target(options_.target);
    return wanted != nullptr && wanted->has_gpu();
  }

  // Somebody wants to see what becomes of nests that are left as they are.
  bool says() const {
    return options_.explain != Explain::No || options_.remarks || !options_.report.empty() ||
           !options_.dump_after.empty() || !options_.emit.empty();
  }

  // What somebody asks for concerns the normal form of whatever nest.
  bool looked_at_anyway() const { return forced_ || options_.show || for_gpu() || !options_.dump_after.empty(); }

  // Normal form and dependences cost more than all else of a file that is left as it is: not where no source can know
  // a recipe, and nobody wants to see them.
  bool worth_normalizing(const LiftedNest& lifted) const {
    if (looked_at_anyway() || says() || !options_.sizes.empty())
      return true;  // what --size names is held against the normal form
    return (source_ != nullptr && source_->may_know(lifted.sdfg)) || worth_predicting(lifted, hardware_, gain_model());
  }

  // A frozen build is what its lock file says, and no prediction.
  tuning_db::FindGainModel gain_model() const { return options_.frozen ? nullptr : gain_model_; }

  // One query for all units of all nests. What goes wrong is a note, never an error: the build goes on.
  void query() {
    std::vector<transforms::NestQuery> asked;
    for (const Item& item : items_) {
      for (const Unit& unit : item.nest.units) asked.push_back(unit.query());
    }
    if (asked.empty() || source_ == nullptr) return;
    for (auto& one : asked) one.in_reach_only = !says() && !options_.measure;
    auto answer = source_->query(asked, matches_per_unit);
    if (!answer) {
      out_.report.notes.push_back(answer.error().to_string());
      return;
    }
    auto next = answer->begin();
    for (Item& item : items_) {
      for (Unit& unit : item.nest.units) unit.matches = std::move(*next++);
      if (auto& written = item.nest.written)
        if (auto pinned = source_->pinned(written->query())) written->matches = {std::move(*pinned)};
      keep_pinned(item.nest);
    }
  }

  // A nest of which the lock file names a unit is what the lock file says: the database may have learned since.
  static void keep_pinned(PreparedNest& nest) {
    if (!nest.pinned()) return;
    for (Unit& unit : nest.units)
      std::erase_if(unit.matches, [](const Match& match) { return match.origin != transforms::Origin::Lock; });
  }

  Chosen choose_for(const PreparedNest& nest) {
    Question question{
        .nest = nest, .target = options_.target, .unit = options_.unit, .measure = {}, .gain_model = gain_model()};
    // A lock file names one recipe for each nest, and what is asked to be measured is not run unmeasured.
    question.other_shapes = !options_.lock && !options_.measure;
    question.tells_all = says() || options_.measure;
    if (forced_) return force(question, *forced_);
    if (options_.measure && !options_.frozen) {
      question.measure = [&](const PreparedNest& asked, const Choice& choice) { return this->measure(asked, choice); };
    }
    if (!for_gpu()) return choose(question);
    return choose_where(question,
                        {.all = options_.offload_all, .each_call = !options_.lock, .by_strategy = !options_.frozen});
  }

  Result<transforms::Evidence> measure(const PreparedNest& nest, const Choice& choice) {
    TRY(const PreparedNest sized, at_trial_sizes(nest, choice.unit, choice.match.evidence.size_class));
    TRY(auto evidence, measure_on_the_spot(sized, choice, {.most = options_.runs}));
    const string stem = name_of(path_).substr(0, name_of(path_).rfind('.'));
    out_.measured.push_back(
        entry_of(sized, choice, evidence, stem + "#" + std::to_string(choice.unit), "sous --measure"));
    return evidence;
  }

  void serve(const Item& item, Chosen chosen, Sdfg& final) {
    NestReport& report = out_.report.nests[item.report];
    double start = now();
    report.units = std::move(chosen.units);
    report.why = chosen.why;
    if (chosen.choices.empty()) return;
    auto applied = assemble(item.nest, chosen);
    apply_seconds_ += now() - start;
    if (!applied) {
      report.why = applied.error().to_string();
      return;
    }
    final = std::move(*applied);
    if (options_.dump_after == "apply") out_.dump += sdfg::print(final);
    start = now();
    emit(item, chosen, final, report);
    emit_seconds_ += now() - start;
    if (report.served || chosen.beside.empty()) return;
    // The GPU's target does not print it: the CPU's recipe it is.
    applied = assemble(item.nest, chosen.beside.front());
    if (!applied) return;
    final = std::move(*applied);
    emit(item, chosen.beside.front(), final, report);
  }

  // The target that is asked for, but for what is chosen for the CPU where a GPU is offered.
  string target_for(const Chosen& chosen) const {
    const auto* own = targets::find_target(chosen.choices.front().match.recipe.target);
    return for_gpu() && !forced_ && !own->has_gpu() ? "" : options_.target;
  }

  // What is asked where the GPU declines.
  void emit_beside(const Item& item, const Chosen& chosen, Served& served) const {
    if (chosen.beside.empty()) return;
    const Chosen& cpu = chosen.beside.front();
    const auto applied = assemble(item.nest, cpu);
    const string function = served.replacement.function + "_on_cpu";
    const auto generated =
        applied ? generate(item.nest, cpu, *applied, target_for(cpu), function) : std::unexpected(applied.error());
    if (!generated) return;
    NestReport aside;
    if (!follows(item.nest, cpu, *applied, *generated->code.target, generated->unfollowed, false, aside)) return;
    served.otherwise = generated->code;
    served.replacement.otherwise = function;
    served.replacement.otherwise_arguments = frontends::arguments_for(*item.nest.lifted, *applied);
  }

  // What a GPU does may be seen: its arrays stay there.
  std::vector<string> values_for(const Item& item, const Chosen& chosen, const Sdfg& sdfg) const {
    const auto target = target_of(chosen.choices, target_for(chosen));
    const bool on_host = target && !(*target)->has_gpu() && chosen.beside.empty();
    return on_host ? frontends::values_of(*item.nest.lifted, sdfg, meaning_.math_errno) : std::vector<string>{};
  }

  void emit(const Item& item, const Chosen& chosen, const Sdfg& sdfg, NestReport& report) {
    const LiftedNest& lifted = *item.nest.lifted;
    const string function = function_name(lifted);
    const auto values = values_for(item, chosen, sdfg);
    const auto generated =
        generate(item.nest, chosen, sdfg, target_for(chosen), function, residence_candidates(residences_, lifted),
                 values, lifted.is_text() && chosen.beside.empty());
    if (!generated) {
      report.why = generated.error().to_string();
      return;
    }
    const targets::Target& target = *generated->code.target;
    if (!generated->other_shapes.empty()) report.why += "; other shapes: " + generated->other_shapes;
    report.threads = chosen.threads;
    if (!follows(item.nest, chosen, sdfg, target, generated->unfollowed, forced_.has_value(), report)) return;
    report.served = true;
    report.generated = function;
    report.target = target.name;
    report.expected_ratio = chosen.expected_ratio;
    report.min_work = least_work(chosen);
    Served served;
    served.nest = item.report;
    served.replacement = frontends::replacement(lifted, function, sdfg, "sous: " + chosen.why, values);
    if (string& guard = served.replacement.guard; meaning_.processor)  // first: the rest may be compiled for it
      guard = string("sous_processor(") + (*meaning_.processor == tuning_db::Isa::avx512 ? "2" : "1") + ")" +
              (guard.empty() ? "" : " && " + guard);
    if (chosen.beside.empty()) served.replacement.shapes = generated->shapes;
    if (const auto& asking = generated->code.asking)
      frontends::ask_first(served.replacement, asking->function, asking->arguments, !asking->of_more);
    served.code = generated->code;
    served.sdfg = sdfg;
    served.residences = generated->residences;
    emit_beside(item, chosen, served);
    if (!forced_) {
      for (const auto& choice : chosen.choices) {
        const Unit& unit = item.nest.unit(choice.unit);
        served.pins.push_back({unit.structural_hash, size_class_of(unit), choice.match});
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
    for (const auto& served : out_.served) {
      functions.push_back(served.code);
      if (served.otherwise) functions.push_back(*served.otherwise);
    }
    out_.files = targets::files(functions, "Generated by sous for " + name_of(path_) + ". Do not edit.");
  }

  const string& path_;
  const Meaning meaning_;
  const Options& options_;
  const OpenSources& open_sources_;
  tuning_db::FindGainModel gain_model_;
  const tuning_db::Hardware hardware_;  // as the build uses it
  std::optional<transforms::Recipe> forced_;
  Outcome out_;
  std::unique_ptr<transforms::RecipeSource> source_;  // null: forced, or none could be opened
  std::vector<const LiftedNest*> lifted_;
  std::vector<frontends::Residence> residences_;
  std::vector<Item> items_;
  std::set<string> functions_;
  double apply_seconds_ = 0, emit_seconds_ = 0;
};

}  // namespace

Result<Outcome> optimize(const Lift& lift, const string& path, const Meaning& meaning, const Options& options,
                         const OpenSources& open_sources, tuning_db::FindGainModel gain_model) {
  return Pipeline(path, meaning, options, open_sources, gain_model).run(lift);
}

std::vector<string> target_names() {
  std::vector<string> names;
  for (const auto* target : targets::targets()) names.emplace_back(target->name);
  return names;
}

}  // namespace sous::client
