// Reductions of one loop: into one element through a local variable, and on threads that each have a copy.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "targets/cpp/printer.h"

namespace sous::targets {

struct LocalReduction {
  sdfg::Memlet place;    // the element, the same in every iteration
  std::string variable;  // its local copy
  sdfg::ReductionOp op = sdfg::ReductionOp::sum;
  bool ordered = false;  // it keeps, with the value, which thread it comes from
  // Not every iteration updates the element: perhaps the program never touches it, and it need not exist. The copy then
  // starts from the neutral element, and what it ends with is combined only where that changes something.
  bool perhaps = false;
};
// The element of `container` that the loop's body touches, if it is only one and the same in every iteration.
std::optional<sdfg::Memlet> single_place(const sdfg::Loop& loop, const std::string& container);

// Whether the region, each time it runs, writes an element of the container.
bool always_writes(const sdfg::Region& region, const std::string& container);

// The value that changes no other one by the operator, as C++; of a sum of floats, one of the two zeros.
std::string neutral_element(sdfg::ReductionOp op, sdfg::ElementType type);
// The condition, as C++, that `value`, which is combined from that one on, changes something: holds only if there was
// an update. (Of a sum of floats that is zero nobody knows: a zero of the other sign keeps its sign.)
std::string changes(sdfg::ReductionOp op, sdfg::ElementType type, const std::string& value);

// What each thread has a copy of, and what becomes of it when the thread is done.
struct OwnCopy {
  std::string name;           // in the loop, where it is the thread's copy, and around it
  std::string type;           // of the copy, or of its elements
  std::string neutral;        // what it starts from
  std::int64_t elements = 0;  // of an array; 0: it is a variable
  std::function<std::string(const std::string& all, const std::string& own)> combined;
  // Of an array: whether an element was updated, and may be touched. It may be declared larger than it is, have
  // elements of others between its own, and other threads may use what this one does not.
  std::function<std::string(const std::string& own)> changes = {};
  bool heap = false;  // an array, not for the stack as long as there is other memory
};

struct Reductions {
  std::vector<LocalReduction> locals;
  std::vector<OwnCopy> copies;  // with sections
  std::string clauses;          // without
  bool ordered = false;  // each thread takes iterations that follow each other, the first thread the first of them
};

// What the threads of a region (`shared`) or the lanes of a loop have copies of; nothing if a reduction cannot be
// followed.
std::optional<Reductions> plan_reductions(Printer& printer, const sdfg::Loop& loop, bool shared);

}  // namespace sous::targets
