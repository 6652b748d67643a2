// Builds the Sdfg of one stretch of statements, or says why it cannot.
//
// Variables. What a variable of the stretch becomes follows from how it is used there:
//  - an integer that is written by the headers of its `for` loops alone, and an integer declared with a value that is
//    known symbolically and never changed: an expression (Binding::index), no memory at all;
//  - an integer from outside that the stretch does not write: a symbol;
//  - a local pointer that is changed, and a local integer that is changed inside an expression: an expression, followed
//    from statement to statement (steps.cc; pointers that loops exchange: exchanges.cc);
//  - any other scalar, and every array or pointer: a container.
// Expressions have two readings: `index` gives a mathematical integer (bounds, subscripts), which needs proofs that C's
// arithmetic does not wrap or truncate; `value` gives a tree of C's own operations, exact by construction.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "clang/AST/Decl.h"
#include "frontends/c/ast.h"
#include "frontends/c/bindings.h"
#include "frontends/c/builder_state.h"
#include "frontends/c/lift.h"
#include "frontends/c/memory_functions.h"
#include "frontends/c/ranges.h"
#include "frontends/c/read_values.h"
#include "frontends/c/refusal.h"
#include "frontends/c/statements.h"

namespace sous::frontends::c {

class Builder : private BuilderState {
 public:
  // `live_after`: whether a variable declared outside the stretch may be read after it.
  Builder(const FunctionFacts& facts, std::vector<const clang::Stmt*> stretch,
          std::function<bool(const clang::VarDecl*)> live_after);
  // Everything of the nest but its place in the text.
  Lift<LiftedNest> build(const std::string& name);
  // Members that the entry cannot read, because the nest reads them under a condition only. In place, by their address,
  // the nest may read them all the same: of scalars, another attempt may be told so.
  const std::set<std::string>& guarded() const { return guarded_; }
  void in_place(std::set<std::string> members) { in_place_ = std::move(members); }
  // Integers whose values could not be followed; they may be left in memory in another attempt.
  const std::set<const clang::VarDecl*>& unfollowed() const { return unfollowed_; }
  void in_memory(std::set<const clang::VarDecl*> variables) { in_memory_ = std::move(variables); }
  bool leaves_rest() const { return !rest_.empty(); }  // iterations for the program to run behind the nest
  // Of the nest that was built: containers of arrays, and the variables that name them.
  std::vector<std::pair<std::string, const clang::VarDecl*>> arrays() const;

 private:
  // scan.cc: facts about the whole stretch, before building
  void scan();
  void scan(const clang::Stmt* s);
  bool written_here(const clang::VarDecl* v) const { return general_writes_.contains(v); }

  // variables.cc
  std::string fresh(const std::string& wish);
  void note_line(const std::string& symbol, clang::SourceLocation where);
  std::string symbol_for(const std::string& wish, const std::string& c_expr, clang::QualType type);
  Lift<Binding*> binding(const clang::VarDecl* v, clang::SourceLocation where);
  Lift<Binding> outer_scalar(const clang::VarDecl* v, clang::SourceLocation where);
  Lift<Binding> outer_memory(clang::QualType type, const std::string& wish, Memory memory, bool is_vla_stable,
                             clang::SourceLocation where);
  Lift<std::vector<sdfg::Expr>> extents(clang::QualType& array, clang::SourceLocation where);
  std::string add_container(const std::string& wish, sdfg::ElementType type, std::vector<sdfg::Expr> shape,
                            sdfg::Storage storage);
  std::string temporary(const std::string& wish, sdfg::ElementType type);
  Lift<void> nameable(const clang::VarDecl* v, clang::SourceLocation where) const;
  Memory of_variable(const clang::VarDecl* v) const;
  bool is_private(const clang::VarDecl* v) const;
  std::optional<std::int64_t> fixed_value(const clang::VarDecl* v) const;

  // members.cc
  Lift<Binding*> member(const clang::MemberExpr* e);
  Lift<void> readable_member(const NamedMember& named, clang::QualType type, clang::SourceLocation where);
  Memory of_member(const NamedMember& named, clang::QualType type) const;
  const clang::VarDecl* fixed_pointee(const clang::Expr* e) const;
  Lift<Binding*> pointee_value(const clang::VarDecl* v, clang::SourceLocation where);
  void note_load(const clang::VarDecl* root, const std::string& c_expr);

