// What is known of a stretch of statements while its Sdfg is built (builder.h).
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clang/AST/Decl.h"
#include "frontends/c/ast.h"
#include "frontends/c/bindings.h"
#include "frontends/c/ranges.h"
#include "frontends/c/read_values.h"
#include "frontends/c/statements.h"

namespace sous::frontends::c {

struct BuilderState {
  // scan
  std::set<const clang::VarDecl*> general_writes_, header_writes_, declared_;
  std::set<const clang::VarDecl*> whole_records_;  // structures that are assigned to
  std::map<const clang::VarDecl*, Pointee> pointees_;
  std::vector<const clang::FunctionDecl*> called_;   // definitions in the file, as they are met
  std::vector<const clang::VarDecl*> tracked_;       // in order of their first change
  const clang::Stmt* own_floating_point_ = nullptr;  // the first that a pragma gives other rules

  // building
  sdfg::Sdfg sdfg_;
  sdfg::Region* out_ = nullptr;
  Values bindings_;
  Values entry_;  // of tracked variables: their values where the nest begins
  std::map<const clang::UnaryOperator*, std::int64_t> active_steps_;
  // While a condition is read: unsigned values in it, to be shown in range when it is known how often it is met.
  std::vector<std::pair<sdfg::Expr, const clang::VarDecl*>>* unchecked_ = nullptr;
  std::map<std::string, Binding> members_;
  std::set<std::string> names_;
  std::vector<Memory> memories_;
  std::vector<MemoryScalar> memory_scalars_;
  std::vector<Load> loads_;
  std::vector<RowCheck> row_checks_;
  std::vector<std::pair<const Memory*, const Memory*>> by_data_;  // may overlap, and data say how far one goes
  std::vector<std::string> apart_;                       // what the entry checks in C, behind all other conditions
  std::map<std::string, Memory> roots_;                  // of places, by their C name
  std::map<const clang::VarDecl*, Place> places_;        // pointers to structures that the stretch declares
  std::map<std::string, std::string> place_containers_;  // by root and path
  std::map<const clang::VarDecl*, RecordArgument> record_arguments_;  // of the calls that are being built
  std::map<const clang::VarDecl*, std::string> own_records_;          // their roots
  std::map<std::string, int> loop_lines_;                             // by symbol
  std::vector<OpenLoop> loops_;
  std::set<const clang::VarDecl*> unfollowed_, in_memory_;
  std::set<std::string> guarded_, in_place_, unset_;  // C names: of members; and of what may have no value yet
  std::map<std::string, std::string> symbol_c_;
  std::map<std::string, sdfg::ElementType> symbol_types_;  // those of at most 32 bits: i32 or u32
  std::map<std::string, std::int64_t> known_, supposed_;
  std::map<std::string, std::string> tables_;  // LiftedNest::tables
  std::vector<sdfg::Memlet> pool_;             // what the inputs of expressions under construction refer to
  std::vector<const clang::FunctionDecl*> inline_stack_;
  std::vector<Final> finals_;
  const clang::ForStmt* exchanging_ = nullptr;  // the last statement, if it may exchange pointers
  std::string rest_, rest_begin_;       // of that loop, what C runs behind the nest, and where its variable begins
  std::set<std::string> text_symbols_;  // of the epilogue, and of what symbols computed from others are
  Ranges ranges_;
  Box box_;
  std::size_t built_assumptions_ = 0;        // made when all statements were understood
  std::map<std::string, Range> own_ranges_;  // where the variables of loops with a break lie inside of them
  ReadValues values_;                        // and other variables that subscripts read
  int statements_ = 0, for_depth_ = 0, doubled_ = 0, nested_jumps_ = 0, sometimes_ = 0;
  int seams_ = 0;       // loops around that are taken apart at their ends
  int recoveries_ = 0;  // products of complex numbers of which infinities count
  std::optional<Returning> returning_;
  const clang::CallExpr* lone_call_ = nullptr;  // beside it nothing is read that it may write
  bool effects_ = false;                        // increments inside of the expression may become statements
};

}  // namespace sous::frontends::c
