// The schedule tree: the order of a nest apart from its statements. Schedule steps are functions on it.
//
// `scop_of` takes an Sdfg apart into statements (states; and whole If, While or Loop nodes where a condition or a bound
// is not affine) and the tree of loops and affine guards around them. A leaf runs one statement for the instance that
// its `iterators` name: expressions over the loop symbols around the leaf, one for each loop that enclosed the
// statement in the Sdfg. So a tree says exactly which instances run and in which order, whatever steps were applied,
// and `respects` (sdfg/dependences.h) can decide about it. `lower` puts the statements back.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "sdfg/sdfg.h"

namespace sous::sdfg {

struct ScheduleNode;

struct ScheduleLoop : LoopHeader {
  std::vector<ScheduleNode> children;
  bool operator==(const ScheduleLoop&) const;
};
// Runs its children where `condition` (bool, over symbols only, affine) holds.
struct ScheduleGuard {
  ScalarExpr condition;
  std::vector<ScheduleNode> children;
  bool operator==(const ScheduleGuard&) const;
};
struct ScheduleLeaf {
  int statement = 0;            // index into Scop::statements
  std::vector<Expr> iterators;  // parallel to Statement::iterators
  bool operator==(const ScheduleLeaf&) const = default;
};
struct ScheduleNode {
  std::variant<ScheduleLoop, ScheduleGuard, ScheduleLeaf> value;
  template <class T>
    requires(!std::is_same_v<std::decay_t<T>, ScheduleNode>)
  ScheduleNode(T&& v) : value(std::forward<T>(v)) {}  // NOLINT: a node is any of these
  bool operator==(const ScheduleNode&) const = default;
};
inline bool ScheduleLoop::operator==(const ScheduleLoop& o) const {
  return LoopHeader::operator==(o) && children == o.children;
}
inline bool ScheduleGuard::operator==(const ScheduleGuard& o) const {
  return condition == o.condition && children == o.children;
}
using ScheduleTree = std::vector<ScheduleNode>;  // the root: a sequence

struct Statement {
  std::string name;                    // of the state; of an opaque node: that of the first state in it, or "opaque<k>"
  Node node;                           // over its iterators
  std::vector<std::string> iterators;  // symbols of the loops around it in the Sdfg, outermost first
  ScheduleTree domain;                 // one chain of loops and guards down to its leaf: the instances it runs for
  bool opaque = false;                 // not a State
};

struct Scop {
  Sdfg frame;  // the Sdfg with an empty root: symbols, containers, assumptions
  std::vector<Statement> statements;
  ScheduleTree tree;
};

// Never fails: what is not affine becomes an opaque statement.
Scop scop_of(const Sdfg& sdfg);
// lower(scop_of(x)) == x for an x without empty loops and guards.
Sdfg lower(const Scop& scop, const ScheduleTree& tree);

// --- Looking into a tree ---------------------------------------------------------------------------------------------

// What is inside of a loop or a guard; null for a leaf.
const ScheduleTree* children(const ScheduleNode& node);
ScheduleTree* children(ScheduleNode& node);
// The loop with this symbol, or null.
const ScheduleLoop* find_loop(const ScheduleTree& tree, const std::string& symbol);
ScheduleLoop* find_loop(ScheduleTree& tree, const std::string& symbol);
// Symbols of all loops, parents first.
std::vector<std::string> loop_symbols(const ScheduleTree& tree);
// Symbols of the loops around (and with) this one, outermost first; empty if there is no such loop.
std::vector<std::string> path_to(const ScheduleTree& tree, const std::string& symbol);
// The loops and guards around this loop, outermost first, each without children.
std::vector<ScheduleNode> around(const ScheduleTree& tree, const std::string& symbol);
// The sequence that holds the node of this loop and its position in it; null if there is no such loop.
std::pair<ScheduleTree*, std::size_t> owner_of(ScheduleTree& tree, const std::string& symbol);
// Calls f on every leaf below, in order.
void for_each_leaf(const ScheduleTree& tree, const std::function<void(const ScheduleLeaf&)>& f);
// Replaces symbols in bounds, guards and leaf iterators.
ScheduleTree substitute(const ScheduleTree& tree, const std::map<std::string, Expr>& with);
// A loop symbol that the tree does not use: `wish`, or `wish` with a number behind.
std::string fresh_symbol(const Scop& scop, const ScheduleTree& tree, const std::string& wish);

}  // namespace sous::sdfg