  // declarations.cc
  Lift<void> declare(const clang::VarDecl* v);
  Lift<void> declare_array(const clang::VarDecl* v);
  Lift<void> declare_pointer(const clang::VarDecl* v);
  Lift<void> declare_scalar(const clang::VarDecl* v);
  Lift<void> declare_tracked(const clang::VarDecl* v);
  std::optional<Interval> constant_range(const sdfg::Expr& e);

  // constant_tables.cc
  bool out_of_reach(const clang::VarDecl* v) const;
  std::optional<Binding> constant_table(const clang::VarDecl* v);
  void note_constant_values(const clang::VarDecl* v, const std::string& container);
  bool explicit_elements(const clang::Expr* e, std::vector<sdfg::Expr>& at,
                         std::vector<std::pair<std::vector<sdfg::Expr>, const clang::Expr*>>& found) const;
  Lift<void> initialize_array(const clang::VarDecl* v, const Binding& b);

  // memory_calls.cc
  Lift<Block> block_at(const clang::Expr* argument, const sdfg::Expr& bytes);
  static Access element_of_block(const Block& block, const std::vector<std::string>& symbols);
  std::vector<std::string> block_symbols(const Block& block, clang::SourceLocation where);
  void fill_block(const Block& block, const sdfg::ScalarExpr& with, clang::SourceLocation where);
  Lift<void> memory_call(const clang::CallExpr* e, MemoryFunction function);

  // records.cc
  bool is_place(const clang::Expr* e) const;
  Lift<Place> place(const clang::Expr* e);
  Lift<Place> pointee(const clang::Expr* e);
  Lift<Place> element_of(Place array, clang::QualType type, clang::SourceLocation where);
  Lift<Place> field_of(Place record, const clang::FieldDecl* field, clang::SourceLocation where);
  Lift<Place> record_root(const clang::VarDecl* v, clang::SourceLocation where);
  Lift<Place> member_root(const clang::MemberExpr* m, clang::SourceLocation where);
  Lift<Access> access(const Place& place, clang::QualType type, clang::SourceLocation where);

  // record_values.cc
  bool is_own_record(const clang::VarDecl* v);
  bool is_own(const Place& place) const { return roots_.at(place.root).origin == Origin::Transient; }
  bool in_called_function(const clang::VarDecl* v) const;
  bool only_passed(const clang::VarDecl* v) const;
  Place own_record(clang::QualType type, const std::string& name);
  Lift<Place> record_value(const clang::Expr* e);
  Lift<void> fill(const Place& to, const clang::Expr* from, clang::QualType type, clang::SourceLocation where);
  Lift<void> members_of(const Place& place, clang::QualType type, std::vector<Member>& members,
                        clang::SourceLocation where);
  Lift<void> assign_record(const Place& target, const clang::Expr* from, clang::QualType type,
                           clang::SourceLocation where);
  Lift<void> declare_record(const clang::VarDecl* v);
  Lift<void> assignable(const clang::Expr* target) const;
  std::optional<RecordArgument> record_argument(const clang::Expr* e) const;
  std::optional<RecordArgument> record_alias(const clang::ParmVarDecl* p, const clang::Expr* argument) const;
  std::optional<NamedMember> named_member(const clang::MemberExpr* e) const;

