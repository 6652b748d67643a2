#include "transforms/register_promotion.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sdfg/planted_fault.h"
#include "transforms/normal/util.h"
#include "transforms/relocation.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::ScalarExpr;

namespace {

struct ResultPromotion : ResultTile {
  sdfg::Sdfg& sdfg;
  normal::Names names{sdfg, ""};
  std::map<std::string, std::string> memories = {};  // of padded tiles, by container

  Result<void> run() {
    const auto place = sdfg::find_loop(sdfg.root, sums.front());
    SOUS_ASSERT(place);
    auto& loop = place->loop();
    const sdfg::Touched touched = sdfg::touched(loop.body);
    const auto &rows = *loops(loop).first, &lanes = *loops(loop).second;
    Copies copies;
    std::set<std::string> privates, held_in;
    sdfg::Loop* innermost = &loop;
    for (std::size_t depth = 0;; ++depth) {
      privates.insert(innermost->privates.begin(), innermost->privates.end());
      if (depth == sums.size() + 1) break;
      innermost = &std::get<sdfg::Loop>(innermost->body.nodes[0].value);
    }
    sdfg::Region& body = innermost->body;
    for (const std::string& container : touched.written) {
      if (privates.contains(container))
        return fail("register-tile.not-invariant", container + " is private to a loop, the tile would outlive it",
                    sums.front());
      TRY(const sdfg::Memlet element, only_access(loop, body, container));
      sdfg::Container registers = place_of_tile(container, "_r", sdfg::Storage::registers);
      held_in.insert(registers.name);
      const sdfg::Memlet held =
          sdfg::element(registers.name, {Expr::symbol(a) - rows.begin, Expr::symbol(b) - lanes.begin});
      // What the tile starts from is loaded only where it is read: the container may not have been written so far.
      const bool loads = read_first(body, element) && !planted(Fault::register_tile_read_lost);
      relocate(sdfg, &tile_loop(), body, container, std::move(registers), [&](const sdfg::Subset& subset) {
        return subset == element.subset ? std::optional(held.subset) : std::nullopt;
      });
      if (loads) copies.in.push_back(moved(loop, held, element, true));
      copies.out.push_back(moved(loop, element, held, false));
    }
    if (padded) repeat_reads(body, held_in);
    copies.put(*place->owner, place->at, 1);
    return {};
  }

  sdfg::Container place_of_tile(const std::string& container, const char* ending, sdfg::Storage storage) {
    return sdfg::temporary(names.fresh(container + ending), sdfg.find(container)->type, shape, storage);
  }
  sdfg::Loop& tile_loop() const {
    const auto place = sdfg::find_loop(sdfg.root, tile);
    SOUS_ASSERT(place);
    return place->loop();
  }

  // The two loops of the tile, inside the sums.
  std::pair<const sdfg::Loop*, const sdfg::Loop*> loops(const sdfg::Loop& k_loop) const {
    const sdfg::Loop* outer = &k_loop;
    for (std::size_t depth = 0; depth < sums.size(); ++depth) outer = &std::get<sdfg::Loop>(outer->body.nodes[0].value);
    return {outer, &std::get<sdfg::Loop>(outer->body.nodes[0].value)};
  }

