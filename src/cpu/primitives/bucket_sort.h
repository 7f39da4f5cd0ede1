// Sorting rows of float in buckets of some hundred values, which are then sorted side by side, as the
// rows of a tile. Rows whose values crowd, and rows that are not finite, are left to others.
#pragma once

#include <cstddef>

#include "cpu/primitives/arena.h"
#include "cpu/primitives/argsort.h"

namespace lapsum::cpu {

/// The shortest row that is worth buckets, and the longest that is sorted in one go: beyond, its
/// scattered stores leave the cache.
inline constexpr std::ptrdiff_t kLeastBucketed = 512;
inline constexpr std::ptrdiff_t kMostBucketed = std::ptrdiff_t{1} << 16;

/// As argsort, for n <= kMostBucketed. `names`, unless null, stand in for the indices of the elements
/// in `order`, which they may share their place with. False where the values crowd or are not finite:
/// then nothing is changed. O(n).
bool bucket_sort(const float* x, std::ptrdiff_t n, bool negate, const Index* names, double* sorted,
                 Index* order, Arena& arena);

}  // namespace lapsum::cpu
