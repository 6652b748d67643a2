#include "targets/cuda/kernels.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>

#include "sdfg/planted_fault.h"
#include "sdfg/trips.h"
#include "targets/cpp/caller.h"
#include "targets/cuda/block.h"
#include "targets/cuda/placement.h"

namespace sous::targets {
namespace {

using sdfg::Expr;
using sdfg::Loop;

constexpr std::array dimension_names{"x", "y", "z"};
// Where it is not known how many threads find work, or how many blocks.
constexpr std::int64_t usual_threads = 128;
constexpr const char* usual_blocks = "1024";

// Any number is right, as the loops over threads stride by it; this many have work to do.
Threads threads_of(const Kernel& kernel) {
  if (kernel.meeting) return kernel.meeting->threads;
  Threads threads{1, 1, 1};
  for (const Loop* l : kernel.threads)
    threads[static_cast<std::size_t>(dimension_of(*l))] =
        std::clamp<std::int64_t>(sdfg::most_trips(*l).value_or(usual_threads), 1, most_threads);
  threads[2] = std::min(threads[2], most_threads_z);
  while (threads[0] * threads[1] * threads[2] > most_threads) {
    auto& largest = *std::ranges::max_element(threads);
    largest = (largest + 1) / 2;
  }
  return threads;
}

// `e` at its extreme at the ends of the loops around it in the kernel.
Expr extreme(Expr e, const std::vector<const Loop*>& around, Expr (*pick)(const Expr&, const Expr&)) {
  for (auto l = around.rbegin(); l != around.rend(); ++l) {
    if (!e.uses((*l)->symbol)) continue;
    const Expr first = e.substitute({{(*l)->symbol, (*l)->begin}});
    const Expr last = e.substitute({{(*l)->symbol, (*l)->end - Expr((*l)->step > 0 ? 1 : -1)}});
    e = pick(first, last);
  }
  return e;
}

class KernelPrinter {
 public:
  explicit KernelPrinter(Printer& printer)
      : printer_(printer), expressions_(printer.expressions), name_(fresh("_kernel")) {}

  // A kernel that runs what `print` prints, and its launch.
  void run(const sdfg::Region& what, const std::string& blocks, const Threads& threads,
           const std::function<void()>& print) {
    Lines host = std::exchange(printer_.out, printer_.out.elsewhere(1));
    std::set<std::string> used_before = std::exchange(expressions_.used(), {});
    expressions_.on_device = true;
    expressions_.contracts = printer_.options().contract;
    print();
    expressions_.on_device = false;
    const std::string text = printer_.out.text();
    printer_.out = std::move(host);
    std::string parameters, arguments;
    for (const auto& [name, parameter] : needed(what, expressions_.used())) {
      parameters += (parameters.empty() ? "" : ", ") + parameter;
      arguments += ", " + name;
    }
    printer_.kernels +=
        "static __global__ void " + launch_bounds(threads) + name_ + "(" + parameters + ") {\n" + text + "}\n\n";
    std::string size;
    for (const std::int64_t t : threads) size += (size.empty() ? "" : ", ") + std::to_string(t);
    expressions_.used().merge(used_before);
    expressions_.used().insert(printer_.run);
    printer_.out.line(printer_.run + (meeting_ ? ".launch_meeting(" : ".launch(") + name_ + ", sous::gpu::blocks(" +
                      blocks + "), dim3{" + size + "}" + arguments + ");");
  }

  void kernel(const Kernel& kernel) {
    meeting_ = kernel.meeting;
    print_loops(kernel.blocks, "blockIdx", "gridDim", [&] {
      if (!meeting_)
        return print_loops(kernel.threads, "threadIdx", "blockDim", [&] { printer_.region(*kernel.body); });
      // A block may run several iterations of the loops over blocks, one after the other.
      since_ = shared_of(sdfg::touched(*kernel.body));
      alike(*kernel.body);
    });
  }

  std::string blocks(const Kernel& kernel) const {
    std::array<std::string, 3> sizes{"1", "1", "1"};
    std::vector<const Loop*> around;
    for (const Loop* l : kernel.blocks) {
      const bool up = l->step > 0;
      const Expr begin = extreme(l->begin, around, up ? Expr::min : Expr::max);
      const Expr end = extreme(l->end, around, up ? Expr::max : Expr::min);
      const bool known = begin.is_valid() && end.is_valid() && host_knows(begin) && host_knows(end);
      sizes[static_cast<std::size_t>(dimension_of(*l))] = known ? "sous::gpu::trips(" + expressions_.index(begin).text +
                                                                      ", " + expressions_.index(end).text + ", " +
                                                                      std::to_string(l->step) + ")"
                                                                : usual_blocks;
      around.push_back(l);
    }
    return sizes[0] + ", " + sizes[1] + ", " + sizes[2];
  }

