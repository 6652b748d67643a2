// The IR: a structured stateful dataflow multigraph, as plain values.
//
// Meaning (the interpreter, sdfg/interp.h, defines it; every target is held against it).
//  - An Sdfg is called with values for its symbols and with memory for its argument containers. Its root region runs.
//  - A Region runs its nodes in order.
//  - A State runs its tasklets in a topological order of its edges. Access nodes are a container at a
//    point of time: a write into an access node comes before every read from that same node. Two access nodes of one
//    container of which one is written must be ordered by a path; otherwise the state is malformed (sdfg.state.race).
//  - A Loop takes symbol = begin, begin+step, … while < end (step > 0) or > end (step < 0). Bounds are evaluated once,
//  on
//    entry. Its `privates` exist once per iteration and start undefined. Its schedule says how the iterations may run:
//      Sequential   in order.
//      Parallel     in any order and at the same time; no iteration may depend on another.
//      Simd         in groups of `lanes` consecutive iterations, in lockstep: each state (and each inner region, with
//      equal
//                   control flow or under a mask) runs for all lanes, all reads before all writes, before the next one
//                   starts.
//      Unroll       as Sequential; the target writes `factor` copies of the body.
//      GpuGrid      as Parallel: blocks of a launch (dimension 0 = x). The outermost GpuGrid loop is one kernel launch.
//      GpuBlock     as Parallel: threads of a block, inside a GpuGrid loop. Between two GpuBlock loops that follow each
//                   other in a block lies a barrier.
//    `reductions`: containers that iterations only combine into with one associative operator. Iterations may combine
//    partial results in any association; only legal where the program's flags allow it.
//  - Storage: device_shared containers are privates of a GpuGrid loop.
//  - Containers of one positive alias class may overlap; a container of class 0 overlaps no other. Pairs in `disjoint`,
//    the inequalities in `assumptions` and what containers are said to hold (`natural`) are what is checked on entry;
//    an Sdfg means nothing where they do not hold. (Of a container without an outermost extent, unknown_extent.h, the
//    elements that are accessed must not overlap: inspection.h.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sdfg/expr.h"
#include "sdfg/match.h"
#include "sdfg/result.h"
#include "sdfg/scalar_expr.h"
#include "sdfg/types.h"

