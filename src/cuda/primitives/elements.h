// One thread per element, where elements have nothing to do with each other.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda/primitives/launch.h"

namespace lapsum::gpu {

inline constexpr int kElementThreads = 256;
inline constexpr std::ptrdiff_t kElementTile = 4 * kElementThreads;

/// The number of blocks for so many elements.
inline std::ptrdiff_t element_tiles(std::ptrdiff_t elements) {
  return (elements + kElementTile - 1) / kElementTile;
}

/// body(row, column) for the elements of a batch that are this thread's.
template <class Body>
__device__ void for_each_element(std::ptrdiff_t rows, std::ptrdiff_t n, Body&& body) {
  const std::ptrdiff_t elements = rows * n;
  const bool small = elements <= UINT32_MAX;  // division of 32 bits is much cheaper
  for_each_item((elements + kElementTile - 1) / kElementTile, [&](std::ptrdiff_t tile) {
    const std::ptrdiff_t end =
        (tile + 1) * kElementTile < elements ? (tile + 1) * kElementTile : elements;
    for (std::ptrdiff_t i = tile * kElementTile + threadIdx.x; i < end; i += kElementThreads) {
      const std::ptrdiff_t row =
          small ? static_cast<std::uint32_t>(i) / static_cast<std::uint32_t>(n) : i / n;
      body(row, i - row * n);
    }
  });
}

}  // namespace lapsum::gpu
