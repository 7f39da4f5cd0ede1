// LapSum at points on a GPU; contracts as in lapsum/cuda/lap_sum.h, arguments already checked.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::gpu {

std::size_t lap_sum_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m);

template <class T>
void lap_sum(Rows<const T> r, Rows<const T> x, const PerRow& alpha, Rows<T> y,
             const cuda::Launch& where);

template <class T>
void lap_sum_vjp(Rows<const T> r, Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gr,
                 Rows<T> gx, double* galpha, const cuda::Launch& where);

template <class T>
void lap_sum_jvp(Rows<const T> r, Rows<const T> x, const PerRow& alpha, Rows<const T> dr,
                 Rows<const T> dx, const double* dalpha, Rows<T> dy, const cuda::Launch& where);

}  // namespace lapsum::gpu
