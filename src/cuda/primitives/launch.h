// The one way to start a kernel, and the one place that words the errors of a device.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace lapsum::gpu {

/// More items than this are worked off by a loop in the kernel: see items.h.
inline constexpr std::ptrdiff_t kMostBlocks = std::ptrdiff_t{1} << 20;

inline constexpr int kWarp = 32;

inline void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  // CUDA's own words for the first of these, "driver version is insufficient", mislead.
  const bool none = status == cudaErrorInsufficientDriver || status == cudaErrorNoDevice;
  throw std::runtime_error(
      std::string(none ? "lapsum: this machine has no GPU, or no driver that CUDA could use: "
                       : "lapsum: CUDA refused a launch: ") +
      cudaGetErrorString(status));
}

/// Queues a kernel of `threads` threads for each of `items` pieces of work; nothing for none.
template <class... Parameters, class... Arguments>
void launch(CUstream_st* stream, void (*kernel)(Parameters...), std::ptrdiff_t items, int threads,
            const Arguments&... arguments) {
  if (items <= 0) return;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(std::min(items, kMostBlocks)));
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.stream = stream;
  check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...));
}

}  // namespace lapsum::gpu
