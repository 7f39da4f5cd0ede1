// The mask of a long row and its threshold together: in two passes, of which one takes exponentials.
#pragma once

#include <cstddef>
#include <optional>

#include "cpu/primitives/arena.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

/// p = F((b - sign * x) / alpha) with p summing to k, and b. None, and p is of no use, for rows that
/// do not suit this way: those that hold NaN, alphas that are small against what a sample leaves
/// open but not very small, floats of which many are equal, levels that no finite threshold meets.
/// Rows of half types go as the same rows of floats would.
template <class T>
std::optional<Threshold> mask_keeping_decays(const T* x, std::ptrdiff_t n, double sign, double k,
                                             double alpha, T* p, Arena& arena, int threads);

}  // namespace lapsum::cpu
