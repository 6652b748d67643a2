// Staging: what several threads of a GPU's block read while they run a tile of a loop is copied into the shared memory
// of the block first, by all of them together (tiling for scratchpads: Baskaran et al. 2008).
//
// What is copied is laid out by iterations, not by elements: a place for each value that the loops which decide the
// subscripts take in the tile. A reader finds what it reads by its own iteration, so nothing about the elements need be
// known, and operands whose subscripts stop at a limit (padded tiles) are repeated in the copy.
//
// Condition. Nothing in the block writes the container under any name, so a copy has the value that every read of it
// would see; and no other block does, as blocks are independent. The copy reads what some thread reads: in an iteration
// of the loops that decide the subscripts, the other loops around the read have a first iteration and all conditions
// hold (shown by Surroundings). That the threads can be cut apart at the loop is the affair of thread_phases.h.
#include <algorithm>
#include <set>

#include "sdfg/surroundings.h"
#include "sdfg/trips.h"
#include "transforms/operands.h"
#include "transforms/relocation.h"
#include "transforms/thread_phases.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Memlet;
using sdfg::Node;

namespace {

// What a block has at most without being asked for more, and what one access moves.
constexpr std::int64_t most_bytes = std::int64_t{48} * 1024, access_bytes = 16;
constexpr std::size_t most_dimensions = 3;

// One of the loops that decide what is read.
struct Coordinate {
  sdfg::ScheduleLoop loop;
  std::int64_t trips = 0;

