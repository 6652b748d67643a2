// The code for a GPU, run on the CPU (targets/runtime/gpu_emulated.h).
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cfenv>

#include "targets/runtime/gpu_emulated.h"
#include "tests/unit/targets/emitting.h"

namespace sous::targets {
namespace {

// C = C + A * B by blocks of 2 x 4 threads, and a time loop around two kernels.
constexpr const char* product = R"(sdfg 1 product symbols n
array A: f64[n, n] argument  array B: f64[n, n] argument  array C: f64[n, n] argument  arguments n, A, B, C
loop i_b = 0 .. n step 2 gpu_grid(dimension=1) { loop j_b = 0 .. n step 4 gpu_grid(dimension=0) {
  loop i = i_b .. min(i_b + 2, n) gpu_block(dimension=1) { loop j = j_b .. min(j_b + 4, n) gpu_block(dimension=0) {
    loop k = 0 .. n { s0: C[i, j] = C[i, j] + A[i, k] * B[k, j] } } } } })";
constexpr const char* sweeps = R"(sdfg 1 sweeps symbols n
array A: f64[n + 2] argument  array B: f64[n + 2] heap transient  array s: f64 registers transient
arguments n, A
s0: s[] = 0.25
loop t = 0 .. 3 {
  loop i_b = 1 .. n + 1 step 4 gpu_grid(dimension=0) { loop i = i_b .. min(i_b + 4, n + 1) gpu_block(dimension=0) {
    s1: B[i] = s[] * (A[i - 1] + A[i + 1]) } }
  loop j_b = 1 .. n + 1 step 4 gpu_grid(dimension=0) { loop j = j_b .. min(j_b + 4, n + 1) gpu_block(dimension=0) {
    s2: A[j] = B[j] + {t}f64 } }
})";

TEST(Cuda, LikeTheInterpreter) {
  for (const char* graph : {product, sweeps})
    expect_like_interpreter(graph, {0, 1, 7, 33}, {.contract = false}, {"cuda"});
}

// Threads that wait for each other: what one has put into shared memory, others take; a place of a thread's own lasts
// from one loop over threads to the next; fewer or more iterations than threads; memory of the device as well.
constexpr const char* meeting = R"(sdfg 1 meeting symbols n
array A: f64[n] argument  array B: f64[n] argument  array C: f64[n] argument
array S: f64[8] device_shared transient  array own: f64[4, 2] registers transient  arguments n, A, B, C
loop b = 0 .. n step 8 gpu_grid(dimension=0) private(S, own) {
  loop i = b .. min(b + 8, n) step 2 gpu_block(dimension=1) {
    s0: own[(i - b) floordiv 2, 0] = A[i] s1: own[(i - b) floordiv 2, 1] = 0.25 }
  loop k = 0 .. 3 {
    loop j = b .. min(b + 8, n) gpu_block(dimension=0) { s2: S[j - b] = B[j] * {k + 1}f64 }
    if ({k}i64 <= {n}i64) {
      loop i2 = b .. min(b + 8, n) step 2 gpu_block(dimension=1) {
        loop q = b .. min(b + 8, n) {
          s3: own[(i2 - b) floordiv 2, 0] = own[(i2 - b) floordiv 2, 0] + own[(i2 - b) floordiv 2, 1] * S[q - b] } } } }
  loop i3 = b .. min(b + 8, n) step 2 gpu_block(dimension=1) { s4: C[i3] = own[(i3 - b) floordiv 2, 0] }
  loop p = b .. min(b + 8, n) step 2 gpu_block(dimension=0) { s5: A[p] = C[b + b + 6 - p] }
})";

TEST(Cuda, ThreadsMeet) { expect_like_interpreter(meeting, {0, 8, 24}, {.contract = false}, {"cuda"}); }

// One value for all threads of a block, which one of them gives it.
constexpr const char* shared_value = R"(sdfg 1 shared symbols n
array A: f64[n] argument  array B: f64[n] argument  array s: f64 device_shared transient  arguments n, A, B
loop b = 0 .. n step 8 gpu_grid(dimension=0) private(s) {
  loop one = 0 .. 1 gpu_block(dimension=0) { s0: s[] = A[b] * 0.25 }
  loop i = b .. min(b + 8, n) gpu_block(dimension=0) { s1: B[i] = s[] + A[i] } })";

TEST(Cuda, ThreadsShareAValue) { expect_like_interpreter(shared_value, {0, 8, 21}, {.contract = false}, {"cuda"}); }

