// Sorting rows of float in buckets of some hundred values, which are then sorted side by side, as the
// rows of a tile. Rows whose values crowd, and rows that are not finite, are left to others.
#pragma once

#include <cstddef>

#include "cpu/primitives/arena.h"
#include "cpu/primitives/argsort.h"

namespace lapsum::cpu {

/// The shortest row that is worth buckets, and the longest: beyond, digits are as fast.
inline constexpr std::ptrdiff_t kLeastBucketed = 512;
inline constexpr std::ptrdiff_t kMostBucketed = std::ptrdiff_t{1} << 15;

/// As argsort, for n <= kMostBucketed. False where the values crowd or are not finite: then nothing is
/// changed. O(n).
bool bucket_sort(const float* x, std::ptrdiff_t n, bool negate, double* sorted, Index* order,
                 Arena& arena);

}  // namespace lapsum::cpu
