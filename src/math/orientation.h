// Kernels know one problem: ascending order, alpha > 0. Everything else is that problem on -x. For host
// and device.
#pragma once

#include <cmath>

#include "lapsum/rows.h"
#include "math/laplace.h"

namespace lapsum {

struct Orientation {
  double sign = 1;        ///< kernels see r = sign * x
  double alpha = 1;       ///< |alpha|
  double alpha_sign = 1;  ///< d|alpha| / dalpha
  bool valid = true;      ///< alpha is neither 0 nor NaN nor infinite

  LAPSUM_HOST_DEVICE Orientation(double signed_alpha, Order order)
      : sign((signed_alpha < 0) != (order == Order::descending) ? -1 : 1),
        alpha(std::abs(signed_alpha)),
        alpha_sign(signed_alpha < 0 ? -1 : 1),
        valid(std::isfinite(signed_alpha) && signed_alpha != 0) {}

  /// 1 / (2 alpha): the height of the Laplace density. Finite for every valid alpha.
  LAPSUM_HOST_DEVICE double peak() const { return std::fmin(0.5 / alpha, 1e300); }
};

}  // namespace lapsum
