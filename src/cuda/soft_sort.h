// Soft sort on a GPU: the inverse of LapSum at the half-integers. Contracts as in
// lapsum/cuda/soft_sort.h, arguments already checked.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::gpu {

std::size_t soft_sort_workspace(std::ptrdiff_t rows, std::ptrdiff_t n);

template <class T>
void soft_sort(Rows<const T> x, const PerRow& alpha, Rows<T> sorted, Order order,
               const cuda::Launch& where);

template <class T>
void soft_sort_vjp(Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gx,
                   double* galpha, Order order, const cuda::Launch& where);

template <class T>
void soft_sort_jvp(Rows<const T> x, const PerRow& alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> dsorted, Order order, const cuda::Launch& where);

}  // namespace lapsum::gpu
