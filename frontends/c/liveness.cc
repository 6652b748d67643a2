// Liveness of arrays.
//
// Condition. An array is dead after a stretch if no execution of the program reads, after the stretch has run, an
// element that was not written again by C's own statements in between; what is shown is more: that no read follows at
// all, or that the reads that do are those of the stretch itself, each covered by a write of the same run. The
// argument:
//  1. Names. The object is an automatic array, a block from malloc that one never changed local pointer holds, or an
//     array with internal linkage. Every mention of its name is one of: an element read or written, an operand of
//     sizeof, a test against null, an argument of free, of memset and memcpy, or of a function of this file, whose
//     parameter's mentions are of these kinds in turn. Any other mention (also one that this file's walk does not meet)
//     lets the address escape, and the object is live. So each read of it in the whole program is a mention that is
//     known here.
//  2. Time. Where a stretch names a parameter, all calls of its function must be known (a static function whose address
//     is not taken), and in each one the object is mentioned once: while the call runs, the parameter and the
//     parameters that it is passed on as are its only names. So what may read it after the stretch are the mentions
//     that may run after it in the function, then those that may run after the call in the caller, and so on up to the
//     object. A mention may run after a place if a loop in the object's scope is around both, or if it follows in the
//     text of a block; anywhere in a function with labels; and everywhere for an object with static storage.
//  3. The stretch's own reads do not count where its graph shows that they read what the same run wrote. That needs a
//     graph that says what the program does in every run: one with assumptions does not, for where they do not hold the
//     original statements run, with reads of their own.
// In functions whose expressions nest deeper than `deepest` every mention lets an address escape: it would take too
// long. Translation units that mention setjmp, vfork or getcontext (code may run again) have no dead arrays; nor does
// what assembly or an alias may name.
#include "frontends/c/liveness.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "frontends/c/ast.h"
#include "frontends/c/mentions.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

namespace {

using Kind = Mention::Kind;
using Body = MentionedBody;

bool is_loop(const clang::Stmt* s) { return llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt>(s); }

bool returns_twice(const clang::FunctionDecl* f, const clang::ASTContext& context) {
  if (f->hasAttr<clang::ReturnsTwiceAttr>()) return true;
  if (const unsigned id = f->getBuiltinID(); id != 0 && context.BuiltinInfo.isReturnsTwice(id)) return true;
  std::string name = f->getNameAsString();
  name.erase(0, name.find_first_not_of('_'));
  static const std::set<std::string, std::less<>> names{"setjmp",     "sigsetjmp",   "savectx",       "vfork",
                                                        "getcontext", "swapcontext", "builtin_setjmp"};
  return names.contains(name);
}

}  // namespace

class Liveness::Facts : public clang::RecursiveASTVisitor<Liveness::Facts> {
  using Base = clang::RecursiveASTVisitor<Facts>;

 public:
  explicit Facts(clang::ASTContext& context) : context_(context) { TraverseDecl(context.getTranslationUnitDecl()); }

  // --- Gathering

  bool TraverseFunctionDecl(clang::FunctionDecl* f) {
    const clang::FunctionDecl* const outer = std::exchange(current_, f);
    const bool more = Base::TraverseFunctionDecl(f);
    current_ = outer;
    return more;
  }
  bool VisitFunctionDecl(clang::FunctionDecl* f) {
    if (f->doesThisDeclarationHaveABody()) functions_.push_back(f);
    return true;
  }
  bool VisitDecl(clang::Decl* d) {
    named_elsewhere_ = named_elsewhere_ || d->hasAttr<clang::AliasAttr>() || d->hasAttr<clang::WeakRefAttr>() ||
                       d->hasAttr<clang::IFuncAttr>() || llvm::isa<clang::FileScopeAsmDecl>(d);
    if (const auto* label = d->getAttr<clang::AsmLabelAttr>()) labels_.insert(label->getLabel().str());
    return true;
  }
  bool VisitStmt(clang::Stmt* s) {
    named_elsewhere_ = named_elsewhere_ || llvm::isa<clang::AsmStmt>(s);
    runs_again_ = runs_again_ || llvm::isa<clang::BlockExpr>(s);  // a body that the walk over statements does not meet
    return true;
  }
  bool VisitCallExpr(clang::CallExpr* call) {
    if (const clang::FunctionDecl* f = call->getDirectCallee())
      calls_[f->getCanonicalDecl()].emplace_back(current_, call);
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* e) {
    if (const auto* f = llvm::dyn_cast<clang::FunctionDecl>(e->getDecl())) {
      ++mentions_of_functions_[f->getCanonicalDecl()];
      runs_again_ = runs_again_ || returns_twice(f, context_);
    }
    if (const auto* v = llvm::dyn_cast<clang::VarDecl>(e->getDecl()); v && v->hasGlobalStorage())
      global_places_[canonical(v)].push_back(e);
    return true;
  }

