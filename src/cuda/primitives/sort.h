// Sorting the rows of a batch: ascending, stable, -0 equal to +0, NaN last.
#pragma once

#include <cstdint>

#include "cuda/primitives/queue.h"

namespace lapsum::gpu {

using Index = std::uint32_t;

/// How many of the low bits of a double are 0 in every number of a type, and need no sorting.
template <class T>
inline constexpr int kIdleBits = 0;
template <>
inline constexpr int kIdleBits<Index> = 21;
template <>
inline constexpr int kIdleBits<float> = 29;
template <>
inline constexpr int kIdleBits<cuda::Half> = 42;
template <>
inline constexpr int kIdleBits<cuda::Bfloat16> = 45;

/// Sorts each row of `x`, rows x n: `sorted` receives the values, `order` the place of each in its
/// row of x. n below 2^32; long rows and short rows are sorted in different ways, to the same
/// result.
void sort_rows(Queue& queue, const double* x, std::ptrdiff_t rows, std::ptrdiff_t n, int idle_bits,
               double* sorted, Index* order);

}  // namespace lapsum::gpu
