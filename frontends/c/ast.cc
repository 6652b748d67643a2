#include "frontends/c/ast.h"

#include <algorithm>
#include <functional>

#include "clang/AST/Attr.h"
#include "clang/AST/Decl.h"
#include "clang/AST/StmtOpenMP.h"
#include "clang/Basic/Builtins.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"

namespace sous::frontends::c {

using sdfg::ElementType;

void for_each_statement(const clang::Stmt* s, const std::function<void(const clang::Stmt*)>& f) {
  if (!s) return;
  f(s);
  if (const auto* captured = llvm::dyn_cast<clang::CapturedStmt>(s))
    return for_each_statement(captured->getCapturedStmt(), f);
  for (const clang::Stmt* child : s->children()) for_each_statement(child, f);
}

std::optional<ElementType> element_type(clang::QualType type, const clang::ASTContext& context) {
  if (type.isVolatileQualified() || type->isAtomicType() || type.hasAddressSpace()) return std::nullopt;
  const clang::QualType t = type.getCanonicalType().getUnqualifiedType();
  if (t->isBooleanType()) return ElementType::boolean;
  if (const auto* e = t->getAs<clang::EnumType>())
    return e->getDecl()->isComplete() ? element_type(e->getDecl()->getIntegerType(), context) : std::nullopt;
  if (!t->isBuiltinType()) return std::nullopt;
  if (t->isIntegerType()) {
    const bool is_signed = t->isSignedIntegerType();
    switch (context.getTypeSize(t)) {
      case 8:
        return is_signed ? ElementType::i8 : ElementType::u8;
      case 16:
        return is_signed ? ElementType::i16 : ElementType::u16;
      case 32:
        return is_signed ? ElementType::i32 : ElementType::u32;
      case 64:
        return is_signed ? ElementType::i64 : ElementType::u64;
      default:
        return std::nullopt;
    }
  }
  if (t->isSpecificBuiltinType(clang::BuiltinType::Float)) return ElementType::f32;
  if (t->isSpecificBuiltinType(clang::BuiltinType::Double)) return ElementType::f64;
  return std::nullopt;
}

std::string c_type(clang::QualType type, const clang::ASTContext& context) {
  clang::QualType t = type.getCanonicalType().getUnqualifiedType();
  if (const auto* e = t->getAs<clang::EnumType>()) t = e->getDecl()->getIntegerType().getCanonicalType();
  return t.getAsString(context.getPrintingPolicy());
}

bool is_blind(clang::QualType type) {
  for (const auto* t = type->getAs<clang::TypedefType>(); t; t = t->desugar()->getAs<clang::TypedefType>())
    if (t->getDecl()->hasAttr<clang::MayAliasAttr>()) return true;
  const auto* record = type->getAs<clang::RecordType>();
  return record && record->getDecl()->hasAttr<clang::MayAliasAttr>();
}

const clang::VarDecl* named_variable(const clang::Expr* e) {
  const auto* ref = llvm::dyn_cast<clang::DeclRefExpr>(e->IgnoreParens());
  return ref ? llvm::dyn_cast<clang::VarDecl>(ref->getDecl()) : nullptr;
}

std::optional<std::int64_t> constant_value(const clang::Expr* e, const clang::ASTContext& context) {
  if (e->isValueDependent() || !e->getType()->isIntegralOrEnumerationType()) return std::nullopt;
  clang::Expr::EvalResult result;
  if (!e->EvaluateAsInt(result, context) || result.HasSideEffects) return std::nullopt;
  const llvm::APSInt& value = result.Val.getInt();
  return value.isRepresentableByInt64() ? std::optional(value.getExtValue()) : std::nullopt;
}

bool starts_as_block(const clang::VarDecl* v) {
  if (!v->getType()->isPointerType() || v->getType().isVolatileQualified() || !v->hasInit()) return false;
  const auto* call = llvm::dyn_cast<clang::CallExpr>(v->getInit()->IgnoreParenCasts());
  const clang::FunctionDecl* f = call ? call->getDirectCallee() : nullptr;
  if (!f) return false;
  // What __attribute__((malloc)) is called. Of one defined here the body may keep the pointer in spite of it.
  if (f->hasAttr<clang::RestrictAttr>()) return !f->getDefinition();
  const unsigned id = f->getBuiltinID();
  return !f->getDefinition() &&
         (id == clang::Builtin::BImalloc || id == clang::Builtin::BIcalloc || id == clang::Builtin::BIaligned_alloc);
}

std::optional<double> real_constant(const clang::Expr* e, const clang::ASTContext& context) {
  if (e->isValueDependent() || !e->getType()->isRealFloatingType()) return std::nullopt;
  llvm::APFloat value(0.0);
  if (!e->EvaluateAsFloat(value, context)) return std::nullopt;
  bool inexact = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return inexact ? std::nullopt : std::optional(value.convertToDouble());
}

namespace {

// v of the load of v, conversions between integers aside.
const clang::VarDecl* loaded_variable(const clang::Expr* e) { return named_variable(e->IgnoreParenImpCasts()); }

std::optional<std::int64_t> step_of(const clang::Expr* increment, const clang::VarDecl* variable,
                                    const clang::ASTContext& context) {
  if (!increment) return std::nullopt;
  increment = increment->IgnoreParens();
  if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(increment)) {
    if (!u->isIncrementDecrementOp() || named_variable(u->getSubExpr()) != variable) return std::nullopt;
    return u->isIncrementOp() ? 1 : -1;
  }
  const auto* b = llvm::dyn_cast<clang::BinaryOperator>(increment);
  if (!b || named_variable(b->getLHS()) != variable) return std::nullopt;
  auto checked = [](std::optional<std::int64_t> c, int sign) -> std::optional<std::int64_t> {
    // Steps beyond a million are no loop that anyone means, and small ones keep the bound arithmetic safe.
    if (!c || *c == 0 || *c > 1'000'000 || *c < -1'000'000) return std::nullopt;
    return sign * *c;
  };
  if (b->getOpcode() == clang::BO_AddAssign) return checked(constant_value(b->getRHS(), context), 1);
  if (b->getOpcode() == clang::BO_SubAssign) return checked(constant_value(b->getRHS(), context), -1);
  if (b->getOpcode() != clang::BO_Assign) return std::nullopt;
  const auto* sum = llvm::dyn_cast<clang::BinaryOperator>(b->getRHS()->IgnoreParenImpCasts());
  if (!sum) return std::nullopt;
  if (sum->getOpcode() == clang::BO_Add) {
    if (loaded_variable(sum->getLHS()) == variable) return checked(constant_value(sum->getRHS(), context), 1);
    if (loaded_variable(sum->getRHS()) == variable) return checked(constant_value(sum->getLHS(), context), 1);
  }
  if (sum->getOpcode() == clang::BO_Sub && loaded_variable(sum->getLHS()) == variable)
    return checked(constant_value(sum->getRHS(), context), -1);
  return std::nullopt;
}

// The parts of a, b, c in order.
std::vector<const clang::Expr*> comma_parts(const clang::Expr* e) {
  if (!e) return {};
  e = e->IgnoreParens();
  const auto* comma = llvm::dyn_cast<clang::BinaryOperator>(e);
  if (!comma || !comma->isCommaOp()) return {e};
  std::vector<const clang::Expr*> parts = comma_parts(comma->getLHS());
  for (const clang::Expr* part : comma_parts(comma->getRHS())) parts.push_back(part);
  return parts;
}

const clang::BinaryOperator* plain_assignment(const clang::Expr* e) {
  const auto* assign = llvm::dyn_cast<clang::BinaryOperator>(e->IgnoreParens());
  return assign && assign->getOpcode() == clang::BO_Assign ? assign : nullptr;
}

bool mentions(const clang::Stmt* s, const clang::VarDecl* variable) { return named_variables(s).contains(variable); }

// Whether it compares what is no integer, or elements that the variable says which they are.
bool compares_data(const clang::BinaryOperator* test, const clang::VarDecl* variable) {
  if (!test->getLHS()->getType()->isIntegralOrEnumerationType()) return true;
  bool found = false;
  for_each_statement(test, [&](const clang::Stmt* s) {
    const auto* u = llvm::dyn_cast<clang::UnaryOperator>(s);
    const bool element = llvm::isa<clang::ArraySubscriptExpr>(s) || (u && u->getOpcode() == clang::UO_Deref);
    found = found || (element && mentions(s, variable));
  });
  return found;
}

}  // namespace

