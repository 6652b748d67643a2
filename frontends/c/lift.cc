#include "frontends/c/lift.h"

#include <algorithm>

#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Frontend/ASTUnit.h"
#include "clang/Tooling/Tooling.h"
#include "frontends/c/addresses.h"
#include "frontends/c/advice.h"
#include "frontends/c/ast.h"
#include "frontends/c/function_attributes.h"
#include "frontends/c/liveness.h"
#include "frontends/c/stretches.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

namespace {

// Keeps the first error and prints nothing.
class FirstError : public clang::DiagnosticConsumer {
 public:
  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& diagnostic) override {
    DiagnosticConsumer::HandleDiagnostic(level, diagnostic);
    if (level < clang::DiagnosticsEngine::Error || !message.empty()) return;
    llvm::SmallString<256> text;
    diagnostic.FormatDiagnostic(text);
    message = text.str().str();
    if (diagnostic.hasSourceManager() && diagnostic.getLocation().isValid()) {
      const clang::PresumedLoc at = diagnostic.getSourceManager().getPresumedLoc(diagnostic.getLocation());
      if (at.isValid())
        where =
            std::string(at.getFilename()) + ":" + std::to_string(at.getLine()) + ":" + std::to_string(at.getColumn());
    }
  }
  std::string message, where;
};

// Parameters of static functions to which every call passes the same value: a constant, a local variable that has its
// first value for good, or such a parameter of the caller. Where a function's address is taken, nothing is known. Of
// functions that other files may call, but that no header declares, it is supposed: most programs have such functions.
class Calls : public clang::RecursiveASTVisitor<Calls> {
 public:
  explicit Calls(const clang::ASTContext& context) : context_(context) {}
  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::FunctionDecl* f = call->getDirectCallee();
    if (!f) return true;
    ++direct_[f->getCanonicalDecl()];
    for (unsigned k = 0; k < call->getNumArgs(); ++k) passed_[{f->getCanonicalDecl(), k}].push_back(call->getArg(k));
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* ref) {
    if (const auto* f = llvm::dyn_cast<clang::FunctionDecl>(ref->getDecl())) ++mentions_[f->getCanonicalDecl()];
    if (const auto* v = llvm::dyn_cast<clang::VarDecl>(ref->getDecl())) ++named_[v];
    return true;
  }
  bool VisitImplicitCastExpr(clang::ImplicitCastExpr* cast) {
    if (cast->getCastKind() == clang::CK_LValueToRValue) is_read(cast->getSubExpr());
    return true;
  }
  // An array's extent stands in its type as it is written.
  bool VisitVariableArrayTypeLoc(clang::VariableArrayTypeLoc array) {
    if (array.getSizeExpr() != nullptr) is_read(array.getSizeExpr());
    return true;
  }
  // Assembly and aliases call by name.
  bool VisitGCCAsmStmt(clang::GCCAsmStmt* s) {
    names_.push_back(s->getAsmString()->getString().str());
    return true;
  }
  bool VisitFileScopeAsmDecl(clang::FileScopeAsmDecl* d) {
    names_.push_back(d->getAsmString()->getString().str());
    return true;
  }
  bool VisitFunctionDecl(clang::FunctionDecl* f) {
    if (const auto* alias = f->getAttr<clang::AliasAttr>()) names_.push_back(alias->getAliasee().str());
    return true;
  }
  enum class Callers : std::uint8_t { AllKnown, TheseAtLeast };
  std::optional<std::int64_t> value(const clang::FunctionDecl* f, unsigned parameter,
                                    Callers callers = Callers::AllKnown, int depth = 0) const {
    const clang::QualType type = f->getParamDecl(parameter)->getType();
    f = f->getCanonicalDecl();
    const std::string name = f->getNameAsString();
    const auto named = [&](const std::string& text) { return text.find(name) != std::string::npos; };
    if (f->hasAttr<clang::UsedAttr>() || std::ranges::any_of(names_, named)) return std::nullopt;
    const auto calls = direct_.find(f);
    const auto passed = passed_.find({f, parameter});
    const bool these = callers == Callers::TheseAtLeast && is_of_this_file(f);
    if ((f->isExternallyVisible() && !these) || calls == direct_.end() || calls->second != mentions_.at(f) ||
        passed == passed_.end() || depth > deepest)
      return std::nullopt;
    std::optional<std::int64_t> all;
    for (const clang::Expr* argument : passed->second) {
      // Without a prototype the function converts it itself.
      if (!context_.hasSameUnqualifiedType(argument->getType(), type)) return std::nullopt;
      const auto one = value_of(argument, depth);
      if (!one || (all && *all != *one)) return std::nullopt;
      all = one;
    }
    return all;
  }

 private:
  // As the directives say it of preprocessed text.
  std::string file_of(const clang::FunctionDecl* f) const {
    const clang::SourceManager& sources = context_.getSourceManager();
    const clang::PresumedLoc at = sources.getPresumedLoc(sources.getExpansionLoc(f->getLocation()));
    return at.isValid() ? at.getFilename() : "";
  }
  bool is_of_this_file(const clang::FunctionDecl* f) const {
    const clang::FunctionDecl* definition = f->getDefinition();
    return definition != nullptr && std::ranges::all_of(f->redecls(), [&](const clang::FunctionDecl* one) {
             return file_of(one) == file_of(definition);
           });
  }
  void is_read(const clang::Expr* e) {
    const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(e->IgnoreParens());
    if (const auto* v = ref ? llvm::dyn_cast<clang::VarDecl>(ref->getDecl()) : nullptr) ++read_[v];
  }

  static constexpr int deepest = 8;  // of callers: functions may call themselves

  std::optional<std::int64_t> value_of(const clang::Expr* argument, int depth) const {
    if (const auto constant = constant_value(argument, context_)) return constant;
    const clang::Expr* e = argument->IgnoreParens();
    while (const auto* cast = llvm::dyn_cast<clang::ImplicitCastExpr>(e)) {
      // A small value that is not negative stays what it is.
      if (!cast->getType()->isIntegerType() || cast->getType()->isBooleanType() ||
          context_.getTypeSize(cast->getType()) < 32)
        return std::nullopt;
      e = cast->getSubExpr()->IgnoreParens();
    }
    const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(e);
    const auto* v = ref ? llvm::dyn_cast<clang::VarDecl>(ref->getDecl()) : nullptr;
    if (!v || !v->hasLocalStorage() || !has_first_value_only(v)) return std::nullopt;
    std::optional<std::int64_t> found;
    if (const auto* p = llvm::dyn_cast<clang::ParmVarDecl>(v)) {
      if (const auto* caller = llvm::dyn_cast<clang::FunctionDecl>(p->getDeclContext()))
        found = value(caller, p->getFunctionScopeIndex(), Callers::AllKnown, depth + 1);
    } else if (v->getInit() != nullptr) {
      found = constant_value(v->getInit(), context_);
    }
    return found && *found >= 0 && *found <= INT32_MAX ? found : std::nullopt;
  }

  // Wherever it is named, it is read: nothing writes it, and nothing has its address.
  bool has_first_value_only(const clang::VarDecl* v) const {
    const auto named = named_.find(v), read = read_.find(v);
    return v->getType()->isIntegerType() && !v->getType().isVolatileQualified() && named != named_.end() &&
           read != read_.end() && named->second == read->second;
  }

  const clang::ASTContext& context_;
  std::map<std::pair<const clang::FunctionDecl*, unsigned>, std::vector<const clang::Expr*>> passed_;
  std::map<const clang::FunctionDecl*, int> direct_, mentions_;
  std::vector<std::string> names_;  // what may name a function elsewhere
  std::map<const clang::VarDecl*, int> named_, read_;
};

