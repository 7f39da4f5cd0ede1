// The inverse of LapSum at the levels of every row, whichever they are: lap_sum_inverse, soft_sort,
// soft_quantile and soft_kth_value.
#pragma once

#include "cuda/primitives/levels.h"

namespace lapsum::gpu {

/// b = sign * root, rows x m. Order::descending solves on -r and gives -b.
template <class T>
void inverse(Queue& queue, Rows<const T> r, const RowLevels& levels, const PerRow& alpha, Rows<T> b,
             Order order);

template <class T>
void inverse_vjp(Queue& queue, Rows<const T> r, const RowLevels& levels, const PerRow& alpha,
                 Rows<const T> g, Rows<T> gr, double* gk, double* galpha, Order order);

template <class T>
void inverse_jvp(Queue& queue, Rows<const T> r, const RowLevels& levels, const PerRow& alpha,
                 Rows<const T> dr, const double* dk, const double* dalpha, Rows<T> db, Order order);

/// What the three of them need.
std::size_t inverse_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, const RowLevels& levels);

}  // namespace lapsum::gpu
