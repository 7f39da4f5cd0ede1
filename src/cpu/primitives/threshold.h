// Thresholds without sorting: LapSum(b) = k by selection, in O(n) expected.
#pragma once

#include <span>

#include "cpu/primitives/arena.h"
#include "cpu/primitives/row.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

/// b[t] with LapSum(b[t]) = k[t] on the row r, whose `counts` are what it holds of infinities; k in
/// any order. As soft_topk promises: k <= 0 chooses nothing (anchor -inf), k beyond what can be
/// chosen takes all (anchor +inf), k among the elements at -inf is shared by them (anchor -inf,
/// offset the share), NaN k or a row with NaN gives NaN. Exact at every alpha and k: values are
/// split around pivots, the sides left behind are kept as decayed sums, and the interval that
/// remains is solved in closed form. Levels share the passes.
void solve_thresholds(std::span<const double> r, const NonFinite& counts, std::span<const double> k,
                      double alpha, std::span<Threshold> b, Arena& arena, int threads);

}  // namespace lapsum::cpu
