// Distances in units of alpha: by its reciprocal where that is a normal number. For host and
// device.
#pragma once

#include <cmath>

#include "math/laplace.h"

namespace lapsum::gpu {

/// Trivial to construct, so that it may live in shared memory.
struct Rate {
  double alpha, reciprocal;

  LAPSUM_HOST_DEVICE static Rate of(double alpha) {
    return {alpha, alpha > 1e-290 && alpha < 1e290 ? 1 / alpha : 0};
  }
  LAPSUM_HOST_DEVICE double operator()(double distance) const {
    return reciprocal > 0 ? distance * reciprocal : distance / alpha;
  }
  /// e^{-distance / alpha}
  LAPSUM_HOST_DEVICE double decay(double distance) const { return std::exp(-(*this)(distance)); }
};

}  // namespace lapsum::gpu
