// The loops of a disassembly, with counts of what matters in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sous::benchmarks {

struct Instruction {
  std::uint64_t address = 0;
  std::string text;  // AT&T syntax
};

struct LoopCounts {
  int instructions = 0;
  int vector_fma = 0, scalar_fma = 0;
  int vector_arithmetic = 0;  // packed, other than fma
  int loads = 0, stores = 0;  // of any kind, spills included
  int spills = 0;             // vector registers to or from the stack
  int gathers = 0, divisions = 0;

  bool operator==(const LoopCounts&) const = default;
};

// An innermost loop: from a backward jump's target to the jump, with no such range inside.
struct Loop {
  std::string function;
  std::vector<Instruction> body;
  LoopCounts counts;
};

// `frame_pointer`: %rbp is one, so that what lies behind it is the stack.
LoopCounts count(const std::vector<Instruction>& body, bool frame_pointer);

// The name of a function that Sous generated, parallel bodies that the compiler outlined from it included; "" for any
// other symbol. A static function is _ZL, the name's length, the name, the parameters' types (Itanium C++ ABI).
std::string generated_name(std::string_view symbol);

// `objdump`: the output of objdump -d --no-show-raw-insn for x86-64. Innermost loops, most vector fmas first, then most
// vector arithmetic, then in order of place.
std::vector<Loop> innermost_loops(std::string_view objdump);

}  // namespace sous::benchmarks
