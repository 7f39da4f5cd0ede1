// Soft top-k: a mask in [0, 1] that sums to k, for any real k.
#pragma once

#include "lapsum/half.h"
#include "lapsum/rows.h"

namespace lapsum {

/// p[i] = F((b - x[i]) / alpha) with b such that p sums to k (Order::ascending: the smallest k;
/// descending: the largest). m levels k per row give m masks per row: p holds rows * m rows, mask l
/// of row i at i * m + l. No sort: O(n) expected for a level, O(n m) for m.
/// k <= 0 gives zeros, k >= n ones, exactly, with zero gradient. An element at the far infinity
/// (-inf for the largest k) is never chosen, whatever k is: p = 0; if fewer than k remain, they are
/// all 1. Elements at the near infinity come first; if they are more than k, they share it evenly,
/// each with dp/dk one over their number. NaN in a row, NaN k, or an alpha of 0, NaN or infinity
/// makes the row NaN.
/// T is float, double, Half or Bfloat16 (lapsum/half.h). Rows of the last two are read and written
/// where they lie: results are those of the same row in float, rounded to T; what is finite stays
/// finite.
/// `thresholds` (rows * m), if given, receives what soft_topk_vjp and _jvp otherwise solve again.
/// Throws std::invalid_argument if shapes differ, or if alpha or k, given as a number, is out of
/// its domain: k in [0, n].
template <class T>
void soft_topk(Rows<const T> x, Levels k, PerRow alpha, Rows<T> p, Threshold* thresholds = nullptr,
               Order order = Order::descending, Threads threads = 0);

/// Gradients of <g, p> with respect to x, k (rows * m) and alpha (one per row). g: rows * m rows.
/// Outputs without data are skipped; `thresholds`, as soft_topk wrote them, may be null.
template <class T>
void soft_topk_vjp(Rows<const T> x, Levels k, PerRow alpha, const Threshold* thresholds,
                   Rows<const T> g, Rows<T> gx, double* gk, double* galpha,
                   Order order = Order::descending, Threads threads = 0);

/// Derivative of p along (dx, dk, dalpha); tangents without data are zero. dk: rows * m.
template <class T>
void soft_topk_jvp(Rows<const T> x, Levels k, PerRow alpha, const Threshold* thresholds,
                   Rows<const T> dx, const double* dk, const double* dalpha, Rows<T> dp,
                   Order order = Order::descending, Threads threads = 0);

/// With weights, T being float or double: b such that sum_i weights[i] p[i] = k, k in [0, W], W
/// being the sum of the row's weights. An element of weight 0 has a p, but does not count. k <= 0
/// gives zeros, k >= W ones, whatever W is, 0 too. Elements at the near infinity come first, all
/// with the same p if they weigh more than k. A weight that is negative, NaN or infinite makes the
/// row NaN, and so do weights whose sum overflows. All else as above; whole weights are the same as
/// repeated elements.
/// weights: rows x n. O(n log n), and O(n) more for each further level.
/// Throws std::invalid_argument for a single k below 0; what is above W saturates.
template <class T>
void weighted_soft_topk(Rows<const T> x, Rows<const T> weights, Levels k, PerRow alpha, Rows<T> p,
                        Threshold* thresholds = nullptr, Order order = Order::descending,
                        Threads threads = 0);

/// Gradients with respect to the weights too: d<g, p>/dweights[j] = -p[j] d<g, p>/dk.
template <class T>
void weighted_soft_topk_vjp(Rows<const T> x, Rows<const T> weights, Levels k, PerRow alpha,
                            const Threshold* thresholds, Rows<const T> g, Rows<T> gx,
                            Rows<T> gweights, double* gk, double* galpha,
                            Order order = Order::descending, Threads threads = 0);

/// Derivative of p along (dx, dweights, dk, dalpha); tangents without data are zero.
template <class T>
void weighted_soft_topk_jvp(Rows<const T> x, Rows<const T> weights, Levels k, PerRow alpha,
                            const Threshold* thresholds, Rows<const T> dx, Rows<const T> dweights,
                            const double* dk, const double* dalpha, Rows<T> dp,
                            Order order = Order::descending, Threads threads = 0);

}  // namespace lapsum