std::optional<ForHeader> for_header(const clang::ForStmt* loop, const clang::ASTContext& context) {
  ForHeader header;
  const clang::Stmt* init = loop->getInit();
  if (const auto* decl = llvm::dyn_cast_or_null<clang::DeclStmt>(init)) {
    if (!decl->isSingleDecl()) return std::nullopt;
    header.variable = llvm::dyn_cast<clang::VarDecl>(decl->getSingleDecl());
    header.declared = true;
    if (!header.variable || !header.variable->hasInit()) return std::nullopt;
    header.begin = header.variable->getInit();
  } else if (init) {
    header.before = comma_parts(llvm::cast<clang::Expr>(init));
    // The loop's variable is what the condition names; the last part if that does not tell.
    const auto is_begin = [&](const clang::Expr* part) {
      const clang::BinaryOperator* assign = plain_assignment(part);
      const clang::VarDecl* v = assign ? named_variable(assign->getLHS()) : nullptr;
      return v && v->getType()->isIntegerType() && loop->getCond() && mentions(loop->getCond(), v) && loop->getInc() &&
             mentions(loop->getInc(), v);
    };
    auto part = std::ranges::find_if(header.before, is_begin);
    if (part == header.before.end()) part = std::prev(header.before.end());
    const clang::BinaryOperator* assign = plain_assignment(*part);
    if (!assign) return std::nullopt;
    header.variable = named_variable(assign->getLHS());
    header.begin = assign->getRHS();
    // What follows is done before it, here: it must not see the variable, nor change what it begins with.
    for (auto later = std::next(part); later != header.before.end(); ++later) {
      if (header.variable && mentions(*later, header.variable)) return std::nullopt;
      for (const clang::VarDecl* v : written_variables(*later))
        if (mentions(header.begin, v)) return std::nullopt;
    }
    if (header.before.size() > 1 && header.begin->HasSideEffects(context)) return std::nullopt;
    header.before.erase(part);
  }
  header.also = comma_parts(loop->getInc());
  if (!loop->getCond() || loop->getConditionVariable()) return std::nullopt;
  std::vector<const clang::Expr*> work{loop->getCond()};
  while (!work.empty()) {
    const auto* test = llvm::dyn_cast<clang::BinaryOperator>(work.back()->IgnoreParenImpCasts());
    work.pop_back();
    if (test && test->getOpcode() == clang::BO_LAnd) {
      work.push_back(test->getRHS());
      work.push_back(test->getLHS());
    } else if (test && test->isComparisonOp() && test->getOpcode() != clang::BO_EQ) {
      header.conditions.push_back(test);
    } else {
      return std::nullopt;
    }
  }
  if (!header.variable) {
    // for (; i < n; i++): the variable is what the increment changes.
    for (const clang::Expr* increment : header.also) {
      const clang::VarDecl* v = nullptr;
      if (const auto* u = llvm::dyn_cast<clang::UnaryOperator>(increment)) v = named_variable(u->getSubExpr());
      if (const auto* b = llvm::dyn_cast<clang::BinaryOperator>(increment)) v = named_variable(b->getLHS());
      if (v && v->getType()->isIntegerType() && mentions(loop->getCond(), v)) header.variable = v;
    }
    if (!header.variable) return std::nullopt;
  }
  if (!header.variable->getType()->isIntegerType() || !element_type(header.variable->getType(), context))
    return std::nullopt;
  const auto own = std::ranges::find_if(
      header.also, [&](const clang::Expr* e) { return step_of(e, header.variable, context).has_value(); });
  if (own == header.also.end()) return std::nullopt;
  const auto step = step_of(*own, header.variable, context);
  for (auto other = header.also.begin(); other != header.also.end(); ++other) {
    if (other == own) continue;
    if (written_variables(*other).contains(header.variable)) return std::nullopt;
    // What follows sees the variable after its step.
    if (other > own && mentions(*other, header.variable)) return std::nullopt;
  }
  header.also.erase(own);
  // What each pass compares anew is no bound.
  for (const clang::BinaryOperator* test : header.conditions)
    if (!mentions(test, header.variable) || compares_data(test, header.variable)) return std::nullopt;
  header.step = *step;
  return header;
}