// A row that each thread keeps, in loops whose bounds have to do with each other; and one at a place that only data
// says.
constexpr const char* kept_row = R"(sdfg 1 kept symbols n
array A: f64[n, 8] argument  array D: f64[8, 8] argument  array row: f64[4] stack transient  arguments n, A, D
loop b = 0 .. n step 8 gpu_grid(dimension=0) { loop i = b .. min(b + 8, n) gpu_block(dimension=0) private(row) {
  loop c = 2 .. 6 { s0: row[c - 2] = A[i, c] }
  loop k = 2 .. 6 {
    s1: row[k - 2] = row[k - 2] / D[k, k]
    loop j = k + 1 .. 6 { s2: row[j - 2] = row[j - 2] - row[k - 2] * D[k, j] }
    loop l = 2 .. k { s3: row[l - 2] = row[l - 2] + 0.5 } }
  loop w = 2 .. 6 { s4: A[i, w] = row[w - 2] } } })";

TEST(Cuda, WhatAThreadKeepsIsWrittenOut) {
  expect_like_interpreter(kept_row, {0, 8, 21}, {.contract = false}, {"cuda"});
  const std::string text = emitted("cuda", parsed(kept_row));
  EXPECT_TRUE(text.contains("for (int64_t j_n = k_n + 1; j_n < 4; ++j_n)")) << text;
  EXPECT_TRUE(text.contains("for (int64_t l_n = 0; l_n < k_n; ++l_n)")) << text;
  std::string unknown = kept_row;
  unknown.replace(unknown.find("l - 2] + 0.5"), 5, "i - b");
  unknown.replace(unknown.find("row: f64[4]"), 11, "row: f64[8]");
  EXPECT_FALSE(emitted("cuda", parsed(unknown)).contains("j_n")) << unknown;
}

// Registers and memory, as many elements at a time as an access moves.
TEST(Cuda, NeighboursMoveTogether) {
  const char* graph = R"(sdfg 1 tile symbols n
array A: f64[n, 4] argument  array r: f64[4] registers transient  arguments n, A
loop b = 0 .. n step 8 gpu_grid(dimension=0) { loop i = b .. min(b + 8, n) gpu_block(dimension=0) private(r) {
  loop c = 0 .. 4 simd(lanes=4) { s0: r[c] = A[i, c] }
  loop d = 0 .. 4 simd(lanes=4) { s1: A[i, d] = r[3 - d] }
  loop e = 0 .. 4 simd(lanes=4) { s2: A[i, e] = r[e] } } })";
  expect_like_interpreter(graph, {0, 8, 21}, {.contract = false}, {"cuda"});
  const std::string text = emitted("cuda", parsed(graph));
  EXPECT_TRUE(text.contains("sous::gpu::load_neighbours<4>(&r[0], &A[")) << text;
  EXPECT_TRUE(text.contains("sous::gpu::store_neighbours<4>(&A[")) << text;
  EXPECT_TRUE(text.contains("r[3]")) << text;
}

std::size_t barriers_in(const std::string& text) {
  std::size_t barriers = 0;
  for (std::size_t at = 0; (at = text.find("__syncthreads();", at)) != std::string::npos; ++at) ++barriers;
  return barriers;
}

TEST(Cuda, BarriersWhereThreadsExchange) {
  const std::string text = emitted("cuda", parsed(meeting));
  EXPECT_EQ(barriers_in(text), 4U) << text;
  EXPECT_TRUE(text.contains("run.launch_meeting(")) << text;
  EXPECT_FALSE(emitted("cuda", parsed(product)).contains("__syncthreads")) << text;
}

// Two buffers in turns: one is filled while the other is read. What fills is loaded ahead and stored behind.
std::string in_turns(const std::string& next) {
  return R"(sdfg 1 turns symbols n
array A: f64[n] argument  array B: f64[4, n] argument
array S: f64[2, 8] device_shared transient  array own: f64[4] registers transient  arguments n, A, B
loop b = 0 .. n step 8 gpu_grid(dimension=0) private(S, own) {
  loop i = b .. min(b + 8, n) step 2 gpu_block(dimension=0) { s0: own[(i - b) floordiv 2] = 0.5 }
  loop j = b .. min(b + 8, n) gpu_block(dimension=0) { s1: S[0, j - b] = B[0, min(j, n - 1)] }
  loop k = 0 .. 3 {
    loop q = b .. min(b + 8, n) gpu_block(dimension=0) { s2: S[)" +
         next + R"(, q - b] = B[k + 1, min(q, n - 1)] * {k + 2}f64 }
    loop i2 = b .. min(b + 8, n) step 2 gpu_block(dimension=0) {
      loop p = b .. min(b + 8, n) {
        s3: own[(i2 - b) floordiv 2] = own[(i2 - b) floordiv 2] * S[k mod 2, p - b] + S[k mod 2, p - b] } } }
  loop i3 = b .. min(b + 8, n) step 2 gpu_block(dimension=0) { s4: A[i3] = own[(i3 - b) floordiv 2] }
})";
}

