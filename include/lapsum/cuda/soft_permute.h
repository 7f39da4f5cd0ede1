// The soft permutation applied to values, on a GPU. All arrays are device memory; the numbers are
// those of lapsum/soft_permute.h.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/soft_permute.h"

namespace lapsum::cuda {

/// What soft_permute and its derivatives need for rows of length n with that many columns of
/// values.
std::size_t soft_permute_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t columns);

/// As lapsum::soft_permute; types, memory and errors as cuda::soft_topk.
template <class T>
void soft_permute(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns, PerRow alpha,
                  Rows<T> out, Apply apply, Order order, const Launch& where);

template <class T>
void soft_permute_vjp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns, PerRow alpha,
                      Rows<const T> g, Rows<T> gx, Rows<T> gvalues, double* galpha, Apply apply,
                      Order order, const Launch& where);

template <class T>
void soft_permute_jvp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns, PerRow alpha,
                      Rows<const T> dx, Rows<const T> dvalues, const double* dalpha, Rows<T> dout,
                      Apply apply, Order order, const Launch& where);

}  // namespace lapsum::cuda
