#include "sdfg/dependence_memory.h"

#include <algorithm>

namespace sous::sdfg {
namespace {

// A file seldom has as many different nests and recipes; each holds what isl has made of it, a megabyte or so.
constexpr std::size_t most_known = 48;

constinit thread_local DependenceMemory* of_thread = nullptr;

bool is_same(const Statement& a, const Statement& b) {
  return a.name == b.name && a.opaque == b.opaque && a.iterators == b.iterators && a.node == b.node &&
         a.domain == b.domain;
}

bool is_same(const Scop& a, const Scop& b) {
  return a.frame == b.frame && a.tree == b.tree &&
         std::ranges::equal(a.statements, b.statements,
                            [](const Statement& s, const Statement& t) { return is_same(s, t); });
}

}  // namespace

DependenceMemory::DependenceMemory() {
  if (of_thread == nullptr) of_thread = this;
}

DependenceMemory::~DependenceMemory() {
  if (of_thread == this) of_thread = nullptr;
}

DependenceMemory* DependenceMemory::here() { return of_thread; }

const Result<Dependences>* DependenceMemory::find(const Scop& scop, const std::set<int>& statements,
                                                  const Budget& budget) {
  const auto answers = [&](const Known& one) {
    const bool enough = one.statements == statements || (one.result && one.result->cover(statements));
    return enough && one.operations == budget.operations && is_same(one.scop, scop);
  };
  const auto found = std::ranges::find_if(known_, answers);
  if (found == known_.end()) return nullptr;
  std::rotate(known_.begin(), found, found + 1);
  return &known_.front().result;
}

void DependenceMemory::keep(const Scop& scop, const std::set<int>& statements, const Budget& budget,
                            const Result<Dependences>& result) {
  if (known_.size() == most_known) known_.pop_back();
  known_.push_front({scop, statements, budget.operations, result});
}

}  // namespace sous::sdfg
