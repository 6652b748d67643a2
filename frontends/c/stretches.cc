#include "frontends/c/stretches.h"

#include <algorithm>
#include <tuple>

#include "clang/Basic/SourceManager.h"
#include "frontends/c/addresses.h"
#include "frontends/c/builder.h"
#include "frontends/c/hints.h"
#include "frontends/c/plausible.h"
#include "frontends/c/read_before.h"
#include "frontends/c/residence.h"
#include "frontends/c/whole_function.h"
#include "sdfg/written.h"

namespace sous::frontends::c {

namespace {

using Statements = std::vector<const clang::Stmt*>;

class Finder {
 public:
  Finder(clang::ASTContext& context, const clang::FunctionDecl* function, const ParameterValues& values,
         const Options& options, Liveness& liveness, TranslationUnit& unit)
      : context_(context), liveness_(liveness), unit_(unit) {
    facts_.context = &context;
    facts_.function = function;
    facts_.written = written_variables(function->getBody());
    escaping_addresses(function->getBody(), facts_.address_taken);
    facts_.known = values.known;
    facts_.supposed = values.supposed;
    for (auto* of : {&facts_.known, &facts_.supposed})
      std::erase_if(*of, [&](const auto& one) { return facts_.written.contains(one.first); });
    facts_.strict_aliasing = options.strict_aliasing;
    facts_.unaddressed = options.unaddressed;
    facts_.followed = followed_parameters(function);
    for_each_statement(function->getBody(), [&](const clang::Stmt* s) {
      jumps_ = jumps_ || llvm::isa<clang::LabelStmt, clang::IndirectGotoStmt>(s);
    });
  }

  void run() {
    search(facts_.function->getBody());
    auto residences = find_residences(context_, facts_.function, lifted_, liveness_);
    unit_.residences.insert(unit_.residences.end(), residences.begin(), residences.end());
  }

 private:
  // More than this many attempts in one function are not worth the compile time.
  static constexpr int kMaxAttempts = 400;

  void reason(const Refusal& r) {
    const clang::SourceManager& sources = context_.getSourceManager();
    // What stands in a function that is called, of another file even, is said where the nest is that calls it.
    const clang::SourceRange own = facts_.function->getSourceRange();
    const clang::SourceLocation there = sources.getExpansionLoc(r.where);
    const bool inside = there.isValid() &&
                        !sources.isBeforeInTranslationUnit(there, sources.getExpansionLoc(own.getBegin())) &&
                        !sources.isBeforeInTranslationUnit(sources.getExpansionLoc(own.getEnd()), there);
    const clang::PresumedLoc at =
        sources.getPresumedLoc(inside || looked_at_.isInvalid() ? there : sources.getExpansionLoc(looked_at_));
    Reason reason{r.code, r.why, facts_.function->getNameAsString(), 0, 0};
    if (at.isValid()) {
      reason.line = static_cast<int>(at.getLine());
      reason.column = static_cast<int>(at.getColumn());
    }
    if (seen_.emplace(reason.code, reason.why, reason.line, reason.column).second)
      unit_.reasons.push_back(std::move(reason));
  }

  // Whether the value that `v` has after the statements up to `next` of the innermost frame may be read.
  bool live_after(const clang::VarDecl* v, std::size_t next) const {
    if (v->hasGlobalStorage() || facts_.address_taken.contains(v) || jumps_) return true;
    return c::live_after(frames_, next, v, context_);
  }

  // Whether a variable declared in list[first, last) is named behind it in the same block.
  bool declaration_escapes(const Statements& list, std::size_t first, std::size_t last) const {
    for (std::size_t k = first; k < last; ++k) {
      const auto* d = llvm::dyn_cast<clang::DeclStmt>(list[k]);
      if (!d) continue;
      for (const clang::Decl* decl : d->decls()) {
        const auto* v = llvm::dyn_cast<clang::VarDecl>(decl);
        // Types and functions declared in a block cannot be followed cheaply; such a declaration stays in the C file.
        if (!v) return true;
        for (std::size_t j = last; j < list.size(); ++j)
          if (named_variables(list[j]).contains(v) || use_of(list[j], v, context_) != Use::None) return true;
      }
    }
    return false;
  }

