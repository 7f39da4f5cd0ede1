// Kernel sums on the CPU; contract as in lapsum/lap_kernel.h, arguments already checked.
#pragma once

#include "lapsum/lap_kernel.h"

namespace lapsum::cpu {

template <class T>
void lap_kernel(Rows<const T> r, Rows<const T> w, Rows<const T> x, const PerRow& alpha,
                Kernel kernel, Rows<T> y, Threads threads);

}  // namespace lapsum::cpu