  // --- Asking

  bool dead(const clang::FunctionDecl* function, const std::vector<const clang::Stmt*>& stretch,
            const clang::VarDecl* array, const std::function<bool()>& covered) {
    if (runs_again_) return false;
    array = canonical(array);
    covered_.clear();
    parameters_.clear();
    if (unread_after(function, stretch.back(), array)) return true;
    // Once more, where the reads of the stretch itself are the reason.
    for (const Mention& m : body(function).mentions[array])
      if (std::ranges::any_of(stretch, [&](const clang::Stmt* s) { return body(function).encloses(s, m.place); }))
        covered_.insert(m.place);
    parameters_.clear();
    return unread_after(function, stretch.back(), array) && (planted(Fault::exposed_reads_ignored) || covered());
  }

  Body& body(const clang::FunctionDecl* f) {
    const auto found = bodies_.find(f);
    if (found != bodies_.end()) return found->second;
    return bodies_.emplace(f, mentions_in(f, context_, !named_elsewhere_)).first->second;
  }

  Names names(const clang::FunctionDecl* f, const clang::VarDecl* v) {
    if (runs_again_) return Names::Others;
    covered_.clear();
    parameters_.clear();
    return names_while_running(f, canonical(v));
  }

  bool changes(const Mention& m) {
    std::set<const clang::VarDecl*> seen;
    return changes(m, seen);
  }

 private:
  // All calls, if they are known; null otherwise.
  const std::vector<std::pair<const clang::FunctionDecl*, const clang::CallExpr*>>* calls(
      const clang::FunctionDecl* f) const {
    f = f->getCanonicalDecl();
    const auto found = calls_.find(f);
    if (f->isExternallyVisible() || named_elsewhere_ || found == calls_.end()) return nullptr;
    for (const clang::FunctionDecl* d : f->redecls())
      if (d->hasAttr<clang::UsedAttr>() || d->hasAttr<clang::RetainAttr>() || d->hasAttr<clang::AsmLabelAttr>())
        return nullptr;
    if (labels_.contains(f->getNameAsString())) return nullptr;
    const bool all = static_cast<int>(found->second.size()) == mentions_of_functions_.at(f);
    return all || planted(Fault::address_of_function_ignored) ? &found->second : nullptr;
  }

  // f(mention) for every mention of the object that `v` names, in functions that it is passed to as well (but not
  // where the stretch's own mentions pass it); stops where f gives true, and gives that back.
  bool any_mention(const clang::VarDecl* v, const std::function<bool(const Mention&)>& f,
                   std::set<const clang::VarDecl*>& seen) {
    if (!seen.insert(v).second) return false;
    std::vector<const clang::FunctionDecl*> where;
    if (v->hasGlobalStorage()) {
      where = functions_;
      std::set<const clang::DeclRefExpr*> met;
      for (const clang::FunctionDecl* g : where)
        for (const Mention& m : body(g).mentions[v]) met.insert(m.place);
      for (const clang::DeclRefExpr* place : global_places_[v])  // in an initialiser
        if (!met.contains(place) && f(Mention{.place = place})) return true;
    } else {
      const auto* function = llvm::dyn_cast<clang::FunctionDecl>(v->getDeclContext());
      if (!function) return f(Mention{});  // of a captured region
      where = {function};
    }
    for (const clang::FunctionDecl* g : where)
      for (const Mention& m : body(g).mentions[v]) {
        if (f(m)) return true;
        if (m.kind == Kind::Passed && any_mention(m.parameter, f, seen)) return true;
      }
    return false;
  }

  bool escapes(const clang::VarDecl* v) {
    std::set<const clang::VarDecl*> seen;
    return any_mention(v, [](const Mention& m) { return m.kind == Kind::Escaped; }, seen);
  }

