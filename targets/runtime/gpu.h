// What code that is generated for a GPU includes: CUDA, or its names on the CPU (gpu_emulated.h); arithmetic that gives
// the bits of the CPU; products by warps (gpu_matrix.h); launches; and a Run, which moves arrays to the device and
// results back (gpu_run.h); and whether a run is worth that (gpu_offer.h).
#pragma once

#include "targets/runtime/sous.h"

#ifdef __CUDACC__
#include <cuda_runtime.h>
#else
#include "targets/runtime/gpu_emulated.h"
#endif

// Ahead of a loop: all of its iterations are written out where their number is known, or 16 or 4 at a time.
#if defined(__CUDACC__) || defined(__clang__)
#define SOUS_UNROLLED _Pragma("unroll")
#define SOUS_UNROLLED_16 _Pragma("unroll 16")
#define SOUS_UNROLLED_4 _Pragma("unroll 4")
#else
#define SOUS_UNROLLED
#define SOUS_UNROLLED_16
#define SOUS_UNROLLED_4
#endif

// Memory that the threads of a block share: an array (a vector access takes 16 bytes), or one value.
#ifdef __CUDACC__
#define SOUS_SHARED(type, name, elements) __shared__ __align__(16) type name[elements]
#define SOUS_SHARED_VALUE(type, name) __shared__ type name
#else
#define SOUS_SHARED_VALUE(type, name) \
  static thread_local type name;      \
  ::sous::gpu::emulated_shared(&name, sizeof(name))
#define SOUS_SHARED(type, name, elements)              \
  alignas(16) static thread_local type name[elements]; \
  ::sous::gpu::emulated_shared(name, sizeof(name))
#endif

namespace sous {

// --- Arithmetic -----------------------------------------------------------------------------------------------------

// a*b + c as the processor that the program is compiled for computes it where contraction is allowed: with one rounding
// if it has such an instruction. (Device code is compiled with --fmad=false: it contracts nothing else. Tests define
// SOUS_ROUNDS_PRODUCTS, to compare with what never contracts.)
template <class T>
SOUS_EVERYWHERE T mul_add(T a, T b, T c) {
#if defined(SOUS_HOST_FMA) || (defined(__FMA__) && !defined(__CUDACC__) && !defined(SOUS_ROUNDS_PRODUCTS))
  return fma(a, b, c);
#else
  return a * b + c;
#endif
}

// Integers wrap; no option makes device compilers believe it.
template <class T>
using Unsigned = Chosen<sizeof(T) == 8, uint64_t, uint32_t>;
template <class T>
SOUS_EVERYWHERE T wrap_add(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) + static_cast<Unsigned<T>>(b));
}
template <class T>
SOUS_EVERYWHERE T wrap_sub(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) - static_cast<Unsigned<T>>(b));
}
template <class T>
SOUS_EVERYWHERE T wrap_mul(T a, T b) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) * static_cast<Unsigned<T>>(b));
}

namespace gpu {

// --- Launches -------------------------------------------------------------------------------------------------------

// Blocks in each dimension: as many as there are iterations, or any number, where each block strides by all of them.
// Empty where there is nothing to do.
struct Blocks {
  int64_t x, y, z;
};
inline Blocks blocks(int64_t x, int64_t y, int64_t z) {
  return x <= 0 || y <= 0 || z <= 0 ? Blocks{0, 0, 0} : Blocks{x, y, z};
}
// Which blocks a launch begins with: one takes few along y and z, and what is more goes into others. Along x it takes
// all that there ever are; one that asks for more fails.
struct First {
  int64_t y, z;
};
constexpr int64_t most_of_a_launch = 65535, most_of_a_launch_x = INT32_MAX;
// Iterations of a loop.
inline int64_t trips(int64_t begin, int64_t end, int64_t step) {
  const int64_t distance = step > 0 ? end - begin : begin - end, by = step > 0 ? step : -step;
  return distance > 0 ? (distance - 1) / by + 1 : 0;
}

template <class T>
struct SameType {
  using type = T;
};
// For parameters whose types others decide.
template <class T>
using Same = typename SameType<T>::type;

#ifdef __CUDACC__
// Whether kernels of this object wait for what is ahead of them by themselves (see begin_kernel): those for GPUs from
// 9.0 on do. An older one's code may run on such a GPU, too.
// Static, and so is what it keeps: each object has its own.
static int known_to_wait = 0;  // 1: they do; 2: they do not
static inline bool wait_by_themselves(const void* kernel) {
  int answer = __atomic_load_n(&known_to_wait, __ATOMIC_RELAXED);
  if (answer == 0) {
    cudaFuncAttributes attributes;
    if (cudaFuncGetAttributes(&attributes, kernel) != cudaSuccess) return false;
    answer = attributes.ptxVersion >= 90 ? 1 : 2;
    __atomic_store_n(&known_to_wait, answer, __ATOMIC_RELAXED);
  }
  return answer == 1;
}
#endif

// What every kernel begins with: all of the launch ahead of it is done, and to be seen. Launches follow each other
// without a gap: the next one's blocks come as the last blocks of this one end. They come no earlier, though the
// hardware could let them: what a kernel reads alone is told to the compiler as constant for as long as the kernel is
// there (`const T* __restrict` becomes ld.global.nc).
SOUS_EVERYWHERE void begin_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <class... P>
cudaError_t start(void (*kernel)(P...), dim3 grid, dim3 block, P... arguments) {
#ifdef __CUDACC__
  void* addresses[] = {const_cast<void*>(static_cast<const volatile void*>(&arguments))..., nullptr};
  const void* const code = reinterpret_cast<const void*>(kernel);
  cudaLaunchAttribute early;
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = grid;
  config.blockDim = block;
  config.attrs = &early;
  config.numAttrs = wait_by_themselves(code) ? 1 : 0;
  return cudaLaunchKernelExC(&config, code, addresses);
#else
  return emulated_launch(kernel, grid, block, arguments...);
#endif
}

}  // namespace gpu
}  // namespace sous

#include "targets/runtime/gpu_matrix.h"
#include "targets/runtime/gpu_offer.h"
