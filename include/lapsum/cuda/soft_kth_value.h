// The soft k-th value on a GPU. All arrays are device memory; the numbers are those of
// lapsum/soft_kth_value.h.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::cuda {

/// What soft_kth_value and its derivatives need for rows of length n with m levels each.
std::size_t soft_kth_value_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m);

/// As lapsum::soft_kth_value; types, memory and errors as cuda::soft_topk.
template <class T>
void soft_kth_value(Rows<const T> x, Levels k, PerRow alpha, Rows<T> b, Order order,
                    const Launch& where);

template <class T>
void soft_kth_value_vjp(Rows<const T> x, Levels k, PerRow alpha, Rows<const T> g, Rows<T> gx,
                        double* gk, double* galpha, Order order, const Launch& where);

template <class T>
void soft_kth_value_jvp(Rows<const T> x, Levels k, PerRow alpha, Rows<const T> dx, const double* dk,
                        const double* dalpha, Rows<T> db, Order order, const Launch& where);

}  // namespace lapsum::cuda