 private:
  std::string fresh(const std::string& suffix) const {
    return printer_.expressions.names().fresh(printer_.options().function + suffix);
  }

  bool host_knows(const Expr& e) const {
    const std::set<std::string> written = sdfg::touched(expressions_.sdfg().root).written;
    return std::ranges::all_of(e.reads(), [&](const std::string& read) {
      const sdfg::Container& c = expressions_.container(read);
      return !c.transient && passed_by_value(c, written);
    });
  }

  // Loops whose iterations are shared out: each block, or thread, strides from its own by the number of all.
  void print_loops(const std::vector<const Loop*>& loops, const std::string& own, const std::string& all,
                   const std::function<void()>& inside, std::size_t at = 0) {
    if (at == loops.size()) return inside();
    const Loop& l = *loops[at];
    const std::string variable = expressions_.names().of(l.symbol);
    const std::string dimension = dimension_names[static_cast<std::size_t>(dimension_of(l))];
    const std::string end = printer_.bound(l.end, variable + "_end");
    const auto times = [&](const std::string& what) {
      const std::string value = "static_cast<int64_t>(" + what + "." + dimension + ")";
      return l.step == 1 ? value : value + " * " + std::to_string(l.step);
    };
    const Text begin = expressions_.index(l.begin);
    const std::string first = planted(Fault::thread_off_by_one) && own == "threadIdx"
                                  ? begin.in(Binding::Sum) + " + 1 + " + times(own)
                                  : begin.in(Binding::Sum) + " + " + times(own);
    printer_.out.open("for (int64_t " + variable + " = " +
                      (l.begin == Expr(0) && first.starts_with("0 + ") ? first.substr(4) : first) + "; " +
                      Printer::condition(variable, l, end) + "; " + variable + " += " + times(all) + ")");
    expressions_.enter(l);
    printer_.declare(l.symbol);
    print_loops(loops, own, all, inside, at + 1);
    expressions_.leave(l);
    printer_.out.close();
  }

  // --- Where threads meet
  static std::string launch_bounds(const Threads& threads) {
    return "__launch_bounds__(" + std::to_string(threads[0] * threads[1] * threads[2]) + ") ";
  }

