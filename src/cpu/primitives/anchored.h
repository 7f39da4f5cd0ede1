// Exponentials of distances to anchors, vectorised.
#pragma once

#include <cstddef>

namespace lapsum::cpu {

/// rise = e^{(r - anchor) rate} and fall = 1 / rise, each within a few ulp, where `fall` holds the
/// anchors on entry. |r - anchor| rate must stay below 700.
void rise_and_fall(const double* r, std::ptrdiff_t n, double rate, double* rise, double* fall);

}  // namespace lapsum::cpu
