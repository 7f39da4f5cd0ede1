// The soft permutation matrix on a GPU. All arrays are device memory; the numbers are those of
// lapsum/soft_permutation.h.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::cuda {

/// What soft_permutation and its derivatives need for rows of length n.
std::size_t soft_permutation_workspace(std::ptrdiff_t rows, std::ptrdiff_t n);

/// As lapsum::soft_permutation; types, memory and errors as cuda::soft_topk.
template <class T>
void soft_permutation(Rows<const T> x, PerRow alpha, Rows<T> matrix, Order order,
                      const Launch& where);

template <class T>
void soft_permutation_vjp(Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gx,
                          double* galpha, Order order, const Launch& where);

template <class T>
void soft_permutation_jvp(Rows<const T> x, PerRow alpha, Rows<const T> dx, const double* dalpha,
                          Rows<T> dmatrix, Order order, const Launch& where);

}  // namespace lapsum::cuda
