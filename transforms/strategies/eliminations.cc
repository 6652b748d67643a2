#include "transforms/strategies/eliminations.h"

#include <algorithm>
#include <set>
#include <vector>

#include "transforms/strategies/writing.h"

namespace sous::transforms {
namespace {

using sdfg::Expr;
using sdfg::ScheduleLoop;
using sdfg::ScheduleNode;
using sdfg::ScheduleTree;
using std::string;
using std::vector;

// Iterations of the loop that eliminates in a block, and threads: what a block keeps fits into 48 KiB, and what a
// thread keeps of a row or column into its registers. Few of those are in one block, so that all multiprocessors have
// some.
constexpr std::int64_t block = 48, panel = 32, down = 16, across = 48;
constexpr std::int64_t kept_elements = block * block;
// Loops that are looked at: each is a question to isl.
constexpr std::size_t most_loops = 16;

class Eliminating {
 public:
  Eliminating(const Nest& nest, const StepContext& context) : nest_(nest), context_(context) {}

  Result<std::optional<string>> run() {
    if (nest_.tree.size() != 1 || !std::holds_alternative<ScheduleLoop>(nest_.tree[0].value)) return std::nullopt;
    const auto loops = sdfg::loop_symbols(nest_.tree);
    if (loops.size() < 3 || loops.size() > most_loops || is_parallel(loops[0])) return std::nullopt;
    if (!works_in_parallel() && !move_sums_outward()) return std::nullopt;
    if (!works_in_parallel() || !cut_in_blocks()) return std::nullopt;
    const string updates = update();
    if (updates.empty() || !factor()) return std::nullopt;
    for (const string& one : loops_in(nest_.tree[0]))
      if (!done_.contains(one) && !panels(one)) return std::nullopt;
    TRY_VOID(std::move(failed_));
    return steps_ + meetings_ + updates;
  }

 private:
  // --- Steps

  // Whether the nest takes the step.
  bool take(const string& step, std::map<string, ParamValue> params) {
    const StepCall call{step, std::move(params)};
    const auto plan = find_step(step)->plan(nest_, call, context_);
    if (!plan) {
      if (plan.error().code.starts_with("isl.") && failed_) failed_ = std::unexpected(plan.error());
      return false;
    }
    nest_ = rewrite(std::move(nest_), *plan);
    if (nest_.stale) {
      auto dependences = sdfg::Dependences::compute(nest_.scop);
      if (!dependences) {
        failed_ = std::unexpected(dependences.error());
        return false;
      }
      nest_.dependences = std::move(*dependences);
      nest_.stale = false;
    }
    steps_ += to_text(call) + "; ";
    return true;
  }

  const ScheduleLoop& loop(const string& symbol) const { return *sdfg::find_loop(nest_.tree, symbol); }
  const string& root() const { return std::get<ScheduleLoop>(nest_.tree[0].value).symbol; }
  static const ScheduleLoop* as_loop(const ScheduleNode& node) { return std::get_if<ScheduleLoop>(&node.value); }
  static vector<string> loops_in(const ScheduleNode& node) {
    vector<string> result;
    for (const ScheduleNode& child : as_loop(node)->children)
      if (const ScheduleLoop* l = as_loop(child)) result.push_back(l->symbol);
    return result;
  }
  vector<string> loops_in(const string& symbol) const { return loops_in(ScheduleNode(loop(symbol))); }
  bool holds_one_loop(const string& symbol) const {
    return loop(symbol).children.size() == 1 && as_loop(loop(symbol).children[0]) != nullptr;
  }

  bool is_parallel(const string& symbol) {
    const auto free = independent(nest_, symbol, context_, "strategy.carried");
    if (!free && free.error().code.starts_with("isl.") && failed_) failed_ = std::unexpected(free.error());
    return free && free->reductions.empty();
  }
  // Whether all innermost loops are.
  bool works_in_parallel() {
    return std::ranges::all_of(sdfg::loop_symbols(loop(root()).children), [&](const string& inner) {
      return !sdfg::loop_symbols(loop(inner).children).empty() || is_parallel(inner);
    });
  }

  // --- The loop that eliminates, outermost

  bool move_sums_outward() {
    const string rows = root();
    for (const string& one : loops_in(rows)) {
      const vector<string> sums = loops_in(one);
      if (sums.size() != 1) continue;
      if (!holds_one_loop(one)) take("sink", {{"loop", sums[0]}});
      if (holds_one_loop(one) && !is_parallel(sums[0])) take("interchange", {{"outer", one}, {"inner", sums[0]}});
    }
    if (as_loop(loop(rows).children.back()) == nullptr && !loops_in(rows).empty())
      take("sink", {{"loop", loops_in(rows).back()}});
    for (vector<string> sums = loops_in(rows); sums.size() > 1; sums = loops_in(rows))
      if (!take("fuse", {{"first", sums[0]}, {"second", sums[1]}})) return false;
    if (!holds_one_loop(rows) || !take("interchange", {{"outer", rows}, {"inner", loops_in(rows)[0]}})) return false;
    // What each iteration does with its own row and column stands by itself; what was two parts of a loop is one.
    for (const string& inner : sdfg::loop_symbols(loop(root()).children))
      if (loop(inner).begin == Expr::symbol(root())) take("split", {{"loop", inner}, {"at", root()}, {"offset", 1}});
    for (const string& inner : sdfg::loop_symbols(loop(root()).children)) {
      if (sdfg::find_loop(nest_.tree, inner) == nullptr) continue;
      auto [sequence, at] = sdfg::owner_of(nest_.tree, inner);
      if (at + 1 == sequence->size()) continue;
      const ScheduleLoop* next = as_loop((*sequence)[at + 1]);
      if (next != nullptr)
        take("join", {{"first", inner}, {"second", string(next->symbol)}});
      else
        take("join", {{"first", inner}});
    }
    return true;
  }

