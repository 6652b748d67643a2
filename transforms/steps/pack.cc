// Packing (Goto and van de Geijn 2008): what a tile of loops reads is copied into a buffer in the order in which the
// loops read it: panels of as many rows (or columns) as the innermost tile has, one behind the other, each contiguous.
//
// Condition. Nothing inside the loop may write the elements that are packed, so a copy made at the start of its
// iteration has the value that every read would have seen; a folded value is the same expression over the same values.
// That the buffer holds exactly what is read, and that none of it is written, is proven in panels.cc.
#include <algorithm>

#include "sdfg/polyhedral.h"
#include "transforms/panels.h"
#include "transforms/step.h"
#include "transforms/tile_bounds.h"

namespace sous::transforms {

namespace {

using sdfg::Expr;
using sdfg::Loop;
using sdfg::Memlet;
using sdfg::ScalarExpr;

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
  static constexpr bool reassociates = false;
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
                                 "nothing that changes inside the loop is packed, instead of the element",
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
    sdfg::Sdfg result = sdfg::lower(nest.lifted, nest.tree);
    Outside outside;
    for (const Expr& e : result.assumptions)
      if (sdfg::is_quasi_affine(e)) outside.conditions.push_back(sdfg::at_most(0, e));
    Loop* target = find_with_outside(result.root, loop.name, outside);
    if (target == nullptr) return fail("pack.scheduled", loop.name + " is inside something opaque", loop.name);
    const Loop* tiles = nullptr;
    bool parallel_inside = false, on_gpu = false;
    sdfg::visit(target->body, [&](const sdfg::Node& n) {
      const auto* l = std::get_if<Loop>(&n.value);
      if (l && l->symbol == panel.name) tiles = l;
      parallel_inside = parallel_inside || (l && std::holds_alternative<sdfg::Parallel>(l->schedule));
      on_gpu = on_gpu || (l && (std::holds_alternative<sdfg::GpuGrid>(l->schedule) ||
                                std::holds_alternative<sdfg::GpuBlock>(l->schedule)));
    });
    SOUS_ASSERT(tiles);
    const auto is_plain = [](const Loop& l) {
      return std::holds_alternative<sdfg::Sequential>(l.schedule) || std::holds_alternative<sdfg::Parallel>(l.schedule);
    };
    if (on_gpu || !is_plain(*tiles) || !std::ranges::all_of(outside.loops, is_plain) || tiles->step < 0)
      return fail("pack.scheduled", "a loop around the panels runs in lanes, unrolled, backwards or on a GPU",
                  panel.name);
    for (const Loop& l : outside.loops)
      parallel_inside = parallel_inside && !std::holds_alternative<sdfg::Parallel>(l.schedule);

