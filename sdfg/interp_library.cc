// Library nodes, as the interpreter defines them. Compiled with -ffp-contract=off.
//
//  - gemm: for each element of c, sum = 0, then sum = sum + a*b with k ascending; the element becomes alpha*sum, plus
//    beta*c (in this order) unless beta is 0: then the old c is not read. A factor of 1 changes nothing.
//  - reduce: elements of the input box in row-major order, each combined into its element of out.
//  - softmax: per row m = the largest (as max: a > b ? a : b, ascending), e_j = exp(x_j - m), s = their sum ascending
//    from 0; e_j / s.
//  - copy: element by element, all read before the first is written.
#include <algorithm>

#include "sdfg/interp_memory.h"
#include "sdfg/scalar_eval.h"

namespace sous::sdfg::interp {
namespace {

const Memlet* input_of(const State& state, int node, const std::string& connector) {
  for (const Edge& edge : state.edges) {
    if (edge.target == node && edge.connector == connector) return &edge.memlet;
  }
  return nullptr;
}

struct Values {
  std::vector<std::int64_t> extents;
  std::vector<std::uint64_t> bits;
  ElementType type = ElementType::f64;
};

Result<Values> values_of(const Memlet* memlet, Lane& lane) {
  SOUS_ASSERT(memlet != nullptr);
  TRY(Box where, box(*memlet, lane));
  Values values;
  values.extents = std::move(where.extents);
  if (const Array* array = lane.find(memlet->container)) values.type = array->type;
  for (const Place& at : where.places) {
    TRY(const std::uint64_t bits, read(at, memlet->container));
    values.bits.push_back(bits);
  }
  return values;
}

std::uint64_t factor(double value, ElementType type) {
  return is_float(type) ? real_bits(value, type)
                        : canonical_bits(type, static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
}

Result<std::vector<std::uint64_t>> gemm(const GemmNode& g, const State& state, int node, Lane& lane,
                                        std::int64_t& operations) {
  TRY(const Values a, values_of(input_of(state, node, "a"), lane));
  TRY(const Values b, values_of(input_of(state, node, "b"), lane));
  SOUS_ASSERT(a.extents.size() == 2 && b.extents.size() == 2);
  const std::int64_t m = a.extents[g.transpose_a ? 1 : 0];
  const std::int64_t depth = a.extents[g.transpose_a ? 0 : 1];
  const std::int64_t n = b.extents[g.transpose_b ? 0 : 1];
  if (b.extents[g.transpose_b ? 1 : 0] != depth) return fail("interp.out-of-bounds", "gemm: extents do not fit");
  Values c;
  if (g.beta != 0) {
    TRY(c, values_of(input_of(state, node, "c"), lane));
    if (c.extents != std::vector{m, n}) return fail("interp.out-of-bounds", "gemm: extents do not fit");
  }
  const ElementType type = a.type;
  std::vector<std::uint64_t> out;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      std::uint64_t sum = factor(0, type);
      for (std::int64_t k = 0; k < depth; ++k) {
        const std::uint64_t x = a.bits[static_cast<std::size_t>(g.transpose_a ? k * m + i : i * depth + k)];
        const std::uint64_t y = b.bits[static_cast<std::size_t>(g.transpose_b ? j * depth + k : k * n + j)];
        sum = combine(ReductionOp::sum, type, sum, combine(ReductionOp::product, type, x, y));
        ++operations;
      }
      if (g.alpha != 1) sum = combine(ReductionOp::product, type, factor(g.alpha, type), sum);
      if (g.beta != 0) {
        std::uint64_t old = c.bits[static_cast<std::size_t>(i * n + j)];
        if (g.beta != 1) old = combine(ReductionOp::product, type, factor(g.beta, type), old);
        sum = combine(ReductionOp::sum, type, sum, old);
      }
      out.push_back(sum);
    }
  }
  return out;
}

Result<std::vector<std::uint64_t>> reduce(const ReduceNode& r, const Values& in, const Memlet& out, Lane& lane,
                                          std::int64_t& operations) {
  TRY(const Values before, values_of(&out, lane));
  std::vector<std::uint64_t> result = before.bits;
  std::vector<std::int64_t> kept;
  const auto is_reduced = [&](std::size_t d) { return std::ranges::find(r.axes, static_cast<int>(d)) != r.axes.end(); };
  for (std::size_t d = 0; d < in.extents.size(); ++d) {
    if (!is_reduced(d)) kept.push_back(in.extents[d]);
  }
  if (kept != before.extents) return fail("interp.out-of-bounds", "reduce: extents do not fit");
  for (std::size_t k = 0; k < in.bits.size(); ++k) {
    // Position of element k of the input in the output: its row-major index with the reduced axes dropped.
    std::int64_t rest = static_cast<std::int64_t>(k);
    std::int64_t position = 0;
    std::int64_t stride = 1;
    for (std::size_t d = in.extents.size(); d-- > 0;) {
      if (!is_reduced(d)) {
        position += rest % in.extents[d] * stride;
        stride *= in.extents[d];
      }
      rest /= in.extents[d];
    }
    std::uint64_t& element = result[static_cast<std::size_t>(position)];
    element = combine(r.op, in.type, element, in.bits[k]);
    ++operations;
  }
  return result;
}

std::vector<std::uint64_t> softmax(const Values& in, std::int64_t& operations) {
  std::vector<std::uint64_t> result = in.bits;
  const std::size_t row = in.extents.empty() ? 1 : static_cast<std::size_t>(in.extents.back());
  const auto minus = [&](std::uint64_t a, std::uint64_t b) {
    return real_bits(real_from_bits(a, in.type) - real_from_bits(b, in.type), in.type);
  };
  const auto input = [&](int k) { return ScalarExpr::make_input(k, in.type); };
  const auto exponential = ScalarExpr::unary(ScalarOp::exp, input(0));
  const auto quotient = ScalarExpr::binary(ScalarOp::div, input(0), input(1));
  for (std::size_t first = 0; row > 0 && first < result.size(); first += row) {
    std::uint64_t largest = result[first];
    for (std::size_t k = 1; k < row; ++k) largest = combine(ReductionOp::max, in.type, largest, result[first + k]);
    std::uint64_t sum = real_bits(0, in.type);
    for (std::size_t k = 0; k < row; ++k) {
      // f32: the difference of two floats rounded from double is the float difference.
      const std::uint64_t argument[] = {minus(result[first + k], largest)};
      result[first + k] = *sdfg::evaluate(exponential, argument, {});
      sum = combine(ReductionOp::sum, in.type, sum, result[first + k]);
      operations += 2;
    }
    for (std::size_t k = 0; k < row; ++k) {
      const std::uint64_t arguments[] = {result[first + k], sum};
      result[first + k] = *sdfg::evaluate(quotient, arguments, {});
    }
  }
  return result;
}

}  // namespace

