// Soft quantiles on a GPU. All arrays are device memory; the numbers are those of
// lapsum/soft_quantile.h.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::cuda {

/// What soft_quantile and its derivatives need for rows of length n with m levels each.
std::size_t soft_quantile_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m);

/// As lapsum::soft_quantile; types, memory and errors as cuda::soft_topk.
template <class T>
void soft_quantile(Rows<const T> x, Levels q, PerRow alpha, Rows<T> b, const Launch& where);

template <class T>
void soft_quantile_vjp(Rows<const T> x, Levels q, PerRow alpha, Rows<const T> g, Rows<T> gx,
                       double* gq, double* galpha, const Launch& where);

template <class T>
void soft_quantile_jvp(Rows<const T> x, Levels q, PerRow alpha, Rows<const T> dx, const double* dq,
                       const double* dalpha, Rows<T> db, const Launch& where);

}  // namespace lapsum::cuda
