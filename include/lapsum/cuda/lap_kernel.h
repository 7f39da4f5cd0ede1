// Weighted sums of Laplace kernels on a GPU. All arrays are device memory; the numbers are those of
// lapsum/lap_kernel.h.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/lap_kernel.h"

namespace lapsum::cuda {

/// What lap_kernel needs for rows of length n with m points each.
std::size_t lap_kernel_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m);

/// As lapsum::lap_kernel; types, memory and errors as cuda::soft_topk.
template <class T>
void lap_kernel(Rows<const T> r, Rows<const T> w, Rows<const T> x, PerRow alpha, Kernel kernel,
                Rows<T> y, const Launch& where);

}  // namespace lapsum::cuda
