#include "targets/cuda/threads.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "sdfg/planted_fault.h"
#include "sdfg/trips.h"

namespace sous::targets {
namespace {

using sdfg::Expr;
using sdfg::Loop;

constexpr std::array dimension_names{"x", "y", "z"};

class MeetingPrinter {
 public:
  MeetingPrinter(Printer& printer, const Meeting& meeting)
      : printer_(printer), expressions_(printer.expressions), meeting_(meeting) {}

  void run() {
    // A block may run several iterations of the loops over blocks, one after the other.
    since_ = shared_of(sdfg::touched(*meeting_.body));
    alike(*meeting_.body);
  }

 private:
  // What threads may see of each other.
  sdfg::Touched shared_of(sdfg::Touched touched) const {
    for (const std::string& own : meeting_.own) {
      touched.read.erase(own);
      touched.written.erase(own);
    }
    return touched;
  }
  bool may_be_same(const std::string& a, const std::string& b) const {
    const int first = expressions_.container(a).alias_class, second = expressions_.container(b).alias_class;
    return a == b || (first != 0 && first == second);
  }
  bool meet(const std::set<std::string>& some, const std::set<std::string>& others) const {
    return std::ranges::any_of(some, [&](const std::string& a) {
      return std::ranges::any_of(others, [&](const std::string& b) { return may_be_same(a, b); });
    });
  }

  // What all threads run alike. A barrier stands ahead of threads that touch what others have written since the last
  // one, or write what others have touched.
  void alike(const sdfg::Region& region) {
    for (const sdfg::Node& n : region.nodes)
      match(
          n.value, [](const sdfg::State&) {},
          [&](const Loop& loop) {
            if (is_thread(loop)) return threads(loop);
            // Its iterations follow each other.
            add(shared_of(sdfg::touched(loop.body)));
            printer_.body_instead = [&](const Loop& l) {
              printer_.body_instead = nullptr;
              alike(l.body);
            };
            printer_.plain_loop(loop);
          },
          [&](const sdfg::If& branch) {
            const sdfg::Touched before = since_;
            printer_.out.open("if (" + printer_.condition(branch.condition).text + ")");
            alike(branch.then_body);
            sdfg::Touched then = std::exchange(since_, before);
            if (!branch.else_body.nodes.empty()) {
              printer_.out.close(" else {");
              printer_.out.set_depth(printer_.out.depth() + 1);
              alike(branch.else_body);
            }
            printer_.out.close();
            add(std::move(then));
          },
          [](const sdfg::While&) {}, [](const sdfg::Return&) {});
  }
  void add(sdfg::Touched more) {
    since_.read.merge(more.read);
    since_.written.merge(more.written);
  }

  void threads(const Loop& loop) {
    const sdfg::Touched touched = shared_of(sdfg::touched(sdfg::Node(loop)));
    if (meet(touched.read, since_.written) || meet(touched.written, since_.written) ||
        meet(touched.written, since_.read)) {
      if (!planted(Fault::gpu_barrier_lost)) printer_.out.line("__syncthreads();");
      since_ = {};
    }
    add(touched);
    const Band band = band_of(loop);
    const auto trips = band.trips();
    printer_.out.open("");
    if (trips && *trips == meeting_.threads) {
      each(
          band,
          [&](const Loop& l) {
            return "static_cast<int64_t>(threadIdx." +
                   std::string(dimension_names[static_cast<std::size_t>(dimension_of(l))]) + ")";
          },
          [&] { printer_.region(*band.body); });
    } else if (trips) {
      in_line(band, *trips);
    } else {
      in_dimensions(band);
    }
    printer_.out.close();
  }

