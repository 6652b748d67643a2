#include "tuning-db/cuda_driver.h"

#include <dlfcn.h>

namespace sous::tuning_db {
namespace {

template <class F>
bool find(void* library, const char* name, F*& function) {
  function = reinterpret_cast<F*>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::optional<CudaDriver> cuda_driver() {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  CudaDriver d{};
  const bool all =
      find(library, "cuInit", d.init) && find(library, "cuDeviceGetCount", d.count) &&
      find(library, "cuDeviceGet", d.device) && find(library, "cuDeviceGetName", d.name) &&
      find(library, "cuDeviceTotalMem_v2", d.memory) && find(library, "cuDeviceGetAttribute", d.attribute) &&
      find(library, "cuDevicePrimaryCtxRetain", d.retain_context) &&
      find(library, "cuDevicePrimaryCtxRelease_v2", d.release_context) &&
      find(library, "cuCtxSetCurrent", d.use_context) && find(library, "cuCtxSynchronize", d.wait) &&
      find(library, "cuModuleLoadData", d.load) && find(library, "cuModuleUnload", d.unload) &&
      find(library, "cuModuleGetFunction", d.function) && find(library, "cuLaunchKernel", d.launch) &&
      find(library, "cuMemAlloc_v2", d.allocate) && find(library, "cuMemFree_v2", d.release) &&
      find(library, "cuMemAllocHost_v2", d.allocate_host) && find(library, "cuMemFreeHost", d.release_host) &&
      find(library, "cuMemcpyHtoD_v2", d.copy_to) && find(library, "cuMemcpyDtoH_v2", d.copy_from);
  if (!all || d.init(0) != 0) return std::nullopt;
  return d;
}

}  // namespace sous::tuning_db
