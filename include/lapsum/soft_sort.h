// Soft sorting: lap_sum_inverse at the levels 1/2, 3/2, ..., n - 1/2.
#pragma once

#include "lapsum/rows.h"

namespace lapsum {

/// sorted[l] = b(l + 1/2); tends to the sorted row as alpha tends to 0. Infinities come out as
/// infinities. NaN in a row, or an alpha of 0, NaN or infinity, makes the row NaN.
/// O(n log n) time, O(n) memory. x, sorted: rows x n. Throws std::invalid_argument if shapes differ
/// or alpha, given as a number, is out of its domain.
template <class T>
void soft_sort(Rows<const T> x, PerRow alpha, Rows<T> sorted, Order order = Order::ascending,
               Threads threads = 0);

/// Gradients of <g, sorted> with respect to x and alpha (one per row). Outputs without data are
/// skipped.
template <class T>
void soft_sort_vjp(Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gx, double* galpha,
                   Order order = Order::ascending, Threads threads = 0);

/// Derivative of sorted along (dx, dalpha); tangents without data are zero.
template <class T>
void soft_sort_jvp(Rows<const T> x, PerRow alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> dsorted, Order order = Order::ascending, Threads threads = 0);

}  // namespace lapsum
