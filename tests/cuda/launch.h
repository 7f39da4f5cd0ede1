// A short way to launch a kernel from a test.
#pragma once

#include <cuda_runtime.h>

template <class... Parameters>
cudaError_t launch(void (*kernel)(Parameters...), dim3 blocks, dim3 threads, std::size_t shared,
                   std::type_identity_t<Parameters>... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}
