#include "frontends/c/residence.h"

#include <algorithm>
#include <functional>
#include <set>

#include "clang/AST/StmtOpenMP.h"
#include "clang/Basic/SourceManager.h"
#include "frontends/c/ast.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

namespace {

using Names = Liveness::Names;

bool is_loop(const clang::Stmt* s) { return llvm::isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt>(s); }

// A label in a block of its own: what jumps to it skips the declarations there.
bool labels_inside(const MentionedBody& body) {
  return std::ranges::any_of(body.parent, [&](const auto& entry) {
    if (!llvm::isa<clang::SwitchCase>(entry.first)) return false;
    const clang::Stmt* up = entry.second;
    while (llvm::isa_and_nonnull<clang::SwitchCase>(up)) up = body.above(up);
    if (llvm::isa_and_nonnull<clang::CompoundStmt>(up)) up = body.above(up);
    return !llvm::isa_and_nonnull<clang::SwitchStmt>(up);
  });
}

class Finder {
 public:
  Finder(clang::ASTContext& context, const clang::FunctionDecl* function, const std::vector<LiftedStretch>& stretches,
         Liveness& liveness)
      : context_(context),
        function_(function),
        stretches_(stretches),
        liveness_(liveness),
        body_(liveness.body(function)) {}

  std::vector<Residence> run() {
    if (body_.jumps || labels_inside(body_)) return {};
    std::vector<const clang::VarDecl*> seen;
    for (const LiftedStretch& stretch : stretches_) {
      for (const auto& array : stretch.arrays) {
        if (std::ranges::find(seen, array.variable) != seen.end()) continue;
        seen.push_back(array.variable);
        variable_ = array.variable;
        names_ = liveness_.names(function_, variable_);
        if (names_ != Names::Others) search(function_->getBody());
      }
    }
    return std::move(found_);
  }

 private:
  // Blocks inside of `s`, itself included, that hold a nest with the array.
  void search(const clang::Stmt* s) {
    if (s == nullptr || !holds_use(s) || is_of_stretch(s)) return;
    if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(s);
        block != nullptr && !llvm::isa_and_nonnull<clang::SwitchStmt>(body_.above(s)))
      divide(block);
    for (const clang::Stmt* child : s->children()) search(child);
  }

  void divide(const clang::CompoundStmt* block) {
    Residence residence;
    const auto range = text_range(block, context_);
    if (!range) return;
    residence.at = range->begin + 1;
    residence.interleaved = names_ != Names::One;
    const auto close = [&] {
      const bool repeated = std::ranges::any_of(residence.uses, &Residence::Use::repeated);
      if (residence.uses.size() > 1 || repeated) found_.push_back(residence);
      residence.uses.clear();
    };
    std::size_t statement = 0;
    for (const clang::Stmt* child : block->body()) {
      if (keeps(child)) {
        add_uses(residence, child, block, statement);
      } else {
        close();
      }
      ++statement;
    }
    close();
  }

  bool in(const clang::Stmt* outer, const LiftedStretch& stretch) const {
    return body_.encloses(outer, stretch.statements.front());
  }
  static const LiftedStretch::Array* array_of(const LiftedStretch& stretch, const clang::VarDecl* v) {
    const auto found = std::ranges::find(stretch.arrays, v, &LiftedStretch::Array::variable);
    return found == stretch.arrays.end() ? nullptr : &*found;
  }
  bool holds_use(const clang::Stmt* s) const {
    return std::ranges::any_of(stretches_, [&](const LiftedStretch& stretch) {
      return array_of(stretch, variable_) != nullptr && in(s, stretch);
    });
  }
  bool is_part_of(const clang::Stmt* s, const LiftedStretch& stretch) const {
    return std::ranges::any_of(stretch.statements, [&](const clang::Stmt* own) { return body_.encloses(own, s); });
  }
  bool is_of_stretch(const clang::Stmt* s) const {
    return std::ranges::any_of(stretches_, [&](const LiftedStretch& stretch) { return is_part_of(s, stretch); });
  }