  static Statements part(const Statements& list, std::size_t first, std::size_t last) {
    return {list.begin() + static_cast<std::ptrdiff_t>(first), list.begin() + static_cast<std::ptrdiff_t>(last)};
  }
  Builder builder_of(const Statements& list, std::size_t first, std::size_t last) {
    return {facts_, part(list, first, last), [this, last](const clang::VarDecl* v) { return live_after(v, last); }};
  }
  struct Attempt {
    Builder builder;
    Lift<LiftedNest> nest;
  };
  // Again, with what cannot be followed in memory, then knowing what the function has read before, and then with
  // members read where they lie.
  Attempt attempt(const Statements& list, std::size_t first, std::size_t last, const std::string& name) {
    ++attempts_;
    facts_.starts = jumps_ ? std::map<const clang::VarDecl*, std::int64_t>() : constants_before(list, first, context_);
    // What has an address may have been changed through it since.
    std::erase_if(facts_.starts, [&](const auto& start) { return facts_.address_taken.contains(start.first); });
    facts_.readable.clear();
    std::set<const clang::VarDecl*> in_memory;
    while (true) {
      Builder builder = builder_of(list, first, last);
      builder.in_memory(in_memory);
      auto nest = builder.build(name);
      if (nest) return {std::move(builder), std::move(nest)};
      if (!builder.unfollowed().empty()) {
        in_memory.insert(builder.unfollowed().begin(), builder.unfollowed().end());
        continue;
      }
      if (builder.guarded().empty()) return {std::move(builder), std::move(nest)};
      if (facts_.readable.empty()) {
        facts_.readable = read_before(list[first], liveness_.body(facts_.function), facts_.written);
        std::erase_if(facts_.readable, [&](const auto* v) { return facts_.address_taken.contains(v); });
        if (!facts_.readable.empty()) continue;
      }
      Builder in_place = builder_of(list, first, last);
      in_place.in_memory(in_memory);
      in_place.in_place(builder.guarded());
      auto second = in_place.build(name);
      if (!second) return {std::move(builder), std::move(nest)};
      return {std::move(in_place), std::move(second)};
    }
  }

  // Arrays that the nest writes and nobody looks at afterwards.
  void mark_dead(sdfg::Sdfg& sdfg, const Builder& builder, const Statements& stretch) {
    for (const auto& [container, variable] : builder.arrays()) {
      sdfg::Container* c = sdfg.find(container);
      if (c == nullptr || c->constant || c->shape.empty()) continue;
      // What is not stored in it, another name for the same memory would show.
      const auto same = [&](const sdfg::Container& other) {
        return &other != c && other.alias_class == c->alias_class && c->alias_class != 0;
      };
      if (std::ranges::any_of(sdfg.containers, same)) continue;
      c->dead = liveness_.dead_after(facts_.function, stretch, variable, [&] {
        // Where an assumption does not hold, the original statements run.
        return sdfg.assumptions.empty() && sdfg::reads_only_its_own(sdfg, container);
      });
    }
  }

  std::string nest_name(const clang::Stmt* s) const {
    const clang::SourceManager& sources = context_.getSourceManager();
    const clang::PresumedLoc at = sources.getPresumedLoc(sources.getExpansionLoc(s->getBeginLoc()));
    return facts_.function->getNameAsString() + "_" + std::to_string(at.isValid() ? at.getLine() : 0);
  }

  // Lifts list[first, last) as one nest. nullopt: it is none, and `unit_.reasons` may say why.
  bool accept(const Statements& list, std::size_t first, std::size_t last, bool explain) {
    looked_at_ = list[first]->getBeginLoc();
    if (attempts_ > kMaxAttempts) {
      if (explain)
        reason({"c.budget", "the function has too many loops to look at all of them", list[first]->getBeginLoc()});
      return false;
    }
    if (declaration_escapes(list, first, last)) {
      if (explain)
        reason({"c.declaration", "a variable declared in the nest is used after it", list[first]->getBeginLoc()});
      return false;
    }
    auto begin = text_range(list[first], context_), end = text_range(list[last - 1], context_);
    if (!begin || !end || begin->begin >= end->end) {
      if (explain) reason({"c.macro", "the statement comes out of a macro", list[first]->getBeginLoc()});
      return false;
    }
    std::string name = nest_name(list[first]);
    while (std::ranges::any_of(unit_.nests, [&](const LiftedNest& n) { return n.sdfg.name == name; })) name += "b";
    auto [builder, nest] = attempt(list, first, last, name);
    if (!nest) {
      if (explain) reason(nest.error());
      return false;
    }
    if (!is_plausible(nest->sdfg.assumptions, nest->sdfg.root)) {
      if (last == first + 1)  // of several, each is looked at by itself
        reason(
            {"c.assumption", "what would have to hold of its sizes is next to never so", list[first]->getBeginLoc()});
      return false;
    }
    if (!builder.leaves_rest()) mark_dead(nest->sdfg, builder, part(list, first, last));
    const clang::SourceManager& sources = context_.getSourceManager();
    const clang::PresumedLoc from = sources.getPresumedLoc(sources.getExpansionLoc(list[first]->getBeginLoc()));
    const clang::PresumedLoc to = sources.getPresumedLoc(sources.getExpansionLoc(list[last - 1]->getEndLoc()));
    nest->function = facts_.function->getNameAsString();
    if (from.isValid()) {
      nest->file = from.getFilename();
      nest->line = static_cast<int>(from.getLine());
      nest->column = static_cast<int>(from.getColumn());
    }
    if (to.isValid()) nest->end_line = static_cast<int>(to.getLine());
    nest->begin = begin->begin;
    nest->end = end->end;
    nest->hint = inline_hint(facts_.function, context_);
    nest->whole = whole_function(facts_.function, std::span(list).subspan(first, last - first), context_);
    // (What is left of it changes arrays outside of the nest.)
    if (!builder.leaves_rest()) remember(*nest, builder, part(list, first, last));
    unit_.nests.push_back(std::move(*nest));
    return true;
  }

