// Target cuda: loops over blocks and threads become kernels of a GPU; what is around them launches these on the host.
#include <array>

#include "targets/cpp/caller.h"
#include "targets/cpp/cpp.h"
#include "targets/cuda/kernels.h"
#include "targets/cuda/placement.h"

namespace sous::targets {
namespace {

std::string cuda_file(std::span<const Function> functions, std::string_view comment) {
  std::string text = comment_lines(comment);
  text +=
      "// Generated; do not edit. For nvcc with --fmad=false: what becomes one fma is written so. Any compiler of C++ "
      "makes\n"
      "// code of it that runs on the CPU, thread by thread.\n"
      "#include \"targets/runtime/gpu.h\"\n";
  for (const Function& function : functions) text += "\n" + function.code;
  return text;
}

// Division and roots as IEEE 754 has them, denormal numbers kept: what nvcc does of itself, said once. The host's part
// needs no C++ library.
constexpr auto cuda_options = std::to_array<std::string_view>(
    {"-w", "-x", "cu", "-std=c++17", "-O3", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "--ftz=false",
     "-Xcompiler",
     "-fPIC,-fno-exceptions,-fno-rtti,-fwrapv,-fno-threadsafe-statics,-fno-asynchronous-unwind-tables,-w"});

constexpr std::array device_storages{sdfg::Storage::argument, sdfg::Storage::stack, sdfg::Storage::heap,
                                     sdfg::Storage::registers, sdfg::Storage::device_shared};

Result<Function> print_cuda(const sdfg::Sdfg& sdfg, const EmitOptions& options);

}  // namespace

constinit const Language cuda_language{.name = "CUDA",
                                       .suffix = "cu",
                                       .options = cuda_options,
                                       .file = cuda_file,
                                       .caller = cpp_caller,
                                       .compiler = LanguageCompiler::Nvcc};

constinit const Target cuda_target{.name = "cuda",
                                   .summary = "loops over blocks and threads on a GPU (CUDA), all else around them",
                                   .language = &cuda_language,
                                   .extends = &cpp_target,
                                   .follows = {sdfg::Sequential{}, sdfg::Unroll{}, sdfg::GpuGrid{}, sdfg::GpuBlock{}},
                                   .in_order = {sdfg::Parallel{}, sdfg::Simd{}},
                                   .storages = device_storages,
                                   .print = print_cuda};

namespace {

Result<Function> print_cuda(const sdfg::Sdfg& sdfg, const EmitOptions& options) {
  TRY_VOID(runs_on_gpu(sdfg, options));
  TRY(const sdfg::Sdfg of_threads, with_own_places(sdfg));
  return print_function(of_threads, options,
                        Dialect{.target = cuda_target,
                                .gpu = print_kernel,
                                .region = print_device_region,
                                .device_arrays = device_arrays,
                                .transients = device_transients});
}

}  // namespace

}  // namespace sous::targets
