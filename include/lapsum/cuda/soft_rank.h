// Soft ranks on a GPU. All arrays are device memory; the numbers are those of
// lapsum/soft_rank.h.
#pragma once

#include "lapsum/cuda/launch.h"
#include "lapsum/rows.h"

namespace lapsum::cuda {

/// What soft_rank and its derivatives need for rows of length n.
std::size_t soft_rank_workspace(std::ptrdiff_t rows, std::ptrdiff_t n);

/// As lapsum::soft_rank; types, memory and errors as cuda::soft_topk.
template <class T>
void soft_rank(Rows<const T> x, PerRow alpha, Rows<T> rank, Order order, const Launch& where);

template <class T>
void soft_rank_vjp(Rows<const T> x, PerRow alpha, Rows<const T> g, Rows<T> gx, double* galpha,
                   Order order, const Launch& where);

template <class T>
void soft_rank_jvp(Rows<const T> x, PerRow alpha, Rows<const T> dx, const double* dalpha,
                   Rows<T> drank, Order order, const Launch& where);

}  // namespace lapsum::cuda
