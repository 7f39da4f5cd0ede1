// The soft permutation applied to values, without its matrix.
#pragma once

#include "lapsum/rows.h"

namespace lapsum {

/// Whether soft_permute applies the matrix P (element order to position order) or its transpose.
enum class Apply { permutation, transpose };

/// out = P values or P^T values, P = soft_permutation(x). O(n log n + d n) time, O(n) memory beyond
/// the arguments. x: rows x n; values, out: rows x (n d), d columns, row-major. Edges as
/// soft_permutation; a value that is not finite makes its column NaN.
/// Throws std::invalid_argument if shapes differ or alpha, given as a number, is out of its domain.
template <class T>
void soft_permute(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns, PerRow alpha,
                  Rows<T> out, Apply apply = Apply::permutation, Order order = Order::ascending,
                  Threads threads = 0);

/// Gradients of <g, out> with respect to x, values and alpha (one per row). Outputs without data
/// are skipped. g, gvalues: as values.
template <class T>
void soft_permute_vjp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns, PerRow alpha,
                      Rows<const T> g, Rows<T> gx, Rows<T> gvalues, double* galpha,
                      Apply apply = Apply::permutation, Order order = Order::ascending,
                      Threads threads = 0);

/// Derivative of out along (dx, dvalues, dalpha); tangents without data are zero.
template <class T>
void soft_permute_jvp(Rows<const T> x, Rows<const T> values, std::ptrdiff_t columns, PerRow alpha,
                      Rows<const T> dx, Rows<const T> dvalues, const double* dalpha, Rows<T> dout,
                      Apply apply = Apply::permutation, Order order = Order::ascending,
                      Threads threads = 0);

}  // namespace lapsum
