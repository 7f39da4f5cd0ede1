// Scalar Laplace mathematics, for host and device. z is (x - r) / alpha throughout.
#pragma once

#include <cmath>

#ifdef __CUDACC__
#include <cuda_runtime.h>
#define LAPSUM_HOST_DEVICE __host__ __device__
#else
#define LAPSUM_HOST_DEVICE
#endif

namespace lapsum::math {

/// e^-z is zero in double beyond this; distances are cut here so that z e^-z never meets inf * 0.
inline constexpr double kFar = 1000;

/// F(z): the CDF of the standard Laplace distribution.
LAPSUM_HOST_DEVICE inline double cdf(double z) {
  const double half = 0.5 * std::exp(-std::abs(z));
  return z > 0 ? 1 - half : half;
}

/// log F(z), finite for every finite z.
LAPSUM_HOST_DEVICE inline double log_cdf(double z) {
  constexpr double kLog2 = 0.693147180559945309417;
  return z > 0 ? std::log1p(-0.5 * std::exp(-z)) : z - kLog2;
}

/// F'(z) / F(z): the slope of log F.
LAPSUM_HOST_DEVICE inline double log_cdf_slope(double z) {
  const double half = 0.5 * std::exp(-std::abs(z));
  return z > 0 ? half / (1 - half) : 1;
}

}  // namespace lapsum::math
