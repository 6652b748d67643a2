// Facts about a whole stretch, gathered before anything is built: what is declared and written in it, and how.
#include <algorithm>

#include "frontends/c/builder.h"
#include "frontends/c/read_before.h"

namespace sous::frontends::c {

Builder::Builder(const FunctionFacts& facts, std::vector<const clang::Stmt*> stretch,
                 std::function<bool(const clang::VarDecl*)> live_after)
    : facts_(facts), context_(*facts.context), stretch_(std::move(stretch)), live_after_(std::move(live_after)) {}

namespace {

// What pragmas say about the floating point of one expression: FP_CONTRACT, FENV_ACCESS, `clang fp`, float_control.
clang::FPOptionsOverride said_by_pragmas(const clang::Stmt* s) {
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(s)) return b->getFPFeatures();
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s)) return u->getFPOptionsOverride();
  if (const auto* c = llvm::dyn_cast<clang::CastExpr>(s)) return c->getFPFeatures();
  if (const auto* c = llvm::dyn_cast<clang::CallExpr>(s)) return c->getFPFeatures();
  return {};
}

// Contraction by the pragma is that of the generated code where it is of one expression, or off (Builder::binary).
bool is_kept(clang::LangOptions::FPModeKind said, clang::LangOptions::FPModeKind otherwise) {
  if (said == clang::LangOptions::FPM_Off) return true;
  return said == clang::LangOptions::FPM_On ? otherwise != clang::LangOptions::FPM_Off : said == otherwise;
}

bool has_own_floating_point(const clang::Stmt* s, const clang::ASTContext& context) {
  const auto* e = llvm::dyn_cast<clang::Expr>(s);
  if (!e || !e->getType()->isFloatingType()) return false;
  auto said = said_by_pragmas(s);
  if (!said.requiresTrailingStorage()) return false;
  const clang::LangOptions& language = context.getLangOpts();
  const auto otherwise = clang::FPOptions::defaultWithoutTrailingStorage(language);
  clang::FPOptions rules = said.applyOverrides(language);
  if (!is_kept(rules.getFPContractMode(), otherwise.getFPContractMode())) return true;
  rules.setFPContractMode(otherwise.getFPContractMode());
  return rules != otherwise;
}

}  // namespace

void Builder::scan() {
  for (const clang::Stmt* s : stretch_) scan(s);
  // Each function at its least depth, so that none is left out that a call deeper down has met first. What calls half
  // of a large file is not lifted for other reasons, and there are many such statements in it.
  constexpr int kMaxInlineDepth = 8;
  constexpr std::size_t kMostCalled = 100;
  std::size_t scanned = 0;
  for (int depth = 0; depth < kMaxInlineDepth; ++depth)
    for (const std::size_t met = std::min(called_.size(), kMostCalled); scanned < met; ++scanned)
      scan(called_[scanned]->getBody());
  called_.resize(scanned);
}

void Builder::scan(const clang::Stmt* s) {
  if (!s) return;
  if (!own_floating_point_ && has_own_floating_point(s, context_)) own_floating_point_ = s;
  if (const auto* loop = llvm::dyn_cast<clang::ForStmt>(s)) {
    auto header = for_header(loop, context_);
    const bool in_memory =
        header && (header->variable->hasGlobalStorage() || facts_.address_taken.contains(header->variable));
    if (header && !in_memory && !interruption(loop->getBody()) &&
        !written_variables(loop->getBody()).contains(header->variable) && keeps_bound(loop, *header)) {
      for (const clang::Expr* e : header->before) scan(e);
      for (const clang::Expr* e : header->also) scan(e);
      header_writes_.insert(header->variable);
      if (header->declared) declared_.insert(header->variable);
      scan(header->begin);
      scan(loop->getCond());
      scan(loop->getBody());
      return;
    }
  }
  if (const auto* d = llvm::dyn_cast<clang::DeclStmt>(s))
    for (const clang::Decl* decl : d->decls())
      if (const auto* v = llvm::dyn_cast<clang::VarDecl>(decl)) {
        declared_.insert(v);
        if (is_record(v->getType(), context_)) whole_records_.insert(v);
      }
  const clang::Expr* target = nullptr;
  if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(s); b && b->isAssignmentOp()) target = b->getLHS();
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s); u && u->isIncrementDecrementOp())
    target = u->getSubExpr();
  if (target) {
    if (const clang::VarDecl* v = named_variable(target)) {
      general_writes_.insert(v);
      if (is_record(v->getType(), context_)) whole_records_.insert(v);
    }
    if (const auto* m = llvm::dyn_cast<clang::MemberExpr>(target->IgnoreParens()))
      if (const auto named = named_member(m)) in_place_.insert(named->c_expr);
  }
  if (const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(s))
    if (const auto* v = llvm::dyn_cast<clang::VarDecl>(ref->getDecl()); v && v->getType()->isPointerType())
      ++pointees_[v].mentions;
  if (const auto* load = llvm::dyn_cast<clang::CastExpr>(s); load && load->getCastKind() == clang::CK_LValueToRValue)
    if (const clang::VarDecl* v = pointer_to(load->getSubExpr())) ++pointees_[v].loads;
  if (const auto* call = llvm::dyn_cast<clang::CallExpr>(s)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    const clang::FunctionDecl* definition = nullptr;
    if (callee && callee->hasBody(definition) && std::ranges::find(called_, definition) == called_.end())
      called_.push_back(definition);
  }
  for (const clang::Stmt* child : s->children()) scan(child);
}

}  // namespace sous::frontends::c
