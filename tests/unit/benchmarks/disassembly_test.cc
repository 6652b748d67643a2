#include "benchmarks/disassembly.h"

#include <gtest/gtest.h>

namespace sous::benchmarks {
namespace {

// Two nested loops of `f`; the inner one is 110a to 112c. `g` has none.
constexpr const char* listing = R"(
a.out:     file format elf64-x86-64

Disassembly of section .text:

0000000000001100 <f>:
    1100:	xor    %eax,%eax
    1102:	lea    0x0(%rax,%rax,1),%rcx
    1106:	vmovupd (%rdi),%zmm4
    110a:	vbroadcastsd (%rsi,%rax,8),%zmm0
    110e:	vfmadd231pd (%rdx,%rax,8),%zmm0,%zmm1
    1114:	vfmadd231sd %xmm2,%xmm3,%xmm4
    1118:	vmovupd %zmm1,0x40(%rsp)
    1120:	vaddpd 0x80(%rsp),%zmm1,%zmm2
    1124:	mov    %rcx,(%r8)
    1126:	vmovapd (%r9),%zmm5        # 4000 <table>
    1128:	add    $0x8,%rax
    112c:	jne    110a <f+0xa>
    112e:	dec    %rbx
    1130:	jne    1102 <f+0x2>
    1132:	ret

0000000000001140 <g>:
    1140:	je     1144 <g+0x4>
    1142:	nopw   0x0(%rax,%rax,1)
    1144:	ret
)";

TEST(Disassembly, FindsTheInnermostLoopAndCounts) {
  const auto loops = innermost_loops(listing);
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_EQ(loops[0].function, "f");
  EXPECT_EQ(loops[0].body.front().address, 0x110aU);
  EXPECT_EQ(loops[0].body.back().address, 0x112cU);
  LoopCounts expected;
  expected.instructions = 9;
  expected.vector_fma = 1;
  expected.scalar_fma = 1;
  expected.vector_arithmetic = 1;
  expected.loads = 4;   // the broadcast, the fma's operand, the reload in vaddpd, the table
  expected.stores = 2;  // one of them a spill
  expected.spills = 2;
  EXPECT_EQ(loops[0].counts, expected);
}

TEST(Disassembly, MostFmasFirst) {
  const auto loops = innermost_loops(
      "0000 <a>:\n 1:\tnop\n 2:\tjmp    1 <a+1>\n"
      "0010 <b>:\n 11:\tvfmadd231ps %ymm0,%ymm1,%ymm2\n 12:\tjb    11 <b+1>\n");
  ASSERT_EQ(loops.size(), 2U);
  EXPECT_EQ(loops[0].function, "b");
}

TEST(Disassembly, AnArrayOnTheStackIsNoSpill) {
  EXPECT_EQ(count({{1, "vmovupd 0x40(%rsp,%rax,8),%zmm1"}}, false).spills, 0);
  EXPECT_EQ(count({{1, "vmovupd 0x40(%rbp),%zmm1"}}, false).spills, 0);
  EXPECT_EQ(count({{1, "vmovupd 0x40(%rbp),%zmm1"}}, true).spills, 1);
}

TEST(Disassembly, GeneratedNames) {
  EXPECT_EQ(generated_name("_ZL8sous_abcllPd.omp_outlined.2"), "sous_abc.omp_outlined.2");
  EXPECT_EQ(generated_name("_ZL8sous_abcllPd._omp_fn.0"), "sous_abc._omp_fn.0");
  EXPECT_EQ(generated_name("_ZL8sous_abcl"), "sous_abc");
  EXPECT_EQ(generated_name("sous_abc"), "sous_abc");
  for (const char* other : {"main", "_ZL4mainl", "_ZL99sous_abc", "_ZLx", "_ZN4sous3absEl"})
    EXPECT_EQ(generated_name(other), "") << other;
}

TEST(Disassembly, NothingInNothing) { EXPECT_TRUE(innermost_loops("").empty()); }

}  // namespace
}  // namespace sous::benchmarks
