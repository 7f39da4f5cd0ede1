// Levels of a row whose elements have weights: the b with sum_i w_i F((b - r_i) / alpha) = k.
#pragma once

#include <span>

#include "cpu/primitives/arena.h"
#include "cpu/primitives/compensated.h"
#include "lapsum/rows.h"
#include "math/orientation.h"

namespace lapsum::cpu {

/// A row with a weight for each element.
template <class T>
struct WeightedRow {
  const T* x;
  const T* w;
  std::ptrdiff_t n;
  Orientation orientation;

  /// No element is NaN, and every weight is a finite number, not below 0.
  bool is_known() const;
  /// What the elements at -inf of the oriented row weigh together.
  Compensated below() const;
  /// What all elements weigh together.
  Compensated total() const;
};

/// The root b of a level, with what derivatives need: the nearest elements that have a weight on
/// either side, their distances in alphas, and how much each unit of their weight counts in q, which
/// stays exact on a plateau. All of it is 0 where b is infinite.
struct WeightedRoot {
  Threshold b;
  double left = 0, right = 0;
  double left_z = 0, right_z = 0;
  double left_share = 0, right_share = 0;
  double rate = 0;  ///< 1 / sum_i w[i] e^-|z[i]|, cut to 1e300
};

/// Roots of the levels k[t] of r = sign * x, in any order, with the saturation that soft_topk
/// promises: k <= 0 chooses nothing (anchor -inf), k among the elements at -inf is shared by them
/// (anchor -inf, offset the share), k beyond what can be chosen takes all (anchor +inf). NaN k, an
/// invalid alpha, a row that is not known or whose weights overflow in sum give a NaN anchor.
/// O(n log n).
template <class T>
void solve_weighted_levels(const WeightedRow<T>& row, std::span<const Compensated> k,
                           std::span<WeightedRoot> roots, Arena& arena, int threads);

}  // namespace lapsum::cpu