std::set<const clang::VarDecl*> named_variables(const clang::Stmt* s) {
  std::set<const clang::VarDecl*> result;
  for_each_statement(s, [&](const clang::Stmt* x) {
    if (const auto* e = llvm::dyn_cast<clang::DeclRefExpr>(x))
      if (const auto* v = llvm::dyn_cast<clang::VarDecl>(e->getDecl())) result.insert(v);
  });
  return result;
}

std::set<const clang::VarDecl*> written_variables(const clang::Stmt* s) {
  std::set<const clang::VarDecl*> result = assigned_variables(s);
  result.merge(address_taken(s));
  return result;
}

std::set<const clang::VarDecl*> address_taken(const clang::Stmt* s) {
  std::set<const clang::VarDecl*> result;
  for_each_statement(s, [&](const clang::Stmt* x) {
    const auto* u = llvm::dyn_cast<clang::UnaryOperator>(x);
    if (!u || u->getOpcode() != clang::UO_AddrOf) return;
    const clang::Expr* e = u->getSubExpr()->IgnoreParens();
    while (const auto* member = llvm::dyn_cast<clang::MemberExpr>(e)) {
      if (member->isArrow()) return;
      e = member->getBase()->IgnoreParens();
    }
    if (const clang::VarDecl* v = named_variable(e)) result.insert(v);
  });
  return result;
}

