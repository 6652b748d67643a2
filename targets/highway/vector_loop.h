// One Simd loop as Highway vectors: a main loop over full vectors and one masked pass for the rest.
//
// The body is walked exactly as the IR defines lockstep: every state for all lanes, all reads before all writes, before
// the next. What is the same in all lanes stays scalar; conditions that differ become masks. What has no vector form of
// the same result is computed lane by lane; what cannot be expressed at all makes the loop a plain one, with the
// reason.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sdfg/carried_columns.h"
#include "targets/cpp/printer.h"

namespace sous::targets {

// A value while the body is printed.
struct Value {
  enum class Kind { Uniform, Vector, Mask };
  Kind kind = Kind::Uniform;
  Text text;
  sdfg::ElementType type = sdfg::ElementType::f64;  // of a mask: the element type of its tag
  bool invariant = false;                           // Uniform: the same in every iteration of the loop
  bool faults = false;  // Uniform: must not be computed where the source does not (a load, a division)
};

class VectorLoop {
 public:
  // `widest`: the widest element type among the vectors, found by a first pass without it. `columns`: the loop around
  // it, where that is printed with it (vector_staggered.cc); else null.
  VectorLoop(Printer& printer, const sdfg::Loop& loop, std::optional<sdfg::ElementType> widest,
             const sdfg::Loop* columns = nullptr);

  // Prints the loop into printer.out. Afterwards, `failure` says why it is not right, if it is not.
  void print();
  // The same of the loop around it.
  void print_staggered();
  std::optional<std::string> failure;
  std::set<sdfg::ElementType> types;  // of all vectors
  Vectors vectors = Vectors::Common;

 private:
  using Type = sdfg::ElementType;
  // Copies of a reduction's body: an addition takes about four cycles, and one or two can start in each.
  static constexpr int wide_copies = 4;

  struct Variable {  // a temporary that differs from lane to lane, or a reduction's partial results
    std::string name;
    Type type = Type::f64;
    bool array = false;
    bool accumulator = false;
  };
  struct Accumulator {
    sdfg::Memlet place;
    sdfg::ReductionOp op = sdfg::ReductionOp::sum;
    std::vector<std::string> names;  // one for each copy of the body in the main loop
    bool perhaps = false;            // as LocalReduction's
  };
  struct Access {  // how an element's place depends on the lane
    enum class Kind { Uniform, Contiguous, Reversed, Strided, Any };
    Kind kind = Kind::Any;
    sdfg::Expr stride;  // Strided: elements from lane to lane
  };

  // vector_loop.cc: the loop around the body
  struct Parts {                       // its pieces, printed
    std::string lanes, end, at, rest;  // names
    std::string accumulators, wide, main, masked, join, finish;
  };
  void print_parts(const Parts& parts);
  void print_loops(const Parts& parts, std::optional<std::int64_t> trips);
  void print_edge(const Parts& parts, std::int64_t size);
  bool is_edge(std::int64_t size) const;
  std::optional<std::int64_t> known_trips() const;
  std::optional<std::int64_t> whole_tile() const;
  std::string printed(int depth, const std::function<void()>& print);
  void fail(const std::string& reason);
  void need(Vectors more) { vectors = std::max(vectors, more); }
  bool is_straight() const;
  void pass();
  void wide_pass(const std::string& lanes);
  void set_first(const Text& first);
  Text lane_index() const;  // the loop variable's value in lane `lane_`
  std::string tag(Type type);
  Type mask_type() const { return widest_.value_or(Type::f64); }
  std::string mask_tag();  // of the current mask; not counted among the types before the widest is known
  std::vector<std::string> tags() const;
  std::string value_type(Type type) const { return std::string(sdfg::info(type).cpp); }
  bool is_written(const std::string& container) const;
  bool differs(const sdfg::Expr& e) const;       // between the lanes
  bool is_invariant(const sdfg::Expr& e) const;  // in the whole loop

  // vector_body.cc
  void body(const sdfg::Loop& loop);
  void region(const sdfg::Region& region);
  void node(const sdfg::Node& node);
  void branch(const sdfg::If& branch);
  void state(const sdfg::State& state);
  void statement(const sdfg::TaskletView& tasklet);
  void declare(const std::string& owner);

