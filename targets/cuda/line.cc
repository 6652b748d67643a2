#include "targets/cuda/line.h"

#include <algorithm>

#include "sdfg/trips.h"

namespace sous::targets {
namespace {

using sdfg::Expr;
using sdfg::Loop;

// The arguments of a minimum, or of minima in a minimum; else the expression.
std::vector<Expr> pieces_of(const Expr& e) {
  const auto& terms = e.terms();
  if (e.constant_term() != 0 || terms.size() != 1 || terms[0].coefficient != 1 || terms[0].atoms.size() != 1 ||
      terms[0].atoms[0].kind != sdfg::AtomKind::Min)
    return {e};
  std::vector<Expr> pieces;
  for (const Expr& argument : terms[0].atoms[0].args)
    for (const Expr& piece : pieces_of(argument)) pieces.push_back(piece);
  return pieces;
}

Expr last_of(const Loop& l) { return l.begin + Expr((sdfg::most_trips(l).value_or(1) - 1) * l.step); }

void each(Printer& printer, const Band& band, const std::function<std::string(const Loop&)>& place,
          const std::function<void()>& inside, bool whole, std::size_t at) {
  if (at == band.loops.size()) return inside();
  Expressions& expressions = printer.expressions;
  const Loop& l = *band.loops[at];
  const std::string variable = expressions.names().of(l.symbol);
  const bool all = whole || has_all(l);
  const std::string end = all ? "" : printer.bound(l.end, variable + "_end");
  printer.out.line("const int64_t " + variable + " = " + expressions.index(l.begin).in(Binding::Sum) + " + " +
                   place(l) + (l.step == 1 ? "" : " * " + std::to_string(l.step)) + ";");
  if (!all) printer.out.open("if (" + Printer::condition(variable, l, end) + ")");
  expressions.enter(l);
  printer.declare(l.symbol);
  each(printer, band, place, inside, whole, at + 1);
  expressions.leave(l);
  if (!all) printer.out.close();
}

// Registers of 4 bytes that hold what a thread keeps.
std::int64_t kept_registers(const sdfg::Sdfg& sdfg, const Meeting& meeting, std::int64_t if_unknown) {
  std::int64_t kept = 0;
  for (const std::string& name : meeting.own) {
    const sdfg::Container& c = *sdfg.find(name);
    Expr elements = 1;
    for (const Expr& extent : c.shape) elements = elements * extent;
    if (c.storage == sdfg::Storage::registers)
      kept += elements.constant().value_or(if_unknown) * std::max(sdfg::info(c.type).bytes / 4, 1);
  }
  return kept;
}

// How many values a thread may load before it stores any, beside what it keeps in registers.
std::int64_t most_at_once(const sdfg::Sdfg& sdfg, const Meeting& meeting) {
  constexpr std::int64_t registers = 192, for_each = 8;  // of 255; a value, its address and its condition
  return std::max<std::int64_t>(4, (registers - kept_registers(sdfg, meeting, registers)) / for_each);
}

}  // namespace

bool has_all(const Loop& l) {
  const auto most = sdfg::most_trips(l);
  return most && l.end - l.begin == Expr(*most * l.step);
}

bool uses_any(const Expr& e, const Band& band) {
  return std::ranges::any_of(band.loops, [&](const Loop* l) { return e.uses(l->symbol); });
}

std::string own_place(const Meeting& meeting) {
  const Threads all = meeting.launched();
  return "threadIdx.x + " + std::to_string(all[0]) + " * (threadIdx.y + " + std::to_string(all[1]) + " * threadIdx.z)";
}

void print_each(Printer& printer, const Band& band, const std::function<std::string(const Loop&)>& place,
                const std::function<void()>& inside, bool whole) {
  each(printer, band, place, inside, whole, 0);
}

std::int64_t free_registers(const sdfg::Sdfg& sdfg, const Meeting& meeting) {
  constexpr std::int64_t registers = 208;  // of 255, without what computing takes
  return registers - kept_registers(sdfg, meeting, registers);
}

std::int64_t blocks_held(const sdfg::Sdfg& sdfg, const Meeting& meeting) {
  constexpr std::int64_t all = 65536, to_compute = 96, little = 32;
  const std::int64_t kept = kept_registers(sdfg, meeting, 0);
  const Threads launched = meeting.launched();
  const std::int64_t threads = launched[0] * launched[1] * launched[2];
  return kept < little ? 0 : all / (threads * (kept + to_compute));
}

// Whether a temporary lies in the memory of the device while the kernel runs.
static bool is_outside(const Meeting& meeting, const sdfg::Container& temporary) {
  bool own = temporary.storage != sdfg::Storage::heap || sdfg::touched(*meeting.body).written.contains(temporary.name);
  const auto has_it = [&](const Loop& l) { return std::ranges::find(l.privates, temporary.name) != l.privates.end(); };
  for (const Loop* l : meeting.blocks) own = own || has_it(*l);
  sdfg::visit(*meeting.body, [&](const sdfg::Node& n) {
    const auto* l = std::get_if<Loop>(&n.value);
    own = own || (l != nullptr && has_it(*l));
  });
  return !own;
}

bool copies_alone(const sdfg::Sdfg& sdfg, const Meeting& meeting, const Band& band) {
  const auto& nodes = band.body->nodes;
  const auto* state = nodes.size() == 1 ? std::get_if<sdfg::State>(&nodes[0].value) : nullptr;
  const auto assignment = state != nullptr ? sdfg::as_assignment(*state) : std::nullopt;
  if (!assignment || assignment->out.combine || assignment->code.op != sdfg::ScalarOp::input) return false;
  const sdfg::Memlet& from = assignment->inputs[static_cast<std::size_t>(assignment->code.input)];
  const sdfg::Container &source = *sdfg.find(from.container), &to = *sdfg.find(assignment->out.container);
  const std::int64_t bytes = sdfg::info(source.type).bytes;
  return to.storage == sdfg::Storage::device_shared && source.type == to.type && (bytes == 4 || bytes == 8) &&
         !source.shape.empty() && (!source.transient || is_outside(meeting, source));
}

Line::Line(Printer& printer, const Meeting& meeting, Band band, const Threads& trips, Through through,
           std::int64_t together)
    : printer_(printer),
      meeting_(meeting),
      band_(std::move(band)),
      trips_{trips[0] / together, trips[1], trips[2]},
      together_(together) {
  const auto& nodes = band_.body->nodes;
  const auto* state = nodes.size() == 1 ? std::get_if<sdfg::State>(&nodes[0].value) : nullptr;
  if (state != nullptr) assignment_ = sdfg::as_assignment(*state);
  if (assignment_ && assignment_->out.combine) assignment_.reset();
  for (const std::int64_t threads : meeting_.launched()) count_ *= threads;
  for (const std::int64_t trip : trips_) work_ *= trip;
  turns_ = (work_ + count_ - 1) / count_;
  constexpr std::int64_t most_copies = 64;
  once_ = std::min(turns_,
                   through == Through::Registers ? most_at_once(printer_.expressions.sdfg(), meeting_) : most_copies);
  Names& names = printer_.expressions.names();
  turn_ = names.fresh("turn"), at_ = names.fresh("at"), first_ = names.fresh("first");
  value_ = names.fresh("value"), is_whole_ = names.fresh("is_whole");
  whole_ = whole();
  if (!assignment_) return;
  const auto moves = [&](const sdfg::Memlet& m) {
    return std::ranges::any_of(m.subset, [&](const sdfg::Expr& d) { return uses_any(d, band_); });
  };
  if (std::ranges::count_if(assignment_->inputs, moves) == 1)
    moving_ = std::ranges::find_if(assignment_->inputs, moves) - assignment_->inputs.begin();
}

// --- Whole bands

std::optional<Expr> Line::at_last(Expr e) const {
  for (auto l = band_.loops.rbegin(); l != band_.loops.rend(); ++l) {
    if (!e.uses((*l)->symbol)) continue;
    const auto form = sdfg::affine(e);
    if (!form || (*l)->step < 0 || form->coefficients.at((*l)->symbol) < 0) return std::nullopt;
    e = e.substitute({{(*l)->symbol, last_of(**l)}});
  }
  return e;
}

Expr Line::without_minima(const Expr& e, std::vector<Expr>& positive) const {
  Expr result = e;
  for (const sdfg::Term& term : e.terms()) {
    if (term.atoms.size() != 1 || term.atoms[0].kind != sdfg::AtomKind::Min) continue;
    const auto& args = term.atoms[0].args;
    const bool first = uses_any(args[0], band_);
    const Expr &moves = args[first ? 0 : 1], &limit = args[first ? 1 : 0];
    const auto last = at_last(moves);
    if (!last || uses_any(*last, band_) || uses_any(limit, band_) || !limit.reads().empty()) continue;
    result = result + Expr(term.coefficient) * (moves - Expr::min(args[0], args[1]));
    positive.push_back(limit + 1 - *last);
  }
  return result;
}

std::optional<Line::Whole> Line::whole() const {
  if (!assignment_) return std::nullopt;
  std::vector<Expr> positive;
  for (const Loop* l : band_.loops) {
    if (has_all(*l)) continue;
    if (uses_any(l->begin, band_) || uses_any(l->end, band_) || l->step < 0) return std::nullopt;
    for (const Expr& end : pieces_of(l->end)) positive.push_back(end - last_of(*l));
  }
  Whole whole{.condition = "", .inputs = assignment_->inputs};
  for (sdfg::Memlet& m : whole.inputs)
    for (sdfg::Expr& d : m.subset) d = without_minima(d, positive);
  for (auto one = positive.begin(); one != positive.end(); ++one) {
    // Of two that are a constant apart, the smaller one says it for both; a constant needs no question.
    const bool said = one->constant().value_or(0) > 0 || std::ranges::any_of(positive, [&](const Expr& other) {
                        const auto more = (*one - other).constant();
                        return more && (*more > 0 || (*more == 0 && &other < &*one));
                      });
    if (!said)
      whole.condition +=
          (whole.condition.empty() ? "" : " && ") + printer_.expressions.index(*one).in(Binding::Sum) + " > 0";
  }
  return whole;
}

// --- One pass

// Where all is one turn after the other and the number of threads fits the loops, only the thread's own part is left to
// the device to compute: what a turn adds is a constant where turns are written out.
std::string Line::place(const Loop& loop) const {
  const std::string access = access_of(loop);
  return together_ == 1 || dimension_of(loop) != 0 ? access : access + " * " + std::to_string(together_);
}

std::string Line::access_of(const Loop& loop) const {
  const auto dimension = static_cast<std::size_t>(dimension_of(loop));
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  const auto as_index = [](const std::string& text) { return "static_cast<int64_t>(" + text + ")"; };
  std::int64_t apart = 1;
  for (std::size_t d = 0; d < dimension; ++d) apart *= trips_[d];
  std::int64_t below = 1;  // iterations of the dimensions before the one in which turns move
  for (std::size_t d = 0; d < trips_.size() && once_ == turns_ && turns_ > 1; ++d) {
    const std::int64_t by = count_ / below;
    if (count_ % below == 0 && by < trips_[d] && trips_[d] % by == 0) {
      const std::int64_t in_it = trips_[d] / by;
      if (dimension < d) return as_index(first_ + " / " + number(apart) + " % " + number(trips_[dimension]));
      if (dimension == d)
        return as_index(first_ + " / " + number(apart) + " + " + turn_ + " % " + number(in_it) + " * " + number(by));
      return as_index(turn_ + " / " + number(in_it * (apart / (below * trips_[d]))) + " % " +
                      number(trips_[dimension]));
    }
    below *= trips_[d];
  }
  return as_index(at_ + " / " + number(apart) + " % " + number(trips_[dimension]));
}

void Line::turns(bool whole, const std::function<void()>& inside) const {
  const bool partial = turns_ % once_ != 0 || turns_ * count_ != work_;
  printer_.out.line("SOUS_UNROLLED");
  printer_.out.open("for (unsigned " + turn_ + " = 0; " + turn_ + " < " + std::to_string(once_) + "; ++" + turn_ + ")");
  printer_.out.line("const unsigned " + at_ + " = " + first_ + " + " + turn_ + " * " + std::to_string(count_) + ";");
  if (partial) printer_.out.open("if (" + at_ + " < " + std::to_string(work_) + ")");
  print_each(printer_, band_, [&](const Loop& l) { return place(l); }, inside, whole);
  if (partial) printer_.out.close();
  printer_.out.close();
}

void Line::loads(bool whole) const {
  const auto& inputs = whole ? whole_->inputs : assignment_->inputs;
  turns(whole, [&] {
    const Expressions& expressions = printer_.expressions;
    printer_.out.line(value_ + "[" + turn_ + "] = " +
                      (moving_ ? expressions.element(inputs[*moving_]) : computed(inputs, std::nullopt)).text + ";");
  });
}

// What is assigned, with the value that is loaded for the input that moves, if there is one.
Text Line::computed(const std::vector<sdfg::Memlet>& inputs, const std::optional<Text>& loaded) const {
  std::vector<Text> texts;
  for (std::size_t k = 0; k < inputs.size(); ++k)
    texts.push_back(loaded && moving_ == k ? *loaded : printer_.expressions.element(inputs[k]));
  return printer_.expressions.scalar(assignment_->code, texts);
}

std::string Line::type() const {
  const auto& code = assignment_->code;
  return std::string(
      sdfg::info(moving_ ? printer_.expressions.container(assignment_->inputs[*moving_].container).type : code.type)
          .cpp);
}

void Line::stores(bool whole) const {
  const auto& inputs = whole ? whole_->inputs : assignment_->inputs;
  turns(whole, [&] {
    const Text value{value_ + "[" + turn_ + "]"};
    printer_.out.line(printer_.expressions.element(assignment_->out).text + " = " +
                      (moving_ ? computed(inputs, value) : value).text + ";");
  });
}

void Line::either(const std::function<void(bool whole)>& print) const {
  if (!whole_) return print(false);
  if (whole_->condition.empty()) return print(true);
  printer_.out.open("if (" + is_whole_ + ")");
  print(true);
  printer_.out.otherwise();
  print(false);
  printer_.out.close();
}

// --- What is printed

void Line::passes(const std::function<void(bool whole)>& print) const {
  Lines& out = printer_.out;
  out.open("for (unsigned " + first_ + " = " + own_place(meeting_) + "; " + first_ + " < " + std::to_string(work_) +
           "; " + first_ + " += " + std::to_string(once_ * count_) + ")");
  if (whole_ && !whole_->condition.empty()) out.line("const bool " + is_whole_ + " = " + whole_->condition + ";");
  either(print);
  out.close();
}

void Line::all() {
  const bool apart = assignment_ && once_ > 1;
  passes([&](bool whole) {
    if (!apart) return turns(whole, [&] { printer_.region(*band_.body); });
    printer_.out.line(type() + " " + value_ + "[" + std::to_string(once_) + "];");
    loads(whole);
    stores(whole);
  });
}

bool Line::can_part() const {
  if (!assignment_ || once_ != turns_) return false;
  const sdfg::Touched touched = sdfg::touched(sdfg::Node(*band_.loops[0]));
  const auto own = [&](const std::string& name) { return meeting_.own.contains(name); };
  const auto shared = [&](const std::string& name) {
    return printer_.expressions.container(name).storage == sdfg::Storage::device_shared;
  };
  // What comes from memory that threads share is there soon, and one barrier more takes longer.
  return shared(assignment_->out.container) && (touched.read.empty() || !std::ranges::all_of(touched.read, shared)) &&
         std::ranges::none_of(touched.read, own) && std::ranges::none_of(touched.written, own);
}

std::int64_t Line::registers() const { return turns_ * std::max(sdfg::info(assignment_->code.type).bytes / 4, 1); }

void Line::load() {
  Lines& out = printer_.out;
  out.line("const unsigned " + first_ + " = " + own_place(meeting_) + ";");
  if (whole_ && !whole_->condition.empty()) out.line("const bool " + is_whole_ + " = " + whole_->condition + ";");
  out.line(type() + " " + value_ + "[" + std::to_string(once_) + "];");
  either([&](bool whole) { loads(whole); });
}

void Line::store() {
  either([&](bool whole) { stores(whole); });
}

}  // namespace sous::targets
