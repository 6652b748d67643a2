// The matrix unit of a GPU, for doubles: the threads of a warp multiply together.
//
// A warp is 8 rows of 4 threads, in a line row by row; each has a tile of `Tall` by `Broad` sums, side by side with its
// neighbours'. Of `Depth` products for each sum every thread brings, of each of its rows, those numbered its own number
// modulo 4 and every fourth on from there; and as many of columns: of its number / 8, counted in threads, every second
// one from its number / 4 % 2 on.
#pragma once

#include "targets/runtime/sous.h"

namespace sous::gpu {

// Whether a sum of products is what the unit computes: the processor that the program is compiled for has fma, too.
#if defined(SOUS_HOST_FMA) || !defined(__CUDACC__)
constexpr bool has_matrix_unit = true;
#else
constexpr bool has_matrix_unit = false;
#endif

// An element on its way into what threads share: it may be read where every thread has waited for its own, and then for
// the others.
#ifdef __CUDACC__
template <class T>
__device__ __forceinline__ void copy_async(T* to, const T* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from), "n"(sizeof(T))
               : "memory");
#else
  *to = *from;
#endif
}
// As many of them, side by side, as one access moves.
template <class T>
__device__ __forceinline__ void copy_access_async(T* to, const T* from) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
               "l"(from)
               : "memory");
#else
  *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(from);
#endif
}
__device__ __forceinline__ void copies_are_there() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}
#else
template <class T>
void copy_async(T* to, const T* from) {
  emulated_copy_begins(to, from, sizeof(T));
}
template <class T>
void copy_access_async(T* to, const T* from) {
  emulated_access_copy_begins(to, from);
}
inline void copies_are_there() { emulated_copies_end(); }
#endif
// Whether an access of 16 bytes may begin there.
SOUS_EVERYWHERE bool access_begins(const void* at) { return reinterpret_cast<uintptr_t>(at) % 16 == 0; }

// Elements side by side between memory and what a thread holds in registers: as many in one access as that moves, where
// they begin as accesses may. One element of each thread at a time would be a part of a sector for every access, and
// memory counts sectors.
template <int count, class T>
SOUS_EVERYWHERE void load_neighbours(T* held, const T* from) {
#ifdef __CUDACC__
  constexpr int together = 16 / sizeof(T);
  struct alignas(16) Access {
    T elements[together];
  };
  if (count % together == 0 && access_begins(from)) {
    SOUS_UNROLLED
    for (int k = 0; k < count; k += together) {
      const Access access = *reinterpret_cast<const Access*>(from + k);
      SOUS_UNROLLED
      for (int e = 0; e < together; ++e) held[k + e] = access.elements[e];
    }
    return;
  }
#endif
  SOUS_UNROLLED
  for (int k = 0; k < count; ++k) held[k] = from[k];
}
template <int count, class T>
SOUS_EVERYWHERE void store_neighbours(T* to, const T* held) {
#ifdef __CUDACC__
  constexpr int together = 16 / sizeof(T);
  struct alignas(16) Access {
    T elements[together];
  };
  if (count % together == 0 && access_begins(to)) {
    SOUS_UNROLLED
    for (int k = 0; k < count; k += together) {
      Access access;
      SOUS_UNROLLED
      for (int e = 0; e < together; ++e) access.elements[e] = held[k + e];
      *reinterpret_cast<Access*>(to + k) = access;
    }
    return;
  }
#endif
  SOUS_UNROLLED
  for (int k = 0; k < count; ++k) to[k] = held[k];
}

#ifdef __CUDACC__

// A row of each thread: sums 0 and 1.
__device__ __forceinline__ void multiply_row(double* r, double x, double y) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(r[0]), "+d"(r[1])
      : "d"(x), "d"(y));
#else
  const unsigned lane = (threadIdx.x + blockDim.x * threadIdx.y) % 32;
  for (unsigned k = 0; k < 4; ++k)
    for (unsigned c = 0; c < 2; ++c) {
      const double of_row = __shfl_sync(~0U, x, lane / 4 * 4 + k);
      r[c] = fma(of_row, __shfl_sync(~0U, y, (lane % 4 * 2 + c) * 4 + k), r[c]);
    }
#endif
}

// Two rows.
template <int Steps>
__device__ __forceinline__ void multiply_rows(double* r, double* s, const double (&x)[Steps], const double (&z)[Steps],
                                              const double (&y)[Steps]) {
#if __CUDA_ARCH__ >= 900
  if constexpr (Steps == 2) {
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+d"(r[0]), "+d"(r[1]), "+d"(s[0]), "+d"(s[1])
        : "d"(x[0]), "d"(z[0]), "d"(x[1]), "d"(z[1]), "d"(y[0]), "d"(y[1]));
  } else {
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(r[0]), "+d"(r[1]), "+d"(s[0]), "+d"(s[1])
        : "d"(x[0]), "d"(z[0]), "d"(y[0]));
  }
#else
#pragma unroll
  for (int k = 0; k < Steps; ++k) {
    multiply_row(r, x[k], y[k]);
    multiply_row(s, z[k], y[k]);
  }
#endif
}

