// Sorting a row: ascending, stable, -0 equal to +0, NaN last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "cpu/primitives/arena.h"

namespace lapsum::cpu {

using Index = std::uint32_t;

inline constexpr std::ptrdiff_t kMaxLength = std::numeric_limits<Index>::max();

/// By digits where the values allow it, or by comparing keys always.
enum class Sorting { fastest, compared };

/// Sorts x, or -x if `negate`: `sorted` receives the values as double, `order` the index in x of
/// each, unless it is null (then only keys are moved). n at most kMaxLength. O(n log n); the result is
/// unique, whatever the number of threads.
template <class T>
void argsort(const T* x, std::ptrdiff_t n, bool negate, double* sorted, Index* order, Arena& arena,
             int threads, Sorting sorting = Sorting::fastest);

}  // namespace lapsum::cpu
