// The functions of NVIDIA's driver that describe and measure a GPU, looked up in its library at run time. Declared here
// as its manual has them (CUDA Driver API): the toolkit's headers are not needed to build Sous.
#pragma once

#include <cstddef>
#include <optional>

namespace sous::tuning_db {

struct CudaDriver {
  using Status = int;  // 0: well
  using Device = int;
  using Context = struct CudaContext*;
  using Module = struct CudaModule*;
  using Function = struct CudaFunction*;
  using Address = unsigned long long;

  // CUdevice_attribute
  static constexpr int clock_khz = 13, multiprocessors = 16, memory_clock_khz = 36, memory_bits = 37, l2_bytes = 38,
                       major = 75, minor = 76, f32_for_each_f64 = 87, shared_bytes = 97;

  Status (*init)(unsigned flags);
  Status (*count)(int* devices);
  Status (*device)(Device* device, int number);
  Status (*name)(char* name, int bytes, Device device);
  Status (*memory)(std::size_t* bytes, Device device);
  Status (*attribute)(int* value, int attribute, Device device);
  Status (*retain_context)(Context* context, Device device);
  Status (*release_context)(Device device);
  Status (*use_context)(Context context);
  Status (*wait)();
  Status (*load)(Module* module, const void* image);
  Status (*unload)(Module module);
  Status (*function)(Function* function, Module module, const char* name);
  Status (*launch)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, void* stream, void** parameters, void** extra);
  Status (*allocate)(Address* address, std::size_t bytes);
  Status (*release)(Address address);
  Status (*allocate_host)(void** memory, std::size_t bytes);
  Status (*release_host)(void* memory);
  Status (*copy_to)(Address to, const void* from, std::size_t bytes);
  Status (*copy_from)(void* to, Address from, std::size_t bytes);
};

// Started; nullopt where there is no driver, no GPU, or a driver without one of the functions. It stays loaded.
std::optional<CudaDriver> cuda_driver();

}  // namespace sous::tuning_db