  Result<sdfg::Memlet> only_access(const sdfg::Loop& loop, const sdfg::Region& body,
                                   const std::string& container) const {
    std::optional<sdfg::Memlet> only;
    std::vector<sdfg::Memlet> others;
    bool one = is_alone(sdfg, loop, container);
    for (const sdfg::Node& n : body.nodes) {
      const auto& state = std::get<sdfg::State>(n.value);
      for (const sdfg::Edge& e : state.edges) {
        if (e.memlet.container != container) continue;
        one = one && !e.memlet.combine;
        if (const auto* to = std::get_if<sdfg::AccessNode>(&state.nodes[static_cast<std::size_t>(e.target)])) {
          one = one && to->container == container && (!only || *only == e.memlet);
          only = e.memlet;
        } else {
          others.push_back(e.memlet);
          // A node that is written and read orders what it joins: all its edges move to the registers, or none.
          for (const sdfg::Edge& before : state.edges)
            one = one && (before.target != e.source || before.memlet == e.memlet);
        }
      }
    }
    SOUS_ASSERT(only);
    bool moves = !only->subset.empty();
    for (const std::string& symbol : {a, b}) {
      bool uses = symbol == a && shape[0] == Expr(1);
      for (const sdfg::Expr& d : only->subset) uses = uses || d.uses(symbol);
      one = one && uses;  // otherwise several elements of the tile would be one element of the container
    }
    for (const sdfg::Expr& d : only->subset) moves = moves && stays(d) && sdfg::affine(d);
    for (const sdfg::Memlet& other : others)
      one = one && (other == *only || sdfg::apart(points, inside, only->subset, inside, other.subset));
    if (!one || !moves || !separate(*only))
      return fail("register-tile.not-invariant", "what is written to " + container + " does not stay in one place",
                  sums.front());
    return *only;
  }

  bool stays(const Expr& subscript) const {
    return std::ranges::none_of(sums, [&](const std::string& k) { return subscript.uses(k); });
  }

  // Different points of the tile are different elements: each of a and b moves a dimension that the other does not.
  bool separate(const sdfg::Memlet& m) const {
    bool a_alone = shape[0] == Expr(1), b_alone = false;
    for (const sdfg::Expr& d : m.subset) {
      a_alone = a_alone || (d.uses(a) && !d.uses(b));
      b_alone = b_alone || (d.uses(b) && !d.uses(a));
    }
    return a_alone && b_alone;
  }

  // Whether one iteration reads the element before it writes it. Every iteration writes it (there are no conditions),
  // and a full tile has a first iteration.
  static bool read_first(const sdfg::Region& body, const sdfg::Memlet& element) {
    for (const sdfg::Node& n : body.nodes) {
      const auto& state = std::get<sdfg::State>(n.value);
      std::set<int> written_here;
      for (const sdfg::Edge& e : state.edges) written_here.insert(e.target);
      bool touches = false;
      for (const sdfg::Edge& e : state.edges) {
        if (e.memlet != element) continue;
        touches = true;
        const bool read = std::holds_alternative<sdfg::AccessNode>(state.nodes[static_cast<std::size_t>(e.source)]);
        if (read && !written_here.contains(e.source)) return true;
      }
      if (touches) return false;
    }
    return false;
  }

  // Moves the tile between the container and registers. A padded tile that is cut off goes through memory, so that
  // the registers are only named by constants.
  sdfg::Node moved(const sdfg::Loop& k_loop, const sdfg::Memlet& to, const sdfg::Memlet& from, bool load) {
    if (!padded || padded->never_partial()) return copy(k_loop, to, from);
    const sdfg::Memlet &held = load ? to : from, &element = load ? from : to;
    const sdfg::ElementType type = sdfg.find(element.container)->type;
    auto [memory, is_new] = memories.try_emplace(element.container, "");
    if (is_new) {
      sdfg::Container place = place_of_tile(element.container, "_m", sdfg::Storage::stack);
      memory->second = place.name;
      add_place(sdfg, &tile_loop(), std::move(place));
    }
    const sdfg::Memlet between{.container = memory->second, .subset = held.subset, .combine = {}};
    sdfg::Loop rows = *loops(k_loop).first, columns = *loops(k_loop).second;
    for (auto [loop, symbol] : {std::pair(&rows, &a), std::pair(&columns, &b)}) {
      const TileSide& side = *symbol == padded->outer.symbol ? padded->outer : padded->inner;
      loop->begin = side.begin;
      loop->end = side.end;
    }
    rows.schedule = sdfg::Sequential{};
    sdfg::Region whole{{copy(k_loop, to, from)}}, cut;
    if (load) {
      const ScalarExpr zero = ScalarExpr::cast(ScalarExpr::integer(0, sdfg::ElementType::i32), type);
      cut.nodes = {tiled(*loops(k_loop).first, *loops(k_loop).second, between, zero, {}),
                   tiled(rows, columns, between, ScalarExpr::make_input(0, type), {from}), copy(k_loop, to, between)};
    } else {
      cut.nodes = {copy(k_loop, between, from), tiled(rows, columns, to, ScalarExpr::make_input(0, type), {between})};
    }
    return sdfg::If{.condition = {.code = padded->is_whole(), .inputs = {}}, .then_body = whole, .else_body = cut};
  }