  // complex.cc
  Place part_of(Place number, clang::QualType type, bool imaginary) const;
  Lift<ComplexAccess> complex_access(const Place& place, clang::QualType type, clang::SourceLocation where);
  Lift<ComplexAccess> complex_access(const clang::Expr* e);
  Lift<Complex> complex_value(const clang::Expr* e);
  Lift<Complex> complex_cast(const clang::CastExpr* e);
  Lift<Complex> complex_call(const clang::CallExpr* e);
  Lift<Complex> complex_choice(const clang::ConditionalOperator* e);
  Lift<Complex> complex_arithmetic(clang::BinaryOperatorKind kind, Complex a, Complex b, clang::FPOptions rules,
                                   clang::SourceLocation where);
  Complex complex_product(Complex a, Complex b, bool annex_g);
  void recover_infinities(const Complex& a, const Complex& b, const sdfg::Memlet& real, const sdfg::Memlet& imaginary);
  Complex read_complex(const ComplexAccess& from);
  Complex kept(Complex value, sdfg::ElementType type);
  void set_complex(const ComplexAccess& to, Complex value);
  Lift<void> assign_complex(const clang::BinaryOperator* e);
  Lift<sdfg::ScalarExpr> part_value(const clang::Expr* e, bool imaginary);
  Lift<sdfg::ScalarExpr> differs_from_zero(const clang::Expr* e);
  Lift<sdfg::ScalarExpr> complex_equality(const clang::BinaryOperator* e);
  Lift<std::optional<sdfg::ScalarExpr>> function_of_complex(const clang::CallExpr* e, std::string name);

  // steps.cc
  void find_tracked();
  void find_tracked(const std::vector<const clang::Stmt*>& statements, std::set<const clang::VarDecl*> inside,
                    const std::set<const clang::VarDecl*>& taken);
  bool tracked(const clang::VarDecl* v) const;
  bool changes_tracked(const clang::Stmt* s) const;
  Lift<Binding*> tracked_value(const clang::VarDecl* v, clang::SourceLocation where);
  std::optional<sdfg::Expr> tracked_offset(const clang::VarDecl* v) const;
  Lift<void> advance(const clang::VarDecl* v, const sdfg::Expr& by, clang::SourceLocation where);
  Lift<sdfg::Expr> in_range(const sdfg::Expr& e, const clang::VarDecl* v, clang::SourceLocation where);
  bool is_own_statement(const clang::Expr* e) const;
  bool steps_in_memory(const clang::VarDecl* v) const;
  Lift<std::vector<Step>> steps_in(const clang::Expr* e, bool statement = false);
  Lift<void> take_effect(const std::vector<Step>& steps);
  std::optional<std::int64_t> announced(const clang::UnaryOperator* e) const;
  Lift<void> assign_tracked(const clang::BinaryOperator* e, const clang::VarDecl* v);
  Lift<Binding> value_of(const clang::VarDecl* v, const clang::Expr* e);
  Values tracked_values() const;
  void restore_tracked(const Values& before);
  void join_tracked(const Values& yes, const std::optional<sdfg::Expr>& test);
  void unfollowed(const clang::VarDecl* v);
  Lift<void> tracked_epilogue(std::string& declare, std::string& assign);

  // clamps.cc
  std::optional<sdfg::Expr> chosen(const sdfg::Expr& test, const sdfg::Expr& yes, const sdfg::Expr& no);
  std::optional<Binding> joined(const std::optional<sdfg::Expr>& test, const Binding& yes, const Binding& no);

  // induction.cc, exchanges.cc
  using Pass = std::function<Lift<void>(Builder&)>;
  bool counts(const LoopParts& loop) const;
  bool adopt(const std::string& symbol, const Builder& trial);
  Lift<std::map<const clang::VarDecl*, sdfg::Expr>> net_steps(const std::vector<const clang::VarDecl*>& variables,
                                                              const std::string& loop_symbol, const Pass& pass);
  Lift<std::vector<Stepping>> find_steps(const std::set<const clang::VarDecl*>& written, const clang::Stmt* loop_body,
                                         const std::string& loop_symbol, const sdfg::Expr& iteration, const Pass& pass,
                                         clang::SourceLocation where);
  Lift<void> enter_steps(const std::vector<Stepping>& steps, clang::SourceLocation where);
  Lift<void> verify_steps(const std::vector<Stepping>& steps, clang::SourceLocation where);
  void leave_steps(const std::vector<Stepping>& steps, const std::optional<sdfg::Expr>& trips);
  std::optional<sdfg::Expr> trip_count(const Bounds& limits, std::int64_t step);
  Lift<sdfg::Expr> quotient_on_entry(const sdfg::Expr& dividend, const sdfg::Expr& divisor,
                                     clang::SourceLocation where);
  Lift<sdfg::Expr> pointer_difference(const clang::Expr* left, const clang::Expr* right, clang::SourceLocation where);
  Lift<sdfg::Expr> trips_of(const clang::Expr* test, const std::string& symbol);
  Lift<sdfg::Expr> trips_while(const clang::Expr* condition, const std::string& symbol);
  Lift<sdfg::Expr> tested(const LoopParts& loop, std::vector<Stepping>& steps, const std::string& symbol);
  Lift<void> stepped_loop(const LoopParts& loop);
  void expect_exchange();
  std::int64_t iterations_of_exchange(const clang::ForStmt* s, const CountedLoop& loop);
  Lift<bool> exchanging_loop(const clang::ForStmt* s, const CountedLoop& loop);

