// Strided sides through in-register transposes: where the lanes run down a column and a loop inside runs along the
// rows, a block of as many iterations as there are lanes loads one vector of each row and turns the square.
#include <algorithm>

#include "sdfg/planted_fault.h"
#include "targets/highway/vector_loop.h"

namespace sous::targets {

namespace {

// Each needs a register for every lane; of squares, which stay in memory, more will do.
constexpr std::size_t max_transposed = 2, max_in_squares = 4;

}  // namespace

// Those reads of the statements that are strided from lane to lane and contiguous from iteration to iteration of the
// loop `along`, one way or the other, of what nothing in the vector loop writes before: they may come a block of
// iterations ahead.
std::vector<sdfg::Memlet> VectorLoop::transposable(const sdfg::Region& body, const std::string& along) const {
  std::vector<sdfg::Memlet> out;
  std::set<std::string> written;
  for (const sdfg::Node& node : body.nodes) {
    const auto* state = std::get_if<sdfg::State>(&node.value);
    if (const auto* branch = std::get_if<sdfg::If>(&node.value))
      for (const sdfg::Region* arm : {&branch->then_body, &branch->else_body})
        written.merge(sdfg::touched(*arm).written);
    if (state == nullptr) continue;
    for (const sdfg::TaskletView& tasklet : sdfg::tasklets(*state)) {
      for (const sdfg::Memlet* memlet : tasklet.inputs) {
        const sdfg::Container& c = expressions_.container(memlet->container);
        if (variables_.contains(c.name) || sdfg::info(c.type).bytes < 4 || written.contains(c.name) ||
            (is_written(c.name) && !is_ahead(*memlet)) || is_passed(*memlet))
          continue;
        const sdfg::Expr place = expressions_.offset(*memlet);
        if (!place.reads().empty() || access(*memlet).kind != Access::Kind::Strided) continue;
        if (const auto by = sdfg::coefficient_of(place, along); by != sdfg::Expr(1) && by != sdfg::Expr(-1)) continue;
        const bool known = std::ranges::any_of(
            out, [&](const sdfg::Memlet& m) { return m.container == c.name && expressions_.offset(m) == place; });
        if (!known) out.push_back(*memlet);
      }
      for (const sdfg::Memlet* memlet : tasklet.outputs) written.insert(memlet->container);
    }
  }
  if (out.size() > (columns_ != nullptr ? max_in_squares : max_transposed)) out.clear();
  return out;
}

std::vector<sdfg::Memlet> VectorLoop::transposable(const sdfg::Loop& loop) const {
  const bool plain =
      mask_.empty() && !conditional_ && loop.step == 1 && !std::holds_alternative<sdfg::Simd>(loop.schedule) &&
      std::ranges::all_of(loop.body.nodes,
                          [](const sdfg::Node& node) { return std::holds_alternative<sdfg::State>(node.value); });
  return plain ? transposable(loop.body, loop.symbol) : std::vector<sdfg::Memlet>();
}

std::string VectorLoop::in_tile(const sdfg::Memlet& memlet, const std::string& along, const std::string& at) {
  return is_backward(memlet, along) ? "hn::MaxLanes(" + mask_tag() + ") - 1 - " + at : at;
}

Text VectorLoop::first_in_tile(const sdfg::Memlet& memlet, const std::string& along, const std::string& block) {
  if (!is_backward(memlet, along)) return {block};
  return {block + " + static_cast<int64_t>(hn::MaxLanes(" + mask_tag() + ")) - 1", Binding::Sum};
}

bool VectorLoop::is_backward(const sdfg::Memlet& memlet, const std::string& along) const {
  return sdfg::coefficient_of(expressions_.offset(memlet), along) == sdfg::Expr(-1);
}

// Loads a block of iterations of the loop `along` from `block` on; iteration `at` of it takes them from there.
void VectorLoop::load_transposed(const std::vector<sdfg::Memlet>& reads, const std::string& along,
                                 const std::string& block, const std::string& at) {
  Lines& out = printer_.out;
  for (const sdfg::Memlet& memlet : reads) {
    const std::string tile = names_.fresh(names_.of(memlet.container) + "_tile");
    const std::string d = tag(expressions_.container(memlet.container).type);
    const std::string element = expressions_.element(memlet).text;
    const auto symbol = expressions_.symbols.find(along);
    const auto before = symbol != expressions_.symbols.end() ? std::optional(symbol->second) : std::nullopt;
    expressions_.symbols[along] = first_in_tile(memlet, along, block);
    out.line("hn::Vec<decltype(" + d + ")> " + tile + "[hn::MaxLanes(" + mask_tag() + ")];");
    out.line("sous::load_transposed(" + d + ", " + pointer(memlet, true) + ", " +
             expressions_.index(access(memlet).stride).text + ", " + tile + ");");
    for (const sdfg::Memlet& later : expressions_.ahead(memlet))
      out.line("sous::prefetch_rows(" + d + ", " + pointer(later, true) + ", " +
               expressions_.index(access(memlet).stride).text + ");");
    if (before) {
      expressions_.symbols[along] = *before;
    } else {
      expressions_.symbols.erase(along);
    }
    transposed_[element] = tile + "[" + in_tile(memlet, along, at) + "]";
  }
}

// Blocks of iterations with their transposed reads, then the iterations that are left.
void VectorLoop::transposed_loop(const sdfg::Loop& loop, const std::vector<sdfg::Memlet>& reads) {
  Lines& out = printer_.out;
  const std::string variable = names_.of(loop.symbol);
  const std::string block = names_.fresh(variable + "_block"), at = names_.fresh(variable + "_at");
  const std::string count = "static_cast<int64_t>(hn::MaxLanes(" + mask_tag() + "))";
  out.open("");
  const std::string end = printer_.bound(loop.end, variable + "_end");
  out.line("int64_t " + block + " = " + expressions_.index(loop.begin).text + ";");
  out.open("for (; " + block + " + " + count + " <= " + end + "; " + block + " += " + count + ")");
  const auto outside = transposed_;
  expressions_.enter(loop);
  load_transposed(reads, loop.symbol, block, at);
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