bool contains_loop(const clang::Stmt* s) {
  if (!s) return false;
  if (const auto* captured = llvm::dyn_cast<clang::CapturedStmt>(s)) return contains_loop(captured->getCapturedStmt());
  if (llvm::isa<clang::ForStmt, clang::WhileStmt>(s)) return true;
  if (const auto* d = llvm::dyn_cast<clang::DoStmt>(s)) {
    // do { … } while (0) is how macros wrap statements, and no loop.
    const auto* zero = llvm::dyn_cast<clang::IntegerLiteral>(d->getCond()->IgnoreParenImpCasts());
    if (!zero || zero->getValue() != 0) return true;
  }
  for (const clang::Stmt* child : s->children())
    if (contains_loop(child)) return true;
  return false;
}

bool nests_too_deeply(const clang::Stmt* s) {
  constexpr int most = 400;
  std::vector<std::pair<const clang::Stmt*, int>> open{{s, 1}};
  while (!open.empty()) {
    const auto [one, depth] = open.back();
    open.pop_back();
    if (one == nullptr) continue;
    if (depth > most) return true;
    for (const clang::Stmt* child : one->children()) open.emplace_back(child, depth + 1);
  }
  return false;
}

namespace {

bool may_count(const clang::Stmt* s) {
  if (llvm::isa<clang::ForStmt>(s)) return true;
  const auto* w = llvm::dyn_cast<clang::WhileStmt>(s);
  const auto* d = llvm::dyn_cast<clang::DoStmt>(s);
  if (!w && !d) return false;
  const std::set<const clang::VarDecl*> written = written_variables(s);
  const std::set<const clang::VarDecl*> named = named_variables(w ? w->getCond() : d->getCond());
  return std::ranges::any_of(named, [&](const clang::VarDecl* v) { return written.contains(v); });
}

}  // namespace

bool contains_counting(const clang::Stmt* s) {
  if (!s) return false;
  if (const auto* captured = llvm::dyn_cast<clang::CapturedStmt>(s))
    return contains_counting(captured->getCapturedStmt());
  return may_count(s) || std::ranges::any_of(s->children(), contains_counting);
}

