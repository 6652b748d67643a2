// Staging: what several threads of a GPU's block read while they run a tile of a loop is copied into the shared memory
// of the block first, by all of them together (tiling for scratchpads: Baskaran et al. 2008).
//
// What is copied is laid out by iterations, not by elements: a place for each value that the loops which decide the
// subscripts take in the tile. A reader finds what it reads by its own iteration, so nothing about the elements need be
// known, and operands whose subscripts stop at a limit (padded tiles) are repeated in the copy.
//
// Condition. Nothing in the block writes the container under any name, so a copy has the value that every read of it
// would see; and no other block does, as all run the same. The copy reads what some thread of some block reads: in an
// iteration of the loops that decide the subscripts, the other loops of the kernel around the read have a first (last)
// iteration, and all conditions hold there (staged_operands.cc). Where one of those that decide ends elsewhere in each
// thread of another, the copy goes as far as the last thread, if none goes further. That the threads can be cut apart
// at the loop is the affair of thread_phases.h.
#include <algorithm>

#include "sdfg/planted_fault.h"
#include "transforms/operands.h"
#include "transforms/relocation.h"
#include "transforms/staged_operands.h"
#include "transforms/thread_phases.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Memlet;
using sdfg::Node;

struct Stage {
  static constexpr std::string_view name = "stage";
  static constexpr std::string_view summary =
      "Cuts a loop that the threads of a GPU's block run into tiles; ahead of each, the threads copy what several of "
      "them read in it into the block's shared memory. Barriers are between.";
  static constexpr std::string_view before =
      "grid i_b, j_b in steps of 64:\n"
      "  block i_t in [i_b, i_b + 64), j_t in [j_b, j_b + 64) in steps of 8:\n"
      "    r = C(i_t.., j_t..)\n"
      "    for k: for i in 8: for j in 8: r(i, j) += A(i, k) * B(k, j)\n"
      "    C(i_t.., j_t..) = r";
  static constexpr std::string_view after =
      "grid i_b, j_b in steps of 64:\n"
      "  block i_t, j_t: r(i_t, j_t) = C(i_t.., j_t..)\n"
      "  for k_t in steps of 16:\n"
      "    block i, k: a(k, i) = A(i, k)\n"
      "    block k, j: b(k, j) = B(k, j)\n"
      "    block i_t, j_t: for k in [k_t, k_t + 16): for i in 8: for j in 8: r(i_t, j_t, i, j) += a(k, i) * b(k, j)\n"
      "  block i_t, j_t: C(i_t.., j_t..) = r(i_t, j_t)";
  static constexpr std::string_view names =
      "The loop over tiles of k is k_t. The threads' loops keep their names in the middle part; ahead of it and behind "
      "it they are i_t_2 and so on. Where the last tile may be short, the loops of its own copy of the middle part are "
      "called k_p, i_t_p, …. The buffer of a1 is a1_s, the loops that fill it a1_s0, a1_s1, …; what a thread keeps in "
      "a0_r becomes a0_r_own. "
      "With two buffers there is a copy ahead of k_t, too, whose loops have the next free names.";
  static constexpr bool needs_dependences = false;
  static constexpr std::int64_t size_values[] = {16, 8, 32, 4};
  static constexpr std::int64_t pad_values[] = {2, 0, 4, 1};
  static constexpr std::int64_t buffer_values[] = {1, 2};
  static constexpr std::string_view fold_choices[] = {"no", "yes"};