    std::vector<std::vector<Paneled>> groups;
    for (const Operand& o : operands(result, *target, fold == "yes"))
      if (auto p = paneled(o, panel.name)) {
        if (o.is_container_written) {
          const auto unwritten = is_unwritten(*p, *target, outside);
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

    const std::int64_t step = tiles->step;  // the loop itself moves when the copies are put before it
    std::ptrdiff_t copies = 0;
    std::map<std::string, std::vector<Replacement>> replacements;
    std::optional<Error> no_box;
    for (const auto& group : groups) {
      const Result<Box> found = box_of_panels(group, panel.name, step, outside);
      if (!found && found.error().code != "pack.footprint") return std::unexpected(found.error());
      if (!found) {  // stays where it is
        no_box = found.error();
        continue;
      }
      const Box& box = *found;
      TRY(sdfg::Container buffer, container(result, group[0], box, outside));
      for (const Paneled& p : group) replacements[p.operand.state].push_back({p.operand.value, packed(buffer, box, p)});
      sdfg::Node filled = copy(result, buffer, box, group[0], parallel_inside);
      // In place at once: their names are taken from here on.
      target->body.nodes.insert(target->body.nodes.begin() + copies++, std::move(filled));
      target->privates.push_back(buffer.name);
      result.containers.push_back(std::move(buffer));
    }
    if (copies == 0) return std::unexpected(*no_box);
    rewrite(target->body, replacements);
    return restructure(unchanged(nest), result);
  }

 private:
  Result<sdfg::Container> container(const sdfg::Sdfg& sdfg, const Paneled& p, const Box& box,
                                    const Outside& outside) const {
    const std::string& of = p.operand.element.container;
    const auto panels = bounded(box.last - box.first, outside.loops);
    if (!panels) return fail("pack.size", "the number of panels of " + of + " has no bound", panel.name);
    std::vector<Expr> shape = {Expr::ceil_div(*panels, box.width)};
    for (std::size_t d = 0; d < box.low.size(); ++d) {
      if (d == box.dim) continue;
      const auto extent = bounded(box.high[d] - box.low[d] + 1, outside.loops);
      if (!extent) return fail("pack.size", "the extents of what is read of " + of + " have no bound", panel.name);
      shape.push_back(*extent);
    }
    shape.emplace_back(box.width);
    return sdfg::Container{.name = unused(sdfg, of + "_pack"),
                           .type = p.operand.code.type,
                           .shape = shape,
                           .strides = sdfg::row_major(shape),
                           .offset = 0,
                           .storage = sdfg::Storage::heap,
                           .transient = true,
                           .constant = false,
                           .dead = false,
                           .alias_class = 0};
  }

  static Memlet place(const sdfg::Container& buffer, const Box& box, const Expr& panel,
                      const std::vector<Expr>& element) {
    std::vector<Expr> at = {Expr::floor_div(panel - box.first, box.width)};
    for (std::size_t d = 0; d < element.size(); ++d)
      if (d != box.dim) at.push_back(element[d] - box.low[d]);
    at.push_back(element[box.dim] - box.shift - panel);
    return {.container = buffer.name, .subset = sdfg::point(at), .combine = std::nullopt};
  }

  Memlet packed(const sdfg::Container& buffer, const Box& box, const Paneled& p) const {
    std::vector<Expr> element;
    for (std::size_t d = 0; d < box.low.size(); ++d) element.push_back(p.subscript(d));
    return place(buffer, box, Expr::symbol(panel.name), element);
  }

  // The loops that fill the buffer, in the order in which it lies: panels, the other dimensions, the points of a panel,
  // and behind the limit its padding.
  sdfg::Node copy(const sdfg::Sdfg& sdfg, const sdfg::Container& buffer, const Box& box, const Paneled& p,
                  bool parallel) const {
    const sdfg::Container& from = *sdfg.find(p.operand.element.container);
    const std::size_t rank = box.low.size();
    const std::string stem = from.name + "_p";
    const Expr panel = Expr::symbol(unused(sdfg, stem));
    std::vector<Expr> element;
    for (std::size_t d = 0; d < rank; ++d) element.push_back(Expr::symbol(unused(sdfg, stem + std::to_string(d))));
    const auto filled = [&](const std::vector<Expr>& from_element, const std::vector<Expr>& to, const char* state) {
      std::vector<Memlet> inputs = {{.container = from.name, .subset = sdfg::point(from_element), .combine = {}}};
      inputs.insert(inputs.end(), p.operand.others.begin(), p.operand.others.end());
      return sdfg::Node(sdfg::assignment(unused_state(sdfg, state + from.name), place(buffer, box, panel, to),
                                         p.operand.code, inputs));
    };
    const auto loop_over = [](const Expr& symbol, const Expr& begin, const Expr& end, std::vector<sdfg::Node> body) {
      return Loop{.symbol = *symbol.as_symbol(),
                  .begin = begin,
                  .end = simplest(end),
                  .step = 1,
                  .schedule = {},
                  .privates = {},
                  .reductions = {},
                  .body = {std::move(body)}};
    };
    const Expr begin = panel + box.shift, end = begin + box.width;
    // In that order: what the bounds of a dimension need is enumerated outside of it.
    const auto bounds = [&](std::size_t d) { return box.bounds(d, panel, element); };
    const Expr last = box.limit ? *box.limit : bounds(box.dim).second;
    const bool from_begin = box.limit || bounds(box.dim).first == box.first + box.shift;
    Loop points = loop_over(element[box.dim], from_begin ? begin : Expr::max(begin, bounds(box.dim).first),
                            Expr::min(end, last + 1), {filled(element, element, "pack_")});
    // Where the points of a panel are apart in the container, lanes walk down them and a loop inside runs along the
    // dimension that is contiguous: squares that are transposed in registers.
    const auto contiguous = static_cast<std::size_t>(std::ranges::find(from.strides, Expr(1)) - from.strides.begin());
    const std::int64_t bytes = sdfg::info(from.type).bytes;
    const bool transposed = contiguous < rank && contiguous != box.dim && box.from.empty() && bytes >= 4 &&
                            box.width * bytes >= smallest_square;
    const auto along = [&](const Expr& symbol, std::vector<sdfg::Node> inside) {
      return std::vector<sdfg::Node>{
          loop_over(symbol, box.low[contiguous], box.high[contiguous] + 1, std::move(inside))};
    };
    if (transposed) points.body.nodes = along(element[contiguous], std::move(points.body.nodes));
    if (transposed || (contiguous == box.dim && box.width > 1)) points.schedule = sdfg::Simd{};
    std::vector<sdfg::Node> body = {sdfg::Node(std::move(points))};
    if (box.limit) {
      std::vector<Expr> padded_from = element, padded_to = element;
      padded_from[box.dim] = *box.limit;
      padded_to[box.dim] = Expr::symbol(unused(sdfg, stem + "_pad"));
      if (transposed)
        padded_from[contiguous] = padded_to[contiguous] =
            Expr::symbol(unused(sdfg, stem + "_pad" + std::to_string(contiguous)));
      // Whole panels may lie behind the limit.
      std::vector<sdfg::Node> padding = {loop_over(padded_to[box.dim],
                                                   simplest(Expr::max(begin, Expr::min(end, last + 1))), end,
                                                   {filled(padded_from, padded_to, "pad_")})};
      if (transposed) padding = along(padded_to[contiguous], std::move(padding));
      body.push_back(std::move(padding[0]));
    }
    for (std::size_t d = rank; d-- > 0;)
      if (d != box.dim && !(transposed && d == contiguous))
        body = {loop_over(element[d], bounds(d).first, bounds(d).second + 1, std::move(body))};
    Loop panels{.symbol = *panel.as_symbol(),
                .begin = box.first,
                .end = box.last,
                .step = box.width,
                .schedule = {},
                .privates = {},
                .reductions = {},
                .body = {}};
    if (parallel) panels.schedule = sdfg::Parallel{};
    panels.body.nodes = std::move(body);
    body = {sdfg::Node(std::move(panels))};
    if (box.guard.empty()) return body[0];
    return sdfg::If{
        .condition = {.code = all_of(box.guard), .inputs = {}}, .then_body = {std::move(body)}, .else_body = {}};
  }

  static void rewrite(sdfg::Region& region, const std::map<std::string, std::vector<Replacement>>& with) {
    for (sdfg::Node& n : region.nodes)
      match(
          n.value,
          [&](sdfg::State& s) {
            if (const auto found = with.find(s.name); found != with.end()) s = replaced(s, found->second);
          },
          [&](Loop& l) { rewrite(l.body, with); },
          [&](sdfg::If& i) {
            rewrite(i.then_body, with);
            rewrite(i.else_body, with);
          },
          [](sdfg::While&) {}, [](sdfg::Return&) {});
  }

  static std::string numbered(const std::set<std::string>& used, const std::string& wish) {
    std::string name = wish;
    for (int n = 2; used.contains(name); ++n) name = wish + "_" + std::to_string(n);
    return name;
  }
  static std::string unused(const sdfg::Sdfg& sdfg, const std::string& wish) {
    std::set<std::string> used(sdfg.symbols.begin(), sdfg.symbols.end());
    for (const sdfg::Container& c : sdfg.containers) used.insert(c.name);
    sdfg::visit(sdfg.root, [&](const sdfg::Node& n) {
      if (const auto* l = std::get_if<Loop>(&n.value)) used.insert(l->symbol);
    });
    return numbered(used, wish);
  }
  static std::string unused_state(const sdfg::Sdfg& sdfg, const std::string& wish) {
    std::set<std::string> used;
    sdfg::visit(sdfg.root, [&](const sdfg::Node& n) {
      if (const auto* s = std::get_if<sdfg::State>(&n.value)) used.insert(s->name);
    });
    return numbered(used, wish);
  }
};

}  // namespace

constinit const StepInfo pack_step = declare<Pack>();

}  // namespace sous::transforms
