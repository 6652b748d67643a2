#include "targets/cuda/threads.h"

#include <algorithm>
#include <array>
#include <utility>

#include "sdfg/planted_fault.h"
#include "targets/cuda/accesses.h"
#include "targets/cuda/line.h"
#include "targets/cuda/matrix.h"

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
    in_matrix_ = has_matrix_product(expressions_.sdfg(), meeting_, expressions_.contracts);
    name_places();
    for (const sdfg::Node& n : meeting_.body->nodes)
      sdfg::visit(sdfg::Region{{n}}, [&](const sdfg::Node& inner) {
        const auto* loop = std::get_if<Loop>(&inner.value);
        if (loop != nullptr && is_thread(*loop)) has_copies_ = has_copies_ || copied(band_of(*loop));
      });
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
      // Copies into memory that threads share are made together: what is read is on its way while the last of them wait
      // for each other, and, where that is possible, while they compute.
      std::vector<Line> early = copies_from(region, k);
      if (early.empty()) {
        node(region.nodes[k]);
        continue;
      }
      const std::size_t behind = k + early.size();
      const bool ahead = are_early(region, k, early);
      const auto touched = [&](std::size_t c) { return accesses(region.nodes[k + c]); };
      for (std::size_t c = 0; c < early.size(); ++c) {
        meet({.read = touched(c).read, .written = {}});
        early[c].load();
        if (planted(Fault::gpu_stored_early)) early[c].store();
      }
      if (ahead) node(region.nodes[behind]);
      for (std::size_t c = 0; c < early.size(); ++c) {
        meet({.read = {}, .written = touched(c).written});
        early[c].store();
      }
      k = ahead ? behind : behind - 1;
    }
  }

  // The copies into memory that threads share, from here on, that do not know of each other.
  std::vector<Line> copies_from(const sdfg::Region& region, std::size_t from) const {
    std::vector<Line> copies;
    std::int64_t registers = 0;
    for (std::size_t at = from; at < region.nodes.size(); ++at) {
      const auto* loop = std::get_if<Loop>(&region.nodes[at].value);
      if (loop == nullptr || !is_thread(*loop)) break;
      const Band band = band_of(*loop);
      const auto trips = band.trips();
      if (!trips || copied(band)) break;
      Line line(printer_, meeting_, band, *trips);
      registers += line.can_part() ? line.registers() : 0;
      if (!line.can_part() || registers > free_registers(expressions_.sdfg(), meeting_)) break;
      if (!apart(region, from, at)) break;
      copies.push_back(std::move(line));
    }
    return copies;
  }

  // Whether the node conflicts with none of those before it.
  bool apart(const sdfg::Region& region, std::size_t from, std::size_t at) const {
    for (std::size_t one = from; one < at; ++one)
      if (conflict(accesses(region.nodes[one]), accesses(region.nodes[at]))) return false;
    return true;
  }

  // Whether what follows the copies can run between their loads and their stores: neither knows of the other.
  bool are_early(const sdfg::Region& region, std::size_t from, const std::vector<Line>& copies) const {
    const std::size_t behind = from + copies.size();
    return behind < region.nodes.size() && apart(region, from, behind);
  }

  void node(const sdfg::Node& node) {
    match(
        node.value, [](const sdfg::State&) {},
        [&](const Loop& loop) {
          if (is_thread(loop)) return threads(loop);
          // It may have none: then what was touched ahead of it is met behind it.
          const bool runs = (loop.end - loop.begin).constant().value_or(0) * loop.step > 0;
          Accesses before = runs ? Accesses{} : since_;
          // Its iterations follow each other.
          for (const sdfg::Node& n : loop.body.nodes) since_.add(accesses(n));
          since_.forget_buffers();
          printer_.body_instead = [&](const Loop& l) {
            printer_.body_instead = nullptr;
            alike(l.body);
          };
          printer_.plain_loop(loop);
          if (!planted(Fault::gpu_loop_always_runs)) since_.add(before);
          since_.forget_buffers();
        },
        [&](const sdfg::If& branch) {
          const Accesses before = since_;
          printer_.out.open("if (" + printer_.condition(branch.condition).text + ")");
          alike(branch.then_body);
          Accesses then = std::exchange(since_, before);
          if (!branch.else_body.nodes.empty()) {
            printer_.out.otherwise();
            alike(branch.else_body);
          }
          printer_.out.close();
          since_.add(then);
        },
        [](const sdfg::While&) {});
  }

  // With the others, if this may not be touched before they are here.
  void meet(const Accesses& next) {
    if (conflict(next, since_)) {
      if (has_copies_ && !planted(Fault::gpu_copies_not_awaited)) printer_.out.line("sous::gpu::copies_are_there();");
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
      const bool first_alone = meeting_.lines > 1 && !planted(Fault::gpu_lines_sum_too);
      if (first_alone) printer_.out.open("if (threadIdx.y == 0)");
      own_iterations(band);
      if (first_alone) printer_.out.close();
    } else if (trips && copied(band)) {
      Line(printer_, meeting_, band, *trips, Line::Through::Nothing).copies();
    } else if (trips) {
      Line(printer_, meeting_, band, *trips).all();
    } else {
      in_dimensions(band);
    }
    printer_.out.close();
  }

  // Copies that the device makes by itself leave registers to products in the matrix unit, which computes meanwhile,
  // and are on their way while few threads of a block sum. Where all threads compute, values that pass through their
  // registers are there earlier.
  bool copied(const Band& band) const {
    return (in_matrix_ || meeting_.lines > 1) && !(band.trips() == meeting_.threads) &&
           copies_alone(expressions_.sdfg(), meeting_, band);
  }

  void own_iterations(const Band& band) {
    const auto product = matrix_product(expressions_.sdfg(), meeting_, band, expressions_.contracts);
    if (product) {
      printer_.out.open("if (sous::gpu::has_matrix_unit)");
      print_matrix_product(printer_, *product, at_, [&](const Loop& l, const std::string& thread) {
        return place_in_matrix(static_cast<std::size_t>(dimension_of(l)), thread);
      });
      printer_.out.otherwise();
    }
    print_each(
        printer_, band, [&](const Loop& l) { return places_[static_cast<std::size_t>(dimension_of(l))]; },
        [&] { printer_.region(*band.body); });
    if (product) printer_.out.close();
  }

  // Of a thread with that number, where a warp is as the matrix unit wants it.
  std::string place_in_matrix(std::size_t dimension, const std::string& thread) const {
    if (dimension == 2) return "0";
    const std::string warps = std::to_string(meeting_.threads[0] / warp_columns);
    return "static_cast<int64_t>(" +
           (dimension == 0 ? thread + " % 4 + " + thread + " / 32 % " + warps + " * 4"
                           : thread + " % 32 / 4 + " + thread + " / 32 / " + warps + " * 8") +
           ")";
  }

  // A thread's own iteration. Where threads have tiles in two dimensions, a warp is 4 by 8 of them, neighbours in its
  // line one below the other and then side by side: half a warp then asks shared memory for 2 rows' and 8 columns'
  // values, and two lanes that are 1 or 2 apart always for the same one, which 16 lanes get in one access of 16 bytes.
  // Where the matrix unit has part, it is 8 by 4 of them.
  void name_places() {
    for (std::size_t d = 0; d < places_.size(); ++d)
      places_[d] = "static_cast<int64_t>(threadIdx." + std::string(dimension_names[d]) + ")";
    const auto& [across, down, deep] = meeting_.threads;
    if (!in_matrix_ && (meeting_.own.empty() || across % 8 != 0 || down % 4 != 0 || deep != 1)) return;
    const std::string at = at_ = expressions_.names().fresh("at"), warps = std::to_string(across / 8);
    printer_.out.line("const unsigned " + at + " = threadIdx.x + " + std::to_string(across) + " * threadIdx.y;");
    if (in_matrix_) {
      for (const std::size_t d : {std::size_t{0}, std::size_t{1}}) places_[d] = place_in_matrix(d, at);
      return;
    }
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
    print_strided(
        printer_, band.loops, own_thread, "blockDim", [](const Loop&) { return OnlyIteration{}; },
        [&] { printer_.region(*band.body); });
    if (!others.empty()) printer_.out.close();
  }

  Printer& printer_;
  Expressions& expressions_;
  const Meeting& meeting_;
  Accesses since_;  // by threads, since the last barrier
  std::array<std::string, 3> places_;
  bool in_matrix_ = false, has_copies_ = false;
  std::string at_;  // the identifier of a thread's number, where it has one
};

}  // namespace

