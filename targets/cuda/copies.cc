// Copies that the device makes by itself, by the threads of a block in a line.
#include <algorithm>

#include "sdfg/planted_fault.h"
#include "targets/cuda/line.h"

namespace sous::targets {

using sdfg::Expr;
using sdfg::Loop;

std::optional<Expr> Line::between_turns(const sdfg::Memlet& m) const {
  if (once_ != turns_ || turns_ < 2 || turns_ * count_ != work_) return std::nullopt;
  std::int64_t below = 1, by = 0;
  std::size_t moves = 0;  // the dimension
  for (; moves < trips_.size() && by == 0; ++moves) {
    if (count_ % below == 0 && count_ / below < trips_[moves]) by = count_ / below;
    below *= trips_[moves];
  }
  if (by == 0 || trips_[--moves] != by * turns_) return std::nullopt;
  std::map<std::string, Expr> later;
  for (const Loop* l : band_.loops) {
    const std::int64_t each = dimension_of(*l) == 0 ? together_ : 1;
    const Expr by_itself = static_cast<std::size_t>(dimension_of(*l)) == moves ? by * each * l->step : 0;
    later[l->symbol] = Expr::symbol(l->symbol) + by_itself + l->begin.substitute(later) - l->begin;
  }
  const Expr here = printer_.expressions.offset(m), apart = here.substitute(later) - here;
  return uses_any(apart, band_) || !apart.reads().empty() ? std::nullopt : std::optional(apart);
}

std::optional<Line::Clamped> Line::clamped(sdfg::Memlet from) const {
  Clamped result;
  std::map<std::string, Expr> there;
  for (const Loop* l : band_.loops) {
    const Expr at = Expr::symbol(l->symbol);
    if (has_all(*l)) {
      there[l->symbol] = at + l->begin.substitute(there) - l->begin;
      continue;
    }
    for (const Expr* bound : {&l->begin, &l->end})
      if (uses_any(*bound, band_) || !bound->reads().empty()) return std::nullopt;
    if (l->step < 0) return std::nullopt;
    there[l->symbol] = Expr::min(at, l->begin + Expr(l->step) * Expr::floor_div(l->end - 1 - l->begin, Expr(l->step)));
    result.condition += (result.condition.empty() ? "" : " && ") +
                        printer_.expressions.index(l->end - l->begin).in(Binding::Sum) + " > 0";
  }
  for (sdfg::Expr& d : from.subset) d = d.substitute(there);
  result.from = std::move(from);
  return result.condition.empty() ? std::nullopt : std::optional(std::move(result));
}

std::optional<std::pair<Line, std::string>> Line::by_accesses() const {
  constexpr std::int64_t bytes = 16;
  const sdfg::Memlet& from = assignment_->inputs[static_cast<std::size_t>(assignment_->code.input)];
  const std::int64_t together = bytes / sdfg::info(printer_.expressions.container(from.container).type).bytes;
  const auto side_by_side = std::ranges::find(band_.loops, 0, [](const Loop* l) { return dimension_of(*l); });
  if (together_ != 1 || side_by_side == band_.loops.end() || trips_[0] % together != 0 || !whole_) return std::nullopt;
  std::map<std::string, Expr> first;
  for (const Loop* l : band_.loops) first[l->symbol] = l->begin.substitute(first);
  std::string condition = "sous::gpu::access_begins(&" +
                          at_first(whole_->inputs[static_cast<std::size_t>(assignment_->code.input)], first) + ")";
  for (const sdfg::Memlet* m : {&std::as_const(assignment_->out),
                                &std::as_const(whole_->inputs[static_cast<std::size_t>(assignment_->code.input)])}) {
    const Expr offset = printer_.expressions.offset(*m);
    const bool shared = m == &assignment_->out;
    if (shared)
      condition += " && " + printer_.expressions.index(offset.substitute(first)).in(Binding::Product) + " % " +
                   std::to_string(together) + " == 0";
    for (const Loop* l : band_.loops) {
      const auto apart = sdfg::coefficient_of(offset, l->symbol);
      if (!apart || l->step != 1 || uses_any(*apart, band_) || !apart->reads().empty()) return std::nullopt;
      if (l == *side_by_side ? *apart != Expr(1) : l->begin.uses((*side_by_side)->symbol)) return std::nullopt;
      if (l == *side_by_side || apart->constant().value_or(1) % together == 0) continue;
      condition +=
          " && " + printer_.expressions.index(*apart).in(Binding::Product) + " % " + std::to_string(together) + " == 0";
    }
  }
  return std::pair(Line(printer_, meeting_, band_, trips_, Through::Nothing, together), condition);
}

std::string Line::at_first(sdfg::Memlet m, const std::map<std::string, Expr>& first) const {
  for (sdfg::Expr& d : m.subset) d = d.substitute(first);
  return printer_.expressions.element(m).text;
}

void Line::copies() const {
  const auto wide = by_accesses();
  const auto narrow = [&] {
    passes([&](bool whole) {
      copies((whole ? whole_->inputs : assignment_->inputs)[static_cast<std::size_t>(assignment_->code.input)], whole);
    });
  };
  if (!wide) return narrow();
  const std::string begins = planted(Fault::gpu_access_unaligned) ? "true" : wide->second;
  const std::string and_whole = whole_->condition.empty() ? "" : whole_->condition + " && ";
  printer_.out.open("if (" + and_whole + begins + ")");
  wide->first.all_copies();
  printer_.out.otherwise();
  narrow();
  printer_.out.close();
}

// Where every iteration is there.
void Line::all_copies() const {
  printer_.out.open("for (unsigned " + first_ + " = " + own_place(meeting_) + "; " + first_ + " < " +
                    std::to_string(work_) + "; " + first_ + " += " + std::to_string(once_ * count_) + ")");
  copies(whole_->inputs[static_cast<std::size_t>(assignment_->code.input)], true);
  printer_.out.close();
}

// Where all turns are there, an address is computed once, and the others are a constant apart. Else no turn asks
// whether it is: what lies in places that no iteration has is never looked at.
void Line::copies(const sdfg::Memlet& from, bool whole) const {
  const auto address = [&](const sdfg::Memlet& m) { return "&" + printer_.expressions.element(m).text; };
  const sdfg::Memlet& to = assignment_->out;
  const std::string copy = together_ == 1 ? "sous::gpu::copy_async(" : "sous::gpu::copy_access_async(";
  if (const auto all = whole ? std::nullopt : clamped(from)) {
    printer_.out.open("if (" + all->condition + ")");
    turns(true, [&] { printer_.out.line(copy + address(to) + ", " + address(all->from) + ");"); });
    return printer_.out.close();
  }
  const auto there = between_turns(to), here = between_turns(from);
  if (!whole || !there || !here)
    return turns(whole, [&] { printer_.out.line(copy + address(to) + ", " + address(from) + ");"); });
  Lines& out = printer_.out;
  Names& names = printer_.expressions.names();
  const std::string source = names.fresh("source"), into = names.fresh("into");
  out.line("constexpr unsigned " + turn_ + " = 0;");
  print_each(
      printer_, band_, [&](const Loop& l) { return place(l); },
      [&] {
        const auto times = [&](const Expr& apart) {
          return " + " + value_ + " * (" + printer_.expressions.index(apart).text + ")";
        };
        out.line("auto* const " + into + " = " + address(to) + ";");
        out.line("auto* const " + source + " = " + address(from) + ";");
        out.line("SOUS_UNROLLED");
        out.line("for (int64_t " + value_ + " = 0; " + value_ + " < " + std::to_string(turns_) + "; ++" + value_ +
                 ") " + copy + into + times(*there) + ", " + source + times(*here) + ");");
      },
      true);
}

}  // namespace sous::targets