  // What the iterations past the end read is what the last one reads.
  void repeat_reads(sdfg::Region& body, const std::set<std::string>& registers) const {
    for (sdfg::Node& n : body.nodes) {
      auto& state = std::get<sdfg::State>(n.value);
      sdfg::State repeated = sdfg::substitute(state, padded->repeated());
      for (std::size_t e = 0; e < state.edges.size(); ++e)
        if (registers.contains(state.edges[e].memlet.container)) repeated.edges[e].memlet = state.edges[e].memlet;
      state = std::move(repeated);
    }
  }

  // The tile's two loops around to = from.
  sdfg::Node copy(const sdfg::Loop& k_loop, const sdfg::Memlet& to, const sdfg::Memlet& from) {
    const ScalarExpr value = ScalarExpr::make_input(0, sdfg.find(from.container)->type);
    return tiled(*loops(k_loop).first, *loops(k_loop).second, to, value, {from});
  }

  // Two such loops around to = code(inputs), with names of their own.
  sdfg::Node tiled(sdfg::Loop rows, sdfg::Loop columns, const sdfg::Memlet& to, const ScalarExpr& code,
                   const std::vector<sdfg::Memlet>& inputs) {
    rows.privates.clear();
    columns.privates.clear();
    const std::string state = names.fresh(inputs.empty() ? "clear_" + to.container : "load_" + inputs[0].container);
    sdfg::Sdfg holder;
    holder.root.nodes = in_loops({rows, columns}, {sdfg::assignment(state, to, code, inputs)});
    sdfg::Renaming fresh;
    fresh.symbols = {{a, names.fresh(a + "_c")}, {b, names.fresh(b + "_c")}};
    return sdfg::rename(holder, fresh).root.nodes[0];
  }
};

}  // namespace

std::vector<const sdfg::ScheduleLoop*> loops_inside(const sdfg::ScheduleLoop& loop) {
  std::vector<const sdfg::ScheduleLoop*> loops{&std::get<sdfg::ScheduleLoop>(loop.children[0].value)};
  while (loops.back()->children.size() == 1) {
    const auto* inner = std::get_if<sdfg::ScheduleLoop>(&loops.back()->children[0].value);
    if (inner == nullptr) break;
    loops.push_back(inner);
  }
  return loops;
}

Result<void> no_reduction_around(const Nest& nest, const std::string& outermost, const sdfg::ScheduleTree& body) {
  std::set<std::string> written;
  for (const auto& child : body) {
    const auto statement = static_cast<std::size_t>(std::get<sdfg::ScheduleLeaf>(child.value).statement);
    written.merge(sdfg::touched(sdfg::Region{{nest.scop.statements[statement].node}}).written);
  }
  for (const sdfg::ScheduleLoop& loop : around_loop(nest, outermost).loops)
    for (const sdfg::Reduction& r : loop.reductions)
      if (written.contains(r.container))
        return fail("register-tile.reduced", loop.symbol + " reduces " + r.container, loop.symbol);
  return {};
}

Result<void> hold_in_registers(sdfg::Sdfg& sdfg, const ResultTile& tile) { return ResultPromotion{{tile}, sdfg}.run(); }

}  // namespace sous::transforms
