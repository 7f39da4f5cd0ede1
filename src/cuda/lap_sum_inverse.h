// The inverse of LapSum on a GPU, which is also soft quantile and soft k-th value; contracts as in
// lapsum/cuda/lap_sum_inverse.h, arguments already checked. Levels are `scale` times k.
// Order::descending solves on -r and gives -b.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::gpu {

std::size_t lap_sum_inverse_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m);

template <class T>
void lap_sum_inverse(Rows<const T> r, const Levels& k, double scale, const PerRow& alpha, Rows<T> b,
                     Order order, const cuda::Launch& where);

template <class T>
void lap_sum_inverse_vjp(Rows<const T> r, const Levels& k, double scale, const PerRow& alpha,
                         Rows<const T> g, Rows<T> gr, double* gk, double* galpha, Order order,
                         const cuda::Launch& where);

template <class T>
void lap_sum_inverse_jvp(Rows<const T> r, const Levels& k, double scale, const PerRow& alpha,
                         Rows<const T> dr, const double* dk, const double* dalpha, Rows<T> db,
                         Order order, const cuda::Launch& where);

}  // namespace lapsum::gpu
