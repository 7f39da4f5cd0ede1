// Points between the values of sorted rows: where they lie, and sums over the row seen from them.
#pragma once

#include "cuda/primitives/sorted_rows.h"

namespace lapsum::gpu {

/// A point x between the sorted places next - 1 and next. Its kernel at these two neighbours is
/// `scale` times the weights: e^{-|x - r| / alpha} = scale * weight. A root of a level has weights
/// that sum to one over the row and the scale that belongs to them, so that they stay exact where
/// the scale underflows; a plain point has scale 1. A weight is 0 where there is no neighbour, and
/// NaN for a point that is NaN.
struct Point {
  double left_z, right_z;  ///< distances in alphas; 0 where there is no neighbour
  double left_weight, right_weight;
  double scale;
  Index next;
};

/// m points for each of some rows.
struct Points {
  std::ptrdiff_t rows, m;
  const Point* at;
};

/// Points at the values x, rows x m, oriented as the rows; an infinite x gets a point without
/// weight. `ties_left` tells on which side values equal to x are counted.
Points locate(Queue& queue, const SortedRows& sorted, const double* x, std::ptrdiff_t m,
              bool ties_left);

/// A number made of what a point sees: scale * row_factor * factor * (left + right), or left -
/// right for an odd one. Factors left out are 1: `row_factor` is given for each row of points,
/// `point_factor` for each point, `factor` for each result. `add` adds it to what is there.
struct Term {
  bool odd = false;
  double scale = 1;
  const double* factor = nullptr;
  const double* point_factor = nullptr;
  const double* row_factor = nullptr;
  bool add = false;
};

/// out[t] = the term of point t, left and right being sum_i w_i |z|^Order e^-|z| / point.scale over
/// the elements on either side, from the scans of w. `repeat` rows of w, and of results, for each
/// row of points.
template <int Order>
void gather(Queue& queue, const Scans<Order>& scans, std::ptrdiff_t n, const Points& points,
            const Term& term, double* out, std::ptrdiff_t repeat = 1);

}  // namespace lapsum::gpu