// A loop around what threads do together may have no iteration, and with it goes the barrier inside.
TEST(Cuda, BarriersBehindALoopThatMayNotRun) {
  const auto graph = [](const std::string& steps) {
    return R"(sdfg 1 t symbols n, m
array A: f64[n, 8] argument  array B: f64[n, 8] argument  array C: f64[n, 8] argument  array D: f64[n, 8] argument
arguments n, m, A, B, C, D
loop b = 0 .. n gpu_grid(dimension=0) {
  loop j = 0 .. 8 gpu_block(dimension=0) { s0: A[b, j] = A[b, j] * 1.5 + {b}f64 }
  loop k = 0 .. )" +
           steps + R"( {
    loop i = 0 .. 8 gpu_block(dimension=0) { s1: B[b, i] = B[b, i] * 0.5 + A[b, 7 - i] }
    loop l = 0 .. 8 gpu_block(dimension=0) { s2: C[b, l] = C[b, l] + B[b, 7 - l] } }
  loop p = 0 .. 8 gpu_block(dimension=0) { s3: D[b, p] = A[b, 7 - p] } })";
  };
  for (const char* steps : {"m - 3", "0", "2"})
    expect_like_interpreter(graph(steps), {3, 5}, {.contract = false}, {"cuda"});
}

TEST(Cuda, TwoBuffersTakeTurns) {
  const std::string apart = in_turns("(k + 1) mod 2"), same = in_turns("(k + 2) mod 2");
  for (const std::string& graph : {apart, same})
    expect_like_interpreter(graph.c_str(), {0, 5, 8, 24}, {.contract = false}, {"cuda"});
  const std::string text = emitted("cuda", parsed(apart));
  EXPECT_EQ(barriers_in(text), 2U) << text;
  EXPECT_EQ(barriers_in(emitted("cuda", parsed(same))), 3U);
  // Loaded ahead of the barrier, which stands ahead of what is computed; stored behind that.
  const std::size_t load = text.find("] = B[(k + 1)"), barrier = text.find("__syncthreads();", load),
                    store = text.find("S[(k + 1) % 2", barrier);
  EXPECT_TRUE(load < barrier && barrier < store && store != std::string::npos) << text;
}

// Four threads sum a column each; as what they read is copied by more, a block has these, too, which sum nothing.
constexpr const char* columns = R"(sdfg 1 columns symbols n
array A: f64[n, n] argument  array x: f64[n] argument
array S: f64[2, 32, 4] device_shared transient  array own: f64[4] registers transient  arguments n, A, x
loop b = 0 .. n step 4 gpu_grid(dimension=0) private(S, own) {
  loop i = b .. min(b + 4, n) gpu_block(dimension=0) { s0: own[i - b] = x[i] }
  loop q = 0 .. min(32, n) gpu_block(dimension=1) { loop j = b .. min(b + 4, n) gpu_block(dimension=0) {
    s1: S[0, q, j - b] = A[q, j] } }
  loop k = 0 .. n step 32 {
    loop q2 = k + 32 .. min(k + 64, n) gpu_block(dimension=1) { loop j2 = b .. min(b + 4, n) gpu_block(dimension=0) {
      s2: S[(k floordiv 32 + 1) mod 2, q2 - k - 32, j2 - b] = A[q2, j2] } }
    loop i2 = b .. min(b + 4, n) gpu_block(dimension=0) {
      loop p = k .. min(k + 32, n) { s3: own[i2 - b] = own[i2 - b] + S[k floordiv 32 mod 2, p - k, i2 - b] } } }
  loop i3 = b .. min(b + 4, n) gpu_block(dimension=0) { s4: x[i3] = own[i3 - b] }
})";

TEST(Cuda, MoreThreadsCopyThanSum) {
  expect_like_interpreter(columns, {0, 1, 5, 31, 32, 67, 70}, {.contract = false}, {"cuda"});
  const std::string text = emitted("cuda", parsed(columns));
  EXPECT_TRUE(text.contains("dim3{4, 4, 1}")) << text;
  EXPECT_TRUE(text.contains("if (threadIdx.y == 0)")) << text;
  EXPECT_TRUE(text.contains("sous::gpu::copy_async(")) << text;
  EXPECT_EQ(barriers_in(text), 3U) << "the last one in case that k has no iteration\n" << text;
}

