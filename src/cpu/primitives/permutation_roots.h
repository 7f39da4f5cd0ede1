// The thresholds that cut a row into positions: b(1) ... b(finite - 1), between finite elements.
#pragma once

#include "cpu/primitives/points.h"
#include "cpu/primitives/sorted_row.h"

namespace lapsum::cpu {

/// Element t - 1 is the root of level t; position i lies between roots i and i + 1, the first and
/// the last being open.
inline Roots permutation_roots(const SortedRow& row, Arena& arena, int threads) {
  const Scans<0> ones = scan_both<0>(row.decays, {}, arena, threads);
  const std::ptrdiff_t count = std::max<std::ptrdiff_t>(row.finite() - 1, 0);
  return solve_levels(row.decays, ones, RowLevels::in_steps(1, count), arena, threads);
}

}  // namespace lapsum::cpu
