// Soft top-k on a GPU. All arrays are device memory; the numbers are those of lapsum/soft_topk.h.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::cuda {

/// What soft_topk, log_soft_topk and their derivatives need for rows of length n with m levels
/// each.
std::size_t soft_topk_workspace(std::ptrdiff_t rows, std::ptrdiff_t n, std::ptrdiff_t m);

/// As lapsum::soft_topk, for T float, double, Half or Bfloat16, computed in double and rounded
/// once.
/// Arrays of k and alpha, and thresholds, are device memory too. Deterministic.
/// Throws std::invalid_argument as there, and if the workspace is too small; std::runtime_error if
/// the library was built without CUDA or the device refuses a launch.
template <class T>
void soft_topk(Rows<const T> x, Levels k, PerRow alpha, Rows<T> p, Threshold* thresholds,
               Order order, const Launch& where);

template <class T>
void soft_topk_vjp(Rows<const T> x, Levels k, PerRow alpha, const Threshold* thresholds,
                   Rows<const T> g, Rows<T> gx, double* gk, double* galpha, Order order,
                   const Launch& where);

template <class T>
void soft_topk_jvp(Rows<const T> x, Levels k, PerRow alpha, const Threshold* thresholds,
                   Rows<const T> dx, const double* dk, const double* dalpha, Rows<T> dp,
                   Order order, const Launch& where);

}  // namespace lapsum::cuda