// Tiles of two dimensions: a warp is 4 by 8 threads, each of which still has a place of its own.
TEST(Cuda, EachThreadHasItsPlace) {
  expect_like_interpreter(R"(sdfg 1 t symbols n
array A: f64[n, n] argument  array own: f64[8, 16, 1] registers transient  arguments n, A
loop a = 0 .. n step 8 gpu_grid(dimension=1) { loop b = 0 .. n step 16 gpu_grid(dimension=0) private(own) {
  loop i = a .. min(a + 8, n) gpu_block(dimension=1) { loop j = b .. min(b + 16, n) gpu_block(dimension=0) {
    s0: own[i - a, j - b, 0] = A[i, j] * {j}f64 } }
  loop p = a .. min(a + 8, n) gpu_block(dimension=1) { loop q = b .. min(b + 16, n) gpu_block(dimension=0) {
    s1: A[p, q] = own[p - a, q - b, 0] + 1.0 } } } })",
                          {0, 3, 16, 21}, {.contract = false}, {"cuda"});
}

// Bounds that depend on loops around, steps, and what each thread has of its own.
TEST(Cuda, LoopsOverThreadsOfAnyKind) {
  expect_like_interpreter(R"(sdfg 1 t symbols n
array A: f64[n, n] argument  array p: i32[4] stack transient  array x: f64 registers transient  arguments n, A
loop i = n - 1 .. -1 step -2 gpu_grid(dimension=2) {
  loop j = 0 .. i + 1 step 3 gpu_block(dimension=0) private(p, x) {
    loop k = 0 .. 4 { s0: p[k] = {1000000000 * k + j}i32 }
    s1: x[] = f64(p[j mod 4] * p[3])
    s2: A[i, j] = A[i, j] + x[]
  }
})",
                          {1, 6, 40}, {.contract = false}, {"cuda"});
}

// A launch takes 65,535 blocks along y and z; the others follow in further ones. Bounds that depend on an outer loop.
TEST(Cuda, MoreBlocksThanALaunchTakes) {
  expect_like_interpreter(R"(sdfg 1 t symbols n
      array A: i64[65540] argument array B: i64[n, n] argument arguments n, A, B
      loop i = 3 .. 65540 gpu_grid(dimension=1) { s: A[i] = {7*i}i64 }
      loop i2 = 0 .. n step 2 gpu_grid(dimension=1) { loop j2 = i2 .. n step 3 gpu_grid(dimension=0) {
        loop k = i2 .. min(i2 + 2, n) gpu_block(dimension=1) { loop l = j2 .. min(j2 + 3, n) gpu_block(dimension=0) {
          s2: B[k, l] = {k - l}i64 } } } })",
                          {0, 13}, {.contract = false}, {"cuda"});
}

// The rows of a triangle: whichever block is left at the end has the least to do, and each row is still one block's.
TEST(Cuda, BlocksWithMoreToDoGoFirst) {
  const char* triangle = R"(sdfg 1 t symbols n
array A: f64[n] argument  arguments n, A
loop b = 0 .. n step 4 gpu_grid(dimension=0) { loop i = b .. min(b + 4, n) gpu_block(dimension=0) {
  loop j = 0 .. i + 1 { s: A[i] = A[i] * 0.5 + {j}f64 } } })";
  expect_like_interpreter(triangle, {0, 1, 4, 9, 30}, {.contract = false}, {"cuda"});
  EXPECT_TRUE(emitted("cuda", parsed(triangle)).contains("gridDim.x - 1 - blockIdx.x"));
}

// Rows that are longest, or begin first, in the middle: the ends of the loop around them say nothing of that.
TEST(Cuda, BlocksForTheLongestOfAllRows) {
  for (const char* row : {"0 .. min(i, n - i)", "max(i, n - 1 - i) .. n", "min(i, n - i) .. 0 step -1",
                          "0 .. i floordiv 2 - i + n", "0 .. i * (n - i)", "i mod 5 .. n", "i * n .. i * n + n"}) {
    const std::string graph =
        "sdfg 1 t symbols n array A: f64[n + 1, n * n + 1] argument  arguments n, A\n"
        "loop i = 0 .. n gpu_grid(dimension=1) { loop j = " +
        std::string(row) + " gpu_grid(dimension=0) { s: A[i, j] = A[i, j] * 0.5 + {i + j}f64 } }";
    expect_like_interpreter(graph, {0, 1, 2, 9, 30}, {.contract = false}, {"cuda"});
  }
}