  // --- Blocks

  bool is_behind(const ScheduleLoop& l) const { return l.begin == Expr::symbol(root()) + Expr(block); }
  bool reaches_behind(const ScheduleNode& node) const {
    const ScheduleLoop* l = as_loop(node);
    return l != nullptr && (is_behind(*l) || std::ranges::any_of(l->children, [&](const ScheduleNode& child) {
                              return reaches_behind(child);
                            }));
  }
  // Cuts the loop's body where it begins to reach behind the block; true, too, where there is nothing to cut.
  bool part(const string& symbol) {
    const ScheduleTree& body = loop(symbol).children;
    const auto first = std::ranges::find_if(body, [&](const ScheduleNode& child) { return reaches_behind(child); });
    if (first == body.begin() || first == body.end()) return true;
    return take("distribute", {{"loop", symbol}, {"at", std::int64_t{first - body.begin()}}});
  }

  bool cut_in_blocks() {
    const string eliminates = root();
    if (std::ranges::none_of(sdfg::loop_symbols(loop(eliminates).children),
                             [&](const string& inner) { return loop(inner).begin.uses(eliminates); }))
      return false;
    if (!take("tile", {{"loops", vector{eliminates}}, {"sizes", vector{block}}})) return false;
    std::set<string> seen;
    for (bool more = true; more;) {
      more = false;
      for (const string& inner : sdfg::loop_symbols(loop(eliminates).children)) {
        if (!seen.insert(inner).second || !loop(inner).begin.uses(eliminates)) continue;
        more = take("split", {{"loop", inner}, {"at", root()}, {"offset", block}});
        if (more) break;
      }
    }
    for (const string& inner : loops_in(eliminates))
      if (!part(inner)) return false;
    if (!part(eliminates)) return false;
    const vector<string> parts = loops_in(root());
    if (parts.size() != 2 || parts[0] != eliminates) return false;
    return loop(parts[1]).children.size() == 1 || take("distribute", {{"loop", parts[1]}});
  }

  // The block's own rows and columns, in one block of the GPU.
  bool factor() {
    const string first = loops_in(root())[0];
    for (const string& inner : loops_in(first))
      if (loop(inner).children.size() > 1) take("distribute", {{"loop", inner}});
    if (!take("tile", {{"loops", vector{first}}, {"sizes", vector{block}}})) return false;
    in_one_block(loops_in(root())[0], down, across);
    return true;
  }
  void in_one_block(const string& blocks, std::int64_t rows, std::int64_t columns) {
    done_.insert(blocks);
    meetings_ +=
        call("promote", "loop=" + blocks + ", most=" + std::to_string(kept_elements)) +
        call("meet", "loops=[" + blocks + "], down=" + std::to_string(rows) + ", across=" + std::to_string(columns));
  }

  // What is beside the block: its rows, or its columns, one for each thread, which holds the block's part of it.
  bool panels(const string& eliminates) {
    string behind;
    for (const string& inner : sdfg::loop_symbols(loop(eliminates).children))
      if (is_behind(loop(inner)) && is_parallel(inner)) behind = behind.empty() ? inner : behind;
    if (behind.empty()) return false;
    const vector<string> path = sdfg::path_to(nest_.tree, behind);
    for (auto around = std::next(path.rbegin()); around != path.rend() && *around != root(); ++around)
      if (!take("interchange", {{"outer", *around}, {"inner", behind}})) return false;
    if (!take("tile", {{"loops", vector{behind}}, {"sizes", vector{panel}}})) return false;
    meetings_ += call("promote", "loop=" + behind + ", most=" + std::to_string(block));
    in_one_block(sdfg::path_to(nest_.tree, behind).end()[-2], 8, panel);
    return true;
  }

  // Everything behind both: rows and columns of a product, whose sum is the block's iterations. Empty: there is none.
  string update() {
    const vector<string> parts = loops_in(root());
    const string& sum = parts.back();
    if (!holds_one_loop(sum)) return "";
    const string rows = loops_in(sum)[0];
    if (!holds_one_loop(rows)) return "";
    const string columns = loops_in(rows)[0];
    if (!loops_in(columns).empty() || !is_behind(loop(rows)) || !is_behind(loop(columns)) || !is_parallel(rows) ||
        !is_parallel(columns))
      return "";
    done_.insert(sum);
    const auto tiles = [&](const string& l) { return sdfg::fresh_symbol(nest_.scop, nest_.tree, l + "_t"); };
    const string tile = "loops=[" + rows + ", " + columns + "], sizes=[$tall, $broad]";
    return call("interchange", "outer=" + sum + ", inner=" + rows) +
           call("interchange", "outer=" + sum + ", inner=" + columns) + call("tile", tile) +
           call("offload", "loops=[" + tiles(rows) + ", " + tiles(columns) + "], sizes=[$under, $beside]") +
           call("register_tile", tile + ", lanes=1, partial=padded") +
           call("stage", "loop=" + sum + ", size=$depth, fold=$fold, along=$along, buffers=$buffers");
  }

  Nest nest_;
  const StepContext& context_;
  string steps_, meetings_;  // those of `take`; what keeps data in blocks, behind these
  std::set<string> done_;
  Result<void> failed_;
};

}  // namespace

Result<std::optional<std::string>> elimination_in_blocks(const Nest& nest, const StepContext& context) {
  return Eliminating(nest, context).run();
}

}  // namespace sous::transforms
