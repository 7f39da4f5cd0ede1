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

/// With weights: sum_i weights[i] F((b[t] - r[i]) / alpha) = k[t], k in [0, W], W being the sum of
/// the row's weights; k >= W gives +inf. An element of weight 0 does not count. A row in which nothing
/// counts is NaN, as one without elements, and so is one with a weight that is negative, NaN or
/// infinite, or with weights whose sum overflows. All else as above; whole weights are the same as
/// repeated elements. weights: rows x n. O((n + m) log(n + m)); derivatives in O(n m).
/// Throws std::invalid_argument for a single k below 0; what is above W saturates.
template <class T>
void weighted_lap_sum_inverse(Rows<const T> r, Rows<const T> weights, Levels k, PerRow alpha,
                              Rows<T> b, Threads threads = 0);

/// Gradients of <g, b> with respect to r, weights, k (rows x m) and alpha: db/dweights[j] is
/// -F((b - r[j]) / alpha) db/dk, also where weights[j] is 0.
template <class T>
void weighted_lap_sum_inverse_vjp(Rows<const T> r, Rows<const T> weights, Levels k, PerRow alpha,
                                  Rows<const T> g, Rows<T> gr, Rows<T> gweights, double* gk,
                                  double* galpha, Threads threads = 0);

/// Derivative of b along (dr, dweights, dk, dalpha); tangents without data are zero.
template <class T>
void weighted_lap_sum_inverse_jvp(Rows<const T> r, Rows<const T> weights, Levels k, PerRow alpha,
                                  Rows<const T> dr, Rows<const T> dweights, const double* dk,
                                  const double* dalpha, Rows<T> db, Threads threads = 0);

}  // namespace lapsum
