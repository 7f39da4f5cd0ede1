// The inverse of LapSum in its level: b(k) with lap_sum(r, b) = k.
#pragma once

#include "lapsum/rows.h"

namespace lapsum {

/// b[t] with sum_i F((b[t] - r[i]) / alpha) = k[t], for m levels per row, in any order.
/// k <= 0 and k >= n give the limits, -inf and +inf (swapped for a negative alpha), with zero
/// gradient; levels that fall among infinite elements give that infinity. NaN in r, or an alpha of
/// 0, NaN or infinity, makes the row NaN, and so does a row without elements; a NaN level, that
/// level. O((n + m) log(n + m)).
/// r: rows x n, b: rows x m. Throws std::invalid_argument if shapes differ, or if alpha or k, given
/// as a number, is out of its domain: k in [0, n].
template <class T>
void lap_sum_inverse(Rows<const T> r, Levels k, PerRow alpha, Rows<T> b, Threads threads = 0);

/// Gradients of <g, b> with respect to r, k (rows x m) and alpha (one per row). Outputs without
/// data are not computed. db/dk grows like exp(gap / 2 alpha) on a plateau: it is capped, and
/// finite.
template <class T>
void lap_sum_inverse_vjp(Rows<const T> r, Levels k, PerRow alpha, Rows<const T> g, Rows<T> gr,
                         double* gk, double* galpha, Threads threads = 0);

/// Derivative of b along (dr, dk, dalpha); tangents without data are zero. dk: rows x m.
template <class T>
void lap_sum_inverse_jvp(Rows<const T> r, Levels k, PerRow alpha, Rows<const T> dr,
                         const double* dk, const double* dalpha, Rows<T> db, Threads threads = 0);

}  // namespace lapsum
