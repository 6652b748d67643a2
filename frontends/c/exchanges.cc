// Pointers that a loop exchanges: `t = a; a = b; b = t` in each iteration, so that the next one begins with what this
// one has made; and rows that take turns by a remainder (`A[k % 2]`). As many iterations as bring all of them back to
// where they were become one, in which each pointer is a known one in each part of it (modulo variable expansion: Lam
// 1988). Those that are left over, fewer than that, the program runs by itself, behind the nest.
#include <algorithm>
#include <numeric>

#include "clang/AST/ASTContext.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "frontends/c/builder.h"
#include "sdfg/atoms.h"

namespace sous::frontends::c {

using sdfg::Expr;

namespace {

// Iterations that become one; the body is built as often.
constexpr std::int64_t most_passes = 3;

using Exchange = std::map<const clang::VarDecl*, const clang::VarDecl*>;  // of each: whose value it gets

// Those that get the value of another one, where all of these are among them.
Exchange permutation(Exchange from) {
  for (bool more = true; more;) {
    const std::size_t before = from.size();
    std::set<const clang::VarDecl*> kept;
    for (const auto& [_, whose] : from) kept.insert(whose);
    std::erase_if(from, [&](const auto& one) { return !kept.contains(one.first) || !from.contains(one.second); });
    more = from.size() < before;
  }
  return from;
}

// After so many times all are as they were.
std::int64_t order_of(const Exchange& from) {
  std::int64_t order = 1;
  for (const auto& [first, second] : from) {
    std::int64_t length = 1;
    for (const clang::VarDecl* at = second; at != first; at = from.at(at)) ++length;
    order = std::lcm(order, length);
  }
  return order;
}

// Of `A[k % 2]`, `A[(k + 1) & 1]`: how many iterations of the loop over k bring all such remainders back to what they
// were. 1: there are none, or others.
std::int64_t period_of(const clang::ForStmt* s, const clang::VarDecl* variable, const clang::ASTContext& context) {
  std::int64_t period = 1;
  for_each_statement(s->getBody(), [&](const clang::Stmt* x) {
    const auto* subscript = llvm::dyn_cast<clang::ArraySubscriptExpr>(x);
    if (subscript == nullptr) return;
    for_each_statement(subscript->getIdx(), [&](const clang::Stmt* y) {
      const auto* b = llvm::dyn_cast<clang::BinaryOperator>(y);
      if (b == nullptr || !named_variables(b->getLHS()).contains(variable)) return;
      const auto by = constant_value(b->getRHS(), context);
      if (b->getOpcode() == clang::BO_Rem && by && *by > 1 && *by <= most_passes) period = std::lcm(period, *by);
      if (b->getOpcode() == clang::BO_And && by == 1) period = std::lcm(period, 2);
    });
  });
  return period;
}

bool by_remainder(const sdfg::Memlet& memlet, const std::string& symbol) {
  bool found = false;
  for (const Expr& e : memlet.subset)
    sdfg::map_atoms(e, [&](const sdfg::Atom& atom, const std::vector<Expr>& args) {
      found = found || (atom.kind == sdfg::AtomKind::Mod && args[0].uses(symbol));
      return sdfg::make_atom(atom, args);
    });
  return found;
}

// Whether each innermost loop reads of these containers only what lies beside what it writes of them, always as far
// from it. If not (a product with a matrix, say), an iteration needs all that the one before has made: recipes for the
// two together gain nothing that recipes for each do not.
bool is_local(const sdfg::Region& body, const std::set<std::string>& containers) {
  bool local = true;
  sdfg::visit(body, [&](const sdfg::Node& node) {
    const auto* loop = std::get_if<sdfg::Loop>(&node.value);
    if (loop == nullptr) return;
    bool innermost = true;
    std::vector<const sdfg::Memlet*> read, written;
    sdfg::visit(loop->body, [&](const sdfg::Node& inner) {
      innermost = innermost && !std::holds_alternative<sdfg::Loop>(inner.value);
    });
    sdfg::for_each_memlet(loop->body, [&](const sdfg::Memlet& m, bool writes) {
      if (containers.contains(m.container)) (writes ? written : read).push_back(&m);
    });
    const auto beside = [&](const sdfg::Memlet& a, const sdfg::Memlet& b) {
      return a.subset.size() == b.subset.size() &&
             std::ranges::equal(a.subset, b.subset,
                                [&](const Expr& x, const Expr& y) { return !(x - y).uses(loop->symbol); });
    };
    local = local && (!innermost || std::ranges::all_of(read, [&](const sdfg::Memlet* r) {
              return std::ranges::any_of(written, [&](const sdfg::Memlet* w) { return beside(*r, *w); });
            }));
  });
  return local;
}

// `; condition; step) body` of the loop's text, in one line and without comments; nullopt: it cannot stand in another
// place as well.
std::optional<std::string> behind_begin(const clang::ForStmt* s, const clang::ASTContext& context) {
  bool labels = false;
  for_each_statement(s, [&](const clang::Stmt* x) { labels = labels || llvm::isa<clang::LabelStmt>(x); });
  const auto range = text_range(s, context);
  if (!range || labels) return std::nullopt;
  const clang::SourceManager& sources = context.getSourceManager();
  const llvm::StringRef text = sources.getBufferData(sources.getMainFileID());
  clang::Lexer lexer(clang::SourceLocation(), context.getLangOpts(), text.begin(), text.begin() + range->begin,
                     text.end());
  clang::Token token;
  std::string result;
  bool directive = false;
  for (int depth = 0;;) {
    lexer.LexFromRawLexer(token);
    const std::size_t at = static_cast<std::size_t>(lexer.getBufferLocation() - text.begin()) - token.getLength();
    if (at >= range->end || token.is(clang::tok::eof)) break;
    if (token.is(clang::tok::hash) && token.isAtStartOfLine()) {
      directive = true;
      lexer.LexFromRawLexer(token);
      if (!token.is(clang::tok::numeric_constant)) return std::nullopt;  // other than a marker of lines
      continue;
    }
    directive = directive && !token.isAtStartOfLine();
    if (directive) continue;
    if (token.isOneOf(clang::tok::l_paren, clang::tok::l_brace, clang::tok::l_square)) ++depth;
    if (token.isOneOf(clang::tok::r_paren, clang::tok::r_brace, clang::tok::r_square)) --depth;
    if (result.empty() && !(token.is(clang::tok::semi) && depth == 1)) continue;
    if (token.hasLeadingSpace() || token.isAtStartOfLine()) result += ' ';
    result += text.substr(at, token.getLength());
  }
  return result.empty() || result.contains('\n') ? std::nullopt : std::optional(std::move(result));
}

}  // namespace

// Whether the last statement may exchange pointers: it assigns several one another; or rows by remainders. What the
// iterations left over need of other variables is then live.
void Builder::expect_exchange() {
  const auto* loop = llvm::dyn_cast<clang::ForStmt>(stretch_.back());
  if (loop == nullptr) return;
  std::set<const clang::VarDecl*> assigned;
  for_each_statement(loop->getBody(), [&](const clang::Stmt* s) {
    const auto* b = llvm::dyn_cast<clang::BinaryOperator>(s);
    const clang::VarDecl* v =
        b != nullptr && b->getOpcode() == clang::BO_Assign ? named_variable(b->getLHS()) : nullptr;
    if (v != nullptr && tracked(v) && v->getType()->isPointerType() && named_variable(b->getRHS()->IgnoreParenCasts()))
      assigned.insert(v);
  });
  const auto header = for_header(loop, context_);
  const bool in_turns = header && period_of(loop, header->variable, context_) > 1;
  if ((assigned.size() < 2 && !in_turns) || !behind_begin(loop, context_)) return;
  exchanging_ = loop;
  live_after_ = [loop, &context = context_, before = std::move(live_after_)](const clang::VarDecl* v) {
    const std::initializer_list<const clang::Stmt*> parts = {loop->getCond(), loop->getBody(), loop->getInc()};
    return before(v) || std::ranges::any_of(parts, [&](const clang::Stmt* part) {
             return part != nullptr && use_of(part, v, context) == Use::Exposed;
           });
  };
}

// How many iterations of the loop bring all pointers that it exchanges back to where they were: 1 if it exchanges none
// or too many, or if nothing is gained by it.
std::int64_t Builder::iterations_of_exchange(const clang::ForStmt* s, const CountedLoop& loop) {
  const std::set<const clang::VarDecl*> written = written_variables(s->getBody());
  Builder trial(*this);
  sdfg::Region scratch;
  trial.out_ = &scratch;
  std::map<const clang::VarDecl*, Binding> before;
  for (const clang::VarDecl* v : tracked_) {
    if (!written.contains(v) || !v->getType()->isPointerType()) continue;
    const auto known = trial.binding(v, loop.where);
    if (!known || (*known)->kind != Binding::Kind::Pointer) continue;
    Binding& b = trial.bindings_[v];
    b.subscript.back() = Expr::symbol(trial.fresh(v->getNameAsString()));
    before[v] = b;
  }
  trial.box_.push_back(loop_range(loop.symbol, loop.limits.begin, loop.limits.end, loop.header.step));
  trial.loops_.push_back({loop.symbol, loop.limits.begin, loop.nonempty()});
  ++trial.for_depth_;
  if (!trial.enter_body(s->getCond(), written, loop.header.variable, loop.where) || !trial.run_body(s, loop)) return 1;
  Exchange from;
  for (const auto& [v, _] : before) {
    const Binding& after = trial.bindings_[v];
    const auto whose = std::ranges::find_if(before, [&](const auto& one) {
      return after.kind == Binding::Kind::Pointer && after.container == one.second.container &&
             after.subscript == one.second.subscript;
    });
    if (whose != before.end()) from[v] = whose->first;
  }
  from = permutation(std::move(from));
  std::set<std::string> containers;
  for (const auto& [v, _] : from) containers.insert(before.at(v).container);
  std::int64_t order = order_of(from);
  bool in_turns = false;
  sdfg::for_each_memlet(scratch, [&](const sdfg::Memlet& m, bool writes) {
    if (!writes || !by_remainder(m, loop.symbol)) return;
    in_turns = true;
    containers.insert(m.container);
  });
  // Remainders are known of iterations that are counted from a known one.
  if (in_turns && loop.limits.begin.constant()) order = std::lcm(order, period_of(s, loop.header.variable, context_));
  return order <= most_passes && is_local(scratch, containers) ? order : 1;
}

// Whether the loop was built as one that exchanges pointers; if not, it is to be built as any other.
Lift<bool> Builder::exchanging_loop(const clang::ForStmt* s, const CountedLoop& loop) {
  const clang::VarDecl* v = loop.header.variable;
  const auto* declares = llvm::dyn_cast_if_present<clang::DeclStmt>(s->getInit());
  const bool plain = !loop.guarded && !loop.memory && loop.header.before.empty() &&
                     (!loop.header.declared || (declares != nullptr && declares->isSingleDecl()));
  if (s != exchanging_ || for_depth_ > 0 || sometimes_ > 0 || !inline_stack_.empty() || !plain) return false;
  const std::int64_t order = iterations_of_exchange(s, loop);
  const auto trips = order > 1 ? trip_count(loop.limits, loop.header.step) : std::nullopt;
  if (!trips) return false;
  CountedLoop whole = loop;
  whole.passes = order;
  whole.limits.end = loop.limits.end - Expr((order - 1) * loop.header.step);
  TRY_VOID(counted_loop(s, whole));
  const Expr next = loop.limits.begin + Expr(loop.header.step * order) * Expr::floor_div(*trips, Expr(order));
  const std::string name = v->getNameAsString(), held = "sous_next_" + name;
  for (const std::string& symbol : next.symbols())
    if (!symbol_c_.contains(symbol))
      return refuse("c.induction-variable", "where the loop goes on is not known", loop.where);
  text_symbols_.merge(next.symbols());
  rest_begin_ = "long long " + held + " = " + c_text(next) + ";\n";
  const std::string type = loop.header.declared ? v->getType().getUnqualifiedType().getAsString() + " " : "";
  rest_ = "{ " + type + name + " = (__typeof__(" + name + "))" + held + "; for (" + *behind_begin(s, context_) + " }";
  return true;
}

}  // namespace sous::frontends::c
