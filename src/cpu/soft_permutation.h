// The soft permutation matrix on the CPU; contracts as in lapsum/soft_permutation.h, arguments
// already checked.
#pragma once

#include "lapsum/rows.h"

namespace lapsum::cpu {

template <class T>
void soft_permutation(Rows<const T> x, const PerRow& alpha, Rows<T> matrix, Order order,
                      Threads threads);

template <class T>
void soft_permutation_vjp(Rows<const T> x, const PerRow& alpha, Rows<const T> g, Rows<T> gx,
                          double* galpha, Order order, Threads threads);

template <class T>
void soft_permutation_jvp(Rows<const T> x, const PerRow& alpha, Rows<const T> dx,
                          const double* dalpha, Rows<T> dmatrix, Order order, Threads threads);

}  // namespace lapsum::cpu
