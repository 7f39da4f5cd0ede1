// The loop of a kernel over its pieces of work, of which a grid may have fewer blocks.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace lapsum::gpu {

/// body(item) for the items of this block.
template <class Body>
__device__ void for_each_item(std::ptrdiff_t items, Body&& body) {
  for (std::ptrdiff_t item = blockIdx.x; item < items; item += gridDim.x) body(item);
}

}  // namespace lapsum::gpu
