#include "client/nest.h"

#include <algorithm>
#include <set>

#include "client/sized.h"
#include "sdfg/check.h"
#include "transforms/apply.h"
#include "transforms/normal/util.h"
#include "tuning-db/nest_facts.h"
#include "tuning-db/size_class.h"

namespace sous::client {
namespace {

using sdfg::Sdfg;
using std::string;

// Back to the nest's own names; what steps made gets a name that nothing there has: it is new in the unit, but may not
// be in the nest that it goes back into.
Sdfg rename_back(const Sdfg& transformed, const sdfg::Renaming& to_original, transforms::normal::Names& free) {
  sdfg::Renaming renaming = to_original;
  const auto add = [&](std::map<string, string>& names, const string& name) {
    if (!names.contains(name)) names[name] = free.fresh(name);
  };
  for (const auto& symbol : transformed.symbols) add(renaming.symbols, symbol);
  for (const auto& container : transformed.containers) add(renaming.containers, container.name);
  const sdfg::NodeNames names = sdfg::node_names(transformed.root);
  for (const string& symbol : names.symbols) add(renaming.symbols, symbol);
  for (const string& state : names.states) add(renaming.states, state);
  return sdfg::rename(transformed, renaming);
}

std::set<string> privates(const sdfg::Region& region) {
  std::set<string> names;
  sdfg::visit(region, [&](const sdfg::Node& node) {
    if (const auto* loop = std::get_if<sdfg::Loop>(&node.value))
      names.insert(loop->privates.begin(), loop->privates.end());
  });
  return names;
}

// The unit as it was, to stand beside what a recipe made of it: of what belongs to a loop of either, it has its own.
Sdfg beside(const PreparedNest& nest, const Unit& unit, const Sdfg& recipes, transforms::normal::Names& free) {
  Sdfg copy = nest.form_of(unit);
  auto& nodes = copy.root.nodes;
  nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(unit.last), nodes.end());
  nodes.erase(nodes.begin(), nodes.begin() + static_cast<std::ptrdiff_t>(unit.first));
  sdfg::Renaming renaming;
  const sdfg::NodeNames names = sdfg::node_names(copy.root);
  for (const string& symbol : names.symbols) renaming.symbols.emplace(symbol, free.fresh(symbol));
  for (const string& state : names.states) renaming.states.emplace(state, free.fresh(state));
  std::set<string> owned = privates(copy.root);
  owned.merge(privates(recipes.root));
  std::erase_if(copy.containers, [&](const sdfg::Container& c) { return !owned.contains(c.name); });
  for (const sdfg::Container& c : copy.containers) renaming.containers.emplace(c.name, free.fresh(c.name));
  return sdfg::rename(copy, renaming);
}

// Into `out`, what it does not have; where `all` of it comes from there, its temporaries are what they are there.
void add_containers(Sdfg& out, const Sdfg& from, bool all) {
  for (sdfg::Container container : from.containers) {
    if (container.transient) container.alias_class = 0;  // whose numbers are each graph's own
    auto* known = out.find(container.name);
    if (known == nullptr) {
      out.containers.push_back(container);
    } else if (all && container.transient) {
      *known = container;  // a step may have contracted it: nobody else uses it
    }
  }
  if (all) {  // or have made it each iteration's own
    std::erase_if(out.containers, [&](const auto& c) { return c.transient && from.find(c.name) == nullptr; });
  }
}

// The loops around statements, by their bounds in the program's names: what tells an order from another.
string loops_of(const sdfg::Region& region, const std::map<string, sdfg::Expr>& original) {
  string text;
  for (const sdfg::Node& node : region.nodes)
    match(
        node.value, [&](const sdfg::State&) { text += "s"; },
        [&](const sdfg::Loop& loop) {
          text += loop.begin.substitute(original).to_string() + ".." + loop.end.substitute(original).to_string() + "(" +
                  loops_of(loop.body, original) + ")";
        },
        [&](const sdfg::If& branch) {
          text += "?(" + loops_of(branch.then_body, original) + ":" + loops_of(branch.else_body, original) + ")";
        },
        [&](const sdfg::While& loop) { text += "*(" + loops_of(loop.body, original) + ")"; });
  return text;
}
string loops_of(const transforms::NormalForm::Unit& unit) {
  std::map<string, sdfg::Expr> original;
  for (const string& symbol : unit.nest.symbols)
    if (const auto found = unit.to_original.symbols.find(symbol); found != unit.to_original.symbols.end())
      original.emplace(symbol, sdfg::Expr::symbol(found->second));
  return loops_of(unit.nest.root, original);
}

string label(std::size_t unit, std::size_t count) {
  if (count == 1) return "the nest";
  if (unit == 0) return "whole";
  return "nest " + std::to_string(unit) + " of " + std::to_string(count - 1);
}

// Whether it has the least or the greatest of floats: leave to reorder sums is none to reorder these while there are
// NaNs, of which it depends on the order which one stays.
bool has_float_extremum(const sdfg::Sdfg& program) {
  const sdfg::Scop scop = sdfg::scop_of(program);
  return std::ranges::any_of(scop.statements, [&](const sdfg::Statement& statement) {
    const auto update = sdfg::self_update(statement);
    return update && (update->op == sdfg::ReductionOp::min || update->op == sdfg::ReductionOp::max) &&
           sdfg::is_float(program.find(update->container)->type);
  });
}

}  // namespace

