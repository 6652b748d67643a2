// Packing (Goto and van de Geijn 2008): what a tile of loops reads is copied into a buffer in the order in which the
// loops read it: panels of as many rows (or columns) as the innermost tile has, one behind the other, each contiguous.
//
// Condition. Nothing inside the loop may write the elements that are packed, so a copy made at the start of its
// iteration has the value that every read would have seen; a folded value is the same expression over the same values.
// That the buffer holds exactly what is read is proven in panels.cc, that none of it is written in footprints.cc.
#include <algorithm>

#include "transforms/footprints.h"
#include "transforms/normal/util.h"
#include "transforms/panels.h"
#include "transforms/relocation.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Memlet;
using sdfg::Node;

struct Pack {
  static constexpr std::string_view name = "pack";
  static constexpr std::string_view summary =
      "Copies what the loops inside a loop read and none of them writes, as far as it moves with a loop over tiles, "
      "into a contiguous "
      "aligned buffer, panel by panel in the order of use; on the way it may be scaled or converted.";
  static constexpr std::string_view before =
      "for k_t in steps of 240:\n"
      "  for j_r in steps of 24: for k in [k_t, k_t + 240): for j in [j_r, j_r + 24): … A(i, k) * B(k, j)";
  static constexpr std::string_view after =
      "for k_t in steps of 240:\n"
      "  for j_p in steps of 24: for k in [k_t, k_t + 240): for j in [j_p, j_p + 24):\n"
      "    P(j_p / 24, k - k_t, j - j_p) = B(k, j)\n"
      "  for j_r in steps of 24: for k in [k_t, k_t + 240): for j in [j_r, j_r + 24):\n"
      "    … A(i, k) * P(j_r / 24, k - k_t, j - j_r)";
  static constexpr std::string_view names =
      "All loops keep their names; those of a copy are called after the packed container (a1_p, a1_p0, …), and so is "
      "the buffer (a1_pack).";
  static constexpr bool needs_dependences = false;

  static constexpr std::int64_t smallest_square = 32;  // bytes of a panel's row: a vector of AVX2

  LoopRef loop, panel;
  std::string fold;
  static constexpr std::string_view fold_choices[] = {"no", "yes"};
  static constexpr auto params = std::tuple{
      param(&Pack::loop, {.name = "loop",
                          .doc = "the loop in each of whose iterations the buffer is filled: shared by all threads "
                                 "if a loop inside it is parallel, otherwise each thread's own"}),
      param(&Pack::panel, {.name = "panel",
                           .doc = "the loop whose iterations take one panel each; its step is the width. What is "
                                  "packed is every operand with a subscript that runs over such a tile",
                           .relation = Relation::Inside,
                           .to = "loop",
                           .refusal = "pack.not-inside"}),
      param(&Pack::fold, {.name = "fold",
                          .doc = "whether the value of the largest expression that needs the element and otherwise "
                                 "nothing that changes inside the loop is packed, instead of the element; of a product "
                                 "that a sum uses its factors, since the two may be one fused operation",
                          .choices = fold_choices,
                          .default_value = "no"}),
  };
  static constexpr RefusalInfo refusals[] = {
      {"pack.no-loop", "a loop does not exist"},
      {"pack.not-inside", "the panel's loop is not inside the loop"},
      {"pack.scheduled", "the loop, one around it or the panel's runs in vector lanes, unrolled or on a GPU"},
      {"pack.nothing",
       "nothing that is read inside the loop moves with the panel and is known to be written nowhere in it"},
      {"pack.footprint",
       "of no operand the elements that are read are exactly those of a box or a triangle cut into panels, or could "
       "not be shown to be"},
      {"pack.size", "the buffer's size is not known before the nest runs"},
  };

