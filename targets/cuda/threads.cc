#include "targets/cuda/threads.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sdfg/planted_fault.h"
#include "targets/cuda/accesses.h"
#include "targets/cuda/line.h"

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
    name_places();
    // A block may run several iterations of the loops over blocks, one after the other.
    for (const sdfg::Node& n : meeting_.body->nodes) since_.add(accesses(n));
    since_.forget_buffers();
    alike(*meeting_.body);
  }

 private:
  Accesses accesses(const sdfg::Node& n) const { return accesses_of(expressions_.sdfg(), n, meeting_.own); }
  bool conflict(const Accesses& some, const Accesses& others) const {
    return targets::conflict(expressions_.sdfg(), some, others);
  }

  // What all threads run alike. A barrier stands ahead of threads that touch what others have written since the last
  // one, or write what others have touched.
  void alike(const sdfg::Region& region) {
    for (std::size_t k = 0; k < region.nodes.size(); ++k) {
      std::vector<Line> early = early_copies(region, k);
      if (early.empty()) {
        node(region.nodes[k]);
        continue;
      }
      const std::size_t behind = k + early.size();
      const auto touched = [&](std::size_t c) { return accesses(region.nodes[k + c]); };
      for (std::size_t c = 0; c < early.size(); ++c) {
        meet({.read = touched(c).read, .written = {}});
        early[c].load();
        if (planted(Fault::gpu_stored_early)) early[c].store();
      }
      node(region.nodes[behind]);
      for (std::size_t c = 0; c < early.size(); ++c) {
        meet({.read = {}, .written = touched(c).written});
        early[c].store();
      }
      k = behind;
    }
  }

  // The copies into memory that threads share, from here on, whose elements are loaded ahead of what follows them and
  // stored behind it: neither knows of the other.
  std::vector<Line> early_copies(const sdfg::Region& region, std::size_t from) const {
    std::vector<Line> copies;
    std::int64_t registers = 0;
    std::size_t at = from;
    for (; at < region.nodes.size(); ++at) {
      const auto* loop = std::get_if<Loop>(&region.nodes[at].value);
      if (loop == nullptr || !is_thread(*loop)) break;
      const Band band = band_of(*loop);
      const auto trips = band.trips();
      if (!trips) break;
      Line line(printer_, meeting_, band, *trips);
      if (!line.can_part()) break;
      registers += line.registers();
      copies.push_back(std::move(line));
    }
    bool apart = at < region.nodes.size() && registers <= free_registers(expressions_.sdfg(), meeting_);
    for (std::size_t one = from; one < at && apart; ++one)
      for (std::size_t other = one + 1; other <= at && apart; ++other)
        apart = !conflict(accesses(region.nodes[one]), accesses(region.nodes[other]));
    return apart ? std::move(copies) : std::vector<Line>{};
  }

  void node(const sdfg::Node& node) {
    match(
        node.value, [](const sdfg::State&) {},
        [&](const Loop& loop) {
          if (is_thread(loop)) return threads(loop);
          // Its iterations follow each other.
          for (const sdfg::Node& n : loop.body.nodes) since_.add(accesses(n));
          since_.forget_buffers();
          printer_.body_instead = [&](const Loop& l) {
            printer_.body_instead = nullptr;
            alike(l.body);
          };
          printer_.plain_loop(loop);
          since_.forget_buffers();
        },
        [&](const sdfg::If& branch) {
          const Accesses before = since_;
          printer_.out.open("if (" + printer_.condition(branch.condition).text + ")");
          alike(branch.then_body);
          Accesses then = std::exchange(since_, before);
          if (!branch.else_body.nodes.empty()) {
            printer_.out.close(" else {");
            printer_.out.set_depth(printer_.out.depth() + 1);
            alike(branch.else_body);
          }
          printer_.out.close();
          since_.add(then);
        },
        [](const sdfg::While&) {}, [](const sdfg::Return&) {});
  }

  // With the others, if this may not be touched before they are here.
  void meet(const Accesses& next) {
    if (conflict(next, since_)) {
      if (!planted(Fault::gpu_barrier_lost)) printer_.out.line("__syncthreads();");
      since_ = {};
    }
    since_.add(next);
  }

  void threads(const Loop& loop) {
    meet(accesses(sdfg::Node(loop)));
    const Band band = band_of(loop);
    const auto trips = band.trips();
    printer_.out.open("");
    if (trips && *trips == meeting_.threads) {
      print_each(
          printer_, band, [&](const Loop& l) { return places_[static_cast<std::size_t>(dimension_of(l))]; },
          [&] { printer_.region(*band.body); });
    } else if (trips) {
      Line(printer_, meeting_, band, *trips).all();
    } else {
      in_dimensions(band);
    }
    printer_.out.close();
  }

  // A thread's own iteration. Where threads have tiles in two dimensions, a warp is 4 by 8 of them, neighbours in its
  // line one below the other and then side by side: half a warp then asks shared memory for 2 rows' and 8 columns'
  // values, and two lanes that are 1 or 2 apart always for the same one, which 16 lanes get in one access of 16 bytes.
  void name_places() {
    for (std::size_t d = 0; d < places_.size(); ++d)
      places_[d] = "static_cast<int64_t>(threadIdx." + std::string(dimension_names[d]) + ")";
    const auto& [across, down, deep] = meeting_.threads;
    if (meeting_.own.empty() || across % 8 != 0 || down % 4 != 0 || deep != 1) return;
    const std::string at = expressions_.names().fresh("at"), warps = std::to_string(across / 8);
    printer_.out.line("const unsigned " + at + " = threadIdx.x + " + std::to_string(across) + " * threadIdx.y;");
    places_[0] = "static_cast<int64_t>(" + at + " / 2 % 8 + " + at + " / 32 % " + warps + " * 8)";
    places_[1] = "static_cast<int64_t>(" + at + " % 2 + " + at + " / 16 % 2 * 2 + " + at + " / 32 / " + warps + " * 4)";
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
  Accesses since_;  // by threads, since the last barrier
  std::array<std::string, 3> places_;
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
