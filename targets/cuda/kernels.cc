#include "targets/cuda/kernels.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "sdfg/extremes.h"
#include "sdfg/planted_fault.h"
#include "sdfg/trips.h"
#include "targets/cpp/caller.h"
#include "targets/cuda/block.h"
#include "targets/cuda/held.h"
#include "targets/cuda/line.h"
#include "targets/cuda/matrix.h"
#include "targets/cuda/neighbours.h"
#include "targets/cuda/placement.h"
#include "targets/cuda/threads.h"

namespace sous::targets {
namespace {

using sdfg::Expr;
using sdfg::Loop;

// Where it is not known how many threads find work, or how many blocks.
constexpr std::int64_t usual_threads = 128;
constexpr const char* usual_blocks = "1024";
// The first line of every kernel (targets/runtime/gpu.h).
constexpr const char* begin_kernel = "sous::gpu::begin_kernel();";

// Any number is right, as the loops over threads stride by it; this many have work to do.
Threads threads_of(const Kernel& kernel) {
  if (kernel.meeting) return kernel.meeting->launched();
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

// What `e` never exceeds (`largest`), or never falls below, in the loops around it in the kernel; nullopt: that is not
// known.
std::optional<Expr> over_all(Expr e, bool largest, const std::vector<const Loop*>& around) {
  for (auto l = around.rbegin(); l != around.rend(); ++l) {
    const Loop& loop = **l;
    if (!e.uses(loop.symbol)) continue;
    const bool up = loop.step > 0;
    const sdfg::Extremes values =
        up ? sdfg::Extremes{loop.begin, loop.end - Expr(1)} : sdfg::Extremes{loop.end + Expr(1), loop.begin};
    const auto bound = sdfg::extreme(e, largest, {{loop.symbol, values}}, sdfg::Signs::Unknown);
    if (!bound) return std::nullopt;
    e = *bound;
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
    std::string parameters = "sous::gpu::First" + (first_.empty() ? "" : " " + first_), arguments;
    for (const auto& [name, parameter] : needed(what, expressions_.used())) {
      parameters += ", " + parameter;
      arguments += ", " + name;
    }
    printer_.kernels +=
        "static __global__ void " + launch_bounds(threads) + name_ + "(" + parameters + ") {\n" + text + "}\n\n";
    std::string size;
    for (const std::int64_t t : threads) size += (size.empty() ? "" : ", ") + std::to_string(t);
    expressions_.used().merge(used_before);
    expressions_.used().insert(printer_.run);
    if (meeting_ && has_matrix_product(expressions_.sdfg(), *meeting_, printer_.options().contract))
      printer_.run_with = ", sous::gpu::InMatrixUnit{}";
    printer_.out.line(printer_.run + (meeting_ ? ".launch_meeting(" : ".launch(") + name_ + ", sous::gpu::blocks(" +
                      blocks + "), dim3{" + size + "}" + arguments + ");");
  }

  void kernel(const Kernel& kernel, const Threads& threads) {
    meeting_ = kernel.meeting;
    printer_.out.line(begin_kernel);
    const auto own = own_block(kernel);
    const auto block = [&](const Loop& l) { return only_block(l, own(l)); };
    const auto thread = [&](const Loop& l) { return only_thread(l, threads); };
    Held held(printer_, *kernel.blocks[0]);
    printer_.loop_instead = [&](const Loop& l) { return held.print(l) || print_neighbours(printer_, l); };
    print_strided(printer_, kernel.blocks, own, "gridDim", block, [&] {
      if (meeting_) return print_meeting(printer_, *meeting_);
      print_strided(printer_, kernel.threads, own_thread, "blockDim", thread, [&] { printer_.region(*kernel.body); });
    });
    printer_.loop_instead = nullptr;
  }

  std::string blocks(const Kernel& kernel) {
    std::array<std::string, 3> sizes{"1", "1", "1"};
    std::vector<const Loop*> around;
    for (const Loop* l : kernel.blocks) {
      const bool up = l->step > 0;
      const auto begin = over_all(l->begin, !up, around), end = over_all(l->end, up, around);
      const auto is_known = [&](const std::optional<Expr>& e) { return e && e->is_valid() && host_knows(*e); };
      const bool known = is_known(begin) && is_known(end);
      if (known) has_all_[l->symbol] = {*begin, *end};
      std::string& size = sizes[static_cast<std::size_t>(dimension_of(*l))];
      size = known ? "sous::gpu::trips(" + expressions_.index(*begin).text + ", " + expressions_.index(*end).text +
                         ", " + std::to_string(l->step) + ")"
                   : usual_blocks;
      // Where it begins elsewhere in each block of a loop around, all of these together have more than any of them.
      const bool moves = std::ranges::any_of(around, [&](const Loop* a) { return l->begin.uses(a->symbol); });
      if (const auto most = moves ? sdfg::most_trips(*l) : std::nullopt)
        size = "sous::imin(" + size + ", " + std::to_string(*most) + ")";
      around.push_back(l);
    }
    return sizes[0] + ", " + sizes[1] + ", " + sizes[2];
  }

 private:
  // Whether loops inside run the longer the later the block is.
  static bool grows_with(const Kernel& kernel, const std::string& block) {
    bool grows = false;
    std::map<std::string, Expr> first;  // of the block's threads
    const auto thread = [&](const Loop& l) { first[l.symbol] = l.begin.substitute(first); };
    for (const Loop* l : kernel.threads) thread(*l);
    sdfg::visit(*kernel.body, [&](const sdfg::Node& n) {
      const auto* l = std::get_if<Loop>(&n.value);
      if (l == nullptr) return;
      if (is_thread(*l)) return thread(*l);
      if (l->begin.substitute(first).uses(block)) return;
      const auto by = sdfg::coefficient_of(l->end.substitute(first), block);
      grows = grows || (by && by->constant().value_or(0) > 0);
    });
    return grows;
  }

  // Which block a loop over blocks takes for which of the grid's: where later ones have more to do, the grid's first
  // ones do that, so that none is left with it when all others are done.
  static std::function<std::string(const Loop&)> own_block(const Kernel& kernel) {
    return [&kernel](const Loop& l) {
      const std::string dimension(1, "xyz"[dimension_of(l)]);
      if (!grows_with(kernel, l.symbol)) return "blockIdx." + dimension;
      const std::string last = planted(Fault::gpu_first_block_lost) ? "" : " - 1";
      return "gridDim." + dimension + last + " - blockIdx." + dimension;
    };
  }

  // Where the bounds are the same in all blocks, there are as many as there is work for.
  OnlyIteration only_block(const Loop& l, const std::string& own) {
    const auto bounds = has_all_.find(l.symbol);
    if (bounds == has_all_.end()) return {};
    const auto d = static_cast<std::size_t>(dimension_of(l));
    std::string number = "static_cast<int64_t>(" + own + ")";
    if (d > 0 && !planted(Fault::gpu_later_launches_alike)) {
      if (first_.empty()) first_ = expressions_.names().fresh("first");
      number = "(" + first_ + "." + "xyz"[d] + " + " + number + ")";
    }
    const bool all = bounds->second.first == l.begin && bounds->second.second == l.end;
    return {.number = std::move(number), .end = all ? std::nullopt : std::optional(l.end)};
  }

  // What of the end all threads reach anyway is not asked.
  static OnlyIteration only_thread(const Loop& l, const Threads& threads) {
    const auto d = static_cast<std::size_t>(dimension_of(l));
    const auto trips = sdfg::most_trips(l);
    if (!trips || *trips > threads[d]) return {};
    OnlyIteration only{.number = "static_cast<int64_t>(threadIdx." + std::string(1, "xyz"[d]) + ")", .end = l.end};
    if (l.step < 0) return only;
    only.end.reset();
    for (const Expr& piece : sdfg::min_pieces(l.end))
      if ((piece - l.begin).constant().value_or(0) < threads[d] * l.step)
        only.end = only.end ? Expr::min(*only.end, piece) : piece;
    return only;
  }

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

  std::string launch_bounds(const Threads& threads) const {
    const std::int64_t held = meeting_ ? blocks_held(expressions_.sdfg(), *meeting_) : 0;
    return "__launch_bounds__(" + std::to_string(threads[0] * threads[1] * threads[2]) +
           (held > 1 ? ", " + std::to_string(held) : "") + ") ";
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
  // Loops for each of whose iterations there is a block, from where to where.
  std::map<std::string, std::pair<Expr, Expr>> has_all_;
  std::string first_;  // the parameter that says which is the first of a launch, where it is used
};

}  // namespace

void print_kernel(Printer& printer, const Loop& loop) {
  const Kernel kernel = kernel_of(printer.expressions.sdfg(), loop);
  KernelPrinter print(printer);
  const std::string blocks = print.blocks(kernel);
  const Threads threads = threads_of(kernel);
  print.run(sdfg::Region{{sdfg::Node(loop)}}, blocks, threads, [&] { print.kernel(kernel, threads); });
}

bool print_device_region(Printer& printer, const sdfg::Region& region) {
  if (printer.expressions.on_device) return false;
  sdfg::Region alone;
  const auto flush = [&] {
    if (alone.nodes.empty()) return;
    KernelPrinter(printer).run(alone, "1, 1, 1", {1, 1, 1}, [&] {
      printer.out.line(begin_kernel);
      printer.region(alone);
    });
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