  // access.cc
  Lift<Access> lvalue(const clang::Expr* e);
  Lift<Access> pointer(const clang::Expr* e);
  bool are_same_rows(clang::QualType a, clang::QualType b);
  Lift<Access> cast_pointer(const clang::CastExpr* cast);
  Lift<Access> returned_address(const clang::CallExpr* call);
  void settle(std::vector<sdfg::Expr>& subscript);
  Lift<sdfg::Expr> subscript(const clang::Expr* e);

  // index.cc
  Lift<sdfg::Expr> index(const clang::Expr* e);
  Lift<sdfg::Expr> index_cast(const clang::CastExpr* e);
  // The binding of a variable, a member or a fixed pointee; null for elements and what lies in memory.
  Lift<const Binding*> named_binding(const clang::Expr* e, clang::SourceLocation where);
  Lift<sdfg::Expr> index_load(const clang::Expr* e, clang::SourceLocation where);
  Lift<sdfg::Expr> index_unary(const clang::UnaryOperator* e);
  Lift<sdfg::Expr> index_call(const clang::CallExpr* e);
  Lift<sdfg::Expr> index_binary(const clang::BinaryOperator* e);
  Lift<sdfg::Expr> index_conditional(const clang::ConditionalOperator* e);
  Lift<sdfg::Expr> in_type(sdfg::Expr e, clang::QualType type, clang::SourceLocation where);
  Lift<void> lower_half(const sdfg::Expr& e, clang::QualType type, clang::SourceLocation where);
  Lift<void> nonneg(const sdfg::Expr& e, clang::SourceLocation where, const char* code, const char* why);

  // value.cc
  Lift<sdfg::ScalarExpr> value(const clang::Expr* e);
  Lift<sdfg::ScalarExpr> condition(const clang::Expr* e);
  Lift<sdfg::ScalarExpr> cast(const clang::CastExpr* e);
  Lift<sdfg::ScalarExpr> unary(const clang::UnaryOperator* e);
  Lift<sdfg::ScalarExpr> binary(const clang::BinaryOperator* e);
  Lift<sdfg::ScalarExpr> arithmetic(clang::BinaryOperatorKind op, sdfg::ScalarExpr a, sdfg::ScalarExpr b,
                                    clang::SourceLocation where);
  Lift<sdfg::ScalarExpr> load(const clang::Expr* e);
  sdfg::ScalarExpr input(const sdfg::Memlet& memlet, sdfg::ElementType type);

  // effects.cc
  bool has_effect(const clang::Stmt* s) const;
  Lift<sdfg::ScalarExpr> assigned_inside(const clang::BinaryOperator* e);
  Lift<void> stays(const clang::Expr* target);
  Lift<sdfg::ScalarExpr> stepped_inside(const clang::UnaryOperator* e);
  Lift<sdfg::ScalarExpr> one_more(sdfg::ScalarExpr old, bool up, clang::SourceLocation where);

  // choices.cc
  Lift<sdfg::ScalarExpr> logical(const clang::BinaryOperator* e);
  Lift<sdfg::ScalarExpr> conditional(const clang::ConditionalOperator* e);
  // Of an operand that C evaluates only sometimes: its value if evaluating it always is safe; else no trace of it.
  Lift<std::optional<sdfg::ScalarExpr>> eager(const clang::Expr* e, bool as_condition);
  bool safe_to_read(const sdfg::Memlet& memlet) const;
  Lift<sdfg::Region> arm(const std::function<Lift<void>()>& statements);
  // An If with the two arms of the conditional expression, of each what `set` builds of its value.
  Lift<void> emit_choice(const clang::ConditionalOperator* e, sdfg::ScalarExpr test,
                         const std::function<Lift<void>(const clang::Expr*)>& set);