  Result<Plan> plan(const Nest& nest, const StepContext&) const {
    sdfg::Sdfg result = sdfg::lower(nest.scop, nest.tree);
    const Around around = inside_loop(nest, loop.name);
    Loop& target = sdfg::find_loop(result.root, loop.name)->loop();
    const sdfg::ScheduleLoop& tiles = loop_of(nest, panel);
    if (!around.runs_in_threads(target.body) || !(is_sequential(tiles) || is_parallel(tiles)) || tiles.step < 0)
      return fail("pack.scheduled", "a loop around the panels runs in lanes, unrolled, backwards or on a GPU",
                  panel.name);
    TRY(const auto groups, groups_of(result, target, around));
    normal::Names names(result);
    Copies copies;
    std::map<std::string, std::vector<Replacement>> replacements;
    std::optional<Error> no_box;
    const bool parallel = is_filled_in_parallel(around, target);
    for (const auto& group : groups) {
      const Result<PanelBox> box = box_of_panels(group, panel.name, tiles.step, around.conditions);
      if (!box && box.error().code != "pack.footprint") return std::unexpected(box.error());
      if (!box) {  // stays where it is
        no_box = box.error();
        continue;
      }
      const Paneled& first = group[0];
      const std::string& of = first.operand.element.container;
      TRY(std::vector<Expr> shape, shape_of(of, *box, around));
      sdfg::Container buffer =
          sdfg::temporary(names.fresh(of + "_pack"), first.operand.code.type, std::move(shape), sdfg::Storage::heap);
      for (const Paneled& p : group)
        replacements[p.operand.state].push_back(
            {p.operand.value, place(buffer, *box, Expr::symbol(panel.name), p.subscripts())});
      copies.in.push_back(copy(*result.find(of), buffer, *box, first, parallel, names));
      add_place(result, &target, std::move(buffer));
    }
    if (copies.in.empty()) return std::unexpected(*no_box);
    sdfg::visit(target.body, [&](Node& n) {
      auto* state = std::get_if<sdfg::State>(&n.value);
      const auto found = state ? replacements.find(state->name) : replacements.end();
      if (found != replacements.end()) *state = replaced(*state, found->second);
    });
    copies.put(target.body, 0, 0);
    return restructure(unchanged(nest), Equivalent(result));
  }

 private:
  static bool is_parallel(const auto& l) { return std::holds_alternative<sdfg::Parallel>(l.schedule); }
  // If a loop inside is parallel, and none around.
  static bool is_filled_in_parallel(const Around& around, const Loop& target) {
    bool inside = false;
    sdfg::visit(std::as_const(target.body), [&](const Node& n) {
      const auto* l = std::get_if<Loop>(&n.value);
      inside = inside || (l && is_parallel(*l));
    });
    return inside && std::ranges::none_of(around.loops, [](const sdfg::ScheduleLoop& l) { return is_parallel(l); });
  }

  // What moves with the panel and is known to be written nowhere inside, by values.
  Result<std::vector<std::vector<Paneled>>> groups_of(const sdfg::Sdfg& sdfg, const Loop& target,
                                                      const Around& around) const {
    std::vector<std::vector<Paneled>> groups;
    for (const Operand& o : operands(sdfg, target, fold == "yes")) {
      auto p = paneled(o, panel.name);
      if (!p) continue;
      if (o.is_container_written) {
        const auto unwritten = is_unwritten(o.element.container, o.elements(), target.body, around.conditions);
        if (!unwritten || !*unwritten) continue;  // not shown to be, perhaps for want of budget
      }
      auto at = std::ranges::find_if(groups, [&](const auto& group) { return group[0].same_values(*p); });
      if (at == groups.end()) at = groups.insert(at, std::vector<Paneled>{});
      at->push_back(std::move(*p));
    }
    if (groups.empty())
      return fail(
          "pack.nothing",
          "nothing that is read inside " + loop.name + " moves with " + panel.name + " and is not written there",
          panel.name);
    return groups;
  }

  Result<std::vector<Expr>> shape_of(const std::string& of, const PanelBox& box, const Around& around) const {
    const auto panels = bounded(box.last - box.first, around.loops);
    if (!panels) return fail("pack.size", "the number of panels of " + of + " has no bound", panel.name);
    std::vector<Expr> shape = {Expr::ceil_div(*panels, box.width)};
    for (std::size_t d = 0; d < box.low.size(); ++d) {
      if (d == box.dim) continue;
      const auto extent = bounded(box.high[d] - box.low[d] + 1, around.loops);
      if (!extent) return fail("pack.size", "the extents of what is read of " + of + " have no bound", panel.name);
      shape.push_back(*extent);
    }
    shape.emplace_back(box.width);
    return shape;
  }

