// Kernel sums on a GPU; contract as in lapsum/cuda/lap_kernel.h, arguments already checked.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/lap_kernel.h"

namespace lapsum::gpu {

std::size_t lap_kernel_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m);

template <class T>
void lap_kernel(Rows<const T> r, Rows<const T> w, Rows<const T> x, const PerRow& alpha,
                Kernel kernel, Rows<T> y, const cuda::Launch& where);

}  // namespace lapsum::gpu
