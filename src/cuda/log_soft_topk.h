// log_soft_topk on a GPU; contracts as in lapsum/cuda/log_soft_topk.h, arguments already checked.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::gpu {

std::size_t log_soft_topk_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m);

template <class T>
void log_soft_topk(Rows<const T> x, const Levels& k, const PerRow& alpha, Rows<T> logp,
                   Threshold* thresholds, Order order, const cuda::Launch& where);

template <class T>
void log_soft_topk_vjp(Rows<const T> x, const Levels& k, const PerRow& alpha,
                       const Threshold* thresholds, Rows<const T> g, Rows<T> gx, double* gk,
                       double* galpha, Order order, const cuda::Launch& where);

template <class T>
void log_soft_topk_jvp(Rows<const T> x, const Levels& k, const PerRow& alpha,
                       const Threshold* thresholds, Rows<const T> dx, const double* dk,
                       const double* dalpha, Rows<T> dlogp, Order order, const cuda::Launch& where);

}  // namespace lapsum::gpu