  // null_pointers.cc
  bool is_null(const clang::Expr* e) const;
  Lift<sdfg::ScalarExpr> is_there(const clang::Expr* e);

  // calls.cc
  bool addressed(const clang::VarDecl* v) const;
  const clang::CallExpr* lone_call(const clang::Expr* e) const;
  Lift<sdfg::ScalarExpr> call(const clang::CallExpr* e);
  Lift<Place> record_call(const clang::CallExpr* e);
  Lift<void> call_statement(const clang::CallExpr* e);
  Lift<const clang::FunctionDecl*> inlinable(const clang::CallExpr* e);
  Lift<Binding> scalar_argument(const clang::ParmVarDecl* p, const clang::Expr* argument, bool by_value,
                                clang::SourceLocation where);
  Lift<void> bind_parameters(const clang::FunctionDecl* f, const clang::CallExpr* e, bool by_value);
  Caller caller() const { return {bindings_, record_arguments_, places_, own_records_}; }
  void leave_call(const clang::FunctionDecl* f, const Caller& caller);

  // jumps.cc
  Lift<void> sequence(const std::vector<Item>& list, const Exits* exits = nullptr);
  Lift<void> body(const clang::Stmt* s, const Exits* exits = nullptr);
  Lift<void> jump(const clang::Stmt* s, const Exits& exits);
  Lift<void> leaving(const clang::Stmt* s, const std::vector<Item>& rest, const Exits& exits);
  Lift<void> returning_loop(const clang::Stmt* s, const std::vector<Item>& rest, const Exits& exits);
  Lift<void> branch(sdfg::ScalarExpr test, const std::function<Lift<void>()>& yes,
                    const std::function<Lift<void>()>& no);
  bool is_own_variable(const std::string& container) const;
  Lift<void> switch_statement(const clang::SwitchStmt* s, const std::vector<Item>& rest, const Exits* exits);

  // control.cc
  Lift<void> statement(const clang::Stmt* s);
  Lift<void> expression_statement(const clang::Expr* e);
  Lift<void> plain_statement(const clang::Expr* e);
  Lift<void> assign(const clang::BinaryOperator* e);
  Lift<void> increment(const clang::UnaryOperator* e);
  Lift<sdfg::ScalarExpr> tested_once(const clang::Expr* e);
  Lift<void> if_statement(const clang::IfStmt* s);
  Lift<void> one_by_one(std::span<const clang::Expr* const> operands, bool all,
                        const std::function<Lift<void>()>& then);
  Lift<void> for_statement(const clang::ForStmt* s);
  Lift<void> search_loop(const clang::ForStmt* s, const ForHeader& header);
  Lift<void> any_loop(const LoopParts& loop);
  Lift<void> while_statement(const LoopParts& loop);

  // seams.cc
  bool has_seam(const clang::ForStmt* s, const CountedLoop& loop);
  std::optional<bool> known_order(clang::BinaryOperatorKind op, const sdfg::Expr& a, const sdfg::Expr& b) const;
  std::optional<sdfg::Expr> known_remainder(const sdfg::Expr& a, const sdfg::Expr& b) const;

