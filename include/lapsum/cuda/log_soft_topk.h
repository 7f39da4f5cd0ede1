// The logarithm of soft top-k on a GPU. All arrays are device memory.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::cuda {

std::size_t log_soft_topk_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m);

/// As lapsum::log_soft_topk; types, memory and errors as cuda::soft_topk.
template <class T>
void log_soft_topk(Rows<const T> x, Levels k, PerRow alpha, Rows<T> logp, Threshold* thresholds,
                   Order order, const Launch& where);

template <class T>
void log_soft_topk_vjp(Rows<const T> x, Levels k, PerRow alpha, const Threshold* thresholds,
                       Rows<const T> g, Rows<T> gx, double* gk, double* galpha, Order order,
                       const Launch& where);

template <class T>
void log_soft_topk_jvp(Rows<const T> x, Levels k, PerRow alpha, const Threshold* thresholds,
                       Rows<const T> dx, const double* dk, const double* dalpha, Rows<T> dlogp,
                       Order order, const Launch& where);

}  // namespace lapsum::cuda