// Objects with internal linkage whose address nothing in the file takes: no pointer leads to them.
class Addresses : public clang::RecursiveASTVisitor<Addresses> {
 public:
  bool VisitVarDecl(clang::VarDecl* v) {
    if (v->hasGlobalStorage() && !v->hasExternalFormalLinkage()) objects_.insert(v->getCanonicalDecl());
    return true;
  }
  bool VisitUnaryOperator(clang::UnaryOperator* u) {
    if (u->getOpcode() == clang::UO_AddrOf) taken(u->getSubExpr());
    return true;
  }
  bool VisitCastExpr(clang::CastExpr* c) {
    if (c->getCastKind() == clang::CK_ArrayToPointerDecay) taken(c->getSubExpr());
    return true;
  }
  // Assembly may name anything, and an alias is another name; so may be a name that is given for the assembler.
  bool VisitStmt(clang::Stmt* s) {
    named_elsewhere_ = named_elsewhere_ || llvm::isa<clang::AsmStmt>(s);
    return true;
  }
  bool VisitDecl(clang::Decl* d) {
    named_elsewhere_ = named_elsewhere_ || d->hasAttr<clang::AliasAttr>() || llvm::isa<clang::FileScopeAsmDecl>(d) ||
                       (llvm::isa<clang::VarDecl>(d) && d->hasAttr<clang::AsmLabelAttr>());
    return true;
  }
  std::set<const clang::VarDecl*> unaddressed() const {
    std::set<const clang::VarDecl*> result;
    if (named_elsewhere_) return result;
    for (const clang::VarDecl* v : objects_)
      if (!taken_.contains(v) && !v->hasAttr<clang::UsedAttr>() && !v->hasAttr<clang::SectionAttr>()) result.insert(v);
    return result;
  }

 private:
  void taken(const clang::Expr* e) {
    if (const clang::VarDecl* v = object_of(e); v && !planted(Fault::address_of_scalar_ignored))
      taken_.insert(v->getCanonicalDecl());
  }
  std::set<const clang::VarDecl*> objects_, taken_;
  bool named_elsewhere_ = false;
};

}  // namespace

