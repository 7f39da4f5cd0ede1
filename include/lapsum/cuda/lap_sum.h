// LapSum at points on a GPU. All arrays are device memory; the numbers are those of
// lapsum/lap_sum.h.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::cuda {

/// What lap_sum and its derivatives need for rows of length n with m points each.
std::size_t lap_sum_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m);

/// As lapsum::lap_sum; types, memory and errors as cuda::soft_topk.
template <class T>
void lap_sum(Rows<const T> r, Rows<const T> x, PerRow alpha, Rows<T> y, const Launch& where);

template <class T>
void lap_sum_vjp(Rows<const T> r, Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gr,
                 Rows<T> gx, double* galpha, const Launch& where);

template <class T>
void lap_sum_jvp(Rows<const T> r, Rows<const T> x, PerRow alpha, Rows<const T> dr, Rows<const T> dx,
                 const double* dalpha, Rows<T> dy, const Launch& where);

}  // namespace lapsum::cuda
