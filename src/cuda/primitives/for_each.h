// The element-wise kernel: one thread for every entry of a batch of rows.
#pragma once

#include <cstdint>

#include "cuda/primitives/items.h"
#include "cuda/primitives/queue.h"

namespace lapsum::gpu {

inline constexpr int kEachThreads = 256;

template <class Body>
__global__ void __launch_bounds__(kEachThreads)
    each_kernel(std::ptrdiff_t rows, std::ptrdiff_t n, Body body) {
  const std::ptrdiff_t count = rows * n;
  for_each_item((count + kEachThreads - 1) / kEachThreads, [&](std::ptrdiff_t item) {
    const std::ptrdiff_t i = item * kEachThreads + threadIdx.x;
    if (i >= count) return;
    // A division of 32 bits is several times as fast.
    const std::ptrdiff_t row = count >> 32
                                   ? i / n
                                   : static_cast<std::ptrdiff_t>(static_cast<std::uint32_t>(i) /
                                                                 static_cast<std::uint32_t>(n));
    body(row, i - row * n);
  });
}

/// body(row, j) for every entry of rows x n. Body is a struct that knows its arrays.
template <class Body>
void for_each(Queue& queue, std::ptrdiff_t rows, std::ptrdiff_t n, const Body& body) {
  queue.run(each_kernel<Body>, (rows * n + kEachThreads - 1) / kEachThreads, kEachThreads, rows, n,
            body);
}

}  // namespace lapsum::gpu
