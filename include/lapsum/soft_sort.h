// Soft sorting: lap_sum_inverse at the levels 1/2, 3/2, ..., n - 1/2.
#pragma once

#include <cstdint>

#include "lapsum/rows.h"

namespace lapsum {

/// sorted[l] = b(l + 1/2); tends to the sorted row as alpha tends to 0. Infinities come out as
/// infinities. NaN in a row, or an alpha of 0, NaN or infinity, makes the row NaN.
/// O(n log n) time, O(n) memory. x, sorted: rows x n.
/// `argsort` (rows x n), if it has data, receives the elements of each row in order, ties as they
/// stand in the row: what soft_sort_vjp and _jvp otherwise sort for again. Rows shorter than
/// kArgsortFrom<T>, rows that come out NaN and padding are passed over, here and there. It takes a
/// little longer, as soft_sort needs the sorted values alone.
/// Throws std::invalid_argument if shapes differ or alpha, given as a number, is out of its domain.
template <class T>
void soft_sort(Rows<const T> x, PerRow alpha, Rows<T> sorted, Order order = Order::ascending,
               Threads threads = 0, Rows<std::uint32_t> argsort = {});

/// Gradients of <g, sorted> with respect to x and alpha (one per row). Outputs without data are
/// skipped; `argsort`, as soft_sort wrote it, may have none.
/// Throws std::invalid_argument as soft_sort, and if an argsort is not that of its row.
template <class T>
void soft_sort_vjp(Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gx, double* galpha,
                   Order order = Order::ascending, Threads threads = 0,
                   Rows<const std::uint32_t> argsort = {});

/// Derivative of sorted along (dx, dalpha); tangents without data are zero. `argsort` as above.
template <class T>
void soft_sort_jvp(Rows<const T> x, PerRow alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> dsorted, Order order = Order::ascending, Threads threads = 0,
                   Rows<const std::uint32_t> argsort = {});

}  // namespace lapsum
