#include "transforms/staged_operands.h"

#include <algorithm>
#include <set>

#include "sdfg/planted_fault.h"
#include "sdfg/surroundings.h"
#include "sdfg/trips.h"
#include "transforms/relocation.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {
namespace {

using sdfg::Expr;
using sdfg::Loop;

// What a block has at most without being asked for more, and what one access moves.
constexpr std::int64_t most_bytes = std::int64_t{48} * 1024, access_bytes = 16;
// After which shared memory is the same banks again.
constexpr std::int64_t bank_bytes = 128;
constexpr std::size_t most_dimensions = 3;

class Finder {
 public:
  explicit Finder(const Staging& staging) : staging_(staging) {}

  Result<std::vector<Staged>> of(const Nest& nest, const std::vector<Operand>& all, const ThreadPhases& phases) const {
    std::vector<Staged> result;
    std::int64_t bytes = 0;
    for (const Operand& o : all) {
      if (o.loop(staging_.loop) == nullptr) continue;
      const auto same = std::ranges::find_if(result, [&](const Staged& s) {
        return s.operand().element == o.element && s.operand().code == o.code && s.operand().others == o.others;
      });
      auto coordinates = coordinates_of(nest, o, phases);
      if (!coordinates || !is_read(nest, o, *coordinates, phases)) continue;
      if (o.is_container_written && !stays_as_it_is(nest, o, phases)) continue;
      if (same != result.end()) {
        same->readers.push_back(&o);
        continue;
      }
      Staged s{.readers = {&o}, .coordinates = std::move(*coordinates), .dimensions = {}, .elements = 1};
      lay_out(s, staging_.along && is_contiguous(nest, o));
      bytes += (s.elements + (staging_.buffers - 1) * s.buffer_stride) * sdfg::info(o.code.type).bytes;
      result.push_back(std::move(s));
    }
    if (result.empty())
      return fail("stage.nothing", "nothing is read by several threads in " + staging_.loop, staging_.loop);
    if (bytes > most_bytes)
      return fail("stage.size", "the buffers would have " + std::to_string(bytes) + " bytes", staging_.loop);
    return result;
  }

 private:
  // Whether no block writes what any block reads there: a factorization updates what is behind the columns that it
  // reads, in the same array.
  static bool stays_as_it_is(const Nest& nest, const Operand& o, const ThreadPhases& phases) {
    sdfg::Sdfg sdfg = sdfg::lower(nest.scop, nest.tree);
    const std::vector<sdfg::ScheduleLoop> blocks = blocks_of(nest, phases);
    Around all = around_loop(nest, blocks[0].symbol);
    const std::vector<sdfg::ScalarExpr> around = all.conditions;
    sdfg::Points read = o.elements();
    for (const sdfg::ScheduleLoop& block : blocks) {
      all.enter(block);
      read.exists.push_back(block.symbol);
    }
    sdfg::append(read.conditions, all.conditions);
    const sdfg::Region whole{{sdfg::Node(sdfg::find_loop(sdfg.root, blocks[0].symbol)->loop())}};
    const auto unwritten = is_unwritten(o.element.container, read, whole, around);
    return all.known && unwritten.value_or(false);  // not shown to be, perhaps for want of budget
  }

  // The loops that decide the subscripts, if the loop itself is among them and (for what is shared) not every loop over
  // threads, and if they can be loops over threads that copy.
  std::optional<std::vector<Coordinate>> coordinates_of(const Nest& nest, const Operand& o,
                                                        const ThreadPhases& phases) const {
    std::set<std::string> used;
    for (const Expr& e : o.element.subset) used.merge(e.symbols());
    std::vector<Coordinate> result;
    std::size_t threads = 0, several = 0;
    for (auto l = o.around.loops.rbegin(); l != o.around.loops.rend(); ++l) {
      if (!used.contains(l->symbol)) continue;
      const bool is_loop = l->symbol == staging_.loop;
      Coordinate c{.loop = *l, .trips = staging_.size};
      c.loop.schedule = std::holds_alternative<sdfg::GpuBlock>(l->schedule) ? l->schedule : sdfg::Sequential{};
      Loop plain = sdfg::counted(l->symbol, l->begin, l->end);
      plain.step = l->step;
      const auto most = is_loop ? staging_.size : sdfg::most_trips(plain);
      if (!most || *most > most_bytes) return std::nullopt;
      c.trips = *most;
      if (!is_loop) end_with_the_last(nest, o, used, phases, c);
      for (const Expr* bound : {&c.loop.begin, &c.loop.end}) {
        if (!bound->reads().empty()) return std::nullopt;
        used.merge(bound->symbols());
      }
      threads += c.is_thread() ? 1 : 0;
      several += c.trips > 1 ? 1 : 0;
      result.insert(result.begin(), std::move(c));
    }
    const bool moves = std::ranges::any_of(result, [&](const Coordinate& c) { return c.loop.symbol == staging_.loop; });
    const bool shared = threads < phases.threads.size() || staging_.all;
    if (!moves || !shared || several == 0 || several > most_dimensions || !can_nest(result)) return std::nullopt;
    return result;
  }