Result<TranslationUnit> lift(const std::string& text, const std::string& path,
                             const std::vector<std::string>& arguments) {
  // gcc's alone, and a word that this parser passes over: members in another order of bytes.
  if (text.contains("scalar_storage_order"))
    return fail("c.parse", "scalar_storage_order is nothing that is understood here", path);
  FirstError errors;
  std::vector<std::string> options = arguments;
  options.emplace_back("-w");
  // C unless said otherwise: the path may have any name.
  if (std::ranges::find(arguments, "-x") == arguments.end() && !path.ends_with(".i")) {
    options.emplace_back("-x");
    options.emplace_back("c");
  }
  std::unique_ptr<clang::ASTUnit> unit = clang::tooling::buildASTFromCodeWithArgs(
      text, options, path, SOUS_CLANG_PATH, std::make_shared<clang::PCHContainerOperations>(),
      clang::tooling::getClangStripDependencyFileAdjuster(), {}, &errors);
  if (!unit || !errors.message.empty())
    return fail("c.parse", errors.message.empty() ? "the compiler's arguments are not understood" : errors.message,
                errors.where);
  clang::ASTContext& context = unit->getASTContext();
  const clang::SourceManager& sources = context.getSourceManager();

  TranslationUnit result;
  Options settings;
  for (const std::string& a : arguments) {
    if (a == "-fno-strict-aliasing") settings.strict_aliasing = false;
    if (a == "-fstrict-aliasing") settings.strict_aliasing = true;
  }
  const Functions own_targets = of_own_targets(context.getTranslationUnitDecl());
  const Functions resolving = resolvers(context.getTranslationUnitDecl());
  std::vector<const clang::FunctionDecl*> functions;
  for (const clang::Decl* d : context.getTranslationUnitDecl()->decls()) {
    const auto* f = llvm::dyn_cast<clang::FunctionDecl>(d);
    if (!f || !f->doesThisDeclarationHaveABody() || sources.isInSystemHeader(f->getLocation())) continue;
    if (sources.getFileID(sources.getExpansionLoc(f->getLocation())) != sources.getMainFileID()) continue;
    const bool deep = nests_too_deeply(f->getBody());
    if (!deep && !contains_loop(f->getBody())) continue;
    const auto left = deep ? LeftFunction{"c.budget", "the function nests too deeply to look at it"}
                           : left_to_compiler(f, own_targets, resolving);
    if (!left) {
      functions.push_back(f);
      continue;
    }
    const clang::PresumedLoc at = sources.getPresumedLoc(sources.getExpansionLoc(f->getLocation()));
    result.reasons.push_back({.code = std::string(left->code),
                              .why = left->why,
                              .function = f->getNameAsString(),
                              .line = at.isValid() ? static_cast<int>(at.getLine()) : 0,
                              .column = at.isValid() ? static_cast<int>(at.getColumn()) : 0});
    ++result.functions_with_loops;  // of a deep one, for all that is known
  }
  result.functions_with_loops += static_cast<int>(functions.size());
  if (functions.empty()) return result;
  Calls calls(context);
  calls.TraverseDecl(context.getTranslationUnitDecl());
  Addresses addresses;
  addresses.TraverseDecl(context.getTranslationUnitDecl());
  const std::set<const clang::VarDecl*> unaddressed = addresses.unaddressed();
  settings.unaddressed = &unaddressed;
  Liveness liveness(context);
  for (const clang::FunctionDecl* f : functions) {
    ParameterValues values;
    // Sums of sizes stay in 64 bits; those of the largest numbers do not.
    constexpr std::int64_t largest = std::int64_t{1} << 40;
    const auto is_size = [](std::int64_t value) { return value >= -largest && value <= largest; };
    for (unsigned k = 0; k < f->getNumParams(); ++k) {
      if (const auto value = calls.value(f, k); value && is_size(*value))
        values.known[f->getParamDecl(k)] = *value;
      else if (const auto supposed = calls.value(f, k, Calls::Callers::TheseAtLeast); supposed && is_size(*supposed))
        values.supposed[f->getParamDecl(k)] = *supposed;
    }
    const std::size_t nests = result.nests.size(), reasons = result.reasons.size();
    find_stretches(context, f, values, settings, liveness, result);
    // Which of the two products of a part is fused depends on what a compiler makes vectors of in all of the function.
    const bool is_contracted =
        std::any_of(result.reasons.begin() + static_cast<std::ptrdiff_t>(reasons), result.reasons.end(),
                    [](const Reason& r) { return r.why == contracts_complex_products; });
    if (is_contracted)
      result.nests.erase(result.nests.begin() + static_cast<std::ptrdiff_t>(nests), result.nests.end());
  }
  for (Reason& reason : result.reasons) reason.advice = advice(reason.code);
  std::ranges::sort(result.nests, {}, &LiftedNest::begin);
  return result;
}

}  // namespace sous::frontends::c
