// Thresholds without sorting: LapSum(b) = k by sweeps over the row, a few for most rows.
#pragma once

#include "cuda/primitives/queue.h"
#include "cuda/primitives/tiling.h"
#include "lapsum/rows.h"

namespace lapsum::gpu {

/// b[i * m + l] of row i of x and its level l, as cpu::solve_thresholds gives it; NaN for an alpha
/// that is not valid. A warp or a block works on a row; several blocks on a longer one, for a
/// number of launches that does not depend on the row, and then one of them, in case there is more
/// to do.
template <class T>
void solve_thresholds(Queue& queue, Rows<const T> x, const Levels& k, const PerRow& alpha,
                      Order order, const Tiling& tiling, Threshold* b);

}  // namespace lapsum::gpu
