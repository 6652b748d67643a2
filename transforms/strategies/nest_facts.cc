#include "transforms/strategies/nest_facts.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "sdfg/trips.h"
#include "transforms/apply.h"
#include "transforms/strategies/loops_to_share.h"

namespace sous::transforms {
namespace {

using std::string;
using std::vector;

void structure(const sdfg::ScheduleTree& tree, LoopFacts* around, std::map<string, LoopFacts>& facts) {
  bool others = false;
  for (const sdfg::ScheduleNode& node : tree) {
    const auto* loop = std::get_if<sdfg::ScheduleLoop>(&node.value);
    if (loop == nullptr) {
      others = true;
      if (const auto* guard = std::get_if<sdfg::ScheduleGuard>(&node.value)) structure(guard->children, around, facts);
      continue;
    }
    if (around != nullptr) around->inside.push_back(loop->symbol);
    structure(loop->children, &facts[loop->symbol], facts);
  }
  if (around != nullptr) around->is_band = around->inside.size() == 1 && !others;
}

bool is_uneven(const sdfg::Loop& loop) {
  bool found = false;
  sdfg::visit(loop.body, [&](const sdfg::Node& node) {
    const auto* inner = std::get_if<sdfg::Loop>(&node.value);
    found = found || std::holds_alternative<sdfg::While>(node.value) ||
            (inner != nullptr && (inner->begin.uses(loop.symbol) || inner->end.uses(loop.symbol) ||
                                  !inner->begin.reads().empty() || !inner->end.reads().empty()));
  });
  return found;
}

int widest_written(const sdfg::Sdfg& nest) {
  int bytes = 1;
  sdfg::visit(nest.root, [&](const sdfg::Node& node) {
    for (const string& name : sdfg::touched(sdfg::Region{{node}}).written) {
      const sdfg::Container* container = nest.find(name);
      if (container != nullptr && !container->shape.empty()) {
        bytes = std::max(bytes, static_cast<int>(sdfg::info(container->type).bytes));
      }
    }
  });
  return bytes;
}

}  // namespace

Result<NestFacts> NestFacts::of(const sdfg::Sdfg& nest, const StepContext& context, const sdfg::Budget& budget) {
  Nest subject{.scop = sdfg::scop_of(nest), .dependences = {}, .tree = {}};
  subject.tree = subject.scop.tree;
  TRY(subject.dependences, sdfg::Dependences::compute(subject.scop, budget));
  std::map<string, LoopFacts> by_symbol;
  structure(subject.tree, nullptr, by_symbol);
  NestFacts facts;
  for (LoopRole& role : loop_roles(nest, subject.scop, &subject.dependences)) {
    const auto found = by_symbol.find(role.symbol);
    if (found == by_symbol.end()) continue;  // inside a statement that is opaque to schedules
    LoopFacts loop = std::move(found->second);
    const auto free = independent(subject, role.symbol, context, "strategy.carried");
    loop.parallel = free && free->reductions.empty();
    loop.shared = free && sums_little(subject, *free);
    role.reduction = role.reduction && !loop.parallel;
    loop.role = std::move(role);
    facts.loops_.push_back(std::move(loop));
  }
  std::map<string, sdfg::Expr> sizes;
  for (const auto& [symbol, size] : context.sizes) sizes.emplace(symbol, size);
  sdfg::visit(nest.root, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    if (loop == nullptr) return;
    const auto found = std::ranges::find(facts.loops_, loop->symbol, [](const LoopFacts& l) { return l.role.symbol; });
    if (found == facts.loops_.end()) return;
    found->uneven = is_uneven(*loop);
    sdfg::Loop sized = sdfg::counted(loop->symbol, loop->begin.substitute(sizes), loop->end.substitute(sizes));
    sized.step = loop->step;
    if (sized.begin.constant() && sized.end.constant()) found->trips = sdfg::most_trips(sized);
  });
  facts.element_bytes_ = widest_written(nest);
  facts.nest_ = std::make_shared<const Nest>(std::move(subject));
  facts.context_ = context;
  facts.budget_ = budget;
  return facts;
}

const LoopFacts& NestFacts::loop(const string& symbol) const {
  const auto found = std::ranges::find(loops_, symbol, [](const LoopFacts& l) { return l.role.symbol; });
  SOUS_ASSERT(found != loops_.end());
  return *found;
}

bool NestFacts::has(const string& symbol) const {
  return std::ranges::any_of(loops_, [&](const LoopFacts& l) { return l.role.symbol == symbol; });
}

vector<string> NestFacts::outermost() const {
  vector<string> result;
  for (const LoopFacts& loop : loops_)
    if (loop.role.depth == 0) result.push_back(loop.role.symbol);
  return result;
}

