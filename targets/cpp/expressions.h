// Symbolic and scalar expressions, and elements of containers, as C++.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sdfg/mathematics.h"
#include "sdfg/sdfg.h"
#include "targets/cpp/names.h"
#include "targets/cpp/text.h"

namespace sous::targets {

class Expressions {
 public:
  Expressions(const sdfg::Sdfg& sdfg, Names& names);

  // An int64_t. Floor division is plain division where the operands are provably not negative.
  Text index(const sdfg::Expr& e) const { return index(e, false); }
  // The same ahead of where the nest gets to it, which may be nowhere: a divisor that is not positive there counts as
  // one.
  Text index_ahead(const sdfg::Expr& e) const { return index(e, true); }
  // The element of a container, as an lvalue.
  Text element(const std::string& container, const std::vector<sdfg::Expr>& subscript) const;
  Text element(const sdfg::Memlet& memlet) const;
  // The element's place from the container's base: offset + sum(subscript * stride), as one expression.
  sdfg::Expr offset(const sdfg::Memlet& memlet) const;
  // The value of a tree whose input k is written inputs[k]. Nothing is folded or reordered.
  Text scalar(const sdfg::ScalarExpr& e, const std::vector<Text>& inputs) const;
  // The same with the elements that the memlets name.
  Text scalar(const sdfg::ScalarExpr& e, const std::vector<const sdfg::Memlet*>& inputs) const;
  // `accumulated op` the tree, where device code writes that as one operation.
  std::optional<Text> fused_update(sdfg::ReductionOp op, const sdfg::ScalarExpr& e, const std::vector<Text>& inputs,
                                   const Text& accumulated) const;
  // One node over written arguments.
  Text operation(const sdfg::ScalarExpr& e, const std::vector<Text>& args) const;
  // `accumulated op value` as the IR's reduction operators mean it.
  Text combined(sdfg::ReductionOp op, sdfg::ElementType type, const Text& accumulated, const Text& value) const;

  bool nonnegative(const sdfg::Expr& e) const;
  // Inside the loop that binds `symbol`: what is known of it.
  void enter(const sdfg::Loop& loop);
  void leave(const sdfg::Loop& loop);
  // The identifiers of symbols and containers in what was written, since whoever asks for them cleared it.
  std::set<std::string>& used() const { return used_; }
  // The identifier of a symbol or container, in code that uses it.
  const std::string& use(const std::string& name) const;
  // The container's elements are those of an array with this identifier, which stands ahead of the function.
  void take_table(const std::string& container, const std::string& identifier) {
    tables_.emplace(container, identifier);
  }
  // Those that were used.
  const std::set<std::string>& tables_used() const { return tables_used_; }
  // The symbols of the loops entered, outermost first.
  std::vector<std::string> entered() const;

  // What to ask for ahead of a read, for the loops entered that prefetch: the elements that it meets so many iterations
  // later, where they move with such a loop and with another one. (What moves with one loop alone is met again in the
  // next run of it, and is in the cache.) An element near one that this body was given already is left out.
  std::vector<sdfg::Memlet> ahead(const sdfg::Memlet& read);
  // The body is written once more, for other iterations.
  void ask_again() { asked_for_.clear(); }

  const sdfg::Sdfg& sdfg() const { return sdfg_; }
  const sdfg::Container& container(const std::string& name) const;
  Names& names() const { return names_; }
  // Scalars that the function gets as pointers.
  bool by_pointer(const std::string& container) const { return by_pointer_.contains(container); }
  // The scalar is one, too.
  void point_to(const std::string& scalar) { by_pointer_.insert(scalar); }

  // While set: for a device, whose compiler must be told what the host's does of itself. Integers wrap; where
  // `contracts` allows it, a product and the sum that uses it are one operation.
  bool on_device = false, contracts = false;
  // While set: every access to the container is written as this (a local copy of one of its elements).
  std::map<std::string, std::string> locals;
  // While set: the symbol is written as this.
  std::map<std::string, Text> symbols;

 private:
  Text index(const sdfg::Expr& e, bool ahead) const;

  const sdfg::Sdfg& sdfg_;
  Names& names_;
  mutable std::set<std::string> used_, tables_used_;
  std::map<std::string, std::string> tables_;  // identifiers, by container
  std::set<std::string> by_pointer_;
  std::set<std::string> nonnegative_;
  std::optional<Text> device_operation(const sdfg::ScalarExpr& e, const std::vector<Text>& inputs) const;
  using Places = std::vector<std::pair<std::string, sdfg::Expr>>;  // in containers
  struct LoopAround {
    const sdfg::Loop* loop;
    Places asked_for;  // around it
  };
  std::vector<LoopAround> around_;
  Places asked_for_;  // ahead, in this body
};

// The value of a constant: floats in the shortest decimal form that reads back as the same bits, else bit by bit.
Text literal(const sdfg::ScalarExpr& constant);

// Containers that are written anywhere below, each access that reads in symbolic expressions included.
bool mentions(const sdfg::Expr& e, const std::set<std::string>& containers);

}  // namespace sous::targets
