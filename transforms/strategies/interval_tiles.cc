#include "transforms/strategies/interval_tiles.h"

#include <optional>

#include "sdfg/dependence_data.h"
#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

using sdfg::ScheduleLoop;
using sdfg::ScheduleTree;
using std::string;

constexpr int tried_block = 64;

const ScheduleLoop* as_loop(const sdfg::ScheduleNode& node) { return std::get_if<ScheduleLoop>(&node.value); }

// The only loop in the sequence, and how much stands before and behind it.
struct Place {
  string loop;
  std::size_t before = 0, behind = 0;
};
std::optional<Place> only_loop(const ScheduleTree& tree) {
  std::optional<Place> found;
  for (std::size_t k = 0; k < tree.size(); ++k) {
    const ScheduleLoop* loop = as_loop(tree[k]);
    if (loop == nullptr) continue;
    if (found) return std::nullopt;
    found = Place{.loop = loop->symbol, .before = k, .behind = tree.size() - k - 1};
  }
  return found;
}

// The loops i, j and k; in `exchanged`, k is around j, as the normal form may have it.
struct Intervals {
  string i, j, k;
  bool exchanged = false;
};

// The subscripts of what the only statement of the loop updates, if its updates may change places.
std::vector<sdfg::Expr> updated(const Nest& nest, const ScheduleLoop& innermost) {
  if (innermost.children.size() != 1) return {};
  const auto* leaf = std::get_if<sdfg::ScheduleLeaf>(&innermost.children[0].value);
  if (leaf == nullptr) return {};
  const sdfg::Statement& statement = nest.scop.statements[static_cast<std::size_t>(leaf->statement)];
  const auto update = sdfg::commuting_update(statement);
  if (!update || sdfg::self_update(statement) || sdfg::is_float(nest.scop.frame.find(update->container)->type))
    return {};
  std::map<string, sdfg::Expr> now;
  for (std::size_t k = 0; k < leaf->iterators.size(); ++k) now[statement.iterators[k]] = leaf->iterators[k];
  std::vector<sdfg::Expr> subscripts;
  for (const sdfg::Expr& e : sdfg::as_assignment(std::get<sdfg::State>(statement.node.value))->out.subset)
    subscripts.push_back(e.substitute(now));
  return subscripts;
}

bool use(const std::vector<sdfg::Expr>& subscripts, const string& symbol) {
  return std::ranges::any_of(subscripts, [&](const sdfg::Expr& e) { return e.uses(symbol); });
}

std::optional<Intervals> intervals_in(const Nest& nest, const ScheduleLoop& i) {
  const auto second = only_loop(i.children);
  if (!second || i.children.size() != 1) return std::nullopt;
  const ScheduleLoop& middle = *sdfg::find_loop(nest.tree, second->loop);
  const auto third = only_loop(middle.children);
  if (!third) return std::nullopt;
  const ScheduleLoop& innermost = *sdfg::find_loop(nest.tree, third->loop);
  const std::vector<sdfg::Expr> subscripts = updated(nest, innermost);
  // The last subscript moves along j alone: neighbours lie side by side.
  const auto are = [&](const string& j, const string& k) {
    return use(subscripts, i.symbol) && use(subscripts, j) && !use(subscripts, k) &&
           !subscripts.back().uses(i.symbol) && coefficient_of(subscripts.back(), j).value_or(0) == sdfg::Expr(1);
  };
  if (are(middle.symbol, innermost.symbol)) return Intervals{i.symbol, middle.symbol, innermost.symbol, false};
  if (middle.children.size() == 1 && are(innermost.symbol, middle.symbol))
    return Intervals{i.symbol, innermost.symbol, middle.symbol, true};
  return std::nullopt;
}

// Steps that are tried as they are written.
class Writer {
 public:
  Writer(const Nest& nest, const StepContext& context) : nest_(nest), context_(context) {}

