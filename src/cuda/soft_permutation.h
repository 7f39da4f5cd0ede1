// The soft permutation matrix on a GPU; contracts as in lapsum/cuda/soft_permutation.h, arguments
// already checked.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::gpu {

std::size_t soft_permutation_workspace(std::ptrdiff_t rows, std::ptrdiff_t n);

template <class T>
void soft_permutation(Rows<const T> x, const PerRow& alpha, Rows<T> matrix, Order order,
                      const cuda::Launch& where);

template <class T>
void soft_permutation_vjp(Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gx,
                          double* galpha, Order order, const cuda::Launch& where);

template <class T>
void soft_permutation_jvp(Rows<const T> x, const PerRow& alpha, Rows<const T> dx,
                          const double* dalpha, Rows<T> dmatrix, Order order,
                          const cuda::Launch& where);

}  // namespace lapsum::gpu