  // Whether the object may be read through this mention, in what it is passed to as well.
  bool reads(const Mention& m, std::set<const clang::VarDecl*>& seen) {
    if (covered_.contains(m.place)) return false;
    if (m.kind == Kind::Read || m.kind == Kind::Escaped) return true;
    if (m.kind != Kind::Passed || !seen.insert(m.parameter).second) return false;
    const auto* f = llvm::cast<clang::FunctionDecl>(m.parameter->getDeclContext());
    return std::ranges::any_of(body(f).mentions[m.parameter], [&](const Mention& inner) { return reads(inner, seen); });
  }
  bool reads(const Mention& m) {
    std::set<const clang::VarDecl*> seen;
    return reads(m, seen);
  }

  bool changes(const Mention& m, std::set<const clang::VarDecl*>& seen) {
    if (m.writes || m.kind == Kind::Escaped) return true;
    if (m.kind != Kind::Passed || !seen.insert(m.parameter).second) return false;
    const auto* f = llvm::cast<clang::FunctionDecl>(m.parameter->getDeclContext());
    return std::ranges::any_of(body(f).mentions[m.parameter],
                               [&](const Mention& inner) { return changes(inner, seen); });
  }

  Names names_while_running(const clang::FunctionDecl* f, const clang::VarDecl* v) {
    if (v->hasGlobalStorage()) {
      const bool elsewhere = std::ranges::any_of(functions_, [&](const clang::FunctionDecl* g) {
        return g != f && std::ranges::any_of(body(g).mentions[v], [&](const Mention& m) { return changes(m); });
      });
      return is_hidden(v) && !escapes(v) && !elsewhere ? Names::OneUnlessCalledBack : Names::Others;
    }
    if (v->getDeclContext() != f) return Names::Others;
    if (!llvm::isa<clang::ParmVarDecl>(v)) return is_own(v) && !escapes(v) ? Names::One : Names::Others;
    // While the block of a restrict pointer runs, nothing that is not based on it changes what it is used to access.
    const bool is_restrict = v->getType().isRestrictQualified() && !escapes(v);
    return std::max(is_restrict ? Names::OneOfItsElements : Names::Others, names_by_callers(f, v));
  }

  Names names_by_callers(const clang::FunctionDecl* f, const clang::VarDecl* parameter) {
    if (!parameters_.insert(parameter).second) return Names::One;  // its callers are being looked at
    const auto* sites = calls(f);
    if (!sites) return Names::Others;
    Names all = Names::One;
    for (const auto& [caller, call] : *sites) {
      const clang::VarDecl* object = caller ? object_passed(caller, call, parameter) : nullptr;
      all = std::min(all, object ? names_while_running(caller, object) : Names::Others);
    }
    return all;
  }

  // Whether each iteration of the loop has a `v` of its own: it is declared in the body (not in the header).
  static bool is_new_inside(const Body& b, const clang::Stmt* loop, const clang::VarDecl* v) {
    const auto declared = b.declared.find(v);
    return declared != b.declared.end() && b.above(declared->second) != loop && b.encloses(loop, declared->second);
  }

  // Whether the mention of `v` may run after the statement or call `place`, for the same object.
  static bool may_follow(const Body& b, const clang::Stmt* mention, const clang::Stmt* place, const clang::VarDecl* v) {
    if (b.jumps) return true;
    const clang::Stmt* from_mention = nullptr;
    const clang::Stmt* meet = mention;
    while (meet && !b.encloses(meet, place)) {
      from_mention = meet;
      meet = b.above(meet);
    }
    if (!meet) return true;
    const bool itself = meet == place;
    for (const clang::Stmt* s = itself ? b.above(meet) : meet; s; s = b.above(s))
      if (is_loop(s) && !planted(Fault::enclosing_loop_ignored) && !is_new_inside(b, s, v)) return true;
    if (itself) return false;
    const clang::Stmt* from_place = place;
    while (b.above(from_place) != meet) from_place = b.above(from_place);
    if (llvm::isa<clang::CompoundStmt>(meet)) {
      for (const clang::Stmt* s : meet->children()) {
        if (s == from_place) return true;  // comes first
        if (s == from_mention) return false;
      }
    }
    if (const auto* i = llvm::dyn_cast<clang::IfStmt>(meet)) return from_place == i->getCond();
    return true;
  }

