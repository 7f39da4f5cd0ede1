// The function everything is built on: y(x) = sum_i F((x - r_i) / alpha), F the Laplace CDF.
#pragma once

#include "lapsum/rows.h"

namespace lapsum {

/// y[t] = sum_i F((x[t] - r[i]) / alpha) for the m points of each row; in [0, n].
/// alpha is signed: a negative one makes y decrease in x. An infinite r[i] counts 0 or 1, and 1/2 at
/// a point of the same infinity. NaN in r or an alpha of 0, NaN or infinity makes the row NaN; a NaN
/// point, that point. O((n + m) log(n + m)).
/// r: rows x n, x: rows x m, y: rows x m.
/// Throws std::invalid_argument if shapes differ or alpha, given as a number, is out of its domain.
template <class T>
void lap_sum(Rows<const T> r, Rows<const T> x, PerRow alpha, Rows<T> y, Threads threads = 0);

/// Gradients of <g, lap_sum> with respect to r, x and alpha (one per row). Outputs without data are
/// not computed. g: rows x m, gr: rows x n, gx: rows x m, galpha: rows.
template <class T>
void lap_sum_vjp(Rows<const T> r, Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gr,
                 Rows<T> gx, double* galpha, Threads threads = 0);

/// Derivative of lap_sum along (dr, dx, dalpha); tangents without data are zero. dy: rows x m.
template <class T>
void lap_sum_jvp(Rows<const T> r, Rows<const T> x, PerRow alpha, Rows<const T> dr, Rows<const T> dx,
                 const double* dalpha, Rows<T> dy, Threads threads = 0);

}  // namespace lapsum