// On the CPU integers wrap by an option; nvcc has none such.
TEST(Cuda, IntegersWrapInTheText) {
  const std::string text =
      emitted("cuda", parsed("sdfg 1 t symbols n array k: i32[n] argument arguments n, k "
                             "loop i = 0 .. n gpu_grid(dimension=0) { s: k[i] = -k[i] * 3i32 - 1i32 }"));
  EXPECT_TRUE(
      text.contains("k[i] = sous::wrap_sub<int32_t>(sous::wrap_mul<int32_t>(sous::wrap_sub<int32_t>(0, k[i]), 3), 1);"))
      << text;
}

TEST(Cuda, OneFmaWhereTheHostHasOne) {
  const std::string text = emitted("cuda", parsed(product));
  EXPECT_TRUE(text.contains("C[i * n + j] = sous::mul_add<double>(A[i * n + k], B[k * n + j], C[i * n + j]);")) << text;
  EXPECT_TRUE(
      text.contains("run.launch(kernel_kernel, sous::gpu::blocks(sous::gpu::trips(0, n, 4), "
                    "sous::gpu::trips(0, n, 2), 1), dim3{4, 2, 1}, n, A, B, C);"))
      << text;
  EXPECT_FALSE(text.contains("gridDim") || text.contains("blockDim")) << text;
  EXPECT_TRUE(
      emitted("cuda", parsed(product), {.contract = false}).contains("C[i * n + j] + A[i * n + k] * B[k * n + j]"));
}

TEST(Cuda, TheClockStandsStillForWhatIsNotTimed) {
  const std::string text = emitted("cuda",
                                   parsed("sdfg 1 t symbols n array x: f64[n] argument arguments n, x "
                                          "loop i = 0 .. n { s: x[i] = 1.0 } loop j = 0 .. n { t: x[j] = 2.0 }"),
                                   {.timed = Part{1, 2}});
  EXPECT_TRUE(
      text.contains("  run.wait(); sous_clock_stop();\n"
                    "  run.launch(kernel_kernel, sous::gpu::blocks(1, 1, 1), dim3{1, 1, 1}, n, x);\n"
                    "  run.wait(); sous_clock_start();\n"
                    "  run.launch(kernel_kernel_1, "))
      << text;
}

// What is written as a whole and read only behind that is not brought to the device; a temporary is neither brought nor
// fetched.
TEST(Cuda, ArraysCrossTheBusOnceAtMost) {
  const std::string copies = emitted("cuda", parsed(R"(sdfg 1 t symbols n
array A: f64[n] argument  array B: f64[n] argument  array D: f64[n] argument dead  arguments n, A, B, D
loop b = 0 .. n step 32 gpu_grid(dimension=0) { loop i = b .. min(b + 32, n) gpu_block(dimension=0) {
  s0: D[i] = A[i]  s1: B[i] = D[i] } })"));
  EXPECT_TRUE(copies.contains("run.array(A, A_footprint, sous::gpu::reads)")) << copies;
  EXPECT_TRUE(copies.contains("run.array(B, B_footprint, sous::gpu::writes | sous::gpu::whole)")) << copies;
  EXPECT_TRUE(copies.contains("run.array(D, D_footprint, sous::gpu::changes | sous::gpu::whole)")) << copies;
  EXPECT_TRUE(emitted("cuda", parsed(product))
                  .contains("run.array(C, C_footprint, sous::gpu::reads | sous::gpu::writes | sous::gpu::whole)"));
  EXPECT_TRUE(
      emitted("cuda", parsed(sweeps)).contains("run.array(A, A_footprint, sous::gpu::reads | sous::gpu::writes)"));
}

// All elements are written, but what lies between the rows is no element.
TEST(Cuda, WhatLiesBetweenRowsStays) {
  expect_like_interpreter(R"(sdfg 1 t symbols n
array A: f64[n, 3] strides [5, 1] argument  arguments n, A
loop i = 0 .. n gpu_grid(dimension=0) { loop j = 0 .. 3 gpu_block(dimension=0) { s: A[i, j] = 1.5 } })",
                          {0, 1, 9}, {.contract = false}, {"cuda"});
}

std::string refusal(const std::string& graph, const EmitOptions& options = {}) {
  const auto code = cuda_target.emit(parsed(graph), options);
  return code ? "" : code.error().code;
}