  // for_loops.cc
  Lift<void> for_loop(const clang::ForStmt* s, const ForHeader& header);
  Lift<void> run_body(const clang::ForStmt* s, const CountedLoop& loop);
  Lift<void> counted_loop(const clang::ForStmt* s, const CountedLoop& loop);
  Lift<sdfg::Expr> loop_begin(const ForHeader& header, clang::SourceLocation where);
  Lift<std::optional<sdfg::Memlet>> begin_in_lower_half(const ForHeader& header, const sdfg::Expr& begin,
                                                        clang::SourceLocation where) const;
  Lift<Binding> loop_memory(const ForHeader& header, clang::SourceLocation where);
  void leave_inner_finals(const LoopRun& loop, std::size_t from);
  void emit_loop(const CountedLoop& loop, sdfg::Region body, std::size_t finals);
  Lift<void> leave_variable(const CountedLoop& loop);
  Lift<Bounds> bounds(const ForHeader& header, const sdfg::Expr& begin, const std::string& symbol);
  Lift<sdfg::Expr> bound(const ForHeader& header, const clang::BinaryOperator* condition, const sdfg::Expr& begin,
                         const std::string& symbol);
  Lift<void> end_in_type(const sdfg::Expr& end, const ForHeader& header, clang::SourceLocation where);
  Interval values_by_type(const clang::Expr* e) const;
  void expect_no_underflow(const sdfg::Expr& sum);
  void expect_nonneg(const sdfg::Expr& e);
  void expect_distance(const sdfg::Expr& high, Interval highs, const sdfg::Expr& low, Interval lows);
  void expect_distance(const ForHeader& header, const clang::BinaryOperator* condition, const Comparison& first,
                       bool towards_right);
  static bool set_last(const Final& f, const std::vector<Final>& inside, const std::string& symbol, bool up);
  void forget_inner_finals(std::size_t from);
  Lift<void> enter_body(const clang::Stmt* condition, const std::set<const clang::VarDecl*>& written,
                        const clang::VarDecl* own, clang::SourceLocation where);
  bool has_memory(const clang::VarDecl* v) const;

  // What f builds is evaluated under a condition.
  template <class F>
  auto sometimes(F&& f) {
    ++sometimes_;
    auto result = f();
    --sometimes_;
    return result;
  }
  // Builds in a region of its own.
  template <class F>
  Lift<sdfg::Region> region(F&& f);
  void emit(sdfg::Node node) { out_->nodes.push_back(std::move(node)); }
  void emit_assignment(const sdfg::Memlet& target, const sdfg::ScalarExpr& code);
  // The inputs that `code` uses, numbered from 0.
  std::vector<sdfg::Memlet> compact(sdfg::ScalarExpr& code) const;

  // entry.cc
  Span span(const Memory& memory) const;
  void keep_apart(const Span& a, const Span& b);
  std::string address(const Memory& memory) const;
  bool read_late(const sdfg::Expr& e) const;
  bool writable(const sdfg::Expr& e, const Entry& entry) const;
  bool spoiled(const sdfg::Expr& condition, std::size_t before, const Entry& entry) const;
  Entry safe_loads() const;
  Lift<std::vector<std::string>> row_conditions(const std::set<std::string>& read, const Entry& entry) const;
  Lift<std::string> guard(const std::set<std::string>& read);

  // rows.cc
  Lift<void> resolve_rows(Memory& memory);

  // shapes.cc
  sdfg::Expr ranged(const sdfg::Expr& e, const std::map<std::string, Range>& ranges, Box& box) const;
  Lift<void> delinearize(Memory& memory);
  Lift<void> outermost_extent(Memory& memory);

  // overlaps.cc
  Lift<void> check_overlaps();
  Lift<void> check_pair(const Memory& a, const Memory& b);
  Lift<void> check_by_data();
  bool in_one_class(const Memory& a, const Memory& b);
  Lift<void> check_bounds();
  Lift<void> check_scalars(const sdfg::Touched& touched);
  Lift<void> check_tables(const sdfg::Touched& touched);

  // finish.cc
  Lift<void> finish_memory();
  Lift<std::string> epilogue();
  bool left_behind(const clang::VarDecl* v) const;
  std::string c_text(const sdfg::Expr& e) const;

  const FunctionFacts& facts_;
  clang::ASTContext& context_;
  std::vector<const clang::Stmt*> stretch_;
  std::function<bool(const clang::VarDecl*)> live_after_;
};

template <class F>
Lift<sdfg::Region> Builder::region(F&& f) {
  sdfg::Region inner;
  sdfg::Region* const outer = std::exchange(out_, &inner);
  auto result = f();
  out_ = outer;
  if (!result) return std::unexpected(result.error());
  return inner;
}

}  // namespace sous::frontends::c
