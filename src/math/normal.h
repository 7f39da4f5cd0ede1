// The normal distribution, as far as guesses need it.
#pragma once

#include <cmath>

namespace lapsum::math {

/// Winitzki's formula for erf has one parameter, and 2 / (pi kErf) in it.
inline constexpr double kErf = 0.147, kErfStart = 2 / (3.14159265358979324 * kErf);

/// The quantile of p in (0, 1), within 0.005.
inline double normal_quantile(double p) {
  const double log = std::log(4 * p * (1 - p));
  const double t = kErfStart + 0.5 * log;
  const double square = std::sqrt(t * t - log / kErf) - t;
  return std::copysign(std::sqrt(2 * std::fmax(square, 0)), p - 0.5);
}

}  // namespace lapsum::math