namespace sous::sdfg {

//   enumerator, text
#define SOUS_STORAGES(X)    \
  X(argument, "argument")   \
  X(stack, "stack")         \
  X(heap, "heap")           \
  X(registers, "registers") \
  X(device_shared, "device_shared")

enum class Storage : std::uint8_t {
#define X(e, ...) e,
  SOUS_STORAGES(X)
#undef X
};

// The element with subscripts s lies at base + offset + sum(s[d] * strides[d]), in elements. 0 <= s[d] < shape[d].
struct Container {
  std::string name;
  ElementType type = ElementType::f64;
  std::vector<Expr> shape;    // empty: a scalar
  std::vector<Expr> strides;  // as many as shape
  Expr offset;                // 0 but for views
  Storage storage = Storage::argument;
  bool transient = false;  // not visible outside: dead after the Sdfg (storage argument is never transient)
  bool constant = false;   // never written (by anyone while the Sdfg runs)
  bool dead = false;     // an argument whose elements nobody looks at afterwards: what they hold then is not specified
  bool natural = false;  // of integers: no element that the Sdfg reads is negative; checked on entry, as `assumptions`
  int alias_class = 0;   // 0: overlaps no other container; equal positive numbers: may overlap
  bool operator==(const Container&) const = default;
};

// One element: an index for each dimension.
using Subset = std::vector<Expr>;

//   enumerator, text, the ScalarOp that combines
#define SOUS_REDUCTION_OPS(X) \
  X(sum, "+", add)            \
  X(product, "*", mul)        \
  X(min, "min", min)          \
  X(max, "max", max)          \
  X(bit_and, "&", bit_and)    \
  X(bit_or, "|", bit_or)      \
  X(bit_xor, "^", bit_xor)

// Float min and max mean a < b ? a : b and a > b ? a : b with a the accumulator.
enum class ReductionOp : std::uint8_t {
#define X(e, ...) e,
  SOUS_REDUCTION_OPS(X)
#undef X
};

// What moves along an edge: an element of a container. With `combine` (only on the edge into an access node), it
// becomes element `combine` value.
struct Memlet {
  std::string container;
  Subset subset;
  std::optional<ReductionOp> combine;
  bool operator==(const Memlet&) const = default;
};

struct AccessNode {
  std::string container;
  bool operator==(const AccessNode&) const = default;
};

// One assignment. Input connectors are named (`inputs`, unique) and typed by the container that they read; the one
// output connector is named "out" and has the type of `code`, which equals that of the container it writes.
struct Tasklet {
  std::vector<std::string> inputs;
  ScalarExpr code;
  bool operator==(const Tasklet&) const = default;
};

using DataflowNode = std::variant<AccessNode, Tasklet>;

// nodes[source] -> nodes[target]; one end is an access node, the other a tasklet, whose connector is named.
struct Edge {
  int source = 0, target = 0;
  std::string connector;
  Memlet memlet;
  bool operator==(const Edge&) const = default;
};

// `name` is unique in the Sdfg: it is the statement's name in dependences, reports and recipes.
struct State {
  std::string name;
  std::vector<DataflowNode> nodes;
  std::vector<Edge> edges;
  bool operator==(const State&) const = default;
};

//   enumerator, text
enum class ParallelKind : std::uint8_t { Static, Dynamic };
struct Sequential {
  bool operator==(const Sequential&) const = default;
};
struct Parallel {
  int threads = 0;  // 0: as many as the runtime gives
  int chunk = 0;    // 0: even shares
  ParallelKind kind = ParallelKind::Static;
  bool operator==(const Parallel&) const = default;
};
struct Simd {
  int lanes = 0;  // 0: as many as the hardware has for the widest element type in the body
  bool operator==(const Simd&) const = default;
};
struct Unroll {
  int factor = 2;
  bool operator==(const Unroll&) const = default;
};
struct GpuGrid {
  int dimension = 0;  // 0..2
  bool operator==(const GpuGrid&) const = default;
};
struct GpuBlock {
  int dimension = 0;  // 0..2
  bool operator==(const GpuBlock&) const = default;
};
using Schedule = std::variant<Sequential, Parallel, Simd, Unroll, GpuGrid, GpuBlock>;
bool is_in_order(const Schedule& schedule);    // one iteration after the other
bool is_in_threads(const Schedule& schedule);  // at the same time, each in a thread of its own
bool is_on_gpu(const Schedule& schedule);

struct Node;
struct Region {
  std::vector<Node> nodes;
  bool operator==(const Region&) const;
};

struct Reduction {
  std::string container;
  ReductionOp op = ReductionOp::sum;
  bool operator==(const Reduction&) const = default;
};

constexpr std::int64_t max_prefetch = 1 << 20;  // iterations

// All that a loop says of its iterations: of a Loop, and of the one in a schedule tree that stands for it.
struct LoopHeader {
  std::string symbol;  // unique among the loops of an Sdfg
  Expr begin, end;
  std::int64_t step = 1;  // not 0
  Schedule schedule;
  std::vector<std::string> privates;
  std::vector<Reduction> reductions;
  // A hint that computes nothing: what reads meet so many iterations later is asked for ahead. 0: no hint.
  std::int64_t prefetch = 0;
  bool operator==(const LoopHeader&) const = default;
};
struct Loop : LoopHeader {
  Region body;
  bool operator==(const Loop&) const = default;
};

// A condition: a bool expression over points of containers. inputs[i] is what input i of `code` reads.
struct Condition {
  ScalarExpr code;
  std::vector<Memlet> inputs;
  bool operator==(const Condition&) const = default;
};

struct If {
  Condition condition;
  Region then_body, else_body;
  bool operator==(const If&) const = default;
};
struct While {
  Condition condition;
  bool test_first = true;  // while; otherwise do … while
  Region body;
  bool operator==(const While&) const = default;
};

struct Node {
  std::variant<State, Loop, If, While> value;
  template <class T>
    requires(!std::is_same_v<std::decay_t<T>, Node>)
  Node(T&& v) : value(std::forward<T>(v)) {}  // NOLINT: a node is any of these
  bool operator==(const Node&) const = default;
};

inline bool Region::operator==(const Region& other) const { return nodes == other.nodes; }

struct Sdfg {
  std::string name;
  std::vector<std::string> symbols;    // integer parameters
  std::vector<Container> containers;   // order of declaration; names unique, and apart from symbols
  std::vector<std::string> arguments;  // order of the call: symbols and argument containers, each once
  std::vector<Expr> assumptions;       // each >= 0; over parameters (and reads of scalars that the Sdfg does not write)
  std::vector<std::pair<std::string, std::string>> disjoint;  // argument containers whose footprints must not overlap
  Region root;
  bool operator==(const Sdfg&) const = default;

