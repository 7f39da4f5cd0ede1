// Soft quantiles: lap_sum_inverse at the level q n. The soft median is q = 1/2.
#pragma once

#include "lapsum/rows.h"

namespace lapsum {

/// b[t] = lap_sum_inverse at q[t] n (rounded to double): m quantiles per row, q in [0, 1], in any
/// order. Edges as there. A negative alpha counts quantiles from the largest element.
template <class T>
void soft_quantile(Rows<const T> x, Levels q, PerRow alpha, Rows<T> b, Threads threads = 0);

/// Gradients of <g, b> with respect to x, q (rows x m) and alpha. Outputs without data are skipped.
template <class T>
void soft_quantile_vjp(Rows<const T> x, Levels q, PerRow alpha, Rows<const T> g, Rows<T> gx,
                       double* gq, double* galpha, Threads threads = 0);

/// Derivative of b along (dx, dq, dalpha); tangents without data are zero.
template <class T>
void soft_quantile_jvp(Rows<const T> x, Levels q, PerRow alpha, Rows<const T> dx, const double* dq,
                       const double* dalpha, Rows<T> db, Threads threads = 0);

/// With weights: weighted_lap_sum_inverse at q[t] W, W being the sum of the row's weights, of
/// elements at infinity too. Edges as there.
template <class T>
void weighted_soft_quantile(Rows<const T> x, Rows<const T> weights, Levels q, PerRow alpha,
                            Rows<T> b, Threads threads = 0);

/// Gradients of <g, b> with respect to x, weights, q (rows x m) and alpha; W follows the weights.
template <class T>
void weighted_soft_quantile_vjp(Rows<const T> x, Rows<const T> weights, Levels q, PerRow alpha,
                                Rows<const T> g, Rows<T> gx, Rows<T> gweights, double* gq,
                                double* galpha, Threads threads = 0);

/// Derivative of b along (dx, dweights, dq, dalpha); tangents without data are zero.
template <class T>
void weighted_soft_quantile_jvp(Rows<const T> x, Rows<const T> weights, Levels q, PerRow alpha,
                                Rows<const T> dx, Rows<const T> dweights, const double* dq,
                                const double* dalpha, Rows<T> db, Threads threads = 0);

}  // namespace lapsum
