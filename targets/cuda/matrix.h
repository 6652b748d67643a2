// Products in a GPU's matrix unit: the threads of a warp put together what each has of two operands, and each gets its
// own tile of the result.
//
// The unit adds one product after the other to each sum, with one rounding for both: the same bits as a chain of fma in
// the order of the loop (what it says nowhere, and the runtime asks it: targets/runtime/gpu_matrix.h). So it takes the
// place of a thread's own arithmetic where that is such a chain, and nothing is reassociated.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "targets/cpp/printer.h"
#include "targets/cuda/block.h"

namespace sous::targets {

// Threads of a warp, as the unit wants them: rows, columns.
constexpr std::int64_t warp_rows = 8, warp_columns = 4;

// For k: for i: for j: r(i, j) = r(i, j) + x(i, k) * y(k, j), in each thread of a band with its own r.
struct MatrixProduct {
  Band band;
  const sdfg::Loop *thread_row = nullptr, *thread_column = nullptr;  // of the band
  std::vector<const sdfg::If*> conditions;                           // around the sum, the same in all threads
  const sdfg::Loop *sum = nullptr, *row = nullptr, *column = nullptr;
  std::int64_t tall = 0, broad = 0;  // of a thread's tile
  std::string result;
  std::vector<sdfg::Memlet> inputs;
  sdfg::ScalarExpr of_row, of_column;  // the factors, over the inputs
  bool minus = false;                  // the product is subtracted
};

// The graph: after with_own_places. `contracts`: a product and its sum may be one operation.
std::optional<MatrixProduct> matrix_product(const sdfg::Sdfg& sdfg, const Meeting& meeting, const Band& band,
                                            bool contracts);
// Whether some band of the kernel is one.
bool has_matrix_product(const sdfg::Sdfg& sdfg, const Meeting& meeting, bool contracts);

// `thread`: the identifier of a thread's number in the block. `place`: of a thread in its loop, by that number.
void print_matrix_product(Printer& printer, const MatrixProduct& product, const std::string& thread,
                          const std::function<std::string(const sdfg::Loop&, const std::string& thread)>& place);

}  // namespace sous::targets