  // What threads may see of each other.
  sdfg::Touched shared_of(sdfg::Touched touched) const {
    for (const std::string& own : meeting_->own) {
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
    if (trips && *trips == meeting_->threads) {
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
  void each(const Band& band, const std::function<std::string(const Loop&)>& place, const std::function<void()>& inside,
            std::size_t at = 0) {
    if (at == band.loops.size()) return inside();
    const Loop& l = *band.loops[at];
    const std::string variable = expressions_.names().of(l.symbol);
    const std::string end = printer_.bound(l.end, variable + "_end");
    printer_.out.line("const int64_t " + variable + " = " + expressions_.index(l.begin).in(Binding::Sum) + " + " +
                      place(l) + (l.step == 1 ? "" : " * " + std::to_string(l.step)) + ";");
    const auto most = sdfg::most_trips(l);
    const bool all = most && l.end - l.begin == Expr(*most * l.step);
    if (!all) printer_.out.open("if (" + Printer::condition(variable, l, end) + ")");
    expressions_.enter(l);
    printer_.declare(l.symbol);
    each(band, place, inside, at + 1);
    expressions_.leave(l);
    if (!all) printer_.out.close();
  }

  // How many values a thread may load before it stores any, beside what it keeps in registers.
  std::int64_t most_at_once() const {
    constexpr std::int64_t registers = 192, for_each = 8;  // of 255; a value, its address and its condition
    std::int64_t kept = 0;
    for (const std::string& name : meeting_->own) {
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
    const Threads& all = meeting_->threads;
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
    const auto turns_of = [&](const std::function<void()>& inside) {
      printer_.out.line("SOUS_UNROLLED");
      printer_.out.open("for (unsigned " + turn + " = 0; " + turn + " < " + std::to_string(once) + "; ++" + turn + ")");
      printer_.out.line("const unsigned " + at + " = " + first + " + " + turn + " * " + std::to_string(count) + ";");
      if (partial) printer_.out.open("if (" + at + " < " + std::to_string(work) + ")");
      each(band, place, inside);
      if (partial) printer_.out.close();
      printer_.out.close();
    };
    printer_.out.open("for (unsigned " + first + " = threadIdx.x + " + std::to_string(all[0]) + " * (threadIdx.y + " +
                      std::to_string(all[1]) + " * threadIdx.z); " + first + " < " + std::to_string(work) + "; " +
                      first + " += " + std::to_string(once * count) + ")");
    const auto* state = band.body->nodes.size() == 1 ? std::get_if<sdfg::State>(&band.body->nodes[0].value) : nullptr;
    const auto assignment = state != nullptr ? sdfg::as_assignment(*state) : std::nullopt;
    if (!assignment || assignment->out.combine || once == 1) {
      turns_of([&] { printer_.region(*band.body); });
    } else {
      printer_.out.line(std::string(sdfg::info(assignment->code.type).cpp) + " " + value + "[" + std::to_string(once) +
                        "];");
      std::vector<const sdfg::Memlet*> inputs;
      for (const sdfg::Memlet& m : assignment->inputs) inputs.push_back(&m);
      const std::string own = value + "[" + turn + "] = ";
      turns_of([&] { printer_.out.line(own + expressions_.scalar(assignment->code, inputs).text + ";"); });
      turns_of(
          [&] { printer_.out.line(expressions_.element(assignment->out).text + " = " + value + "[" + turn + "];"); });
    }
    printer_.out.close();
  }

  // Where nobody knows how many iterations there are: threads stride, those alone that differ in its dimensions.
  void in_dimensions(const Band& band) {
    std::string others;
    for (std::size_t d = 0; d < dimension_names.size(); ++d)
      if (std::ranges::none_of(band.loops, [&](const Loop* l) { return dimension_of(*l) == static_cast<int>(d); }))
        others += (others.empty() ? "" : " && ") + ("threadIdx." + std::string(dimension_names[d])) + " == 0";
    if (!others.empty()) printer_.out.open("if (" + others + ")");
    print_loops(band.loops, "threadIdx", "blockDim", [&] { printer_.region(*band.body); });
    if (!others.empty()) printer_.out.close();
  }

  // What is used of what the host has: name and parameter.
  std::vector<std::pair<std::string, std::string>> needed(const sdfg::Region& what,
                                                          const std::set<std::string>& used) const {
    std::vector<std::pair<std::string, std::string>> result;
    Names& names = expressions_.names();
    const std::set<std::string> written_here = sdfg::touched(what).written;
    const std::set<std::string> written = sdfg::touched(expressions_.sdfg().root).written;
    const auto add = [&](const std::string& name, const std::string& type) {
      if (used.contains(name)) result.emplace_back(name, type + name);
    };
    const auto pointer = [&](const sdfg::Container& c) {
      const std::string type(sdfg::info(c.type).cpp);
      add(names.of(c.name), (written_here.contains(c.name) ? "" : "const ") + type + "* __restrict ");
    };
    for (const std::string& argument : expressions_.sdfg().arguments) {
      const sdfg::Container* c = expressions_.sdfg().find(argument);
      if (c == nullptr) {
        add(names.of(argument), "int64_t ");
      } else if (passed_by_value(*c, written)) {
        add(names.of(argument), std::string(sdfg::info(c->type).cpp) + " ");
      } else {
        pointer(*c);
      }
    }
    for (const std::string& symbol : expressions_.entered()) add(names.of(symbol), "int64_t ");
    for (const Transient& t : printer_.transients())
      if (t.heap) pointer(expressions_.container(t.container));
    return result;
  }

  Printer& printer_;
  Expressions& expressions_;
  const std::string name_;
  std::optional<Meeting> meeting_;
  sdfg::Touched since_;  // touched by threads since the last barrier
};

}  // namespace

void print_kernel(Printer& printer, const Loop& loop) {
  const Kernel kernel = kernel_of(printer.expressions.sdfg(), loop);
  KernelPrinter print(printer);
  const std::string blocks = print.blocks(kernel);
  print.run(sdfg::Region{{sdfg::Node(loop)}}, blocks, threads_of(kernel), [&] { print.kernel(kernel); });
}

bool print_device_region(Printer& printer, const sdfg::Region& region) {
  if (printer.expressions.on_device) return false;
  sdfg::Region alone;
  const auto flush = [&] {
    if (alone.nodes.empty()) return;
    KernelPrinter(printer).run(alone, "1, 1, 1", {1, 1, 1}, [&] { printer.region(alone); });
    alone.nodes.clear();
  };
  for (const sdfg::Node& n : region.nodes) {
    if (!has_kernel(n)) {
      alone.nodes.push_back(n);
      continue;
    }
    flush();
    printer.node(n);
  }
  flush();
  return true;
}

}  // namespace sous::targets