  // One iteration for each thread: that whose place in each loop `place` says.
  // `whole`: every loop is known to have all of its iterations.
  void each(const Band& band, const std::function<std::string(const Loop&)>& place, const std::function<void()>& inside,
            bool whole = false, std::size_t at = 0) {
    if (at == band.loops.size()) return inside();
    const Loop& l = *band.loops[at];
    const std::string variable = expressions_.names().of(l.symbol);
    const bool all = whole || has_all(l);
    const std::string end = all ? "" : printer_.bound(l.end, variable + "_end");
    printer_.out.line("const int64_t " + variable + " = " + expressions_.index(l.begin).in(Binding::Sum) + " + " +
                      place(l) + (l.step == 1 ? "" : " * " + std::to_string(l.step)) + ";");
    if (!all) printer_.out.open("if (" + Printer::condition(variable, l, end) + ")");
    expressions_.enter(l);
    printer_.declare(l.symbol);
    each(band, place, inside, whole, at + 1);
    expressions_.leave(l);
    if (!all) printer_.out.close();
  }

  static bool has_all(const Loop& l) {
    const auto most = sdfg::most_trips(l);
    return most && l.end - l.begin == Expr(*most * l.step);
  }
  // When all loops of the band have all of their iterations, where that is the same for all threads; empty: not known.
  std::string is_whole(const Band& band) const {
    std::string text;
    for (const Loop* l : band.loops) {
      if (has_all(*l)) continue;
      const bool alike = std::ranges::none_of(
          band.loops, [&](const Loop* other) { return l->begin.uses(other->symbol) || l->end.uses(other->symbol); });
      if (!alike || l->step < 0) return "";
      const Expr last = l->begin + Expr((sdfg::most_trips(*l).value_or(1) - 1) * l->step);
      text += (text.empty() ? "" : " && ") + expressions_.index(last).in(Binding::Sum) + " < " +
              expressions_.index(l->end).in(Binding::Sum);
    }
    return text;
  }

  // How many values a thread may load before it stores any, beside what it keeps in registers.
  std::int64_t most_at_once() const {
    constexpr std::int64_t registers = 192, for_each = 8;  // of 255; a value, its address and its condition
    std::int64_t kept = 0;
    for (const std::string& name : meeting_.own) {
      const sdfg::Container& c = expressions_.container(name);
      Expr elements = 1;
      for (const Expr& extent : c.shape) elements = elements * extent;
      if (c.storage == sdfg::Storage::registers)
        kept += elements.constant().value_or(registers) * std::max(sdfg::info(c.type).bytes / 4, 1);
    }
    return std::max<std::int64_t>(4, (registers - kept) / for_each);
  }

  // All threads of the block in a line, dimension 0 first; each takes every so many iterations. As these are
  // independent, a thread may compute what it assigns in several of them before it stores any: its loads are on their
  // way at the same time.
  void in_line(const Band& band, const Threads& trips) {
    const Threads& all = meeting_.threads;
    const std::int64_t count = all[0] * all[1] * all[2], work = trips[0] * trips[1] * trips[2];
    const std::int64_t turns = (work + count - 1) / count, once = std::min(turns, most_at_once());
    const std::string turn = expressions_.names().fresh("turn"), at = expressions_.names().fresh("at"),
                      first = expressions_.names().fresh("first"), value = expressions_.names().fresh("value");
    const auto place = [&](const Loop& l) {
      const auto dimension = static_cast<std::size_t>(dimension_of(l));
      std::int64_t apart = 1;
      for (std::size_t d = 0; d < dimension; ++d) apart *= trips[d];
      return "static_cast<int64_t>(" + at + " / " + std::to_string(apart) + " % " + std::to_string(trips[dimension]) +
             ")";
    };
    const bool partial = turns % once != 0 || turns * count != work;
    const auto turns_of = [&](bool whole, const std::function<void()>& inside) {
      printer_.out.line("SOUS_UNROLLED");
      printer_.out.open("for (unsigned " + turn + " = 0; " + turn + " < " + std::to_string(once) + "; ++" + turn + ")");
      printer_.out.line("const unsigned " + at + " = " + first + " + " + turn + " * " + std::to_string(count) + ";");
      if (partial) printer_.out.open("if (" + at + " < " + std::to_string(work) + ")");
      each(band, place, inside, whole);
      if (partial) printer_.out.close();
      printer_.out.close();
    };
    const auto* state = band.body->nodes.size() == 1 ? std::get_if<sdfg::State>(&band.body->nodes[0].value) : nullptr;
    const auto assignment = state != nullptr ? sdfg::as_assignment(*state) : std::nullopt;
    const auto some = [&](bool whole) {
      if (!assignment || assignment->out.combine || once == 1)
        return turns_of(whole, [&] { printer_.region(*band.body); });
      printer_.out.line(std::string(sdfg::info(assignment->code.type).cpp) + " " + value + "[" + std::to_string(once) +
                        "];");
      std::vector<const sdfg::Memlet*> inputs;
      for (const sdfg::Memlet& m : assignment->inputs) inputs.push_back(&m);
      const std::string own = value + "[" + turn + "]";
      turns_of(whole,
               [&] { printer_.out.line(own + " = " + expressions_.scalar(assignment->code, inputs).text + ";"); });
      turns_of(whole, [&] { printer_.out.line(expressions_.element(assignment->out).text + " = " + own + ";"); });
    };
    printer_.out.open("for (unsigned " + first + " = threadIdx.x + " + std::to_string(all[0]) + " * (threadIdx.y + " +
                      std::to_string(all[1]) + " * threadIdx.z); " + first + " < " + std::to_string(work) + "; " +
                      first + " += " + std::to_string(once * count) + ")");
    const std::string condition = assignment ? is_whole(band) : "";
    if (!condition.empty()) {
      printer_.out.open("if (" + condition + ")");
      some(true);
      printer_.out.close(" else {");
      printer_.out.set_depth(printer_.out.depth() + 1);
    }
    some(false);
    if (!condition.empty()) printer_.out.close();
    printer_.out.close();
  }

