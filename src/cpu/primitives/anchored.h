// Exponentials of distances to anchors, vectorised.
#pragma once

#include <cstddef>

namespace lapsum::cpu {

/// rise = e^z and fall = e^-z, z = (r - middle) / alpha, |z| below 700: within a few ulp, and what z
/// itself is off.
void rise_and_fall(const double* r, std::ptrdiff_t n, double middle, double alpha, double* rise,
                   double* fall);

}  // namespace lapsum::cpu