Result<std::vector<Store>> run_library_node(const State& state, int node, Lane& lane, std::int64_t& operations) {
  std::vector<Store> stores;
  for (const Edge& edge : state.edges) {
    if (edge.source != node) continue;
    const auto& library = std::get<LibraryNode>(state.nodes[static_cast<std::size_t>(node)]);
    const auto computed = match(
        library,
        [&](const GemmNode& g) -> Result<std::vector<std::uint64_t>> { return gemm(g, state, node, lane, operations); },
        [&](const ReduceNode& r) -> Result<std::vector<std::uint64_t>> {
          TRY(const Values in, values_of(input_of(state, node, "in"), lane));
          return reduce(r, in, edge.memlet, lane, operations);
        },
        [&](const SoftmaxNode&) -> Result<std::vector<std::uint64_t>> {
          TRY(const Values in, values_of(input_of(state, node, "in"), lane));
          return softmax(in, operations);
        },
        [&](const CopyNode&) -> Result<std::vector<std::uint64_t>> {
          TRY(const Values in, values_of(input_of(state, node, "in"), lane));
          operations += static_cast<std::int64_t>(in.bits.size());
          return in.bits;
        });
    if (!computed) return std::unexpected(computed.error());
    TRY(const Box out, box(edge.memlet, lane));
    if (out.places.size() != computed->size()) {
      return fail("interp.out-of-bounds", "the extents of a library node's output do not fit its inputs");
    }
    for (std::size_t k = 0; k < out.places.size(); ++k) {
      TRY(const Store store, store_through(edge.memlet, out.places[k], (*computed)[k]));
      stores.push_back(store);
    }
  }
  return stores;
}

}  // namespace sous::sdfg::interp
