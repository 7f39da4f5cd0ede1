// Elements of a row seen from its thresholds: what a mask and its derivatives are made of.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

#include "cuda/primitives/curve.h"
#include "cuda/primitives/element.h"
#include "cuda/primitives/numbers.h"
#include "cuda/primitives/rate.h"
#include "lapsum/rows.h"
#include "math/laplace.h"
#include "math/orientation.h"

namespace lapsum::gpu {

/// An element seen from a finite threshold: z = (b - r) / alpha, cut so that no product is NaN, and
/// |z|. An infinite element has z = 0 and an infinite distance, so that it weighs nothing.
struct Seen {
  double z, distance;

  /// d out / dz up to Pull's height; e is the element's weight.
  __device__ double slope(Curve curve, double e) const {
    if (curve == Curve::cdf) return e;
    return distance < INFINITY ? math::log_cdf_slope(z) : 0;
  }
};

/// One level of one row.
struct View {
  Orientation orientation;
  Rate rate;
  Threshold b;

  __device__ bool is_nan() const { return b.anchor != b.anchor; }
  __device__ bool is_saturated() const { return isinf(b.anchor); }

  __device__ double z(double r) const { return rate((b.anchor - r) + b.offset); }
  __device__ Seen see(double r) const {
    constexpr double kCut = 1e300;
    if (isinf(r)) return {0, INFINITY};
    const double cut = fmin(fmax(z(r), -kCut), kCut);
    return {cut, fabs(cut)};
  }

  /// p of an element at an infinite threshold.
  __device__ double saturated(double r) const {
    if (b.anchor > 0) return r == INFINITY ? 0 : 1;
    return r == -INFINITY ? b.offset : 0;
  }
  /// d out / dk of the `below` elements at -inf there.
  __device__ double saturated_slope(Curve curve, double below) const {
    if (b.anchor > 0 || !(b.offset > 0 && b.offset < 1)) return 0;
    return curve == Curve::cdf ? 1 / below : 1 / (below * b.offset);
  }
};

/// The levels of a batch of rows: item i * levels + l is level l of row i.
struct Items {
  std::ptrdiff_t rows, levels;
  Numbers alpha;
  Order order;
  const Threshold* b;
  Curve curve;

  __device__ std::ptrdiff_t count() const { return rows * levels; }
  __device__ View view(std::ptrdiff_t item) const {
    const Orientation orientation(alpha.at(item / levels), order);
    return {orientation, Rate::of(orientation.alpha), b[item]};
  }
};

/// Element i of an item's row, as the orientation wants it.
template <class T>
__device__ double element(Rows<const T> x, const Items& items, std::ptrdiff_t item,
                          std::ptrdiff_t i, const View& view) {
  return view.orientation.sign * to_double(x[item / items.levels][i]);
}

}  // namespace lapsum::gpu