  // vector_while.cc
  struct Round {  // of a while loop
    const sdfg::Condition& go_on;
    // Variables that all lanes go on to compute and that are looked at afterwards: where it is kept what each lane held
    // when it ended.
    std::map<std::string, std::string> kept;
    std::set<std::string> changed;  // since what was held was kept
  };
  Value evaluate(const sdfg::Condition& condition);
  void repeat(const sdfg::While& loop);
  void once_round(const sdfg::Region& body, Round& round);
  void narrow(Round& round);
  std::map<std::string, std::string> free_lanes(const sdfg::While& loop);
  void load_ahead(const sdfg::While& loop);
  std::optional<std::vector<std::string>> held_in_lanes(const sdfg::While& loop) const;
  void finish_lanes(const sdfg::While& loop, const std::vector<std::string>& held, const std::string& running);

  // vector_reductions.cc
  void prepare_accumulators();
  void join_accumulators();
  void finish_accumulators();
  bool reduce_store(const sdfg::TaskletView& tasklet);

  // vector_memory.cc
  Access access(const sdfg::Memlet& memlet) const;
  // Where a vector of what registers hold may be loaded and stored whole, whatever the mask: the elements of a row, of
  // which the loop begins with the first.
  std::optional<std::int64_t> room(const sdfg::Memlet& memlet) const;
  Value load(const sdfg::Memlet& memlet);
  void store(const sdfg::Memlet& memlet, const Value& value);
  void store_variable(const std::string& container, const std::string& element, const Value& value);
  void store_uniform(const sdfg::Memlet& memlet, const Value& value);
  bool distinct(const sdfg::Memlet& memlet) const;  // no two lanes have the same element
  std::string pointer(const sdfg::Memlet& memlet, bool constant);
  Text lane_element(const sdfg::Memlet& memlet);
  std::string stored_vector(const Value& value, Type type);
  std::string element_of(const Variable& variable, const sdfg::Memlet& memlet);

  // vector_staggered.cc
  struct CarriedVectors {  // of what each column makes
    sdfg::CarriedElement of;
    std::vector<std::string> names;  // the vectors of this column, and of those before
    std::string tile;                // of all columns of a square
    bool made = false;               // what is printed comes behind the making of this column's
  };
  std::optional<Value> carried(const sdfg::Memlet& read);
  std::string row_before(const std::string& vector, const sdfg::Memlet& read);
  CarriedVectors vectors_of(const sdfg::CarriedElement& of);
  void load_history(const CarriedVectors& carried, const std::string& block);
  void begin_column(CarriedVectors& carried);
  void end_column(const CarriedVectors& carried, const std::string& at, const std::string& lanes);
  void fill_memory(const std::string& block);
  bool is_passed(const sdfg::Memlet& read) const;  // one of passed_reads_
  bool is_ahead(const sdfg::Memlet& read) const;   // memory has it as it is for a whole square
  void print_square(const std::string& column, const std::string& first, const std::string& lanes);

  // vector_transposed.cc: squares of elements that lie along the loop `along`, perhaps backward
  bool is_backward(const sdfg::Memlet& memlet, const std::string& along) const;
  std::string in_tile(const sdfg::Memlet& memlet, const std::string& along, const std::string& at);  // a row's number
  Text first_in_tile(const sdfg::Memlet& memlet, const std::string& along, const std::string& block);
  std::vector<sdfg::Memlet> transposable(const sdfg::Loop& loop) const;
  std::vector<sdfg::Memlet> transposable(const sdfg::Region& body, const std::string& along) const;
  void load_transposed(const std::vector<sdfg::Memlet>& reads, const std::string& along, const std::string& block,
                       const std::string& at);
  void transposed_loop(const sdfg::Loop& loop, const std::vector<sdfg::Memlet>& reads);

