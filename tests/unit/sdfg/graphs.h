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
  return
}
loop u = 0 .. n step 2 unroll(factor=4) {
  s7: x[u] = select(x[u] < 1.0, x[u], 1.0)
}
)";

inline constexpr std::string_view dataflow = R"(sdfg 1 dataflow
symbols n, m, k
array A: f32[n, k] argument
array B: f32[m, k] argument
array C: f32[n, m] argument
array D: f32[n, m] heap transient
array rows: f32[n] argument
array p: f32[n] argument
arguments n, m, k, A, B, C, rows, p

g0: {
  n0 = access A
  n1 = access B
  n2 = gemm(transpose_b, alpha=1.5, beta=0.25)
  n3 = access C
  n4 = access C
  n5 = copy
  n6 = access D
  n0 -> n2 as a: A[0:n, 0:k]
  n1 -> n2 as b: B[0:m, 0:k]
  n3 -> n2 as c: C[0:n, 0:m]
  n2 -> n4 as c: C[0:n, 0:m]
  n4 -> n5 as in: C[0:n, 0:m]
  n5 -> n6 as out: D[0:n, 0:m]
}
g1: {
  n0 = access D
  n1 = reduce(max, axes=[1])
  n2 = access rows
  n3 = softmax
  n4 = access p
  n0 -> n1 as in: D[0:n, 0:m]
  n1 -> n2 as out: rows[0:n]
  n2 -> n3 as in: rows[0:n]
  n3 -> n4 as out: p[0:n]
}
g2: {
  n0 = access p
  n1 = tasklet (a: f32, b: f32) a * b + 1.0f32
  n2 = access rows
  n0 -> n1 as a: p[0]
  n0 -> n1 as b: p[n - 1]
  n1 -> n2 as out: rows[0] combine max
}
g3: {}
)";

inline constexpr std::string_view gpu = R"(sdfg 1 gpu
symbols n
array x: f32[n] argument
array d: f32[n] device_global transient
array tile: f32[256] device_shared transient
arguments n, x

in: {
  n0 = access x
  n1 = copy
  n2 = access d
  n0 -> n1 as in: x[0:n]
  n1 -> n2 as out: d[0:n]
}
loop b = 0 .. n floordiv 256 gpu_grid(dimension=0) private(tile) {
  loop t = 0 .. 256 gpu_block(dimension=0) {
    s0: tile[t] = d[256*b + t]
  }
  loop t2 = 0 .. 256 gpu_block(dimension=0) {
    s1: d[256*b + t2] = tile[-t2 + 255]
  }
}
out: {
  n0 = access d
  n1 = copy
  n2 = access x
  n0 -> n1 as in: d[0:n]
  n1 -> n2 as out: x[0:n]
}
)";

inline constexpr std::string_view all[] = {gemm, control, dataflow, gpu};

}  // namespace sous::sdfg::graphs
