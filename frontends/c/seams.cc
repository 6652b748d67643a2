// Loops around a ring: `u[(i + 1) % n]`, `i == 0 ? n - 1 : i - 1`, `if (ip == n) ip = 0;`.
//
// What comes behind the last element is the first. Only the first and the last iteration of the loop see the seam; a
// loop that is taken apart there has subscripts in between that are sums: neighbours in memory, with no remainder to
// compute and no condition to ask. That changes neither what is computed nor in which order.
#include <algorithm>
#include <cstdlib>

#include "frontends/c/builder.h"
#include "frontends/c/compared.h"

namespace sous::frontends::c {

using sdfg::Expr;

namespace {

// Each loop makes three: no more than the two innermost.
constexpr int kMostSeams = 2;

bool mentions(const clang::Stmt* s, const clang::VarDecl* v) { return named_variables(s).contains(v); }

// Variables and numbers, added and subtracted.
bool is_sum(const clang::Expr* e) {
  e = e->IgnoreParenImpCasts();
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(e))
    return b->isAdditiveOp() && is_sum(b->getLHS()) && is_sum(b->getRHS());
  return llvm::isa<clang::DeclRefExpr, clang::IntegerLiteral, clang::MemberExpr>(e);
}

// v + 1, v - 1.
bool is_next_to(const clang::Expr* e, const clang::VarDecl* v, const clang::ASTContext& context) {
  const auto* b = llvm::dyn_cast<clang::BinaryOperator>(e->IgnoreParenImpCasts());
  if (!b || !b->isAdditiveOp()) return false;
  const auto is_v = [&](const clang::Expr* x) { return named_variable(x->IgnoreParenImpCasts()) == v; };
  if (is_v(b->getLHS())) return constant_value(b->getRHS(), context).has_value();
  return b->getOpcode() == clang::BO_Add && is_v(b->getRHS()) && constant_value(b->getLHS(), context).has_value();
}

// (i + 1) % n
const clang::BinaryOperator* remainder_of_sum(const clang::Stmt* s) {
  const auto* b = llvm::dyn_cast<clang::BinaryOperator>(s);
  return b && b->getOpcode() == clang::BO_Rem && is_sum(b->getLHS()) &&
                 llvm::isa<clang::BinaryOperator>(b->getLHS()->IgnoreParenImpCasts())
             ? b
             : nullptr;
}

// Whether so many elements may be all that the loop runs over: `% 7` in a loop to 300 only makes values up.
bool is_round(const clang::Expr* number, const ForHeader& header, const clang::ASTContext& context) {
  constexpr std::int64_t border = 4;
  const auto constant = constant_value(number, context);
  return std::ranges::any_of(header.conditions, [&](const clang::BinaryOperator* test) {
    const auto ends_there = [&](const clang::Expr* end) {
      const auto last = constant_value(end, context);
      return constant && last ? std::abs(*constant - *last) <= border : constant.has_value() == last.has_value();
    };
    return mentions(test->getLHS(), header.variable) ? ends_there(test->getRHS()) : ends_there(test->getLHS());
  });
}

// What a function of the file does with its parameters counts where it is called.
bool wraps_sums(const clang::Stmt* s, const ForHeader& header, const clang::ASTContext& context) {
  bool found = false;
  for_each_statement(s, [&](const clang::Stmt* x) {
    const auto* b = remainder_of_sum(x);
    found = found || (b && (named_variable(b->getRHS()->IgnoreParenImpCasts()) != nullptr ||
                            is_round(b->getRHS(), header, context)));
  });
  return found;
}

class Seams {
 public:
  Seams(const clang::ForStmt* loop, const ForHeader& header, const clang::ASTContext& context)
      : header_(header), variable_(header.variable), context_(context) {
    // Its own neighbours: `ip = i + 1;`, `int im = i - 1;`.
    for_each_statement(loop->getBody(), [&](const clang::Stmt* s) {
      const auto neighbour = [&](const clang::VarDecl* v, const clang::Expr* value) {
        if (v && v->hasLocalStorage() && v->getType()->isSignedIntegerOrEnumerationType() &&
            is_next_to(value, variable_, context_))
          neighbours_.insert(v);
      };
      if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(s); b && b->getOpcode() == clang::BO_Assign)
        neighbour(named_variable(b->getLHS()), b->getRHS());
      if (const auto* d = llvm::dyn_cast<clang::DeclStmt>(s))
        for (const clang::Decl* decl : d->decls())
          if (const auto* v = llvm::dyn_cast<clang::VarDecl>(decl); v && v->hasInit()) neighbour(v, v->getInit());
    });
    for_each_statement(loop->getBody(), [&](const clang::Stmt* s) { found_ = found_ || is_seam(s); });
  }
  bool found() const { return found_; }

 private:
  bool is_seam(const clang::Stmt* s) const {
    if (const auto* b = remainder_of_sum(s))
      return mentions(b->getLHS(), variable_) && is_round(b->getRHS(), header_, context_);
    if (const auto* choice = llvm::dyn_cast<clang::ConditionalOperator>(s)) return is_choice(choice);
    if (const auto* branch = llvm::dyn_cast<clang::IfStmt>(s)) return is_correction(branch);
    const auto* call = llvm::dyn_cast<clang::CallExpr>(s);
    const clang::FunctionDecl* f = nullptr;
    return call && call->getDirectCallee() && call->getDirectCallee()->hasBody(f) && mentions(call, variable_) &&
           wraps_sums(f->getBody(), header_, context_);
  }