  void remember(const LiftedNest& nest, const Builder& builder, const Statements& stretch) {
    LiftedStretch lifted{nest.begin, stretch, {}};
    const std::set<std::string> written = sdfg::touched(nest.sdfg.root).written;
    for (const auto& [container, variable] : builder.arrays())
      if (std::ranges::find(nest.sdfg.arguments, container) != nest.sdfg.arguments.end())
        lifted.arrays.push_back({container, canonical(variable), written.contains(container)});
    lifted_.push_back(std::move(lifted));
  }

  // Whether the statement could be part of a nest. Loops are decided by an attempt, which says why not.
  bool understood(const Statements& list, std::size_t k) {
    if (attempts_ > kMaxAttempts) return false;
    looked_at_ = list[k]->getBeginLoc();
    const auto alone = attempt(list, k, k + 1, "attempt").nest;
    if (alone || alone.error().code == "c.empty") return true;
    // Alone it may lack what a neighbour gives: a variable of a declaration, an induction variable's value.
    if (alone.error().code == "c.induction-variable") return true;
    reason(alone.error());
    return false;
  }

  // Nests out of list[first, last), all understood; the longest first.
  void cover(const Statements& list, std::size_t first, std::size_t last) {
    while (first < last) {
      while (first < last && !contains_counting(list[first])) ++first;
      if (first >= last) return;
      bool found = false;
      for (std::size_t end = last; end > first && !found; --end) {
        if (!contains_counting(list[end - 1])) continue;
        if (accept(list, first, end, end == last || end == first + 1)) {
          first = end;
          found = true;
        }
      }
      if (found) continue;
      inside(list, first);
      ++first;
    }
  }

  // Loops are tried first; of what is loop-free, only what lies between two of them matters.
  void search_list(const clang::Stmt* parent, Statements list) {
    if (std::ranges::none_of(list, contains_loop)) return;
    frames_.push_back({parent, list, 0});
    std::optional<std::size_t> first;  // of the run that is being collected
    std::size_t last = 0;              // behind its last statement with a loop
    auto close = [&] {
      if (first) cover(list, *first, last);
      first.reset();
    };
    for (std::size_t k = 0; k < list.size(); ++k) {
      if (!contains_loop(list[k])) continue;
      frames_.back().next = k + 1;
      bool joined = true;
      for (std::size_t gap = last; first && joined && gap < k; ++gap) joined = understood(list, gap);
      if (!joined) close();
      frames_.back().next = k + 1;
      if (contains_counting(list[k]) && understood(list, k)) {
        if (!first) first = k;
        last = k + 1;
      } else {
        if (!contains_counting(list[k])) reason({"c.while", "a loop that does not count", list[k]->getBeginLoc()});
        close();
        inside(list, k);
      }
    }
    close();
    frames_.pop_back();
  }

  void inside(const Statements& list, std::size_t k) {
    frames_.back().next = k + 1;
    if (contains_loop(list[k])) search(list[k]);
  }

  // Looks for nests inside a statement that is none itself.
  void search(const clang::Stmt* s) {
    if (!s || !contains_loop(s)) return;
    if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(s))
      return search_list(block, Statements(block->body_begin(), block->body_end()));
    auto body = [&](const clang::Stmt* inner) {
      if (!inner) return;
      if (const auto* block = llvm::dyn_cast<clang::CompoundStmt>(inner))
        search_list(s, Statements(block->body_begin(), block->body_end()));
      else
        search_list(s, {inner});
    };
    if (const auto* i = llvm::dyn_cast<clang::IfStmt>(s)) {
      body(i->getThen());
      body(i->getElse());
    } else if (const auto* f = llvm::dyn_cast<clang::ForStmt>(s)) {
      body(f->getBody());
    } else if (const auto* w = llvm::dyn_cast<clang::WhileStmt>(s)) {
      body(w->getBody());
    } else if (const auto* d = llvm::dyn_cast<clang::DoStmt>(s)) {
      body(d->getBody());
    } else if (const auto* sw = llvm::dyn_cast<clang::SwitchStmt>(s)) {
      body(sw->getBody());
    } else if (const auto* c = llvm::dyn_cast<clang::SwitchCase>(s)) {
      body(c->getSubStmt());
    } else if (const auto* l = llvm::dyn_cast<clang::LabelStmt>(s)) {
      body(l->getSubStmt());
    }
  }

  clang::ASTContext& context_;
  Liveness& liveness_;
  TranslationUnit& unit_;
  FunctionFacts facts_;
  bool jumps_ = false;
  std::set<std::tuple<std::string, std::string, int, int>> seen_;  // reasons given
  std::vector<Frame> frames_;
  std::vector<LiftedStretch> lifted_;
  clang::SourceLocation looked_at_;  // the first statement of what is tried
  int attempts_ = 0;
};

}  // namespace

void find_stretches(clang::ASTContext& context, const clang::FunctionDecl* function, const ParameterValues& values,
                    const Options& options, Liveness& liveness, TranslationUnit& unit) {
  Finder(context, function, values, options, liveness, unit).run();
}

}  // namespace sous::frontends::c
