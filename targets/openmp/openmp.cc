// Target openmp: Parallel loops on OpenMP, Simd loops as `omp simd`.
#include "targets/openmp/openmp.h"

#include <array>

#include "targets/cpp/cpp.h"
#include "targets/openmp/parallel.h"

namespace sous::targets {
namespace {

constexpr std::array<std::string_view, 2> openmp_symbols{"GOMP_*", "omp_*"};

}  // namespace

constinit const Runtime openmp_runtime{.name = "OpenMP", .option = "-fopenmp", .symbols = openmp_symbols};

constinit const Target openmp_target{.name = "openmp",
                                     .summary = "parallel loops on OpenMP, SIMD loops as omp simd",
                                     .language = &cpp_language,
                                     .runtime = &openmp_runtime,
                                     .extends = &cpp_target,
                                     .follows = {sdfg::Sequential{}, sdfg::Parallel{}, sdfg::Simd{}, sdfg::Unroll{}},
                                     .in_order = {},
                                     .storages = host_storages,
                                     .print = [](const sdfg::Sdfg& sdfg, const EmitOptions& options) {
                                       return print_function(sdfg, options,
                                                             Dialect{.target = openmp_target, .simd = print_omp_simd});
                                     }};

}  // namespace sous::targets