  const Container* find(const std::string& container) const;  // null if there is none
  Container* find(const std::string& container);
  bool has_symbol(const std::string& symbol) const;
};

// --- Reading and building -------------------------------------------------------------------------------------------

// A tasklet with what it reads and writes, in the order in which the state runs them.
struct TaskletView {
  const Tasklet* tasklet;
  std::vector<const Memlet*> inputs;   // parallel to tasklet->inputs
  std::vector<const Memlet*> outputs;  // at least one
};
// Indices of the tasklets of a state in the one topological order that everything uses: smallest index first among the
// ready ones. Empty if the graph has a cycle and there are tasklets.
std::vector<int> execution_order(const State& state);
// View of nodes[node], a tasklet of a checked state.
TaskletView tasklet_view(const State& state, int node);
// All of them in execution order.
std::vector<TaskletView> tasklets(const State& state);

// Whether the edge writes its memlet: it ends at an access node. Otherwise it reads it.
bool is_write(const State& state, const Edge& edge);

Memlet element(std::string container, const Subset& subscript = {});

// A state that is one assignment: out = code(inputs), with one access node per input and one for the output. Most are.
State assignment(std::string name, Memlet out, ScalarExpr code, std::vector<Memlet> inputs);
struct Assignment {
  Memlet out;
  ScalarExpr code;
  std::vector<Memlet> inputs;
};
// The assignment that a state is: exactly then when state == assignment(name, out, code, inputs).
std::optional<Assignment> as_assignment(const State& state);

// Row-major strides for a shape.
std::vector<Expr> row_major(const std::vector<Expr>& shape);
// A container that nobody sees outside, contiguous and apart from all others.
Container temporary(std::string name, ElementType type, std::vector<Expr> shape, Storage storage);
// A loop that counts by one, in order.
Loop counted(std::string symbol, Expr begin, Expr end, std::vector<Node> body = {});

// Substitutes symbols everywhere below (bounds, memlets, conditions, symbolic leaves). Loop symbols bound below are not
// replaced; the caller keeps names apart.
Region substitute(const Region& region, const std::map<std::string, Expr>& with);
Node substitute(const Node& node, const std::map<std::string, Expr>& with);
State substitute(const State& state, const std::map<std::string, Expr>& with);
// Renames loop symbols, containers and states everywhere, declarations included; names not in the map stay.
struct Renaming {
  std::map<std::string, std::string> symbols, containers, states;
};
Sdfg rename(const Sdfg& sdfg, const Renaming& renaming);

// --- Walks ----------------------------------------------------------------------------------------------------------

// The regions directly inside of the node, in order.
std::vector<const Region*> bodies(const Node& node);
std::vector<Region*> bodies(Node& node);
// Calls f on every node below, parents first, in order; f may change what it is given.
void visit(const Region& region, const std::function<void(const Node&)>& f);
void visit(Region& region, const std::function<void(Node&)>& f);
// Calls f on every memlet below, those of conditions included; a combining one is reported as a read, then as a write.
void for_each_memlet(const Region& region, const std::function<void(const Memlet&, bool writes)>& f);
void for_each_memlet(const Node& node, const std::function<void(const Memlet&, bool writes)>& f);
// Calls f, which may change them, on the memlets of the node itself, not on those of the nodes inside it.
void change_memlets(Node& node, const std::function<void(Memlet&)>& f);
// Calls f on what each tasklet of the state computes.
void for_each_code(const State& state, const std::function<void(const ScalarExpr&)>& f);
// Calls f on what each tasklet and each condition below computes.
void for_each_code(const Region& region, const std::function<void(const ScalarExpr&)>& f);
// What the nodes below are called, in order: the symbols of loops, and the names of states.
struct NodeNames {
  std::vector<std::string> symbols, states;
};
NodeNames node_names(const Region& region);
// Rewrites each expression below: bounds, subscripts, symbolic leaves.
Region map_exprs(Region region, const std::function<Expr(const Expr&)>& f);
// Where a loop stands.
struct LoopPlace {
  Region* owner = nullptr;  // it is owner->nodes[at]
  std::size_t at = 0;
  std::vector<Loop*> around;  // outermost first
  Loop& loop() const { return std::get<Loop>(owner->nodes[at].value); }
};
std::optional<LoopPlace> find_loop(Region& region, const std::string& symbol);
// Containers read (reads in symbolic expressions included) and written below.
struct Touched {
  std::set<std::string> read, written;
};
Touched touched(const Region& region);
Touched touched(const Node& node);
// By the node itself, without the nodes inside it: by a loop's bounds, by a condition.
Touched touched_itself(const Node& node);

}  // namespace sous::sdfg