TEST(Cuda, RefusesWhatItCannotDoAlike) {
  const std::string head =
      "sdfg 1 t symbols n array A: f64[n] argument array B: f64[n] argument array k: i64 argument "
      "array w: f64[n] heap transient arguments n, A, B, k ";
  const auto thread = [&](const std::string& body) {
    return head + "loop b = 0 .. n gpu_grid(dimension=0) { loop i = 0 .. 4 gpu_block(dimension=0) { " + body + " } }";
  };
  EXPECT_EQ(refusal(thread("s: A[i] = sqrt(B[i])")), "");
  EXPECT_EQ(refusal(thread("s: A[i] = sqrt(B[i])"), {.math_errno = true}), "target.errno");
  EXPECT_EQ(refusal(thread("s: A[i] = exp(B[i])")), "target.math");
  EXPECT_EQ(refusal(thread("s: A[i] = exp(B[i])"), {.approximate_math = true}), "");
  EXPECT_EQ(refusal(head + "s: k[] = 1i64 loop t = 0 .. k[] { loop b = 0 .. n gpu_grid(dimension=0) { "
                           "u: A[b] = 1.0 } }"),
            "target.unsupported");
  EXPECT_EQ(refusal(head + "loop b = 0 .. n gpu_grid(dimension=0) { s: B[b] = 1.0 "
                           "loop i = 0 .. 4 gpu_block(dimension=0) { u: A[i] = 1.0 } }"),
            "target.unsupported");
  EXPECT_EQ(refusal(head + "loop b = 0 .. n gpu_grid(dimension=0) private(w) { s: w[0] = 1.0 u: A[b] = w[0] }"),
            "target.unsupported");
  EXPECT_EQ(refusal("sdfg 1 t symbols n array A: f64[n] argument alias 1 array B: f64[n] argument alias 1 "
                    "arguments n, A, B loop b = 0 .. n gpu_grid(dimension=0) { s: A[b] = B[b] }"),
            "target.unsupported");
}

// What threads of a block cannot do together.
TEST(Cuda, RefusesMeetingsThatAreNone) {
  const auto block = [](const std::string& body) {
    return refusal(
        "sdfg 1 t symbols n array A: f64[n] argument array k: i64 argument array o: f64[4] registers transient "
        "array s: f64[8000] device_shared transient array u: f64[8] device_shared transient "
        "arguments n, A, k loop b = 0 .. n gpu_grid(dimension=0) private(o, s, u) { " +
        body + " }");
  };
  const std::string thread = "loop i = 0 .. 4 gpu_block(dimension=0) { s0: o[i] = 1.0 } ";
  EXPECT_EQ(block(thread + "loop j = 0 .. 4 gpu_block(dimension=0) { s1: A[b] = o[3 - j] }"), "target.unsupported");
  EXPECT_EQ(block(thread + "loop j = 0 .. 3 gpu_block(dimension=0) { s1: A[b] = o[j] }"), "target.unsupported");
  EXPECT_EQ(block(thread + "s1: A[b] = 1.0"), "target.unsupported");
  EXPECT_EQ(block(thread + "loop j = 0 .. 4 gpu_block(dimension=0) { s1: k[] = 1i64 } "
                           "loop t = 0 .. k[] { loop l = 0 .. 4 gpu_block(dimension=0) { s2: A[l] = 1.0 } }"),
            "target.unsupported");
}

// An entry, and what it asks of the emulated device.
struct Emulation {
  explicit Emulation(const sdfg::Sdfg& graph, const std::string& flags = "", const EmitOptions& options = {})
      : graph(graph), code(compiled(graph, flags, options)) {}
  static tests::GeneratedCode compiled(const sdfg::Sdfg& graph, const std::string& flags, EmitOptions options) {
    options.function = "run";
    const std::string source =
        tests::source_file({emitted_function("cuda", graph, options)}, "test") +
        "extern \"C\" void fail_at(long k) { sous::gpu::emulated = {}; sous::gpu::device.most_kept = 0;\n"
        "  sous::gpu::emulated.fail_at = k; }\n"
        "extern \"C\" sous::gpu::Emulated* emulated() { return &sous::gpu::emulated; }\n";
    tests::CompileOptions how{.include_root = SOUS_SOURCE_DIR};
    how.flags += flags;
    auto code = tests::GeneratedCode::compile(source, {{&graph, "run"}}, how);
    if (!code) ADD_FAILURE() << code.error().why;
    return std::move(*code);
  }
  // All calls of CUDA's functions from the k-th on; 0: none.
  void fail_at(long k) const { reinterpret_cast<void (*)(long)>(code.symbol("fail_at"))(k); }
  const sous::gpu::Emulated& emulated() const {
    return *reinterpret_cast<const sous::gpu::Emulated* (*)()>(code.symbol("emulated"))();
  }

