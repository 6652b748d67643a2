// Target highway: Parallel loops on OpenMP, Simd loops as Highway vectors for the compiler's -march.
#include "targets/cpp/cpp.h"
#include "targets/highway/vector_loop.h"
#include "targets/openmp/openmp.h"

namespace sous::targets {

constinit const Target highway_target{
    .name = "highway",
    .summary = "parallel loops on OpenMP, SIMD loops as Highway vectors",
    .language = &cpp_language,
    .runtime = &openmp_runtime,
    .extends = &openmp_target,
    .follows = {sdfg::Sequential{}, sdfg::Parallel{}, sdfg::Simd{}, sdfg::Unroll{}},
    .in_order = {},
    .storages = host_storages,
    .print = [](const sdfg::Sdfg& sdfg, const EmitOptions& options) {
      return print_function(
          sdfg, options,
          Dialect{.target = highway_target, .simd = print_vector_loop, .around_simd = print_staggered_loop});
    }};

}  // namespace sous::targets
