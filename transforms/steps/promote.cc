// Promotion to local storage: what one iteration of a loop touches of an array is copied into a local one, worked on
// there, and written back. Of a single element it is scalar replacement (Callahan, Carr and Kennedy 1990, the
// loop-invariant case; docs/decisions/011); where nothing need be copied it is array contraction (Sarkar and Gao 1991).
//
// Condition. What an iteration touches of the container, or a part of it that no other access in the body touches, lies
// in a box of a known size, and is touched through memlets of that container alone, so that the elements of the local
// array and those that they stand for are one to one (is_alone; apart; extents, proven on the elements).
//  - In: every element that the iteration reads is copied before its body, unless each value it reads is its own
//    (sdfg::reads_own_values). Exactly those (sdfg::scan), and each of them the iteration touches in any case: so the
//    copy reads nothing that the iteration does not, and no other thread writes it meanwhile. A temporary may have no
//    value yet where it is written first: each element must then be read before that, too.
//  - Out: exactly the elements that the iteration writes are copied behind it, and it writes each of them in any case:
//    an element that is not written may be another thread's, or constant. Not needed where nobody looks: a temporary
//    that only this loop touches, each of whose values is read in the iteration that writes it.
#include <algorithm>

#include "sdfg/planted_fault.h"
#include "sdfg/scan.h"
#include "transforms/footprints.h"
#include "transforms/normal/util.h"
#include "transforms/relocation.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Memlet;
using sdfg::Node;
using sdfg::Points;
using sdfg::ScalarExpr;

namespace {

// Part of a container with its local array and the loops that copy.
struct Promotion {
  std::string container;
  std::set<std::vector<Expr>> subscripts;  // of what is redirected
  std::vector<sdfg::Extent> box;
  std::vector<sdfg::Scan> in, out;
};

}  // namespace

struct Promote {
  static constexpr std::string_view name = "promote";
  static constexpr std::string_view summary =
      "Gives each iteration of a loop local copies of the elements that it works on, a scalar for a single one: read "
      "in before the body, written back behind it; what only the iteration itself looks at is not copied at all.";
  static constexpr std::string_view before = "for i: for j: for k: C(i, j) += A(i, k) * B(k, j)";
  static constexpr std::string_view after =
      "for i: for j:                    (loop = j, most = 1)\n"
      "  c = C(i, j)\n"
      "  for k: c += A(i, k) * B(k, j)\n"
      "  C(i, j) = c";
  static constexpr std::string_view names =
      "All loops keep their names. The local copy of a1 is a1_l; the loops that read it in are called a1_l0, a1_l1, … "
      "after its dimensions, those that write it back a1_w0, a1_w1, ….";

  static constexpr std::int64_t most_on_stack = 16384;  // bytes: half of a usual L1 cache
  static constexpr std::size_t most_divided = 48;       // accesses: each pair is a question
  static constexpr std::int64_t most_values[] = {1, 64, 4096};
  static constexpr std::string_view most_expressions[] = {"l1_bytes floordiv 64"};

