// The soft k-th largest value: the threshold of soft_topk itself.
#pragma once

#include "lapsum/rows.h"

namespace lapsum {

/// b[t] such that the mask of soft_topk at k[t], F((x[i] - b[t]) / alpha) for the largest, sums to
/// k[t]: m levels per row, in any order (Order::ascending: the k-th smallest, lap_sum_inverse).
/// As alpha goes to 0, b goes halfway between the k-th and the (k + 1)-th largest value for an
/// integer k, and to the k-th one itself at the level k - 1/2.
/// k <= 0 and k >= n give the limits, +inf and -inf for the largest, with zero gradient. Elements at
/// -inf are never chosen: a k that the others do not exceed gives -inf too. NaN as in
/// lap_sum_inverse. A negative alpha reverses the order. O((n + m) log(n + m)).
/// x: rows x n, b: rows x m. Throws std::invalid_argument if shapes differ, or if alpha or k, given
/// as a number, is out of its domain: k in [0, n].
template <class T>
void soft_kth_value(Rows<const T> x, Levels k, PerRow alpha, Rows<T> b,
                    Order order = Order::descending, Threads threads = 0);

/// Gradients of <g, b> with respect to x, k (rows x m) and alpha (one per row), capped as in
/// lap_sum_inverse_vjp. Outputs without data are skipped.
template <class T>
void soft_kth_value_vjp(Rows<const T> x, Levels k, PerRow alpha, Rows<const T> g, Rows<T> gx,
                        double* gk, double* galpha, Order order = Order::descending,
                        Threads threads = 0);

/// Derivative of b along (dx, dk, dalpha); tangents without data are zero. dk: rows x m.
template <class T>
void soft_kth_value_jvp(Rows<const T> x, Levels k, PerRow alpha, Rows<const T> dx, const double* dk,
                        const double* dalpha, Rows<T> db, Order order = Order::descending,
                        Threads threads = 0);

/// With weights: the threshold of weighted_soft_topk. Levels, weights and cost as in
/// weighted_lap_sum_inverse; elements at -inf are never chosen.
template <class T>
void weighted_soft_kth_value(Rows<const T> x, Rows<const T> weights, Levels k, PerRow alpha,
                             Rows<T> b, Order order = Order::descending, Threads threads = 0);

/// Gradients of <g, b> with respect to x, weights, k (rows x m) and alpha.
template <class T>
void weighted_soft_kth_value_vjp(Rows<const T> x, Rows<const T> weights, Levels k, PerRow alpha,
                                 Rows<const T> g, Rows<T> gx, Rows<T> gweights, double* gk,
                                 double* galpha, Order order = Order::descending,
                                 Threads threads = 0);

/// Derivative of b along (dx, dweights, dk, dalpha); tangents without data are zero.
template <class T>
void weighted_soft_kth_value_jvp(Rows<const T> x, Rows<const T> weights, Levels k, PerRow alpha,
                                 Rows<const T> dx, Rows<const T> dweights, const double* dk,
                                 const double* dalpha, Rows<T> db, Order order = Order::descending,
                                 Threads threads = 0);

}  // namespace lapsum
