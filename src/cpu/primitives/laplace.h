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

}  // namespace lapsum::cpu
