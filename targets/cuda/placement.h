// What of a graph a GPU can run, and where its data is while it does.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "targets/cpp/transients.h"
#include "targets/cuda/block.h"
#include "targets/target.h"

namespace sous::targets {

// A kernel: the loops over blocks, then those over threads, each the only thing inside the one before; all of them are
// followed by `body`, which one thread runs. Where threads meet, there are none over threads, and all run `body`.
struct Kernel {
  std::vector<const sdfg::Loop*> blocks, threads;
  const sdfg::Region* body = nullptr;
  std::optional<Meeting> meeting;
};
// `loop`: a GpuGrid loop that no other is around.
Kernel kernel_of(const sdfg::Sdfg& sdfg, const sdfg::Loop& loop);

// Whether a loop over blocks is this node or below it.
bool has_kernel(const sdfg::Node& node);

// Errors: target.unsupported, target.math, target.errno.
Result<void> runs_on_gpu(const sdfg::Sdfg& sdfg, const EmitOptions& options);

// Of each array of the program that the graph touches: how, in the words of targets/runtime/gpu.h.
std::map<std::string, std::string> device_arrays(const sdfg::Sdfg& sdfg, const EmitOptions& options);

// Temporaries of kernels are variables of their threads; all others lie in the memory of the device.
// Errors: target.unsupported.
Result<std::vector<Transient>> device_transients(const sdfg::Sdfg& sdfg);

}  // namespace sous::targets
