// Points between the values of a sorted row: where they lie, and sums over the row seen from them
// (gather), or over them seen from the row (scatter). Both need only scans of the row itself.
#pragma once

#include <functional>
#include <span>

#include "cpu/primitives/decayed_scan.h"
#include "cpu/primitives/levels.h"
#include "cpu/primitives/sorted_row.h"
#include "lapsum/rows.h"

namespace lapsum::cpu {

/// A point x with r[j] <= x <= r[j + 1]; j = -1 before all values, n - 1 behind them. The kernel of
/// the point at the two neighbours is `scale` times the weights: e^{-|x - r_j| / alpha} = scale *
/// left_weight. A root of a level has weights that sum to one over the row and the scale that
/// belongs to them, so that they stay exact where the scale underflows; a plain point has scale 1.
struct Point {
  std::ptrdiff_t j;
  double left_z, right_z;  ///< (x - r_j) / alpha and (r_{j+1} - x) / alpha; 0 where the weight is 0
  double left_weight, right_weight;
  double scale;
};

/// What a point sees on each side: sum_i w_i |z|^order e^-|z| / scale over the elements left of it
/// and right of it, z = (x - r_i) / alpha.
struct Sides {
  double left, right;
  double even() const { return left + right; }
  double odd() const { return left - right; }
};

template <int Order>
Sides gather(const Scans<Order>& scans, const Point& at) {
  const auto side = [](const Moments<Order>& m, std::ptrdiff_t j, double z) {
    if constexpr (Order == 0) return m[0][j];
    if constexpr (Order == 1) return m[1][j] + z * m[0][j];
    if constexpr (Order == 2) return m[2][j] + z * (2 * m[1][j] + z * m[0][j]);
    if constexpr (Order == 3) {
      return m[3][j] + z * (3 * m[2][j] + z * (3 * m[1][j] + z * m[0][j]));
    }
  };
  const auto n = static_cast<std::ptrdiff_t>(scans.right[0].size());
  return {at.j >= 0 ? at.left_weight * side(scans.right, at.j, at.left_z) : 0,
          at.j + 1 < n ? at.right_weight * side(scans.left, at.j + 1, at.right_z) : 0};
}

/// Lower-order sums from scans of a higher order.
template <int Order>
Scans<0> lowest(const Scans<Order>& scans) {
  return {{scans.right[0]}, {scans.left[0]}};
}

/// The adjoint of gather: sum_t u_t |z|^order e^-|z| at every value of the row, from the points
/// left of it (`right`, scanned toward the right) and right of it (`left`). u counts in units of
/// the point's scale.
template <int Order>
Scans<Order> scatter(const Decays& decays, std::span<const Point> points, std::span<const double> u,
                     Arena& arena, int threads);

/// Points at the values x, in any order; an infinite x gets a point without weight, NaN one with
/// NaN. `ties_left` tells on which side values equal to x are counted.
std::span<Point> locate(const Decays& decays, std::span<const double> x, bool ties_left,
                        Arena& arena, int threads);

/// Roots b of the levels k, in any order, on the finite values of the row: LapSum(b) = k. How many
/// values lie left of each, and the weights of the two next to it: they sum to one over the row, in
/// units of `total`, the sum of e^{-|b - r| / alpha}. A level outside (0, finite) has an infinite b
/// and no weight; NaN makes all NaN.
struct RootWeights {
  std::span<const Index> lefts;
  bool ascending;  ///< lefts never descend
  std::span<const double> left, right, total;
};
struct Roots {
  std::span<const Threshold> b;
  RootWeights weights;
};
Roots solve_levels(const Decays& decays, const Scans<0>& ones, const RowLevels& k, Arena& arena,
                   int threads);

/// Roots as points; those without weight are nowhere.
std::span<const Point> root_points(const Decays& decays, const Roots& roots, Arena& arena,
                                   int threads);

/// The roots alone, each as one number: body(t, values) for those from t on, by several threads, all
/// of them once and some once more, with what counts. T is the type of the row.
template <class T>
void level_values(std::span<const double> sorted, double alpha, const RowLevels& k, Arena& arena,
                  int threads, const std::function<void(std::ptrdiff_t, std::span<double>)>& body);

/// The weights alone.
template <class T>
RootWeights level_weights(std::span<const double> sorted, double alpha, const RowLevels& k,
                          Arena& arena, int threads);

/// sum_i w_i q_i, from the scans of w: the adjoint of the scatter below.
inline double gather(const Scans<0>& scans, const RootWeights& roots, std::ptrdiff_t t) {
  const Index c = roots.lefts[t];
  return (c > 0 ? roots.left[t] * scans.right[0][c - 1] : 0) +
         (c < scans.left[0].size() ? roots.right[t] * scans.left[0][c] : 0);
}

/// sum_t u_t q_t of the levels k at every value, chunk by chunk: what the roots left of it bring, and
/// those right. Their weights, where they are known, need not be found again.
template <class T>
void scatter(std::span<const double> sorted, double alpha, const RowLevels& k,
             const RootWeights* known, std::span<const double> u, Arena& arena, int threads,
             const std::function<void(const ChunkOfScans&)>& body);

}  // namespace lapsum::cpu
