// Inner loops whose bounds differ from lane to lane: triangles, bands, windows. As the IR defines lockstep, the lanes
// run the iterations of one value together, each those that it has. Most are common to all lanes and need no mask:
// three loops, of which the first and the last run at most as many iterations as the bounds of the lanes lie apart.
#include <algorithm>
#include <cstdlib>

#include "targets/highway/vector_loop.h"

namespace sous::targets {

namespace {

// Of several values as text, the least or the greatest.
std::string extreme(const std::string& function, const std::vector<std::string>& values) {
  std::string out = values.front();
  for (std::size_t k = 1; k < values.size(); ++k) out = function + "(" + out + ", " + values[k] + ")";
  return out;
}

}  // namespace

// What bounds the loop on one side, each linear in the lane's number; nothing where one is not, or lies in memory,
// where the bounds of two lanes may have nothing to do with each other.
std::optional<std::vector<VectorLoop::LaneBound>> VectorLoop::lane_bounds(const std::vector<sdfg::Expr>& pieces) const {
  std::vector<LaneBound> out;
  for (const sdfg::Expr& piece : pieces) {
    LaneBound bound{.first = piece};
    if (differs(piece)) {
      const auto coefficient = sdfg::coefficient_of(piece, loop_.symbol);
      const auto constant = coefficient ? coefficient->constant() : std::nullopt;
      if (!constant || !piece.reads().empty()) return std::nullopt;
      if (__builtin_mul_overflow(*constant, loop_.step, &bound.by) || std::abs(bound.by) > most_apart)
        return std::nullopt;
    }
    out.push_back(bound);
  }
  return out;
}

// A constant with the bound's value in the first lane, for what follows.
void VectorLoop::name_bounds(std::vector<LaneBound>& bounds, const std::string& hint) {
  for (LaneBound& bound : bounds) {
    bound.name = names_.fresh(hint);
    printer_.out.line("const int64_t " + bound.name + " = " + expressions_.index(bound.first).text + ";");
  }
}

// The lanes for which the loop has begun, or not ended, at the value of its variable.
std::string VectorLoop::lanes_within(const LaneBound& bound, const std::string& variable, bool is_end) {
  const std::int64_t apart = std::abs(bound.by);
  const auto over_apart = [&](const std::string& distance) {
    return apart == 1 ? distance : "sous::floor_div(" + distance + ", " + std::to_string(apart) + ")";
  };
  const std::string ahead = variable + " - " + bound.name, behind = bound.name + " - " + variable;
  // Of lanes whose bounds ascend, the first ones are at most the variable; of others, those from some lane on.
  const std::string count = bound.by > 0 ? over_apart(ahead) + " + 1"
                                         : over_apart(apart == 1 ? behind : behind + " + " + std::to_string(apart - 1));
  const std::string lanes = "static_cast<int64_t>(hn::Lanes(" + mask_tag() + "))";
  const std::string first =
      "hn::FirstN(" + mask_tag() + ", static_cast<size_t>(sous::imin(sous::imax(" + count + ", 0), " + lanes + ")))";
  return (bound.by > 0) == is_end ? "hn::Not(" + first + ")" : first;
}

void VectorLoop::ragged_loop(const sdfg::Loop& loop) {
  auto begins = lane_bounds(sdfg::max_pieces(loop.begin)), ends = lane_bounds(sdfg::min_pieces(loop.end));
  if (!begins || !ends || loop.step != 1)
    return fail("the bounds of the loop over " + loop.symbol + " differ from lane to lane");
  Lines& out = printer_.out;
  const std::string variable = names_.of(loop.symbol);
  out.open("");
  name_bounds(*begins, variable + "_from");
  name_bounds(*ends, variable + "_to");
  // Of the lanes, the least (or greatest) value of each bound.
  const auto values = [&](const std::vector<LaneBound>& bounds, bool least) {
    std::vector<std::string> texts;
    for (const LaneBound& b : bounds) {
      const std::string last = (b.by < 0 ? " - " : " + ") + std::to_string(std::abs(b.by)) +
                               " * (static_cast<int64_t>(hn::Lanes(" + mask_tag() + ")) - 1)";
      texts.push_back(b.name + (b.by != 0 && (b.by < 0) == least ? last : ""));
    }
    return texts;
  };
  std::string within;
  const auto narrow = [&](const std::vector<LaneBound>& bounds, bool is_end) {
    for (const LaneBound& bound : bounds) {
      if (bound.by == 0) continue;
      const std::string lanes = lanes_within(bound, variable, is_end);
      within = within.empty() ? lanes : "hn::And(" + within + ", " + lanes + ")";
    }
  };
  narrow(*begins, false);
  narrow(*ends, true);
  const std::string last = names_.fresh(variable + "_last");
  out.line("const int64_t " + last + " = " + extreme("sous::imin", values(*ends, false)) + ";");
  out.line("int64_t " + variable + " = " + extreme("sous::imax", values(*begins, true)) + ";");
  const auto run = [&](const std::string& end, bool masked) {
    out.open("for (; " + variable + " < " + end + "; ++" + variable + ")");
    if (masked) {
      under_mask(mask_.empty() ? within : "hn::And(" + mask_ + ", " + within + ")", [&] { printer_.body(loop); });
    } else {
      printer_.body(loop);
    }
    out.close();
  };
  // Copies of copies would be many.
  if (!in_ragged_) {
    in_ragged_ = true;
    if (std::ranges::any_of(*begins, [](const LaneBound& b) { return b.by != 0; }))
      run("sous::imin(" + extreme("sous::imax", values(*begins, false)) + ", " + last + ")", true);
    run(extreme("sous::imin", values(*ends, true)), false);
    in_ragged_ = false;
  }
  run(last, true);
  out.close();
}

// Runs the printed statements for these lanes alone, and not at all where there are none: what all lanes share must not
// be loaded then, either.
void VectorLoop::under_mask(const std::string& active, const std::function<void()>& print) {
  const std::string name = names_.fresh("active");
  const std::string outer_mask = mask_;
  const bool outer_conditional = conditional_;
  printer_.out.line("const auto " + name + " = " + active + ";");
  printer_.out.open("if (!hn::AllFalse(" + mask_tag() + ", " + name + "))");
  mask_ = name;
  conditional_ = true;
  print();
  printer_.out.close();
  mask_ = outer_mask;
  conditional_ = outer_conditional;
}

}  // namespace sous::targets
