// The inverse of LapSum on a GPU. All arrays are device memory; the numbers are those of
// lapsum/lap_sum_inverse.h.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::cuda {

/// What lap_sum_inverse and its derivatives need for rows of length n with m levels each.
std::size_t lap_sum_inverse_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m);

/// As lapsum::lap_sum_inverse; types, memory and errors as cuda::soft_topk.
template <class T>
void lap_sum_inverse(Rows<const T> r, Levels k, PerRow alpha, Rows<T> b, const Launch& where);

template <class T>
void lap_sum_inverse_vjp(Rows<const T> r, Levels k, PerRow alpha, Rows<const T> g, Rows<T> gr,
                         double* gk, double* galpha, const Launch& where);

template <class T>
void lap_sum_inverse_jvp(Rows<const T> r, Levels k, PerRow alpha, Rows<const T> dr,
                         const double* dk, const double* dalpha, Rows<T> db, const Launch& where);

}  // namespace lapsum::cuda
