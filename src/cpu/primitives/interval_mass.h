// The mass of Laplace distributions between two thresholds, block by block.
#pragma once

#include <algorithm>
#include <span>

#include "cpu/primitives/parallel.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

inline constexpr std::ptrdiff_t kMassBlock = 256;

/// body(begin, end) for the blocks of [0, n), each of at most kMassBlock elements.
template <class Body>
void for_each_mass_block(std::ptrdiff_t n, int threads, Body&& body) {
  parallel_for((n + kMassBlock - 1) / kMassBlock, threads, [&](std::ptrdiff_t c, int) {
    body(c * kMassBlock, std::min(n, (c + 1) * kMassBlock));
  });
}

/// mass[i] = F((upper - r[i]) / alpha) - F((lower - r[i]) / alpha) for a block [begin, end) of r,
/// without cancellation; a null threshold is infinite. lower <= upper.
void interval_mass(std::span<const double> r, const Threshold* lower, const Threshold* upper,
                   double alpha, std::ptrdiff_t begin, std::ptrdiff_t end, double* mass);

}  // namespace lapsum::cpu
