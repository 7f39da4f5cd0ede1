// Exponentials of distances to anchors, vectorised.
#pragma once

#include <cstddef>

namespace lapsum::cpu {

/// rise = e^z and fall = e^-z, each within a few ulp, where `rise` holds z on entry; |z| below 700.
void rise_and_fall(double* rise, std::ptrdiff_t n, double* fall);

}  // namespace lapsum::cpu
