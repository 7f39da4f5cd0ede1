// Roots of levels in sorted rows: points b with LapSum(b) = k.
#pragma once

#include "cuda/primitives/numbers.h"
#include "cuda/primitives/points.h"

namespace lapsum::gpu {

/// The levels of every row: `given` ones times `scale`, or `steps` of one: first, first + 1, ...
/// They count from the least element or, `among_finite`, from the least finite one.
struct RowLevels {
  std::ptrdiff_t count;
  Levels given;
  double scale = 1;
  bool steps = false;
  double first = 0;
  bool among_finite = false;

  static RowLevels of(const Levels& k, double scale = 1) { return {k.count(), k, scale}; }
  /// 1/2, 3/2, ..., n - 1/2.
  static RowLevels halves(std::ptrdiff_t n) { return {n, Levels(0), 1, true, 0.5}; }
  /// 1, 2, ..., n - 1, among the finite elements.
  static RowLevels between(std::ptrdiff_t n) {
    return {n > 0 ? n - 1 : 0, Levels(0), 1, true, 1, true};
  }
};

/// The roots, of which the points see the row, and their values b.
struct Roots {
  Points points;
  const Threshold* b;
};

/// `ones` are the scans of ones. A level outside the finite elements gets an
/// infinite b and a point without weight; NaN makes both NaN.
Roots solve_levels(Queue& queue, const SortedRows& sorted, const Scans<0>& ones,
                   const RowLevels& levels);

}  // namespace lapsum::gpu