  // An array, or a block, of one execution of the block that declares it.
  static bool is_own(const clang::VarDecl* v) {
    return v->hasLocalStorage() && !v->hasAttr<clang::CleanupAttr>() &&
           (v->getType()->isArrayType() || starts_as_block(v));
  }

  // Whether only the mentions in this file name the array, which has static storage.
  bool is_hidden(const clang::VarDecl* v) const {
    const auto harmless = [](const clang::Attr* a) { return llvm::isa<clang::AlignedAttr, clang::UnusedAttr>(a); };
    for (const clang::VarDecl* d : v->redecls())
      if (!std::ranges::all_of(d->attrs(), harmless)) return false;
    return !v->isExternallyVisible() && v->getType()->isArrayType() && v->getTLSKind() == clang::VarDecl::TLS_None &&
           !named_elsewhere_ && !labels_.contains(v->getNameAsString());
  }

  // Whether no mention reads the object of `v` after `place` in `f`; of a parameter, in no caller either.
  bool unread_after(const clang::FunctionDecl* f, const clang::Stmt* place, const clang::VarDecl* v) {
    Body& b = body(f);
    if (v->hasGlobalStorage()) {
      if (!is_hidden(v) || escapes(v)) return false;
      return std::ranges::none_of(functions_, [&](const clang::FunctionDecl* g) {
        return std::ranges::any_of(body(g).mentions[v], [&](const Mention& m) { return reads(m); });
      });
    }
    if (v->getDeclContext() != f) return false;
    for (const Mention& m : b.mentions[v])
      if (may_follow(b, m.place, place, v) && reads(m)) return false;
    if (!llvm::isa<clang::ParmVarDecl>(v)) return is_own(v) && !escapes(v);
    if (!parameters_.insert(v).second) return true;  // its callers are being looked at
    const auto* sites = calls(f);
    if (!sites) return false;
    for (const auto& [caller, call] : *sites) {
      const clang::VarDecl* object = caller ? object_passed(caller, call, v) : nullptr;
      if (!object || !unread_after(caller, call, object)) return false;
    }
    return true;
  }

  // What the call passes for the parameter, if no other argument names it, too.
  const clang::VarDecl* object_passed(const clang::FunctionDecl* caller, const clang::CallExpr* call,
                                      const clang::VarDecl* parameter) {
    const Body& b = body(caller);
    for (const auto& [v, mentions] : b.mentions)
      for (const Mention& m : mentions) {
        if (m.kind != Kind::Passed || m.call != call || m.parameter != parameter) continue;
        const auto inside =
            std::ranges::count_if(mentions, [&](const Mention& other) { return b.encloses(call, other.place); });
        return inside == 1 ? v : nullptr;
      }
    return nullptr;
  }

  clang::ASTContext& context_;
  const clang::FunctionDecl* current_ = nullptr;
  std::vector<const clang::FunctionDecl*> functions_;
  std::map<const clang::FunctionDecl*, std::vector<std::pair<const clang::FunctionDecl*, const clang::CallExpr*>>>
      calls_;
  std::map<const clang::FunctionDecl*, int> mentions_of_functions_;
  std::map<const clang::VarDecl*, std::vector<const clang::DeclRefExpr*>> global_places_;
  std::set<std::string> labels_;  // names that declarations give themselves for the assembler
  bool named_elsewhere_ = false;  // assembly or an alias may name what has internal linkage
  bool runs_again_ = false;
  std::map<const clang::FunctionDecl*, Body> bodies_;
  // Of the question at hand.
  std::set<const clang::DeclRefExpr*> covered_;
  std::set<const clang::VarDecl*> parameters_;
};

Liveness::Liveness(clang::ASTContext& context) : context_(context) {}
Liveness::~Liveness() = default;

bool Liveness::dead_after(const clang::FunctionDecl* function, const std::vector<const clang::Stmt*>& stretch,
                          const clang::VarDecl* array, const std::function<bool()>& covered) {
  return facts().dead(function, stretch, array, covered);
}

Liveness::Facts& Liveness::facts() {
  if (!facts_) facts_ = std::make_unique<Facts>(context_);
  return *facts_;
}

const MentionedBody& Liveness::body(const clang::FunctionDecl* function) { return facts().body(function); }

Liveness::Names Liveness::names(const clang::FunctionDecl* function, const clang::VarDecl* array) {
  return facts().names(function, array);
}

bool Liveness::changes(const Mention& mention) { return facts().changes(mention); }

}  // namespace sous::frontends::c