template <int Tall, int Broad, int Depth>
__device__ __forceinline__ void multiply_add(double* r, const double (&x)[Tall][Depth / 4],
                                             const double (&y)[Broad / 2][Depth / 4]) {
#pragma unroll
  for (int m = 0; m + 1 < Tall; m += 2)
#pragma unroll
    for (int n = 0; n < Broad / 2; ++n)
      multiply_rows<Depth / 4>(r + m * Broad + 2 * n, r + (m + 1) * Broad + 2 * n, x[m], x[m + 1], y[n]);
  if constexpr (Tall % 2 != 0) {
#pragma unroll
    for (int n = 0; n < Broad / 2; ++n)
#pragma unroll
      for (int k = 0; k < Depth / 4; ++k) multiply_row(r + (Tall - 1) * Broad + 2 * n, x[Tall - 1][k], y[n][k]);
  }
}

// Whether the unit adds its products one after the other, each with one rounding, as chains of fma do. No document says
// so of any GPU; on an H200, 20,000 products of each shape were the same bits, with values of all magnitudes, denormal
// and not finite. So each process asks once. (Templates: only objects that use them hold them.)
template <int Depth>
__device__ bool sums_differ(int lane) {
  const int row = lane / 4;
  // Numbers of 53 bits between 2^-8 and 2^8, of either sign.
  const auto some = [](uint64_t n) {
    n = (n + 1) * 0x9e3779b97f4a7c15U;
    n = (n ^ (n >> 31)) * 0xbf58476d1ce4e5b9U;
    n ^= n >> 29;
    return static_cast<double>(static_cast<int64_t>(n) >> 11) / static_cast<double>(uint64_t{1} << (36 + n % 17));
  };
  const auto of_row = [&](int round, int m, int k) { return some(((round * 16 + m) * 8 + k) * 3); };
  const auto of_column = [&](int round, int c, int k) { return some(((round * 8 + c) * 8 + k) * 3 + 1); };
  bool differ = false;
  for (int round = 0; round < 8; ++round) {
    double r[4], x[2][Depth / 4], y[1][Depth / 4];
    for (int k = 0; k < Depth / 4; ++k) {
      for (int m = 0; m < 2; ++m) x[m][k] = of_row(round, 2 * row + m, lane % 4 + 4 * k);
      y[0][k] = of_column(round, row, lane % 4 + 4 * k);
    }
    for (int e = 0; e < 4; ++e) r[e] = some(((round * 32 + lane) * 4 + e) * 3 + 2);
    multiply_add<2, 2, Depth>(r, x, y);
    for (int e = 0; e < 4; ++e) {
      double sum = some(((round * 32 + lane) * 4 + e) * 3 + 2);
      for (int k = 0; k < Depth; ++k)
        sum = fma(of_row(round, 2 * row + e / 2, k), of_column(round, lane % 4 * 2 + e % 2, k), sum);
      differ = differ || __double_as_longlong(sum) != __double_as_longlong(r[e]);
    }
  }
  return differ;
}

template <class Int>
__global__ void ask_matrix_unit(Int* differs) {
  const int lane = static_cast<int>(threadIdx.x);
  const bool shallow = sums_differ<4>(lane), deep = sums_differ<8>(lane);
  if (shallow || deep) *differs = 1;
}

struct InMatrixUnit {
  template <class Bool>
  cudaError_t differs(Bool* differ) const {
    if (!has_matrix_unit) return cudaSuccess;
    // (Not a variable of the device: nvcc gives it another name each time.)
    void* there = nullptr;
    cudaError_t error = cudaMalloc(&there, sizeof(int));
    if (error != cudaSuccess) return error;
    int answer = 0;
    error = cudaMemcpy(there, &answer, sizeof answer, cudaMemcpyHostToDevice);
    if (error == cudaSuccess) {
      ask_matrix_unit<int><<<1, 32>>>(static_cast<int*>(there));
      error = cudaMemcpy(&answer, there, sizeof answer, cudaMemcpyDeviceToHost);
    }
    cudaFree(there);
    *differ = answer != 0;
    return error;
  }
};

#else

// The others' are on their stacks while they wait.
template <int Tall, int Broad, int Depth>
void multiply_add(double* r, const double (&x)[Tall][Depth / 4], const double (&y)[Broad / 2][Depth / 4]) {
  EmulatedTeam& team = *emulated_team;
  const unsigned own = team.now, warp = own / 32 * 32, lane = own % 32;
  team.brought[own][0] = &x;
  team.brought[own][1] = &y;
  emulated_barrier();
  for (int k = 0; k < Depth; ++k)
    for (int m = 0; m < Tall; ++m)
      for (int n = 0; n < Broad; ++n) {
        const unsigned of_row = warp + lane / 4 * 4 + k % 4, of_column = warp + (lane % 4 * 2 + n % 2) * 4 + k % 4;
        const auto& rows = *static_cast<const double(*)[Tall][Depth / 4]>(team.brought[of_row][0]);
        const auto& columns = *static_cast<const double(*)[Broad / 2][Depth / 4]>(team.brought[of_column][1]);
        r[m * Broad + n] = mul_add<double>(rows[m][k / 4], columns[n / 2][k / 4], r[m * Broad + n]);
      }
  emulated_barrier();
}

struct InMatrixUnit {
  cudaError_t differs(bool* differ) const {
    *differ = false;
    return cudaSuccess;
  }
};

#endif

}  // namespace sous::gpu