  const sdfg::Sdfg& graph;
  const tests::GeneratedCode code;
};

// Whichever call fails, the entry returns 0, and no byte of the program's arrays has changed; nothing stays allocated.
TEST(Cuda, AFailureLeavesAllAsItWas) {
  const sdfg::Sdfg graph = parsed(sweeps);
  const Emulation run(graph);
  const sdfg::Memory before = tests::random_memory(graph, 1);
  sdfg::Memory after = before;
  run.fail_at(0);
  ASSERT_EQ(run.code.run(0, after), 1);
  EXPECT_FALSE(after.buffers.at("A") == before.buffers.at("A"));
  const long all = run.emulated().calls;
  EXPECT_GT(all, 10);
  for (long k = 1; k <= all; ++k) {
    sdfg::Memory memory = before;
    run.fail_at(k);
    EXPECT_EQ(run.code.run(0, memory), 0) << k;
    EXPECT_TRUE(memory.buffers.at("A") == before.buffers.at("A")) << k;
    EXPECT_EQ(run.emulated().allocated, 0) << k;
  }
}

// The device rounds to nearest, keeps denormal numbers and traps nothing: who wants something else has the CPU.
TEST(Cuda, AThreadThatRoundsOtherwiseRunsTheOriginals) {
  const sdfg::Sdfg graph = parsed(sweeps);
  const Emulation run(graph), fast(graph, "", {.approximate_math = true});
  sdfg::Memory memory = tests::random_memory(graph, 1);
  EXPECT_EQ(run.code.run(0, memory), 1);
  std::fesetround(FE_UPWARD);
  EXPECT_EQ(run.code.run(0, memory), 0);
  EXPECT_EQ(fast.code.run(0, memory), 0);
  std::fesetround(FE_TONEAREST);
#if defined(__x86_64__)
  const unsigned usual = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(usual | 0x8040U);
  EXPECT_EQ(run.code.run(0, memory), 0);
  EXPECT_EQ(fast.code.run(0, memory), 1) << "-ffast-math sets it as a program begins";
  __builtin_ia32_ldmxcsr(usual);
#endif
  EXPECT_EQ(run.code.run(0, memory), 1);
}

// The driver does not work in a child of a process that has used it.
TEST(Cuda, AChildRunsTheOriginals) {
  const sdfg::Sdfg graph = parsed(sweeps);
  const Emulation run(graph);
  sdfg::Memory memory = tests::random_memory(graph, 1);
  ASSERT_EQ(run.code.run(0, memory), 1);
  if (const pid_t child = fork(); child == 0) {
    const sdfg::Memory before = memory;
    const bool well = run.code.run(0, memory) == 0 && memory.buffers.at("A") == before.buffers.at("A");
    _exit(well ? 0 : 1);
  } else {
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(run.code.run(0, memory), 1);
}

constexpr const char* many_pieces = R"(sdfg 1 t symbols n
array A: f64[n + 2] argument  array B: f64[n] argument  array C: f64[n] argument  arguments n, A, B, C
loop i = 0 .. n gpu_grid(dimension=0) { s0: A[i + 1] = A[i + 1] + B[i]  s1: B[i] = B[i] * 0.5  s2: C[i] = B[i] })";

// What lies between elements that are written may be others': the entry says so to the runtime.
TEST(Cuda, ArraysThatStayAndAreInterleaved) {
  const sdfg::Sdfg graph = parsed(many_pieces);
  EmitOptions options;
  options.residences = {{"A", "B"}, {"A"}};
  const std::string text = emitted_function("cuda", graph, options).code;
  EXPECT_TRUE(text.contains("sous::gpu::reads | sous::gpu::writes | sous::gpu::interleaved, A_residence)")) << text;
  EXPECT_TRUE(text.contains("sous::gpu::whole, B_residence)")) << text;
}