vector<string> NestFacts::outermost(bool LoopFacts::* are, std::int64_t trips) const {
  vector<string> result, left = outermost();
  while (!left.empty()) {
    const LoopFacts& first = loop(left.front());
    left.erase(left.begin());
    const bool few = !first.inside.empty() && first.trips.value_or(trips) < trips;
    if (first.*are && !few)
      result.push_back(first.role.symbol);
    else
      left.insert(left.begin(), first.inside.begin(), first.inside.end());
  }
  return result;
}

vector<string> NestFacts::loops_to_share(const string& symbol) const {
  return transforms::loops_to_share(nest_->tree, symbol, context_.sizes,
                                    [&](const string& one) { return loop(one).parallel; });
}

double NestFacts::iterations(const string& symbol) const {
  const LoopFacts& facts = loop(symbol);
  if (!facts.trips || facts.uneven) return INFINITY;
  double in_each = 0;
  for (const string& inner : facts.inside) in_each += iterations(inner);
  return static_cast<double>(*facts.trips) * std::max(in_each, 1.0);
}

vector<string> NestFacts::band(const string& first) const {
  vector<string> result{first};
  while (loop(result.back()).is_band) result.push_back(loop(result.back()).inside[0]);
  return result;
}

vector<string> NestFacts::parallel(const vector<string>& among) const {
  vector<string> result;
  std::ranges::copy_if(among, std::back_inserter(result), [&](const string& l) { return loop(l).parallel; });
  return result;
}

vector<string> NestFacts::reductions(const vector<string>& among) const {
  vector<string> result;
  std::ranges::copy_if(among, std::back_inserter(result), [&](const string& l) { return loop(l).role.reduction; });
  return result;
}

string NestFacts::most_contiguous(const vector<string>& among) const {
  string best;
  for (const string& symbol : among)
    if (best.empty() || loop(symbol).role.contiguous >= loop(best).role.contiguous) best = symbol;
  return best;
}

bool NestFacts::begins_with(const std::string& loop, const std::string& other) const {
  return sdfg::find_loop(nest_->tree, loop)->begin.uses(other);
}

bool NestFacts::ends_with(const std::string& loop, const std::string& other) const {
  return sdfg::find_loop(nest_->tree, loop)->end.uses(other);
}

std::optional<std::int64_t> NestFacts::most_trips(const std::string& loop) const {
  const sdfg::ScheduleLoop& found = *sdfg::find_loop(nest_->tree, loop);
  sdfg::Loop plain = sdfg::counted(loop, found.begin, found.end);
  plain.step = found.step;
  return sdfg::most_trips(plain);
}

std::string NestFacts::fresh(const std::string& wish) const {
  return sdfg::fresh_symbol(nest_->scop, nest_->tree, wish);
}

std::size_t NestFacts::moving_reads(std::initializer_list<std::string> all_of) const {
  const sdfg::Touched all = sdfg::touched(sdfg::lower(nest_->scop, nest_->tree).root);
  std::vector<sdfg::Memlet> reads;
  sdfg::for_each_leaf(sdfg::find_loop(nest_->tree, *all_of.begin())->children, [&](const sdfg::ScheduleLeaf& leaf) {
    const auto& node = nest_->scop.statements[static_cast<std::size_t>(leaf.statement)].node;
    const auto* state = std::get_if<sdfg::State>(&node.value);
    const auto assignment = state != nullptr ? sdfg::as_assignment(*state) : std::nullopt;
    if (!assignment) return;
    for (const sdfg::Memlet& m : assignment->inputs)
      if (!all.written.contains(m.container) && std::ranges::find(reads, m) == reads.end() &&
          std::ranges::all_of(all_of, [&](const std::string& loop) {
            return std::ranges::any_of(m.subset, [&](const sdfg::Expr& e) { return e.uses(loop); });
          }))
        reads.push_back(m);
  });
  return reads.size();
}

// The target is a matter of later steps.
static Result<Recipe> recipe_with(const std::string& steps) {
  return recipe_from_text(steps.substr(0, steps.find_last_not_of("; ") + 1) + " -> cpp");
}

Result<NestFacts> NestFacts::after(const std::string& steps) const {
  TRY(const Recipe recipe, recipe_with(steps));
  TRY(const sdfg::Sdfg changed,
      apply(sdfg::lower(nest_->scop, nest_->tree), recipe, {.context = context_, .budget = budget_}));
  return of(changed, context_, budget_);
}

bool NestFacts::are_parallel_behind(const std::string& steps, const std::vector<std::string>& loops) const {
  const auto recipe = recipe_with(steps);
  if (!recipe) return false;
  Nest nest = *nest_;
  for (const StepCall& step : recipe->steps) {
    const auto plan = find_step(step.step)->plan(nest, step, context_);
    if (!plan) return false;
    nest = rewrite(std::move(nest), *plan);
  }
  return !nest.stale && std::ranges::all_of(loops, [&](const std::string& loop) {
    const auto free = independent(nest, loop, context_, "strategy.carried");
    return free && free->reductions.empty();
  });
}

}  // namespace sous::transforms