  // Behind the last comes a first, not the last again (which is a border that repeats what it has: a minimum).
  bool leads_round(const Compared& test, const clang::Expr* otherwise, bool where_it_holds) const {
    if (test.is_equality()) return true;
    const bool less = test.op == clang::BO_LT || test.op == clang::BO_LE;
    const bool beyond_last = less != where_it_holds;
    return constant_value(otherwise, context_).has_value() == beyond_last;
  }
  // i == 0 ? n - 1 : i - 1, i ? i - 1 : n - 1
  bool is_choice(const clang::ConditionalOperator* e) const {
    const auto test = compared(e->getCond());
    if (!test || !e->getType()->isSignedIntegerOrEnumerationType() || !mentions(test->left, variable_)) return false;
    const bool yes = is_next_to(e->getTrueExpr(), variable_, context_);
    const bool no = is_next_to(e->getFalseExpr(), variable_, context_);
    return yes != no && leads_round(*test, yes ? e->getFalseExpr() : e->getTrueExpr(), /*where_it_holds=*/no);
  }
  // if (ip == n) ip = 0;
  bool is_correction(const clang::IfStmt* s) const {
    const auto test = compared(s->getCond());
    const clang::Stmt* body = s->getThen();
    if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(body); block && block->size() == 1)
      body = block->body_front();
    const auto* assign = llvm::dyn_cast<clang::BinaryOperator>(body);
    if (!test || s->getElse() || !assign || !assign->isAssignmentOp()) return false;
    const clang::VarDecl* v = named_variable(assign->getLHS());
    if (!v || !neighbours_.contains(v) || !(mentions(test->left, v) || mentions(test->left, variable_))) return false;
    return assign->isCompoundAssignmentOp() || leads_round(*test, assign->getRHS(), /*where_it_holds=*/true);
  }

  const ForHeader& header_;
  const clang::VarDecl* variable_;
  const clang::ASTContext& context_;
  std::set<const clang::VarDecl*> neighbours_;
  bool found_ = false;
};

}  // namespace

// Whether the loop is to be taken apart at its ends. Where it has fewer than two iterations, the original runs.
bool Builder::has_seam(const clang::ForStmt* s, const CountedLoop& loop) {
  const auto along_ring = [&](const clang::ForStmt* l) {
    const auto header = for_header(l, context_);
    return header && header->step == 1 && header->before.empty() && header->also.empty() &&
           Seams(l, *header, context_).found();
  };
  if (seams_ >= kMostSeams || !loop.readable() || !along_ring(s)) return false;
  int inside = 0;
  for_each_statement(s->getBody(), [&](const clang::Stmt* x) {
    const auto* l = llvm::dyn_cast<clang::ForStmt>(x);
    inside += l && along_ring(l) ? 1 : 0;
  });
  if (inside + seams_ >= kMostSeams) return false;
  if (const auto least = ranges_.lower(loop.nonempty() - Expr(1), box_)) expect_no_underflow(*least);
  return ranges_.require_nonneg(loop.nonempty() - Expr(1), box_);
}

// Asked where a loop is in parts: elsewhere the answer is hardly ever known.
std::optional<bool> Builder::known_order(clang::BinaryOperatorKind op, const Expr& a, const Expr& b) const {
  if (seams_ == 0) return std::nullopt;
  const auto no_less = [&](const Expr& x, const Expr& y) { return ranges_.nonneg(x - y, box_); };
  const auto less = [&](const Expr& x, const Expr& y) { return ranges_.nonneg(y - x - Expr(1), box_); };
  const auto decided = [](bool yes, bool no) {
    return yes ? std::optional(true) : no ? std::optional(false) : std::nullopt;
  };
  switch (op) {
    case clang::BO_LT:
      return decided(less(a, b), no_less(a, b));
    case clang::BO_GE:
      return decided(no_less(a, b), less(a, b));
    case clang::BO_GT:
      return decided(less(b, a), no_less(b, a));
    case clang::BO_LE:
      return decided(no_less(b, a), less(b, a));
    case clang::BO_EQ:
      return decided(no_less(a, b) && no_less(b, a), less(a, b) || less(b, a));
    case clang::BO_NE:
      return decided(less(a, b) || less(b, a), no_less(a, b) && no_less(b, a));
    default:
      return std::nullopt;
  }
}

// a % b, for 0 <= a and 0 < b.
std::optional<Expr> Builder::known_remainder(const Expr& a, const Expr& b) const {
  if (seams_ == 0) return std::nullopt;
  const auto is_below = [&](const Expr& rest) { return ranges_.nonneg(b - rest - Expr(1), box_); };
  if (is_below(a)) return a;
  // (i + 1 + n) % n, which is so written for i - 1, goes round twice.
  for (const Expr& rest : {a - b, a - b - b})
    if (ranges_.nonneg(rest, box_) && is_below(rest)) return rest;
  return std::nullopt;
}

}  // namespace sous::frontends::c
