#include "transforms/pivot_tiles.h"

#include <algorithm>

#include "transforms/relocation.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Memlet;
using sdfg::Node;
using sdfg::ScalarExpr;

namespace {

ScalarExpr below(const Expr& at, const Expr& end) { return sdfg::at_most(at + 1, end); }
ScalarExpr differ(const Expr& a, const Expr& b) {
  return ScalarExpr::unary(sdfg::ScalarOp::logical_not, sdfg::equal(a, b));
}
// Which of the two that are kept is seen from `at`: 0, the one ahead of the pivot's iteration, up to the pivot itself;
// behind it 1.
Expr seen_from(const Expr& at, const Expr& pivot) { return Expr::min(1, Expr::max(0, at - pivot)); }

void append(std::vector<Node>& nodes, std::vector<Node> more) {
  nodes.insert(nodes.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

PivotTiles::PivotTiles(sdfg::Sdfg& sdfg, normal::Names& names, const PivotUpdate& update, std::int64_t size,
                       std::int64_t each)
    : sdfg_(sdfg), names_(names), update_(update), size_(size), each_(each), type_(sdfg.find(update.array)->type) {}

// --- Statements

sdfg::State PivotTiles::copy(const std::string& wish, const Memlet& to, const Memlet& from) {
  return sdfg::assignment(names_.fresh(wish), to, ScalarExpr::make_input(0, type_), {from});
}

sdfg::State PivotTiles::apply(const Memlet& to, const Memlet& own, const Memlet& column, const Memlet& row,
                              const Expr& at_row, const Expr& at_column, const Expr& pivot) {
  const std::map<std::string, Expr> values{
      {update_.rows, at_row}, {update_.columns, at_column}, {update_.pivots, pivot}};
  std::vector<Memlet> inputs;
  for (std::size_t n = 0; n < update_.inputs.size(); ++n) {
    Memlet input = update_.inputs[n];
    for (Expr& d : input.subset) d = d.substitute(values);
    switch (update_.kinds[n]) {
      case PivotUpdate::Of::Own:
        input = own;
        break;
      case PivotUpdate::Of::Column:
        input = column;
        break;
      case PivotUpdate::Of::Row:
        input = row;
        break;
      case PivotUpdate::Of::Other:
        break;
    }
    inputs.push_back(std::move(input));
  }
  return normal::tidy_assignment(names_.fresh(update_.state + "_p"), to, update_.code.substitute(values),
                                 std::move(inputs));
}

// --- Loops

Node PivotTiles::over_tile(const std::string& name, const Place& origin, const Body& body) {
  Loop down = sdfg::counted(names_.fresh(name + "_y"), 0, size_);
  down.step = each_;
  down.schedule = sdfg::GpuBlock{1};
  Loop across = sdfg::counted(names_.fresh(name + "_x"), 0, size_);
  across.schedule = sdfg::GpuBlock{0};
  const Expr first = Expr::symbol(down.symbol), at = Expr::symbol(across.symbol);
  Loop some = sdfg::counted(names_.fresh(name + "_r"), first, first + each_);
  if (each_ > 1) some.schedule = sdfg::Unroll{static_cast<int>(each_)};
  const Expr row = each_ > 1 ? Expr::symbol(some.symbol) : first;
  std::vector<Node> nodes = body({origin.row + row, origin.column + at, row, at});
  if (each_ > 1) nodes = in_loops({some}, std::move(nodes));
  return in_loops({down, across}, std::move(nodes))[0];
}

Node PivotTiles::over_line(const std::string& name, const std::function<std::vector<Node>(Loop& line)>& body) {
  Loop line = sdfg::counted(names_.fresh(name), 0, size_);
  line.schedule = sdfg::GpuBlock{0};
  line.body.nodes = body(line);
  return Node(std::move(line));
}

Loop PivotTiles::over_pivots(const std::string& wish) {
  const Expr group = Expr::symbol(group_);
  return sdfg::counted(names_.fresh(wish), group, Expr::min(group + size_, update_.end_pivots));
}

Loop PivotTiles::over_blocks(const std::string& wish, const Expr& end, int dimension) {
  Loop blocks = sdfg::counted(names_.fresh(wish + "_b"), update_.begin, end);
  blocks.step = size_;
  blocks.schedule = sdfg::GpuGrid{dimension};
  return blocks;
}

std::string PivotTiles::share(Loop& owner, const std::string& wish, std::vector<Expr> shape) {
  const sdfg::Container place =
      sdfg::temporary(names_.fresh(wish), type_, std::move(shape), sdfg::Storage::device_shared);
  add_place(sdfg_, &owner, place);
  return place.name;
}

// --- Where pivots are

std::vector<Node> PivotTiles::keep_columns(Panel which, const Shared& shared, const Place& origin, const Expr& pivot) {
  const Expr at = pivot - Expr::symbol(group_);
  return {over_line("column", [&](Loop& thread) {
    const Expr down = Expr::symbol(thread.symbol), row = origin.row + down;
    const Memlet old = sdfg::element(shared.tile, {down, at});
    const auto behind = [&](const Memlet& of_row) {
      return apply(sdfg::element(shared.columns, {1, at, down}), old, old, of_row, row, pivot, pivot);
    };
    std::vector<Node> nodes;
    nodes.emplace_back(copy("keep_column", sdfg::element(shared.columns, {0, at, down}), old));
    if (which == Panel::Columns) {
      nodes.emplace_back(behind(sdfg::element(shared.rows, {seen_from(row, pivot), at, at})));
      return where({below(row, update_.end_rows)}, std::move(nodes));
    }
    // The pivot itself, as it is behind its own iteration, each thread computes.
    const sdfg::Container itself = sdfg::temporary(names_.fresh("pivot"), type_, {}, sdfg::Storage::stack);
    add_place(sdfg_, &thread, itself);
    const Memlet ahead = sdfg::element(shared.tile, {at, at}), after = sdfg::element(itself.name);
    sdfg::If choice{.condition = {.code = sdfg::at_most(row, pivot), .inputs = {}}, .then_body = {}, .else_body = {}};
    choice.then_body.nodes.emplace_back(behind(ahead));
    choice.else_body.nodes.emplace_back(apply(after, ahead, ahead, ahead, pivot, pivot, pivot));
    choice.else_body.nodes.emplace_back(behind(after));
    nodes.emplace_back(std::move(choice));
    return where({below(row, update_.end_rows)}, std::move(nodes));
  })};
}

std::vector<Node> PivotTiles::keep_rows(const Shared& shared, const Place& origin, const Expr& pivot) {
  const Expr at = pivot - Expr::symbol(group_);
  return {over_line("row", [&](const Loop& thread) {
    const Expr across = Expr::symbol(thread.symbol), column = origin.column + across;
    const Memlet old = sdfg::element(shared.tile, {at, across});
    std::vector<Node> nodes;
    nodes.emplace_back(copy("keep_row", sdfg::element(shared.rows, {0, at, across}), old));
    nodes.emplace_back(apply(sdfg::element(shared.rows, {1, at, across}), old,
                             sdfg::element(shared.columns, {seen_from(column, pivot), at, at}), old, pivot, column,
                             pivot));
    return where({below(column, update_.end_columns)}, std::move(nodes));
  })};
}

std::vector<Node> PivotTiles::iterate(Panel which, const Shared& shared, const Place& origin) {
  Loop pivots = over_pivots(update_.pivots);
  const Expr pivot = Expr::symbol(pivots.symbol), at = pivot - Expr::symbol(group_);
  if (which != Panel::Rows) append(pivots.body.nodes, keep_columns(which, shared, origin, pivot));
  if (which != Panel::Columns) append(pivots.body.nodes, keep_rows(shared, origin, pivot));
  pivots.body.nodes.push_back(over_tile("update", origin, [&](const Place& p) {
    const Memlet own = sdfg::element(shared.tile, {p.down, p.across});
    return where({below(p.row, update_.end_rows), below(p.column, update_.end_columns)},
                 {apply(own, own, sdfg::element(shared.columns, {seen_from(p.column, pivot), at, p.down}),
                        sdfg::element(shared.rows, {seen_from(p.row, pivot), at, p.across}), p.row, p.column, pivot)});
  }));
  return {Node(std::move(pivots))};
}

// The tiles in the pivots' rows, or columns: each iteration ends ahead of the next one.
Node PivotTiles::panel(Panel which) {
  const Expr group = Expr::symbol(group_);
  Loop blocks = which == Panel::Both   ? over_blocks("pivots", group + 1, 0)
                : which == Panel::Rows ? over_blocks("columns", update_.end_columns, 0)
                                       : over_blocks("rows", update_.end_rows, 0);
  if (which == Panel::Both) blocks.begin = group;
  const Expr own = Expr::symbol(blocks.symbol);
  const Place origin{which == Panel::Columns ? own : group, which == Panel::Rows ? own : group, 0, 0};
  Shared shared{share(blocks, "tile", {size_, size_}), share(blocks, "pivot_columns", {2, size_, size_}),
                share(blocks, "pivot_rows", {2, size_, size_})};
  const auto in_array = [&](const Place& p) {
    return std::vector{below(p.row, update_.end_rows), below(p.column, update_.end_columns)};
  };
  // What is kept of a pivot, at one place along the row or column: from or to where all blocks find it.
  const auto kept = [&](const std::string& of_all, const std::string& here, const Expr& begin, const Expr& end,
                        bool to) {
    return over_tile("kept", {group, begin, 0, 0}, [&, to](const Place& p) {
      std::vector<Node> nodes;
      for (int k = 0; k < 2; ++k) {
        const Memlet inside = sdfg::element(here, {k, p.down, p.across}),
                     outside = sdfg::element(of_all, {k, p.down, p.column - update_.begin});
        nodes.emplace_back(to ? copy("store_pivots", outside, inside) : copy("load_pivots", inside, outside));
      }
      return where({below(p.row, update_.end_pivots), below(p.column, end)}, std::move(nodes));
    });
  };
  std::vector<Node> nodes;
  nodes.push_back(over_tile("load", origin, [&](const Place& p) {
    return where(in_array(p),
                 {copy("load_tile", sdfg::element(shared.tile, {p.down, p.across}), update_.at(p.row, p.column))});
  }));
  if (which == Panel::Rows) nodes.push_back(kept(columns_, shared.columns, group, update_.end_rows, false));
  if (which == Panel::Columns) nodes.push_back(kept(rows_, shared.rows, group, update_.end_columns, false));
  append(nodes, iterate(which, shared, origin));
  nodes.push_back(over_tile("store", origin, [&](const Place& p) {
    return where(in_array(p),
                 {copy("store_tile", update_.at(p.row, p.column), sdfg::element(shared.tile, {p.down, p.across}))});
  }));
  if (which != Panel::Rows) nodes.push_back(kept(columns_, shared.columns, origin.row, update_.end_rows, true));
  if (which != Panel::Columns) nodes.push_back(kept(rows_, shared.rows, origin.column, update_.end_columns, true));
  if (which != Panel::Both) nodes = where({differ(own, group)}, std::move(nodes));
  return in_loops({blocks}, std::move(nodes))[0];
}

// --- Everything else

// A thread's elements lie `size / each` apart, so that neighbouring threads have neighbours. Outside of the array they
// are copies of its last ones, which nobody stores.
Node PivotTiles::compute_rest(const Shared& shared, const Place& origin) {
  const std::int64_t threads = size_ / each_;
  Loop down = sdfg::counted(names_.fresh("rest_y"), 0, threads),
       across = sdfg::counted(names_.fresh("rest_x"), 0, threads);
  down.schedule = sdfg::GpuBlock{1};
  across.schedule = sdfg::GpuBlock{0};
  Loop pivots = over_pivots(update_.pivots);
  const Expr pivot = Expr::symbol(pivots.symbol), at = pivot - Expr::symbol(group_);
  std::vector<Node> loads, stores;
  for (std::int64_t r = 0; r < each_; ++r)
    for (std::int64_t c = 0; c < each_; ++c) {
      const Expr y = Expr::symbol(down.symbol) + r * threads, x = Expr::symbol(across.symbol) + c * threads;
      const Expr row = Expr::min(origin.row + y, update_.end_rows - 1),
                 column = Expr::min(origin.column + x, update_.end_columns - 1);
      const sdfg::Container place = sdfg::temporary(names_.fresh("own"), type_, {}, sdfg::Storage::stack);
      add_place(sdfg_, &across, place);
      const Memlet own = sdfg::element(place.name);
      loads.emplace_back(copy("load_own", own, update_.at(row, column)));
      pivots.body.nodes.emplace_back(apply(own, own, sdfg::element(shared.columns, {at, y}),
                                           sdfg::element(shared.rows, {at, x}), row, column, pivot));
      append(stores, where({below(origin.row + y, update_.end_rows), below(origin.column + x, update_.end_columns)},
                           {copy("store_own", update_.at(origin.row + y, origin.column + x), own)}));
    }
  loads.emplace_back(std::move(pivots));
  append(loads, std::move(stores));
  return in_loops({down, across}, std::move(loads))[0];
}

Node PivotTiles::rest() {
  const Expr group = Expr::symbol(group_);
  Loop rows = over_blocks("rows", update_.end_rows, 1), columns = over_blocks("columns", update_.end_columns, 0);
  const Place origin{Expr::symbol(rows.symbol), Expr::symbol(columns.symbol), 0, 0};
  const Shared shared{"", share(columns, "pivot_columns", {size_, size_}),
                      share(columns, "pivot_rows", {size_, size_})};
  const auto load = [&](const std::string& of_all, const std::string& here, const Expr& begin, const Expr& end,
                        const Expr& other) {
    return over_tile("kept", {group, begin, 0, 0}, [&](const Place& p) {
      return where({below(p.row, update_.end_pivots)},
                   {copy("load_pivots", sdfg::element(here, {p.down, p.across}),
                         sdfg::element(of_all, {seen_from(other, group), p.down,
                                                Expr::min(p.column, end - 1) - update_.begin}))});
    });
  };
  std::vector<Node> nodes;
  nodes.push_back(load(columns_, shared.columns, origin.row, update_.end_rows, origin.column));
  nodes.push_back(load(rows_, shared.rows, origin.column, update_.end_columns, origin.row));
  nodes.push_back(compute_rest(shared, origin));
  nodes = where({differ(origin.row, group), differ(origin.column, group)}, std::move(nodes));
  return in_loops({rows, columns}, std::move(nodes))[0];
}

Node PivotTiles::loops() {
  const auto keep = [&](const std::string& wish, const Expr& end) {
    const sdfg::Container place =
        sdfg::temporary(names_.fresh(wish), type_, {2, size_, Expr::max(0, end - update_.begin)}, sdfg::Storage::heap);
    add_place(sdfg_, nullptr, place);
    return place.name;
  };
  columns_ = keep(update_.array + "_columns", update_.end_rows);
  rows_ = keep(update_.array + "_rows", update_.end_columns);
  Loop groups = sdfg::counted(names_.fresh(update_.pivots + "_t"), update_.begin, update_.end_pivots);
  groups.step = size_;
  group_ = groups.symbol;
  for (const Panel which : {Panel::Both, Panel::Rows, Panel::Columns}) groups.body.nodes.push_back(panel(which));
  groups.body.nodes.push_back(rest());
  return Node(std::move(groups));
}

}  // namespace sous::transforms