  LoopRef loop;
  Size size;
  std::int64_t pad = 2, buffers = 1;
  std::string fold, reads, along;
  static constexpr std::string_view read_choices[] = {"shared", "all"};
  static constexpr auto params = std::tuple{
      param(&Stage::loop, {.name = "loop", .doc = "the loop, which every thread of a block runs alike"}),
      param(&Stage::size, {.name = "size",
                           .doc = "its iterations in a tile",
                           .low = 1,
                           .high = 1024,
                           .values = size_values,
                           .effect = Effect::Cuts}),
      param(&Stage::pad, {.name = "pad",
                          .doc = "elements between the rows of a buffer, so that threads which fill it meet different "
                                 "banks (rounded up to whole accesses of 16 bytes where readers make such)",
                          .low = 0,
                          .high = 64,
                          .values = pad_values,
                          .default_value = 2}),
      param(&Stage::fold,
            {.name = "fold",
             .doc = "whether the value of the largest expression that needs the element and otherwise "
                    "nothing that changes in the block is staged, instead of the element; of a product that a "
                    "sum uses its factors, since the two may be one fused operation",
             .choices = fold_choices,
             .default_value = "no"}),
      param(&Stage::reads, {.name = "reads",
                            .doc = "which: what several threads read; or all that moves with the loop, so that threads "
                                   "load neighbouring elements whichever they use, and many at a time",
                            .choices = read_choices,
                            .default_value = "shared"}),
      param(&Stage::along, {.name = "along",
                            .doc = "whether an operand whose elements lie side by side along the loop lies so in its "
                                   "buffer, too, and not across it: threads that fill it then meet different banks, "
                                   "and readers, but for the matrix unit, take one element at a time",
                            .choices = fold_choices,
                            .default_value = "no"}),
      param(&Stage::buffers, {.name = "buffers",
                              .doc = "2: the threads copy the next tile while they compute with this one, and meet "
                                     "once a tile instead of twice",
                              .low = 1,
                              .high = 2,
                              .values = buffer_values,
                              .default_value = 1}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"stage.no-loop", "the loop does not exist"},
      {"stage.place",
       "the loop is not inside the threads of a GPU's block, a block does more than run them, or another loop of a "
       "thread or a condition that may change is around it"},
      {"stage.bounds",
       "the loop's bounds may differ between threads, it is scheduled, or it counts the tiles of a loop inside of it"},
      {"stage.private", "what a thread keeps while the loop runs cannot be given a place for each thread"},
      {"stage.nothing", "nothing that is read in the loop is known to be read by several threads and written by none"},
      {"stage.size", "the buffers are larger than 48 KiB, or nobody knows how large"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    sdfg::Sdfg result = sdfg::lower(nest.scop, nest.tree);
    TRY(ThreadPhases phases, phases_around(nest, result, loop.name));
    TRY_VOID(keep_in_threads(result, phases, loop.name));
    // A tile of this loop would be several elements of each of those.
    for (const std::string& inner : sdfg::loop_symbols(loop_of(nest, loop).children)) {
      const auto step = sdfg::coefficient_of(sdfg::find_loop(nest.tree, inner)->begin, loop.name);
      if (step && *step != Expr(0) && *step != Expr(1))
        return fail("stage.bounds", loop.name + " counts the tiles of " + inner, loop.name);
    }
    const std::vector<Operand> all = operands(result, *phases.block, fold == "yes");
    TRY(const std::vector<Staged> staged, staged_operands(nest, all, phases,
                                                          {.loop = loop.name,
                                                           .size = size.value,
                                                           .pad = pad,
                                                           .buffers = buffers,
                                                           .all = reads == "all",
                                                           .along = along == "yes"}));
    normal::Names names(result);
    const Loop whole = sdfg::find_loop(result.root, loop.name)->loop();
    const Expr tile = Expr::symbol(names.fresh(loop.name + "_t"));
    Loop tiles = sdfg::counted(*tile.as_symbol(), whole.begin, whole.end);
    tiles.step = size.value;
    std::map<std::string, std::vector<Replacement>> replacements;
    std::vector<Node> ahead;
    for (const Staged& s : staged) {
      sdfg::Container buffer = buffer_of(s, names);
      const Memlet place = in_tile(buffer.name, s, tile, whole);
      for (const Operand* reader : s.readers) replacements[reader->state].push_back({reader->value, place});
      const auto copied = [&](const Expr& which) {
        return copy(s, in_tile(buffer.name, s, which, whole), which, names, result);
      };
      if (buffers == 1) {
        tiles.body.nodes.push_back(copied(tile));
      } else {
        const Expr next = tile + size.value;
        tiles.body.nodes.push_back(copied(next));
        ahead.push_back(copied(whole.begin));
      }
      add_place(result, phases.block, std::move(buffer));
    }
    sdfg::visit(phases.block->body, [&](Node& n) {
      auto* state = std::get_if<sdfg::State>(&n.value);
      const auto found = state ? replacements.find(state->name) : replacements.end();
      if (found != replacements.end()) *state = replaced(*state, found->second);
    });
    PhaseBodies parts = phase_bodies(phases, loop.name, names);
    for (Node& n : over_tile(parts.inside, whole, tile, names, result)) tiles.body.nodes.push_back(std::move(n));
    auto& nodes = phases.block->body.nodes;
    nodes = std::move(parts.before);
    nodes.insert(nodes.end(), ahead.begin(), ahead.end());
    nodes.emplace_back(std::move(tiles));
    nodes.insert(nodes.end(), parts.behind.begin(), parts.behind.end());
    return restructure(unchanged(nest), Equivalent(result));
  }

 private:
  sdfg::Container buffer_of(const Staged& s, normal::Names& names) const {
    const Operand& o = s.operand();
    std::vector<Expr> shape, strides;
    if (buffers > 1) {
      shape.emplace_back(buffers);
      strides.emplace_back(s.buffer_stride);
    }
    for (const Dimension& d : s.dimensions) {
      shape.emplace_back(d.extent);
      strides.emplace_back(d.stride);
    }
    sdfg::Container buffer = sdfg::temporary(names.fresh(o.element.container + "_s"), o.code.type, std::move(shape),
                                             sdfg::Storage::device_shared);
    buffer.strides = std::move(strides);
    return buffer;
  }

  // The place of what the reader's iteration reads, if that is one of the tile.
  Memlet in_tile(const std::string& buffer, const Staged& s, const Expr& tile, const Loop& whole) const {
    std::vector<Expr> at;
    const Expr number =
        planted(Fault::stage_buffer_confused) ? Expr(0) : Expr::floor_div(tile - whole.begin, size.value);
    if (buffers > 1) at.push_back(Expr::mod(number, buffers));
    for (const Dimension& d : s.dimensions) at.push_back(d.at.uses(loop.name) ? Expr::symbol(loop.name) - tile : d.at);
    return sdfg::element(buffer, at);
  }

  // Which of the loops that copy are neighbouring threads: first the one along which the container is contiguous, then
  // those that it is cut from, then the others from the inside.
  static std::vector<std::size_t> dimensions_of(const Staged& s, const std::vector<std::size_t>& band,
                                                const sdfg::Sdfg& sdfg) {
    const Memlet& element = s.operand().element;
    const auto& strides = sdfg.find(element.container)->strides;
    std::vector<std::size_t> order;
    const auto take = [&](auto&& wanted) {
      for (auto k = band.rbegin(); k != band.rend(); ++k)
        if (std::ranges::find(order, *k) == order.end() && wanted(s.coordinates[*k].loop.symbol)) order.push_back(*k);
    };
    const auto& subscripts = element.subset;
    for (std::size_t d = 0; d < strides.size(); ++d)
      if (strides[d] == Expr(1)) take([&](const std::string& symbol) { return subscripts[d].uses(symbol); });
    const std::vector<std::size_t> contiguous = order;
    for (const std::size_t k : contiguous)
      take([&](const std::string& symbol) { return s.coordinates[k].loop.begin.uses(symbol); });
    take([](const std::string&) { return true; });
    return order;
  }

  Node copy(const Staged& s, const Memlet& place, const Expr& tile, normal::Names& names,
            const sdfg::Sdfg& sdfg) const {
    const Operand& o = s.operand();
    std::vector<std::size_t> band;
    for (std::size_t k = 0; k < s.coordinates.size(); ++k)
      if (s.coordinates[k].trips > 1) band.push_back(k);
    const std::vector<std::size_t> dimensions = dimensions_of(s, band, sdfg);
    std::map<std::string, Expr> symbols;
    std::vector<Loop> around, threads;
    for (std::size_t k = 0; k < s.coordinates.size(); ++k) {
      const sdfg::ScheduleLoop& from = s.coordinates[k].loop;
      Loop l = sdfg::counted(names.fresh(place.container + std::to_string(k)), from.begin.substitute(symbols),
                             from.end.substitute(symbols));
      l.step = from.step;
      if (from.symbol == loop.name) {
        l.begin = tile;
        l.end = simplest(Expr::min(tile + size.value, from.end));
      }
      symbols[from.symbol] = Expr::symbol(l.symbol);
      const auto at = std::ranges::find(dimensions, k);
      if (at != dimensions.end()) l.schedule = sdfg::GpuBlock{static_cast<int>(at - dimensions.begin())};
      (at != dimensions.end() ? threads : around).push_back(std::move(l));
    }
    const auto renamed = [&](Memlet m) {
      for (sdfg::Expr& d : m.subset) d = d.substitute(symbols);
      return m;
    };
    std::vector<Memlet> inputs = {renamed(o.element)};
    inputs.insert(inputs.end(), o.others.begin(), o.others.end());
    return in_loops(around, in_loops(threads, {sdfg::assignment(names.fresh("stage_" + o.element.container),
                                                                renamed(place), o.code, inputs)}))[0];
  }

  // --- The middle part
  // For the iterations of a tile: once for whole ones, whose number is then known, and once for one that may be short.
  // Temporaries of the second are its own: each has one owner.
  std::vector<Node> over_tile(const Node& inside, const Loop& whole, const Expr& tile, normal::Names& names,
                              sdfg::Sdfg& sdfg) const {
    const auto cut = [&](const Node& from, const Expr& end) {
      sdfg::Region region{{from}};
      Loop& l = sdfg::find_loop(region, loop.name)->loop();
      l.begin = tile;
      l.end = end;
      return region.nodes[0];
    };
    const Expr end = tile + size.value;
    const auto crossing = crossed(whole.end, whole.begin, size.value);
    if (!crossing) return {cut(inside, end)};
    sdfg::Sdfg holder;
    holder.root.nodes = {cut(inside, simplest(Expr::min(end, whole.end)))};
    sdfg::Renaming fresh;
    const sdfg::NodeNames old = sdfg::node_names(holder.root);
    for (const std::string& symbol : old.symbols) fresh.symbols[symbol] = names.fresh(symbol + "_p");
    for (const std::string& state : old.states) fresh.states[state] = names.fresh(state);
    sdfg::visit(holder.root, [&](const Node& n) {
      const auto* l = std::get_if<Loop>(&n.value);
      if (l == nullptr) return;
      for (const std::string& name : l->privates) fresh.containers[name] = names.fresh(name);
    });
    for (const auto& [from, to] : fresh.containers) {
      sdfg::Container copy = *sdfg.find(from);
      copy.name = to;
      sdfg.containers.push_back(std::move(copy));
    }
    return {sdfg::If{.condition = {.code = sdfg::at_most(end, whole.end), .inputs = {}},
                     .then_body = {{cut(inside, end)}},
                     .else_body = sdfg::rename(holder, fresh).root}};
  }
};

constinit const StepInfo stage_step = declare<Stage>();

}  // namespace sous::transforms