  Result<void> add(const string& step, const string& arguments) {
    string tried = arguments;
    for (std::size_t at = tried.find("$block"); at != string::npos; at = tried.find("$block"))
      tried.replace(at, 6, std::to_string(tried_block));
    TRY(const Recipe recipe, recipe_from_text(step + "(" + tried + ") -> cpp"));
    TRY(const Plan plan, find_step(step)->plan(nest_, recipe.steps[0], context_));
    nest_ = rewrite(nest_, plan);
    text_ += call(step, arguments);
    return {};
  }
  // Moves the loop to the begin of its sequence.
  Result<void> to_front(const string& loop) {
    for (std::size_t k = position(loop); k > 0; --k) TRY_VOID(add("reorder", "loop=" + loop));
    return {};
  }
  std::size_t position(const string& loop) const {
    ScheduleTree tree = nest_.tree;
    return sdfg::owner_of(tree, loop).second;
  }
  const ScheduleLoop& loop(const string& symbol) const { return *sdfg::find_loop(nest_.tree, symbol); }
  // The loop directly behind this one, and the first one in its body.
  string behind(const string& symbol) const {
    ScheduleTree tree = nest_.tree;
    const auto [sequence, at] = sdfg::owner_of(tree, symbol);
    const ScheduleLoop* next = at + 1 < sequence->size() ? as_loop((*sequence)[at + 1]) : nullptr;
    return next != nullptr ? next->symbol : "";
  }
  string inside(const string& symbol) const {
    for (const sdfg::ScheduleNode& node : loop(symbol).children)
      if (const ScheduleLoop* inner = as_loop(node)) return inner->symbol;
    return "";
  }
  const string& text() const { return text_; }

 private:
  Nest nest_;
  StepContext context_;
  string text_;
};

// Where `k` runs up to j, what it adds to an element is added from elements that are done to all on their right
// instead; what stands before it in j's body comes first, when all of it has been added.
Result<void> push(Writer& writer, const string& j, const string& k) {
  TRY_VOID(writer.to_front(k));
  const bool alone = writer.loop(j).children.size() == 1;
  const auto lag = (writer.loop(k).end - sdfg::Expr::symbol(j)).constant();
  if (!alone) TRY_VOID(writer.add("sink", "loop=" + k + ", count=0"));
  TRY_VOID(writer.add("interchange", "outer=" + j + ", inner=" + k));
  if (!alone)
    TRY_VOID(writer.add("split", "loop=" + j + ", at=" + k + ", offset=" + std::to_string(1 - lag.value_or(0))));
  return {};
}

Result<IntervalTiles> tiles_of(const Nest& nest, const StepContext& context, const Intervals& loops) {
  const auto& [i, j, k, exchanged] = loops;
  IntervalTiles result;
  Writer writer(nest, context);
  if (exchanged) TRY_VOID(writer.add("interchange", "outer=" + k + ", inner=" + j));
  const string of_i = sdfg::fresh_symbol(nest.scop, nest.tree, i + "_t");
  TRY_VOID(writer.add("tile", "loops=[" + i + ", " + j + "], sizes=[$block, $block], count=numbers"));
  // The tiles on the diagonal, which wait for none; then those of the next one, and so on.
  TRY_VOID(writer.add("split", "loop=" + writer.inside(of_i) + ", offset=1"));
  TRY_VOID(writer.add("distribute", "loop=" + of_i));
  const string tiles = writer.behind(of_i), diagonal = writer.inside(tiles);
  TRY_VOID(writer.add("interchange", "outer=" + tiles + ", inner=" + diagonal));
  const string rows = writer.inside(tiles), columns = writer.inside(rows), low = writer.inside(columns);
  TRY_VOID(writer.add("split", "loop=" + low + ", at=" + rows + ", where=begun"));
  const string middle = writer.behind(low);
  TRY_VOID(writer.add("split", "loop=" + middle + ", at=" + columns + ", where=ended"));
  const string high = writer.behind(middle);
  TRY_VOID(writer.to_front(middle));
  TRY_VOID(writer.add("distribute", "loop=" + columns + ", at=1"));
  TRY_VOID(writer.add("distribute", "loop=" + rows + ", at=1"));
  const string in_rows = writer.behind(rows), from_left = writer.inside(in_rows);
  TRY_VOID(writer.to_front(low));
  TRY_VOID(writer.add("distribute", "loop=" + from_left + ", at=1"));
  const string from_own = writer.behind(from_left);
  TRY_VOID(writer.add("interchange", "outer=" + from_left + ", inner=" + low));
  TRY_VOID(push(writer, from_own, high));
  TRY_VOID(push(writer, j, k));
  result.cuts = writer.text();
  result.threads = {of_i, tiles};
  result.vectors = {j, from_left, from_own};
  result.rows = rows;
  result.columns = columns;
  return result;
}

}  // namespace

Result<std::vector<IntervalTiles>> interval_tiles_of(const Nest& nest, const StepContext& context) {
  std::vector<IntervalTiles> result;
  for (const sdfg::ScheduleNode& node : nest.tree) {
    const ScheduleLoop* i = as_loop(node);
    const auto loops = i != nullptr ? intervals_in(nest, *i) : std::nullopt;
    if (!loops) continue;
    auto tiles = tiles_of(nest, context, *loops);
    if (!tiles && tiles.error().code.starts_with("isl.")) return std::unexpected(tiles.error());
    if (tiles) result.push_back(std::move(*tiles));
  }
  return result;
}

}  // namespace sous::transforms