  LoopRef loop;
  Size most;
  static constexpr auto params = std::tuple{
      param(&Promote::loop, {.name = "loop", .doc = "the loop each of whose iterations has copies of its own"}),
      param(&Promote::most, {.name = "most",
                             .doc = "how many elements a copy has at most; 1: scalars only",
                             .low = 1,
                             .high = 1 << 20,
                             .values = most_values,
                             .expressions = most_expressions}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"promote.no-loop", "the loop does not exist"},
      {"promote.scheduled", "the loop or one around it runs in vector lanes, unrolled or on a GPU"},
      {"promote.nothing",
       "the loop's body touches no array more often than copying it would, or none whose accesses are all known"},
      {"promote.footprint",
       "of no array the elements that are read and written are known exactly, each of them in any case"},
      {"promote.size", "what an iteration touches of an array is not known to be so few elements"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    sdfg::Sdfg result = sdfg::lower(nest.scop, nest.tree);
    const Around around = inside_loop(nest, loop.name);
    const auto place = sdfg::find_loop(result.root, loop.name);
    SOUS_ASSERT(place);
    Loop& target = place->loop();
    if (!around.runs_in_threads(target.body))
      return fail("promote.scheduled", loop.name + " or a loop around it runs in lanes, unrolled or on a GPU",
                  loop.name);

    const Here here{.nest = nest, .sdfg = result, .place = *place, .around = around};
    std::vector<Promotion> promotions;
    std::optional<Error> why;
    for (const auto& [container, footprint] : footprints(target.body)) {
      const auto reason = add(here, container, footprint, {true, false}, promotions);
      if (reason && !why) why = reason;
    }
    if (promotions.empty()) {
      if (why) return std::unexpected(*why);
      return fail("promote.nothing", "a copy of nothing in the body of " + loop.name + " would spare an access",
                  loop.name);
    }
    normal::Names names(result);
    Copies copies;
    for (const Promotion& p : promotions) carry_out(p, result, target, names, copies);
    // In place when all accesses are redirected: theirs stay.
    copies.put(target.body, 0, target.body.nodes.size());
    for (const Promotion& p : promotions) drop_unused(result, p.container);
    return restructure(unchanged(nest), Equivalent(result));
  }

 private:
  struct Here {
    const Nest& nest;
    const sdfg::Sdfg& sdfg;
    const sdfg::LoopPlace& place;
    const Around& around;
  };

  // Adds what becomes of a container: one copy of all that is touched, or copies of parts, divided in these ways one
  // after the other. The reason if there is none; nullopt, too, where there was no reason to touch it.
  std::optional<Error> add(const Here& here, const std::string& container, const Footprint& footprint,
                           std::vector<bool> ways, std::vector<Promotion>& promotions) const {
    auto one = promotion(here, container, footprint);
    if (one) {
      promotions.push_back(std::move(*one));
      return std::nullopt;
    }
    if (one.error().code == "promote.nothing") return std::nullopt;
    const std::size_t before = promotions.size();
    while (footprint.divisible && footprint.accesses.size() <= most_divided && !ways.empty()) {
      const bool reads_too = ways.front();
      ways.erase(ways.begin());
      const auto parts = apart(footprint, reads_too, here.around.conditions);
      if (!parts || parts->size() == 1) continue;
      for (const Footprint& part : *parts) add(here, container, part, ways, promotions);
      break;
    }
    if (promotions.size() != before) return std::nullopt;
    return one.error();
  }

  // What becomes of a container as far as the footprint goes, or why it stays as it is; promote.nothing: there is no
  // reason to touch it.
  Result<Promotion> promotion(const Here& here, const std::string& container, const Footprint& footprint) const {
    const auto& [nest, sdfg, place, outer] = here;
    const sdfg::Container& old = *sdfg.find(container);
    const std::unexpected<Error> nothing = fail("promote.nothing", container + " is no candidate", loop.name);
    if (old.shape.empty() || !footprint.reads_known || !footprint.writes_known || footprint.accesses.empty() ||
        !normal::on_host(old))
      return nothing;
    if (is_reduced(outer.loops, container) || !is_alone(sdfg, place.loop(), container)) return nothing;
    const auto& privates = place.loop().privates;
    if (std::ranges::find(privates, container) != privates.end()) return nothing;

    const auto& around = outer.conditions;
    const std::vector<Points> reads = footprint.of(false), writes = footprint.of(true);
    const auto asked = sdfg::reads_own_values(nest.dependences, nest.scop, nest.tree, loop.name, container);
    if (!asked && old.transient) return std::unexpected(asked.error());
    const bool own = asked.value_or(false);  // not known for want of budget: then it is copied
    const bool in = !reads.empty() && !own;
    const bool out = !writes.empty() && (!own || is_seen_outside(sdfg, place, container));
    if (in || (out && reads.empty())) {
      // Otherwise the copies touch each element as often as the body does.
      TRY(const bool read_again, is_repeated(reads, around));
      TRY(const bool written_again, is_repeated(writes, around));
      if (!read_again && !written_again) return nothing;
    }
    TRY(const auto box, sdfg::extents(footprint.all(), around));
    if (!box) return fail("promote.size", "what is touched of " + container + " has no known bound", loop.name);
    std::int64_t size = 1;
    for (const sdfg::Extent& e : *box) size = size > most.value ? size : size * e.size;
    if (size > most.value)
      return fail("promote.size", "what is touched of " + container + " may be more elements", loop.name);
    if (is_local_already(old, size)) return nothing;

    Promotion result{.container = container, .subscripts = {}, .box = *box, .in = {}, .out = {}};
    for (const Footprint::Access& a : footprint.accesses) {
      // In what never runs it would name no element of the copy.
      TRY(const bool never, runs_never(a, around));
      if (!never) result.subscripts.insert(a.subscript);
    }
    const auto inexact = [&](const char* what) {
      return fail("promote.footprint", std::string("which elements of ") + container + " are " + what + " is not known",
                  loop.name);
    };
    if (in && !planted(Fault::promoted_without_reading)) {
      TRY(const bool touched, in_any_case(footprint, false, around));
      TRY(const bool defined, has_values(nest, old, footprint));
      TRY(const auto loops, sdfg::scan(reads, around));
      if (!touched || !defined || !loops) return inexact("read");
      result.in = *loops;
    }
    if (out && !planted(Fault::promoted_without_writing)) {
      const bool careless = planted(Fault::promoted_writes_all_read) && !reads.empty();
      TRY(const bool touched, in_any_case(footprint, true, around));
      TRY(const auto loops, sdfg::scan(careless ? reads : writes, around));
      if (!touched || !loops) return inexact("written");
      result.out = *loops;
    }
    return result;
  }

  static Result<bool> runs_never(const Footprint::Access& access, const std::vector<ScalarExpr>& around) {
    Points elements = access.elements;
    sdfg::append(elements.conditions, around);
    return sdfg::is_within(elements, {});
  }
  static Result<bool> is_repeated(const std::vector<Points>& points, const std::vector<ScalarExpr>& around) {
    if (points.empty()) return false;
    return sdfg::is_repeated(points, around);
  }
  // Partial results of an outer loop's reduction are only to be combined into.
  static bool is_reduced(const std::vector<sdfg::ScheduleLoop>& loops, const std::string& container) {
    return std::ranges::any_of(loops, [&](const sdfg::ScheduleLoop& l) {
      return std::ranges::find(l.reductions, container, &sdfg::Reduction::container) != l.reductions.end();
    });
  }
  // A temporary that is as small and as near.
  static bool is_local_already(const sdfg::Container& c, std::int64_t size) {
    if (c.storage != sdfg::Storage::stack && c.storage != sdfg::Storage::registers) return false;
    std::int64_t whole = 1;
    for (const Expr& e : c.shape) {
      if (!e.constant()) return false;
      whole = whole > size ? whole : whole * *e.constant();
    }
    return whole <= size;
  }

  // Whether each element that is written (read) is written (read or written) whatever conditions on data say.
  static Result<bool> in_any_case(const Footprint& footprint, bool write, const std::vector<ScalarExpr>& around) {
    std::vector<Points> certain;
    for (const Footprint::Access& a : footprint.accesses)
      if (a.certain && (a.write || !write)) certain.push_back(a.elements);
    for (const Footprint::Access& a : footprint.accesses) {
      if (a.certain || a.write != write) continue;
      if (planted(Fault::promoted_though_conditional)) continue;
      Points perhaps = a.elements;
      sdfg::append(perhaps.conditions, around);
      TRY(const bool within, sdfg::is_within(perhaps, certain));
      if (!within) return false;
    }
    return true;
  }

  // Whether all that is read has a value before the body.
  Result<bool> has_values(const Nest& nest, const sdfg::Container& c, const Footprint& footprint) const {
    if (!c.transient) return true;
    if (!std::ranges::all_of(footprint.accesses, &Footprint::Access::certain)) return false;
    return sdfg::reads_older_values(nest.dependences, nest.scop, nest.tree, loop.name, c.name);
  }

  static void carry_out(const Promotion& p, sdfg::Sdfg& result, Loop& target, normal::Names& names, Copies& copies) {
    const sdfg::Container old = *result.find(p.container);
    std::vector<Expr> shape;
    std::int64_t bytes = sdfg::info(old.type).bytes;
    for (const sdfg::Extent& e : p.box) {
      if (e.size == 1) continue;
      shape.emplace_back(e.size);
      bytes *= e.size;
    }
    const sdfg::Container local = sdfg::temporary(names.fresh(old.name + "_l"), old.type, std::move(shape),
                                                  bytes <= most_on_stack ? sdfg::Storage::stack : sdfg::Storage::heap);
    const auto inside = [&](const std::vector<Expr>& subscript) {
      std::vector<Expr> moved;
      for (std::size_t d = 0; d < p.box.size(); ++d)
        if (p.box[d].size != 1) moved.push_back(subscript[d] - p.box[d].least);
      return moved;
    };
    const auto moved = [&](const sdfg::Subset& subset) -> std::optional<sdfg::Subset> {
      if (!p.subscripts.contains(subset)) return std::nullopt;
      return inside(subset);
    };
    relocate(result, &target, target.body, old.name, local, moved);
    // The loops of a copy; of the two places, `in` says which one is read.
    const auto copy = [&](const sdfg::Scan& scan, bool in, std::vector<Node>& copies) {
      const std::string stem = old.name + (in ? "_l" : "_w");
      std::map<std::string, Expr> element;
      std::vector<Expr> subscript;
      std::vector<Loop> loops;
      for (std::size_t d = 0; d < p.box.size(); ++d) {
        const Expr from = scan.from[d].substitute(element);
        if (scan.from[d] != scan.to[d])
          loops.push_back(
              sdfg::counted(names.fresh(stem + std::to_string(d)), from, simplest(scan.to[d].substitute(element) + 1)));
        subscript.push_back(scan.from[d] == scan.to[d] ? from : Expr::symbol(loops.back().symbol));
        element["#" + std::to_string(d)] = subscript.back();
      }
      const Memlet there = sdfg::element(old.name, subscript), here = sdfg::element(local.name, inside(subscript));
      Node state = sdfg::assignment(names.fresh((in ? "read_" : "write_") + old.name), in ? here : there,
                                    ScalarExpr::make_input(0, old.type), {in ? there : here});
      copies.push_back(where(scan.guard, in_loops(loops, {std::move(state)}))[0]);
    };
    for (const sdfg::Scan& s : p.in) copy(s, true, copies.in);
    for (const sdfg::Scan& s : p.out) copy(s, false, copies.out);
  }

  static void drop_unused(sdfg::Sdfg& result, const std::string& name) {
    const sdfg::Container* old = result.find(name);
    if (!old || !old->transient || normal::containers_of(result.root).contains(name)) return;
    std::erase_if(result.containers, [&](const sdfg::Container& c) { return c.name == name; });
    sdfg::visit(result.root, [&](Node& n) {
      if (auto* l = std::get_if<Loop>(&n.value)) std::erase(l->privates, name);
    });
  }
};

constinit const StepInfo promote_step = declare<Promote>();

}  // namespace sous::transforms