Result<PreparedNest> prepare(const frontends::LiftedNest& lifted, const Meaning& meaning,
                             const std::map<string, std::int64_t>& sizes, const tuning_db::Hardware& hardware) {
  PreparedNest nest{
      .lifted = &lifted, .normal = {}, .log = {}, .units = {}, .sizes = {}, .meaning = meaning, .hardware = hardware};
  nest.meaning.reassociate = meaning.reassociate || lifted.reassociate;
  transforms::NormalFormOptions normal_options;
  normal_options.reassociate = nest.meaning.reassociate;
  TRY(auto normal, transforms::normalize(lifted.sdfg, normal_options));
  if (nest.meaning.reassociate && !meaning.no_nans && !lifted.reassociate && has_float_extremum(normal.sdfg)) {
    nest.meaning.reassociate = normal_options.reassociate = false;
    TRY(normal, transforms::normalize(lifted.sdfg, normal_options));
  }
  nest.normal = std::move(normal.sdfg);
  nest.log = std::move(normal.log);
  for (auto& unit : normal.units) {
    const std::size_t index = nest.units.size();
    nest.units.push_back({std::move(unit), index, label(index, normal.units.size()), {}, {}});
  }
  TRY(auto written, transforms::as_written(lifted.sdfg));
  if (!nest.units.empty() && loops_of(written.unit) != loops_of(nest.units.front())) {
    nest.written_form = std::move(written.sdfg);
    nest.written = Unit{{std::move(written.unit)}, nest.units.size(), "the nest as it is written", {}, {}, true};
  }
  for (const auto& symbol : nest.normal.symbols) {
    if (const auto known = lifted.known.find(symbol); known != lifted.known.end()) {
      nest.sizes[symbol] = known->second;
    } else if (const auto given = sizes.find(symbol); given != sizes.end()) {
      nest.sizes[symbol] = given->second;
    }
  }
  nest.greatest = greatest_declared(lifted);
  set_unit_sizes(nest);
  return nest;
}

void set_unit_sizes(PreparedNest& nest) {
  const auto set = [&](Unit& unit) {
    unit.sizes.clear();
    unit.greatest.clear();
    for (const auto& symbol : unit.nest.symbols) {
      const auto renamed = unit.to_original.symbols.find(symbol);
      const string& original = renamed == unit.to_original.symbols.end() ? symbol : renamed->second;
      if (const auto size = nest.sizes.find(original); size != nest.sizes.end()) unit.sizes[symbol] = size->second;
      if (const auto most = nest.greatest.find(original); most != nest.greatest.end())
        unit.greatest[symbol] = most->second;
    }
  };
  std::ranges::for_each(nest.units, set);
  if (nest.written) set(*nest.written);
}

bool PreparedNest::pinned() const {
  const auto is = [](const Unit& unit) {
    return std::ranges::any_of(unit.matches, [](const auto& m) { return m.origin == transforms::Origin::Lock; });
  };
  return std::ranges::any_of(units, is) || (written && is(*written));
}

bool selected(const frontends::LiftedNest& nest, const string& selector) {
  const string line = std::to_string(nest.line);
  return selector.empty() || selector == nest.function || selector == line || selector == nest.function + ":" + line;
}

