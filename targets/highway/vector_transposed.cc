// Strided sides through in-register transposes: where the lanes run down a column and a loop inside runs along the
// rows, a block of as many iterations as there are lanes loads one vector of each row and turns the square.
#include <algorithm>

#include "sdfg/planted_fault.h"
#include "targets/highway/vector_loop.h"

namespace sous::targets {

namespace {

// Each needs a register for every lane.
constexpr std::size_t max_transposed = 2;

}  // namespace

// Those reads of the loop's own statements that are strided from lane to lane and contiguous from iteration to
// iteration, of what nothing in the vector loop writes: they may come a block of iterations ahead.
std::vector<sdfg::Memlet> VectorLoop::transposable(const sdfg::Loop& loop) const {
  std::vector<sdfg::Memlet> out;
  if (!mask_.empty() || conditional_ || loop.step != 1 || std::holds_alternative<sdfg::Simd>(loop.schedule)) return out;
  for (const sdfg::Node& node : loop.body.nodes) {
    const auto* state = std::get_if<sdfg::State>(&node.value);
    if (state == nullptr) return {};
    for (const sdfg::TaskletView& tasklet : sdfg::tasklets(*state)) {
      for (const sdfg::Memlet* memlet : tasklet.inputs) {
        const sdfg::Container& c = expressions_.container(memlet->container);
        if (variables_.contains(c.name) || sdfg::info(c.type).bytes < 4 || is_written(c.name)) continue;
        const sdfg::Expr place = expressions_.offset(*memlet);
        if (!place.reads().empty() || access(*memlet).kind != Access::Kind::Strided) continue;
        if (sdfg::coefficient_of(place, loop.symbol) != sdfg::Expr(1)) continue;
        const bool known = std::ranges::any_of(
            out, [&](const sdfg::Memlet& m) { return m.container == c.name && expressions_.offset(m) == place; });
        if (!known) out.push_back(*memlet);
      }
    }
  }
  if (out.size() > max_transposed) out.clear();
  return out;
}

// Blocks of iterations with their transposed reads, then the iterations that are left.
void VectorLoop::transposed_loop(const sdfg::Loop& loop, const std::vector<sdfg::Memlet>& reads) {
  Lines& out = printer_.out;
  const std::string variable = names_.of(loop.symbol);
  const std::string block = names_.fresh(variable + "_block"), at = names_.fresh(variable + "_at");
  const std::string vectors = "hn::MaxLanes(" + mask_tag() + ")";
  const std::string count = "static_cast<int64_t>(" + vectors + ")";
  out.open("");
  const std::string end = printer_.bound(loop.end, variable + "_end");
  out.line("int64_t " + block + " = " + expressions_.index(loop.begin).text + ";");
  out.open("for (; " + block + " + " + count + " <= " + end + "; " + block + " += " + count + ")");
  const auto outside = transposed_;
  expressions_.enter(loop);
  for (const sdfg::Memlet& memlet : reads) {
    const std::string tile = names_.fresh(names_.of(memlet.container) + "_tile");
    const std::string d = tag(expressions_.container(memlet.container).type);
    const std::string element = expressions_.element(memlet).text;
    const auto symbol = expressions_.symbols.find(loop.symbol);
    const auto before = symbol != expressions_.symbols.end() ? std::optional(symbol->second) : std::nullopt;
    expressions_.symbols[loop.symbol] = {block};
    out.line("hn::Vec<decltype(" + d + ")> " + tile + "[" + vectors + "];");
    out.line("sous::load_transposed(" + d + ", " + pointer(memlet, true) + ", " +
             expressions_.index(access(memlet).stride).text + ", " + tile + ");");
    for (const sdfg::Memlet& later : expressions_.ahead(memlet))
      out.line("sous::prefetch_rows(" + d + ", " + pointer(later, true) + ", " +
               expressions_.index(access(memlet).stride).text + ");");
    if (before) {
      expressions_.symbols[loop.symbol] = *before;
    } else {
      expressions_.symbols.erase(loop.symbol);
    }
    transposed_[element] = tile + "[" + at + "]";
  }
  out.line("#pragma GCC unroll 16");
  out.open("for (int64_t " + at + " = 0; " + at + " < " + count + "; ++" + at + ")");
  out.line("[[maybe_unused]] const int64_t " + variable + " = " + block + " + " + at + ";");
  printer_.body(loop);
  out.close();
  expressions_.leave(loop);
  out.close();
  transposed_ = outside;
  if (!planted(Fault::transposed_rest_lost)) {
    out.open("for (int64_t " + variable + " = " + block + "; " + variable + " < " + end + "; ++" + variable + ")");
    printer_.body(loop);
    out.close();
  }
  out.close();
}

}  // namespace sous::targets