  // Where nobody knows how many iterations there are: threads stride, those alone that differ in its dimensions.
  void in_dimensions(const Band& band) {
    std::string others;
    for (std::size_t d = 0; d < dimension_names.size(); ++d)
      if (std::ranges::none_of(band.loops, [&](const Loop* l) { return dimension_of(*l) == static_cast<int>(d); }))
        others += (others.empty() ? "" : " && ") + ("threadIdx." + std::string(dimension_names[d])) + " == 0";
    if (!others.empty()) printer_.out.open("if (" + others + ")");
    print_strided(printer_, band.loops, "threadIdx", "blockDim", [&] { printer_.region(*band.body); });
    if (!others.empty()) printer_.out.close();
  }

  Printer& printer_;
  Expressions& expressions_;
  const Meeting& meeting_;
  sdfg::Touched since_;  // touched by threads since the last barrier
};

}  // namespace

void print_strided(Printer& printer, const std::vector<const Loop*>& loops, const std::string& own,
                   const std::string& all, const std::function<void()>& inside, std::size_t at) {
  if (at == loops.size()) return inside();
  Expressions& expressions = printer.expressions;
  const Loop& l = *loops[at];
  const std::string variable = expressions.names().of(l.symbol);
  const std::string dimension = dimension_names[static_cast<std::size_t>(dimension_of(l))];
  const std::string end = printer.bound(l.end, variable + "_end");
  const auto times = [&](const std::string& what) {
    const std::string value = "static_cast<int64_t>(" + what + "." + dimension + ")";
    return l.step == 1 ? value : value + " * " + std::to_string(l.step);
  };
  const Text begin = expressions.index(l.begin);
  const std::string first = planted(Fault::thread_off_by_one) && own == "threadIdx"
                                ? begin.in(Binding::Sum) + " + 1 + " + times(own)
                                : begin.in(Binding::Sum) + " + " + times(own);
  printer.out.open("for (int64_t " + variable + " = " +
                   (l.begin == Expr(0) && first.starts_with("0 + ") ? first.substr(4) : first) + "; " +
                   Printer::condition(variable, l, end) + "; " + variable + " += " + times(all) + ")");
  expressions.enter(l);
  printer.declare(l.symbol);
  print_strided(printer, loops, own, all, inside, at + 1);
  expressions.leave(l);
  printer.out.close();
}

void print_meeting(Printer& printer, const Meeting& meeting) { MeetingPrinter(printer, meeting).run(); }

}  // namespace sous::targets