transforms::ApplyOptions apply_options(const PreparedNest& nest) {
  transforms::ApplyOptions options;
  options.context.reassociate = nest.meaning.reassociate;
  options.context.hardware = tuning_db::size_values(nest.hardware);
  return options;
}

Result<void> apply_choice(const PreparedNest& nest, Choice& choice, std::vector<string>* steps) {
  std::vector<transforms::StepReport> reports;
  transforms::ApplyOptions options = apply_options(nest);
  std::optional<transforms::Patience::Counting> counting;
  if (choice.match.patience) counting.emplace(*choice.match.patience);
  options.patience = choice.match.patience.get();
  auto applied = transforms::apply(nest.unit(choice.unit).nest, choice.match.recipe, options, &reports);
  if (steps != nullptr) {
    for (const auto& r : reports) steps->push_back(r.step + (r.applied ? ": applied" : ": refused: " + r.refusal));
  }
  if (!applied) return std::unexpected(applied.error());
  choice.applied = std::move(*applied);
  return {};
}

Result<Sdfg> assemble(const PreparedNest& nest, const std::vector<Choice>& choices,
                      const std::vector<sdfg::Condition>& conditions) {
  SOUS_ASSERT(conditions.empty() || conditions.size() == choices.size());
  Sdfg out = choices.empty() ? nest.normal : nest.form_of(nest.unit(choices.front().unit));
  transforms::normal::Names free(out);
  std::vector<const Choice*> last_first;
  for (const auto& choice : choices) last_first.push_back(&choice);
  std::sort(last_first.begin(), last_first.end(),
            [&](const Choice* a, const Choice* b) { return nest.unit(a->unit).first > nest.unit(b->unit).first; });
  for (const Choice* choice : last_first) {
    const auto& unit = nest.unit(choice->unit);
    const Sdfg renamed = rename_back(choice->applied, unit.to_original, free);
    const bool everything = unit.first == 0 && unit.last == nest.form_of(unit).root.nodes.size();
    add_containers(out, renamed, everything);
    auto& nodes = out.root.nodes;
    const auto at = nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(unit.first),
                                nodes.begin() + static_cast<std::ptrdiff_t>(unit.last));
    if (conditions.empty()) {
      nodes.insert(at, renamed.root.nodes.begin(), renamed.root.nodes.end());
      continue;
    }
    Sdfg as_it_was = beside(nest, unit, renamed, free);
    add_containers(out, as_it_was, false);
    const sdfg::Condition& condition = conditions[static_cast<std::size_t>(choice - choices.data())];
    nodes.insert(nodes.begin() + static_cast<std::ptrdiff_t>(unit.first),
                 sdfg::If{condition, renamed.root, std::move(as_it_was.root)});
  }
  TRY_VOID(sdfg::check(out));
  return out;
}

double unit_work(const Unit& unit) { return tuning_db::facts(unit.nest, unit.sizes).work(); }

bool sizes_known(const Unit& unit) { return tuning_db::work(unit.nest, unit.sizes).has_value(); }

string size_class_of(const Unit& unit) { return to_string(tuning_db::size_class(unit.nest, unit.sizes)); }

std::optional<int> line_of_loop(const frontends::LiftedNest& lifted, const string& symbol) {
  const auto stem = [](const string& name) {
    const auto end = name.find_last_not_of("0123456789");
    return end != string::npos && end + 1 < name.size() && end > 0 && name[end] == '_' ? name.substr(0, end) : name;
  };
  const auto& lines = lifted.loop_lines;
  if (const auto own = lines.find(symbol); own != lines.end()) return own->second;
  std::optional<int> found;
  for (const auto& [name, line] : lines) {
    if (stem(name) != stem(symbol)) continue;
    if (found && *found != line) return std::nullopt;  // a copy of one of several
    found = line;
  }
  return found;
}

string loop_names(const Unit& unit) {
  string out;
  sdfg::visit(unit.nest.root, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    if (loop == nullptr) return;
    const auto original = unit.to_original.symbols.find(loop->symbol);
    out += (out.empty() ? "" : ", ") + loop->symbol;
    if (original != unit.to_original.symbols.end() && original->second != loop->symbol) out += " = " + original->second;
  });
  return out;
}

}  // namespace sous::client
