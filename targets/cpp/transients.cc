#include "targets/cpp/transients.h"

#include <set>

#include "sdfg/planted_fault.h"

namespace sous::targets {
namespace {

struct Owner {
  std::string loop;
  bool per_thread = false;
  int threads = 0;
};

void find_owners(const sdfg::Region& region, bool parallel, Owner around, std::map<std::string, Owner>& owners) {
  for (const sdfg::Node& node : region.nodes) {
    match(
        node.value, [](const sdfg::State&) {},
        [&](const sdfg::Loop& loop) {
          Owner inside = around;
          inside.loop = loop.symbol;
          if (const auto* p = std::get_if<sdfg::Parallel>(&loop.schedule); p && parallel && !around.per_thread) {
            inside.per_thread = true;
            inside.threads = p->threads;
          }
          for (const std::string& name : loop.privates)
            if (!planted(Fault::private_shared)) owners[name] = inside;
          find_owners(loop.body, parallel, inside, owners);
        },
        [&](const sdfg::If& branch) {
          find_owners(branch.then_body, parallel, around, owners);
          find_owners(branch.else_body, parallel, around, owners);
        },
        [&](const sdfg::While& loop) { find_owners(loop.body, parallel, around, owners); });
  }
}

}  // namespace

Result<std::vector<Transient>> plan_transients(const sdfg::Sdfg& sdfg, bool parallel) {
  std::map<std::string, Owner> owners;
  find_owners(sdfg.root, parallel, {}, owners);
  const std::set<std::string> parameters(sdfg.symbols.begin(), sdfg.symbols.end());
  const std::set<std::string> written = sdfg::touched(sdfg.root).written;
  std::vector<Transient> result;
  for (const sdfg::Container& c : sdfg.containers) {
    if (!c.transient) continue;
    Transient t;
    t.container = c.name;
    if (const auto owner = owners.find(c.name); owner != owners.end()) {
      t.owner = owner->second.loop;
      t.per_thread = owner->second.per_thread;
      t.threads = owner->second.threads;
    }
    if (!c.shape.empty()) {
      t.elements = c.offset + sdfg::Expr(1);
      for (std::size_t d = 0; d < c.shape.size(); ++d) {
        t.elements = t.elements + (c.shape[d] - sdfg::Expr(1)) * c.strides[d];
      }
      const auto count = t.elements.constant();
      t.heap = c.storage == sdfg::Storage::heap || !count || *count > max_stack_bytes / sdfg::info(c.type).bytes;
      if (t.heap) {
        for (const std::string& symbol : t.elements.symbols()) {
          if (!parameters.contains(symbol)) {
            return fail("target.unsupported", "the size of '" + c.name + "' depends on the loop '" + symbol + "'",
                        c.name);
          }
        }
        for (const std::string& read : t.elements.reads()) {
          if (written.contains(read)) {
            return fail("target.unsupported",
                        "the size of '" + c.name + "' depends on '" + read + "', which is written", c.name);
          }
        }
      }
    }
    t.per_thread = t.per_thread && t.heap;
    result.push_back(std::move(t));
  }
  return result;
}

}  // namespace sous::targets