  // A loop may end elsewhere in each thread of one further out that no subscript needs (the columns of a triangle's
  // rows). What all of them read together is a block's affair: the loop ends where it does in the last of them, if that
  // is nowhere later in the others.
  static void end_with_the_last(const Nest& nest, const Operand& o, const std::set<std::string>& used,
                                const ThreadPhases& phases, Coordinate& c) {
    sdfg::Surroundings there(nest.scop, sdfg::around(nest.tree, phases.threads[0]->symbol));
    for (const sdfg::ScheduleLoop& l : o.around.loops) {
      if (l.symbol == c.loop.symbol) return;
      there.enter(l);
      if (!std::holds_alternative<sdfg::GpuBlock>(l.schedule) || !c.loop.end.uses(l.symbol) ||
          c.loop.begin.uses(l.symbol) || used.contains(l.symbol) || l.step < 0)
        continue;
      for (const Expr& at : {last_of(l, l.end), l.begin}) {
        const Expr end = simplest(c.loop.end.substitute({{l.symbol, at}}));
        if (!planted(Fault::stage_ends_with_the_first) ? !there.at_most(c.loop.end, end) : at != l.begin) continue;
        if (!c.own_end) c.own_end = c.loop.end;
        c.loop.end = end;
        break;
      }
    }
  }
  static Expr last_of(const sdfg::ScheduleLoop& l, const Expr& end) {
    return l.begin + Expr::floor_div(end - 1 - l.begin, l.step) * l.step;
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

  // Whether what is read in any iteration of the coordinates is read in some block and thread: there the other loops
  // are given their first iterations, or their last ones, in this block or in another.
  static bool is_read(const Nest& nest, const Operand& o, const std::vector<Coordinate>& coordinates,
                      const ThreadPhases& phases) {
    if (!o.around.known) return false;
    for (const bool elsewhere : {false, true})
      for (const bool last : {false, true})
        if (is_read_at(nest, o, coordinates, phases, elsewhere, last)) return true;
    return false;
  }
  static bool is_read_at(const Nest& nest, const Operand& o, const std::vector<Coordinate>& coordinates,
                         const ThreadPhases& phases, bool elsewhere, bool last) {
    std::set<std::string> given;
    for (const Coordinate& c : coordinates) {
      given.insert(c.loop.symbol);
      for (const Expr* bound : {&c.loop.begin, &c.loop.end}) given.merge(bound->symbols());
    }
    std::vector<sdfg::ScheduleLoop> loops = blocks_of(nest, phases);
    for (auto l = loops.rbegin(); l != loops.rend(); ++l)
      if (given.contains(l->symbol) || !elsewhere) {
        given.insert(l->symbol);
        for (const Expr* bound : {&l->begin, &l->end}) given.merge(bound->symbols());
      }
    // This block runs, whichever one reads.
    sdfg::Surroundings there(nest.scop, sdfg::around(nest.tree, phases.threads[0]->symbol));
    for (const Coordinate& c : coordinates) there.enter(c.loop);
    loops.insert(loops.end(), o.around.loops.begin(), o.around.loops.end());
    std::map<std::string, Expr> values;
    for (const sdfg::ScheduleLoop& l : loops) {
      if (given.contains(l.symbol)) continue;
      const Expr begin = l.begin.substitute(values), end = l.end.substitute(values);
      if (l.step < 0 || !there.at_most(begin + 1, end)) return false;
      values[l.symbol] = last ? begin + Expr::floor_div(end - 1 - begin, l.step) * l.step : begin;
    }
    for (const Coordinate& c : coordinates)
      if (c.own_end && !there.at_most(Expr::symbol(c.loop.symbol) + 1, c.own_end->substitute(values))) return false;
    return std::ranges::all_of(o.around.guards,
                               [&](const sdfg::ScalarExpr& guard) { return there.always(guard.substitute(values)); });
  }
  static std::vector<sdfg::ScheduleLoop> blocks_of(const Nest& nest, const ThreadPhases& phases) {
    std::vector<sdfg::ScheduleLoop> result;
    for (const sdfg::ScheduleNode& n : sdfg::around(nest.tree, phases.threads[0]->symbol))
      if (const auto* l = std::get_if<sdfg::ScheduleLoop>(&n.value);
          l != nullptr && std::holds_alternative<sdfg::GpuGrid>(l->schedule))
        result.push_back(*l);
    return result;
  }

  bool is_contiguous(const Nest& nest, const Operand& o) const {
    const auto& subscripts = o.element.subset;
    const auto& strides = nest.scop.frame.find(o.element.container)->strides;
    for (std::size_t d = 0; d < subscripts.size(); ++d)
      if (strides[d] == Expr(1) && subscripts[d].uses(staging_.loop)) return true;
    return false;
  }

  // Slowest: the loop; then the other loops of a thread, then the threads, and as much of the innermost loop of a
  // thread as one access moves: threads that read the same iteration find their elements side by side. `along`: the
  // other loops of a thread, then the threads, then the loop.
  void lay_out(Staged& s, bool along) const {
    const std::int64_t bytes = sdfg::info(s.operand().code.type).bytes, width = access_bytes / bytes;
    std::vector<Dimension> own, threads, fastest;
    std::vector<const Coordinate*> inner;
    const Coordinate* tile = nullptr;
    for (const Coordinate& c : s.coordinates) {
      if (c.trips == 1) continue;
      if (c.loop.symbol == staging_.loop)
        tile = &c;
      else if (c.is_thread())
        threads.push_back({.at = c.place(), .extent = c.trips});
      else
        inner.push_back(&c);
    }
    for (const Coordinate* c : inner) {
      const bool split = c == inner.back() && width > 1 && c->trips % width == 0 && !along;
      if (split) fastest.push_back({.at = Expr::mod(c->place(), width), .extent = width});
      own.push_back({.at = split ? Expr::floor_div(c->place(), width) : c->place(),
                     .extent = split ? c->trips / width : c->trips});
    }
    const std::int64_t unit = fastest.empty() ? 1 : width;
    const std::int64_t gap = (staging_.pad + unit - 1) / unit * unit;
    std::int64_t stride = 1;
    const auto add = [&](std::vector<Dimension>& some, bool apart) {
      for (auto d = some.rbegin(); d != some.rend(); ++d) {
        d->stride = stride;
        stride *= d->extent;
      }
      s.dimensions.insert(s.dimensions.begin(), some.begin(), some.end());
      if (apart && !some.empty()) stride += gap;
    };
    // Threads that are 1 apart and iterations of the loop that are as many apart as one access moves meet in no bank:
    // products in the matrix unit read 4 rows of 4 iterations at a time.
    const auto shift = [&] {
      while (staging_.pad > 0 && stride * bytes % bank_bytes != 2 * access_bytes && access_bytes % bytes == 0)
        stride += unit;
    };
    std::vector<Dimension> last;
    if (tile != nullptr) last.push_back({.at = tile->place(), .extent = tile->trips});
    if (along) {
      add(last, false);
      shift();
    }
    add(fastest, false);
    add(threads, !along);
    add(own, !along);
    if (!along) {
      if (!own.empty()) shift();
      add(last, false);
    }
    for (const Dimension& d : s.dimensions) s.elements += (d.extent - 1) * d.stride;
    s.buffer_stride = (s.elements + width - 1) / width * width;
  }

  const Staging& staging_;
};

}  // namespace

Result<std::vector<Staged>> staged_operands(const Nest& nest, const std::vector<Operand>& all,
                                            const ThreadPhases& phases, const Staging& staging) {
  return Finder(staging).of(nest, all, phases);
}

}  // namespace sous::transforms
