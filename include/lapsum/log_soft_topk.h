// The logarithm of soft top-k, finite where the mask itself underflows.
#pragma once

#include "lapsum/half.h"
#include "lapsum/rows.h"

namespace lapsum {

/// logp[i] = log p[i] with p as soft_topk gives it; -inf only where p is 0 by definition (k <= 0,
/// an element that is never chosen), with zero gradient there. Types, shapes, edges and errors as
/// soft_topk.
template <class T>
void log_soft_topk(Rows<const T> x, Levels k, PerRow alpha, Rows<T> logp,
                   Threshold* thresholds = nullptr, Order order = Order::descending,
                   Threads threads = 0);

/// Gradients of <g, logp> with respect to x, k (rows * m) and alpha (one per row). Outputs without
/// data are skipped. d logp / dk grows like exp(gap / 2 alpha) on a plateau: it is capped,
/// and finite.
template <class T>
void log_soft_topk_vjp(Rows<const T> x, Levels k, PerRow alpha, const Threshold* thresholds,
                       Rows<const T> g, Rows<T> gx, double* gk, double* galpha,
                       Order order = Order::descending, Threads threads = 0);

/// Derivative of logp along (dx, dk, dalpha); tangents without data are zero.
template <class T>
void log_soft_topk_jvp(Rows<const T> x, Levels k, PerRow alpha, const Threshold* thresholds,
                       Rows<const T> dx, const double* dk, const double* dalpha, Rows<T> dlogp,
                       Order order = Order::descending, Threads threads = 0);

/// The logarithm of weighted_soft_topk; types, shapes, edges and errors as there.
template <class T>
void weighted_log_soft_topk(Rows<const T> x, Rows<const T> weights, Levels k, PerRow alpha,
                            Rows<T> logp, Threshold* thresholds = nullptr,
                            Order order = Order::descending, Threads threads = 0);

/// Gradients with respect to x, weights, k (rows * m) and alpha. Outputs without data are skipped.
template <class T>
void weighted_log_soft_topk_vjp(Rows<const T> x, Rows<const T> weights, Levels k, PerRow alpha,
                                const Threshold* thresholds, Rows<const T> g, Rows<T> gx,
                                Rows<T> gweights, double* gk, double* galpha,
                                Order order = Order::descending, Threads threads = 0);

/// Derivative of logp along (dx, dweights, dk, dalpha); tangents without data are zero.
template <class T>
void weighted_log_soft_topk_jvp(Rows<const T> x, Rows<const T> weights, Levels k, PerRow alpha,
                                const Threshold* thresholds, Rows<const T> dx,
                                Rows<const T> dweights, const double* dk, const double* dalpha,
                                Rows<T> dlogp, Order order = Order::descending,
                                Threads threads = 0);

}  // namespace lapsum
