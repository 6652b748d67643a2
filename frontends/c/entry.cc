// What the rewritten program checks in C before it calls generated code: what may be read, and what must lie apart.
#include <algorithm>

#include "frontends/c/builder.h"
#include "frontends/c/least_shape.h"
#include "sdfg/planted_fault.h"

namespace sous::frontends::c {

using sdfg::Atom;
using sdfg::AtomKind;
using sdfg::Expr;
using sdfg::Term;

// Where the container begins, as C: an expression that a cast makes a pointer. Of members and shifted pointers a
// number, for nothing may be added to a pointer that points nowhere, as it may where the nest has no iterations.
std::string Builder::address(const Memory& memory) const {
  const Expr bytes = Expr(memory.offset) + memory.shift * Expr(sdfg::info(sdfg_.find(memory.container)->type).bytes);
  if (bytes == Expr(0)) return memory.c_expr;
  return "(unsigned long)(" + memory.c_expr + ") + (unsigned long)(" + c_text(bytes) + ")";
}

// The bytes that the container covers at most.
Span Builder::span(const Memory& memory) const {
  const sdfg::Container* c = sdfg_.find(memory.container);
  const Expr size(sdfg::info(c->type).bytes);
  Expr first(0), last(0);
  for (std::size_t d = 0; d < c->shape.size(); ++d) {
    const bool by_data = d == 0 && memory.reach;
    if (by_data) first = memory.reach->first * c->strides[d];
    const Expr reach = (by_data ? memory.reach->second : c->shape[d] - Expr(1)) * c->strides[d];
    const bool either_way = d == 0 && !memory.stride.empty() && !planted(Fault::rows_taken_to_ascend);
    if (either_way) first = Expr::min(reach, Expr(0));
    last = last + (either_way ? Expr::max(reach, Expr(0)) : reach);
  }
  const Expr begin = Expr(memory.offset) + memory.shift * size;
  const bool scalar = c->shape.empty() && !planted(Fault::scalar_value_as_address);
  // A pointer that may have no value yet is one that nothing is known of: to clang, the argument of a call has a value.
  const std::string pointer = unset_.contains(memory.c_expr) && !scalar
                                  ? "__extension__({ const void *sous_pointer = (const void *)(" + memory.c_expr +
                                        "); __asm__(\"\" : \"+r\"(sous_pointer)); sous_pointer; })"
                                  : "(const void *)" +
                                        std::string(scalar             ? "&"
                                                    : c->shape.empty() ? "(unsigned long)"
                                                                       : "") +
                                        "(" + memory.c_expr + ")";
  // The same holds for sizes.
  const auto at = [&](const Expr& bytes) {
    const std::string value = "(unsigned long)(" + c_text(bytes) + ")";
    const bool open = std::ranges::any_of(bytes.symbols(), [&](const std::string& symbol) {
      const auto text = symbol_c_.find(symbol);
      return text != symbol_c_.end() && unset_.contains(text->second);
    });
    if (!open) return value;
    return "__extension__({ unsigned long sous_bytes = " + value +
           "; __asm__(\"\" : \"+r\"(sous_bytes)); sous_bytes; })";
  };
  return {pointer, at(begin + first * size), at(begin + (last + Expr(1)) * size)};
}

// By a function of the generated file: what compares addresses where others can see it lets them escape, and of what
// has escaped a compiler no longer knows what its own loops change.
void Builder::keep_apart(const Span& a, const Span& b) {
  if (planted(Fault::scalar_overlap_unchecked)) return;
  const std::string condition = "sous_apart(" + a.pointer + ", " + a.first + ", " + a.last + ", " + b.pointer + ", " +
                                b.first + ", " + b.last + ")";
  if (std::ranges::find(apart_, condition) == apart_.end()) apart_.push_back(condition);
}

// The distance of rows is read from their table, once it is known to be there.
bool Builder::read_late(const Expr& e) const {
  return std::ranges::any_of(e.symbols(), [&](const std::string& s) {
    return std::ranges::find(memories_, s, &Memory::stride) != memories_.end();
  });
}

// Whether C can say it, with what may be read so far.
bool Builder::writable(const Expr& e, const Entry& entry) const {
  for (const Term& t : e.terms())
    for (const Atom& a : t.atoms) {
      const bool divides = a.kind == AtomKind::FloorDiv || a.kind == AtomKind::Mod;
      if (a.kind == AtomKind::Min || a.kind == AtomKind::Max || (divides && a.args[1].constant().value_or(0) > 0)) {
        if (!std::ranges::all_of(a.args, [&](const Expr& arg) { return writable(arg, entry); })) return false;
        continue;
      }
      if (a.kind != AtomKind::Symbol || !symbol_c_.contains(a.name)) return false;
      const std::string& c = symbol_c_.at(a.name);
      if (const auto arrow = c.find("->"); arrow != std::string::npos && !entry.safe.contains(c.substr(0, arrow)))
        return false;
      if (const auto load = std::ranges::find(loads_, c, &Load::c_expr);
          load != loads_.end() && !entry.safe.contains(load->root))
        return false;
    }
  return true;
}

// Conditions are about integers without bounds: first come the assumptions under which they are those of the program.
// One that cannot be written yet spoils the conditions over its symbols, if it was made before they were understood.
bool Builder::spoiled(const Expr& condition, std::size_t before, const Entry& entry) const {
  for (const Expr& e : sdfg_.assumptions) {
    const auto at = std::ranges::find(ranges_.assumptions, e) - ranges_.assumptions.begin();
    if (static_cast<std::size_t>(at) >= before || read_late(e) || writable(e, entry)) continue;
    for (const std::string& s : e.symbols())
      if (condition.uses(s)) return true;
  }
  return false;
}

// Which members may be read, and where: those that the stretch reads in any case, then those that only the bodies of
// loops read, in whose first iterations they are read for sure.
Entry Builder::safe_loads() const {
  Entry entry;
  for (const Load& l : loads_)
    if (l.read_before) entry.safe.insert(l.root);
  for (const bool any_condition : {false, true}) {
    for (const Expr& e : any_condition ? sdfg_.assumptions : std::vector<Expr>{}) {
      if (!read_late(e) && writable(e, entry)) entry.conditions.push_back(c_text(e) + " >= 0");
    }
    for (const Load& l : loads_) {
      if (entry.safe.contains(l.root) || !l.nonneg) continue;
      if (!any_condition && !l.nonneg->empty()) continue;
      const auto known = [&](const Expr& e) { return writable(e, entry) && !spoiled(e, l.assumptions, entry); };
      if (!std::ranges::all_of(*l.nonneg, known)) continue;
      entry.safe.insert(l.root);
      entry.needs_conditions = entry.needs_conditions || !l.nonneg->empty();
      for (const Expr& e : *l.nonneg) {
        const std::string condition = c_text(e) + " >= 0";
        if (std::ranges::find(entry.conditions, condition) == entry.conditions.end())
          entry.conditions.push_back(condition);
      }
    }
  }
  return entry;
}

// What has to hold, besides, before the tables of rows are looked at.
Lift<std::vector<std::string>> Builder::row_conditions(const std::set<std::string>& read, const Entry& entry) const {
  std::vector<std::string> more;
  const auto known = [&](const std::string& condition) {
    return std::ranges::find(entry.conditions, condition) != entry.conditions.end() ||
           std::ranges::find(more, condition) != more.end();
  };
  for (const RowCheck& check : row_checks_) {
    if (std::ranges::none_of(memories_,
                             [&](const Memory& m) { return m.table == check.table && read.contains(m.table); }))
      continue;
    for (const Expr& e : check.nonneg) {
      if (read_late(e) || !writable(e, entry) || spoiled(e, built_assumptions_, entry))
        return refuse("c.pointer.to-pointer", "the rows of '" + check.table + "' are used under a condition only",
                      stretch_.front()->getBeginLoc());
      const std::string condition = c_text(e) + " >= 0";
      if (!known(condition)) more.push_back(condition);
    }
    const auto askable = [&](const Expr& e) {
      return !read_late(e) && writable(e, entry) && !spoiled(e, built_assumptions_, entry);
    };
    for (const std::vector<RowWitness>& witnesses : check.ends) {
      std::string any;
      for (const RowWitness& w : witnesses) {
        if (!std::ranges::all_of(w.nonneg, askable) || !std::ranges::all_of(w.nonzero, askable)) continue;
        std::string all;
        for (const Expr& e : w.nonneg) all += (all.empty() ? "" : " && ") + c_text(e) + " >= 0";
        for (const Expr& e : w.nonzero) all += (all.empty() ? "" : " && ") + c_text(e) + " != 0";
        any += (any.empty() ? "(" : " || (") + (all.empty() ? "1" : all) + ")";
      }
      if (any.empty())
        return refuse("c.pointer.to-pointer", "the rows of '" + check.table + "' are used under a condition only",
                      stretch_.front()->getBeginLoc());
      more.push_back("(" + any + ")");
    }
  }
  return more;
}

// Members are read on entry, which must not fault where the stretch would not read them.
Lift<std::string> Builder::guard(const std::set<std::string>& read) {
  const Entry entry = safe_loads();
  std::string text;
  const auto also = [&](const std::string& condition) { text += (text.empty() ? "" : " && ") + condition; };
  for (const std::string& c : entry.conditions) also(c);
  bool needed = false;
  for (const Load& l : loads_) {
    if (!read.contains(l.c_expr)) continue;
    needed = true;
    if (!entry.safe.contains(l.root) && !planted(Fault::read_unguarded)) guarded_.insert(l.c_expr);
  }
  if (!guarded_.empty())
    return refuse("c.member.guarded",
                  "'" + *guarded_.begin() + "' is read under a condition only: it may not be readable",
                  stretch_.front()->getBeginLoc());
  if ((!needed || !entry.needs_conditions) && row_checks_.empty()) text.clear();
  TRY(const std::vector<std::string> rows, row_conditions(read, entry));
  for (const std::string& c : rows) also(c);
  for (const RowCheck& check : row_checks_) also(check.condition);
  if (apart_.empty()) return text;
  // What is compared may have no value yet where the nest has no iterations. To clang, a branch on such a value is
  // undefined behaviour that it draws conclusions from: there is no branch but the last, on what assembly gives back.
  std::string all;
  for (const std::string& c : apart_) all += (all.empty() ? "" : " & ") + c;
  also(std::string(kept_apart) + all + "; __asm__(\"\" : \"+r\"(sous_holds)); sous_holds; })");
  return text;
}

}  // namespace sous::frontends::c