  bool is_thread() const { return std::holds_alternative<sdfg::GpuBlock>(loop.schedule); }
  Expr place() const { return Expr::floor_div(Expr::symbol(loop.symbol) - loop.begin, loop.step); }
};

// A buffer dimension: which place, of how many, how far apart.
struct Dimension {
  Expr at;
  std::int64_t extent = 1, stride = 1;
};

// What is staged in one buffer.
struct Staged {
  std::vector<const Operand*> readers;
  std::vector<Coordinate> coordinates;  // as they are nested
  std::vector<Dimension> dimensions;    // slowest first
  std::int64_t elements = 1;
  const Operand& operand() const { return *readers[0]; }
};

}  // namespace

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
      "a0_r becomes a0_r_own.";
  static constexpr bool needs_dependences = false;
  static constexpr std::int64_t size_values[] = {16, 8, 32, 4};
  static constexpr std::int64_t pad_values[] = {2, 0, 4, 1};
  static constexpr std::string_view fold_choices[] = {"no", "yes"};

  LoopRef loop;
  Size size;
  std::int64_t pad = 2;
  std::string fold, reads;
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
      param(&Stage::fold, {.name = "fold",
                           .doc = "whether the value of the largest expression that needs the element and otherwise "
                                  "nothing that changes in the block is staged, instead of the element",
                           .choices = fold_choices,
                           .default_value = "no"}),
      param(&Stage::reads, {.name = "reads",
                            .doc = "which: what several threads read; or all that moves with the loop, so that threads "
                                   "load neighbouring elements whichever they use, and many at a time",
                            .choices = read_choices,
                            .default_value = "shared"}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"stage.no-loop", "the loop does not exist"},
      {"stage.place",
       "the loop is not inside the threads of a GPU's block, a block does more than run them, or another loop of a "
       "thread or a condition that may change is around it"},
      {"stage.bounds", "the loop's bounds may differ between threads, or it is scheduled"},
      {"stage.private", "what a thread keeps while the loop runs cannot be given a place for each thread"},
      {"stage.nothing", "nothing that is read in the loop is known to be read by several threads and written by none"},
      {"stage.size", "the buffers are larger than 48 KiB, or nobody knows how large"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    sdfg::Sdfg result = sdfg::lower(nest.lifted, nest.tree);
    TRY(ThreadPhases phases, phases_around(nest, result, loop.name));
    TRY_VOID(keep_in_threads(result, phases, loop.name));
    const std::vector<Operand> all = operands(result, *phases.block, fold == "yes");
    TRY(std::vector<Staged> staged, staged_of(nest, all, phases));
    normal::Names names(result);
    const Loop whole = sdfg::find_loop(result.root, loop.name)->loop();
    const Expr tile = Expr::symbol(names.fresh(loop.name + "_t"));
    Loop tiles = sdfg::counted(*tile.as_symbol(), whole.begin, whole.end);
    tiles.step = size.value;
    std::map<std::string, std::vector<Replacement>> replacements;
    for (const Staged& s : staged) {
      const Operand& o = s.operand();
      std::vector<Expr> shape;
      for (const Dimension& d : s.dimensions) shape.emplace_back(d.extent);
      sdfg::Container buffer = sdfg::temporary(names.fresh(o.element.container + "_s"), o.code.type, std::move(shape),
                                               sdfg::Storage::device_shared);
      for (std::size_t d = 0; d < s.dimensions.size(); ++d) buffer.strides[d] = Expr(s.dimensions[d].stride);
      const Memlet place = in_tile(buffer.name, s, tile);
      for (const Operand* reader : s.readers) replacements[reader->state].push_back({reader->value, place});
      tiles.body.nodes.push_back(copy(s, place, tile, names, result));
      add_place(result, phases.block, std::move(buffer));
    }
    sdfg::visit(phases.block->body, [&](Node& n) {
      auto* state = std::get_if<sdfg::State>(&n.value);
      const auto found = state ? replacements.find(state->name) : replacements.end();
      if (found != replacements.end()) *state = replaced(*state, found->second);
    });
    PhaseBodies parts = phase_bodies(phases, loop.name, names);
    for (Node& n : over_tile(parts.inside, whole, tile, names)) tiles.body.nodes.push_back(std::move(n));
    auto& nodes = phases.block->body.nodes;
    nodes = std::move(parts.before);
    nodes.emplace_back(std::move(tiles));
    nodes.insert(nodes.end(), parts.behind.begin(), parts.behind.end());
    return restructure(unchanged(nest), Equivalent(result));
  }

 private:
  // --- What is staged
  Result<std::vector<Staged>> staged_of(const Nest& nest, const std::vector<Operand>& all,
                                        const ThreadPhases& phases) const {
    std::vector<Staged> result;
    std::int64_t bytes = 0;
    for (const Operand& o : all) {
      if (o.is_container_written || o.loop(loop.name) == nullptr) continue;
      const auto same = std::ranges::find_if(result, [&](const Staged& s) {
        return s.operand().element == o.element && s.operand().code == o.code && s.operand().others == o.others;
      });
      auto coordinates = coordinates_of(o, phases);
      if (!coordinates || !is_read(nest, o, *coordinates, phases)) continue;
      if (same != result.end()) {
        same->readers.push_back(&o);
        continue;
      }
      Staged s{.readers = {&o}, .coordinates = std::move(*coordinates), .dimensions = {}, .elements = 1};
      lay_out(s);
      bytes += s.elements * sdfg::info(o.code.type).bytes;
      result.push_back(std::move(s));
    }
    if (result.empty()) return fail("stage.nothing", "nothing is read by several threads in " + loop.name, loop.name);
    if (bytes > most_bytes)
      return fail("stage.size", "the buffers would have " + std::to_string(bytes) + " bytes", loop.name);
    return result;
  }

  // The loops that decide the subscripts, if the loop itself is among them and (for what is shared) not every loop over
  // threads, and if they can be loops over threads that copy.
  std::optional<std::vector<Coordinate>> coordinates_of(const Operand& o, const ThreadPhases& phases) const {
    std::set<std::string> used;
    for (const Expr& e : sdfg::subscripts(o.element.subset)) used.merge(e.symbols());
    std::vector<Coordinate> result;
    std::size_t threads = 0, several = 0;
    for (auto l = o.around.loops.rbegin(); l != o.around.loops.rend(); ++l) {
      if (!used.contains(l->symbol)) continue;
      const bool is_loop = l->symbol == loop.name;
      Coordinate c{.loop = *l, .trips = size.value};
      c.loop.schedule = std::holds_alternative<sdfg::GpuBlock>(l->schedule) ? l->schedule : sdfg::Sequential{};
      Loop plain = sdfg::counted(l->symbol, l->begin, l->end);
      plain.step = l->step;
      const auto most = is_loop ? size.value : sdfg::most_trips(plain);
      if (!most || *most > most_bytes) return std::nullopt;
      c.trips = *most;
      for (const Expr* bound : {&l->begin, &l->end}) {
        if (!bound->reads().empty()) return std::nullopt;
        used.merge(bound->symbols());
      }
      threads += c.is_thread() ? 1 : 0;
      several += c.trips > 1 ? 1 : 0;
      result.insert(result.begin(), std::move(c));
    }
    const bool moves = std::ranges::any_of(result, [&](const Coordinate& c) { return c.loop.symbol == loop.name; });
    const bool shared = threads < phases.threads.size() || reads == "all";
    if (!moves || !shared || several == 0 || several > most_dimensions || !can_nest(result)) return std::nullopt;
    return result;
  }

  // Loops of one iteration stand around the others, which are the threads'.
  static bool can_nest(const std::vector<Coordinate>& coordinates) {
    for (const Coordinate& single : coordinates)
      for (const Coordinate& c : coordinates)
        if (single.trips == 1 && c.trips > 1 &&
            (single.loop.begin.uses(c.loop.symbol) || single.loop.end.uses(c.loop.symbol)))
          return false;
    return true;
  }

  // Whether the read takes place in all iterations of the coordinates: there the other loops around it are given their
  // first iterations.
  static bool is_read(const Nest& nest, const Operand& o, const std::vector<Coordinate>& coordinates,
                      const ThreadPhases& phases) {
    if (!o.around.known) return false;
    sdfg::Surroundings there(nest.lifted, sdfg::around(nest.tree, phases.threads[0]->symbol));
    for (const Coordinate& c : coordinates) there.enter(c.loop);
    std::map<std::string, Expr> first;
    for (const sdfg::ScheduleLoop& l : o.around.loops) {
      if (std::ranges::any_of(coordinates, [&](const Coordinate& c) { return c.loop.symbol == l.symbol; })) continue;
      if (!there.at_most(l.begin.substitute(first) + 1, l.end.substitute(first))) return false;
      first[l.symbol] = l.begin.substitute(first);
    }
    return std::ranges::all_of(o.around.guards,
                               [&](const sdfg::ScalarExpr& guard) { return there.always(guard.substitute(first)); });
  }

  // Slowest: the loop; then the other loops of a thread, then the threads, and as much of the innermost loop of a
  // thread as one access moves: threads that read the same iteration find their elements side by side.
  void lay_out(Staged& s) const {
    const std::int64_t width = access_bytes / sdfg::info(s.operand().code.type).bytes;
    std::vector<Dimension> own, threads, fastest;
    std::vector<const Coordinate*> inner;
    const Coordinate* tile = nullptr;
    for (const Coordinate& c : s.coordinates) {
      if (c.trips == 1) continue;
      if (c.loop.symbol == loop.name)
        tile = &c;
      else if (c.is_thread())
        threads.push_back({.at = c.place(), .extent = c.trips});
      else
        inner.push_back(&c);
    }
    for (const Coordinate* c : inner) {
      const bool split = c == inner.back() && width > 1 && c->trips % width == 0;
      if (split) fastest.push_back({.at = Expr::mod(c->place(), width), .extent = width});
      own.push_back({.at = split ? Expr::floor_div(c->place(), width) : c->place(),
                     .extent = split ? c->trips / width : c->trips});
    }
    const std::int64_t unit = fastest.empty() ? 1 : width;
    const std::int64_t gap = (pad + unit - 1) / unit * unit;
    std::int64_t stride = 1;
    const auto add = [&](std::vector<Dimension>& some, bool apart) {
      for (auto d = some.rbegin(); d != some.rend(); ++d) {
        d->stride = stride;
        stride *= d->extent;
      }
      s.dimensions.insert(s.dimensions.begin(), some.begin(), some.end());
      if (apart && !some.empty()) stride += gap;
    };
    add(fastest, false);
    add(threads, true);
    add(own, true);
    std::vector<Dimension> last;
    if (tile != nullptr) last.push_back({.at = tile->place(), .extent = tile->trips});
    add(last, false);
    for (const Dimension& d : s.dimensions) s.elements += (d.extent - 1) * d.stride;
  }

  // --- The copies
  // The place of what the reader's iteration reads.
  Memlet in_tile(const std::string& buffer, const Staged& s, const Expr& tile) const {
    std::vector<Expr> at;
    for (const Dimension& d : s.dimensions) {
      const bool moves = d.at.uses(loop.name);
      at.push_back(moves ? Expr::symbol(loop.name) - tile : d.at);
    }
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
    const auto subscripts = sdfg::subscripts(element.subset);
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
      for (sdfg::Dim& d : m.subset) d.begin = d.begin.substitute(symbols);
      return m;
    };
    std::vector<Memlet> inputs = {renamed(o.element)};
    inputs.insert(inputs.end(), o.others.begin(), o.others.end());
    return in_loops(around, in_loops(threads, {sdfg::assignment(names.fresh("stage_" + o.element.container),
                                                                renamed(place), o.code, inputs)}))[0];
  }

  // --- The middle part
  // For the iterations of a tile: once for whole ones, whose number is then known, and once for one that may be short.
  std::vector<Node> over_tile(const Node& inside, const Loop& whole, const Expr& tile, normal::Names& names) const {
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
    sdfg::visit(holder.root, [&](const Node& n) {
      if (const auto* l = std::get_if<Loop>(&n.value)) fresh.symbols[l->symbol] = names.fresh(l->symbol + "_p");
      if (const auto* state = std::get_if<sdfg::State>(&n.value)) fresh.states[state->name] = names.fresh(state->name);
    });
    return {sdfg::If{.condition = {.code = sdfg::at_most(end, whole.end), .inputs = {}},
                     .then_body = {{cut(inside, end)}},
                     .else_body = sdfg::rename(holder, fresh).root}};
  }
};

constinit const StepInfo stage_step = declare<Stage>();

}  // namespace sous::transforms
