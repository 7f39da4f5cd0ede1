// Laplace mathematics on arrays, vectorised for the best instruction set at run time.
// Inputs and outputs may be the same array. Infinite arguments give the limits.
#pragma once

#include <cstddef>

namespace lapsum::cpu {

/// out = e^-|z|, within 1 ulp; 0 where it would be denormal; NaN for NaN.
void exp_abs(const double* z, std::ptrdiff_t n, double* out);

/// out = 1 - e^-z for z >= 0, within 4 ulp: what a decay over the distance z takes away.
void decay_loss(const double* z, std::ptrdiff_t n, double* out);

/// out = F(z).
void cdf(const double* z, std::ptrdiff_t n, double* out);

/// out = log F(z).
void log_cdf(const double* z, std::ptrdiff_t n, double* out);

/// What one pass around a pivot finds: how many values lie on each side, and the sums of
/// e^{-|v - pivot| / alpha} over them. Values equal to the pivot are in neither.
struct Split {
  std::ptrdiff_t less = 0, greater = 0;
  double less_sum = 0, greater_sum = 0;
};

/// Moves the values below the pivot to the front of `values` and those above it to `greater`, each
/// in order, and sums both sides. `greater` must hold n values; finite values only.
Split split(double* values, std::ptrdiff_t n, double pivot, double alpha, double* greater);

}  // namespace lapsum::cpu