namespace {

// Whether the text of the statement ends without a semicolon that belongs to it.
bool needs_semicolon(const clang::Stmt* s) {
  if (const auto* f = llvm::dyn_cast<clang::ForStmt>(s)) return needs_semicolon(f->getBody());
  if (const auto* w = llvm::dyn_cast<clang::WhileStmt>(s)) return needs_semicolon(w->getBody());
  if (const auto* i = llvm::dyn_cast<clang::IfStmt>(s))
    return needs_semicolon(i->getElse() ? i->getElse() : i->getThen());
  if (const auto* a = llvm::dyn_cast<clang::AttributedStmt>(s)) return needs_semicolon(a->getSubStmt());
  return !llvm::isa<clang::CompoundStmt, clang::DeclStmt, clang::NullStmt, clang::SwitchStmt>(s);
}

}  // namespace

std::optional<TextRange> text_range(const clang::Stmt* s, const clang::ASTContext& context) {
  const clang::SourceManager& sources = context.getSourceManager();
  const clang::LangOptions& options = context.getLangOpts();
  const clang::CharSourceRange range =
      clang::Lexer::makeFileCharRange(clang::CharSourceRange::getTokenRange(s->getSourceRange()), sources, options);
  if (range.isInvalid()) return std::nullopt;
  auto [begin_file, begin] = sources.getDecomposedLoc(range.getBegin());
  auto [end_file, end] = sources.getDecomposedLoc(range.getEnd());
  if (begin_file != sources.getMainFileID() || end_file != begin_file) return std::nullopt;
  if (needs_semicolon(s)) {
    const llvm::StringRef text = sources.getBufferData(begin_file);
    clang::SourceLocation at = range.getEnd();
    clang::Token token;
    if (clang::Lexer::getRawToken(at, token, sources, options, true) || !token.is(clang::tok::semi))
      return std::nullopt;
    end = sources.getFileOffset(token.getEndLoc());
    if (end > text.size()) return std::nullopt;
  }
  return TextRange{begin, end};
}

namespace {

// What may not be read always is tried twice for each choice inside of another.
constexpr int most_choices = 4;

clang::Expr* returned_by(llvm::ArrayRef<clang::Stmt*> statements, const clang::ASTContext& context, int choices) {
  if (statements.empty()) return nullptr;
  clang::Stmt* const first = statements.front();
  const auto rest = statements.drop_front();
  if (auto* done = llvm::dyn_cast<clang::ReturnStmt>(first)) return rest.empty() ? done->getRetValue() : nullptr;
  if (auto* block = llvm::dyn_cast<clang::CompoundStmt>(first))
    return rest.empty() ? returned_by({block->body_begin(), block->body_end()}, context, choices) : nullptr;
  auto* branch = llvm::dyn_cast<clang::IfStmt>(first);
  if (!branch || choices == most_choices) return nullptr;
  clang::Expr* const yes = returned_by({branch->getThen()}, context, choices + 1);
  std::vector<clang::Stmt*> otherwise(rest.begin(), rest.end());
  if (branch->getElse()) otherwise.insert(otherwise.begin(), branch->getElse());
  clang::Expr* const no = yes ? returned_by(otherwise, context, choices + 1) : nullptr;
  if (!no || !context.hasSameUnqualifiedType(yes->getType(), no->getType())) return nullptr;
  const clang::SourceLocation where = branch->getIfLoc();
  return new (context) clang::ConditionalOperator(branch->getCond(), where, yes, where, no, yes->getType(),
                                                  clang::VK_PRValue, clang::OK_Ordinary);
}

}  // namespace

const clang::Expr* returned_value(const clang::Stmt* body, const clang::ASTContext& context) {
  const clang::Expr* value = returned_by({const_cast<clang::Stmt*>(body)}, context, 0);
  const auto* block = llvm::dyn_cast_or_null<clang::CompoundStmt>(body);
  if (!value || (block && block->size() == 1 && llvm::isa<clang::ReturnStmt>(block->body_front()))) return value;
  // What writes, or calls what may, is a statement at a time.
  bool calls = false;
  for_each_statement(body, [&](const clang::Stmt* s) {
    const auto* call = llvm::dyn_cast<clang::CallExpr>(s);
    calls = calls || (call && !(call->getDirectCallee() && call->getDirectCallee()->getBuiltinID() != 0));
  });
  return calls || !written_variables(body).empty() ? nullptr : value;
}

}  // namespace sous::frontends::c