  // vector_values.cc
  Value evaluate(const sdfg::ScalarExpr& e, const std::vector<Value>& inputs);
  Value symbolic(const sdfg::ScalarExpr& e);
  Value cast(const sdfg::ScalarExpr& e, const Value& arg);
  std::optional<Value> contracted(const sdfg::ScalarExpr& e, const std::vector<Value>& inputs);
  std::string vector(const Value& value, Type type);               // as a vector of that type
  std::string mask(const Value& value, Type type);                 // as a mask for vectors of that type
  std::string named(const Value& value, const std::string& hint);  // as a vector in a constant of its own
  std::string active(Type type);                                   // the active lanes, as such a mask
  std::string with_mask(Type type);  // ", mask" for a call on vectors of that type, or nothing
  std::string converted(const std::string& mask, Type from, Type to);
  Value vector_value(std::string text, Type type);
  Value mask_value(std::string text, Type type);

  // vector_operations.cc
  Value operation(const sdfg::ScalarExpr& e, const std::vector<Value>& args);
  std::optional<Value> uniform_operation(const sdfg::ScalarExpr& e, const std::vector<Value>& args);
  Value arithmetic(const sdfg::ScalarExpr& e, const std::vector<Value>& args);
  Value divided(const sdfg::ScalarExpr& e, const std::vector<Value>& args);
  Value select(const sdfg::ScalarExpr& e, const std::vector<Value>& args);
  Value mathematics(const sdfg::ScalarExpr& e, const std::vector<Value>& args);  // the functions of math.h
  Value compare(const sdfg::ScalarExpr& e, const std::vector<Value>& args);
  Value lane_by_lane(const sdfg::ScalarExpr& e, const std::vector<Value>& args);
  std::string active_or_one(const std::string& vector, Type type);
  Value vector_call(std::string_view function, const std::string& arguments, Type type);  // of Highway's
  Value mask_call(std::string_view function, const std::vector<Value>& args);             // the same for masks
  void require_speculable(const sdfg::ScalarExpr& e);

  Printer& printer_;
  Expressions& expressions_;
  Names& names_;
  const sdfg::Loop& loop_;
  const sdfg::Loop* columns_;
  std::map<std::string, CarriedVectors> carried_;
  std::vector<CarriedVectors> passed_reads_;  // elements that go from lane to lane, too
  std::optional<Type> widest_;
  std::string lane_;               // a lane's number, in functions of it
  std::string index_;              // the loop's variable
  Text first_;                     // its value in the first lane
  std::set<std::string> inner_;    // symbols bound at or below the loop
  std::set<std::string> written_;  // containers written in the body
  std::map<std::string, sdfg::ReductionOp> reductions_;
  std::map<std::string, Variable> variables_;
  std::vector<Accumulator> accumulators_;
  std::map<std::string, std::string> transposed_;  // elements that are in a vector already, a transposed tile: where
  std::map<Type, std::string> tag_names_;
  std::string mask_;          // active lanes, for vectors of the widest type; empty: all
  bool conditional_ = false;  // inside a condition that differs between lanes
  // What all lanes of a while loop compute, those that have ended, too, and for which of them conditions in it hold;
  // empty: all.
  std::set<std::string> free_;
  std::string free_mask_;
  bool in_rest_ = false;  // printing the iterations that fill no vector
  int nesting_ = 0;       // inside inner loops or conditions: what is printed may not run at all
  Lines before_;          // constants, hoisted
  std::map<std::string, std::string> hoisted_;
  bool needs_guard_ = false;  // something hoisted is only right if the loop runs
};

// `accumulated op value` as an expression.
sdfg::ScalarExpr combination(sdfg::ReductionOp op, sdfg::ScalarExpr accumulated, sdfg::ScalarExpr value);

// Prints the loop, with the one around it if that is given, or prints nothing and says why not.
std::optional<std::string> print_vectors(Printer& printer, const sdfg::Loop& loop, const sdfg::Loop* columns);
// A Dialect's `simd` and `around_simd`.
std::optional<std::string> print_vector_loop(Printer& printer, const sdfg::Loop& loop);
bool print_staggered_loop(Printer& printer, const sdfg::Loop& columns);

}  // namespace sous::targets
