// The soft permutation matrix: row = position, column = element. Doubly stochastic.
#pragma once

#include "lapsum/rows.h"

namespace lapsum {

/// matrix[i, j] = F((b(i + 1) - x[j]) / alpha) - F((b(i) - x[j]) / alpha), b the LapSum inverse.
/// x: rows x n, matrix: rows x (n n), row-major. Infinite elements share the positions at their end
/// evenly. NaN in a row, or an alpha of 0, NaN or infinity, makes its matrix NaN. O(n^2).
/// Throws std::invalid_argument if shapes differ or alpha, given as a number, is out of its domain.
template <class T>
void soft_permutation(Rows<const T> x, PerRow alpha, Rows<T> matrix, Order order = Order::ascending,
                      Threads threads = 0);

/// Gradients of <g, matrix> with respect to x and alpha (one per row). Outputs without data are
/// skipped.
template <class T>
void soft_permutation_vjp(Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gx,
                          double* galpha, Order order = Order::ascending, Threads threads = 0);

/// Derivative of matrix along (dx, dalpha); tangents without data are zero.
template <class T>
void soft_permutation_jvp(Rows<const T> x, PerRow alpha, Rows<const T> dx, const double* dalpha,
                          Rows<T> dmatrix, Order order = Order::ascending, Threads threads = 0);

}  // namespace lapsum
