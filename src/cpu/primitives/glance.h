// Rough looks at a row, cheap enough to take several of them: what a search needs to aim its one
// exact pass. Every `step`-th vector is looked at, in lanes of float or double, with errors of
// about 1e-4.
#pragma once

#include <cstddef>

namespace lapsum::cpu {

/// How many of n values are seen.
template <class T>
double glance_count(std::ptrdiff_t n, std::ptrdiff_t step);

/// Of r = sign * x: how many values are seen, and their mean and variance.
struct Summary {
  double count, mean, variance;
};
template <class T>
Summary glance_moments(const T* x, std::ptrdiff_t n, std::ptrdiff_t step, double sign);

/// The values up to v, their number and the sum of e^{-|v - r| / alpha}, and that of the others.
struct Glance {
  double left_count, left_sum, right_sum;
};
template <class T>
Glance glance_at(const T* x, std::ptrdiff_t n, std::ptrdiff_t step, double sign, double v,
                 double alpha);

/// The greatest value that is at most lo, and the least that is at least hi; infinite if none is.
struct Neighbours {
  double below, above;
};
template <class T>
Neighbours glance_neighbours(const T* x, std::ptrdiff_t n, std::ptrdiff_t step, double sign,
                             double lo, double hi);

}  // namespace lapsum::cpu
