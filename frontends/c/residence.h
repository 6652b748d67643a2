// Arrays that may stay on a device between the nests of a function.
//
// Condition. In the block of a Residence, from its first to its last use, every statement's changes to the array are
// made by nests that are among the uses. The argument:
//  1. Names. The object is changed through mentions of the variable in this function alone (Liveness::names): it is an
//     automatic array or a block of malloc that one pointer holds for good and that does not escape, one of a caller
//     that passes it under one name, what a restrict parameter points to, or an array with internal linkage that no
//     other function changes; of the last, the statements call nothing but functions of the C library, which call no
//     function of the program back, and look at nothing atomic or volatile, for which they might wait while another
//     thread is in the function. Of restrict parameters and arrays with linkage that holds for the elements that the
//     nests touch: what lies between them, others may change (Residence::interleaved).
//  2. Time. The variable of the Residence is the block's own, so each execution of the block begins without knowledge.
//     Nobody jumps into the block: functions with labels, and with case labels inside of other blocks, have none.
//  3. A mention outside of the nests that may change the array, or a statement that is not understood, divides the
//  block:
//     what is in front of it and what is behind it are two.
//  4. The array is the same one in all uses: it is not declared inside of a statement of the block.
// What runs on the host reads the host's memory, which has every nest's results.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "frontends/c/liveness.h"
#include "frontends/lifted.h"

namespace sous::frontends::c {

// A nest that was lifted.
struct LiftedStretch {
  struct Array {
    std::string argument;
    const clang::VarDecl* variable = nullptr;
    bool writes = false;
  };
  std::size_t begin = 0;  // LiftedNest::begin
  std::vector<const clang::Stmt*> statements;
  std::vector<Array> arrays;
};

// Those of one function, outer blocks first.
std::vector<Residence> find_residences(clang::ASTContext& context, const clang::FunctionDecl* function,
                                       const std::vector<LiftedStretch>& stretches, Liveness& liveness);

}  // namespace sous::frontends::c