// An entry with an offer decides by its sizes: the GPU is begun when the calls by then have lost as much without it.
TEST(Cuda, EachCallDecides) {
  const sdfg::Sdfg graph = parsed(sweeps);  // 1 + 3 * 2 n statements, 6 launches and one
  Offer offer{.original = graph.root, .core_each = 1, .launch = 0.25, .run = 3, .first = 2, .start = 100};
  EmitOptions options;
  options.offer = &offer;
  const std::string text = emitted_function("cuda", graph, options).code;
  EXPECT_TRUE(text.contains("sous::gpu::Offer offer({1.0, 0.0, false, 0.0, 0.25, 3.0, 2.0, 0.0, 0.0, 100.0}")) << text;
  const Emulation run(graph, "", options);
  const auto taken = [&](std::int64_t n) {
    sdfg::Memory memory = tests::random_memory(graph, 1);
    memory.symbols["n"] = n;
    memory.buffers.at("A").bytes.resize(static_cast<std::size_t>(n + 2) * 8);
    return run.code.run(0, memory) == 1;
  };
  run.fail_at(0);
  EXPECT_FALSE(taken(1));  // 7 against 4.75, and 2 the first time: nobody knows
  EXPECT_FALSE(taken(8));  // 49 against 6.75: the start is not worth it yet
  EXPECT_FALSE(taken(8));
  EXPECT_TRUE(taken(8));
  EXPECT_TRUE(taken(2));  // 13 against 4.75
  EXPECT_FALSE(taken(0));
  // Where it cannot be begun, nobody asks again.
  run.fail_at(1);
  EXPECT_FALSE(taken(8));
  run.fail_at(0);
  EXPECT_FALSE(taken(100));
}

constexpr const char* in_pieces = " -DSOUS_GPU_PIECE_BYTES=64 -DSOUS_GPU_KEEPS_BLOCKS=1";
sdfg::Memory many_elements(const sdfg::Sdfg& graph) {
  sdfg::Memory memory = tests::random_memory(graph, 1);
  memory.symbols["n"] = 150;
  for (auto& [name, buffer] : memory.buffers) {
    buffer.bytes.resize(static_cast<std::size_t>(name == "A" ? 152 : 150) * 8);
    for (std::size_t k = 0; k < buffer.bytes.size(); ++k) buffer.bytes[k] = static_cast<std::byte>(k % 8 == 7 ? 63 : k);
  }
  return memory;
}

// Large arrays pass through pinned buffers, piece by piece, in several threads: whatever is written (a part, all of it,
// all of it without a look) arrives, and a failure on the way leaves all as it was.
TEST(Cuda, LargeArraysInPieces) {
  const sdfg::Sdfg graph = parsed(many_pieces);
  const Emulation run(graph, in_pieces);
  const sdfg::Memory before = many_elements(graph);
  sdfg::Memory expected = before, actual = before;
  ASSERT_TRUE(sdfg::interpret(graph, expected));
  run.fail_at(0);
  ASSERT_EQ(run.code.run(0, actual), 1);
  for (const auto& [name, buffer] : expected.buffers) EXPECT_TRUE(actual.buffers.at(name) == buffer) << name;
  // 19 pieces each. C, which is written whole and never read, is not brought.
  EXPECT_EQ(run.emulated().bytes_to, (152 + 150) * 8);
  EXPECT_EQ(run.emulated().bytes_from, (152 + 150 + 150) * 8);
  EXPECT_EQ(run.emulated().copies_to, 19 + 19);
  EXPECT_EQ(run.emulated().copies_from, 19 + 19 + 19);
  const long all = run.emulated().calls;
  EXPECT_GT(all, 2 * (19 + 19 + 19 + 19 + 19));
  for (long k = 1; k <= all; ++k) {
    actual = before;
    run.fail_at(k);
    const bool ran = run.code.run(0, actual) == 1;  // the last calls: of a process that has all its buffers already
    for (const auto& [name, buffer] : (ran ? expected : before).buffers)
      EXPECT_TRUE(actual.buffers.at(name) == buffer || (!ran && name == "C")) << name << " " << k;
  }
}

// A thread that is cancelled in the middle of a run ends behind it: nothing is lost, and no lock stays.
TEST(Cuda, ACancelledThreadEndsItsRun) {
  struct Cancelled {
    const sdfg::Sdfg graph = parsed(many_pieces);
    const Emulation run{graph, in_pieces};
    sdfg::Memory memory = many_elements(graph);
    int result = -1;
  } cancelled;
  const auto body = [](void* given) -> void* {
    auto& c = *static_cast<Cancelled*>(given);
    pthread_cancel(pthread_self());
    c.result = c.run.code.run(0, c.memory);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    return nullptr;
  };
  pthread_t thread{};
  ASSERT_EQ(pthread_create(&thread, nullptr, body, &cancelled), 0);
  ASSERT_EQ(pthread_join(thread, nullptr), 0);
  EXPECT_EQ(cancelled.result, 1);
  EXPECT_EQ(cancelled.run.code.run(0, cancelled.memory), 1);
}

}  // namespace
}  // namespace sous::targets
