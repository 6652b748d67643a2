// Hand-written graphs that between them use every construct of the IR; all of them pass `check`.
#pragma once

#include <string_view>

namespace sous::sdfg::graphs {

inline constexpr std::string_view gemm = R"(sdfg 1 gemm
symbols n, m
array A: f64[n, m] argument const
array B: f64[m, n] argument
array C: f64[n, n] argument
arguments n, m, A, B, C
assume n - 1 >= 0
assume m - 1 >= 0
disjoint A, C
disjoint B, C

loop i0 = 0 .. n parallel(threads=2) {
  loop i1 = 0 .. n {
    s0: C[i0, i1] = 0.0
    loop i2 = 0 .. m {
      s1: C[i0, i1] = C[i0, i1] + A[i0, i2] * B[i2, i1]
    }
  }
}
)";

inline constexpr std::string_view control = R"(sdfg 1 control
symbols n
array x: f64[n] strides [2] offset 1 argument alias 3
array idx: i64[n + 1] argument const
array count: i32 argument
array t: f64 stack transient
array s: f64 argument
arguments x, idx, count, s, n

loop i = n - 1 .. -1 step -1 private(t) {
  s0: t[] = x[i]
  if (t[] < 0.0 || {i}i32 == count[]) {
    s1: x[i] = -t[]
  } else {
    s2: x[i] = sqrt(t[])
  }
  loop k = idx[i] .. idx[i + 1] simd(lanes=4) {
    s3: x[k mod 8] = f64({min(i, 2*k) floordiv 3}i64) * x[idx[k]]
  }
}
loop r = 0 .. n reduce(+: s) prefetch(16) {
  s4: s[] += x[r] * x[r]
}
while (count[] > 0) {
  s5: count[] = count[] - 1
}
do {
  s6: count[] = count[] + 1
} while (count[] < 10 && !(count[] % 3 == 0))
if (count[] == 7) {
  s8: count[] = 0
}
loop u = 0 .. n step 2 unroll(factor=4) {
  s7: x[u] = select(x[u] < 1.0, x[u], 1.0)
}
)";

inline constexpr std::string_view dataflow = R"(sdfg 1 dataflow
symbols n, m
array A: f32[n, m] argument
array B: f32[n, m] argument
array D: f32[n, m] heap transient
array rows: f32[n] argument
array p: f32[n] argument
arguments n, m, A, B, rows, p

g0: {
  n0 = access A
  n1 = access B
  n2 = tasklet (a: f32, b: f32) a * 1.5f32 + b
  n3 = access D
  n4 = tasklet (d: f32, b: f32) d - b
  n5 = access B
  n0 -> n2 as a: A[0, m - 1]
  n1 -> n2 as b: B[n - 1, 0]
  n2 -> n3 as out: D[0, 0]
  n3 -> n4 as d: D[0, 0]
  n1 -> n4 as b: B[0, 0]
  n4 -> n5 as out: B[0, 0]
}
g1: {
  n0 = access p
  n1 = tasklet (a: f32, b: f32) a * b + 1.0f32
  n2 = access rows
  n0 -> n1 as a: p[0]
  n0 -> n1 as b: p[n - 1]
  n1 -> n2 as out: rows[0] combine max
}
g2: {}
)";

inline constexpr std::string_view gpu = R"(sdfg 1 gpu
symbols n
array x: f32[n] argument
array tile: f32[256] device_shared transient
arguments n, x

loop b = 0 .. n floordiv 256 gpu_grid(dimension=0) private(tile) {
  loop t = 0 .. 256 gpu_block(dimension=0) {
    s0: tile[t] = x[256*b + t]
  }
  loop t2 = 0 .. 256 gpu_block(dimension=0) {
    s1: x[256*b + t2] = tile[-t2 + 255]
  }
}
)";

inline constexpr std::string_view all[] = {gemm, control, dataflow, gpu};

}  // namespace sous::sdfg::graphs