std::string own_thread(const Loop& loop) {
  return "threadIdx." + std::string(dimension_names[static_cast<std::size_t>(dimension_of(loop))]);
}

void print_strided(Printer& printer, const std::vector<const Loop*>& loops,
                   const std::function<std::string(const Loop&)>& own, const std::string& all,
                   const std::function<OnlyIteration(const Loop&)>& only, const std::function<void()>& inside,
                   std::size_t at) {
  if (at == loops.size()) return inside();
  Expressions& expressions = printer.expressions;
  const Loop& l = *loops[at];
  const OnlyIteration one = only(l);
  const std::string variable = expressions.names().of(l.symbol);
  const std::string dimension = "." + std::string(dimension_names[static_cast<std::size_t>(dimension_of(l))]);
  const auto times = [&](const std::string& value) {
    return l.step == 1 ? value : value + " * " + std::to_string(l.step);
  };
  const auto index = [&](const std::string& what) { return "static_cast<int64_t>(" + what + ")"; };
  const auto condition = [&](const Expr& end) {
    return Printer::condition(variable, l, printer.bound(end, variable + "_end"));
  };
  const std::string from = times(one.number.empty() ? index(own(l)) : one.number);
  const Text begin = expressions.index(l.begin);
  const std::string first = planted(Fault::thread_off_by_one) && is_thread(l)
                                ? begin.in(Binding::Sum) + " + 1 + " + from
                                : begin.in(Binding::Sum) + " + " + from;
  const std::string value = l.begin == Expr(0) && first.starts_with("0 + ") ? first.substr(4) : first;
  const bool asks = one.number.empty() || one.end;
  if (one.number.empty()) {
    const std::string below = condition(l.end);
    printer.out.open("for (int64_t " + variable + " = " + value + "; " + below + "; " + variable +
                     " += " + times(index(all + dimension)) + ")");
  } else {
    printer.out.line("const int64_t " + variable + " = " + value + ";");
    if (asks) printer.out.open("if (" + condition(*one.end) + ")");
  }
  expressions.enter(l);
  printer.declare(l.symbol);
  print_strided(printer, loops, own, all, only, inside, at + 1);
  expressions.leave(l);
  if (asks) printer.out.close();
}

void print_meeting(Printer& printer, const Meeting& meeting) { MeetingPrinter(printer, meeting).run(); }

}  // namespace sous::targets