  // Whether the statement, but for nests with the array, leaves it as it is.
  bool keeps(const clang::Stmt* s) {
    const auto declared = body_.declared.find(variable_);
    if (declared != body_.declared.end() && declared->second != s && body_.encloses(s, declared->second)) return false;
    if (!is_understood(s)) return false;
    const auto mentions = body_.mentions.find(variable_);
    if (mentions == body_.mentions.end()) return false;
    return std::ranges::all_of(mentions->second, [&](const Mention& m) {
      if (!body_.encloses(s, m.place) || !liveness_.changes(m)) return true;
      return is_of_use(m.place) || planted(Fault::host_write_between_nests_ignored);
    });
  }
  bool is_of_use(const clang::Stmt* place) const {
    return std::ranges::any_of(stretches_, [&](const LiftedStretch& stretch) {
      return array_of(stretch, variable_) != nullptr && is_part_of(place, stretch);
    });
  }

  bool is_understood(const clang::Stmt* s) const {
    if (s == nullptr) return true;
    const bool refused = llvm::isa<clang::OMPExecutableDirective, clang::SwitchCase>(s) ||
                         (names_ == Names::OneUnlessCalledBack && may_let_others_run(s));
    const bool understood =
        !refused && std::ranges::all_of(s->children(), [&](const clang::Stmt* child) { return is_understood(child); });
    return understood || is_of_use(s);  // that takes longer
  }

  // Calls a function of the program, or waits for another thread.
  bool may_let_others_run(const clang::Stmt* s) const {
    if (llvm::isa<clang::AtomicExpr>(s)) return true;
    if (const auto* call = llvm::dyn_cast<clang::CallExpr>(s)) return !is_of_library(call->getDirectCallee());
    const auto* e = llvm::dyn_cast<clang::Expr>(s);
    return e != nullptr && (e->getType().isVolatileQualified() || e->getType()->isAtomicType());
  }

  // Functions of the C library, and of POSIX about time, that call nothing of the program.
  bool is_of_library(const clang::FunctionDecl* f) const {
    static const std::set<std::string, std::less<>> others{"clock",   "clock_gettime", "difftime",     "fflush",
                                                           "fputc",   "fputs",         "gettimeofday", "putc",
                                                           "putchar", "puts",          "time"};
    if (f == nullptr || f->getDefinition() != nullptr) return false;
    if (f->getBuiltinID() != 0) return !f->getNameAsString().starts_with("__sync");
    return context_.getSourceManager().isInSystemHeader(f->getLocation()) && others.contains(f->getNameAsString());
  }

  void add_uses(Residence& residence, const clang::Stmt* child, const clang::Stmt* block, std::size_t statement) const {
    for (const LiftedStretch& stretch : stretches_) {
      const LiftedStretch::Array* array = array_of(stretch, variable_);
      if (array == nullptr || !in(child, stretch)) continue;
      Residence::Use use{stretch.begin, array->argument, array->writes, false, statement};
      for (const clang::Stmt* up = body_.above(stretch.statements.front()); up != block; up = body_.above(up))
        use.repeated = use.repeated || is_loop(up);
      residence.uses.push_back(std::move(use));
    }
  }

  clang::ASTContext& context_;
  const clang::FunctionDecl* const function_;
  const std::vector<LiftedStretch>& stretches_;
  Liveness& liveness_;
  const MentionedBody& body_;
  const clang::VarDecl* variable_ = nullptr;
  Names names_ = Names::Others;
  std::vector<Residence> found_;
};

}  // namespace

std::vector<Residence> find_residences(clang::ASTContext& context, const clang::FunctionDecl* function,
                                       const std::vector<LiftedStretch>& stretches, Liveness& liveness) {
  return Finder(context, function, stretches, liveness).run();
}

}  // namespace sous::frontends::c