  static Memlet place(const sdfg::Container& buffer, const PanelBox& box, const Expr& panel,
                      const std::vector<Expr>& element) {
    std::vector<Expr> at = {Expr::floor_div(panel - box.first, box.width)};
    for (std::size_t d = 0; d < element.size(); ++d)
      if (d != box.dim) at.push_back(element[d] - box.low[d]);
    at.push_back(element[box.dim] - box.shift - panel);
    return sdfg::element(buffer.name, at);
  }

  // The loops that fill the buffer, in the order in which it lies: panels, the other dimensions, the points of a panel,
  // and behind the limit its padding.
  static Node copy(const sdfg::Container& from, const sdfg::Container& buffer, const PanelBox& box, const Paneled& p,
                   bool parallel, normal::Names& names) {
    const std::size_t rank = box.low.size();
    const std::string stem = from.name + "_p";
    const auto fresh = [&](const std::string& ending) { return Expr::symbol(names.fresh(stem + ending)); };
    const Expr panel = fresh("");
    std::vector<Expr> element;
    for (std::size_t d = 0; d < rank; ++d) element.push_back(fresh(std::to_string(d)));
    const auto filled = [&](const std::vector<Expr>& from_element, const std::vector<Expr>& to, const char* state) {
      std::vector<Memlet> inputs = {sdfg::element(from.name, from_element)};
      inputs.insert(inputs.end(), p.operand.others.begin(), p.operand.others.end());
      return Node(
          sdfg::assignment(names.fresh(state + from.name), place(buffer, box, panel, to), p.operand.code, inputs));
    };
    const auto loop_over = [](const Expr& symbol, const Expr& begin, const Expr& end) {
      return sdfg::counted(*symbol.as_symbol(), begin, simplest(end));
    };
    const Expr begin = panel + box.shift, end = begin + box.width;
    // In that order: what the bounds of a dimension need is enumerated outside of it.
    const auto bounds = [&](std::size_t d) { return box.bounds(d, panel, element); };
    const Expr last = box.limit ? *box.limit : bounds(box.dim).second;
    const bool from_begin = box.limit || bounds(box.dim).first == box.first + box.shift;
    Loop points = loop_over(element[box.dim], from_begin ? begin : Expr::max(begin, bounds(box.dim).first),
                            Expr::min(end, last + 1));
    // Where the points of a panel are apart in the container, lanes walk down them and a loop inside runs along the
    // dimension that is contiguous: squares that are transposed in registers.
    const auto contiguous = static_cast<std::size_t>(std::ranges::find(from.strides, Expr(1)) - from.strides.begin());
    const std::int64_t bytes = sdfg::info(from.type).bytes;
    const bool transposed = contiguous < rank && contiguous != box.dim && box.from.empty() && bytes >= 4 &&
                            box.width * bytes >= smallest_square;
    const auto along = [&](const std::vector<Expr>& at) {
      return transposed ? std::vector{loop_over(at[contiguous], box.low[contiguous], box.high[contiguous] + 1)}
                        : std::vector<Loop>{};
    };
    if (transposed || (contiguous == box.dim && box.width > 1)) points.schedule = sdfg::Simd{};
    std::vector<Node> body =
        in_loops({std::move(points)}, in_loops(along(element), {filled(element, element, "pack_")}));
    if (box.limit) {
      std::vector<Expr> padded_from = element, padded_to = element;
      padded_from[box.dim] = *box.limit;
      padded_to[box.dim] = fresh("_pad");
      if (transposed) padded_from[contiguous] = padded_to[contiguous] = fresh("_pad" + std::to_string(contiguous));
      // Whole panels may lie behind the limit.
      Loop padding = loop_over(padded_to[box.dim], simplest(Expr::max(begin, Expr::min(end, last + 1))), end);
      body.push_back(
          in_loops(along(padded_to), in_loops({std::move(padding)}, {filled(padded_from, padded_to, "pad_")}))[0]);
    }
    std::vector<Loop> loops = {sdfg::counted(*panel.as_symbol(), box.first, box.last)};
    loops[0].step = box.width;
    if (parallel) loops[0].schedule = sdfg::Parallel{};
    for (std::size_t d = 0; d < rank; ++d)
      if (d != box.dim && !(transposed && d == contiguous))
        loops.push_back(loop_over(element[d], bounds(d).first, bounds(d).second + 1));
    return where(box.guard, in_loops(loops, std::move(body)))[0];
  }
};

constinit const StepInfo pack_step = declare<Pack>();

}  // namespace sous::transforms
