// The thresholds that cut a row into positions: b(1) ... b(finite - 1), between finite elements.
#pragma once

#include <cmath>

#include "cuda/primitives/levels.h"
#include "cuda/primitives/row_factors.h"

namespace lapsum::gpu {

/// Rows in their own order, and their thresholds: position i of the finite ones lies between roots
/// i - 1 and i, of which the first and the last have one only.
struct Cuts {
  SortedRows sorted;
  const double* r;  ///< elements in their own order, oriented
  Roots roots;      ///< max(n - 1, 0) for each row

  __device__ const Threshold& b(std::ptrdiff_t row, std::ptrdiff_t t) const {
    return roots.b[row * roots.points.m + t];
  }
  /// (b(t) - x) / alpha.
  __device__ double z(std::ptrdiff_t row, std::ptrdiff_t t, double x) const {
    const Threshold& at = b(row, t);
    return ((at.anchor - x) + at.offset) / sorted.facts[row].alpha;
  }
};

/// 1 - e^-z: what a decay over the distance z >= 0 takes away.
__device__ inline double decay_loss(double z) { return -std::expm1(-z); }

template <class T>
Cuts cut_rows(Queue& queue, Rows<const T> x, const PerRow& alpha, Order order) {
  const double* const r = load(queue, x, alpha, order);
  const SortedRows sorted = sort_rows(queue, r, x.count, x.length, kIdleBits<T>, alpha, order);
  const Scans<0> ones = scan_both<0>(queue, sorted.gaps(), nullptr);
  return {sorted, r, solve_levels(queue, sorted, ones, RowLevels::between(x.length))};
}

}  // namespace lapsum::gpu
