// Thresholds without sorting: LapSum(b) = k by sweeps over the row, a few for most rows.
#pragma once

#include "cuda/primitives/search.h"
#include "cuda/primitives/team.h"
#include "cuda/primitives/workspace.h"
#include "lapsum/rows.h"

namespace lapsum::gpu {

/// Where the searches of rows of several tiles stand between two launches, twice, and what their
/// tiles have found.
struct ThresholdScratch {
  Search* searches;
  Swept* parts;

  ThresholdScratch(Workspace& workspace, std::ptrdiff_t items, const Tiling& tiling);
};

/// b[i * m + l] of row i of x and its level l, as cpu::solve_thresholds gives it; NaN for an alpha
/// that is not valid. A warp or a block works on a row; several blocks on a longer one, for a number
/// of launches that does not depend on the row, and then one of them, in case there is more to do.
template <class T>
void solve_thresholds(Rows<const T> x, const Levels& k, const PerRow& alpha, Order order,
                      Threshold* b, const Tiling& tiling, const ThresholdScratch& scratch,
                      CUstream_st* stream);

}  // namespace lapsum::gpu
