#include "targets/cuda/placement.h"

#include <algorithm>
#include <functional>

#include "sdfg/mathematics.h"
#include "sdfg/planted_fault.h"
#include "sdfg/written.h"
#include "targets/cpp/caller.h"

namespace sous::targets {
namespace {

using sdfg::Container;
using sdfg::Loop;
using sdfg::Node;
using sdfg::Region;
using sdfg::ScalarOp;
using sdfg::Sdfg;

// Of one thread: what all threads of a GPU have together is taken from its memory whether they run or not.
constexpr std::int64_t most_thread_bytes = 4096;

Error unsupported(const std::string& why, const std::string& where) { return {"target.unsupported", why, where}; }

// Functions that CUDA rounds as C libraries do: exact, or correctly rounded by IEEE 754.
bool same_everywhere(ScalarOp op) {
  switch (op) {
    case ScalarOp::fabs:
    case ScalarOp::sqrt:
    case ScalarOp::floor:
    case ScalarOp::ceil:
    case ScalarOp::trunc:
    case ScalarOp::round:
    case ScalarOp::rint:
    case ScalarOp::fmod:
    case ScalarOp::copysign:
    case ScalarOp::fma:
      return true;
    default:
      return !sdfg::info(op).is_math;
  }
}

Result<void> check_mathematics(const Sdfg& sdfg, const EmitOptions& options) {
  std::optional<Error> error;
  sdfg::for_each_code(sdfg.root, [&](const sdfg::ScalarExpr& code) {
    if (error) return;
    if (options.math_errno && sdfg::sets_errno(code)) {
      error = {"target.errno", "a function may set errno, which a GPU has not (-fno-math-errno)", ""};
      return;
    }
    code.visit([&](const sdfg::ScalarExpr& e) {
      if (!error && !options.approximate_math && !same_everywhere(e.op))
        error = {"target.math", "CUDA rounds " + std::string(sdfg::info(e.op).name) + " otherwise than the C library",
                 ""};
    });
  });
  if (error) return std::unexpected(*error);
  return {};
}

// Arrays that may be the same memory are two on the device.
Result<void> check_aliases(const Sdfg& sdfg) {
  const std::set<std::string> written = sdfg::touched(sdfg.root).written;
  for (const Container& a : sdfg.containers) {
    for (const Container& b : sdfg.containers) {
      if (a.name == b.name || a.alias_class == 0 || a.alias_class != b.alias_class || !written.contains(a.name))
        continue;
      const bool checked = std::ranges::any_of(sdfg.disjoint, [&](const auto& pair) {
        return pair == std::pair(a.name, b.name) || pair == std::pair(b.name, a.name);
      });
      if (!checked) return std::unexpected(unsupported("'" + a.name + "' and '" + b.name + "' may overlap", a.name));
    }
  }
  return {};
}

// What is around kernels runs on the host, which does not see what they have computed.
class HostChecker {
 public:
  explicit HostChecker(const Sdfg& sdfg) : sdfg_(sdfg), written_(sdfg::touched(sdfg.root).written) {}

  Result<void> region(const Region& region) {
    for (const Node& n : region.nodes)
      if (has_kernel(n)) TRY_VOID(node(n));
    return {};
  }

 private:
  Result<void> node(const Node& n) {
    return match(
        n.value, [](const sdfg::State&) -> Result<void> { return {}; },
        [&](const Loop& loop) -> Result<void> {
          if (is_grid(loop)) return kernel(loop);
          TRY_VOID(known(loop.begin, "loop " + loop.symbol));
          TRY_VOID(known(loop.end, "loop " + loop.symbol));
          return region(loop.body);
        },
        [&](const sdfg::If& branch) -> Result<void> {
          TRY_VOID(known(branch.condition));
          TRY_VOID(region(branch.then_body));
          return region(branch.else_body);
        },
        [&](const sdfg::While& loop) -> Result<void> {
          TRY_VOID(known(loop.condition));
          return region(loop.body);
        });
  }

  Result<void> kernel(const Loop& loop) {
    const Kernel k = kernel_of(sdfg_, loop);
    if (k.meeting) return check_meeting(sdfg_, *k.meeting);
    for (const Loop* l : k.blocks)
      for (const std::string& name : l->privates)
        if (sdfg_.find(name)->storage == sdfg::Storage::device_shared)
          return std::unexpected(unsupported("threads that never meet share '" + name + "'", name));
    for (const auto* loops : {&k.blocks, &k.threads})
      for (const Loop* l : *loops)
        if (!l->reductions.empty()) return std::unexpected(unsupported("a reduction by threads of a GPU", l->symbol));
    std::optional<Error> error;
    sdfg::visit(*k.body, [&](const Node& n) {
      const auto* l = std::get_if<Loop>(&n.value);
      if (l != nullptr && (is_grid(*l) || is_thread(*l)))
        error = unsupported("loops over blocks and threads that are not each the only thing inside the one before",
                            l->symbol);
    });
    if (error) return std::unexpected(*error);
    return {};
  }

  bool is_known(const std::string& container) const {
    const Container* c = sdfg_.find(container);
    return c != nullptr && !c->transient && passed_by_value(*c, written_);
  }
  Result<void> known(const sdfg::Expr& e, const std::string& where) const {
    for (const std::string& read : e.reads())
      if (!is_known(read))
        return std::unexpected(unsupported("'" + read + "' decides between kernels, and is on the device", where));
    return {};
  }
  Result<void> known(const sdfg::Condition& condition) const {
    for (const sdfg::Memlet& m : condition.inputs)
      if (!is_known(m.container))
        return std::unexpected(
            unsupported("'" + m.container + "' decides between kernels, and is on the device", "a condition"));
    return {};
  }

