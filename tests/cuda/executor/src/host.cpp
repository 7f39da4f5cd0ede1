// The host's calls. The device is a small one, so that kernels which ask for its size get loops.
#include "executor/host.h"

#include <cstring>
#include <map>

#include "grid.h"
#include "shared_memory.h"

namespace {

cudaError_t last_error = cudaSuccess;
std::map<const void*, std::size_t> dynamic_limits;

cudaError_t noted(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

bool valid(const cudaLaunchConfig_t& config, const void* kernel) {
  const dim3 grid = config.gridDim;
  const dim3 block = config.blockDim;
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return false;
  if (grid.x > 0x7fffffffu || grid.y > 65535 || grid.z > 65535) return false;
  if (block.x == 0 || block.y == 0 || block.z == 0) return false;
  if (block.x > 1024 || block.y > 1024 || block.z > 64) return false;
  if (block.x * block.y * block.z > 1024) return false;
  const auto limit = dynamic_limits.find(kernel);
  return config.dynamicSmemBytes <=
         (limit == dynamic_limits.end() ? executor::kStaticLimit : limit->second);
}

}  // namespace

namespace executor {

cudaError_t launch(const cudaLaunchConfig_t* config, const void* kernel, void (*call)(void*),
                   void* arguments) {
  if (!config || !kernel) return noted(cudaErrorInvalidValue);
  if (!valid(*config, kernel)) return noted(cudaErrorInvalidConfiguration);
  grid.run(*config, call, arguments);
  return cudaSuccess;
}

cudaError_t set_function_attribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return noted(cudaErrorInvalidValue);
  if (value < 0 || static_cast<std::size_t>(value) > kOptInLimit) {
    return noted(cudaErrorInvalidValue);
  }
  dynamic_limits[kernel] = static_cast<std::size_t>(value);
  return cudaSuccess;
}

}  // namespace executor

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    default:
      return "cudaErrorUnknown";
  }
}

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    default:
      return "unknown error";
  }
}

cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaMalloc(void** at, std::size_t bytes) {
  *at = nullptr;
  if (bytes == 0) return cudaSuccess;
  constexpr std::size_t kAlign = 256;  // as CUDA promises
  if (posix_memalign(at, kAlign, bytes) != 0) return noted(cudaErrorMemoryAllocation);
  std::memset(*at, 0xff, bytes);
  return cudaSuccess;
}
cudaError_t cudaFree(void* at) {
  std::free(at);
  return cudaSuccess;
}
cudaError_t cudaMallocAsync(void** at, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(at, bytes);
}
cudaError_t cudaFreeAsync(void* at, cudaStream_t) { return cudaFree(at); }

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  if (bytes != 0) std::memmove(to, from, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
cudaError_t cudaMemset(void* at, int value, std::size_t bytes) {
  if (bytes != 0) std::memset(at, value, bytes);
  return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* at, int value, std::size_t bytes, cudaStream_t) {
  return cudaMemset(at, value, bytes);
}

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return noted(device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return noted(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      *value = 1024;
      return cudaSuccess;
    case cudaDevAttrMaxBlockDimZ:
      *value = 64;
      return cudaSuccess;
    case cudaDevAttrMaxGridDimX:
      *value = 0x7fffffff;
      return cudaSuccess;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      *value = 65535;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(executor::kStaticLimit);
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(executor::kOptInLimit);
      return cudaSuccess;
    case cudaDevAttrWarpSize:
      *value = 32;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      *value = 2;
      return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = 2048;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      return cudaSuccess;
  }
  return noted(cudaErrorInvalidValue);
}
