// Levels of a row whose elements have weights: the b with sum_i w_i F((b - r_i) / alpha) = k.
#pragma once

#include <span>

#include "cpu/primitives/arena.h"
#include "cpu/primitives/compensated.h"
#include "cpu/primitives/orientation.h"
#include "lapsum/rows.h"

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

/// b[t] for the levels k[t] of r = sign * x, in any order, with the saturation that soft_topk
/// promises: k <= 0 chooses nothing (anchor -inf), k among the elements at -inf is shared by them
/// (anchor -inf, offset the share), k beyond what can be chosen takes all (anchor +inf). NaN k, an
/// invalid alpha, a row that is not known or whose weights overflow in sum give NaN. O(n log n).
template <class T>
void solve_weighted_levels(const WeightedRow<T>& row, std::span<const Compensated> k,
                           std::span<Threshold> b, Arena& arena, int threads);

}  // namespace lapsum::cpu