  const Sdfg& sdfg_;
  const std::set<std::string> written_;
};

// The loops that run on the device, by symbol: whether they are a kernel's own, or of what one thread runs beside
// those.
std::map<std::string, bool> device_loops(const Region& region) {
  std::map<std::string, bool> in_kernel;
  const std::function<void(const Region&, bool)> look = [&](const Region& r, bool inside) {
    for (const Node& n : r.nodes) {
      match(
          n.value, [](const sdfg::State&) {},
          [&](const Loop& loop) {
            const bool kernel = inside || is_grid(loop);
            if (kernel || !has_kernel(n)) in_kernel[loop.symbol] = kernel;
            look(loop.body, kernel);
          },
          [&](const sdfg::If& branch) {
            look(branch.then_body, inside);
            look(branch.else_body, inside);
          },
          [&](const sdfg::While& loop) { look(loop.body, inside); });
    }
  };
  look(region, false);
  return in_kernel;
}

}  // namespace

Kernel kernel_of(const Sdfg& sdfg, const Loop& loop) {
  Kernel kernel;
  kernel.meeting = meeting_of(sdfg, loop);
  if (kernel.meeting) {
    kernel.blocks = kernel.meeting->blocks;
    kernel.body = kernel.meeting->body;
    return kernel;
  }
  const Loop* at = &loop;
  while (true) {
    (is_grid(*at) ? kernel.blocks : kernel.threads).push_back(at);
    kernel.body = &at->body;
    if (at->body.nodes.size() != 1) break;
    const auto* next = std::get_if<Loop>(&at->body.nodes[0].value);
    if (next == nullptr || !(is_thread(*next) || (is_grid(*next) && kernel.threads.empty()))) break;
    at = next;
  }
  return kernel;
}

bool has_kernel(const Node& node) {
  bool found = false;
  sdfg::visit(Region{{node}}, [&](const Node& n) {
    const auto* loop = std::get_if<Loop>(&n.value);
    found = found || (loop != nullptr && is_grid(*loop));
  });
  return found;
}

Result<void> runs_on_gpu(const Sdfg& sdfg, const EmitOptions& options) {
  TRY_VOID(check_mathematics(sdfg, options));
  TRY_VOID(check_aliases(sdfg));
  return HostChecker(sdfg).region(sdfg.root);
}

namespace {

// With what is known of its symbols.
Sdfg as_called(Sdfg sdfg, const EmitOptions& options) {
  for (const auto& [symbol, value] : options.known) {
    if (!sdfg.has_symbol(symbol)) continue;
    sdfg.assumptions.push_back(sdfg::Expr::symbol(symbol) - value);
    sdfg.assumptions.push_back(sdfg::Expr(value) - sdfg::Expr::symbol(symbol));
  }
  return sdfg;
}

}  // namespace

std::map<std::string, std::string> device_arrays(const Sdfg& sdfg, const EmitOptions& options) {
  std::map<std::string, std::string> uses;
  const sdfg::Touched touched = sdfg::touched(sdfg.root);
  const sdfg::Sdfg called = as_called(sdfg, options);
  std::set<std::string> whole = sdfg::written_whole(called);
  std::optional<sdfg::Sdfg> original;
  if (options.original != nullptr) {
    original = as_called(*options.original, options);
    whole.merge(sdfg::written_whole(*original));
  }
  for (const Container& c : sdfg.containers) {
    const bool read = touched.read.contains(c.name), written = touched.written.contains(c.name);
    if (c.transient || (!read && !written) || passed_by_value(c, touched.written)) continue;
    std::vector<std::string_view> use;
    const bool exposed = read && !(written && (sdfg::reads_only_its_own(called, c.name) ||
                                               (original && sdfg::reads_only_its_own(*original, c.name))));
    if (exposed && !planted(Fault::transfer_to_device_lost)) use.emplace_back("sous::gpu::reads");
    if (written) use.emplace_back(c.dead ? "sous::gpu::changes" : "sous::gpu::writes");
    // Between rows that are apart there is what the nest does not write.
    const bool dense = c.strides == sdfg::row_major(c.shape);
    if ((dense && whole.contains(c.name)) || planted(Fault::part_taken_for_whole)) use.emplace_back("sous::gpu::whole");
    std::string text;
    for (const std::string_view word : use) text += (text.empty() ? "" : " | ") + std::string(word);
    uses[c.name] = text.empty() ? "0" : text;
  }
  return uses;
}

Result<std::vector<Transient>> device_transients(const Sdfg& sdfg) {
  TRY(std::vector<Transient> transients, plan_transients(sdfg, false));
  // Steps leave what they have moved all uses of.
  const sdfg::Touched touched = sdfg::touched(sdfg.root);
  std::erase_if(transients, [&](const Transient& t) {
    return !touched.read.contains(t.container) && !touched.written.contains(t.container);
  });
  const std::map<std::string, bool> on_device = device_loops(sdfg.root);
  for (Transient& t : transients) {
    const Container& c = *sdfg.find(t.container);
    const auto owner = on_device.find(t.owner);
    const auto elements = c.shape.empty() ? 1 : t.elements.constant();
    if (c.storage == sdfg::Storage::device_shared && !t.heap) continue;
    const bool small = !t.heap && elements && *elements <= most_thread_bytes / sdfg::info(c.type).bytes;
    if (owner != on_device.end() && small) continue;
    if (owner != on_device.end() && owner->second)
      return std::unexpected(
          unsupported("'" + t.container + "' is too large for each thread to have its own", t.container));
    // Kernels see no variable of the host.
    t.heap = true;
    if (c.shape.empty()) t.elements = 1;
  }
  return transients;
}

}  // namespace sous::targets
